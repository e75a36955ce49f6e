//! Exact search over a rope, without copying the whole text.
//!
//! The text passes through a window of some pages: chunks are appended, the window is searched, and its
//! tail is kept for what may begin there. So the whole needle is always compared by one linear-time
//! search, wherever chunks end, and line ends are set aside by making them one line feed on the way in.
//! Regular expressions are the tools' business.

use crate::Text;
use memchr::memmem::Finder;
use std::collections::VecDeque;
use std::ops::Range;

/// How line ends in the text and in the searched string compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEndSearch {
    /// Byte for byte.
    Exact,
    /// `\n`, `\r\n` and a lone `\r` match one another.
    Aside,
}

/// How much text is searched at a time: enough to make the tail kept of it not count, and little enough to
/// stay in the cache.
const WINDOW: usize = 16 << 10;

/// Where `needle` occurs in `text`, in order and without overlap. An empty needle occurs nowhere. With
/// [`LineEndSearch::Aside`] a found range may be longer or shorter than the needle, and never ends inside a
/// `\r\n`. O(text + needle), memory O(needle).
pub fn find_all<'a>(
    text: &'a Text,
    needle: &'a str,
    line_ends: LineEndSearch,
) -> Box<dyn Iterator<Item = Range<usize>> + 'a> {
    // With line ends aside a needle can match text of half its length, not less.
    if needle.is_empty() || needle.len() / 2 > text.len() {
        return Box::new(std::iter::empty());
    }
    if line_ends == LineEndSearch::Exact || !needle.contains(['\r', '\n']) {
        return Box::new(Matches::new(text, Finder::new(needle), false));
    }
    let needle = needle.replace("\r\n", "\n").replace('\r', "\n");
    // Without a carriage return in the text, the line feed is the only line end to meet.
    let aside = text.crlfs() + text.lone_crs() > 0;
    Box::new(Matches::new(text, Finder::new(&needle).into_owned(), aside))
}

struct Matches<'a, C> {
    chunks: C,
    finder: Finder<'a>,
    /// True if line ends become one line feed in the window.
    aside: bool,
    window: Vec<u8>,
    /// Where in the window to search on.
    from: usize,
    /// The offset in the text of the window's first byte.
    base: usize,
    /// The places in the window of line feeds that stand for two bytes, ascending.
    pairs: VecDeque<usize>,
}

impl<'a> Matches<'a, ()> {
    fn new(
        text: &'a Text,
        finder: Finder<'a>,
        aside: bool,
    ) -> Matches<'a, impl Iterator<Item = &'a str>> {
        Matches {
            chunks: text.chunks(),
            finder,
            aside,
            window: Vec::new(),
            from: 0,
            base: 0,
            pairs: VecDeque::new(),
        }
    }
}

impl<'a, C: Iterator<Item = &'a str>> Iterator for Matches<'a, C> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let needle = self.finder.needle().len();
        loop {
            let rest = self.window.get(self.from..).unwrap_or_default();
            if let Some(found) = self.finder.find(rest) {
                let start = self.from + found;
                self.from = start + needle;
                return Some(self.in_text(start)..self.in_text(self.from));
            }
            // A match that may still begin here is shorter than the needle; all before it is done
            // with.
            let done = self.from.max((self.window.len() + 1).saturating_sub(needle));
            self.from = 0;
            self.base = self.in_text(done);
            self.window.drain(..done);
            while self.pairs.front().is_some_and(|pair| *pair < done) {
                self.pairs.pop_front();
            }
            self.pairs.iter_mut().for_each(|pair| *pair -= done);
            if !self.fill(WINDOW.max(2 * needle)) {
                return None;
            }
        }
    }
}

impl<'a, C: Iterator<Item = &'a str>> Matches<'a, C> {
    /// The offset in the text of a place in the window.
    fn in_text(&self, at: usize) -> usize {
        self.base + at + self.pairs.partition_point(|pair| *pair < at)
    }

    /// Appends chunks until the window has `size` bytes; false when there are none left.
    fn fill(&mut self, size: usize) -> bool {
        let old = self.window.len();
        while self.window.len() < size {
            let Some(chunk) = self.chunks.next() else { break };
            let mut bytes = chunk.as_bytes();
            // Both bytes of a pair are in one chunk.
            while self.aside
                && let Some(cr) = memchr::memchr(b'\r', bytes)
                && let Some((line, [_, rest @ ..])) = bytes.split_at_checked(cr)
            {
                self.window.extend_from_slice(line);
                self.window.push(b'\n');
                bytes = rest;
                if let Some(rest) = rest.strip_prefix(b"\n") {
                    self.pairs.push_back(self.window.len() - 1);
                    bytes = rest;
                }
            }
            self.window.extend_from_slice(bytes);
        }
        self.window.len() > old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, needle: &str, line_ends: LineEndSearch, expected: &[(usize, usize)]) {
        let text = Text::from(text);
        let found: Vec<_> =
            find_all(&text, needle, line_ends).map(|at| (at.start, at.end)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn finds_without_overlap() {
        check("aaaa", "aa", LineEndSearch::Exact, &[(0, 2), (2, 4)]);
        check("abc", "", LineEndSearch::Exact, &[]);
        check("abc", "abcd", LineEndSearch::Exact, &[]);
        check("x日本y日本", "日本", LineEndSearch::Exact, &[(1, 7), (8, 14)]);
    }

    #[test]
    fn line_ends_aside() {
        check("a\r\nb\r\na\nb", "a\nb", LineEndSearch::Aside, &[(0, 4), (6, 9)]);
        check("a\nb", "a\r\nb", LineEndSearch::Aside, &[(0, 3)]);
        check("a\rb", "\nb", LineEndSearch::Aside, &[(1, 3)]);
        check("x\r\n\r\ny", "\n\n", LineEndSearch::Aside, &[(1, 5)]);
        check("x\r\ny", "\ny", LineEndSearch::Aside, &[(1, 4)]);
    }

    #[test]
    fn a_pair_is_found_whole() {
        check("a\r\nb", "a\n", LineEndSearch::Aside, &[(0, 3)]);
        check("a\r\nb", "a\r", LineEndSearch::Aside, &[(0, 3)]);
        check("a\r\n\nb", "\n", LineEndSearch::Aside, &[(1, 3), (3, 4)]);
        check("a\r\rb", "\r\n", LineEndSearch::Aside, &[(1, 2), (2, 3)]);
        check("a\r\nb", "a\r", LineEndSearch::Exact, &[(0, 2)]);
    }

    #[test]
    fn a_needle_that_nearly_matches_everywhere_stays_linear() {
        let text = Text::from("a".repeat(1 << 20).as_str());
        let needle = format!("{}b", "a".repeat(1 << 19));
        assert_eq!(find_all(&text, &needle, LineEndSearch::Exact).count(), 0);
        assert_eq!(find_all(&text, "a", LineEndSearch::Exact).count(), 1 << 20);
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
            let needle = whole.get(at..at + 40).unwrap();
            let expected: Vec<_> =
                whole.match_indices(needle).map(|(at, m)| at..at + m.len()).collect();
            assert_eq!(find_all(&text, needle, LineEndSearch::Exact).collect::<Vec<_>>(), expected);
        }
    }
}
