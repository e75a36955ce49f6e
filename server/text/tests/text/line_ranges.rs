//! Lines as a client's range: it covers the lines and nothing else, in every encoding and with every line end.

use proptest::prelude::*;
use ropewalk_text::{Coordinates, LineEnds, PositionEncoding, Text};

fn text() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec!["a", "b", "😀", "é", "\n", "\r\n", "\r", "\t"]);
    prop::collection::vec(parts, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_range_of_lines_holds_these_lines(text in text(), first in 0_usize..12, count in 0_usize..6) {
        let text = Text::from(&*text);
        let first = first.min(text.line_feeds());
        let lines = first..(first + count).min(text.line_feeds() + 1);
        for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
            for line_ends in [LineEnds::Lsp, LineEnds::Newline] {
                let coordinates = Coordinates { encoding, line_ends };
                let range = coordinates.line_feed_range(&text, lines.clone());
                let [start, end] = [range.start, range.end].map(|at| coordinates.position_to_byte(&text, at));
                prop_assert!(start.exact && end.exact);
                prop_assert_eq!(start.byte, text.line_feed_start(lines.start));
                let whole = text.slice(start.byte..text.line_feed_start(lines.end).max(start.byte));
                let own = match line_ends {
                    LineEnds::Lsp => whole.strip_suffix("\r\n").or(whole.strip_suffix('\n')),
                    LineEnds::Newline => whole.strip_suffix('\n'),
                };
                prop_assert_eq!(text.slice(start.byte..end.byte), own.unwrap_or(&whole).to_owned());
            }
        }
    }
}

#[test]
fn of_no_lines_it_is_the_start_of_the_line_behind() {
    let text = Text::from("a\nb\n");
    let coordinates = Coordinates::default();
    let range = coordinates.line_feed_range(&text, 1..1);
    assert_eq!(range.start, range.end);
    assert_eq!(coordinates.position_to_byte(&text, range.start).byte, 2);
}
