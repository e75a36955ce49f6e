//! Changes that are set aside, with the lines that a reader needs to see what they were.

use super::{Entry, Mark, pick};
use ropewalk_text::{Bias, Change, ChangeSet, Text};
use std::ops::Range;

/// A pending change that the user's text no longer has a place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Its mark.
    pub mark: Mark,
    /// The lines it was made in, as they were.
    pub old: String,
    /// The same lines with all changes in them that were set aside together, and with no other.
    pub new: String,
    /// Text that stands there now.
    pub now: String,
    /// Where that is, in bytes; None where it is no part of a text.
    pub at: Option<Range<usize>>,
}

impl Conflict {
    /// The user's text has moved on by `change` since.
    pub(crate) fn follow(&mut self, change: &ChangeSet) {
        self.at = self.at.take().map(|at| change.map_range(at));
    }

    /// Has what stands there be that of `text`, to which it was followed.
    pub(crate) fn stands_in(&mut self, text: &Text) {
        if let Some(at) = &self.at {
            self.now = lines_around(text, at.clone());
        }
    }
}

impl Entry {
    /// These changes, set aside by what the user did (`theirs`).
    pub(super) fn set_aside(
        &self,
        before: &Text,
        which: &[usize],
        theirs: &ChangeSet,
        now: &Text,
    ) -> Vec<Conflict> {
        let (own, _) = self.set.split(which);
        let after = own.apply(before).unwrap_or_else(|_| before.clone());
        let changes = own.changes().iter().zip(own.new_ranges());
        changes
            .zip(pick(&self.marks, which))
            .map(|((change, new), mark)| {
                let start = theirs.map_offset(change.range.start, Bias::Before);
                let end = theirs.map_offset(change.range.end, Bias::After);
                let (old, new) = lines_changed(before, change, (&after, new));
                Conflict {
                    mark,
                    old,
                    new,
                    now: lines_around(now, start..end),
                    at: Some(start..end),
                }
            })
            .collect()
    }
}

/// The whole lines that a change takes out and puts in. Lines that it puts between others take out none, and the other way
/// round.
pub(crate) fn lines_changed(
    before: &Text,
    change: &Change,
    (after, new): (&Text, Range<usize>),
) -> (String, String) {
    let is_lines = |text: &str| text.is_empty() || text.ends_with('\n');
    let Range { start, end } = change.range;
    let old = before.slice(start..end);
    let begins_line = start == 0 || before.byte(start - 1) == Some(b'\n');
    match begins_line && is_lines(&old) && is_lines(&change.text) {
        true => (old, change.text.clone()),
        false => (lines_around(before, start..end), lines_around(after, new)),
    }
}

/// The whole lines that `range` touches.
pub(crate) fn lines_around(text: &Text, range: Range<usize>) -> String {
    let start = text.line_feed_start(text.line_feeds_before(range.start));
    let last = range.end.saturating_sub(1).max(range.start);
    text.slice(start..text.line_feed_start(text.line_feeds_before(last) + 1))
}
