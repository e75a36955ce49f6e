//! The list of files that commands once saw with another text than the disk's.
//!
//! Build tools compare times: a file is fresh when it is older than what was built from it. A file that commands
//! saw changed, and that then goes back to what the disk has, would bring the disk's old time along, and what
//! was built from the other text would count as fresh. So such a file is never left to the disk again: it stays
//! materialised, and its time is that of the last change of its content *as commands saw it*. The list lies beside
//! the build cache that it is about, and is read and written as one file of JSON.
//!
//! It is done with a file once the disk has what commands last saw, and not at an earlier time: what was built from
//! any other text is older than that, and what is younger was built from the same. That is looked for when a session
//! begins ([`BuildInputs::forget_saved`]) and not within one, where a file that the user has just accepted would become
//! younger than what commands built from it.

use super::MOST_BYTES;
use super::folder::{Folder, Moment, StampKind};
use ropewalk_workspace::ContentHash;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// See the module.
#[derive(Debug, Default)]
pub struct BuildInputs {
    /// By path: as it is written, which asks for less than its parts.
    files: HashMap<OsString, Last>,
    changed: bool,
    /// Set when the record of a file was lost.
    is_spoilt: bool,
}

/// State of a file as commands last saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Last {
    /// The hash of its bytes; None when it was not there, or nobody knows.
    pub(super) hash: Option<ContentHash>,
    /// When it came to be so.
    pub(super) mtime: Moment,
}

#[derive(Serialize, Deserialize)]
struct InputLine {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    mtime: Moment,
}

impl BuildInputs {
    /// Reads the list; an absent file is an empty one.
    ///
    /// # Errors
    /// When the file is there and can't be read, or is broken. Then nothing is known of what was built with it, so
    /// that what was built has to go.
    pub fn load(file: &Path) -> io::Result<Self> {
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let lines: Vec<InputLine> = serde_json::from_slice(&bytes).map_err(io::Error::other)?;
        let files = lines.into_iter().map(|line| {
            let hash = line.hash.and_then(|hash| u128::from_str_radix(&hash, 16).ok());
            (OsString::from(line.path), Last { hash: hash.map(ContentHash), mtime: line.mtime })
        });
        Ok(Self { files: files.collect(), ..Self::default() })
    }

