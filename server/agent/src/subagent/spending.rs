//! Spending of a turn whose subagents are at work: all of them count for the budgets of turn and session at once.

use crate::journal::Journal;
use crate::journal::record::Record;
use ropewalk_protocol::Spent;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// See the module.
pub(crate) struct TurnSpending {
    before: Spent,
    now: Mutex<Spent>,
    journal: Journal,
}

impl TurnSpending {
    /// The spending of a session that had used `before` when its turn began, and `now` since then too. The journal is the
    /// session's.
    pub(crate) fn new(before: Spent, now: Spent, journal: Journal) -> Self {
        Self { before, now: Mutex::new(now), journal }
    }

    fn state(&self) -> MutexGuard<'_, Spent> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the use of a step, and gives that of the session with it. A crash forgets none of it.
    pub(crate) fn add(&self, step: Spent) -> Spent {
        let mut now = self.state();
        *now += step;
        self.journal.write(&Record::Usage(*now));
        *now
    }

    /// Used by the session when the turn began.
    pub(crate) fn before(&self) -> Spent {
        self.before
    }

    /// Used by the session until now.
    pub(crate) fn now(&self) -> Spent {
        *self.state()
    }
}
