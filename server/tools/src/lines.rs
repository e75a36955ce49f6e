//! Lines as the tools number them, from one; `\n`, `\r\n` and a lone `\r` end a line.
//!
//! One rule for all of them, whatever the client's: the number that `grep` says is the one that `read_file`
//! shows. What is meant for the client is computed elsewhere, in its own coordinates.

use ropewalk_text::{Coordinates, LineEnds, PositionEncoding, Text};
use std::ops::ControlFlow;

const COORDINATES: Coordinates =
    Coordinates { encoding: PositionEncoding::Utf8, line_ends: LineEnds::Lsp };

/// The number of the line that holds `byte`. O(log n + line); O(n) with lone carriage returns.
pub(crate) fn line_number(text: &Text, byte: usize) -> usize {
    COORDINATES.byte_to_position(text, byte).line as usize + 1
}

/// Where the line of this number begins; None past the last.
pub(crate) fn line_start(text: &Text, number: usize) -> Option<usize> {
    COORDINATES.line_start(text, number.checked_sub(1)?)
}

/// How many lines there are to show: a line end at the very end begins no further one.
pub(crate) fn line_count(text: &Text) -> usize {
    let ended =
        matches!(text.len().checked_sub(1).and_then(|last| text.byte(last)), Some(b'\n' | b'\r'));
    match (text.is_empty(), ended) {
        (true, _) => 0,
        (false, true) => COORDINATES.line_count(text) - 1,
        (false, false) => COORDINATES.line_count(text),
    }
}

/// Calls `visit` with each line from the one that starts at `from`, without its end, until it breaks.
/// Holds one line at a time. O(what is visited).
pub(crate) fn for_each_line<B>(
    text: &Text,
    from: usize,
    mut visit: impl FnMut(&str) -> ControlFlow<B>,
) -> Option<B> {
    let mut line = String::new();
    // The last chunk ended in a carriage return; a line feed may follow and belong to it.
    let mut open_cr = false;
    for chunk in text.chunks_in(from..text.len()) {
        let mut rest = chunk;
        if open_cr {
            open_cr = false;
            rest = rest.strip_prefix('\n').unwrap_or(rest);
            if let ControlFlow::Break(found) = visit(&line) {
                return Some(found);
            }
            line.clear();
        }
        while let Some((before, after)) =
            memchr::memchr2(b'\n', b'\r', rest.as_bytes()).and_then(|at| rest.split_at_checked(at))
        {
            line.push_str(before);
            if after == "\r" {
                open_cr = true;
                rest = "";
                break;
            }
            rest = after.strip_prefix("\r\n").or(after.get(1..)).unwrap_or_default();
            if let ControlFlow::Break(found) = visit(&line) {
                return Some(found);
            }
            line.clear();
        }
        line.push_str(rest);
    }
    if open_cr || !line.is_empty() {
        return visit(&line).break_value();
    }
    None
}
