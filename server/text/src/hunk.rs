//! Hunks of lines: a change set as people read it.
//!
//! Changes on the same or neighbouring lines belong to one hunk. A [`LineHunk`] only says where; who made it
//! and whether it is accepted is the workspace's business.

use crate::{ChangeSet, Text};
use std::fmt::Write;
use std::ops::Range;

/// Changes that a reader sees as one: their lines touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHunk {
    /// The lines it replaces in A (zero-based, counted by `\n`). Empty: lines are only inserted.
    pub before: Range<usize>,
    /// The lines that stand there in B.
    pub after: Range<usize>,
    /// Which changes of the set it is made of.
    pub changes: Range<usize>,
}

/// The hunks of `set: A → B`, in order. Outside them the lines of A and B are the same, one for one.
/// O(changes · log n + lines).
pub fn line_hunks(before: &Text, after: &Text, set: &ChangeSet) -> Vec<LineHunk> {
    let mut spans: Vec<Span> = Vec::new();
    for (index, (change, new)) in set.changes().iter().zip(set.new_ranges()).enumerate() {
        let span = Span::of(before, after, &change.range, new, index);
        match spans.last_mut() {
            // Text between is kept, so both sides touch or neither does. The later end holds: what
            // the earlier one took of its line is in the later one or was changed by it.
            Some(last) if span.before.start <= last.before.end => {
                last.before.end = span.before.end;
                last.after.end = span.after.end;
                last.changes.end = span.changes.end;
            }
            _ => spans.push(span),
        }
    }
    let hunk = |span: Span| LineHunk {
        before: lines_of(before, &span.before),
        after: lines_of(after, &span.after),
        changes: span.changes,
    };
    spans.into_iter().map(hunk).collect()
}

/// A hunk in bytes.
struct Span {
    before: Range<usize>,
    after: Range<usize>,
    changes: Range<usize>,
}

impl Span {
    /// One change, widened on both sides by the same kept text until it begins and ends where lines of both
    /// texts do.
    fn of(
        before: &Text,
        after: &Text,
        old: &Range<usize>,
        new: Range<usize>,
        index: usize,
    ) -> Self {
        let lead = old.start - before.line_feed_start(before.line_feeds_before(old.start));
        let tail = if starts_line(before, old.end) && starts_line(after, new.end) {
            0
        } else {
            before.line_feed_start(before.line_feeds_before(old.end) + 1) - old.end
        };
        Self {
            before: old.start - lead..old.end + tail,
            // Where a change before this one ate into the kept text, the two are joined and this is not used.
            after: new.start.saturating_sub(lead)..(new.end + tail).min(after.len()),
            changes: index..index + 1,
        }
    }
}

fn starts_line(text: &Text, at: usize) -> bool {
    at == 0 || text.byte(at - 1) == Some(b'\n')
}

/// The lines of a range that begins and ends with lines. A last line without a line feed is one too.
fn lines_of(text: &Text, range: &Range<usize>) -> Range<usize> {
    let unended = !range.is_empty() && !starts_line(text, range.end);
    let start = text.line_feeds_before(range.start);
    start..text.line_feeds_before(range.end) + usize::from(unended)
}

/// The set as a unified diff with `context` lines around each hunk, as `patch` and `git apply` take it;
/// without file headers. Empty if nothing changes.
pub fn unified(before: &Text, after: &Text, set: &ChangeSet, context: usize) -> String {
    let hunks = line_hunks(before, after, set);
    let mut out = String::new();
    let mut rest = hunks.as_slice();
    while let Some(first) = rest.first() {
        // Hunks whose context would overlap are printed together.
        let mut count = 1;
        while let (Some(a), Some(b)) = (rest.get(count - 1), rest.get(count)) {
            if b.before.start > a.before.end + 2 * context {
                break;
            }
            count += 1;
        }
        let (group, others) = rest.split_at(count);
        rest = others;
        let Some(last) = group.last() else { break };
        let lead = first.before.start.min(context);
        let trail = context.min(lines(before).saturating_sub(last.before.end));
        let old = first.before.start - lead..last.before.end + trail;
        let new = first.after.start.saturating_sub(lead)..last.after.end + trail;
        let _ = writeln!(out, "@@ -{} +{} @@", span(&old), span(&new));
        let mut at = old.start;
        for hunk in group {
            print_lines(&mut out, ' ', before, at..hunk.before.start);
            print_lines(&mut out, '-', before, hunk.before.clone());
            print_lines(&mut out, '+', after, hunk.after.clone());
            at = hunk.before.end;
        }
        print_lines(&mut out, ' ', before, at..old.end);
    }
    out
}

/// How many lines there are to print: a final line feed starts no further one.
fn lines(text: &Text) -> usize {
    text.line_feeds() + usize::from(text.len() > text.line_feed_start(text.line_feeds()))
}

fn span(range: &Range<usize>) -> String {
    let start = if range.is_empty() { range.start } else { range.start + 1 };
    format!("{},{}", start, range.len())
}

fn print_lines(out: &mut String, mark: char, text: &Text, lines: Range<usize>) {
    for line in lines {
        let (start, end) = (text.line_feed_start(line), text.line_feed_start(line + 1));
        out.push(mark);
        let line = text.slice(start..end);
        out.push_str(&line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, diff};

    fn check(before: &str, after: &str, expected: &str) {
        let (b, a) = (Text::from(before), Text::from(after));
        assert_eq!(unified(&b, &a, &diff(&b, &a), 1), expected);
    }

    #[test]
    fn unified_diffs() {
        check("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        check("a\nb\n", "a\nnew\nb\n", "@@ -1,2 +1,3 @@\n a\n+new\n b\n");
        check("a\nb\nc\n", "a\nc\n", "@@ -1,3 +1,2 @@\n a\n-b\n c\n");
        check("", "x\n", "@@ -0,0 +1,1 @@\n+x\n");
        check(
            "a",
            "b",
            "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
        );
    }

    #[test]
    fn a_change_that_joins_lines_takes_what_follows_along() {
        let before = Text::from("a\nb\n");
        let changes = vec![Change::new(1..2, ""), Change::new(2..2, "X\n")];
        let set = ChangeSet::new(4, changes).unwrap();
        let after = set.apply(&before).unwrap();
        let hunks = line_hunks(&before, &after, &set);
        assert_eq!(hunks, [LineHunk { before: 0..1, after: 0..1, changes: 0..2 }]);
        check("a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n");
        check(
            "a",
            "a\nb",
            "@@ -1,1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n",
        );
    }

    #[test]
    fn neighbouring_lines_are_one_hunk() {
        let (b, a) = (Text::from("a\nb\nc\nd\n"), Text::from("A\nB\nc\nD\n"));
        let hunks = line_hunks(&b, &a, &diff(&b, &a));
        let spans: Vec<_> = hunks.iter().map(|h| (h.before.clone(), h.changes.clone())).collect();
        assert_eq!(spans, [(0..2, 0..2), (3..4, 2..3)]);
    }
}
