//! Notes of what a turn does to files, for whoever checks it at the end.

use super::Changes;
use super::work::FileWork;
use ropewalk_workspace::{DocId, Editor, HunkId};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::time::Instant;

impl Changes {
    fn noted(&self) -> MutexGuard<'_, FileWork> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn editor(&self) -> Arc<dyn Editor> {
        self.editor.clone()
    }

    /// A turn begins. Gives how often calls have changed something until then.
    pub(crate) fn work_begins(&self) -> u64 {
        let mut work = self.noted();
        (work.published, work.last) = (HashSet::new(), None);
        work.merges
    }

    /// How often calls have changed something.
    pub(crate) fn merges(&self) -> u64 {
        self.noted().merges
    }

    pub(super) fn note_merge(&self) {
        self.noted().merges += 1;
    }

    /// The documents of the hunks that are pending, for an editor that tells what is wrong in them.
    pub(super) fn documents(&self) -> HashMap<HunkId, DocId> {
        if !self.editor.gives_diagnostics() {
            return HashMap::new();
        }
        self.hunks().into_iter().map(|hunk| (hunk.id, hunk.doc)).collect()
    }

    pub(super) fn note_published(&self, done: &[HunkId], documents: &HashMap<HunkId, DocId>) {
        if !done.is_empty() {
            let mut work = self.noted();
            work.last = Some(Instant::now());
            work.published.extend(done.iter().filter_map(|hunk| documents.get(hunk)).cloned());
        }
    }

    /// Documents with changes that were published since the turn began, and when the last of them was.
    pub(crate) fn published(&self) -> (HashSet<DocId>, Option<Instant>) {
        let work = self.noted();
        (work.published.clone(), work.last)
    }
}
