//! Exact search over a rope's chunks, without copying the text.
//!
//! Regular expressions are the tools' business; this finds literal text, optionally with line ends aside.

use crate::Text;
use memchr::memmem::Finder;
use std::ops::Range;

/// How line ends in the text and in the searched string compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEndSearch {
    /// Byte for byte.
    Exact,
    /// `\n`, `\r\n` and a lone `\r` match one another.
    Aside,
}

/// How much of a long needle is searched for before the rest is compared in place.
const PROBE: usize = 64;

/// Where `needle` occurs in `text`, in order and without overlap. An empty needle occurs nowhere. With
/// [`LineEndSearch::Aside`] a found range may be longer or shorter than the needle. O(n) for ordinary text.
pub fn find_all<'a>(
    text: &'a Text,
    needle: &'a str,
    line_ends: LineEndSearch,
) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
    if needle.is_empty() {
        return Box::new(std::iter::empty());
    }
    let has_line_end = needle.contains(['\r', '\n']);
    if line_ends == LineEndSearch::Exact || !has_line_end {
        return Box::new(Matches { text, needle: needle.to_owned(), from: 0, aside: false });
    }
    let normal = needle.replace("\r\n", "\n").replace('\r', "\n");
    // Without a carriage return in the text, the line feed is the only line end to meet.
    let aside = text.crlfs() + text.lone_crs() > 0;
    Box::new(Matches { text, needle: normal, from: 0, aside })
}

struct Matches<'a> {
    text: &'a Text,
    needle: String,
    from: usize,
    aside: bool,
}

impl Iterator for Matches<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let found = if self.aside { self.next_aside() } else { self.next_exact() }?;
        self.from = found.end;
        Some(found)
    }
}

impl Matches<'_> {
    fn next_exact(&self) -> Option<Range<usize>> {
        let needle = self.needle.as_bytes();
        let probe = needle.get(..PROBE).unwrap_or(needle);
        let rest = needle.get(probe.len()..).unwrap_or_default();
        candidates(self.text, probe, self.from)
            .find(|at| starts_with(self.text, at + probe.len(), rest))
            .map(|at| at..at + needle.len())
    }

    /// Looks for the longest part of the needle without a line end, then compares around it.
    fn next_aside(&self) -> Option<Range<usize>> {
        let lines: Vec<&str> = self.needle.split('\n').collect();
        let first = lines.first().copied().unwrap_or_default();
        if first.is_empty() {
            // The needle begins with a line end: each line end of the text is a candidate.
            return line_end_starts(self.text, self.from)
                .find_map(|at| Some(at..match_lines(self.text, at, &lines)?));
        }
        let probe = first.as_bytes().get(..PROBE).unwrap_or(first.as_bytes());
        candidates(self.text, probe, self.from)
            .find_map(|at| Some(at..match_lines(self.text, at, &lines)?))
    }
}

/// Where the lines, joined by any line end, end if they start at `at`.
fn match_lines(text: &Text, at: usize, lines: &[&str]) -> Option<usize> {
    let mut at = at;
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            at += match (text.byte(at)?, text.byte(at + 1)) {
                (b'\r', Some(b'\n')) => 2,
                (b'\r' | b'\n', _) => 1,
                _ => return None,
            };
        }
        if !starts_with(text, at, line.as_bytes()) {
            return None;
        }
        at += line.len();
    }
    // The needle's last line feed must not match half of a pair.
    Some(at)
}

/// Whether `needle` stands at `at`.
fn starts_with(text: &Text, at: usize, needle: &[u8]) -> bool {
    if at + needle.len() > text.len() {
        return false;
    }
    let (mut at, mut needle) = (at, needle);
    while !needle.is_empty() {
        let (chunk, start) = text.chunk_at(at);
        let bytes = chunk.as_bytes().get(at - start..).unwrap_or_default();
        let n = bytes.len().min(needle.len());
        if n == 0 || bytes.get(..n) != needle.get(..n) {
            return false;
        }
        at += n;
        needle = needle.get(n..).unwrap_or_default();
    }
    true
}

