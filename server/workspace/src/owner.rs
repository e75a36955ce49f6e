//! The owner of a fork that several use: it has the fork's lock, and is told of every side effect under it, right before
//! that happens, so that it can be kept.
//!
//! A journal that was written when [`LockedFork::journal_first`] returned tells the truth after a crash at any point: what
//! is marked as sent, as being undone, or noted in the ledger may have happened, and
//! [`SavedState::restore`](crate::state::SavedState::restore) finds out; nothing else has. This file knows no journal.

use crate::DocId;
use crate::fork::Fork;
use crate::workspace::lock;
use std::ops::DerefMut;
use std::sync::{Mutex, MutexGuard};

/// See the module.
pub trait ForkOwner: Send + Sync {
    /// Locks the fork. No file is read or written while it is locked, and nothing is awaited.
    fn lock(&self) -> Box<dyn LockedFork + '_>;
}

/// A fork that nobody else uses until this is dropped.
pub trait LockedFork: DerefMut<Target = Fork> {
    /// Journals what is about to be done to `files`: an edit is sent, or a file is written, removed or renamed. The fork
    /// and the workspace's ledger are marked for it already. Called while no document and no ledger is locked.
    fn journal_first(&mut self, files: &[DocId]);
}

/// A fork of which nothing is kept.
impl ForkOwner for Mutex<Fork> {
    fn lock(&self) -> Box<dyn LockedFork + '_> {
        Box::new(lock(self))
    }
}

impl LockedFork for MutexGuard<'_, Fork> {
    fn journal_first(&mut self, _: &[DocId]) {}
}
