//! Islands: text of hardly any letters that a difference keeps between two places where text was taken out.
//!
//! Blank lines, brackets and the shortest words are found again anywhere. What stood beside one would end up beside
//! other text, so who follows places over a difference takes it for new. What a reader is shown keeps its islands.

use crate::{Change, ChangeSet, Text, diff};

/// The most bytes of an island.
const ISLAND_LIMIT: usize = 256;

/// The most letters of an island, all of them ASCII.
const MOST_LETTERS: usize = 3;

/// The change set `before → after` for following places, where only the texts are known. See [`diff()`] for its cost.
pub fn coarse_diff(before: &Text, after: &Text) -> ChangeSet {
    without_islands(&diff(before, after), before, |_| false)
}

/// The same change set with each island taken out and put back, given A. The result of applying it is the same. What lies
/// beside a change that `is_known` is no island: such a change is where it is for another reason than this difference.
/// O(the text that it takes out).
pub fn without_islands(
    set: &ChangeSet,
    before: &Text,
    is_known: impl Fn(&Change) -> bool,
) -> ChangeSet {
    let mut changes: Vec<Change> = Vec::with_capacity(set.changes().len());
    for change in set.changes() {
        let is_taken = tells(before, change) && !is_known(change);
        let last = changes.last_mut();
        match last.filter(|last| is_taken && tells(before, last) && !is_known(last)) {
            Some(last) if is_island(before, last.range.end, change.range.start) => {
                last.text.push_str(&before.slice(last.range.end..change.range.start));
                last.text.push_str(&change.text);
                last.range.end = change.range.end;
            }
            _ => changes.push(change.clone()),
        }
    }
    ChangeSet::from_sorted(set.before_len(), changes)
}

/// True if the change takes out letters: a line that is indented or trimmed anew keeps its own.
fn tells(before: &Text, change: &Change) -> bool {
    let old = before.slice(change.range.clone());
    letters(&old) > 0 && old.trim() != change.text.trim()
}

fn is_island(before: &Text, start: usize, end: usize) -> bool {
    end - start <= ISLAND_LIMIT && letters(&before.slice(start..end)) <= MOST_LETTERS
}

/// How many letters a text has. One that is not ASCII may be a word and counts for more than an island has.
fn letters(text: &str) -> usize {
    let of = |char: char| match char.is_ascii() {
        true => usize::from(char.is_ascii_alphanumeric()),
        false => MOST_LETTERS + 1,
    };
    text.chars().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &[(usize, usize, &str)]) {
        let (before, after) = (Text::from(before), Text::from(after));
        let set = coarse_diff(&before, &after);
        assert_eq!(set.apply(&before).unwrap(), after);
        let changes = set.changes().iter();
        let changes: Vec<_> =
            changes.map(|one| (one.range.start, one.range.end, one.text.as_str())).collect();
        assert_eq!(changes, expected);
    }

    #[test]
    fn a_blank_line_between_texts_that_are_gone_is_no_place() {
        check("one\n\ntwo\n", "1\n\n2\n", &[(0, 8, "1\n\n2")]);
        check("one\n}\n\ntwo\n", "1\n}\n\n2\n", &[(0, 10, "1\n}\n\n2")]);
        check("one\nfi\ntwo\n", "1\nfi\n2\n", &[(0, 10, "1\nfi\n2")]);
        check("one\n\ntwo\n\nsix\n", "1\n\n2\n\n6\n", &[(0, 13, "1\n\n2\n\n6")]);
    }

    #[test]
    fn what_lies_beside_a_known_change_is_a_place() {
        let (before, after) = (Text::from("one\n\ntwo\n\nsix\n"), Text::from("1\n\n2\n\n6\n"));
        let known = |change: &Change| change.text == "1";
        let set = without_islands(&diff(&before, &after), &before, known);
        let ranges: Vec<_> = set.changes().iter().map(|one| one.range.clone()).collect();
        assert_eq!(ranges, [0..3, 5..13]);
        assert_eq!(set.apply(&before).unwrap(), after);
    }

    #[test]
    fn what_only_grows_or_has_letters_is_one() {
        check("one\n\ntwo\n", "  one\n\n  two\n", &[(0, 0, "  "), (5, 5, "  ")]);
        check("  one \n\n  two \n", "one\n\ntwo\n", &[(0, 6, "one"), (8, 14, "two")]);
        check("one\nkept\ntwo\n", "1\nkept\n2\n", &[(0, 3, "1"), (9, 12, "2")]);
        check("one\né\ntwo\n", "1\né\n2\n", &[(0, 3, "1"), (7, 10, "2")]);
        check("one\n\ntwo\n", "1\n\ntwo\nsix\n", &[(0, 3, "1"), (9, 9, "six\n")]);
    }
}
