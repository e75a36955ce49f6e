//! Approvals: a call that waits for the user's word.
//!
//! It waits without a timeout. Only a no, an interrupt, or a run with nobody to ask refuses it; an answer
//! that comes too late changes nothing and is said to be late.

use ropewalk_protocol::{Approval, Verdict};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The calls of a session that wait.
#[derive(Debug, Default)]
pub struct Approvals {
    /// The last number, of all sessions that number theirs together.
    last: Arc<AtomicU64>,
    waiting: Mutex<BTreeMap<u64, Waiting>>,
}

/// A call that waits, and where its verdict goes.
type Waiting = (Approval, oneshot::Sender<Verdict>);

impl Approvals {
    /// Approvals that are numbered on from `last`.
    pub fn numbered_from(last: Arc<AtomicU64>) -> Self {
        Self { last, waiting: Mutex::default() }
    }

    /// Numbers an approval, and gives it back with where its verdict will come.
    pub fn ask(&self, mut approval: Approval) -> (Approval, oneshot::Receiver<Verdict>) {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        approval.id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        waiting.insert(approval.id, (approval.clone(), sender));
        (approval, receiver)
    }

    /// Answers one, or the oldest. False when it waits no more.
    pub fn answer(&self, id: Option<u64>, verdict: Verdict) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(id) = id.or_else(|| waiting.keys().next().copied()) else { return false };
        waiting.remove(&id).is_some_and(|(_, sender)| sender.send(verdict).is_ok())
    }

    /// Approvals that wait, oldest first.
    pub fn waiting(&self) -> Vec<Approval> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.values().map(|(approval, _)| approval.clone()).collect()
    }

    /// Withdraws one that nobody needs to answer any more.
    pub fn withdraw(&self, id: u64) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}
