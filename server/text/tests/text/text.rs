//! `Text` against a `String`: edits, slices, counts, equality, search, decoding.

use proptest::prelude::*;
use ropewalk_text::decode::{decode, encode};
use ropewalk_text::{ContentHash, LineEndSearch, Text, find_all};
use std::ops::Range;

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec(
            prop::sample::select(vec!["\r", "\n", "\r\n", "a", "b", "é", "日", "😀"]), 0..8)
            .prop_map(|p| p.concat()),
        1 => (prop::sample::select(vec!["ab", "\r\n", "é\r", "日\n"]), 1usize..900)
            .prop_map(|(s, n)| s.repeat(n)),
    ]
}

fn floor(string: &str, byte: usize) -> usize {
    (0..=byte.min(string.len())).rev().find(|at| string.is_char_boundary(*at)).unwrap()
}

/// Both ends moved down into the string.
fn clamped(string: &str, range: &Range<usize>) -> Range<usize> {
    let start = floor(string, range.start);
    start..floor(string, range.end).max(start)
}

/// Law that positions and search build on, and ropey documents of its chunks.
fn no_chunk_splits_a_pair(text: &Text) {
    let chunks: Vec<&str> = text.chunks().collect();
    assert!(chunks.windows(2).all(|two| match two {
        [a, b] => !(a.ends_with('\r') && b.starts_with('\n')),
        _ => true,
    }));
}

fn same(text: &Text, string: &str) {
    no_chunk_splits_a_pair(text);
    assert_eq!(text.to_string(), string);
    assert_eq!(text.len(), string.len());
    let pairs = string.matches("\r\n").count();
    assert_eq!(text.crlfs(), pairs);
    assert_eq!(text.lone_crs(), string.matches('\r').count() - pairs);
    assert_eq!(text.line_feeds(), string.matches('\n').count());
    assert_eq!(text.hash(), ContentHash::of(string.as_bytes()));
    assert_eq!(text, &Text::from(string));
}

/// The matches of a search in which all line ends are alike, found by trying every place.
fn model_aside(string: &str, needle: &str) -> Vec<Range<usize>> {
    let normal = |s: &str| s.replace("\r\n", "\n").replace('\r', "\n");
    let needle = normal(needle);
    // Each char of the normal text with its range in the string.
    let mut chars = Vec::new();
    let mut rest = string.char_indices().peekable();
    while let Some((at, char)) = rest.next() {
        let pair = char == '\r' && rest.next_if(|(_, next)| *next == '\n').is_some();
        let char = if char == '\r' { '\n' } else { char };
        chars.push((char, at..at + char.len_utf8() + usize::from(pair)));
    }
    let wanted: Vec<char> = needle.chars().collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(window) = chars.get(at..at + wanted.len()) {
        if !wanted.is_empty() && window.iter().map(|(char, _)| *char).eq(wanted.iter().copied()) {
            out.push(window.first().unwrap().1.start..window.last().unwrap().1.end);
            at += wanted.len();
        } else {
            at += 1;
        }
    }
    out
}

