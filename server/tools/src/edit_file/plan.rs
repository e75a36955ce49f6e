//! From the text to find and the text to put there, to a change set. Pure.
//!
//! Line ends are set aside in finding, and each new line end becomes the one that stood in its place or
//! stands nearest, so a line that the edit is not about keeps every byte. Nothing copies the whole text.

use crate::blocking::StopSignal;
use crate::lines::{line_number, line_start};
use ropewalk_text::{Change, ChangeSet, LineEndSearch, Text, diff, find_all};
use std::fmt;
use std::ops::Range;

/// Which occurrences are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OccurrenceChoice {
    /// The one of this number, from 1.
    Nth(usize),
    /// Every one.
    All,
}

/// An edit that can be made.
#[derive(Debug)]
pub(super) struct EditPlan {
    pub(super) set: ChangeSet,
    /// Where the text was replaced.
    pub(super) edited: LineNumbers,
    /// Where else it is.
    pub(super) others: LineNumbers,
}

/// Why no edit can be made.
#[derive(Debug)]
pub(super) enum NoPlan {
    /// The text is nowhere.
    NotFound,
    /// It is there, but not so many times.
    TooFew(LineNumbers),
    /// Both texts are the same.
    Same,
    /// It is there more than [`MOST`] times.
    TooMany,
    /// Nobody waits for it any more.
    Stopped,
}

/// The most places that one edit changes, and the most that are counted.
pub(super) const MOST: usize = 100_000;

/// Numbers of lines, of which only the first are named.
#[derive(Debug, Default)]
pub(super) struct LineNumbers {
    named: Vec<usize>,
    pub(super) count: usize,
}

/// How many lines are named.
const NAMED: usize = 6;

impl LineNumbers {
    fn add(&mut self, text: &Text, at: usize) {
        if self.named.len() < NAMED {
            self.named.push(line_number(text, at));
        }
        self.count += 1;
    }
}

impl fmt::Display for LineNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = self.count - self.named.len();
        for (index, line) in self.named.iter().enumerate() {
            f.write_str(match index {
                0 => "",
                last if more == 0 && last + 1 == self.named.len() => " and ",
                _ => ", ",
            })?;
            write!(f, "{line}")?;
        }
        if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
    }
}

/// The change set that replaces `old` by `new`. O(text) to search, O(old · differences) to compare, and memory
/// for the changes alone.
pub(super) fn plan(
    text: &Text,
    old: &str,
    new: &str,
    which: OccurrenceChoice,
    stop: &StopSignal,
) -> Result<EditPlan, NoPlan> {
    let (old, new) = (unix(old), unix(new));
    // The difference of the two, found once: at every occurrence the same is to be done.
    let inner = diff(&Text::from(old.as_str()), &Text::from(new.as_str()));
    let mut changes = Vec::new();
    let (mut edited, mut others) = (LineNumbers::default(), LineNumbers::default());
    // Where every line ends in CRLF nothing need be set aside, which is quicker.
    let all_crlf = text.lone_crs() == 0 && text.crlfs() == text.line_feeds();
    let (searched, line_ends) = if all_crlf && text.crlfs() > 0 {
        (&old.replace('\n', "\r\n"), LineEndSearch::Exact)
    } else {
        (&old, LineEndSearch::Aside)
    };
    let mut near = LineEndCache::default();
    for (index, range) in find_all(text, searched, line_ends).enumerate() {
        if stop.is_set() {
            return Err(NoPlan::Stopped);
        }
        if index == MOST {
            if which == OccurrenceChoice::All || edited.count == 0 {
                return Err(NoPlan::TooMany);
            }
            break;
        }
        match which {
            OccurrenceChoice::Nth(number) if number != index + 1 => others.add(text, range.start),
            _ => {
                edited.add(text, range.start);
                changes_at(text, range, &inner, &mut near, &mut changes);
            }
        }
    }
    match (edited.count, others.count) {
        (0, 0) => Err(NoPlan::NotFound),
        _ if inner.is_empty() => Err(NoPlan::Same),
        (0, _) => Err(NoPlan::TooFew(others)),
        _ => {
            let set = ChangeSet::new(text.len(), changes).ok_or(NoPlan::NotFound)?;
            Ok(EditPlan { set, edited, others })
        }
    }
}

