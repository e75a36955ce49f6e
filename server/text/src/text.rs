//! `Text`: an immutable-by-clone rope with byte offsets.
//!
//! It wraps ropey (see `text/body.rs`) and adds what the other rooms need: byte-based editing, comparison, hashing, and a
//! count of carriage returns, so that a document's line rule can be chosen without scanning it. It knows
//! nothing of positions (see `position`) or of files (see `decode`).

mod body;

use body::Body;
use std::fmt;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3;

/// A document's text. Cloning is O(1) and shares memory; editing a clone leaves the original as it was.
#[derive(Clone, Default)]
pub struct Text {
    body: Body,
    /// Carriage returns in the text, and how many of them a line feed follows.
    crs: usize,
    crlfs: usize,
}

/// A 128-bit xxh3 hash of some bytes. It tells contents apart; it is no proof against an adversary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub u128);

impl ContentHash {
    /// The hash of `bytes`. O(n).
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(bytes))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Text {
    /// The length in bytes. O(1).
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// True if there is no text at all. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many carriage returns are not followed by a line feed. O(1).
    pub fn lone_crs(&self) -> usize {
        self.crs - self.crlfs
    }

    /// How many `\r\n` pairs there are. O(1).
    pub fn crlfs(&self) -> usize {
        self.crlfs
    }

    /// How many line feeds there are, those of `\r\n` included. O(1).
    pub fn line_feeds(&self) -> usize {
        self.body.line_feeds()
    }

    /// The largest char boundary at or below `byte`, at most `len()`. O(log n).
    pub fn floor_boundary(&self, byte: usize) -> usize {
        let (chunk, start) = self.chunk_at(byte);
        start + floor_in(chunk, byte.min(self.len()) - start)
    }

    /// The text in `range` (bytes). Ends outside the text or inside a char are moved down to the nearest
    /// boundary, so this never panics. O(log n + range).
    pub fn slice(&self, range: Range<usize>) -> String {
        let mut out = String::with_capacity(range.len().min(self.len()));
        for chunk in self.chunks_in(range) {
            out.push_str(chunk);
        }
        out
    }

    /// The whole text's chunks in order; together they are the text. No chunk ends inside a char or inside a
    /// `\r\n` (ropey keeps both whole, and positions and search build on it).
    pub fn chunks(&self) -> impl Iterator<Item = &str> + Clone {
        self.body.chunks()
    }

    /// The chunks of `range` (bytes; clamped like [`Text::slice`]). O(log n) to start.
    pub fn chunks_in(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        self.body.chunks_in(range.start.min(self.len())..range.end)
    }

    /// The chunk that holds `byte` (clamped to the text), and the byte offset at which that chunk starts. At
    /// the end of the text this is the last chunk. O(log n).
    pub(crate) fn chunk_at(&self, byte: usize) -> (&str, usize) {
        let (chunk, start, _) = self.chunk_and_line_at(byte);
        (chunk, start)
    }

    /// The chunk that holds `byte` (clamped to the text), the byte offset at which it starts and how many
    /// line feeds are before it. One walk down the tree. O(log n).
    pub(crate) fn chunk_and_line_at(&self, byte: usize) -> (&str, usize, usize) {
        self.body.chunk_and_line_at(byte.min(self.len()))
    }

    /// The chunk in which the line with `index` line feeds before it starts, the byte offset at which that
    /// chunk starts, and the line's own start in the chunk (perhaps its very end). None past the last line.
    /// One walk down the tree. O(log n).
    pub(crate) fn chunk_at_line(&self, index: usize) -> Option<(&str, usize, usize)> {
        (index <= self.line_feeds()).then(|| self.body.chunk_at_line(index))
    }

    /// The byte at `byte`, if there is one. O(log n).
    pub fn byte(&self, byte: usize) -> Option<u8> {
        self.body.byte(byte)
    }

    /// The offset at which the line with `index` line feeds before it starts; `len()` past the last.
    /// This counts `\n` alone; a client's own rule is [`Coordinates`](crate::Coordinates)'. O(log n).
    pub fn line_feed_start(&self, index: usize) -> usize {
        if index > self.line_feeds() { self.len() } else { self.body.line_feed_start(index) }
    }

    /// How many line feeds are before `byte` (clamped to the text). O(log n).
    pub fn line_feeds_before(&self, byte: usize) -> usize {
        self.body.line_feeds_before(byte.min(self.len()))
    }

    /// Replaces `range` (bytes; clamped like [`Text::slice`]) by `text`. O(log n + both lengths).
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        let len = self.len();
        let start = range.start.min(len);
        let end = range.end.clamp(start, len);
        let cut = self.body.cut(start..end);
        let Range { start, end } = cut.bytes.clone();
        let watch_crs = self.crs > 0 || memchr::memchr(b'\r', text.as_bytes()).is_some();
        let around = start.saturating_sub(1);
        let before = if watch_crs { self.count_crs(around..end + 1) } else { (0, 0) };
        self.body.replace(&cut, text);
        if watch_crs {
            let after = self.count_crs(around..start + text.len() + 1);
            self.crs = self.crs + after.0 - before.0;
            self.crlfs = self.crlfs + after.1 - before.1;
        }
    }

    /// Carriage returns, and `\r\n` pairs, of the bytes in `range`.
    fn count_crs(&self, range: Range<usize>) -> (usize, usize) {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        let (mut crs, mut crlfs, mut previous_cr) = (0, 0, false);
        let mut at = start;
        // Chunks rather than a slice: the ends may lie inside a char, and only ASCII bytes matter here.
        while at < end {
            let (chunk, chunk_start) = self.chunk_at(at);
            let bytes = chunk.as_bytes();
            let from = at - chunk_start;
            let to = (end - chunk_start).min(bytes.len());
            for byte in bytes.get(from..to).unwrap_or_default() {
                crs += usize::from(*byte == b'\r');
                crlfs += usize::from(previous_cr && *byte == b'\n');
                previous_cr = *byte == b'\r';
            }
            if to <= from {
                break;
            }
            at = chunk_start + to;
        }
        (crs, crlfs)
    }

    /// The hash of the text's UTF-8 bytes. O(n), chunk by chunk.
    pub fn hash(&self) -> ContentHash {
        let mut hasher = Xxh3::new();
        for chunk in self.chunks() {
            hasher.update(chunk.as_bytes());
        }
        ContentHash(hasher.digest128())
    }

    /// True if the two texts are equal when `\r\n` and lone `\r` count as `\n`. O(n).
    pub fn equal_but_line_ends(&self, other: &Text) -> bool {
        if self.crs == 0 && other.crs == 0 {
            return self == other;
        }
        normalised(self).eq(normalised(other))
    }

    /// True if this text begins with the other when `\r\n` and lone `\r` count as `\n`. O(length of the other).
    pub fn begins_with_but_line_ends(&self, other: &Text) -> bool {
        let mut own = normalised(self);
        normalised(other).all(|byte| own.next() == Some(byte))
    }

    /// How many leading bytes the two texts share, on a char boundary of both. O(shared).
    pub fn common_prefix(&self, other: &Text) -> usize {
        let (mut a, mut b) = (self.chunks(), other.chunks());
        let (mut x, mut y): (&[u8], &[u8]) = (&[], &[]);
        let mut shared = 0;
        loop {
            if x.is_empty() {
                x = match a.next() {
                    Some(chunk) => chunk.as_bytes(),
                    None => break,
                };
            }
            if y.is_empty() {
                y = match b.next() {
                    Some(chunk) => chunk.as_bytes(),
                    None => break,
                };
            }
            let n = x.len().min(y.len());
            let same = equal_prefix(x, y);
            shared += same;
            if same < n {
                break;
            }
            x = x.get(n..).unwrap_or_default();
            y = y.get(n..).unwrap_or_default();
        }
        self.floor_boundary(shared).min(other.floor_boundary(shared))
    }
}

