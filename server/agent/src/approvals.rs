//! Approvals: calls that wait for the user's word, and what they have allowed for the rest of the session.
//!
//! A call waits without a timeout. Only a no, an interrupt, or a run with nobody to ask refuses it; an answer
//! that comes too late changes nothing and is said to be late.

use ropewalk_protocol::{Approval, Verdict};
use ropewalk_tools::Rule;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// See the module.
#[derive(Debug)]
pub(crate) struct Approvals {
    /// The last number, of all sessions that number theirs together.
    last: Arc<AtomicU64>,
    state: Mutex<ApprovalsState>,
}

#[derive(Debug)]
struct ApprovalsState {
    /// The calls that wait, and where their verdicts go.
    waiting: BTreeMap<u64, (Approval, oneshot::Sender<Verdict>)>,
    /// Rules of the user's own words. They outlive other settings.
    granted: Vec<Rule>,
    /// Calls that were allowed after the next save.
    saves: Vec<oneshot::Sender<()>>,
}

impl Approvals {
    pub(crate) fn new(last: Arc<AtomicU64>, granted: Vec<Rule>) -> Self {
        let state = ApprovalsState { waiting: BTreeMap::new(), granted, saves: Vec::new() };
        Self { last, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, ApprovalsState> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Numbers an approval, and gives it back with where its verdict will come.
    pub(crate) fn ask(&self, mut approval: Approval) -> (Approval, oneshot::Receiver<Verdict>) {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state();
        approval.id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        state.waiting.insert(approval.id, (approval.clone(), sender));
        (approval, receiver)
    }

    /// Answers one, or the oldest. False when it waits no more.
    pub(crate) fn answer(&self, id: Option<u64>, verdict: Verdict) -> bool {
        let mut state = self.state();
        let Some(id) = id.or_else(|| state.waiting.keys().next().copied()) else { return false };
        state.waiting.remove(&id).is_some_and(|(_, sender)| sender.send(verdict).is_ok())
    }

    /// Approvals that wait, oldest first.
    pub(crate) fn waiting(&self) -> Vec<Approval> {
        self.state().waiting.values().map(|(approval, _)| approval.clone()).collect()
    }

    /// Withdraws one that nobody needs to answer any more.
    pub(crate) fn withdraw(&self, id: u64) {
        self.state().waiting.remove(&id);
    }

    /// Allows what a rule says for the rest of the session.
    pub(crate) fn grant(&self, rule: Rule) {
        self.state().granted.push(rule);
    }

    pub(crate) fn granted(&self) -> Vec<Rule> {
        self.state().granted.clone()
    }

    /// The next save of a document.
    pub(crate) fn next_save(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.state().saves.push(sender);
        receiver
    }

    pub(crate) fn saved(&self) {
        for waiting in std::mem::take(&mut self.state().saves) {
            // One that was interrupted waits no more.
            let _ = waiting.send(());
        }
    }
}
