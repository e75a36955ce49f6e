//! Limits of known models, as a table.
//!
//! Only what a request needs to be right; an unknown model has no limits here, and prices are
//! another matter. The figures are as remembered at [`LIMITS_AS_OF`] from the providers' documentation and were not
//! compared with it since: the configuration overrides each of them.

use ropewalk_protocol::ModelLimits;

/// The month that the table is of.
pub const LIMITS_AS_OF: &str = "November 2025";

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
    ("claude-opus-4-6", 200_000, 128_000),
    ("claude-opus-4", 200_000, 32_000),
    ("claude-sonnet-4", 200_000, 64_000),
    ("claude-haiku-4", 200_000, 64_000),
    ("gpt-5-chat", 128_000, 16_384),
    ("gpt-5", 400_000, 128_000),
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
