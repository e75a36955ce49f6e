//! Diffs: the change set between two texts of which only the texts are known.
//!
//! Shared ends are cut off first, chunk by chunk, so the usual keystroke costs what it changed. The middle
//! is compared by lines (imara-diff's histogram algorithm, with its postprocessing that moves ambiguous
//! hunks to natural places), and each replaced block of lines is narrowed to what differs in it.

use crate::text::equal_prefix;
use crate::{Change, ChangeSet, Text};
use imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

/// Above this many bytes in the differing middle, one change is made of it: a line diff of so much text
/// would hold up typing, and no hunk of it would be read.
const MIDDLE_LIMIT: usize = 16 << 20;

/// A line that occurs more often than this is none the histogram algorithm steers by.
const OFTEN: usize = 63;

/// With more than this many lines that occur often, one change is made of the middle: what has no rare lines
/// to steer by costs their square (200,000 lines of three kinds were seen to take 20 seconds).
const REPEATED_LIMIT: usize = 40_000;

/// The change set `before → after`. O(n) for the shared ends, O(middle · differences) for the rest.
pub fn diff(before: &Text, after: &Text) -> ChangeSet {
    if before == after {
        return ChangeSet::identity(before.len());
    }
    let prefix = before.common_prefix(after);
    let suffix = common_suffix(before, after, prefix);
    // Whole lines make a better line diff: widen the middle to line starts.
    let start = before.line_feed_start(before.line_feeds_before(prefix));
    let (old_end, new_end) = (before.len() - suffix, after.len() - suffix);
    let widen = if starts_line(before, old_end) && starts_line(after, new_end) {
        0
    } else {
        line_rest(before, old_end)
    };
    let old = start..old_end + widen;
    let new = start..new_end + widen;
    let changes = if old.len().max(new.len()) > MIDDLE_LIMIT {
        vec![Change::new(old, after.slice(new))]
    } else {
        diff_lines(&before.slice(old), &after.slice(new), start)
    };
    ChangeSet::from_sorted(before.len(), changes)
}

/// The same change set with each change narrowed to what really differs, given A: a replaced block of text
/// becomes the changes within it. The result of applying it is the same.
pub fn refine(set: &ChangeSet, before: &Text) -> ChangeSet {
    let changes = set.changes().iter().flat_map(|change| {
        let old = before.slice(change.range.clone());
        if old.is_empty()
            || change.text.is_empty()
            || change.range.len().max(change.text.len()) > MIDDLE_LIMIT
        {
            return vec![change.clone()];
        }
        diff_lines(&old, &change.text, change.range.start)
    });
    let mut changes: Vec<Change> = changes.collect();
    for index in 0..changes.len() {
        let limit = changes.get(index + 1).map_or(set.before_len(), |next| next.range.start);
        if let Some(change) = changes.get_mut(index)
            && let Some(whole) = as_whole_lines(change, before)
            && whole.range.end <= limit
        {
            *change = whole;
        }
    }
    ChangeSet::from_sorted(set.before_len(), changes)
}

/// A line end and lines inserted before a line's end, or deleted there, are the same lines inserted or deleted
/// after it: a reader then sees no line that stays as it is.
fn as_whole_lines(change: &Change, before: &Text) -> Option<Change> {
    let Range { start, end } = change.range;
    let moved = |end_of_line: &str| {
        let len = end_of_line.len();
        let follows = before.slice(end..end + len) == end_of_line;
        if change.range.is_empty() {
            let rest = change.text.strip_prefix(end_of_line).filter(|_| follows)?;
            return Some(Change::new(start + len..start + len, format!("{rest}{end_of_line}")));
        }
        let deletes = change.text.is_empty() && before.slice(start..start + len) == end_of_line;
        (deletes && follows).then(|| Change::new(start + len..end + len, ""))
    };
    moved("\r\n").or_else(|| moved("\n"))
}

fn starts_line(text: &Text, at: usize) -> bool {
    at == 0 || text.byte(at - 1) == Some(b'\n')
}

/// How many bytes from `at` to the end of its line, line feed included.
fn line_rest(text: &Text, at: usize) -> usize {
    text.line_feed_start(text.line_feeds_before(at) + 1) - at
}