/// Where line ends start, from `from` on.
fn line_end_starts(text: &Text, from: usize) -> impl Iterator<Item = usize> + '_ {
    let mut previous_cr = from > 0 && text.byte(from - 1) == Some(b'\r');
    let mut at = from;
    std::iter::from_fn(move || {
        while at < text.len() {
            let (chunk, start) = text.chunk_at(at);
            let bytes = chunk.as_bytes();
            let Some(found) =
                memchr::memchr2(b'\n', b'\r', bytes.get(at - start..).unwrap_or_default())
            else {
                at = start + bytes.len();
                previous_cr = false;
                continue;
            };
            let place = at + found;
            let byte = bytes.get(place - start).copied();
            let second_of_pair = byte == Some(b'\n') && found == 0 && previous_cr;
            previous_cr = byte == Some(b'\r');
            at = place + 1;
            if !second_of_pair {
                return Some(place);
            }
        }
        None
    })
}

/// Where `probe` (at most [`PROBE`] bytes, not empty) occurs from `from` on; overlapping finds included.
fn candidates<'a>(
    text: &'a Text,
    probe: &'a [u8],
    from: usize,
) -> impl Iterator<Item = usize> + 'a {
    let finder = Finder::new(probe);
    let overlap = probe.len() - 1;
    // `carry` holds the last bytes before the chunk, in which a find may begin that ends in the chunk.
    let (mut at, mut carry) = (from, Vec::new());
    let mut found = std::collections::VecDeque::new();
    std::iter::from_fn(move || {
        loop {
            if let Some(place) = found.pop_front() {
                return Some(place);
            }
            if at >= text.len() {
                return None;
            }
            let (chunk, start) = text.chunk_at(at);
            let bytes = chunk.as_bytes().get(at - start..).unwrap_or_default();
            if !carry.is_empty() {
                let joined_from = at - carry.len();
                let kept = carry.len();
                carry.extend_from_slice(bytes.get(..overlap).unwrap_or(bytes));
                for place in overlapping(&finder, &carry) {
                    if place < kept {
                        found.push_back(joined_from + place);
                    }
                }
                carry.truncate(kept);
            }
            found.extend(overlapping(&finder, bytes).map(|place| at + place));
            carry.extend_from_slice(
                bytes.get(bytes.len().saturating_sub(overlap)..).unwrap_or(bytes),
            );
            let excess = carry.len().saturating_sub(overlap);
            carry.drain(..excess);
            at += bytes.len();
        }
    })
}

/// All finds in `bytes`, overlapping ones included.
fn overlapping<'h>(finder: &'h Finder<'_>, bytes: &'h [u8]) -> impl Iterator<Item = usize> + 'h {
    let mut from = 0;
    std::iter::from_fn(move || {
        let place = from + finder.find(bytes.get(from..)?)?;
        from = place + 1;
        Some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, needle: &str, line_ends: LineEndSearch, expected: &[Range<usize>]) {
        let text = Text::from(text);
        assert_eq!(find_all(&text, needle, line_ends).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn finds_without_overlap() {
        check("aaaa", "aa", LineEndSearch::Exact, &[0..2, 2..4]);
        check("abc", "", LineEndSearch::Exact, &[]);
        check("abc", "abcd", LineEndSearch::Exact, &[]);
        check("x日本y日本", "日本", LineEndSearch::Exact, &[1..7, 8..14]);
    }

    #[test]
    fn line_ends_aside() {
        check("a\r\nb\r\na\nb", "a\nb", LineEndSearch::Aside, &[0..4, 6..9]);
        check("a\nb", "a\r\nb", LineEndSearch::Aside, &[0..3]);
        check("a\rb", "\nb", LineEndSearch::Aside, &[1..3]);
        check("x\r\n\r\ny", "\n\n", LineEndSearch::Aside, &[1..5]);
        check("x\r\ny", "\ny", LineEndSearch::Aside, &[1..4]);
    }

    #[test]
    fn finds_across_chunks() {
        let filler = "0123456789".repeat(500);
        let needle = format!("<{}>", "é".repeat(300));
        let whole = format!("{filler}{needle}{filler}{needle}");
        let text = Text::from(whole.as_str());
        assert!(text.chunks().count() > 4);
        let expected: Vec<_> =
            whole.match_indices(&needle).map(|(at, m)| at..at + m.len()).collect();
        assert_eq!(find_all(&text, &needle, LineEndSearch::Exact).collect::<Vec<_>>(), expected);
        for at in (0..4900).step_by(97) {
            let needle = &whole[at..at + 40];
            let expected: Vec<_> =
                whole.match_indices(needle).map(|(at, m)| at..at + m.len()).collect();
            assert_eq!(find_all(&text, needle, LineEndSearch::Exact).collect::<Vec<_>>(), expected);
        }
    }
}
