//! Comments open with a noun or a verb: one that opens with a question word makes its reader wait for the subject.
//!
//! Only the first word of a comment is looked at. If the rest is true and clear, only a reader can tell.

use std::path::{Path, PathBuf};

/// Words that no comment opens with.
const FORBIDDEN: &[&str] = &["What", "Whether", "Those", "That", "Who"];

/// A comment that opens with a forbidden word, by its line from one.
struct Opening {
    line: usize,
    words: String,
}

/// The marker of a line that is a comment, and the text behind it.
fn comment(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    ["///", "//!", "//"].into_iter().find_map(|marker| Some((marker, line.strip_prefix(marker)?)))
}

/// Finds the comments, and paragraphs of comments, that open with a forbidden word.
fn openings(code: &str) -> Vec<Opening> {
    let mut above = None;
    let mut found = Vec::new();
    for (at, line) in code.lines().enumerate() {
        let here = comment(line).filter(|(_, text)| !text.trim().is_empty());
        if let Some((marker, text)) = here
            && above != Some(marker)
            && text.split_whitespace().next().is_some_and(|word| FORBIDDEN.contains(&word))
        {
            found.push(Opening { line: at + 1, words: text.trim().to_owned() });
        }
        above = here.map(|(marker, _)| marker);
    }
    found
}

/// All Rust files below a folder.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn comments_open_with_a_noun_or_a_verb() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    files(&top.join("server"), &mut all);
    files(&top.join("tests"), &mut all);
    assert!(all.len() > 500, "{}", all.len());
    let mut found = String::new();
    for file in &all {
        let shown = file.strip_prefix(top).unwrap().display();
        for Opening { line, words } in openings(&std::fs::read_to_string(file).unwrap()) {
            found.push_str(&format!("{shown}:{line}: {words}\n"));
        }
    }
    assert_eq!(found, "", "comments that open with a forbidden word");
}

#[test]
fn an_opening_is_found_and_a_later_line_is_not() {
    let code = "//! What this is.\n//!\n//! Whatever.\n//!\n//! Those that stay.\n\
        /// True if all\n/// What follows is no opening.\nfn f() {\n    // Who calls\n    g(); // That\n}\n";
    let lines: Vec<usize> = openings(code).iter().map(|opening| opening.line).collect();
    assert_eq!(lines, [1, 5, 9]);
}
