//! Growing and shrinking of pending work: calls add to it, and the user takes out of it. The user's
//! text stays where it is.

use super::blank::upon;
use super::{Base, Conflict, Entry, FileChange, HunkIdSource, Maker, Mark, is_blank, kin};
use crate::HunkId;
use crate::log::{Cursor, LogDelta, Origin};
use ropewalk_text::{Change, ChangeSet, Text, coarse_diff, refine};
use std::ops::Range;

/// The outcome of [`Entry::merge`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryMerge {
    /// The pending changes that the call made or added to.
    pub hunks: Vec<HunkId>,
    /// How many of its changes had lost their place.
    pub conflicts: usize,
}

impl Entry {
    /// Takes in a change that a call made on the text `seen`, at a place of this entry's history if that is
    /// known. The change moves over what happened to the fork's text since; what no longer has a place is
    /// left out and counted.
    pub fn merge(
        &mut self,
        change: &ChangeSet,
        seen: &Text,
        since: Option<&Cursor>,
        mark: &Mark,
        ids: &mut HunkIdSource,
    ) -> EntryMerge {
        if is_blank(seen) && self.text != *seen {
            return self.merge_made(change, seen, mark, ids);
        }
        let steps: Vec<ChangeSet> = match since.filter(|cursor| self.log.knows(cursor)) {
            Some(cursor) => self.log.since(cursor).map(|delta| delta.change.clone()).collect(),
            None => vec![coarse_diff(seen, &self.text)],
        };
        let all = change.changes().len();
        let Some((mut moved, lost)) = over(change, &steps) else {
            return EntryMerge { hunks: Vec::new(), conflicts: all };
        };
        let mut conflicts = lost.len();
        if let (false, Ok(after)) = (lost.is_empty(), change.apply(seen)) {
            let kin = kin::of(seen, &after, change, &lost);
            let rest = change.changes().iter().enumerate();
            let rest = rest.filter(|(index, _)| kin.binary_search(index).is_err());
            let rest = rest.map(|(_, change)| change.clone()).collect();
            if let Some((rest, _)) =
                ChangeSet::new(seen.len(), rest).and_then(|rest| over(&rest, &steps))
            {
                (moved, conflicts) = (rest, kin.len());
            }
        }
        let change = moved;
        let hunks = self.add(&change, mark, ids);
        EntryMerge { hunks, conflicts }
    }

    /// The same for a change that makes all of a text, which there was none of, and is something now.
    fn merge_made(
        &mut self,
        change: &ChangeSet,
        seen: &Text,
        mark: &Mark,
        ids: &mut HunkIdSource,
    ) -> EntryMerge {
        let made = change.apply(seen).unwrap_or_default();
        if is_blank(&self.text) {
            let change = upon(&self.text, &made);
            return EntryMerge { hunks: self.add(&change, mark, ids), conflicts: 0 };
        }
        let is_made = made.equal_but_line_ends(&self.text);
        EntryMerge { hunks: Vec::new(), conflicts: usize::from(!is_made) }
    }

