//! Files that policy hides from commands; the layer leaves them out.
//!
//! Files on the disk are covered in the sandbox, and left out of copies. Which ones is decided elsewhere.

use super::notes::list;
use super::{Layer, LayerChanges};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Files and folders that no command sees.
#[derive(Clone, Debug, Default)]
pub(super) struct HiddenPaths(HashSet<PathBuf>);

impl HiddenPaths {
    /// True if a path is one of these or in one. O(its depth).
    pub(super) fn covers(&self, path: &Path) -> bool {
        !self.0.is_empty() && path.ancestors().any(|above| self.0.contains(above))
    }
}

impl Layer {
    /// From the next [`Layer::materialise`] on, nothing of a view's or of the disk's stands at these paths or below
    /// them, until other paths are given; what a command makes there is no proposal, since it doesn't know what it
    /// would replace.
    pub fn veil(&mut self, hidden: &[PathBuf]) {
        self.veil = HiddenPaths(hidden.iter().cloned().collect());
    }

    /// Drops what was written where the command could see nothing.
    pub(super) fn without_veiled(&self, mut collected: LayerChanges) -> LayerChanges {
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
