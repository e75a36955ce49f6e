//! The event stream parser: the standard's own cases, any chunking, hostile input.

use proptest::prelude::*;
use ropewalk_model::sse::{SseEvent, SseParser, SseTooLong};

type Events = Vec<(String, String)>;

fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Events, SseTooLong> {
    parse_within(1 << 20, chunks)
}

fn parse_within<'a>(
    limit: usize,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Events, SseTooLong> {
    let (mut parser, mut events) = (SseParser::with_limit(limit), Vec::new());
    for chunk in chunks {
        parser.feed(chunk, |SseEvent { name, data }| {
            events.push((name.into_owned(), data.into_owned()));
        })?;
    }
    Ok(events)
}

#[track_caller]
fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Events = expected.iter().map(|&(n, d)| (n.into(), d.into())).collect();
    assert_eq!(parse([text.as_bytes()]).unwrap(), expected, "whole");
    assert_eq!(parse(text.as_bytes().chunks(1)).unwrap(), expected, "byte by byte");
}

#[test]
fn line_ends_of_every_kind() {
    check("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]);
    check("data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]);
    // A lone CR ends a line at once; no later byte is needed for the last event.
    check("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]);
    check("data: a\n\r\n\rdata: b\r\n\n", &[("", "a"), ("", "b")]);
}

#[test]
fn fields() {
    check("event: x\ndata: 1\ndata:2\ndata:  3\n\n", &[("x", "1\n2\n 3")]);
    check("event: x\n\ndata: 1\n\n", &[("", "1")]);
    check("data\n\ndata\ndata\n\ndata:\n", &[("", ""), ("", "\n")]);
    check("id: 7\nretry: 100\nwhat: ever\n data: no\ndata: a:b\n\n", &[("", "a:b")]);
}

#[test]
fn comments_in_mid_stream() {
    check(": ping\n\ndata: a\n: ping - 2026\ndata: b\n\n:\n\n", &[("", "a\nb")]);
}

#[test]
fn a_byte_order_mark_counts_once_and_only_at_the_start() {
    check("\u{feff}data: a\n\n", &[("", "a")]);
    check("\u{feff}\u{feff}data: a\n\n", &[]);
    check("data: a\n\n\u{feff}data: b\n\n", &[("", "a")]);
    assert_eq!(parse([&b"\xEF\xBBdata: a\n\n"[..]]).unwrap(), [], "half a mark spoils the field");
}

#[test]
fn an_unfinished_event_is_dropped() {
    check("data: a\n\ndata: half", &[("", "a")]);
    check("data: a\n\ndata: half\n", &[("", "a")]);
}

#[test]
fn bytes_that_are_no_utf8() {
    assert_eq!(
        parse([&b"data: \xff\xe2\x82x\n\n"[..]]).unwrap(),
        [(String::new(), "\u{fffd}\u{fffd}x".to_owned())]
    );
}

#[test]
fn limits_hold_for_lines_and_events_and_stay_broken() {
    let mut parser = SseParser::with_limit(10);
    for _ in 0..2 {
        assert_eq!(parser.feed(b"data: 123456789", |_| ()), Err(SseTooLong { limit: 10 }));
    }
    assert!(parse_within(10, [&b": 123456789\n"[..]]).is_err(), "a comment is a line");
    assert!(parse_within(10, [&b"data:1234\ndata:1234\ndata:1\n"[..]]).is_err(), "an event's sum");
    assert!(parse_within(10, [&b"data:12345\n\n"[..]]).is_ok());
}

/// Bytes that look like a stream more often than chance would have it.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"data".to_vec()),
        Just(b"event:".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        Just(b": c".to_vec()),
        "\\PC{0,6}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same(bytes in streams(), cuts in prop::collection::vec(1_usize..9, 1..9)) {
        let whole = parse([&bytes[..]]);
        let mut chunks = Vec::new();
        let mut rest = &bytes[..];
        for size in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (head, tail) = rest.split_at((*size).min(rest.len()));
            chunks.push(head);
            chunks.push(&[]);
            rest = tail;
        }
        prop_assert_eq!(&parse(chunks), &whole);
        prop_assert_eq!(&parse(bytes.chunks(1)), &whole);
        // Small limits fail alike, too, whatever the chunking.
        prop_assert_eq!(parse_within(8, bytes.chunks(1)).is_err(), parse_within(8, [&bytes[..]]).is_err());
    }

    #[test]
    fn what_is_written_is_read(events in prop::collection::vec(("[a-z]{0,5}", "\\PC{0,30}"), 0..10), end in prop_oneof![Just("\n"), Just("\r"), Just("\r\n")]) {
        let text: String = events.iter().map(|(n, d)| format!("event: {n}{end}data: {d}{end}{end}")).collect();
        prop_assert_eq!(parse(text.as_bytes().chunks(3)).unwrap(), events);
    }
}

#[test]
fn a_long_event_in_small_chunks_costs_linear_time() {
    // Quadratic work over 8 MB in 16-byte chunks would take minutes; no clock is needed to notice.
    let text = format!("data: {}\n\n", "x".repeat(8 << 20));
    let events = parse_within(16 << 20, text.as_bytes().chunks(16)).unwrap();
    assert_eq!(events[0].1.len(), 8 << 20);
}
