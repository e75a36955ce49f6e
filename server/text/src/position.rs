//! Positions: the line and character pairs a client speaks in, and their way to bytes and back.
//!
//! There are three coordinates in Ropewalk. A **byte** offset (`usize`) is what every room works with. A
//! **`Position`** is a client's: a line and a count of code units in that line, in the encoding agreed at
//! `initialize`. A **line number** shown to people counts from one and is made where it is printed.
//! Which strings end a line is the client's too: LSP 3.17 says `\n`, `\r\n` and `\r`; Neovim ends lines at
//! `\n` alone and leaves a carriage return in its line (seen with 0.11.4).

use crate::Text;
use crate::text::floor_in;
use std::ops::Range;
use str_indices::lines_crlf;

/// Unit of [`Position::character`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PositionEncoding {
    /// Bytes of UTF-8.
    Utf8,
    /// UTF-16 code units, LSP's default.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

/// Which strings end a line for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum LineEnds {
    /// `\n`, `\r\n` and `\r`, as LSP says.
    #[default]
    Lsp,
    /// `\n` alone; a carriage return is a character of its line.
    Newline,
}

/// A place in a document as a client names it: zero-based line, zero-based code unit in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The line, counted from zero.
    pub line: u32,
    /// The code unit in the line, counted from zero, in the client's [`PositionEncoding`].
    pub character: u32,
}

impl Position {
    /// The position at `line` and `character`, both from zero.
    pub fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}

/// A byte offset found for a [`Position`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteOffset {
    /// The offset, always on a char boundary of the text.
    pub byte: usize,
    /// False when the position did not exist in the text (past a line's or the text's end, or inside a
    /// code point) and was moved to the nearest place before it. A client and its server then disagree
    /// about the text: the caller counts it as a desync alarm.
    pub exact: bool,
}

/// How one client's positions are read: its encoding and its line rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Coordinates {
    /// The unit of characters.
    pub encoding: PositionEncoding,
    /// Which strings end a line.
    pub line_ends: LineEnds,
}

impl Coordinates {
    /// The byte offset of `position`. O(log n + line), or O(n) in a text with lone carriage returns under
    /// LSP's line rule.
    pub fn position_to_byte(&self, text: &Text, position: Position) -> ByteOffset {
        let (line, units) = (position.line as usize, position.character as usize);
        if self.slow(text) {
            return match self.line_start(text, line) {
                Some(start) => self.walk(text, start, units),
                None => ByteOffset { byte: text.len(), exact: false },
            };
        }
        let Some((chunk, chunk_start, at)) = text.chunk_at_line(line) else {
            return ByteOffset { byte: text.len(), exact: false };
        };
        // The usual case, ASCII up to the position, costs one walk down the tree and one scan.
        match chunk.as_bytes().get(at..at + units) {
            Some(head) if is_plain(head) => {
                ByteOffset { byte: chunk_start + at + units, exact: true }
            }
            _ => self.walk(text, chunk_start + at, units),
        }
    }

    /// The offset `left` units after `at`, where a line starts. O(log n + left).
    fn walk(&self, text: &Text, mut at: usize, mut left: usize) -> ByteOffset {
        while at < text.len() {
            let (chunk, chunk_start) = text.chunk_at(at);
            let rest = chunk.get(at - chunk_start..).unwrap_or_default();
            for (offset, char) in rest.char_indices() {
                if left == 0 {
                    return ByteOffset { byte: at + offset, exact: true };
                }
                let units = self.units(char);
                if self.ends_line(char) || units > left {
                    return ByteOffset { byte: at + offset, exact: false };
                }
                left -= units;
            }
            at = chunk_start + chunk.len();
        }
        ByteOffset { byte: text.len(), exact: left == 0 }
    }

    /// The position of `byte` (moved down to a char boundary, at most the text's length). O(log n + line),
    /// or O(n) in a text with lone carriage returns under LSP's line rule.
    ///
    /// Between the two bytes of a `\r\n` there is no position under LSP's rule: the place before the pair
    /// is given.
    pub fn byte_to_position(&self, text: &Text, byte: usize) -> Position {
        let byte = byte.min(text.len());
        let (chunk, chunk_start, lines_before) = text.chunk_and_line_at(byte);
        let mut at = floor_in(chunk, byte - chunk_start);
        // Both bytes of a pair are in one chunk.
        if self.line_ends == LineEnds::Lsp
            && let Some(before) = at.checked_sub(1)
            && chunk.as_bytes().get(before..=at) == Some(b"\r\n")
        {
            at = before;
        }
        let head = chunk.get(..at).unwrap_or_default();
        let (line, start) = if self.slow(text) {
            line_of(text, chunk_start + at)
        } else {
            let line = lines_before + memchr::memchr_iter(b'\n', head.as_bytes()).count();
            match memchr::memrchr(b'\n', head.as_bytes()) {
                Some(feed) => (line, chunk_start + feed + 1),
                None => (line, text.line_feed_start(line)),
            }
        };
        let units = match start.checked_sub(chunk_start) {
            Some(from) => self.units_of(head.get(from..).unwrap_or_default()),
            None => text.chunks_in(start..chunk_start + at).map(|c| self.units_of(c)).sum(),
        };
        Position { line: clamp(line), character: clamp(units) }
    }

    /// Where these lines stand, counted by line feeds, up to the last one's own end, so that the next one is not in it. Of
    /// no lines it is the start of the line that they go before. O(log n).
    pub fn line_feed_range(&self, text: &Text, lines: Range<usize>) -> Range<Position> {
        let start = text.line_feed_start(lines.start);
        let mut end = text.line_feed_start(lines.end.max(lines.start));
        if end > start && text.byte(end - 1) == Some(b'\n') {
            end -= 1;
        }
        self.byte_to_position(text, start)..self.byte_to_position(text, end)
    }

