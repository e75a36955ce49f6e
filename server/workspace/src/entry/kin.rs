//! Which changes make sense together only.
//!
//! A difference of lines may take a text out of one line and put it back into the next. If one of the two loses its
//! place and the other is made, the user's text is doubled, or gone. Looked at are the changes of one hunk, and those
//! next to each other; a text that is moved farther is seen by the reader as what it is.

use ropewalk_text::{ChangeSet, Text, line_hunks};
use std::collections::HashSet;

/// The changes of `set: before → after` at `which` (ascending), and those between which and them text moves.
/// Ascending. Nothing to do where `which` is empty; else O(their text · changes of their hunks).
pub(super) fn of(before: &Text, after: &Text, set: &ChangeSet, which: &[usize]) -> Vec<usize> {
    if which.is_empty() {
        return Vec::new();
    }
    let hunks = line_hunks(before, after, set);
    let sides = |index: usize| {
        let change = set.changes().get(index)?;
        Some((before.slice(change.range.clone()), change.text.as_str()))
    };
    let mut out: HashSet<usize> = which.iter().copied().collect();
    let mut open: Vec<usize> = which.to_vec();
    while let Some(index) = open.pop() {
        let Some((old, new)) = sides(index) else { continue };
        let at = hunks.partition_point(|hunk| hunk.changes.end <= index);
        let hunk = hunks.get(at).map_or(index..index + 1, |hunk| hunk.changes.clone());
        // One more on each side: the user may have put a line between them.
        for other in hunk.start.saturating_sub(1)..hunk.end + 1 {
            let Some((other_old, other_new)) = sides(other).filter(|_| !out.contains(&other))
            else {
                continue;
            };
            let moves = if hunk.contains(&other) { shares } else { moved };
            if moves(&old, other_new) || moves(&other_old, new) {
                out.insert(other);
                open.push(other);
            }
        }
    }
    let mut out: Vec<usize> = out.into_iter().collect();
    out.sort_unstable();
    out
}

/// Whether any letter that is taken out of one is put into the other. Indentation and ASCII punctuation are
/// everywhere: they tell of no move.
fn shares(old: &str, new: &str) -> bool {
    let tells = |char: &char| char.is_alphanumeric() || !char.is_ascii();
    let put: HashSet<char> = new.chars().filter(tells).collect();
    old.chars().any(|char| put.contains(&char))
}

/// Whether half of the words that are taken out of one are put into the other.
fn moved(old: &str, new: &str) -> bool {
    let put: HashSet<&str> = new.split_whitespace().collect();
    let taken: Vec<&str> = old.split_whitespace().collect();
    let again = taken.iter().filter(|word| put.contains(*word)).count();
    again > 0 && again * 2 >= taken.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_text::Change;

    fn check(before: &str, changes: &[(usize, usize, &str)], which: &[usize], kin: &[usize]) {
        let before = Text::from(before);
        let changes = changes.iter().map(|(s, e, t)| Change::new(*s..*e, *t)).collect();
        let set = ChangeSet::new(before.len(), changes).unwrap();
        let after = set.apply(&before).unwrap();
        assert_eq!(of(&before, &after, &set, which), kin);
    }

    #[test]
    fn what_moves_between_lines_goes_together() {
        let moved = [(3, 10, "new"), (11, 14, "foo bar")];
        for which in [0, 1] {
            check("ab\nfoo bar\nbaz\nlast\n", &moved, &[which], &[0, 1]);
            // With a line between them.
            check("ab\nfoo bar\nbaz\nlast\n", &[(0, 2, "baz"), (11, 14, "x")], &[which], &[0, 1]);
        }
    }

    #[test]
    fn what_only_stands_side_by_side_does_not() {
        check("  a\n  b\n  c\n", &[(0, 2, "    "), (4, 6, "    "), (8, 10, "    ")], &[1], &[1]);
        check("one\ntwo\n", &[(0, 3, "ab"), (4, 7, "cd")], &[0], &[0]);
        check("one\n", &[(0, 3, "two")], &[], &[]);
    }
}
