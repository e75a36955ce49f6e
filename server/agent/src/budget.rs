//! Budgets: how much a turn and a session may use, and what is said when it is used up.
//!
//! A budget is looked at before each step, so the last step may go beyond it. A turn's is fresh with each turn. A
//! session's is renewed when the user goes on after it was used up: it asks, and locks nobody out.

use crate::session::Limits;
use ropewalk_model::{Money, Spent};

/// Why the turn ends here, if it does. `before` is what the session had used when the turn began, `now` what it has
/// used since then too.
pub(crate) fn exceeded(limits: &Limits, before: Spent, now: Spent) -> Option<String> {
    let turn = now.since(before);
    let (tokens, money) = (turn.usage.total(), turn.money);
    let (session_tokens, session_money) = (now.usage.total(), now.money);
    let past = |used, before, budget| used >= next_bound(before, budget);
    let (what, used, key) = if tokens >= limits.turn_tokens {
        ("turn", format!("{tokens} tokens"), "limits.turn_tokens")
    } else if money >= limits.turn_money {
        ("turn", money.to_string(), "limits.turn_cents")
    } else if past(session_tokens, before.usage.total(), limits.session_tokens) {
        ("session", format!("{session_tokens} tokens"), "limits.session_tokens")
    } else if past(session_money.0, before.money.0, limits.session_money.0) {
        ("session", session_money.to_string(), "limits.session_cents")
    } else {
        return None;
    };
    Some(format!(
        "Stopped: this {what} has used {used}, which is its budget (`{key}`). Prompt \"continue\" to go on with as \
         much again."
    ))
}

/// The first multiple of the budget that lies beyond what was used before; a budget of nothing is one of one.
fn next_bound(before: u64, budget: u64) -> u64 {
    let budget = budget.max(1);
    (before / budget).saturating_add(1).saturating_mul(budget)
}

/// What to say of a budget in money that can't be kept, because the model has no known price.
pub(crate) fn unkept(limits: &Limits, model: &str) -> Option<String> {
    let bounds = [
        (limits.turn_money, "limits.turn_cents", "limits.turn_tokens"),
        (limits.session_money, "limits.session_cents", "limits.session_tokens"),
    ];
    let (_, key, instead) = bounds.iter().find(|(bound, ..)| *bound < NO_BOUND)?;
    Some(format!(
        "The budget `{key}` can't be kept: what {model} costs is not known. Set its price in the configuration \
         (`provider.NAME.price`), or `{instead}`."
    ))
}

/// As much money as nobody asked to be stopped at.
pub(crate) const NO_BOUND: Money = Money(u64::MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_model::Usage;

    fn spent(tokens: u64, cents: u64) -> Spent {
        let usage = Usage { input: tokens, ..Usage::default() };
        Spent { usage, money: Money::from_cents(cents), unpriced: 0 }
    }

    /// Which key stops a turn that began at `before` and is at `now`.
    fn stops(limits: Limits, before: Spent, now: Spent) -> Option<&'static str> {
        let words = exceeded(&limits, before, now)?;
        assert!(words.contains("continue"), "{words}");
        ["turn_tokens", "turn_cents", "session_tokens", "session_cents"]
            .into_iter()
            .find(|key| words.contains(&format!("limits.{key}`")))
    }

    #[test]
    fn a_turn_has_its_own_budget_each_time() {
        let limits =
            Limits { turn_tokens: 100, turn_money: Money::from_cents(50), ..Limits::default() };
        assert_eq!(stops(limits, spent(1_000, 0), spent(1_099, 0)), None);
        assert_eq!(stops(limits, spent(1_000, 0), spent(1_100, 0)), Some("turn_tokens"));
        assert_eq!(stops(limits, spent(0, 70), spent(1, 119)), None);
        assert_eq!(stops(limits, spent(0, 70), spent(1, 120)), Some("turn_cents"));
    }

    #[test]
    fn a_session_goes_on_with_as_much_again() {
        let limits = Limits { session_tokens: 100, ..Limits::default() };
        assert_eq!(stops(limits, spent(0, 0), spent(99, 0)), None);
        assert_eq!(stops(limits, spent(90, 0), spent(100, 0)), Some("session_tokens"));
        assert_eq!(stops(limits, spent(100, 0), spent(100, 0)), None, "the user went on");
        assert_eq!(stops(limits, spent(130, 0), spent(199, 0)), None);
        assert_eq!(stops(limits, spent(130, 0), spent(250, 0)), Some("session_tokens"));
        let limits = Limits { session_money: Money::from_cents(5), ..Limits::default() };
        assert_eq!(stops(limits, spent(0, 0), spent(9, 5)), Some("session_cents"));
    }

    #[test]
    fn without_a_budget_nothing_stops_whatever_the_numbers_are() {
        let most = Spent { money: Money(u64::MAX - 1), ..spent(u64::MAX - 1, 0) };
        assert_eq!(stops(Limits::default(), spent(0, 0), most), None);
        assert_eq!(unkept(&Limits::default(), "m"), None);
        let none = Limits { session_tokens: 0, ..Limits::default() };
        assert_eq!(stops(none, spent(0, 0), spent(0, 0)), None);
        assert_eq!(stops(none, spent(0, 0), spent(1, 0)), Some("session_tokens"));
    }
}
