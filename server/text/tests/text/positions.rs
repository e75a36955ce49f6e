//! Positions against a model that walks a `String` char by char: every boundary, every encoding, both line
//! rules. It says nothing of speed (see `tests/benches`).

use proptest::prelude::*;
use ropewalk_text::{ByteOffset, Coordinates, LineEnds, Position, PositionEncoding, Text};

const ENCODINGS: [PositionEncoding; 3] =
    [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

fn all_coordinates() -> impl Iterator<Item = Coordinates> {
    ENCODINGS.into_iter().flat_map(|encoding| {
        [LineEnds::Lsp, LineEnds::Newline].map(|line_ends| Coordinates { encoding, line_ends })
    })
}

/// Short texts rich in what goes wrong, and long ones of more than one chunk.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\r"),
        Just("\n"),
        Just("\r\n"),
        Just("a"),
        Just("é"),
        Just("日"),
        Just("😀"),
        Just("e\u{301}"),
        Just("\u{2028}"),
        Just("\u{b}"),
        Just(""),
    ];
    let long = (0usize..3, prop::collection::vec(piece.clone(), 0..12)).prop_map(|(k, mid)| {
        // A chunk holds nearly a thousand bytes: what is in the middle lands on its border.
        let filler = ["x".repeat(983), "é\r\n".repeat(300), "ab\r".repeat(330)];
        format!("{0}{1}{0}{1}{0}", filler.get(k).unwrap(), mid.concat())
    });
    prop_oneof![3 => prop::collection::vec(piece, 0..24).prop_map(|p| p.concat()), 1 => long]
}

fn units(char: char, encoding: PositionEncoding) -> u32 {
    match encoding {
        PositionEncoding::Utf8 => char.len_utf8() as u32,
        PositionEncoding::Utf16 => char.len_utf16() as u32,
        PositionEncoding::Utf32 => 1,
    }
}

/// The position of every char boundary of `text`; None between the two bytes of a pair.
fn positions(text: &str, c: Coordinates) -> Vec<(usize, Option<Position>)> {
    let lsp = c.line_ends == LineEnds::Lsp;
    let mut out = Vec::new();
    let mut at = Position::new(0, 0);
    let mut previous = None;
    let mut chars = text.char_indices().peekable();
    while let Some((byte, char)) = chars.next() {
        let in_pair = lsp && previous == Some('\r') && char == '\n';
        out.push((byte, (!in_pair).then_some(at)));
        let pair_follows = chars.peek().is_some_and(|(_, next)| char == '\r' && *next == '\n');
        let ends = char == '\n' || (lsp && char == '\r' && !pair_follows);
        if ends {
            at = Position::new(at.line + 1, 0);
        } else {
            at.character += units(char, c.encoding);
        }
        previous = Some(char);
    }
    out.push((text.len(), Some(at)));
    out
}

/// Everything about one text under one reading.
fn check(string: &str, c: Coordinates) {
    let text = Text::from(string);
    let model = positions(string, c);
    let mut last = Position::default();
    for (byte, position) in &model {
        let position = position.unwrap_or(last);
        let at = c.byte_to_position(&text, *byte);
        assert_eq!(
            (at.line, at.character.min(position.character)),
            (position.line, position.character.min(at.character)),
            "{c:?} at {byte}"
        );
        last = at;
    }
    let exact: std::collections::HashMap<Position, usize> =
        model.iter().filter_map(|(byte, position)| Some(((*position)?, *byte))).collect();
    for (position, byte) in &exact {
        assert_eq!(c.byte_to_position(&text, *byte), *position, "{c:?} at {byte}");
        let found = c.position_to_byte(&text, *position);
        assert_eq!(found, ByteOffset { byte: *byte, exact: true }, "{c:?} {position:?}");
    }
    let lines = c.byte_to_position(&text, text.len()).line;
    assert_eq!(c.line_count(&text), lines as usize + 1);
    assert_eq!(c.end(&text), c.byte_to_position(&text, text.len()));
    // Around every position there are some that do not exist: they go to the nearest one before.
    for (position, byte) in &exact {
        for more in [1, 2, 3, u32::MAX - position.character] {
            let asked = Position::new(position.line, position.character + more);
            let found = c.position_to_byte(&text, asked);
            let nearest = exact
                .iter()
                .filter(|(p, _)| p.line == asked.line && p.character <= asked.character)
                .max()
                .map(|(p, byte)| ByteOffset { byte: *byte, exact: *p == asked });
            assert_eq!(Some(found), nearest, "{c:?} {asked:?} from {byte}");
        }
    }
    for line in [lines + 1, lines + 2, u32::MAX] {
        for character in [0, 1, u32::MAX] {
            let found = c.position_to_byte(&text, Position::new(line, character));
            assert_eq!(found, ByteOffset { byte: text.len(), exact: false });
        }
    }
    for line in 0..=lines {
        assert_eq!(c.line_start(&text, line as usize), exact.get(&Position::new(line, 0)).copied());
    }
    assert_eq!(c.line_start(&text, lines as usize + 1), None);
}

proptest! {
    #[test]
    fn positions_are_those_of_the_model(string in text()) {
        // The long ones are checked by one reading alone: the model is quadratic.
        let readings = if string.len() > 200 { 1 } else { 6 };
        let skip = string.len() % (7 - readings);
        for c in all_coordinates().skip(skip).take(readings) {
            check_bounded(&string, c);
        }
    }

    #[test]
    fn bytes_that_are_no_boundary_are_moved_down(string in text(), byte in 0usize..4000) {
        let text = Text::from(string.as_str());
        let mut floor = byte.min(string.len());
        while !string.is_char_boundary(floor) {
            floor -= 1;
        }
        prop_assert_eq!(text.floor_boundary(byte), floor);
        for c in all_coordinates() {
            prop_assert_eq!(c.byte_to_position(&text, byte), c.byte_to_position(&text, floor));
        }
    }
}

/// [`check`], of a long text only what is around its chunk borders.
fn check_bounded(string: &str, c: Coordinates) {
    if string.len() <= 200 {
        return check(string, c);
    }
    let text = Text::from(string);
    for (byte, position) in positions(string, c) {
        let Some(position) = position else { continue };
        assert_eq!(c.byte_to_position(&text, byte), position, "{c:?} at {byte}");
        let found = c.position_to_byte(&text, position);
        assert_eq!(found, ByteOffset { byte, exact: true }, "{c:?} {position:?}");
    }
}

#[test]
fn a_pair_on_a_chunk_border_is_one_line_end() {
    // Edits put the two bytes there one after the other, in both orders.
    for before in 0..40 {
        let filler = "x".repeat(970 + before);
        let mut text = Text::from(format!("{filler}{filler}").as_str());
        let at = filler.len();
        text.replace(at..at, "\r");
        text.replace(at + 1..at + 1, "\n");
        let string = text.to_string();
        for c in all_coordinates() {
            check_bounded(&string, c);
            let lines = positions(&string, c).last().unwrap().1.unwrap().line as usize + 1;
            assert_eq!(c.line_count(&text), lines);
            let middle = c.byte_to_position(&text, at + 1);
            let expected = if c.line_ends == LineEnds::Lsp { at } else { at + 1 };
            assert_eq!(middle, Position::new(0, expected as u32));
        }
        text.replace(at..at + 1, "");
        assert_eq!((text.crlfs(), text.lone_crs()), (0, 0));
    }
}
