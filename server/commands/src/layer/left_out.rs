//! Files of commands that do not become proposals. A deleted file whose content stands in one of them was moved there,
//! and half a move is no deletion.
//!
//! They are looked through only once something is deleted, and of them only what is as long.

use super::compare::{ContentId, content_of};
use super::folder::{Folder, Moment, Stamp, StampKind};
use super::notes::plain;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The most bytes of a file that is read. A longer one is known by its length.
const LONGEST: u64 = 8 << 20;

/// The most bytes that are read before it is known that they matter.
const MOST_READ: u64 = 8 << 20;

/// The most files that are remembered of a folder that is about to be removed.
const MOST_FILES: usize = 10_000;

/// Reason for which a place is not taken in.
#[derive(Clone, Copy, Debug)]
pub(super) enum LeftBecause {
    Ignored,
    /// It is outside of the roots, and ends with the session.
    Outside,
    /// Another sentence of the result says it.
    Said,
}

/// A file, or a folder with all that is in it, that stays where it is until all is collected.
#[derive(Debug)]
struct LeftPlace {
    /// The folder that it is below, and the path from there.
    up: PathBuf,
    path: PathBuf,
    because: LeftBecause,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Where they stand, in words, by their content.
    contents: HashMap<ContentId, String>,
    /// The same of those that were not read: whatever is as long may have been moved there.
    lengths: HashMap<u64, String>,
    places: Vec<LeftPlace>,
    /// Inodes of files that we had put where they are gone from.
    ours: HashSet<u64>,
    read: u64,
}

impl LeftOut {
    /// Remembers a file or folder that stays in the layer until all is collected.
    pub(super) fn later(&mut self, up: &Path, path: &Path, because: LeftBecause) {
        self.places.push(LeftPlace { up: up.to_owned(), path: path.to_owned(), because });
    }

    /// Remembers that a file of ours is gone from its name.
    pub(super) fn took_away(&mut self, stamp: &Stamp) {
        self.ours.insert(stamp.inode);
    }

    /// Remembers what stands at `path`, under this name in a folder, and is about to be removed.
    pub(super) fn now(&mut self, folder: &Folder, name: &OsStr, path: &Path) {
        if let Ok(Some(stamp)) = folder.look(name) {
            self.read = self.read.saturating_add(stamp.len);
            let is_read = self.read <= MOST_READ;
            self.remember((folder, name), &stamp, is_read, plain(path));
        }
    }

    /// The same of all files in the folder that stands at `path`.
    pub(super) fn folder(&mut self, folder: &Folder, path: &Path) {
        let mut seen = 0;
        // A folder that can't be looked through leaves gaps: it was told already.
        let _ = folder.through(|inside, name, _| {
            seen += 1;
            if seen > MOST_FILES {
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            self.now(inside, name, path);
            Ok(())
        });
    }

    /// Looks through what stays in the layer for contents of these lengths. What is ignored or outside counts where
    /// the command that began at `started` has put it there: what earlier ones left was there before the deletion.
    pub(super) fn look_for(&mut self, lengths: &HashSet<u64>, started: Moment) {
        for LeftPlace { up, path, because } in std::mem::take(&mut self.places) {
            let mut each = |folder: &Folder, name: &OsStr, is_inside: bool| -> io::Result<()> {
                let Some(stamp) = folder.look(name)? else { return Ok(()) };
                let is_new = matches!(because, LeftBecause::Said)
                    || stamp.is_of_command(started)
                    || self.ours.contains(&stamp.inode);
                let is_as_long = stamp.kind == StampKind::Link || lengths.contains(&stamp.len);
                if is_new && is_as_long {
                    let file =
                        if is_inside { plain(Path::new(name)) + " in " } else { String::new() };
                    let words = match because {
                        LeftBecause::Said => plain(&path),
                        LeftBecause::Ignored => format!("{file}{}, which is ignored", plain(&path)),
                        LeftBecause::Outside => {
                            format!(
                                "{}, outside of the open folders, where all of a command's is lost with the session",
                                plain(Path::new(name))
                            )
                        }
                    };
                    self.remember((folder, name), &stamp, true, words);
                }
                Ok(())
            };
            // A place that can't be looked at leaves gaps.
            let _ = Folder::ours(&up).and_then(|up| {
                let (parent, name) = (path.parent(), path.file_name());
                let (Some(parent), Some(name)) = (parent, name) else {
                    return up.through(|folder, name, _| each(folder, name, true));
                };
                let Some(parent) = up.reach(parent)? else { return Ok(()) };
                match parent.look(name)?.map(|found| found.kind) {
                    Some(StampKind::Folder) => {
                        parent.enter(name)?.through(|folder, name, _| each(folder, name, true))
                    }
                    _ => each(&parent, name, false),
                }
            });
        }
    }

    fn remember(
        &mut self,
        (folder, name): (&Folder, &OsStr),
        stamp: &Stamp,
        is_read: bool,
        words: String,
    ) {
        let content = match stamp.kind {
            StampKind::File if is_read && stamp.len <= LONGEST => {
                folder.read(name, LONGEST).ok().map(|bytes| content_of(&bytes))
            }
            StampKind::File => None,
            StampKind::Link => match folder.read_link(name) {
                Ok(target) => Some(content_of_link(&target)),
                Err(_) => return,
            },
            _ => return,
        };
        match content {
            Some(content) => drop(self.contents.insert(content, words)),
            None => drop(self.lengths.insert(stamp.len, words)),
        }
    }

    /// Remembers a file that can't be read.
    pub(super) fn unread(&mut self, stamp: &Stamp, path: &Path) {
        self.lengths.insert(stamp.len, plain(path));
    }

    /// Where one of them stands that holds a deleted file's content, or may. `read` gives the content where it is not
    /// known. Empty files are all the same.
    pub(super) fn holds(
        &self,
        content: Option<ContentId>,
        len: u64,
        read: impl FnOnce() -> Option<ContentId>,
    ) -> Option<&str> {
        let as_long = self.contents.iter().find(|((_, own), _)| *own as u64 == len);
        let content = content.or_else(|| as_long.and_then(|_| read()));
        let by_content = match content {
            Some(content) => self.contents.get(&content),
            None => as_long.map(|(_, words)| words),
        };
        let found = by_content.or_else(|| self.lengths.get(&len));
        found.filter(|_| len > 0).map(String::as_str)
    }
}

/// The content of a link, as of a file that nobody has.
pub(super) fn content_of_link(target: &Path) -> ContentId {
    content_of(&[b"\0link to ", target.as_os_str().as_encoded_bytes()].concat())
}
