//! Folders outside the roots that a session may read: those of the user's skills that are loaded.

use ropewalk_workspace::{Roots, View};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ReadableFolders {
    /// Folders of the session that a subagent works for.
    inherited: Vec<PathBuf>,
    own: RwLock<(Vec<PathBuf>, Roots)>,
}

impl ReadableFolders {
    /// Makes a subagent's: all that may be read here now, and its own.
    pub(crate) fn beside(&self) -> Self {
        let inherited = self.own.read().unwrap_or_else(PoisonError::into_inner).0.clone();
        let beside = Self { inherited, ..Self::default() };
        beside.set(Vec::new());
        beside
    }

    pub(crate) fn set(&self, own: Vec<PathBuf>) {
        let mut folders = self.inherited.clone();
        folders.extend(own.into_iter().filter(|folder| !self.inherited.contains(folder)));
        let mut known = self.own.write().unwrap_or_else(PoisonError::into_inner);
        if known.0 != folders {
            let named = folders.iter().map(|folder| ("skill".to_owned(), folder.clone()));
            let roots = Roots::new(named.collect());
            *known = (folders, roots);
        }
    }

    pub(crate) fn get(&self) -> Roots {
        self.own.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// The view, in which they may be read.
    pub(crate) fn in_view(&self, view: Arc<View>) -> Arc<View> {
        let roots = self.get();
        let is_any = roots.iter().len() > 0;
        match is_any {
            true => Arc::new(View::clone(&view).with_readable(roots)),
            false => view,
        }
    }
}
