//! Progress between compactions: a turn that compacts again and again, and makes no call that is new to it, ends.

use crate::hooks::TurnOutcome;
use ropewalk_protocol::StopReason;
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// So many compactions without a new call in between are too many.
const TOO_MANY: u32 = 3;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Guard {
    turn: u64,
    /// Hashes of the turn's calls.
    seen: HashSet<u64>,
    /// Compactions since the last call that was new.
    in_a_row: u32,
}

impl Guard {
    /// A step of this turn begins.
    pub(super) fn begin(&mut self, turn: u64) {
        if self.turn != turn {
            *self = Self { turn, ..Self::default() };
        }
    }

    /// A call was made; `key` is equal for equal calls.
    pub(super) fn saw(&mut self, key: &str) {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        if self.seen.insert(hasher.finish()) {
            self.in_a_row = 0;
        }
    }

    /// The conversation is about to be compacted.
    pub(super) fn compacts(&mut self) -> Result<(), TurnOutcome> {
        self.in_a_row += 1;
        if self.in_a_row < TOO_MANY {
            return Ok(());
        }
        self.in_a_row = 0;
        let message = "Stopped: the model's context was full three times in a row, and in between it did nothing that \
                       was new. Ask for less at a time, or give the model more context.";
        Err(TurnOutcome::told(StopReason::Error, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_in_a_row_without_a_new_call_ends_the_turn() {
        let mut guard = Guard::default();
        guard.begin(1);
        assert!(guard.compacts().is_ok() && guard.compacts().is_ok());
        guard.saw("read a");
        assert!(guard.compacts().is_ok());
        guard.saw("read a");
        assert!(guard.compacts().is_ok(), "the same call again is nothing new");
        assert!(guard.compacts().is_err());
        guard.begin(2);
        assert!(guard.compacts().is_ok());
        guard.saw("read a");
        assert!(guard.compacts().is_ok() && guard.compacts().is_ok(), "another turn");
    }
}