/// With every line end as one line feed.
pub(super) fn unix(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// The changes of `inner`, which are of the searched text, at one place where it was found.
fn changes_at(
    text: &Text,
    found: Range<usize>,
    inner: &ChangeSet,
    near: &mut LineEndCache,
    out: &mut Vec<Change>,
) {
    if text.crlfs() + text.lone_crs() == 0 {
        out.extend(inner.changes().iter().map(|change| {
            let range = found.start + change.range.start..found.start + change.range.end;
            Change::new(range, change.text.clone())
        }));
        return;
    }
    let actual = text.slice(found.clone());
    // Each pair is one byte shorter in the searched text; these are its places there.
    let pairs: Vec<usize> =
        actual.match_indices("\r\n").enumerate().map(|(nth, (at, _))| at - nth).collect();
    let to_actual = |at: usize| at + pairs.partition_point(|pair| *pair < at);
    for change in inner.changes() {
        let range = to_actual(change.range.start)..to_actual(change.range.end);
        let removed = actual.get(range.clone()).unwrap_or_default();
        let at = found.start + range.start;
        let new = with_line_ends(&change.text, removed, || near.at(text, at));
        out.push(Change::new(at..found.start + range.end, new));
    }
}

/// `text` with the line ends of `removed`, one for one; the last of them serves for the rest, and where there
/// are none, `near`.
fn with_line_ends(text: &str, removed: &str, near: impl FnOnce() -> &'static str) -> String {
    if !text.contains('\n') {
        return text.to_owned();
    }
    let mut ends = line_ends(removed).into_iter().peekable();
    let mut end = ends.peek().copied().unwrap_or_else(near);
    let mut out = String::with_capacity(text.len() + removed.len());
    for piece in text.split_inclusive('\n') {
        match piece.strip_suffix('\n') {
            Some(line) => {
                end = ends.next().unwrap_or(end);
                out.push_str(line);
                out.push_str(end);
            }
            None => out.push_str(piece),
        }
    }
    out
}

/// The line ends of a text, in order.
fn line_ends(text: &str) -> Vec<&'static str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.find(['\n', '\r']).and_then(|at| rest.split_at_checked(at)) {
        let end = end_at(after);
        out.push(end);
        rest = after.get(end.len()..).unwrap_or_default();
    }
    out
}

/// The line end that `text` begins with.
fn end_at(text: &str) -> &'static str {
    if text.starts_with("\r\n") {
        "\r\n"
    } else if text.starts_with('\r') {
        "\r"
    } else {
        "\n"
    }
}

/// The line end that was found last, which serves all places of its line.
#[derive(Default)]
struct LineEndCache {
    line: Range<usize>,
    end: &'static str,
}

impl LineEndCache {
    /// The line end of the line that holds `at`; of the line before it when it is the last. O(log n + line), once for
    /// each line.
    fn at(&mut self, text: &Text, at: usize) -> &'static str {
        if !self.line.contains(&at) {
            let (line, end) = line_end_near(text, at);
            *self = Self { line, end };
        }
        self.end
    }
}

