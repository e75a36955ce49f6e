//! How much a model is asked to think before it answers: a level, and what the protocols make of it, as data.
//!
//! Nothing is asked for that nobody configured, and nobody is asked who would refuse the request for it, as far as
//! the catalogue knows.

use crate::catalogue::{ThinkingForm, thinking_form};
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

/// True if a model is known not to think: a request that speaks of it would be refused.
pub(crate) fn never_reasons(base_url: &str, model: &str) -> bool {
    thinking_form(base_url, model) == Some(ThinkingForm::None)
}

/// True if a model that speaks Anthropic's protocol is told how many tokens it may think. Other makers' models are.
pub(crate) fn has_budget(base_url: &str, model: &str) -> bool {
    thinking_form(base_url, model) != Some(ThinkingForm::Adaptive)
}

/// True if a model without a budget keeps its thoughts to itself unless it is asked for a summary. The first ones
/// give it unasked.
pub(crate) fn must_be_asked_for_words(model: &str) -> bool {
    !model.contains("-4-6")
}