/// The largest char boundary of `chunk` at or below `at`.
pub(crate) fn floor_in(chunk: &str, mut at: usize) -> usize {
    while !chunk.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// How many chars of `chunk` are in `range`, whose ends are boundaries.
fn chars_in(chunk: &str, range: Range<usize>) -> usize {
    chunk.get(range).map_or(0, str_indices::chars::count)
}

/// How many bytes at the start of both slices are equal.
pub(crate) fn equal_prefix(a: &[u8], b: &[u8]) -> usize {
    let n = a.len().min(b.len());
    // Blocks first: comparing two of them is one call of memcmp.
    let mut at = 0;
    while let (Some(x), Some(y)) = (a.get(at..at + 64), b.get(at..at + 64)) {
        if x != y {
            break;
        }
        at += 64;
    }
    while at < n && a.get(at) == b.get(at) {
        at += 1;
    }
    at
}

/// The bytes of `text` with every line end as one line feed.
fn normalised(text: &Text) -> impl Iterator<Item = u8> + '_ {
    let mut bytes = text.chunks().flat_map(|chunk| chunk.bytes()).peekable();
    std::iter::from_fn(move || {
        let byte = bytes.next()?;
        if byte != b'\r' {
            return Some(byte);
        }
        if bytes.peek() == Some(&b'\n') {
            bytes.next();
        }
        Some(b'\n')
    })
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body
    }
}

impl Eq for Text {}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        let mut out = Self { body: text.into(), crs: 0, crlfs: 0 };
        if memchr::memchr(b'\r', text.as_bytes()).is_some() {
            (out.crs, out.crlfs) = out.count_crs(0..text.len());
        }
        out
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({:?})", self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replace_keeps_count_of_carriage_returns() {
        let mut text = Text::from("a\r\nb\rc");
        assert_eq!((text.crlfs(), text.lone_crs()), (1, 1));
        text.replace(2..3, "");
        assert_eq!((text.to_string().as_str(), text.crlfs(), text.lone_crs()), ("a\rb\rc", 0, 2));
        text.replace(4..4, "\n");
        assert_eq!((text.crlfs(), text.lone_crs()), (1, 1));
        text.replace(0..9, "é\r");
        assert_eq!((text.crlfs(), text.lone_crs()), (0, 1));
        text.replace(3..3, "\n");
        assert_eq!((text.crlfs(), text.lone_crs()), (1, 0));
    }

    #[test]
    fn offsets_inside_a_char_are_moved_down() {
        let mut text = Text::from("é日x");
        assert_eq!(text.slice(1..4), "é");
        text.replace(1..2, "a");
        assert_eq!(text.to_string(), "a日x");
    }

    #[test]
    fn common_prefix_stops_at_a_boundary() {
        // é is C3 A9 and è is C3 A8: the first byte is shared, the char is not.
        assert_eq!(Text::from("aé").common_prefix(&Text::from("aè")), 1);
        assert_eq!(Text::from("abc").common_prefix(&Text::from("abcd")), 3);
    }

    #[test]
    fn equality_with_line_ends_aside() {
        let check = |a: &str, b: &str| Text::from(a).equal_but_line_ends(&Text::from(b));
        assert!(check("a\r\nb\rc\n", "a\nb\nc\n"));
        assert!(!check("a\r\n", "a\n\n"));
        assert!(!check("a\n\r", "a\n"));
    }
}
