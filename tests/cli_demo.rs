//! `ropewalk demo`: what it prints fits a terminal, is the same every time, and is true.

#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests may be blunt"
)]

use std::process::{Command, Output};

fn demo() -> Output {
    Command::new(env!("CARGO_BIN_EXE_ropewalk")).arg("demo").output().unwrap()
}

#[test]
fn the_demo_shows_a_whole_turn_and_its_review_on_one_page() {
    let output = demo();
    let page = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{page}\n{errors}");
    assert_eq!(errors, "");
    for words in [
        "no key and no network",
        "you:   Give both functions a docstring.",
        "→ read_file greet.py",
        "→ edit_file greet.py",
        "+    \"\"\"Say hello.\"\"\"",
        "✓ accepted",
        "✓ rejected",
        "✓ the model was told the reason",
        "✓ undone",
        "untouched until you save",
    ] {
        assert!(page.contains(words), "{words:?} is not in\n{page}");
    }
    assert!(page.lines().count() <= 60, "{} lines:\n{page}", page.lines().count());
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
        assert!(!line.contains('\x1b'), "colours without a terminal: {line}");
    }
    assert_eq!(String::from_utf8(demo().stdout).unwrap(), page, "it is the same every time");
}
