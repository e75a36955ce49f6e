//! How much a model is asked to think before it answers: a level, and what the protocols make of it, as data.
//!
//! Nothing is asked for that nobody configured, and nobody is asked who would refuse the request for it, as far as
//! that is known by name.

use ropewalk_protocol::Thinking;

/// The tokens that thinking may take, which count as output.
pub(crate) fn tokens(level: Thinking) -> u32 {
    match level {
        Thinking::Off => 0,
        Thinking::Low => 4_096,
        Thinking::Medium => 10_240,
        Thinking::High => 24_576,
    }
}

/// Beginnings of the names of OpenAI's models that do not reason. They refuse a request that speaks of it.
const UNREASONING: &[&str] = &["gpt-3.5", "gpt-4", "gpt-5-chat", "chatgpt-"];

/// True if a model of OpenAI's is known not to reason.
pub(crate) fn never_reasons(model: &str) -> bool {
    UNREASONING.iter().any(|start| model.starts_with(start))
}

/// Beginnings of the names of Anthropic's models that are told how many tokens they may think. Its later ones judge
/// by themselves, are told an effort, and refuse a number.
const BUDGETED: &[&str] = &[
    "claude-3",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2025",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2025",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
];

/// True if a model that speaks Anthropic's protocol is told how many tokens it may think. Other makers' models are.
pub(crate) fn has_budget(model: &str) -> bool {
    !model.starts_with("claude-") || BUDGETED.iter().any(|start| model.starts_with(start))
}

/// True if a model without a budget keeps its thoughts to itself unless it is asked for a summary. The first ones
/// give it unasked.
pub(crate) fn must_be_asked_for_words(model: &str) -> bool {
    !model.contains("-4-6")
}
