//! Storage of a text: a short one in one piece, a longer one in a rope.
//!
//! A rope of one leaf takes a kilobyte however short its text is, and ropey counts the chars and lines of that leaf
//! anew for whatever it is asked. A command may change thousands of short files, and each is a few texts by the time
//! it is a hunk; so what one leaf would hold is no rope. Carriage returns are counted elsewhere.

use super::{chars_in, floor_in};
use ropey::Rope;
use std::ops::Range;
use std::sync::Arc;

/// The longest text that is kept in one piece, in bytes. About what ropey keeps in a leaf.
const SHORT: usize = 1_000;

/// See the module. The same text may be kept in either way.
#[derive(Clone)]
pub(super) enum Body {
    Short(Arc<str>),
    Long(Rope),
}

/// A range that ends on char boundaries.
pub(super) struct Cut {
    pub(super) bytes: Range<usize>,
    /// The same in chars, for a rope.
    chars: Range<usize>,
}

impl Body {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Short(text) => text.len(),
            Self::Long(rope) => rope.len_bytes(),
        }
    }

    pub(super) fn line_feeds(&self) -> usize {
        match self {
            Self::Short(text) => line_feeds_in(text.as_bytes()),
            Self::Long(rope) => rope.len_lines() - 1,
        }
    }

    /// The chunks in order; none of an empty text.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &str> + Clone {
        let (short, long) = match self {
            Self::Short(text) => (Some(&**text).filter(|text| !text.is_empty()), None),
            Self::Long(rope) => (None, Some(rope.chunks())),
        };
        short.into_iter().chain(long.into_iter().flatten())
    }

    /// The chunks of a range that begins in the text, moved down to char boundaries.
    pub(super) fn chunks_in(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        let end = range.end.min(self.len());
        let (short, long) = match self {
            Self::Short(text) => (text.get(floor_in(text, range.start)..floor_in(text, end)), None),
            Self::Long(rope) => {
                let start = rope.byte_to_char(range.start);
                let end = rope.byte_to_char(end).max(start);
                (None, Some(rope.slice(start..end).chunks()))
            }
        };
        let short = short.filter(|text| !text.is_empty());
        short.into_iter().chain(long.into_iter().flatten())
    }

    /// The chunk that holds a byte of the text, where it starts, and how many line feeds are before it. At the end
    /// of the text this is the last chunk.
    pub(super) fn chunk_and_line_at(&self, byte: usize) -> (&str, usize, usize) {
        match self {
            Self::Short(text) => (text, 0, 0),
            Self::Long(rope) => {
                let (chunk, start, _, line) = rope.chunk_at_byte(byte);
                (chunk, start, line)
            }
        }
    }

    /// The chunk in which the line with `index` line feeds before it starts, where the chunk starts, and the line's
    /// start in it. There are so many line feeds.
    pub(super) fn chunk_at_line(&self, index: usize) -> (&str, usize, usize) {
        match self {
            Self::Short(text) => (text, 0, line_start(text, index)),
            Self::Long(rope) => {
                let (chunk, start, _, line) = rope.chunk_at_line_break(index);
                (chunk, start, str_indices::lines_lf::to_byte_idx(chunk, index - line))
            }
        }
    }

    pub(super) fn byte(&self, byte: usize) -> Option<u8> {
        match self {
            Self::Short(text) => text.as_bytes().get(byte).copied(),
            Self::Long(rope) => rope.get_byte(byte),
        }
    }

    /// Where the line with `index` line feeds before it starts. There are so many line feeds.
    pub(super) fn line_feed_start(&self, index: usize) -> usize {
        match self {
            Self::Short(text) => line_start(text, index),
            Self::Long(rope) => rope.line_to_byte(index),
        }
    }

    /// How many line feeds are before a byte of the text, or its end.
    pub(super) fn line_feeds_before(&self, byte: usize) -> usize {
        match self {
            Self::Short(text) => line_feeds_in(text.as_bytes().get(..byte).unwrap_or_default()),
            Self::Long(rope) => rope.byte_to_line(byte),
        }
    }

    /// A range of the text, moved down to char boundaries.
    pub(super) fn cut(&self, Range { start, end }: Range<usize>) -> Cut {
        match self {
            Self::Short(text) => {
                Cut { bytes: floor_in(text, start)..floor_in(text, end), chars: 0..0 }
            }
            Self::Long(rope) => {
                // ropey edits by chars. One walk finds the first, and for a small edit the last too.
                let (chunk, chunk_start, chunk_char, _) = rope.chunk_at_byte(start);
                let from = floor_in(chunk, start - chunk_start);
                let first = chunk_char + chars_in(chunk, 0..from);
                let (end, last) = if end <= chunk_start + chunk.len() {
                    let to = floor_in(chunk, end - chunk_start);
                    (chunk_start + to, first + chars_in(chunk, from..to))
                } else {
                    let last = rope.byte_to_char(end);
                    (rope.char_to_byte(last), last)
                };
                Cut { bytes: chunk_start + from..end, chars: first..last }
            }
        }
    }

    /// Replaces what was cut from this very text.
    pub(super) fn replace(&mut self, cut: &Cut, text: &str) {
        match self {
            Self::Short(own) => {
                let (before, after) = (own.get(..cut.bytes.start), own.get(cut.bytes.end..));
                *self = match [before.unwrap_or_default(), text, after.unwrap_or_default()].concat()
                {
                    short if short.len() <= SHORT => Self::Short(short.into()),
                    long => Self::Long(Rope::from_str(&long)),
                };
            }
            Self::Long(rope) => {
                if !cut.chars.is_empty() {
                    rope.remove(cut.chars.clone());
                }
                if !text.is_empty() {
                    rope.insert(cut.chars.start, text);
                }
            }
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Short(Arc::default())
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        if text.len() <= SHORT {
            Self::Short(text.into())
        } else {
            Self::Long(Rope::from_str(text))
        }
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Short(a), Self::Short(b)) => Arc::ptr_eq(a, b) || a == b,
            (Self::Long(a), Self::Long(b)) => {
                a.is_instance(b) || (a.len_bytes() == b.len_bytes() && a == b)
            }
            (Self::Short(short), Self::Long(long)) | (Self::Long(long), Self::Short(short)) => {
                long.len_bytes() == short.len() && *long == **short
            }
        }
    }
}

fn line_feeds_in(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

fn line_start(text: &str, index: usize) -> usize {
    let before = index.checked_sub(1);
    let line_feed = before.and_then(|nth| memchr::memchr_iter(b'\n', text.as_bytes()).nth(nth));
    line_feed.map_or(0, |at| at + 1)
}