/// A line end, and from `at` on the places that it serves.
fn line_end_near(text: &Text, at: usize) -> (Range<usize>, &'static str) {
    let mut offset = at;
    for chunk in text.chunks_in(at..text.len()) {
        if let Some(found) = memchr::memchr2(b'\n', b'\r', chunk.as_bytes()) {
            let found = offset + found;
            return (at..found + 1, end_at(&text.slice(found..(found + 2).min(text.len()))));
        }
        offset += chunk.len();
    }
    let start = line_start(text, line_number(text, at)).unwrap_or_default();
    let end = match text.slice(start.saturating_sub(2)..start).as_str() {
        "\r\n" => "\r\n",
        before if before.ends_with('\r') => "\r",
        _ => "\n",
    };
    (at..text.len() + 1, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// With line ends aside it is what `str::replacen` does, and every line end it makes is one that the
        /// text has.
        #[test]
        fn an_edit_is_a_replacement(
            parts in prop::collection::vec(prop::sample::select(vec!["a", "b", "é", "\n", "\r\n"]), 1..60),
            cut in any::<(prop::sample::Index, prop::sample::Index)>(),
            new in "[abé\n]{0,6}",
            number in 1_usize..4,
        ) {
            let text = parts.concat();
            let chars: Vec<char> = unix(&text).chars().collect();
            let (from, to) = (cut.0.index(chars.len()), cut.1.index(chars.len()));
            let old: String = chars[from.min(to)..=from.max(to)].iter().collect();
            prop_assume!(old != new);
            let rope = Text::from(text.as_str());

            let all = plan(&rope, &old, &new, OccurrenceChoice::All, &StopSignal::default()).unwrap();
            let after = all.set.apply(&rope).unwrap().to_string();
            prop_assert_eq!(unix(&after), unix(&text).replace(&old, &new));

            let count = unix(&text).matches(old.as_str()).count();
            match plan(&rope, &old, &new, OccurrenceChoice::Nth(number), &StopSignal::default()) {
                Ok(plan) => {
                    let after = plan.set.apply(&rope).unwrap().to_string();
                    let (at, _) = unix(&text).match_indices(old.as_str()).nth(number - 1).unwrap();
                    let mut expected = unix(&text);
                    expected.replace_range(at..at + old.len(), &new);
                    prop_assert_eq!(unix(&after), expected);
                    prop_assert_eq!(plan.others.count, count - 1);
                    if !text.contains("\r\n") {
                        prop_assert!(!after.contains('\r'));
                    } else if text.matches('\n').count() == text.matches("\r\n").count() {
                        prop_assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
                    }
                }
                Err(NoPlan::TooFew(places)) => prop_assert!(number > count && places.count == count),
                Err(other) => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn what_would_take_too_long_is_not_begun() {
        let line = |count: usize| Text::from("a".repeat(count).as_str());
        let all =
            |text: &Text, stop: &StopSignal| plan(text, "a", "bb", OccurrenceChoice::All, stop);
        let most = all(&line(MOST), &StopSignal::default()).unwrap();
        assert_eq!((most.edited.count, most.set.changes().len()), (MOST, MOST));
        assert!(matches!(all(&line(MOST + 1), &StopSignal::default()), Err(NoPlan::TooMany)));
        // One that is not for all counts no further.
        let one = plan(&line(MOST + 9), "a", "b", OccurrenceChoice::Nth(2), &StopSignal::default())
            .unwrap();
        assert_eq!((one.edited.count, one.others.count), (1, MOST - 1));
        let stopped = StopSignal::default();
        stopped.set();
        assert!(matches!(all(&line(MOST), &stopped), Err(NoPlan::Stopped)));
    }

    #[test]
    fn a_long_line_is_looked_through_once_for_its_end() {
        // Looked through for each place, this is more than a machine can do.
        let text = Text::from(format!("{}\r\n", "a,".repeat(MOST)).repeat(8).as_str());
        let number = |text: &Text, which| plan(text, ",", "\n", which, &StopSignal::default());
        assert!(matches!(number(&text, OccurrenceChoice::All), Err(NoPlan::TooMany)));
        let text =
            Text::from(format!("{}{}\r\n", "a,".repeat(MOST), "b".repeat(20 << 20)).as_str());
        let after = number(&text, OccurrenceChoice::All).unwrap().set.apply(&text).unwrap();
        assert_eq!(after.crlfs(), MOST + 1);
    }
}