    /// Writes the list if it changed: beside its file, then over it.
    ///
    /// # Errors
    /// The system's.
    pub fn save(&mut self, file: &Path) -> io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        // A path that is no text can't be said in JSON; no tool of ours makes such a file.
        let lines = self.files.iter().filter_map(|(path, last)| {
            let hash = last.hash.map(|hash| format!("{:032x}", hash.0));
            Some(InputLine { path: path.to_str()?.to_owned(), hash, mtime: last.mtime })
        });
        let bytes = serde_json::to_vec(&lines.collect::<Vec<_>>()).map_err(io::Error::other)?;
        let beside = file.with_extension("new");
        std::fs::write(&beside, bytes)?;
        std::fs::rename(&beside, file)?;
        self.changed = false;
        Ok(())
    }

    /// How many files are in it.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// True if it names no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Takes out the files below these roots that the disk has as commands last saw them, at the same time or later.
    /// A file is only read when its time allows that, and no more than 64 MiB of them all; what could not be looked
    /// at stays. Not for a list that takes in another afterwards: that may have such a file at a time in between.
    /// Blocking; one look at each file of the list.
    pub fn forget_saved(&mut self, roots: &[PathBuf]) {
        let roots: Vec<(&PathBuf, Folder)> =
            roots.iter().filter_map(|root| Some((root, Folder::disk(root).ok()?))).collect();
        let mut room = MOST_BYTES;
        let had = self.files.len();
        self.files.retain(|path, last| {
            let path = Path::new(path);
            let inside = |(root, disk)| Some((path.strip_prefix::<&PathBuf>(root).ok()?, disk));
            let found = roots.iter().map(|(root, disk)| (*root, disk)).find_map(inside);
            !found.is_some_and(|(path, disk)| is_saved(disk, path, *last, &mut room))
        });
        self.changed |= self.files.len() != had;
    }

    pub(super) fn get(&self, path: &Path) -> Option<Last> {
        self.files.get(path.as_os_str()).copied()
    }

    /// Takes out a file that can't be kept in a layer any more: what was built from it may be older than what the disk
    /// has, and count as fresh.
    pub(super) fn forget(&mut self, path: &Path) {
        if self.files.remove(path.as_os_str()).is_some() {
            self.changed = true;
            self.is_spoilt = true;
        }
    }

    /// Takes the mark that the record of a file was lost: then all builds have to go.
    pub(super) fn take_spoilt(&mut self) -> bool {
        std::mem::take(&mut self.is_spoilt)
    }

    /// Takes in what commands saw elsewhere, so that what was built from either counts as fresh only from the same
    /// text: the later time of both, and a content only where they agree.
    pub(crate) fn take_in(&mut self, other: &Self) {
        for (path, theirs) in &other.files {
            let path = Path::new(path);
            let ours = self.get(path).unwrap_or(*theirs);
            let hash = ours.hash.filter(|hash| theirs.hash == Some(*hash));
            self.saw(path, hash, ours.mtime.max(theirs.mtime));
        }
    }

    /// The files below a folder.
    pub(super) fn below<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.files.keys().map(Path::new).filter(move |path| path.starts_with(folder))
    }

    /// The time that a file with this content gets: the one it has if its content is what commands last saw, else
    /// now, and later than any it had.
    pub(super) fn mtime(&mut self, path: &Path, hash: ContentHash) -> Moment {
        let last = self.get(path);
        if let Some(last) = last.filter(|last| last.hash == Some(hash)) {
            return last.mtime;
        }
        let now = Moment::now().max(last.map_or(Moment::default(), |last| last.mtime.next()));
        self.saw(path, Some(hash), now);
        now
    }

    /// Commands see a file with this content from now on.
    pub(super) fn saw(&mut self, path: &Path, hash: Option<ContentHash>, mtime: Moment) {
        let last = Last { hash, mtime };
        if self.files.insert(path.as_os_str().to_owned(), last) != Some(last) {
            self.changed = true;
        }
    }
}

/// True if the disk has a file just as commands last saw it, and not from before.
fn is_saved(root: &Folder, path: &Path, last: Last, room: &mut u64) -> bool {
    let (Some(parent), Some(name), Some(hash)) = (path.parent(), path.file_name(), last.hash)
    else {
        return false;
    };
    let Ok(Some(folder)) = root.reach(parent) else { return false };
    let Ok(Some(found)) = folder.look(name) else { return false };
    if found.kind != StampKind::File || found.mtime < last.mtime || found.len > *room {
        return false;
    }
    *room -= found.len;
    let bytes = folder.read_still(name, &found, found.len);
    matches!(bytes, Ok(Some(bytes)) if ContentHash::of(&bytes) == hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_in_two_places_is_fresh_only_where_both_agree() {
        let hash = |text: &str| ContentHash::of(text.as_bytes());
        let (path, early) = (Path::new("/w/a"), Moment::now());
        let late = early.next();
        for (ours, theirs, expected) in [
            (Some(("a", early)), Some(("a", late)), (Some(hash("a")), late)),
            (Some(("a", late)), Some(("a", early)), (Some(hash("a")), late)),
            (Some(("a", early)), Some(("b", late)), (None, late)),
            (None, Some(("b", early)), (Some(hash("b")), early)),
            (Some(("a", early)), None, (Some(hash("a")), early)),
        ] {
            let of = |seen: Option<(&str, Moment)>| {
                let mut ever = BuildInputs::default();
                if let Some((text, mtime)) = seen {
                    ever.saw(path, Some(hash(text)), mtime);
                }
                ever
            };
            let mut ever = of(ours);
            ever.take_in(&of(theirs));
            let (hash, mtime) = expected;
            assert_eq!(ever.get(path), Some(Last { hash, mtime }));
            // A text that either has seen last gets a time after all that was built from another.
            assert!(ever.mtime(path, ContentHash::of(b"a")) >= mtime);
        }
    }
}
