//! Why a text was not found, and what there is instead. Pure.
//!
//! A text that is there but for white space, case, Unicode form or look-alikes is found by folding both: the
//! file passes through a window line by line, so no copy of it is made. Else the lines that share most with
//! the wanted ones are shown.

use super::fold::{Fold, fold};
use super::plan::unix;
use crate::lines::{for_each_line, line_count, line_number, line_start};
use memchr::memmem::Finder;
use ropewalk_text::{LineEndSearch, Text, find_all};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::{ControlFlow, Range};

/// The most lines that are shown.
const SHOWN_LINES: usize = 12;
/// The most characters of a line that are shown.
const SHOWN_CHARS: usize = 200;
/// The most lines of the wanted text that are compared.
const COMPARED_LINES: usize = 200;
/// How much folded text is searched at a time.
const WINDOW: usize = 64 << 10;
/// A folded line shorter than this is like too many others to tell anything.
const TELLING: usize = 4;

/// Words that follow `Text not found in P`. O(text).
pub(super) fn explain(text: &Text, old: &str, new: &str) -> String {
    if text.is_empty() {
        return ": it is empty. Write the whole of it instead".to_owned();
    }
    let old = unix(old);
    let mut out = String::new();
    let bare = without_numbers(&old);
    if let Some(bare) = &bare {
        out.push_str(
            ". old_text begins its lines with the numbers that a read shows; leave them out",
        );
        if let Some(found) = find_all(text, bare, LineEndSearch::Aside).next() {
            let _infallible =
                write!(out, " (the rest is in line {})", line_number(text, found.start));
            return out;
        }
    }
    let wanted = bare.as_deref().unwrap_or(&old);
    if let Some(lines) = find_folded(text, wanted) {
        out.push_str(&differences(text, &lines, wanted));
        show(text, &lines, &mut out);
        return out;
    }
    let applied = if fold(new, Fold::ALL).len() < TELLING {
        None
    } else {
        find_all(text, new, LineEndSearch::Aside).next()
    };
    if let Some(found) = applied {
        let line = line_number(text, found.start);
        let _infallible =
            write!(out, ". new_text is there already, in line {line}: this edit seems to be made");
        return out;
    }
    match nearest(text, wanted) {
        Some(lines) => {
            out.push_str(". The nearest lines are these");
            if let Some((number, is, was)) = first_difference(text, &lines, wanted) {
                let _infallible = write!(
                    out,
                    "; line {number} is {:?} where old_text has {:?}",
                    cut(&is),
                    cut(&was)
                );
            }
            show(text, &lines, &mut out);
        }
        None => out.push_str(". No line in it is like old_text; read it to see what is there"),
    }
    out
}

/// The text without the line numbers before each line, when each has one.
fn without_numbers(old: &str) -> Option<String> {
    let strip = |line: &str| {
        let rest = line.trim_start();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rest = rest.get(digits..)?;
        let rest = rest.strip_prefix(['\t', '|', '\u{2192}']).or(rest.strip_prefix(": "))?;
        (digits > 0).then(|| rest.to_owned())
    };
    let strip =
        |line: &str| if line.trim().is_empty() { Some(line.to_owned()) } else { strip(line) };
    let lines: Option<Vec<String>> = old.split('\n').map(strip).collect();
    lines.map(|lines| lines.join("\n")).filter(|bare| bare.len() < old.len())
}

