//! Budgets: how much a turn and a session may use, and what is said when it is used up.
//!
//! A budget is looked at before each step, so the last step may go beyond it. A turn's is fresh with each turn. A
//! session's is renewed when the user goes on after it was used up: it asks, and locks nobody out.

use ropewalk_protocol::{Money, SessionLimits, Spent};

/// Why the turn ends here, if it does. `before` is what the session had used when the turn began, `now` what it has
/// used since then too.
pub(crate) fn exceeded(limits: &SessionLimits, before: Spent, now: Spent) -> Option<String> {
    let turn = now.since(before);
    let (tokens, money) = (turn.usage.total(), turn.money);
    let (session_tokens, session_money) = (now.usage.total(), now.money);
    let past = |used, before, budget| used >= next_bound(before, budget);
    let (turn_budget, session_budget) = (limits.turn_budget(), limits.session_budget());
    let (what, used, key) = if tokens >= turn_budget.0 {
        ("turn", format!("{tokens} tokens"), "limits.turn_tokens")
    } else if money >= turn_budget.1 {
        ("turn", money.to_string(), "limits.turn_cents")
    } else if past(session_tokens, before.usage.total(), session_budget.0) {
        ("session", format!("{session_tokens} tokens"), "limits.session_tokens")
    } else if past(session_money.0, before.money.0, session_budget.1.0) {
        ("session", session_money.to_string(), "limits.session_cents")
    } else {
        return None;
    };
    Some(format!(
        "Stopped: this {what} has used {used}, which is its budget (`{key}`). Say \"continue\" to go on with as \
         much again."
    ))
}

/// The first multiple of the budget that lies beyond what was used before; a budget of nothing is one of one.
fn next_bound(before: u64, budget: u64) -> u64 {
    let budget = budget.max(1);
    (before / budget).saturating_add(1).saturating_mul(budget)
}

/// Words on a budget in money that can't be kept, because the model has no known price.
pub(crate) fn unkept(limits: &SessionLimits, model: &str) -> Option<String> {
    let bounds = [
        (limits.turn_cents, "limits.turn_cents", "limits.turn_tokens"),
        (limits.session_cents, "limits.session_cents", "limits.session_tokens"),
    ];
    let (_, key, instead) = bounds.iter().find(|(bound, ..)| *bound < SessionLimits::NO_CENTS)?;
    Some(format!(
        "The budget `{key}` can't be kept: what {model} costs is not known. Set its price in the configuration \
         (`provider.NAME.price`), or `{instead}`."
    ))
}

/// A turn that costs more is told of, whatever the budgets are.
const DEAR: Money = Money::from_cents(500);

/// Words about a turn that is dear since its last step, which was `step` of the cost.
pub(crate) fn dear(turn: Money, step: Money) -> Option<String> {
    let before = turn.0.saturating_sub(step.0);
    (before < DEAR.0 && turn >= DEAR).then(|| {
        format!(
            "This turn has cost {turn} so far, and goes on. Stop it if that is too much; `limits.turn_cents` sets a \
             bound."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_protocol::Usage;

    fn spent(tokens: u64, cents: u64) -> Spent {
        let usage = Usage { input: tokens, ..Usage::default() };
        Spent { usage, money: Money::from_cents(cents), unpriced: 0 }
    }

    /// Which key stops a turn that began at `before` and is at `now`.
    fn stops(limits: SessionLimits, before: Spent, now: Spent) -> Option<&'static str> {
        let words = exceeded(&limits, before, now)?;
        assert!(words.contains("continue"), "{words}");
        ["turn_tokens", "turn_cents", "session_tokens", "session_cents"]
            .into_iter()
            .find(|key| words.contains(&format!("limits.{key}`")))
    }

    #[test]
    fn a_turn_has_its_own_budget_each_time() {
        let limits = SessionLimits { turn_tokens: 100, turn_cents: 50, ..SessionLimits::default() };
        assert_eq!(stops(limits, spent(1_000, 0), spent(1_099, 0)), None);
        assert_eq!(stops(limits, spent(1_000, 0), spent(1_100, 0)), Some("turn_tokens"));
        assert_eq!(stops(limits, spent(0, 70), spent(1, 119)), None);
        assert_eq!(stops(limits, spent(0, 70), spent(1, 120)), Some("turn_cents"));
    }

    #[test]
    fn a_session_goes_on_with_as_much_again() {
        let limits = SessionLimits { session_tokens: 100, ..SessionLimits::default() };
        assert_eq!(stops(limits, spent(0, 0), spent(99, 0)), None);
        assert_eq!(stops(limits, spent(90, 0), spent(100, 0)), Some("session_tokens"));
        assert_eq!(stops(limits, spent(100, 0), spent(100, 0)), None, "the user went on");
        assert_eq!(stops(limits, spent(130, 0), spent(199, 0)), None);
        assert_eq!(stops(limits, spent(130, 0), spent(250, 0)), Some("session_tokens"));
        let limits = SessionLimits { session_cents: 5, ..SessionLimits::default() };
        assert_eq!(stops(limits, spent(0, 0), spent(9, 5)), Some("session_cents"));
    }

    #[test]
    fn a_dear_turn_is_told_of_once() {
        let cents = Money::from_cents;
        for (turn, step, is_told) in [
            (499, 499, false),
            (500, 1, true),
            (501, 1, false),
            (900, 600, true),
            (900, 0, false),
            (0, 0, false),
        ] {
            assert_eq!(dear(cents(turn), cents(step)).is_some(), is_told, "{turn} {step}");
        }
        let words = dear(cents(502), cents(7)).unwrap();
        assert!(words.starts_with("This turn has cost $5.02 so far"), "{words}");
    }

    #[test]
    fn without_a_budget_nothing_stops_whatever_the_numbers_are() {
        let most = Spent { money: Money(u64::MAX - 1), ..spent(u64::MAX - 1, 0) };
        assert_eq!(stops(SessionLimits::default(), spent(0, 0), most), None);
        assert_eq!(unkept(&SessionLimits::default(), "m"), None);
        let none = SessionLimits { session_tokens: 0, ..SessionLimits::default() };
        assert_eq!(stops(none, spent(0, 0), spent(0, 0)), None);
        assert_eq!(stops(none, spent(0, 0), spent(1, 0)), Some("session_tokens"));
    }
}
