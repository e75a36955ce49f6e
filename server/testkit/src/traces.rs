//! Recorded typing, read and replayed as the edits a client would send.
//!
//! A trace says code points; a client says lines and code units. The replay keeps a document of its own, as
//! lines of chars, to turn one into the other: it shares no code with the rope it is used to test. It sends
//! nothing: whoever replays a trace makes `didChange` notifications, or plain edits, of it.

use flate2::read::GzDecoder;
use ropewalk_text::{Position, PositionEncoding};
use serde::Deserialize;
use std::io::Read;
use std::ops::Range;

/// One person's typing in one document, from its first text to its last.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// The text before the first edit.
    pub start_content: String,
    /// The text after the last.
    pub end_content: String,
    txns: Vec<Transaction>,
}

#[derive(Clone, Debug, Deserialize)]
struct Transaction {
    patches: Vec<TracePatch>,
}

/// Where (in code points), how many of them are deleted, and what is inserted.
#[derive(Clone, Debug, Deserialize)]
struct TracePatch(usize, usize, String);

/// The bytes are no trace.
#[derive(Debug, thiserror::Error)]
#[error("not a gzipped JSON trace of typing: {0}")]
pub struct BadTrace(#[from] serde_json::Error);

/// One edit as a client names it: positions in the text as it is just before the edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEdit {
    /// Range that is replaced.
    pub range: Range<Position>,
    /// By what.
    pub text: String,
}

impl Trace {
    /// Reads a gzipped trace in the format of the collection `editing-traces`. O(n).
    pub fn read(gzipped: &[u8]) -> Result<Self, BadTrace> {
        let mut json = Vec::new();
        GzDecoder::new(gzipped).read_to_end(&mut json).map_err(serde_json::Error::io)?;
        Ok(serde_json::from_slice(&json)?)
    }

    /// How many transactions there are: keystrokes, mostly.
    pub fn len(&self) -> usize {
        self.txns.len()
    }

    /// True if nobody typed anything.
    pub fn is_empty(&self) -> bool {
        self.txns.is_empty()
    }

    /// The edits of each transaction in order, as one `didChange` has them: each applies to the text that
    /// those before it made. Lines end at `\n`; the traces have no other line ends.
    pub fn replay(&self, encoding: PositionEncoding) -> impl Iterator<Item = Vec<TraceEdit>> + '_ {
        let mut lines = TraceLines::new(&self.start_content, encoding);
        self.txns.iter().map(move |txn| {
            let edit = |TracePatch(at, deleted, text): &TracePatch| TraceEdit {
                range: lines.replace(*at, *deleted, text),
                text: text.clone(),
            };
            txn.patches.iter().map(edit).collect()
        })
    }
}

/// A document as lines of chars, each but the last with its line feed.
struct TraceLines {
    lines: Vec<Vec<char>>,
    encoding: PositionEncoding,
}

impl TraceLines {
    fn new(text: &str, encoding: PositionEncoding) -> Self {
        Self { lines: split(text.chars()), encoding }
    }

    /// The line and the char in it of a place in the document.
    fn place(&self, mut at: usize) -> (usize, usize) {
        for (index, line) in self.lines.iter().enumerate() {
            if at < line.len() {
                return (index, at);
            }
            at -= line.len();
        }
        // The end of the document is the end of its last line, which is never ended by a line feed.
        let last = self.lines.len().saturating_sub(1);
        (last, self.lines.last().map_or(0, Vec::len))
    }

    fn position(&self, (line, column): (usize, usize)) -> Position {
        let head = self.lines.get(line).and_then(|chars| chars.get(..column)).unwrap_or_default();
        let units: usize = match self.encoding {
            PositionEncoding::Utf8 => head.iter().map(|char| char.len_utf8()).sum(),
            PositionEncoding::Utf16 => head.iter().map(|char| char.len_utf16()).sum(),
            PositionEncoding::Utf32 => head.len(),
        };
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Position::new(number(line), number(units))
    }

    /// Makes the edit and says where it was, in positions of before.
    fn replace(&mut self, at: usize, deleted: usize, text: &str) -> Range<Position> {
        let (start, end) = (self.place(at), self.place(at + deleted));
        let range = self.position(start)..self.position(end);
        let part = |line: usize, range: Range<usize>| {
            self.lines.get(line).and_then(|chars| chars.get(range)).unwrap_or_default().to_vec()
        };
        let head = part(start.0, 0..start.1);
        let tail = part(end.0, end.1..self.lines.get(end.0).map_or(0, Vec::len));
        let new = split(head.into_iter().chain(text.chars()).chain(tail));
        // A joined line that ends in a line feed is followed by what was there; no empty line is made.
        let followed = end.0 + 1 < self.lines.len();
        let count = new.len() - usize::from(followed);
        self.lines.splice(start.0..=end.0, new.into_iter().take(count));
        range
    }
}

/// Lines with their line feeds; the last has none and may be empty.
fn split(chars: impl Iterator<Item = char>) -> Vec<Vec<char>> {
    let mut lines = vec![Vec::new()];
    for char in chars {
        if let Some(line) = lines.last_mut() {
            line.push(char);
        }
        if char == '\n' {
            lines.push(Vec::new());
        }
    }
    lines
}