proptest! {
    #[test]
    fn edits_are_those_of_a_string(
        start in piece(),
        edits in prop::collection::vec((0usize..3000, 0usize..40, piece()), 0..12),
    ) {
        let (mut text, mut string) = (Text::from(start.as_str()), start);
        for (at, len, new) in edits {
            let before = text.clone();
            let was = string.clone();
            let range = at % (string.len() + 2)..at % (string.len() + 2) + len;
            text.replace(range.clone(), &new);
            string.replace_range(clamped(&string, &range), &new);
            same(&text, &string);
            same(&before, &was);
        }
    }

    #[test]
    fn slices_are_those_of_a_string(parts in prop::collection::vec(piece(), 0..4), a in 0usize..4000, b in 0usize..4000) {
        let string = parts.concat();
        let text = Text::from(string.as_str());
        let range = clamped(&string, &(a..b));
        prop_assert_eq!(text.slice(a..b), string.get(range).unwrap());
        prop_assert_eq!(text.byte(a), string.as_bytes().get(a).copied());
        prop_assert_eq!(text.line_feeds_before(a), string.bytes().take(a).filter(|b| *b == b'\n').count());
        let nth = string.bytes().enumerate().filter(|(_, b)| *b == b'\n').nth(b % 50).map(|(at, _)| at + 1);
        prop_assert_eq!(text.line_feed_start(b % 50 + 1), nth.unwrap_or(string.len()));
    }

    #[test]
    fn line_ends_aside_is_equality_of_normal_texts(a in piece(), b in piece()) {
        let normal = |s: &str| s.replace("\r\n", "\n").replace('\r', "\n");
        let (x, y) = (Text::from(a.as_str()), Text::from(b.as_str()));
        prop_assert_eq!(x.equal_but_line_ends(&y), normal(&a) == normal(&b));
        prop_assert!(x.equal_but_line_ends(&Text::from(normal(&a).as_str())));
    }

    #[test]
    fn search_is_that_of_a_string(parts in prop::collection::vec(piece(), 0..5), needle in piece(), cut in (0usize..5000, 0usize..1500)) {
        let string = parts.concat();
        let text = Text::from(string.as_str());
        // A needle made up, and one taken from the text.
        let taken = string.get(clamped(&string, &(cut.0..cut.0 + cut.1))).unwrap().to_owned();
        for needle in [needle, taken] {
            let exact: Vec<_> = if needle.is_empty() { vec![] } else {
                string.match_indices(&needle).map(|(at, m)| at..at + m.len()).collect()
            };
            let found: Vec<_> = find_all(&text, &needle, LineEndSearch::Exact).collect();
            prop_assert_eq!(found, exact);
            let found: Vec<_> = find_all(&text, &needle, LineEndSearch::Aside).collect();
            prop_assert_eq!(found, model_aside(&string, &needle));
        }
    }

    #[test]
    fn files_come_back_byte_for_byte(
        mark in prop::sample::select(vec![&b""[..], b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"]),
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..64),
            prop::collection::vec(1u8.., 0..64),
            piece().prop_map(String::into_bytes),
            piece().prop_map(|s| s.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ],
    ) {
        let file = [mark, bytes.as_slice()].concat();
        if let Some((text, format)) = decode(&file) {
            prop_assert!(!text.to_string().contains('\0'));
            prop_assert_eq!(encode(&text, format).unwrap(), file);
        } else {
            prop_assert!(file.contains(&0) || mark.len() == 2 || std::str::from_utf8(&file).is_err());
        }
    }
}

#[test]
fn a_pair_made_on_a_chunk_border_is_in_one_chunk() {
    for filler in ["ab", "é", "x\n", "\r\n", "\r", "\n"] {
        let text = Text::from(filler.repeat(4000).as_str());
        let borders = text.chunks().scan(0, |at, chunk| {
            *at += chunk.len();
            Some(*at)
        });
        for border in borders {
            let mut line_feed_first = text.clone();
            line_feed_first.replace(border..border, "\n");
            no_chunk_splits_a_pair(&line_feed_first);
            line_feed_first.replace(border..border, "\r");
            no_chunk_splits_a_pair(&line_feed_first);
            let mut text = text.clone();
            text.replace(border..border, "\r");
            no_chunk_splits_a_pair(&text);
            text.replace(border + 1..border + 1, "\n");
            no_chunk_splits_a_pair(&text);
            // And by taking away what stood between.
            text.replace(border + 1..border + 1, &"y".repeat(700));
            text.replace(border + 1..border + 701, "");
            no_chunk_splits_a_pair(&text);
        }
    }
}

#[test]
fn a_search_through_many_windows_finds_all() {
    let line = "let value = compute(input, 12);\r\n";
    let string = format!("{}needle\r\n{}", line.repeat(3000), line.repeat(2000));
    let text = Text::from(string.as_str());
    for needle in ["value", "needle\r\nlet", ";\r\nlet value", &line.repeat(2500)] {
        let exact: Vec<_> = string.match_indices(needle).map(|(at, m)| at..at + m.len()).collect();
        assert!(!exact.is_empty() || needle.len() > 9000, "{needle:.20}");
        assert_eq!(find_all(&text, needle, LineEndSearch::Exact).collect::<Vec<_>>(), exact);
        let unix = needle.replace("\r\n", "\n");
        assert_eq!(find_all(&text, &unix, LineEndSearch::Aside).collect::<Vec<_>>(), exact);
    }
}
