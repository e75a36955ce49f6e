//! Positions as the fake editor counts them, over its own characters.
//!
//! Written apart from the server's own conversions, and simply, so that the two can disagree. Linear in the
//! text's length.

use super::buffer::Cell;
use ropewalk_text::{Coordinates, LineEnds, Position, PositionEncoding};

/// The position of the character at `index`; the middle of a `\r\n` is taken for the place before it.
pub(super) fn position(cells: &[Cell], coordinates: Coordinates, index: usize) -> Position {
    let mut at = Position::default();
    for (here, cell) in cells.iter().take(index).enumerate() {
        let char = cell.char;
        let pair = char == '\r' && cells.get(here + 1).is_some_and(|next| next.char == '\n');
        let ends = match coordinates.line_ends {
            LineEnds::Newline => char == '\n',
            LineEnds::Lsp => char == '\n' || (char == '\r' && !pair),
        };
        if ends {
            at = Position::new(at.line + 1, 0);
        } else if !(pair && coordinates.line_ends == LineEnds::Lsp) {
            at.character += units(char, coordinates.encoding);
        }
    }
    at
}

/// The index of the character at `position`, clamped to its line and to the text.
pub(super) fn index(cells: &[Cell], coordinates: Coordinates, position: Position) -> usize {
    let (mut line, mut character) = (0, 0);
    for (index, cell) in cells.iter().enumerate() {
        let pair = cell.char == '\r' && cells.get(index + 1).is_some_and(|next| next.char == '\n');
        let ends = match coordinates.line_ends {
            LineEnds::Newline => cell.char == '\n',
            LineEnds::Lsp => matches!(cell.char, '\n' | '\r'),
        };
        if line == position.line && (character >= position.character || ends) {
            return index;
        }
        if ends && !(pair && coordinates.line_ends == LineEnds::Lsp) {
            (line, character) = (line + 1, 0);
        } else {
            character += units(cell.char, coordinates.encoding);
        }
    }
    cells.len()
}

fn units(char: char, encoding: PositionEncoding) -> u32 {
    let units = match encoding {
        PositionEncoding::Utf8 => char.len_utf8(),
        PositionEncoding::Utf16 => char.len_utf16(),
        PositionEncoding::Utf32 => 1,
    };
    u32::try_from(units).unwrap_or(1)
}
