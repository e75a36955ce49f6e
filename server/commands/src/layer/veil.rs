//! What policy keeps from commands, as far as a layer has to do with it: it does not stand there.
//!
//! What the disk has of it is covered by somebody else, or is in no copy. Which files these are is not decided here.

use super::told::list;
use super::{Collected, Layer};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Files and folders that no command sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Veil(HashSet<PathBuf>);

impl Veil {
    /// Whether a path is one of these or in one. O(its depth).
    pub(super) fn covers(&self, path: &Path) -> bool {
        !self.0.is_empty() && path.ancestors().any(|above| self.0.contains(above))
    }
}

impl Layer {
    /// From the next [`Layer::materialise`] on, nothing of a view's or of the disk's stands at these paths or below
    /// them, until other paths are given; what a command makes there is no proposal, since it doesn't know what it
    /// would replace.
    pub fn veil(&mut self, hidden: &[PathBuf]) {
        self.veil = Veil(hidden.iter().cloned().collect());
    }

    /// Drops what was written where the command could see nothing.
    pub(super) fn without_veiled(&self, mut collected: Collected) -> Collected {
        let dropped = collected.leave_out(|place| self.veil.covers(&place.path));
        if !dropped.is_empty() {
            collected.told.push(format!(
                "hidden from commands, because a rule keeps it from being read or it may hold secrets: {}; what this one made there was dropped",
                list(dropped)
            ));
        }
        collected
    }
}
