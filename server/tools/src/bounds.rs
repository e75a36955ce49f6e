//! Bounds on text: whatever the model or a transcript sees is cut here and nowhere else.
//!
//! A text that is too long keeps its head and its tail, because a command says what it does first
//! and what went wrong last; a line in the middle says how much is missing and where the whole is.
//! Sizes are Unicode scalar values (`char`s), the unit the model's own limits are told in.
//! Deliberately not here: writing the whole to a file, counting tokens, and paging a file, which
//! `read_file` does by lines of its own.

use ropewalk_text::plain::turns_text;
use std::fmt;
use std::path::Path;

/// How much of a text the model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most `char`s of the text that are kept, head and tail together.
    /// The line that tells of the gap comes on top, at most [`NOTE_CHARS`] of it.
    pub max_chars: usize,
}

impl Default for Bounds {
    /// 50,000 `char`s.
    fn default() -> Self {
        Self { max_chars: 50_000 }
    }
}

/// The most `char`s that the line in the gap and its line ends add to a bounded text.
pub const NOTE_CHARS: usize = 1_200;

/// The `char`s of a result shown in a transcript.
pub const PREVIEW_CHARS: usize = 200;

/// The most `char`s of a path that the line in the gap repeats; a longer one loses its middle.
const PATH_CHARS: usize = 1_000;

impl Bounds {
    /// The `char`s kept from the start: four fifths of `max_chars`.
    #[must_use]
    pub fn head_chars(self) -> usize {
        self.max_chars - self.tail_chars()
    }

    /// The `char`s kept from the end: a fifth of `max_chars`.
    #[must_use]
    pub fn tail_chars(self) -> usize {
        self.max_chars / 5
    }
}

/// A text that was held to its [`Bounds`]; its `Display` is what the model reads.
///
/// `head` is a true prefix of the original and `tail` a true suffix; they never overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounded {
    /// The start of the text; the whole text when nothing was left out.
    pub head: String,
    /// The cut between head and tail, if there is one.
    pub gap: Option<Gap>,
    /// The end of the text; empty when nothing was left out.
    pub tail: String,
}

/// The part that was left out of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The `char`s that are missing.
    pub chars: u64,
    /// Where the whole text can be read, as the model would name it.
    pub whole: Option<String>,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.whole {
            Some(path) => write!(
                f,
                "... ({} characters left out; the whole is in {path}, to be read there)",
                self.chars
            ),
            None => write!(f, "... ({} characters left out)", self.chars),
        }
    }
}

impl fmt::Display for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        if let Some(gap) = &self.gap {
            if !self.head.is_empty() && !self.head.ends_with('\n') {
                f.write_str("\n")?;
            }
            writeln!(f, "{gap}")?;
        }
        f.write_str(&self.tail)
    }
}

/// Holds `text` to `bounds`; `whole` is the file that keeps all of it, named in the gap.
///
/// Cuts at the ends of lines when that costs at most half of the head or of the tail, else between
/// two `char`s. O(length of `text`).
#[must_use]
pub fn bound(text: &str, bounds: Bounds, whole: Option<&Path>) -> Bounded {
    let total = text.chars().count();
    if total <= bounds.max_chars {
        return Bounded { head: text.to_owned(), gap: None, tail: String::new() };
    }
    let tail_at = nth_char(text, total.saturating_sub(bounds.tail_chars()));
    let (before, tail) = text.split_at_checked(tail_at).unwrap_or((text, ""));
    let head_end = nth_char(before, bounds.head_chars());
    let head = before.get(..head_end).unwrap_or(before);
    join(head, tail, 0, total, whole)
}

/// Joins the kept head and tail of a text whose middle is no longer at hand.
///
/// `left_out` is how many `char`s lie between them. Both are cut further to `bounds` and to whole
/// lines as by [`bound`].
#[must_use]
pub fn bound_parts(
    head: &str,
    left_out: u64,
    tail: &str,
    bounds: Bounds,
    whole: Option<&Path>,
) -> Bounded {
    if left_out == 0 {
        return bound(&format!("{head}{tail}"), bounds, whole);
    }
    let total = head.chars().count().saturating_add(tail.chars().count());
    let kept_head = head.get(..nth_char(head, bounds.head_chars())).unwrap_or(head);
    let tail_chars = tail.chars().count();
    let tail_at = nth_char(tail, tail_chars.saturating_sub(bounds.tail_chars()));
    let kept_tail = tail.get(tail_at..).unwrap_or(tail);
    join(kept_head, kept_tail, left_out, total, whole)
}

/// One line of at most `max_chars` `char`s for a transcript or a title.
///
/// Line ends and runs of white space become one space, control characters are dropped, what turns the
/// direction of writing becomes `�`, and a `…`, which counts, ends a text that was cut. Reads no more of
/// `text` than it needs.
#[must_use]
pub fn preview(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut chars = 0_usize;
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            space = chars > 0;
            continue;
        }
        if c.is_control() {
            continue;
        }
        let c = if turns_text(c) { char::REPLACEMENT_CHARACTER } else { c };
        for c in [space.then_some(' '), Some(c)].into_iter().flatten() {
            if chars == max_chars {
                if line.pop().is_some() {
                    line.push('…');
                }
                return line;
            }
            line.push(c);
            chars += 1;
        }
        space = false;
    }
    line
}

/// Trims both parts to line ends where that is cheap and counts what is missing.
fn join(head: &str, tail: &str, missing: u64, total: usize, whole: Option<&Path>) -> Bounded {
    // Half of what is shown is the most that whole lines may cost, counted in chars like all bounds.
    let chars = |text: &str, to: usize| text.get(..to).unwrap_or(text).chars().count();
    let head = match head.rfind('\n') {
        Some(at) if chars(head, at) >= chars(head, head.len()) / 2 => {
            head.get(..=at).unwrap_or(head)
        }
        _ => head,
    };
    let tail = match tail.find('\n') {
        Some(at) if chars(tail, at) <= chars(tail, tail.len()) / 2 => {
            tail.get(at + 1..).unwrap_or(tail)
        }
        _ => tail,
    };
    let kept = head.chars().count().saturating_add(tail.chars().count());
    let cut = u64::try_from(total.saturating_sub(kept)).unwrap_or(u64::MAX);
    Bounded {
        head: head.to_owned(),
        gap: Some(Gap { chars: missing.saturating_add(cut), whole: whole.map(path_words) }),
        tail: tail.to_owned(),
    }
}

/// A path as one short piece of a line.
fn path_words(path: &Path) -> String {
    let name = path.to_string_lossy().replace(char::is_control, "?");
    let chars = name.chars().count();
    if chars <= PATH_CHARS {
        return name;
    }
    let head: String = name.chars().take(PATH_CHARS / 2).collect();
    let tail: String = name.chars().skip(chars - PATH_CHARS / 2 + 1).collect();
    format!("{head}…{tail}")
}

/// The byte offset of the `n`th `char`, or the length of the text.
fn nth_char(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}
