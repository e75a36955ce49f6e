//! Files of a layer that do not become proposals. A deleted file whose content stands in one of them was moved there,
//! and half a move is no deletion.

use super::compare::{ContentId, content_of};
use super::folder::{Folder, Stamp, StampKind};
use super::{LayerError, MOST_BYTES};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The most files that are remembered.
const MOST_FILES: usize = 10_000;

/// The most bytes that are read before it is known that they matter.
const MOST_READ: u64 = 8 << 20;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    contents: HashSet<ContentId>,
    /// Files to be read once a deleted one is as long: the folder they are below, the path from there, the length.
    files: Vec<(PathBuf, PathBuf, u64)>,
    /// Lengths of files that were not read: whatever is as long may have been moved there.
    lengths: HashSet<u64>,
    read: u64,
}

impl LeftOut {
    /// Remembers a file that stays in the layer until all is collected.
    pub(super) fn later(&mut self, up: &Path, path: &Path, stamp: &Stamp) {
        if stamp.kind != StampKind::File {
            return;
        }
        if self.files.len() < MOST_FILES {
            self.files.push((up.to_owned(), path.to_owned(), stamp.len));
        } else {
            self.lengths.insert(stamp.len);
        }
    }

    /// Remembers what a file holds that is about to be removed.
    pub(super) fn now(&mut self, folder: &Folder, name: &OsStr) {
        let Ok(Some(Stamp { kind: StampKind::File, len, .. })) = folder.look(name) else { return };
        self.read = self.read.saturating_add(len);
        let bytes = (self.read <= MOST_READ).then(|| folder.read(name, MOST_READ).ok()).flatten();
        match bytes {
            Some(bytes) => drop(self.contents.insert(content_of(&bytes))),
            None => drop(self.lengths.insert(len)),
        }
    }

    /// The same of all files in a folder.
    pub(super) fn folder(&mut self, folder: &Folder) {
        let mut seen = 0;
        // A folder that can't be looked through leaves gaps: it was told already.
        let _ = folder.through(|inside, name, _| {
            seen += 1;
            if seen > MOST_FILES {
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            self.now(inside, name);
            Ok(())
        });
    }

    /// Remembers a file that can't be read.
    pub(super) fn unread(&mut self, stamp: &Stamp) {
        self.lengths.insert(stamp.len);
    }

    /// True if one of them holds this, or may. Empty files are all the same.
    pub(super) fn holds(&mut self, content: ContentId) -> bool {
        let len = content.1 as u64;
        if len == 0 {
            return false;
        }
        for (up, path, _) in self.files.extract_if(.., |(_, _, own)| *own == len) {
            match read(&up, &path) {
                Ok(bytes) => drop(self.contents.insert(content_of(&bytes))),
                Err(_) => drop(self.lengths.insert(len)),
            }
        }
        self.contents.contains(&content) || self.lengths.contains(&len)
    }
}

fn read(up: &Path, path: &Path) -> Result<Vec<u8>, LayerError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(Vec::new());
    };
    let read = || {
        let folder = Folder::ours(up)?.reach(parent)?.ok_or(io::ErrorKind::NotFound)?;
        folder.read(name, MOST_BYTES)
    };
    read().map_err(LayerError::at(path))
}
