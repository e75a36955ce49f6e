//! Bounds of sessions and of models, what a model is asked to think, and what its tokens cost.

use crate::{MechanismLimits, Money};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bounds on what a session may use. The configuration states the range of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SessionLimits {
    /// Steps in a turn.
    pub steps: u32,
    /// Output tokens of one model call; [`SessionLimits::OWN_OUTPUT`] is the model's own maximum, which applies if lower too.
    pub output_tokens: u32,
    /// Characters of one tool result that reach the model.
    pub tool_output: u32,
    /// Seconds one command may run.
    pub command_seconds: u32,
    /// Identical failing tool calls in a row.
    pub identical_failures: u32,
    /// Seconds without a byte in the midst of an answer.
    pub idle_seconds: u32,
    /// Seconds until an answer begins. Where nobody has set it, a server on this machine gets more.
    pub first_byte_seconds: u32,
    /// Seconds for which a server elsewhere that can't be reached is tried again.
    pub retry_seconds: u32,
    /// Tokens of one turn, read and written; [`SessionLimits::NO_TOKENS`] is no bound.
    pub turn_tokens: u32,
    /// Tokens of a session, likewise.
    pub session_tokens: u32,
    /// US cents that one turn may cost; [`SessionLimits::NO_CENTS`] is no bound.
    pub turn_cents: u32,
    /// US cents that a session may cost, likewise.
    pub session_cents: u32,
    /// Bounds of the mechanisms around the loop.
    pub mechanisms: MechanismLimits,
}

impl SessionLimits {
    /// As many tokens as nobody uses: no budget.
    pub const NO_TOKENS: u32 = 4_000_000_000;
    /// More tokens than any model writes: its own maximum.
    pub const OWN_OUTPUT: u32 = 1_000_000;
    /// As many cents as nobody has: no budget.
    pub const NO_CENTS: u32 = 4_000_000_000;

    /// The built-in bounds.
    pub const DEFAULT: SessionLimits = SessionLimits {
        steps: 50,
        output_tokens: SessionLimits::OWN_OUTPUT,
        tool_output: 50_000,
        command_seconds: 120,
        identical_failures: 3,
        idle_seconds: 60,
        first_byte_seconds: 120,
        retry_seconds: 60,
        turn_tokens: SessionLimits::NO_TOKENS,
        session_tokens: SessionLimits::NO_TOKENS,
        turn_cents: SessionLimits::NO_CENTS,
        session_cents: SessionLimits::NO_CENTS,
        mechanisms: MechanismLimits::DEFAULT,
    };

    /// The most output tokens of one model call that somebody asked for; none leaves it to the model.
    pub fn wanted_output(&self) -> Option<u32> {
        Some(self.output_tokens).filter(|tokens| *tokens < SessionLimits::OWN_OUTPUT)
    }

    /// The budget of a turn in tokens and in money; the highest number is no bound.
    pub fn turn_budget(&self) -> (u64, Money) {
        (tokens(self.turn_tokens), money(self.turn_cents))
    }

    /// The budget of a session, likewise.
    pub fn session_budget(&self) -> (u64, Money) {
        (tokens(self.session_tokens), money(self.session_cents))
    }
}

fn tokens(bound: u32) -> u64 {
    if bound < SessionLimits::NO_TOKENS { bound.into() } else { u64::MAX }
}

fn money(cents: u32) -> Money {
    if cents < SessionLimits::NO_CENTS { Money::from_cents(cents.into()) } else { Money(u64::MAX) }
}

impl Default for SessionLimits {
    fn default() -> Self {
        SessionLimits::DEFAULT
    }
}

/// A model's own bounds, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ModelLimits {
    /// The longest prompt and reply together; none when not known.
    pub context: Option<u32>,
    /// The longest reply; none when not known.
    pub max_output: Option<u32>,
}

/// The longest reply, in tokens, that a model is asked for whose own maximum is not known.
const USUAL_OUTPUT: u32 = 32_000;

