//! Which changes make sense together only.
//!
//! A difference of lines may take a text out of one line and put it back into the next. If one of the two loses its
//! place and the other is made, the user's text is doubled, or gone. Looked at are the changes of one hunk, and those
//! of the hunks beside it; a text that is moved farther is seen by the reader as what it is.

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
        // One more hunk on each side: a line that stays may stand between them, or one that the user has put there.
        let before = at.checked_sub(1).and_then(|before| hunks.get(before));
        let first = before.map_or(hunk.start, |before| before.changes.start);
        let end = hunks.get(at + 1).map_or(hunk.end, |after| after.changes.end);
        for other in first..end {
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

/// True if any letter that is taken out of one is put into the other. Indentation and ASCII
/// punctuation are everywhere: they tell of no move.
fn shares(old: &str, new: &str) -> bool {
    let tells = |char: &char| char.is_alphanumeric() || !char.is_ascii();
    let put: HashSet<char> = new.chars().filter(tells).collect();
    old.chars().any(|char| put.contains(&char))
}

/// A word of so many bytes is known inside another.
const LONG: usize = 8;

/// The most pairs of words that are looked at for one inside the other; of larger texts only whole words count.
const MOST_PAIRS: usize = 20_000;

/// True if half of what is taken out of one is put into the other: of its words, or of the bytes in them; or half of what
/// is put there is words of it, long ones or several.
pub(crate) fn moved(old: &str, new: &str) -> bool {
    let put: HashSet<&str> = new.split_whitespace().collect();
    let taken: Vec<&str> = old.split_whitespace().collect();
    let looks_inside = taken.len().saturating_mul(put.len()) <= MOST_PAIRS;
    // One may have got or lost something at its ends.
    let shared = |word: &&str| {
        let inside = |other: &&str| match () {
            () if word.contains(other) => other.len(),
            () if other.contains(word) => word.len(),
            () => 0,
        };
        match put.contains(word) {
            true => word.len(),
            false if looks_inside => put.iter().map(inside).max().unwrap_or(0),
            false => 0,
        }
    };
    let shared: Vec<(usize, &str)> = taken.iter().map(|word| (shared(word), *word)).collect();
    let is_put = |(bytes, word): &&(usize, &str)| *bytes >= LONG || put.contains(word);
    let again = shared.iter().filter(is_put).count();
    let bytes: usize = shared.iter().map(|(bytes, _)| bytes).sum();
    let all: usize = taken.iter().map(|word| word.len()).sum();
    let words: usize = shared.iter().filter(is_put).map(|(bytes, _)| bytes).sum();
    let all_put: usize = put.iter().map(|word| word.len()).sum();
    (again > 0 && again * 2 >= taken.len())
        || (bytes > 0 && bytes * 2 >= all)
        || (words >= LONG && words * 2 >= all_put)
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
            // With a line between them, and another change beside the first one.
            let far = [(3, 10, "new"), (11, 11, "li\n"), (15, 19, "foo bar")];
            check("ab\nfoo bar\nbaz\nlast\n", &far, &[2 * which], &[0, 2]);
            // With something more at its end, or less.
            let text = "ab\nfoo\ntravelled\nlast\n";
            check(text, &[(0, 2, "travelled_on"), (7, 16, "x")], &[which], &[0, 1]);
            check(text, &[(0, 2, "travelle"), (7, 16, "x")], &[which], &[0, 1]);
            // Out of a longer line.
            let text = "ab\nbaz\nwhatever stands before travelled behind\nlast\n";
            check(text, &[(0, 2, "travelled x"), (7, 46, "x")], &[which], &[0, 1]);
            // Short words with something at their ends, between others that stay away.
            let text = "ab\nbaz\nN乔𠁈 (\u{fc}乕) ab c\nlast\n";
            let end = 7 + "N乔𠁈 (\u{fc}乕) ab c".len();
            check(text, &[(0, 2, "乔𠁈 \u{fc}乕"), (7, end, "x")], &[which], &[0, 1]);
            // Short words of a long text, with one that is new.
            let text = "ab and more of it\nthat stood here\nsix\n \nlast\n";
            let half = [(3, 37, "x"), (40, 40, "that stood ours\n")];
            check(text, &half, &[which], &[0, 1]);
        }
    }

    #[test]
    fn what_only_stands_side_by_side_does_not() {
        check("  a\n  b\n  c\n", &[(0, 2, "    "), (4, 6, "    "), (8, 10, "    ")], &[1], &[1]);
        check("one\ntwo\n", &[(0, 3, "ab"), (4, 7, "cd")], &[0], &[0]);
        check("one\n", &[(0, 3, "two")], &[], &[]);
        let text = "let total = 1;\nx\nlet name = read(path);\n";
        check(text, &[(4, 9, "sum"), (17, 39, "let sum = write(sum);")], &[1], &[1]);
    }
}
