//! Names and times that a look through folders found. They tell later whether another look could find anything else.
//!
//! A name that comes or goes changes its folder's time of change, which nobody can set. What is in files is not known
//! by it.

use ropewalk_workspace::View;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How much later than a change a look must be to be sure to have seen it: file systems keep times that coarsely.
const COARSE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LookRecord {
    /// The roots and the other folders that were looked through.
    of: (Vec<PathBuf>, Vec<PathBuf>),
    /// The latest time of change, in seconds from 1970, that is surely seen.
    sure: i64,
    /// Paths that were looked at, with their times of change; None where another change could have the same.
    all: Vec<(PathBuf, Option<(i64, i64)>)>,
}

fn changed(path: &Path) -> Option<(i64, i64)> {
    let found = path.symlink_metadata().ok()?;
    Some((found.ctime(), found.ctime_nsec()))
}

fn roots(view: &View) -> impl Iterator<Item = &Path> {
    view.roots().iter().map(|root| root.path())
}

impl LookRecord {
    /// A look begins.
    pub(super) fn begin(view: &View, others: &[PathBuf]) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let sure = i64::try_from(now.saturating_sub(COARSE).as_secs()).unwrap_or_default();
        let of = (roots(view).map(Path::to_owned).collect(), others.to_vec());
        Self { of, sure, all: Vec::new() }
    }

    /// A folder or a file is about to be looked at.
    pub(super) fn note(&mut self, path: &Path) {
        let found = changed(path).filter(|(seconds, _)| *seconds < self.sure);
        self.all.push((path.to_owned(), found));
    }

    /// True if it was a look through these.
    pub(super) fn is_of(&self, view: &View, others: &[PathBuf]) -> bool {
        roots(view).eq(self.of.0.iter().map(PathBuf::as_path)) && self.of.1 == others
    }

    /// True if another look would see the same names. One system call for each thing looked at.
    pub(super) fn is_still(&self) -> bool {
        self.all.iter().all(|(path, found)| found.is_some() && changed(path) == *found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_workspace::{Fork, Roots, Workspace};

    #[test]
    fn only_what_surely_has_not_changed_is_still_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let workspace = Workspace::new(Roots::new(vec![("w".into(), root.clone())]));
        let view = Fork::new("s".into()).view(workspace.snapshot());
        let other = [PathBuf::from("/other")];
        let seen = |sure: i64| {
            let mut seen = LookRecord { sure, ..LookRecord::begin(&view, &other) };
            seen.note(&root);
            seen
        };
        assert!(seen(0).is_of(&view, &other) && !seen(0).is_of(&view, &[]));
        let now = changed(&root).unwrap();
        assert!(!seen(now.0).is_still(), "it changed too lately to be sure");
        let before = seen(now.0 + 1);
        assert!(before.is_still());
        let mut count = 0;
        while changed(&root) == Some(now) {
            std::fs::write(root.join(count.to_string()), "x").unwrap();
            count += 1;
        }
        assert!(!before.is_still());
        let gone = seen(i64::MAX);
        std::fs::remove_dir_all(&root).unwrap();
        assert!(!gone.is_still());
    }
}