/// The numbers of the lines in which `wanted` is but for what folding takes away.
fn find_folded(text: &Text, wanted: &str) -> Option<Range<usize>> {
    let needle = fold(wanted, Fold::ALL);
    if needle.is_empty() {
        return None;
    }
    let finder = Finder::new(&needle);
    let mut window = String::new();
    // Where each line begins in the window, ascending; the first is line `first`.
    let mut starts: Vec<usize> = Vec::new();
    let mut first = 1;
    let search = |window: &str, starts: &[usize], first: usize| {
        let at = finder.find(window.as_bytes())?;
        let line = |place: usize| first + starts.partition_point(|start| *start <= place) - 1;
        Some(line(at)..line(at + needle.len() - 1) + 1)
    };
    let found = for_each_line(text, 0, |line| {
        starts.push(window.len());
        window.push_str(&fold(line, Fold::ALL));
        if window.len() < WINDOW + 2 * needle.len() {
            return ControlFlow::Continue(());
        }
        if let Some(found) = search(&window, &starts, first) {
            return ControlFlow::Break(found);
        }
        // Lines in which a match may begin stay: the last ones.
        let keep = window.len() - needle.len();
        let gone = starts.partition_point(|start| *start <= keep).saturating_sub(1);
        let cut = starts.get(gone).copied().unwrap_or_default();
        window.drain(..cut);
        starts.drain(..gone);
        starts.iter_mut().for_each(|start| *start -= cut);
        first += gone;
        ControlFlow::Continue(())
    });
    found.or_else(|| search(&window, &starts, first))
}

/// In which ways the lines differ from the wanted text, in words.
fn differences(text: &Text, lines: &Range<usize>, wanted: &str) -> String {
    let actual = lines_text(text, lines);
    // A way counts when it must be folded for the two to meet.
    let counts = |without: Fold| !fold(&actual, without).contains(&fold(wanted, without));
    let mut ways = Vec::new();
    if counts(Fold { space: false, ..Fold::ALL }) {
        ways.push(white_space(&actual, lines.start, wanted));
    }
    if counts(Fold { case: false, ..Fold::ALL }) {
        ways.push("upper and lower case differ".to_owned());
    }
    if counts(Fold { form: false, ..Fold::ALL }) {
        ways.push("the same characters are composed differently in Unicode (NFC, NFD)".to_owned());
    }
    if counts(Fold { looks: false, ..Fold::ALL }) {
        ways.push(
            "some characters only look the same (quotes, dashes, spaces, invisible ones)"
                .to_owned(),
        );
    }
    if ways.is_empty() {
        ways.push("several things differ".to_owned());
    }
    let place = match lines.len() {
        1 => format!("line {}", lines.start),
        _ => format!("lines {} to {}", lines.start, lines.end - 1),
    };
    format!(", but nearly in {place}: {}. It is", ways.join("; "))
}

/// How the white space differs, at the first line where it does.
fn white_space(actual: &str, first: usize, wanted: &str) -> String {
    for (number, (is, was)) in (first..).zip(actual.lines().zip(wanted.lines())) {
        if is == was || fold(is, Fold::ALL) != fold(was, Fold::ALL) {
            continue;
        }
        // The wanted text may begin in the middle of its first line.
        let is = if number == first && indent(was).is_empty() { is.trim_start() } else { is };
        if is == was {
            continue;
        }
        let (is_start, was_start) = (indent(is), indent(was));
        if is_start != was_start {
            return format!(
                "line {number} begins with {}, in old_text with {}",
                blanks(is_start),
                blanks(was_start)
            );
        }
        if is.trim_end() == was.trim_end() {
            let (with, without) = if is.len() > was.len() {
                ("the file", "old_text")
            } else {
                ("old_text", "the file")
            };
            return format!("line {number} ends in white space in {with}, not in {without}");
        }
        return format!("the white space inside line {number} differs");
    }
    "line breaks, blank lines or white space differ".to_owned()
}

