//! Real typing, replayed keystroke by keystroke as positions in each encoding, must end in the text that the
//! person ended with.

#[path = "../../../testkit/src/traces.rs"]
#[expect(dead_code, unreachable_pub, reason = "this test needs a part of the reader")]
mod traces;

use ropewalk_text::{ChangeSet, Coordinates, LineEnds, PositionEncoding, Text};
use traces::Trace;

/// Replays a trace; `composed` also as one change set.
fn check(gzipped: &[u8]) {
    let trace = Trace::read(gzipped).unwrap();
    assert!(trace.len() > 1000, "a real trace");
    for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
        let c = Coordinates { encoding, line_ends: LineEnds::default() };
        let mut text = Text::from(trace.start_content.as_str());
        let mut sets = Vec::new();
        for edit in trace.replay(encoding).flatten() {
            let [start, end] = [edit.range.start, edit.range.end].map(|position| {
                let found = c.position_to_byte(&text, position);
                assert!(found.exact, "{position:?} in {encoding:?}");
                assert_eq!(c.byte_to_position(&text, found.byte), position);
                found.byte
            });
            sets.push(ChangeSet::single(text.len(), start..end, edit.text.as_str()));
            text.replace(start..end, &edit.text);
        }
        assert_eq!(text.to_string(), trace.end_content, "{encoding:?}");
        let all = ChangeSet::compose_all(&sets).unwrap().unwrap();
        let start = Text::from(trace.start_content.as_str());
        assert_eq!(all.apply(&start).unwrap(), text, "composed");
        assert_eq!(all.invert(&start).apply(&text).unwrap(), start, "and taken back");
    }
}

#[test]
fn a_specification_with_other_scripts() {
    check(include_bytes!("../../../../tests/data/json-crdt-patch.json.gz"));
}

#[test]
fn a_component_with_many_cursors() {
    check(include_bytes!("../../../../tests/data/sveltecomponent.json.gz"));
}
