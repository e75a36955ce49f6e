//! The published changes of a session that its front end was told of: each is told once.

use ropewalk_workspace::ledger::Revisions;
use ropewalk_workspace::{HunkId, Workspace};
use std::collections::HashSet;

/// See the module.
#[derive(Default)]
pub(super) struct ToldPublished {
    /// How far the ledger was taken in.
    revisions: Revisions,
    ids: HashSet<HunkId>,
}

impl ToldPublished {
    /// Counts as told all that the ledger has now.
    pub(super) fn all(workspace: &Workspace, session: &str) -> Self {
        let mut told = Self::default();
        told.take_new(workspace, session);
        told
    }

    /// The changes that are in the ledger and were not told until now.
    pub(super) fn take_new(&mut self, workspace: &Workspace, session: &str) -> Vec<HunkId> {
        let ledger = workspace.ledger();
        let changed = ledger.changed_since(session, self.revisions);
        self.revisions = ledger.revisions();
        let is_there = |id: HunkId| {
            ledger.texts.of_hunk(id).any(|text| *text.session == *session)
                || ledger.files.of_hunk(id).any(|file| *file.session == *session)
        };
        let mut new = Vec::new();
        for id in changed {
            match is_there(id) {
                true if self.ids.insert(id) => new.push(id),
                true => {}
                // Taken back, it is told anew if it comes once more.
                false => drop(self.ids.remove(&id)),
            }
        }
        new
    }
}