fn indent(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

/// Blanks in words.
fn blanks(text: &str) -> String {
    let count = |which: fn(char) -> bool| text.chars().filter(|c| which(*c)).count();
    let (tabs, spaces) = (count(|c| c == '\t'), count(|c| c == ' '));
    let some = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    match (tabs, spaces) {
        _ if tabs + spaces < text.chars().count() => "unusual white space".to_owned(),
        (0, 0) => "no white space".to_owned(),
        (0, n) => some(n, "space"),
        (n, 0) => some(n, "tab"),
        (t, s) => format!("{} and {}", some(t, "tab"), some(s, "space")),
    }
}

/// The numbers of the lines that are most like `wanted`'s, as many as it has.
///
/// A line that is equal but for folding votes for the place where the wanted text would then begin; when none
/// is, the line that shares most groups of three letters with the longest wanted one is taken.
fn nearest(text: &Text, wanted: &str) -> Option<Range<usize>> {
    let wanted: Vec<String> =
        wanted.lines().take(COMPARED_LINES).map(|line| fold(line, Fold::ALL)).collect();
    let mut by_line: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| line.len() >= TELLING) {
        by_line.entry(line).or_default().push(index);
    }
    let (longest_at, longest) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let target = Trigrams::of(longest);
    let mut votes: HashMap<usize, usize> = HashMap::new();
    let mut alike: (usize, usize) = (0, 0);
    let mut number = 0_usize;
    for_each_line(text, 0, |line| {
        number += 1;
        let line = fold(line, Fold::ALL);
        for index in by_line.get(line.as_str()).into_iter().flatten().take(4) {
            // Places before the start of the text count as the start.
            *votes.entry(number.saturating_sub(*index).max(1)).or_default() += line.len().min(40);
        }
        let likeness = target.shared_with(&line);
        if likeness > alike.0 {
            alike = (likeness, number);
        }
        ControlFlow::<()>::Continue(())
    });
    let voted =
        votes.into_iter().max_by_key(|(start, weight)| (*weight, std::cmp::Reverse(*start)));
    let start = match voted {
        Some((start, _)) => start,
        // Out of a thousand; below a third two lines have next to nothing in common.
        None if alike.0 > 330 => alike.1.saturating_sub(longest_at).max(1),
        None => return None,
    };
    Some(start..(start + wanted.len().max(1)).min(line_count(text) + 1))
}

/// The groups of three bytes in a line, as a set that may take two for one.
struct Trigrams {
    bits: Box<[bool; 4096]>,
    count: usize,
}

impl Trigrams {
    fn of(line: &str) -> Self {
        let mut bits = Box::new([false; 4096]);
        let mut count = 0;
        for place in Self::places(line) {
            if let Some(bit) = bits.get_mut(place) {
                *bit = true;
            }
            count += 1;
        }
        Self { bits, count }
    }

    fn places(line: &str) -> impl Iterator<Item = usize> + '_ {
        line.as_bytes().windows(3).map(|three| {
            three.iter().fold(0_usize, |sum, byte| sum * 31 + usize::from(*byte)) % 4096
        })
    }

    /// Twice the shared ones by all of both, in thousandths.
    fn shared_with(&self, line: &str) -> usize {
        let (mut shared, mut count) = (0, 0);
        for place in Self::places(line) {
            count += 1;
            shared += usize::from(self.bits.get(place).copied().unwrap_or_default());
        }
        // A long line holds everything by chance.
        2000 * shared.min(self.count) / (count + self.count).max(1)
    }
}

/// The first line that is not as wanted: its number, it, and the wanted one.
fn first_difference(
    text: &Text,
    lines: &Range<usize>,
    wanted: &str,
) -> Option<(usize, String, String)> {
    let actual = lines_text(text, lines);
    let pairs = lines.clone().zip(actual.lines().zip(wanted.lines()));
    pairs
        .map(|(number, (is, was))| (number, is.to_owned(), was.to_owned()))
        .find(|(_, is, was)| is != was)
}

/// These lines of the text, line ends as line feeds. At most as many as can be compared.
fn lines_text(text: &Text, lines: &Range<usize>) -> String {
    let end = lines.end.min(lines.start + COMPARED_LINES);
    let start = line_start(text, lines.start).unwrap_or(text.len());
    let end = line_start(text, end).unwrap_or(text.len());
    unix(&text.slice(start..end))
}

/// Adds the lines as `read_file` shows them.
fn show(text: &Text, lines: &Range<usize>, out: &mut String) {
    out.push(':');
    let actual = lines_text(text, lines);
    for (number, line) in lines.clone().zip(actual.lines()).take(SHOWN_LINES) {
        let _infallible = write!(out, "\n{number:>6}\t{}", cut(line));
    }
    let more = lines.len().saturating_sub(SHOWN_LINES);
    if more > 0 {
        let _infallible = write!(out, "\n... ({more} more lines)");
    }
}

/// A line that may be too long to show.
fn cut(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or(line)),
        None => line.to_owned(),
    }
}
