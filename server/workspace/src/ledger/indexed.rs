//! Lines of the ledger, oldest first, which are found by hunk and by file without a search.
//!
//! It also knows which hunks' lines have changed since a revision, so that a journal compares those alone.

use crate::{DocId, HunkId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A line that says what was published of one hunk in one file.
pub trait LedgerLine {
    /// The session it belongs to.
    fn session(&self) -> &Arc<str>;
    /// The hunk.
    fn hunk(&self) -> HunkId;
    /// The file.
    fn doc(&self) -> DocId;
}

/// See the module.
#[derive(Debug)]
pub struct Indexed<T> {
    lines: BTreeMap<u64, T>,
    next: u64,
    by_hunk: BTreeMap<HunkId, BTreeSet<u64>>,
    by_doc: HashMap<DocId, BTreeSet<u64>>,
    revision: u64,
    /// The latest revision of each hunk's lines, those that are gone included.
    latest: HashMap<(Arc<str>, HunkId), u64>,
    changed: BTreeMap<u64, (Arc<str>, HunkId)>,
}

impl<T> Default for Indexed<T> {
    fn default() -> Self {
        Self {
            lines: BTreeMap::new(),
            next: 0,
            by_hunk: BTreeMap::new(),
            by_doc: HashMap::new(),
            revision: 0,
            latest: HashMap::new(),
            changed: BTreeMap::new(),
        }
    }
}

impl<T: LedgerLine> Indexed<T> {
    /// All lines, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.lines.values()
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// True if there is no line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The lines of a hunk, of whatever session, oldest first.
    pub fn of_hunk(&self, id: HunkId) -> impl Iterator<Item = &T> {
        let keys = self.by_hunk.get(&id).into_iter().flatten();
        keys.filter_map(|key| self.lines.get(key))
    }

    /// The lines of a file, oldest first.
    pub fn of_doc(&self, doc: &DocId) -> impl Iterator<Item = &T> {
        let keys = self.by_doc.get(doc).into_iter().flatten();
        keys.filter_map(|key| self.lines.get(key))
    }

    /// The keys of a file's lines, oldest first.
    pub(super) fn keys_of_doc(&self, doc: &DocId) -> Vec<u64> {
        self.by_doc.get(doc).into_iter().flatten().copied().collect()
    }

    /// The line of this key.
    pub(super) fn line(&self, key: u64) -> Option<&T> {
        self.lines.get(&key)
    }

    /// The same, to change what no journal keeps.
    pub(super) fn line_mut(&mut self, key: u64) -> Option<&mut T> {
        self.lines.get_mut(&key)
    }

    /// The hunks of a session whose lines have changed since a revision.
    pub fn changed_since(&self, session: &str, revision: u64) -> impl Iterator<Item = HunkId> {
        let changed = self.changed.range(revision + 1..);
        changed.filter(move |(_, (own, _))| **own == *session).map(|(_, (_, id))| *id)
    }

    /// The number of the last change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Adds a line as the newest.
    pub fn push(&mut self, line: T) {
        let key = self.next;
        self.next += 1;
        self.by_hunk.entry(line.hunk()).or_default().insert(key);
        self.by_doc.entry(line.doc()).or_default().insert(key);
        self.touch(line.session().clone(), line.hunk());
        self.lines.insert(key, line);
    }

    /// Changes what no journal keeps in the lines of a file.
    pub fn place_of_doc(&mut self, doc: &DocId, mut place: impl FnMut(&mut T)) {
        for key in self.by_doc.get(doc).into_iter().flatten() {
            if let Some(line) = self.lines.get_mut(key) {
                place(line);
            }
        }
    }

    /// The same, and lines for which `keeps` says no are taken out.
    pub fn retain_of_doc(&mut self, doc: &DocId, mut keeps: impl FnMut(&mut T) -> bool) {
        let mut gone = Vec::new();
        self.place_of_doc(doc, |line| gone.push(!keeps(line)));
        let keys = self.by_doc.get(doc).into_iter().flatten().zip(gone);
        let gone: Vec<u64> = keys.filter(|(_, gone)| *gone).map(|(key, _)| *key).collect();
        gone.into_iter().for_each(|key| drop(self.remove(key)));
    }

    /// Changes the lines of a file; they may become another's.
    pub fn change_of_doc(&mut self, doc: &DocId, change: impl FnMut(&mut T)) {
        self.change(self.keys_of_doc(doc), change);
    }

    /// Changes the lines of a hunk.
    pub fn change_of_hunk(&mut self, id: HunkId, change: impl FnMut(&mut T)) {
        let keys = self.by_hunk.get(&id).into_iter().flatten().copied().collect();
        self.change(keys, change);
    }

    /// Changes all lines.
    pub fn change_all(&mut self, change: impl FnMut(&mut T)) {
        self.change(self.lines.keys().copied().collect(), change);
    }

    /// Takes out the lines of a hunk that are meant, oldest first.
    pub fn take_of_hunk(&mut self, id: HunkId, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        let keys = self.by_hunk.get(&id).into_iter().flatten().copied().collect();
        self.take(keys, is_meant)
    }

    /// The same of a file's.
    pub fn take_of_doc(&mut self, doc: &DocId, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        self.take(self.keys_of_doc(doc), is_meant)
    }

    /// The same of all. O(lines).
    pub fn take_all(&mut self, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        self.take(self.lines.keys().copied().collect(), is_meant)
    }

    fn take(&mut self, keys: Vec<u64>, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        let is_one = |key: &u64| self.lines.get(key).is_some_and(&is_meant);
        let keys: Vec<u64> = keys.into_iter().filter(is_one).collect();
        keys.into_iter().filter_map(|key| self.remove(key)).collect()
    }

    fn change(&mut self, keys: Vec<u64>, mut change: impl FnMut(&mut T)) {
        for key in keys {
            let Some(line) = self.lines.get_mut(&key) else { continue };
            let was = line.doc();
            change(line);
            let (now, session, hunk) = (line.doc(), line.session().clone(), line.hunk());
            if was != now {
                self.forget_doc(&was, key);
                self.by_doc.entry(now).or_default().insert(key);
            }
            self.touch(session, hunk);
        }
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<T> {
        let line = self.lines.remove(&key)?;
        self.forget_doc(&line.doc(), key);
        if let Some(keys) = self.by_hunk.get_mut(&line.hunk()) {
            keys.remove(&key);
            if keys.is_empty() {
                self.by_hunk.remove(&line.hunk());
            }
        }
        self.touch(line.session().clone(), line.hunk());
        Some(line)
    }

    fn forget_doc(&mut self, doc: &DocId, key: u64) {
        let Some(keys) = self.by_doc.get_mut(doc) else { return };
        keys.remove(&key);
        if keys.is_empty() {
            self.by_doc.remove(doc);
        }
    }

    fn touch(&mut self, session: Arc<str>, hunk: HunkId) {
        self.revision += 1;
        let whose = (session, hunk);
        if let Some(earlier) = self.latest.insert(whose.clone(), self.revision) {
            self.changed.remove(&earlier);
        }
        self.changed.insert(self.revision, whose);
    }
}

impl<T: LedgerLine> Extend<T> for Indexed<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, lines: I) {
        lines.into_iter().for_each(|line| self.push(line));
    }
}

impl<T> IntoIterator for Indexed<T> {
    type Item = T;
    type IntoIter = std::collections::btree_map::IntoValues<u64, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.lines.into_values()
    }
}

impl<'a, T> IntoIterator for &'a Indexed<T> {
    type Item = &'a T;
    type IntoIter = std::collections::btree_map::Values<'a, u64, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.lines.values()
    }
}