    /// Composes a change of the fork's text as it is now onto what is pending.
    pub fn add(&mut self, change: &ChangeSet, mark: &Mark, ids: &mut HunkIdSource) -> Vec<HunkId> {
        let base = self.base.text();
        let (Ok(text), Ok(composed)) = (change.apply(&self.text), self.set.compose(change)) else {
            return Vec::new();
        };
        let fresh: Vec<Range<usize>> = change.new_ranges().collect();
        let (mut changes, mut marks, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        for (whole, at) in composed.changes().iter().zip(composed.new_ranges()) {
            let is_new = fresh.iter().any(|range| range.start <= at.end && at.start <= range.end);
            let olds = || {
                let inside = |old: &Change| {
                    old.range.start >= whole.range.start && old.range.end <= whole.range.end
                };
                self.set.changes().iter().zip(&self.marks).filter(move |(old, _)| inside(old))
            };
            if !is_new {
                // Untouched: the changes that were there, as they were (composing joins neighbours).
                for (old, mark) in olds() {
                    changes.push(old.clone());
                    marks.push(mark.clone());
                }
                continue;
            }
            let mut joined = Mark { makers: Vec::new(), ..mark.clone() };
            let mut first = None;
            for (_, old) in olds() {
                first = first.or(Some((old.id, old.turn)));
                join(&mut joined.makers, &old.makers);
                joined.sent = joined.sent.or(old.sent);
            }
            join(&mut joined.makers, &mark.makers);
            let one = ChangeSet::single(base.len(), whole.range.clone(), whole.text.as_str());
            for (index, part) in refine(&one, &base).into_changes().into_iter().enumerate() {
                let (id, turn) = match first {
                    Some(old) if index == 0 => old,
                    _ => (ids.give(), mark.turn),
                };
                touched.push(id);
                changes.push(part);
                marks.push(Mark { id, turn, ..joined.clone() });
            }
        }
        if let Some(set) = ChangeSet::new(base.len(), changes) {
            self.set = set;
            self.marks = marks;
            self.text = text;
            self.log.push(LogDelta { change: change.clone(), origin: Origin::User });
        }
        touched
    }

    /// Puts one more change of the base beside the pending ones. False, and nothing done, if it overlaps one of
    /// them.
    pub fn insert(&mut self, change: Change, mark: Mark) -> bool {
        let base = self.base.text();
        let at = self.set.changes().partition_point(|own| own.range.end <= change.range.start);
        let mut changes = self.set.changes().to_vec();
        changes.insert(at, change);
        let Some(set) = ChangeSet::new(base.len(), changes) else { return false };
        if set.changes().len() != self.marks.len() + 1 {
            return false;
        }
        let Ok(text) = set.apply(&base) else { return false };
        let change = ropewalk_text::diff(&self.text, &text);
        self.log.push(LogDelta { change, origin: Origin::User });
        self.marks.insert(at, mark);
        self.set = set;
        self.text = text;
        true
    }

    /// Takes the changes with these ids out of the fork, as if they had never been made. Gives what they
    /// were: their mark, old and new text.
    pub fn remove(&mut self, which: &[HunkId]) -> Vec<Conflict> {
        let base = self.base.text();
        let indexes: Vec<usize> = (0..self.marks.len())
            .filter(|index| self.marks.get(*index).is_some_and(|mark| which.contains(&mark.id)))
            .collect();
        let unchanged = ChangeSet::identity(base.len());
        let removed = self.set_aside(&base, &indexes, &unchanged, &base);
        if removed.iter().any(|one| one.mark.makers.contains(&Maker::Disk)) {
            self.disk = None;
        }
        self.take_out(&indexes);
        removed
    }

    /// Takes the changes at these indexes (ascending) out of the fork, as if they had never been made.
    pub(super) fn take_out(&mut self, indexes: &[usize]) {
        let base = self.base.text();
        let step = self.set.invert_some(&base, indexes);
        let all = self.set.changes().iter().cloned().zip(self.marks.iter().cloned());
        let (changes, marks) = all
            .enumerate()
            .filter(|(index, _)| indexes.binary_search(index).is_err())
            .map(|(_, one)| one)
            .unzip::<_, _, Vec<_>, Vec<_>>();
        if let (Some(set), Ok(text)) = (ChangeSet::new(base.len(), changes), step.apply(&self.text))
        {
            self.set = set;
            self.marks = marks;
            self.text = text;
            self.log.push(LogDelta { change: step, origin: Origin::User });
        }
    }

    /// The file is changed as a whole: no change of its text is left.
    pub fn replace(&mut self, change: FileChange, mark: Mark) {
        let all: Vec<HunkId> = self.marks.iter().map(|mark| mark.id).collect();
        let disk = self.disk.take();
        self.remove(&all);
        self.disk = disk;
        if matches!(change, FileChange::Delete | FileChange::Link(_)) {
            self.mode = None;
        }
        self.file = Some((change, mark));
    }

    /// Takes out what is pending beside the text under these ids.
    pub fn remove_of_file(&mut self, which: impl Fn(HunkId) -> bool) {
        self.file.take_if(|(_, mark)| which(mark.id));
        self.mode.take_if(|(_, mark)| which(mark.id));
    }

    /// Takes out a mode that has no file: there is none, and none is to be made.
    pub fn drop_stray_mode(&mut self) {
        if matches!(self.base, Base::Absent) && self.set.is_empty() && self.file.is_none() {
            self.mode = None;
        }
    }
}

/// A change moved over steps, and the indexes of those of its changes that had lost their place. None when the
/// steps are of another text.
fn over(change: &ChangeSet, steps: &[ChangeSet]) -> Option<(ChangeSet, Vec<usize>)> {
    let mut left: Vec<usize> = (0..change.changes().len()).collect();
    let (mut change, mut lost) = (change.clone(), Vec::new());
    for step in steps {
        let rebased = change.rebase(step).ok()?;
        lost.extend(rebased.conflicts.iter().filter_map(|index| left.get(*index)));
        left = rebased.kept.iter().filter_map(|index| left.get(*index).copied()).collect();
        change = rebased.mine;
    }
    lost.sort_unstable();
    Some((change, lost))
}

pub(super) fn join(makers: &mut Vec<Maker>, more: &[Maker]) {
    for maker in more {
        if !makers.contains(maker) {
            makers.push(maker.clone());
        }
    }
}
