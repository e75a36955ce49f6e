//! `Change` and `ChangeSet`: what turns one text into another.
//!
//! A change set is written `A → B`: it applies to a text A and gives B. It holds replaced ranges of A,
//! sorted and disjoint, with their new text. Composition is in `compose`, rebasing over a concurrent change
//! set in `rebase`. It does not say who made a change or why.

use crate::Text;
use std::ops::Range;

/// One replaced range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// The bytes replaced, in the text the change applies to. Empty for an insertion.
    pub range: Range<usize>,
    /// Text that stands there afterwards.
    pub text: String,
}

impl Change {
    /// A change of `range` to `text`.
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    /// How many bytes longer the text is afterwards.
    pub fn delta(&self) -> isize {
        self.text.len() as isize - self.range.len() as isize
    }

    fn is_nothing(&self) -> bool {
        self.range.is_empty() && self.text.is_empty()
    }
}

/// On which side of text inserted exactly there a mapped offset ends up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bias {
    /// Before the inserted text.
    Before,
    /// After the inserted text.
    After,
}

/// A change set was applied to, or combined with, a text of another length than it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthMismatch {
    /// The length in bytes that the change set is for.
    pub expected: usize,
    /// The length it met.
    pub found: usize,
}

impl std::fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a change set for {} bytes met a text of {} bytes", self.expected, self.found)
    }
}

impl std::error::Error for LengthMismatch {}

/// The changes that turn a text A into a text B.
///
/// Invariants: the ranges are sorted, disjoint and within A; no change is empty on both sides. Two changes
/// may touch: hunks of different origin stay apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ChangeSet {
    before_len: usize,
    changes: Vec<Change>,
}

impl ChangeSet {
    /// The change set that changes nothing in a text of `len` bytes.
    pub fn identity(len: usize) -> Self {
        Self { before_len: len, changes: Vec::new() }
    }

    /// One change of a text of `before_len` bytes. The range is clamped to the text.
    pub fn single(before_len: usize, range: Range<usize>, text: impl Into<String>) -> Self {
        let start = range.start.min(before_len);
        let change = Change::new(start..range.end.clamp(start, before_len), text);
        Self::from_sorted(before_len, vec![change])
    }

    /// A change set from changes in any order. None if two of them overlap or one lies outside the text.
    pub fn new(before_len: usize, mut changes: Vec<Change>) -> Option<Self> {
        changes.sort_by_key(|change| (change.range.start, change.range.end));
        let mut end = 0;
        for change in &changes {
            if change.range.start < end || change.range.end < change.range.start {
                return None;
            }
            end = change.range.end;
        }
        (end <= before_len).then(|| Self::from_sorted(before_len, changes))
    }

    /// A change set from changes known to hold the invariants. Empty changes are dropped.
    pub(crate) fn from_sorted(before_len: usize, mut changes: Vec<Change>) -> Self {
        changes.retain(|change| !change.is_nothing());
        debug_assert!(changes.windows(2).all(|pair| match pair {
            [a, b] => a.range.end <= b.range.start,
            _ => true,
        }));
        debug_assert!(changes.last().is_none_or(|last| last.range.end <= before_len));
        Self { before_len, changes }
    }

    /// The changes, sorted by their place in A.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The changes, taken out.
    pub fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    /// True if A and B are the same text by construction.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// True if nothing of A is replaced.
    pub fn only_inserts(&self) -> bool {
        self.changes.iter().all(|change| change.range.is_empty())
    }

    /// The length of A in bytes.
    pub fn before_len(&self) -> usize {
        self.before_len
    }

    /// The length of B in bytes. O(changes).
    pub fn after_len(&self) -> usize {
        let delta: isize = self.changes.iter().map(Change::delta).sum();
        self.before_len.saturating_add_signed(delta)
    }