/// The part of the context that a reply may take: one of so many.
const REPLY_PART: u32 = 4;

/// So many tokens are asked for, if the context has a place for them, however little seems to be left: what a request
/// takes is estimated, and the server knows better.
const LEAST_REPLY: u32 = 1_024;

impl ModelLimits {
    /// The most tokens of a reply to a request that takes about `sent` tokens: a quarter of the context, and no more
    /// than is left of it.
    pub fn room(&self, sent: u64) -> u32 {
        let Some(context) = self.context else { return u32::MAX };
        let part = (context / REPLY_PART).max(1);
        let left = u64::from(context).saturating_sub(sent);
        u32::try_from(left).unwrap_or(u32::MAX).clamp(LEAST_REPLY.min(part), part)
    }

    /// The most tokens of a reply to such a request, thinking included, for whoever wants it to have `wanted`; the
    /// model's own maximum where nothing is wanted.
    pub fn longest_reply(&self, wanted: Option<u32>, sent: u64) -> u32 {
        let own = self.max_output.unwrap_or(USUAL_OUTPUT);
        let most = self.max_output.unwrap_or(u32::MAX);
        wanted.unwrap_or(own).min(most).min(self.room(sent))
    }
}

/// How much a model is asked to think.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// It is not asked: it thinks or not, as it does by itself.
    #[default]
    Off,
    /// As little as it can.
    Minimal,
    /// Briefly.
    Low,
    /// As long as most tasks need.
    Medium,
    /// Long.
    High,
    /// Longer.
    XHigh,
    /// As long as it can.
    Max,
}

impl Thinking {
    /// Every choice, the least first.
    pub const ALL: &[Thinking] = &[
        Thinking::Off,
        Thinking::Minimal,
        Thinking::Low,
        Thinking::Medium,
        Thinking::High,
        Thinking::XHigh,
        Thinking::Max,
    ];

    /// The word for it, in a configuration and in the protocols that know efforts.
    pub fn as_str(self) -> &'static str {
        match self {
            Thinking::Off => "off",
            Thinking::Minimal => "minimal",
            Thinking::Low => "low",
            Thinking::Medium => "medium",
            Thinking::High => "high",
            Thinking::XHigh => "xhigh",
            Thinking::Max => "max",
        }
    }
}

/// How long a server keeps prompts in its cache, where it takes a word for that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheLife {
    /// For five minutes after each use.
    #[default]
    FiveMinutes,
    /// For an hour after each use; writing costs more.
    Hour,
    /// Nothing is kept.
    Off,
}

impl CacheLife {
    /// Every choice.
    pub const ALL: &[CacheLife] = &[CacheLife::FiveMinutes, CacheLife::Hour, CacheLife::Off];

    /// The word for it in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            CacheLife::FiveMinutes => "5m",
            CacheLife::Hour => "1h",
            CacheLife::Off => "off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_gets_a_quarter_of_the_context_and_no_more_than_is_left() {
        let of = |context, max_output| ModelLimits { context, max_output };
        for (limits, wanted, sent, longest) in [
            (of(None, None), None, 0, 32_000),
            (of(None, None), None, u64::MAX, 32_000),
            (of(None, Some(4_096)), None, 0, 4_096),
            (of(Some(4_096), None), None, 0, 1_024),
            (of(Some(200_000), Some(8_192)), None, 0, 8_192),
            (of(Some(200_000), None), Some(u32::MAX), 0, 50_000),
            (of(Some(200_000), None), None, 180_000, 20_000),
            (of(Some(200_000), None), None, 199_999, 1_024),
            (of(Some(200_000), None), Some(7), u64::MAX, 7),
            (of(Some(1), None), None, u64::MAX, 1),
            (of(Some(0), Some(0)), Some(0), 0, 0),
        ] {
            assert_eq!(limits.longest_reply(wanted, sent), longest, "{limits:?} {wanted:?} {sent}");
        }
    }
}
