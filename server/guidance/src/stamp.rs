//! Stamps of files: they tell that one is as it was, without reading it.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// A file's length and times, and on Unix which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    len: u64,
    modified: Option<SystemTime>,
    /// Device, inode, and when anything of it changed.
    #[cfg(unix)]
    file: (u64, u64, i64, i64),
}

/// How long a file must have been left alone: times are kept in steps, of two seconds on FAT.
const SETTLED: Duration = Duration::from_secs(2);

impl FileStamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            len: meta.len(),
            modified: meta.modified().ok(),
            #[cfg(unix)]
            file: (meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// The length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// True if the same stamp later proves the same content.
    pub(crate) fn is_settled(&self) -> bool {
        self.modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > SETTLED)
    }
}
