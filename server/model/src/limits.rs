//! Limits of known models, as a table.
//!
//! Only what a request needs to be right; an unknown model has no limits here, and prices are
//! another matter. The figures of models that are still served were compared at [`LIMITS_AS_OF`] with LiteLLM's table of
//! models and the providers' documentation. The configuration overrides each of them.

use ropewalk_protocol::ModelLimits;

/// The month that the table is of.
pub const LIMITS_AS_OF: &str = "November 2026";

/// Below so many tokens of context all tools and the whole system prompt leave too little room for the task: a model
/// with less gets the lean set.
pub const ENOUGH_CONTEXT: u32 = 16_384;

/// Beginnings of model names, the more special before the general: (name, context, longest reply).
const TABLE: &[(&str, u32, u32)] = &[
    ("claude-3-haiku", 200_000, 4_096),
    ("claude-3-opus", 200_000, 4_096),
    ("claude-3-sonnet", 200_000, 4_096),
    ("claude-3-5", 200_000, 8_192),
    ("claude-3-7", 200_000, 64_000),
    ("claude-opus-4-5", 200_000, 64_000),
    ("claude-opus-4-6", 1_000_000, 128_000),
    ("claude-opus-4-7", 1_000_000, 128_000),
    ("claude-opus-4-8", 1_000_000, 128_000),
    ("claude-opus-4", 200_000, 32_000),
    ("claude-opus-5", 1_000_000, 128_000),
    ("claude-sonnet-4-6", 1_000_000, 128_000),
    ("claude-sonnet-4", 200_000, 64_000),
    ("claude-sonnet-5", 1_000_000, 128_000),
    ("anthropic/claude-sonnet-5", 1_000_000, 128_000),
    ("claude-haiku-4", 200_000, 64_000),
    ("claude-haiku-5", 1_000_000, 128_000),
    ("claude-fable-5", 1_000_000, 128_000),
    ("deepseek-v4", 1_000_000, 393_216),
    ("gemini-3.8-flash", 1_048_576, 65_536),
    ("gpt-5-chat", 128_000, 16_384),
    ("gpt-5.4-mini", 400_000, 128_000),
    ("gpt-5.4-nano", 400_000, 128_000),
    ("gpt-5.4", 1_050_000, 128_000),
    ("gpt-5.5", 1_050_000, 128_000),
    ("gpt-5.6", 1_050_000, 128_000),
    ("gpt-5", 400_000, 128_000),
    ("gpt-6", 1_050_000, 128_000),
    ("o3", 200_000, 100_000),
    ("o4-mini", 200_000, 100_000),
];

/// The limits of a model by its name without the protocol (`claude-3-haiku-20240307`).
pub fn limits_of(model: &str) -> ModelLimits {
    let row = TABLE.iter().find(|(name, _, _)| model.starts_with(name));
    row.map_or(ModelLimits::default(), |&(_, context, output)| ModelLimits {
        context: Some(context),
        max_output: Some(output),
    })
}
