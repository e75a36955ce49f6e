//! A file of the fork as it was looked at, so that what is to be done to it is made out and done without the lock.
//!
//! Under the lock the file is only compared, marked as being written and journalled, and settled in the end. While it is
//! marked nothing brings it to now.

use super::{Failure, FileSelection};
use crate::entry::{Base, Entry};
use crate::fork::{Fork, ForkFile, base_of, synced_one};
use crate::ledger::PublishedFile;
use crate::owner::ForkOwner;
use crate::workspace::Workspace;
use crate::{DocId, HunkId};
use ropewalk_files::disk::FileError;

/// How often something is tried anew where the file had moved on meanwhile.
const TRIES: usize = 8;

/// Why a try ended.
pub(super) enum HeldStop {
    /// The file has moved on since it was looked at.
    Moved,
    /// It can't be done.
    Failed(Failure),
    /// The disk did not take it.
    Disk(FileError),
}

impl From<FileError> for HeldStop {
    fn from(error: FileError) -> Self {
        Self::Disk(error)
    }
}

/// Tries again while the file moves on in between.
pub(super) fn tried<T>(mut try_once: impl FnMut() -> Result<T, HeldStop>) -> Result<T, Failure> {
    for _ in 0..TRIES {
        match try_once() {
            Ok(done) => return Ok(done),
            Err(HeldStop::Moved) => {}
            Err(HeldStop::Failed(failure)) => return Err(failure),
            Err(HeldStop::Disk(error)) => return Err(error.into()),
        }
    }
    Err(Failure::Conflict)
}

/// See the module.
pub(super) struct HeldFile {
    pub(super) id: DocId,
    pub(super) file: ForkFile,
    /// The document under it, and the file of that name if it is to be renamed.
    pub(super) source: DocId,
    pub(super) left: Option<ForkFile>,
}

impl HeldFile {
    /// The file, brought to now. None if nothing is pending in it. Blocking.
    pub(super) fn of(workspace: &Workspace, fork: &dyn ForkOwner, id: &DocId) -> Option<Self> {
        synced_one(workspace, fork, id);
        let fork = fork.lock();
        let file = fork.files.get(id)?.clone();
        let source = base_of(id, &file.entry).clone();
        let left = fork.files.get(&source).filter(|_| source != *id).cloned();
        Some(Self { id: id.clone(), file, source, left })
    }

    /// The file that lies on the disk: itself, or the one that it is to be renamed from.
    pub(super) fn under(&self) -> &ForkFile {
        self.left.as_ref().unwrap_or(&self.file)
    }

    /// The names that it takes part in.
    pub(super) fn docs(&self) -> Vec<DocId> {
        let left = self.left.iter().map(|_| self.source.clone());
        left.chain([self.id.clone()]).collect()
    }

    /// True if the fork has it as it was looked at, and nobody is writing it.
    pub(super) fn stands_in(&self, fork: &Fork) -> bool {
        let same = |id: &DocId, was: &ForkFile| {
            let is_it = |now: &ForkFile| {
                !now.seen.writing && now.place == was.place && is_same(&now.entry, &was.entry)
            };
            fork.files.get(id).is_some_and(is_it)
        };
        same(&self.id, &self.file) && self.left.as_ref().is_none_or(|left| same(&self.source, left))
    }

    /// Carries out `act` on the file, after the ledger and the journal were told. `mark` marks the pending changes that it
    /// carries, and `settle` brings the fork to the outcome; only `act` runs without the fork's lock. A failed act leaves
    /// the ledger.
    pub(super) fn carry_out<T>(
        &self,
        (workspace, fork): (&Workspace, &dyn ForkOwner),
        lines: &[PublishedFile],
        mark: impl FnOnce(&mut Entry),
        act: impl FnOnce() -> Result<T, FileError>,
        settle: impl FnOnce(&mut Fork, Result<&T, &FileError>),
    ) -> Result<T, HeldStop> {
        let docs = self.docs();
        {
            let mut fork = fork.lock();
            if !self.stands_in(&fork) {
                return Err(HeldStop::Moved);
            }
            if let Some(file) = fork.files.get_mut(&self.id) {
                mark(&mut file.entry);
            }
            set_writing(&mut fork, &docs, true);
            workspace.ledger().files.extend(lines.iter().cloned());
            fork.journal_first(&docs);
        }
        let mut guard = WriteGuard { fork, docs: &docs, is_over: false };
        let done = act();
        let mut fork = fork.lock();
        guard.is_over = true;
        set_writing(&mut fork, &docs, false);
        if done.is_err() {
            let mut ledger = workspace.ledger();
            for line in lines {
                ledger.files.take_of_hunk(line.id, |own| own.is(line));
            }
        }
        settle(&mut fork, done.as_ref());
        Ok(done?)
    }
}

/// True if the same is pending on the same base.
fn is_same(now: &Entry, was: &Entry) -> bool {
    let same_base = match (&now.base, &was.base) {
        (Base::Buffer { text, .. }, Base::Buffer { text: was, .. }) => text == was,
        (Base::Disk { hash, .. }, Base::Disk { hash: was, .. }) => hash == was,
        (Base::Binary { hash }, Base::Binary { hash: was }) => hash == was,
        (Base::Link { target }, Base::Link { target: was }) => target == was,
        (Base::Absent, Base::Absent) => true,
        _ => false,
    };
    same_base
        && (&now.file, &now.mode, now.marks()) == (&was.file, &was.mode, was.marks())
        && now.set() == was.set()
}

fn set_writing(fork: &mut Fork, docs: &[DocId], writing: bool) {
    for doc in docs {
        if let Some(file) = fork.files.get_mut(doc) {
            file.seen.outdate();
            file.seen.writing = writing;
        }
    }
}

/// Takes the marks off the files when a write breaks down.
struct WriteGuard<'a> {
    fork: &'a dyn ForkOwner,
    docs: &'a [DocId],
    is_over: bool,
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            set_writing(&mut self.fork.lock(), self.docs, false);
        }
    }
}

/// Selected hunks that are pending in the file as they were when they were chosen.
pub(super) fn unaltered_of(file: &ForkFile, selection: &FileSelection) -> Vec<HunkId> {
    file.entry.unaltered(&file.entry.pending(&selection.ids), &selection.seen)
}
