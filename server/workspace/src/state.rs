//! Kept state: what of a session's fork, ledger and news outlives the process, and how it comes back.
//!
//! [`SavedState`] is the state as last kept. [`SavedState::record`] says what has changed since, as [`StateRecord`]s for a
//! journal to write; a reader folds them with [`SavedState::take`]; [`SavedState::restore`] makes a fork of it again, on the
//! texts as they are then. Where and when records are written is the journal's business, not this room's.

mod back;
mod fold;
mod leftover;
mod record;
mod restore;
mod stays;
pub mod wire;

pub use back::go_back;
pub use fold::StateError;
pub(crate) use fold::fitting;
pub(crate) use record::edits;
pub use record::{PROMPT, Private};
pub use stays::StayingCalls;
pub use wire::{BaseState, BaseText, Edit, PendingFile, StateRecord, WrittenChange};

use crate::entry::{Base, Entry, FileChange, Mark};
use crate::fork::{ForkFile, file_hunks};
use crate::ledger::{Published, PublishedFile, Revisions};
use crate::log::DeltaLog;
use crate::note::Note;
use crate::view::FormerNames;
use crate::{DocId, HunkId};
use ropewalk_files::paths::Links;
use ropewalk_text::{ChangeSet, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A session's state as last kept. A persistent value: its texts are ropes that share memory with the fork's,
/// and a clone costs a pointer for each file and published hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedState {
    files: BTreeMap<DocId, Arc<KeptFile>>,
    /// The base's text as last written for a file, also when nothing is pending in it any more.
    bases: BTreeMap<DocId, Text>,
    ledger: BTreeMap<HunkId, Arc<HunkLines>>,
    rejected: Arc<BTreeSet<HunkId>>,
    accepted: Arc<BTreeSet<HunkId>>,
    names: Arc<FormerNames>,
    news: Vec<Note>,
    last_hunk: u64,
    last_publish: u64,
    /// The files that were left out because they hold something private.
    private: BTreeSet<DocId>,
    /// Names, as shown, of left-out files that were not told yet.
    left_out: Vec<String>,
    compared: Compared,
}

impl SavedState {
    /// Takes over another state's pending changes as already recorded, as where a task begins on
    /// another session's files.
    pub fn begin_from(&mut self, other: &SavedState) {
        self.files.clone_from(&other.files);
        self.names.clone_from(&other.names);
        self.bases.extend(other.bases.iter().map(|(id, text)| (id.clone(), text.clone())));
        self.last_hunk = self.last_hunk.max(other.last_hunk);
        self.last_publish = self.last_publish.max(other.last_publish);
    }
}

/// How far the state was compared with the fork's and the ledger's. It is no part of what is kept.
#[derive(Clone, Debug, Default)]
struct Compared {
    /// None before the first time.
    ledger: Option<Revisions>,
    /// The files that were at hand last.
    files: Vec<DocId>,
}

impl PartialEq for Compared {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Compared {}

/// Ledger lines of one hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct HunkLines {
    texts: Vec<Published>,
    files: Vec<PublishedFile>,
}

/// Pending changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeptFile {
    shown: String,
    base: BaseState,
    text: Text,
    set: ChangeSet,
    marks: Vec<Mark>,
    file: Option<(FileChange, Mark)>,
    mode: Option<(u32, Mark)>,
    home: Option<DocId>,
    disk: Option<Text>,
    returned: Vec<Published>,
}

impl SavedState {
    /// How many hunks are pending. O(pending changes and the lines they touch).
    pub fn pending(&self) -> usize {
        let hunks = |(id, kept): (&DocId, &Arc<KeptFile>)| {
            kept.entry().map_or(0, |entry| file_hunks(id, &kept.file_with(entry), None).len())
        };
        self.files.iter().map(hunks).sum()
    }

    /// How many accepted hunks were in no saved text yet: an editor that dies takes them along.
    pub fn unsaved(&self) -> usize {
        let texts = self.ledger.values().flat_map(|lines| &lines.texts);
        texts.filter(|hunk| !hunk.saved).count()
    }

    /// The news that the model had not been told.
    pub fn news(&self) -> &[Note] {
        &self.news
    }

    /// The documents in which something is pending.
    pub fn documents(&self) -> impl Iterator<Item = &DocId> {
        self.files.keys()
    }

    /// The files in which something is pending, as they are shown.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.values().map(|file| file.shown.as_str())
    }

    /// The names of files and links that its changes take away or replace. What is to be made below one was never
    /// meant for the place that the disk's link leads to.
    fn over(&self) -> Links {
        let mut over = Links::default();
        for (id, kept) in &self.files {
            let change = kept.file.as_ref().map(|(change, _)| change);
            let goes =
                matches!(change, Some(FileChange::Delete | FileChange::Away | FileChange::Link(_)))
                    || matches!(kept.base, BaseState::Link { .. });
            if let Some(path) = id.path().filter(|_| goes) {
                over.insert(path, None);
            }
        }
        over
    }
}

impl KeptFile {
    /// The entry as it was. None if the state fits nothing, which [`SavedState::take`] lets nobody bring in.
    fn entry(&self) -> Option<Entry> {
        let text = self.text.clone();
        let base = match &self.base {
            // A place in a log that nobody has: the way from here to now is the difference of the texts.
            BaseState::Buffer => Base::Buffer { text, cursor: DeltaLog::default().cursor() },
            BaseState::Disk { hash, format } => Base::Disk { text, hash: *hash, format: *format },
            BaseState::Binary { hash } => Base::Binary { hash: *hash },
            BaseState::Link { target } => Base::Link { target: target.clone() },
            BaseState::Absent => Base::Absent,
        };
        let mut entry = Entry::with(base, self.set.clone(), self.marks.clone())?;
        entry.file.clone_from(&self.file);
        // If it was under way, it is so no more.
        entry.mark_renaming(None);
        entry.mode.clone_from(&self.mode);
        entry.home.clone_from(&self.home);
        entry.disk.clone_from(&self.disk);
        Some(entry)
    }

    /// A file of a fork, without its place.
    fn file_with(&self, entry: Entry) -> ForkFile {
        let returned = self.returned.clone();
        ForkFile { returned, ..ForkFile::new(self.shown.clone(), None, entry) }
    }
}
