//! Wishes for a compaction, by the tool or the user, and how full the context is: what they and the hook have of each other.

use ropewalk_protocol::ContextFill;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module. Clones are of the same wish.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompactionWish(Arc<Mutex<WishState>>);

#[derive(Debug, Default)]
struct WishState {
    /// Words to keep in view, if a compaction is wanted.
    focus: Option<Option<String>>,
    fill: ContextFill,
}

impl CompactionWish {
    fn inner(&self) -> MutexGuard<'_, WishState> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wants one before the next step.
    pub(crate) fn want(&self, focus: Option<String>) {
        self.inner().focus = Some(focus);
    }

    /// Takes the wish: what is to be kept in view, if one is wanted.
    pub(crate) fn take(&self) -> Option<Option<String>> {
        self.inner().focus.take()
    }

    pub(crate) fn measure(&self, fill: ContextFill) {
        self.inner().fill = fill;
    }

    pub(crate) fn fill(&self) -> ContextFill {
        self.inner().fill
    }
}
