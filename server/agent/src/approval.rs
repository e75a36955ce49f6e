//! Approvals: a call that waits for the user's word.
//!
//! It waits without a timeout. Only a no, an interrupt, or a run with nobody to ask refuses it; an answer
//! that comes too late changes nothing and is said to be late.

use ropewalk_protocol::{Approval, Verdict};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// The calls of a session that wait.
#[derive(Debug, Default)]
pub struct Approvals {
    waiting: Mutex<(u64, BTreeMap<u64, Waiting>)>,
}

/// A call that waits, and where its verdict goes.
type Waiting = (Approval, oneshot::Sender<Verdict>);

impl Approvals {
    /// Numbers an approval, and gives it back with where its verdict will come.
    pub fn ask(&self, mut approval: Approval) -> (Approval, oneshot::Receiver<Verdict>) {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.0 += 1;
        approval.id = waiting.0;
        waiting.1.insert(approval.id, (approval.clone(), sender));
        (approval, receiver)
    }

    /// Answers one, or the oldest. False when it waits no more.
    pub fn answer(&self, id: Option<u64>, verdict: Verdict) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(id) = id.or_else(|| waiting.1.keys().next().copied()) else { return false };
        waiting.1.remove(&id).is_some_and(|(_, sender)| sender.send(verdict).is_ok())
    }

    /// Approvals that wait, oldest first.
    pub fn waiting(&self) -> Vec<Approval> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.1.values().map(|(approval, _)| approval.clone()).collect()
    }

    /// Withdraws one that nobody needs to answer any more.
    pub fn withdraw(&self, id: u64) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&id);
    }
}
