//! The turns of the lead's session, and why it was woken.

use std::collections::BTreeSet;

/// The turns of the lead's session.
#[derive(Debug, Default)]
pub(crate) struct LeadTurns {
    is_running: bool,
    /// Turns that it has begun by itself.
    pub(crate) own: BTreeSet<u64>,
    /// How many of these there were since the user asked for something.
    pub(crate) wakes: u32,
    /// Messages for which it was woken.
    pub(crate) woken_by: BTreeSet<i64>,
    /// Answer that the board has to whether one runs; None before it was told.
    pub(crate) told: Option<bool>,
    /// True once it was told that all tasks have ended.
    pub(crate) knows_end: bool,
    /// True once nothing is to begin any more: its process ends.
    pub(crate) is_over: bool,
    /// The turns that have begun, and those that have ended.
    changes: u64,
}

impl LeadTurns {
    pub(crate) const fn is_running(&self) -> bool {
        self.is_running
    }

    /// Notes that one begins or ends.
    pub(crate) const fn note(&mut self, is_running: bool) {
        self.is_running = is_running;
        self.changes = self.changes.wrapping_add(1);
    }

    /// A number that is another once one has begun or ended; none while one runs.
    pub(crate) fn pause(&self) -> Option<u64> {
        (!self.is_running).then_some(self.changes)
    }
}
