//! The witness: told of every side effect right before it happens, so that it can be kept.
//!
//! A journal that was written when [`Witness::ahead`] returned tells the truth after a crash at any point: what
//! is marked as sent, as being undone, or noted in the ledger may have happened, and
//! [`Kept::restore`](crate::state::Kept::restore) finds out; nothing else has. This file knows no journal.

use crate::DocId;
use crate::fork::Fork;

/// Is told before an edit is sent to the editor, and before a file is written, removed or renamed.
pub trait Witness: Send + Sync {
    /// Something is about to be done to `files`; `fork` and the workspace's ledger are marked for it already. Called
    /// under the fork's lock, holding no document and no ledger.
    fn ahead(&self, fork: &Fork, files: &[DocId]);
}

/// Nobody keeps anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWitness;

impl Witness for NoWitness {
    fn ahead(&self, _: &Fork, _: &[DocId]) {}
}
