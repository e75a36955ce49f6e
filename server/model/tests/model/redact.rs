//! Keys redacted from texts and streams: wherever they are cut, and nothing else.

use proptest::prelude::*;
use ropewalk_model::{Block, Keys, ToolInput};
use serde_json::json;
use std::borrow::Cow;

const KEY: &str = "sk-test-a/b+c==0123456789";
const OTHER: &str = "abababababab";

/// All of the key but its last letter.
fn almost() -> &'static str {
    KEY.split_at(KEY.len() - 1).0
}

fn keys() -> Keys {
    Keys::new([KEY, OTHER])
}

/// Output of a redactor, piece by piece.
fn streamed(keys: &Keys, pieces: &[&str]) -> String {
    let mut redactor = keys.redactor();
    let mut out: String =
        pieces.iter().map(|piece| redactor.redact_text((*piece).to_owned(), false).0).collect();
    out.push_str(&redactor.redact_text(String::new(), true).0);
    out
}

#[test]
fn a_text_without_a_key_is_borrowed() {
    for text in ["", "sk-test-", "héllo 🦀", KEY.split_at(1).1, almost()] {
        assert!(matches!(keys().redact(text), Cow::Borrowed(same) if same == text), "{text}");
    }
    assert_eq!(keys().redact(&format!("é{KEY}{KEY}🦀{OTHER}.")), "é[key][key]🦀[key].");
}

#[test]
fn a_key_is_found_as_json_spells_it() {
    let keys = Keys::new(["quote\"back\\slash"]);
    let json = json!({ "k": "quote\"back\\slash" }).to_string();
    assert_eq!(keys.redact(&json), r#"{"k":"[key]"}"#);
    let slashed = KEY.replace('/', "\\/");
    assert_eq!(self::keys().redact(&slashed), "[key]");
}

#[test]
fn a_key_that_was_read_redacted_would_be_lost() {
    for (old, new, lost) in [
        ("k = KEY", "k = [key]", true),
        ("KEY KEY", "KEY [key]", true),
        ("map[key] KEY é", "map[key] [key] 🦀", true),
        ("k = KEY", "k = 1", false),
        ("k = KEY", "k = KEY; map[key]", false),
        ("map[key] KEY", "map[key]", false),
        ("one", "map[key]", false),
        ("", "[key]", false),
        ("KEY", "", false),
    ] {
        let real = |text: &str| text.replace("KEY", KEY);
        assert_eq!(keys().would_be_lost(&real(old), &real(new)), lost, "{old:?} {new:?}");
    }
    assert!(!Keys::default().would_be_lost(KEY, "[key]"));
}

#[test]
fn what_is_no_secret_is_left_alone() {
    let keys = Keys::new(["ollama", "", "  ", "not-needed"]);
    assert!(keys.is_empty());
    assert_eq!(keys.redact("ollama is not-needed"), "ollama is not-needed");
    assert_eq!(streamed(&keys, &["oll", "ama"]), "ollama");
    // White space around a key is not the key's.
    assert_eq!(Keys::new([format!(" {KEY}\n")]).redact(KEY), "[key]");
}

#[test]
fn a_key_cut_anywhere_does_not_get_through() {
    let text = format!("before {KEY} after");
    for at in 0..=text.len() {
        let (head, tail) = text.split_at(at);
        assert_eq!(streamed(&keys(), &[head, tail]), "before [key] after", "{at}");
    }
    let letters: Vec<String> = text.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    assert_eq!(streamed(&keys(), &letters), "before [key] after");
}

#[test]
fn a_stream_that_ends_in_half_a_key_shows_none_of_it() {
    assert_eq!(streamed(&keys(), &["a sk-test"]), "a sk-test");
    assert_eq!(streamed(&keys(), &["a ", almost()]), "a [key]");
}

#[test]
fn keys_can_not_be_printed() {
    let mut redactor = keys().redactor();
    redactor.redact_text(almost().to_owned(), false);
    let printed = format!("{:?} {redactor:?}", keys());
    assert!(!printed.contains("sk-") && !printed.contains("abab"), "{printed}");
}

#[test]
fn all_words_of_a_block_are_redacted() {
    let input = json!({ "a": [KEY, 1, { KEY: null }], "b": format!("x{KEY}") });
    let thinking = |thinking: &str, signature: &str| Block::Thinking {
        thinking: thinking.to_owned(),
        signature: signature.to_owned(),
    };
    let call = |name: &str, input| Block::ToolUse { id: "1".into(), name: name.into(), input };
    let cases = [
        (Block::text(KEY), Block::text("[key]")),
        (Block::result("1", KEY, true), Block::result("1", "[key]", true)),
        (thinking(KEY, "sealed"), thinking("[key]", "")),
        (thinking("clean", "sealed"), thinking("clean", "sealed")),
        (
            call(KEY, ToolInput::Json(input)),
            call(
                "[key]",
                ToolInput::Json(json!({ "a": ["[key]", 1, { "[key]": null }], "b": "x[key]" })),
            ),
        ),
        (
            call("a", ToolInput::Broken(format!("{{{KEY}"))),
            call("a", ToolInput::Broken("{[key]".into())),
        ),
    ];
    for (mut block, redacted) in cases {
        block.redact(&keys());
        assert_eq!(block, redacted);
    }
}

proptest! {
    /// However a text is cut, the stream says what the whole text would, but for half a key at its end.
    #[test]
    fn a_stream_says_what_the_text_says(
        words in prop::collection::vec(prop_oneof![Just(KEY), Just(OTHER), Just("ab"), Just("sk-"), Just("é ")], 0..12),
        cuts in prop::collection::vec(0usize..400, 0..8),
    ) {
        let text = words.concat() + ".";
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| text.get(pair[0]..pair[1]).unwrap()).collect();
        let out = streamed(&keys(), &pieces);
        prop_assert!(!out.contains(KEY) && !out.contains(OTHER));
        prop_assert_eq!(out, keys().redact(&text));
    }
}
