//! A running subagent: who it is, what it works on, and how it is stopped.

use super::files::ThreadFiles;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// See the module.
pub(crate) struct SubagentThread {
    /// Unique in its session: the turn, and its number in that.
    pub(crate) id: Arc<str>,
    /// The call that has started it.
    pub(crate) call: Arc<str>,
    /// Name of its type.
    pub(crate) agent: String,
    /// The task in a few words.
    pub(crate) description: String,
    /// Words that say to it who it is.
    pub(crate) identity: String,
    pub(crate) files: ThreadFiles,
}

impl SubagentThread {
    /// Name for people.
    pub(crate) fn name(&self) -> String {
        format!("{}, {}", self.agent, self.description)
    }
}

/// The subagents of a session that are at work, and how each is stopped.
#[derive(Default)]
pub(crate) struct RunningThreads(Mutex<BTreeMap<Arc<str>, Arc<watch::Sender<bool>>>>);

impl RunningThreads {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Arc<watch::Sender<bool>>>> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one, which is at work until the guard is dropped.
    pub(crate) fn begin(&self, id: &Arc<str>, stop: Arc<watch::Sender<bool>>) -> AtWork<'_> {
        self.all().insert(id.clone(), stop);
        AtWork(self, id.clone())
    }

    /// Stops the one of this id. False if it is not at work.
    pub(crate) fn stop(&self, id: &str) -> bool {
        self.all().get(id).is_some_and(|stop| stop.send(true).is_ok())
    }
}

/// Takes a subagent out of those that are at work, however it ends.
pub(crate) struct AtWork<'a>(&'a RunningThreads, Arc<str>);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.all().remove(&self.1);
    }
}
