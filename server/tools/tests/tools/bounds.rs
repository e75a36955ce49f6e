//! Bounded texts: the laws as properties over any Unicode, and the exact words of the gap.

use std::path::Path;

use proptest::prelude::*;
use ropewalk_tools::bounds::{Bounds, NOTE_CHARS, PREVIEW_CHARS, bound, bound_parts, preview};

proptest! {
    #[test]
    fn a_bounded_text_is_a_prefix_a_gap_and_a_suffix(text in "(?s).{0,400}", max_chars in 0_usize..300) {
        let bounds = Bounds { max_chars };
        let bounded = bound(&text, bounds, Some(Path::new("/state/out 1.txt")));
        prop_assert!(text.starts_with(&bounded.head));
        prop_assert!(text.ends_with(&bounded.tail));
        let kept = bounded.head.chars().count() + bounded.tail.chars().count();
        prop_assert!(kept <= max_chars);
        prop_assert!(bounded.to_string().chars().count() <= max_chars + NOTE_CHARS);
        let total = text.chars().count();
        match bounded.gap {
            None => prop_assert_eq!(bounded.head, text),
            Some(gap) => {
                prop_assert!(total > max_chars);
                prop_assert_eq!(gap.chars as usize, total - kept);
            }
        }
    }

    #[test]
    fn lines_are_kept_whole_where_lines_are_short(lines in prop::collection::vec("[a-zé☃]{0,8}", 60..200)) {
        let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
        let bounded = bound(&text, Bounds { max_chars: 100 }, None);
        if bounded.gap.is_some() {
            prop_assert!(bounded.head.is_empty() || bounded.head.ends_with('\n'));
            let before = text.strip_suffix(&bounded.tail);
            prop_assert!(before.is_some_and(|b| b.ends_with('\n')));
        }
    }

    #[test]
    fn parts_give_what_the_whole_gives(text in "(?s).{200,400}") {
        let bounds = Bounds { max_chars: 50 };
        let head: String = text.chars().take(60).collect();
        let total = text.chars().count();
        let tail: String = text.chars().skip(total - 60).collect();
        let whole = Path::new("w");
        let parts = bound_parts(&head, (total - 120) as u64, &tail, bounds, Some(whole));
        prop_assert_eq!(parts, bound(&text, bounds, Some(whole)));
    }

    #[test]
    fn a_preview_is_one_short_line(text in "(?s).{0,400}", max in 0_usize..250) {
        let line = preview(&text, max);
        prop_assert!(line.chars().count() <= max);
        prop_assert!(!line.chars().any(char::is_control));
    }
}

#[test]
fn the_gap_says_how_much_and_where() {
    let text = format!("first\n{}\nlast\n", "x".repeat(100));
    let bounded = bound(&text, Bounds { max_chars: 40 }, Some(Path::new("/s/out.txt")));
    assert_eq!(
        bounded.to_string(),
        format!(
            "first\n{}\n... (75 characters left out; the whole is in /s/out.txt, to be read there)\nlast\n",
            "x".repeat(26)
        )
    );
    assert_eq!(
        bound("abcdef", Bounds { max_chars: 5 }, None).to_string(),
        "abcd\n... (1 characters left out)\nf"
    );
}

#[test]
fn hostile_paths_stay_on_one_short_line() {
    let path = format!("/{}\n{}", "é".repeat(3000), "z".repeat(3000));
    let bounded = bound("abcdef", Bounds { max_chars: 0 }, Some(Path::new(&path)));
    let text = bounded.to_string();
    assert!(text.chars().count() <= NOTE_CHARS, "{}", text.chars().count());
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn previews() {
    assert_eq!(preview("  a\r\n\tb  \u{7}c\n", PREVIEW_CHARS), "a b c");
    assert_eq!(preview("rm \u{202e}sl\u{2069}", PREVIEW_CHARS), "rm �sl�");
    assert_eq!(preview("abcdef", 3), "ab…");
    assert_eq!(preview("abc", 3), "abc");
    assert_eq!(preview("abc", 0), "");
    assert_eq!(preview(&"é".repeat(1_000_000), 200).chars().count(), 200);
}
