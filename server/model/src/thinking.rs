//! How much a model is asked to think before it answers: a level, and what the protocols make of it, as data.
//!
//! No thinking is asked for that nobody configured, only the words of thoughts; and nobody is asked who would refuse the request
//! for it, as far as the catalogue knows.

use crate::catalogue::{ThinkingForm, efforts, plain_name, thinking_form};
use ropewalk_protocol::Thinking;

/// The effort of a model that does not think.
const NONE: &str = "none";

/// The tokens that thinking may take, which count as output.
pub(crate) fn tokens(level: Thinking) -> u32 {
    match level {
        Thinking::Off => 0,
        Thinking::Minimal => 2_048,
        Thinking::Low => 4_096,
        Thinking::Medium => 10_240,
        Thinking::High => 24_576,
        Thinking::XHigh => 32_768,
        Thinking::Max => 49_152,
    }
}

/// The word for an effort by which the model is asked to think so much: the level's own, else that of the nearest below it
/// which the model takes, else of the nearest above. A model that is not known takes low, medium and high. None where there
/// is nothing to say: for `Off` where the model has no word for it.
pub(crate) fn effort(base_url: &str, model: &str, level: Thinking) -> Option<&'static str> {
    let known = efforts(base_url, model);
    let takes = |level: &Thinking| match (*level, known) {
        (Thinking::Off, known) => known.is_some_and(|known| known.iter().any(|it| it == NONE)),
        (level, Some(known)) => known.iter().any(|it| it == level.as_str()),
        (level, None) => matches!(level, Thinking::Low | Thinking::Medium | Thinking::High),
    };
    if level == Thinking::Off {
        return takes(&level).then_some(NONE);
    }
    let mut taken = Thinking::ALL.iter().filter(|it| **it != Thinking::Off).filter(|it| takes(it));
    let below = taken.clone().rfind(|taken| **taken <= level);
    below.or_else(|| taken.next()).map(|level| level.as_str())
}

/// True if a model is known not to think: a request that speaks of it would be refused.
pub(crate) fn never_reasons(base_url: &str, model: &str) -> bool {
    thinking_form(base_url, model) == Some(ThinkingForm::None)
}

/// True if a model that speaks Anthropic's protocol is told how many tokens it may think. Other makers' models are.
pub(crate) fn has_budget(base_url: &str, model: &str) -> bool {
    thinking_form(base_url, model) != Some(ThinkingForm::Adaptive)
}

/// True if a model without a budget thinks unless it is told not to: all but the first ones.
pub(crate) fn thinks_unasked(model: &str) -> bool {
    !plain_name(model).contains("-4-")
}

/// True if a model without a budget keeps its thoughts to itself unless it is asked for a summary. The first ones
/// give it unasked.
pub(crate) fn must_be_asked_for_words(model: &str) -> bool {
    !plain_name(model).contains("-4-6")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_said_in_a_word_that_the_model_takes() {
        use Thinking::{High, Low, Max, Medium, Minimal, Off, XHigh};
        let openai = "https://api.openai.com/v1";
        let word = |model: &str, level| effort(openai, model, level);
        for (model, level, said) in [
            ("gpt-5", Off, None),
            ("gpt-5", Minimal, Some("minimal")),
            ("gpt-5", Max, Some("high")),
            ("gpt-6.1-sol", Minimal, Some("low")),
            ("gpt-5-pro", Low, Some("high")),
            // Not known: what most take.
            ("somebodys", Off, None),
            ("somebodys", Minimal, Some("low")),
            ("somebodys", Medium, Some("medium")),
            ("somebodys", XHigh, Some("high")),
        ] {
            assert_eq!(word(model, level), said, "{model} {level:?}");
        }
        assert_eq!(effort("https://api.x.ai/v1", "grok-4.3", Off), Some("none"));
        assert_eq!(effort("https://api.anthropic.com", "claude-opus-5-5", Max), Some("max"));
        assert!([Off, Minimal, Low, Medium, High, XHigh, Max].is_sorted_by_key(|it| tokens(*it)));
    }
}
