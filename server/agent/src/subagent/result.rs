//! Results of subagents, in words for the model that has asked.

use ropewalk_protocol::{Spent, StopReason};

/// In the place of a summary that was not given.
pub(super) const NO_SUMMARY: &str = "(no summary)";

/// The most bytes of what a stopped subagent had said.
const MOST_TOLD: usize = 2_000;

/// The end of what a subagent had said, no longer than is told of it.
pub(crate) fn last_words(said: &str) -> String {
    let said = said.trim();
    let from = said.len().saturating_sub(MOST_TOLD);
    let from = (from..=said.len()).find(|at| said.is_char_boundary(*at)).unwrap_or_default();
    said.get(from..).unwrap_or_default().to_owned()
}

/// The result of a call whose subagent was stopped by the user.
pub(super) fn stopped(said: &str) -> String {
    dropped("(interrupted by the user)", said)
}

/// The result of a call whose subagent ended with Ropewalk.
pub(crate) fn crashed(said: &str) -> String {
    dropped("Error: Ropewalk ended while this subagent worked", said)
}

fn dropped(why: &str, said: &str) -> String {
    let said = match last_words(said) {
        said if said.is_empty() => String::new(),
        said => format!("\nThe last of what it had said:\n{said}"),
    };
    format!("{why}\nThe subagent was stopped, and what it had changed is dropped.{said}")
}

/// Facts about a subagent's end.
pub(super) struct EndFacts<'a> {
    pub(super) agent: &'a str,
    pub(super) steps: u32,
    pub(super) spent: Spent,
    pub(super) stop: StopReason,
    /// The most steps and tokens that it had.
    pub(super) most: (u32, u64),
    pub(super) changed: &'a [String],
}

/// The lines that stand behind a subagent's summary.
pub(super) fn facts(end: &EndFacts<'_>) -> String {
    let tokens = grouped(end.spent.usage.total());
    let steps = if end.steps == 1 { "step" } else { "steps" };
    let cost = end.spent.cost().filter(|cost| cost.0 > 0);
    let cost = cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    let mut lines = vec![format!("({}: {} {steps}, {tokens} tokens{cost})", end.agent, end.steps)];
    let why = match end.stop {
        StopReason::MaxSteps => Some(format!("stopped at {} steps", end.most.0)),
        StopReason::Budget if end.spent.usage.total() >= end.most.1 => {
            Some(format!("stopped at {} tokens", grouped(end.most.1)))
        }
        StopReason::Budget => Some("stopped, because the budget is used up".to_owned()),
        StopReason::MaxTokens => Some("its answer was cut off".to_owned()),
        StopReason::Refusal => Some("its model declined to answer".to_owned()),
        StopReason::EndTurn | StopReason::Interrupted | StopReason::Error => None,
    };
    lines.extend(why.map(|why| format!("({why})")));
    if !end.changed.is_empty() {
        lines.push(format!("(changed: {})", end.changed.join(", ")));
    }
    lines.join("\n")
}

/// A number with a comma between each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_protocol::{Money, Usage};

    #[test]
    fn the_lines_say_what_it_took_and_why_it_ended() {
        let usage = Usage { input: 41_000, output: 200, ..Usage::default() };
        let spent = Spent { usage, money: Money::from_cents(104), unpriced: 0 };
        let end = EndFacts {
            agent: "explore",
            steps: 7,
            spent,
            stop: StopReason::EndTurn,
            most: (30, 500_000),
            changed: &[],
        };
        assert_eq!(facts(&end), "(explore: 7 steps, 41,200 tokens, $1.04)");
        let unpriced = Spent { unpriced: 1, ..spent };
        let changed = ["a.rs".to_owned(), "b.rs".to_owned()];
        let end =
            EndFacts { spent: unpriced, stop: StopReason::MaxSteps, changed: &changed, ..end };
        let words =
            "(explore: 7 steps, 41,200 tokens)\n(stopped at 30 steps)\n(changed: a.rs, b.rs)";
        assert_eq!(facts(&end), words);
        let end = EndFacts { stop: StopReason::Budget, most: (30, 40_000), changed: &[], ..end };
        assert!(facts(&end).ends_with("(stopped at 40,000 tokens)"), "{}", facts(&end));
    }

    #[test]
    fn numbers_are_read_in_threes() {
        for (number, words) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), words);
        }
    }

    #[test]
    fn no_more_than_the_end_of_what_was_said_is_told() {
        let said = "ä".repeat(3_000) + " the end ";
        let last = last_words(&said);
        assert!(last.len() <= MOST_TOLD && last.ends_with("ä the end"), "{}", last.len());
        assert!(stopped("").ends_with("is dropped."));
        assert!(crashed("so far").ends_with("had said:\nso far"));
    }
}
