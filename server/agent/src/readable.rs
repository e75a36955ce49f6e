//! Folders outside the roots that a session may read: those of the user's skills that are loaded.

use ropewalk_workspace::Roots;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ReadableFolders(RwLock<(Vec<PathBuf>, Roots)>);

impl ReadableFolders {
    pub(crate) fn set(&self, folders: Vec<PathBuf>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.0 != folders {
            let named = folders.iter().map(|folder| ("skill".to_owned(), folder.clone()));
            let roots = Roots::new(named.collect());
            *known = (folders, roots);
        }
    }

    pub(crate) fn get(&self) -> Roots {
        self.0.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}
