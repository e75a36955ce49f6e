//! The budget that all members of a team share.

use crate::options::TeamOptions;
use ropewalk_protocol::Money;

/// Units of money that are one cent.
const CENT: u64 = Money::from_cents(1).0;

/// Whole cents.
pub(crate) fn cents(money: Money) -> u64 {
    money.0 / CENT
}

/// The bound that tokens and cents of all members have reached, in a sentence.
pub(crate) fn used_up(options: &TeamOptions, (tokens, cents): (u64, u64)) -> Option<String> {
    if let Some(bound) = options.tokens.filter(|bound| tokens >= *bound) {
        return Some(format!(
            "The team's budget is used up: its members have used {tokens} of {bound} tokens (`team.tokens`)."
        ));
    }
    let bound = options.cents.filter(|bound| cents >= *bound)?;
    Some(format!(
        "The team's budget is used up: its members have used {cents} of {bound} US cents (`team.cents`)."
    ))
}