/// How many trailing bytes are shared after the first `prefix`, on a char boundary of both.
fn common_suffix(a: &Text, b: &Text, prefix: usize) -> usize {
    let most = a.len().min(b.len()) - prefix;
    let mut shared = 0;
    while shared < most {
        let (x, x_start) = a.chunk_at(a.len() - shared - 1);
        let (y, y_start) = b.chunk_at(b.len() - shared - 1);
        let x = x.as_bytes().get(..a.len() - shared - x_start).unwrap_or_default();
        let y = y.as_bytes().get(..b.len() - shared - y_start).unwrap_or_default();
        let n = x.len().min(y.len()).min(most - shared);
        let same = equal_suffix(x, y).min(n);
        shared += same;
        if same < n {
            break;
        }
    }
    // Up, not down: a boundary further from the end would claim bytes that differ.
    (0..4)
        .filter_map(|less| shared.checked_sub(less))
        .find(|s| {
            a.floor_boundary(a.len() - s) == a.len() - s
                && b.floor_boundary(b.len() - s) == b.len() - s
        })
        .unwrap_or(0)
}

/// How many bytes at the end of both slices are equal.
fn equal_suffix(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.rchunks_exact(64).zip(b.rchunks_exact(64));
    let same = 64 * blocks.take_while(|(x, y)| x == y).count();
    let rest = |bytes: &'_ [u8]| bytes.len() - same;
    let (x, y) = (a.get(..rest(a)).unwrap_or_default(), b.get(..rest(b)).unwrap_or_default());
    same + x.iter().rev().zip(y.iter().rev()).take_while(|(x, y)| x == y).count()
}

/// The changes between two strings that stand at `offset` of the text.
fn diff_lines(old: &str, new: &str, offset: usize) -> Vec<Change> {
    // One line in the place of one: there is nothing to compare by lines.
    let is_line =
        |text: &str| memchr::memchr(b'\n', text.as_bytes()).is_none_or(|at| at + 1 == text.len());
    if is_line(old) && is_line(new) {
        return narrowed(old, 0..old.len(), new, 0..new.len(), offset).into_iter().collect();
    }
    let input = InternedInput::new(old, new);
    if repeated_lines(&input) > REPEATED_LIMIT {
        return narrowed(old, 0..old.len(), new, 0..new.len(), offset).into_iter().collect();
    }
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let (old_lines, new_lines) = (line_offsets(old), line_offsets(new));
    let mut changes = Vec::new();
    for hunk in diff.hunks() {
        let old_block = lines_range(&old_lines, &hunk.before);
        let new_block = lines_range(&new_lines, &hunk.after);
        let same_count = hunk.before.len() == hunk.after.len() && hunk.before.len() > 1;
        if same_count {
            // A block reindented or edited line by line: each line is narrowed by itself.
            for (b, a) in hunk.before.clone().zip(hunk.after.clone()) {
                let old_line = lines_range(&old_lines, &(b..b + 1));
                let new_line = lines_range(&new_lines, &(a..a + 1));
                changes.extend(narrowed(old, old_line, new, new_line, offset));
            }
        } else {
            changes.extend(narrowed(old, old_block, new, new_block, offset));
        }
    }
    changes
}

/// How many lines of both sides are ones that occur often.
fn repeated_lines<T>(input: &InternedInput<T>) -> usize
where
    T: Eq + std::hash::Hash,
{
    let mut counts = vec![0usize; input.interner.num_tokens() as usize];
    for token in input.before.iter().chain(&input.after) {
        if let Some(count) = counts.get_mut(token.0 as usize) {
            *count += 1;
        }
    }
    counts.into_iter().filter(|count| *count > OFTEN).sum()
}

/// The offset at which each line starts, and the length.
fn line_offsets(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
    if starts.last() != Some(&text.len()) {
        starts.push(text.len());
    }
    starts
}

fn lines_range(offsets: &[usize], lines: &Range<u32>) -> Range<usize> {
    let end = offsets.last().copied().unwrap_or(0);
    let at = |line: u32| offsets.get(line as usize).copied().unwrap_or(end);
    at(lines.start)..at(lines.end)
}