    /// How many lines the text has: one more than it has line ends. O(1).
    pub fn line_count(&self, text: &Text) -> usize {
        text.line_feeds() + 1 + if self.slow(text) { text.lone_crs() } else { 0 }
    }

    /// The position at the end of the text.
    pub fn end(&self, text: &Text) -> Position {
        self.byte_to_position(text, text.len())
    }

    /// The offset at which `line` starts, or None when there is no such line.
    pub fn line_start(&self, text: &Text, line: usize) -> Option<usize> {
        if !self.slow(text) {
            return (line <= text.line_feeds()).then(|| text.line_feed_start(line));
        }
        // No pair is split over two chunks, so each chunk's line ends can be counted by themselves.
        let (mut left, mut base) = (line, 0);
        for chunk in text.chunks() {
            let ends = lines_crlf::count_breaks(chunk);
            if left <= ends {
                return Some(base + lines_crlf::to_byte_idx(chunk, left));
            }
            left -= ends;
            base += chunk.len();
        }
        None
    }

    /// ropey counts `\n` here, so only a text with a lone `\r` needs another way under LSP's rule.
    fn slow(&self, text: &Text) -> bool {
        self.line_ends == LineEnds::Lsp && text.lone_crs() > 0
    }

    /// True if `char` starts a line end.
    fn ends_line(&self, char: char) -> bool {
        char == '\n' || (char == '\r' && self.line_ends == LineEnds::Lsp)
    }

    /// The length of `text` in units.
    fn units_of(&self, text: &str) -> usize {
        match self.encoding {
            PositionEncoding::Utf8 => text.len(),
            PositionEncoding::Utf16 if text.is_ascii() => text.len(),
            PositionEncoding::Utf16 => text.chars().map(char::len_utf16).sum(),
            PositionEncoding::Utf32 => text.chars().count(),
        }
    }

    fn units(&self, char: char) -> usize {
        match self.encoding {
            PositionEncoding::Utf8 => char.len_utf8(),
            PositionEncoding::Utf16 => char.len_utf16(),
            PositionEncoding::Utf32 => 1,
        }
    }
}

/// The line that holds `byte` (a char boundary, not inside a pair) under LSP's rule, and that line's start.
/// O(n).
fn line_of(text: &Text, byte: usize) -> (usize, usize) {
    let (mut line, mut start, mut base) = (0, 0, 0);
    for chunk in text.chunks() {
        let head = chunk.get(..byte - base).unwrap_or(chunk);
        line += lines_crlf::count_breaks(head);
        if let Some(end) = memchr::memrchr2(b'\n', b'\r', head.as_bytes()) {
            start = base + end + 1;
        }
        base += chunk.len();
        if base >= byte {
            break;
        }
    }
    (line, start)
}

/// True if `bytes` are ASCII without a line end, so that bytes, code units and chars are the same.
fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii() && *byte != b'\n' && *byte != b'\r')
}

/// Positions are 32-bit in LSP; a text has never so many lines or units, but arithmetic must not wrap.
fn clamp(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coordinates(encoding: PositionEncoding, line_ends: LineEnds) -> Coordinates {
        Coordinates { encoding, line_ends }
    }

    #[test]
    fn positions_by_encoding() {
        let text = Text::from("a😀é\nx");
        for (encoding, character) in [
            (PositionEncoding::Utf8, 5),
            (PositionEncoding::Utf16, 3),
            (PositionEncoding::Utf32, 2),
        ] {
            let c = coordinates(encoding, LineEnds::Lsp);
            assert_eq!(c.byte_to_position(&text, 5), Position::new(0, character));
            let found = c.position_to_byte(&text, Position::new(0, character));
            assert_eq!(found, ByteOffset { byte: 5, exact: true });
        }
    }

    #[test]
    fn a_position_that_does_not_exist_is_clamped_and_said() {
        let text = Text::from("a😀\r\nb");
        let c = coordinates(PositionEncoding::Utf16, LineEnds::Lsp);
        let at = |line, character| c.position_to_byte(&text, Position::new(line, character));
        assert_eq!(at(0, 2), ByteOffset { byte: 1, exact: false }, "inside the pair");
        assert_eq!(at(0, 3), ByteOffset { byte: 5, exact: true });
        assert_eq!(at(0, 4), ByteOffset { byte: 5, exact: false }, "past the line");
        assert_eq!(at(7, 0), ByteOffset { byte: text.len(), exact: false }, "past the text");
        assert_eq!(at(1, 1), ByteOffset { byte: 8, exact: true });
        assert_eq!(at(1, u32::MAX), ByteOffset { byte: 8, exact: false });
    }

    #[test]
    fn lone_carriage_returns_end_a_line_for_lsp_only() {
        let text = Text::from("a\rb\r\nc\r");
        let lsp = coordinates(PositionEncoding::Utf8, LineEnds::Lsp);
        let nvim = coordinates(PositionEncoding::Utf8, LineEnds::Newline);
        assert_eq!(lsp.line_count(&text), 4);
        assert_eq!(nvim.line_count(&text), 2);
        assert_eq!(lsp.byte_to_position(&text, 2), Position::new(1, 0));
        assert_eq!(nvim.byte_to_position(&text, 2), Position::new(0, 2));
        assert_eq!(
            nvim.position_to_byte(&text, Position::new(0, 4)).byte,
            4,
            "the CR is in its line"
        );
        assert_eq!(
            lsp.position_to_byte(&text, Position::new(3, 0)),
            ByteOffset { byte: 7, exact: true }
        );
    }
}
