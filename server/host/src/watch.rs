//! The files of a configuration, and when they were last changed.

use ropewalk_config::Config;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// See the module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfigWatch(Vec<(PathBuf, Option<SystemTime>)>);

impl ConfigWatch {
    /// The files of this configuration as they are now. Blocking.
    pub(crate) fn of(config: &Config) -> Self {
        Self(config.watched.iter().map(|path| (path.clone(), changed(path))).collect())
    }

    /// True if one of them was changed, made or removed since. Blocking.
    pub(crate) fn has_changed(&self) -> bool {
        self.0.iter().any(|(path, then)| changed(path) != *then)
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|meta| meta.modified()).ok()
}
