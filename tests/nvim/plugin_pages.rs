//! The store of the Neovim plugin, replaying the pages of tests/editors/pages in a real Neovim.

use std::process::{Command, Output, Stdio};

/// Neovim, replaying these pages, or all.
fn replay(pages: &[&str]) -> Output {
    Command::new(crate::support::editors().join("nvim/bin/nvim"))
        .args(["--headless", "-u", "NONE", "-l"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/editors/replay.lua"))
        .args(pages)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn every_page_leads_the_store_to_what_it_says() {
    let output = replay(&[]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    assert!(words.contains("turn.jsonl: "), "{words}");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_page_that_says_something_else_fails() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("wrong.jsonl");
    let lines = "{\"event\":{\"type\":\"mode_changed\",\"mode\":\"auto\"}}\n{\"expect\":{\"mode\":\"plan\"}}\n";
    std::fs::write(&page, lines).unwrap();
    let output = replay(&[page.to_str().unwrap()]);
    assert!(!output.status.success());
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("wrong.jsonl:2: mode"), "{words}");
}