    /// Where each change's new text stands in B, in order. O(changes).
    pub fn new_ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut shift = 0isize;
        self.changes.iter().map(move |change| {
            let start = change.range.start.saturating_add_signed(shift);
            shift += change.delta();
            start..start + change.text.len()
        })
    }

    /// A becomes B. O(changes · log n).
    pub fn apply(&self, text: &Text) -> Result<Text, LengthMismatch> {
        if text.len() != self.before_len {
            return Err(LengthMismatch { expected: self.before_len, found: text.len() });
        }
        let mut out = text.clone();
        // From the end backwards, so that earlier offsets stay true.
        for change in self.changes.iter().rev() {
            out.replace(change.range.clone(), &change.text);
        }
        Ok(out)
    }

    /// `B → A`, given A.
    pub fn invert(&self, before: &Text) -> ChangeSet {
        let changes = self
            .changes
            .iter()
            .zip(self.new_ranges())
            .map(|(change, range)| Change { range, text: before.slice(change.range.clone()) })
            .collect();
        Self::from_sorted(self.after_len(), changes)
    }

    /// The changes at these indexes, which are sorted, and the others on the text that those make. O(changes).
    pub fn split(&self, picked: &[usize]) -> (ChangeSet, ChangeSet) {
        let (mut some, mut others, mut shift) = (Vec::new(), Vec::new(), 0_isize);
        for (index, change) in self.changes.iter().enumerate() {
            if picked.binary_search(&index).is_ok() {
                shift += change.delta();
                some.push(change.clone());
                continue;
            }
            let Range { start, end } = change.range;
            let range = start.saturating_add_signed(shift)..end.saturating_add_signed(shift);
            others.push(Change { range, text: change.text.clone() });
        }
        let some = Self::from_sorted(self.before_len, some);
        let others = Self::from_sorted(some.after_len(), others);
        (some, others)
    }

    /// Where an offset of A is in B. An offset strictly inside a replaced range goes to the start
    /// ([`Bias::Before`]) or the end ([`Bias::After`]) of the new text; at a replaced range's own ends it
    /// stays outside; where text was inserted, `bias` decides. O(changes).
    pub fn map_offset(&self, offset: usize, bias: Bias) -> usize {
        let mut shift = 0isize;
        for change in &self.changes {
            let Range { start, end } = change.range;
            if offset < start || (offset == start && (start < end || bias == Bias::Before)) {
                break;
            }
            if offset < end {
                let new_start = start.saturating_add_signed(shift);
                return match bias {
                    Bias::Before => new_start,
                    Bias::After => new_start + change.text.len(),
                };
            }
            shift += change.delta();
        }
        offset.saturating_add_signed(shift)
    }

    /// Where a range of A is in B: text typed at its borders stays outside. O(changes).
    pub fn map_range(&self, range: Range<usize>) -> Range<usize> {
        if range.is_empty() {
            let at = self.map_offset(range.start, Bias::Before);
            return at..at;
        }
        let start = self.map_offset(range.start, Bias::After);
        let end = self.map_offset(range.end, Bias::Before);
        start..end.max(start)
    }

    /// True if a change reaches inside `range` of A. Touching its border is not reaching inside; an empty
    /// range is reached by what is inserted at it or covers it. O(changes).
    pub fn reaches_inside(&self, range: &Range<usize>) -> bool {
        self.changes.iter().any(|change| overlaps(&change.range, range))
    }

    /// True if a change lies inside or at the border of `range` of A. O(changes).
    pub fn touches(&self, range: &Range<usize>) -> bool {
        self.changes.iter().any(|c| c.range.start <= range.end && range.start <= c.range.end)
    }
}

/// True if `a` and `b` share a byte, or one is empty and lies strictly inside the other, or both are empty
/// at the same place.
fn overlaps(a: &Range<usize>, b: &Range<usize>) -> bool {
    if a.is_empty() && b.is_empty() {
        a.start == b.start
    } else {
        a.start < b.end && b.start < a.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_map_around_insertions_and_through_replacements() {
        let set =
            ChangeSet::new(10, vec![Change::new(2..2, "xy"), Change::new(5..8, "z")]).unwrap();
        let map =
            |offset| (set.map_offset(offset, Bias::Before), set.map_offset(offset, Bias::After));
        assert_eq!(map(1), (1, 1));
        assert_eq!(map(2), (2, 4));
        assert_eq!(map(5), (7, 7));
        assert_eq!(map(6), (7, 8));
        assert_eq!(map(8), (8, 8));
        assert_eq!(map(10), (10, 10));
    }

    #[test]
    fn the_parts_of_a_split_set_make_what_the_whole_does() {
        let text = Text::from("abcdef");
        let all = [(0..2, ""), (2..2, "+"), (2..3, "CC"), (6..6, "!")];
        let all = all.map(|(range, text)| Change::new(range, text)).to_vec();
        let set = ChangeSet::new(6, all).unwrap();
        for picked in [&[][..], &[0], &[1], &[2], &[0, 3], &[1, 2], &[0, 1, 2, 3]] {
            let (some, others) = set.split(picked);
            assert_eq!(
                (some.changes().len(), others.changes().len()),
                (picked.len(), 4 - picked.len())
            );
            let after = some.apply(&text).unwrap();
            assert_eq!(others.apply(&after).unwrap(), set.apply(&text).unwrap());
        }
    }

    #[test]
    fn overlapping_or_outside_changes_are_no_change_set() {
        assert!(ChangeSet::new(4, vec![Change::new(0..2, ""), Change::new(1..3, "")]).is_none());
        assert!(ChangeSet::new(4, vec![Change::new(3..5, "")]).is_none());
        assert!(ChangeSet::new(4, vec![Change::new(2..4, "a"), Change::new(0..2, "b")]).is_some());
    }

    #[test]
    fn apply_refuses_a_text_of_another_length() {
        let set = ChangeSet::identity(3);
        assert_eq!(set.apply(&Text::from("ab")), Err(LengthMismatch { expected: 3, found: 2 }));
    }
}
