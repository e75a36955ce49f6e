//! Approvals: a call that waits for the user's word.
//!
//! It waits without a timeout. Only a no, an interrupt, or a run with nobody to ask refuses it; an answer
//! that comes too late changes nothing and is said to be late.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// The user's word on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Run it, this once.
    Once,
    /// Run it, and its like for the rest of the session.
    Session,
    /// Run it, and its like from now on in every session.
    Always,
    /// Run it as soon as the unsaved files it won't see are saved.
    AfterSave,
    /// Don't; words for the model.
    Refuse(Option<String>),
}

/// What may be said to a call that waits, beside once and no.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// What "for this session" lets run, in words on one line; None where no rule can stand for the call.
    pub rule_words: Option<String>,
    /// Whether that can be allowed for always.
    pub always: bool,
    /// Whether there is unsaved text that it would see after saving.
    pub after_save: bool,
}

/// The calls of a session that wait.
#[derive(Debug, Default)]
pub struct Approvals {
    waiting: Mutex<(u64, BTreeMap<u64, Waiting>)>,
}

/// What may be said, and who waits for it.
type Waiting = (Choices, oneshot::Sender<Verdict>);

impl Approvals {
    /// A new one, and where its verdict will come.
    pub fn ask(&self, choices: Choices) -> (u64, oneshot::Receiver<Verdict>) {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.0 += 1;
        let id = waiting.0;
        waiting.1.insert(id, (choices, sender));
        (id, receiver)
    }

    /// Answers one, or the oldest. False when it waits no more.
    pub fn answer(&self, id: Option<u64>, verdict: Verdict) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(id) = id.or_else(|| waiting.1.keys().next().copied()) else { return false };
        waiting.1.remove(&id).is_some_and(|(_, sender)| sender.send(verdict).is_ok())
    }

    /// The ids that wait, oldest first, and what may be said to each.
    pub fn waiting(&self) -> Vec<(u64, Choices)> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.1.iter().map(|(id, (choices, _))| (*id, choices.clone())).collect()
    }

    /// Withdraws one that nobody needs to answer any more.
    pub fn withdraw(&self, id: u64) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&id);
    }
}