/// One replaced block without the text that its two sides share at their ends.
fn narrowed(
    old: &str,
    at: Range<usize>,
    new: &str,
    to: Range<usize>,
    offset: usize,
) -> Option<Change> {
    let (o, n) = (old.get(at.clone())?, new.get(to)?);
    let mut prefix = equal_prefix(o.as_bytes(), n.as_bytes());
    while !is_cut(o, prefix) || !is_cut(n, prefix) {
        prefix -= 1;
    }
    let (o, n) = (o.get(prefix..)?, n.get(prefix..)?);
    let mut suffix = equal_suffix(o.as_bytes(), n.as_bytes());
    while !is_cut(o, o.len() - suffix) || !is_cut(n, n.len() - suffix) {
        suffix -= 1;
    }
    let start = offset + at.start + prefix;
    let (o, n) = (o.get(..o.len() - suffix)?, n.get(..n.len() - suffix)?);
    (!o.is_empty() || !n.is_empty()).then(|| Change::new(start..start + o.len(), n))
}

/// True if a change may begin or end at `at`: on a char boundary, and not between `\r` and `\n`, where a
/// client has no position and an edit would be sent to another place.
fn is_cut(text: &str, at: usize) -> bool {
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let in_pair = at > 0 && byte(at) == Some(b'\n') && byte(at - 1) == Some(b'\r');
    text.is_char_boundary(at) && !in_pair
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &[(usize, usize, &str)]) {
        let (b, a) = (Text::from(before), Text::from(after));
        let set = diff(&b, &a);
        assert_eq!(set.apply(&b).unwrap(), a);
        let got: Vec<_> =
            set.changes().iter().map(|c| (c.range.start, c.range.end, c.text.as_str())).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn diffs_are_narrow() {
        check("", "a", &[(0, 0, "a")]);
        check("abc", "", &[(0, 3, "")]);
        check("one\ntwo\nthree\n", "one\n2\nthree\n", &[(4, 7, "2")]);
        check("a\nb\nc\n", "a\nnew\nb\nc\n", &[(2, 2, "new\n")]);
        check("fn a() {\nx\ny\n}\n", "fn a() {\n  x\n  y\n}\n", &[(9, 9, "  "), (11, 11, "  ")]);
        check("one\ntwo\nthree", "One\ntwo\nThree", &[(0, 1, "O"), (8, 9, "T")]);
        check("aé", "aè", &[(1, 3, "è")]);
        check("a", "a\n", &[(1, 1, "\n")]);
        check("a\nb", "a\nb\nc", &[(3, 3, "\nc")]);
        check("a\nb\nc", "a\nb", &[(3, 5, "")]);
    }

    #[test]
    fn a_pair_of_line_end_bytes_is_never_split() {
        check("a\r\nb\r\n", "a\nb\r\n", &[(1, 3, "\n")]);
        check("a\nb\n", "a\r\nb\n", &[(1, 2, "\r\n")]);
        check("a\rb", "a\r\nb", &[(1, 2, "\r\n")]);
        check("a\r\nb\r\n", "a\nb\n", &[(1, 3, "\n"), (4, 6, "\n")]);
    }

    #[test]
    fn whole_lines_are_inserted_and_deleted_as_such() {
        let check = |before: &str, change: (usize, usize, &str), expected: (usize, usize, &str)| {
            let text = Text::from(before);
            let set = ChangeSet::single(text.len(), change.0..change.1, change.2);
            let fine = refine(&set, &text);
            assert_eq!(fine.apply(&text).unwrap(), set.apply(&text).unwrap());
            let [only] = fine.changes() else { panic!("{fine:?}") };
            assert_eq!((only.range.start, only.range.end, only.text.as_str()), expected);
        };
        check("a\nb\n", (0, 1, "a\nnew"), (2, 2, "new\n"));
        check("a\r\nb\r\n", (0, 1, "a\r\nnew"), (3, 3, "new\r\n"));
        check("a\nold\nb", (1, 5, ""), (2, 6, ""));
        check("a\r\nold\r\nb", (1, 6, ""), (3, 8, ""));
        check("a\nb", (3, 3, "\nlast"), (3, 3, "\nlast"));
        check("a\r\nb", (1, 1, "\nx"), (1, 1, "\nx"));
    }

    #[test]
    fn refine_narrows_a_whole_rewrite() {
        let before = Text::from("a\nb\nc\n");
        let set = ChangeSet::single(6, 0..6, "a\nB\nc\nd\n");
        let fine = refine(&set, &before);
        assert_eq!(fine.apply(&before).unwrap().to_string(), "a\nB\nc\nd\n");
        assert_eq!(fine.changes().len(), 2);
    }
}
