//! `ropewalk demo`: what it prints fits a terminal, is the same every time, and is true.

#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests may be blunt"
)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn demo() -> Output {
    Command::new(env!("CARGO_BIN_EXE_ropewalk")).arg("demo").output().unwrap()
}

/// The demo in a folder where no Neovim is near: the exit code, and what it says on standard error.
fn without_neovim(folder: &Path, args: &[&str], variable: Option<&Path>) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropewalk"));
    command.arg("demo").args(args).current_dir(folder).env("PATH", folder).env_remove("NVIM_BIN");
    command.envs(variable.map(|program| ("NVIM_BIN", program)));
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "nothing was shown");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A program that says what it is asked to say to `--version`.
#[cfg(unix)]
fn program(path: &Path, says: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_demo_of_a_team_brings_all_to_one_review() {
    let output = Command::new(env!("CARGO_BIN_EXE_ropewalk")).args(["demo", "--team"]).output();
    let output = output.unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{page}\n{errors}");
    for words in [
        "→ spawn_teammate alice (writer)",
        "#1 A docstring for greet(): completed @alice",
        "#2 One like it for leave(): completed @bob",
        "#3 A file with notes: in_progress @carol",
        "#3 A file with notes: completed @alice",
        "✓ carol, a process of her own, was killed at #3",
        "by alice",
        "by bob",
        "✓ accepted",
    ] {
        assert!(page.contains(words), "{words}:\n{page}");
    }
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
        "→ plan: [>] Look around",
        "→ task explore: find callers",
        "→ load_skill docstrings",
        "the conversation is summed up",
        "check failed: leave() has no docstring",
        "check passed",
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
    assert!(!page.contains("end_turn"), "a name of the protocol:\n{page}");
    assert!(page.lines().count() <= 60, "{} lines:\n{page}", page.lines().count());
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
        assert!(!line.contains('\x1b'), "colours without a terminal: {line}");
    }
    assert_eq!(String::from_utf8(demo().stdout).unwrap(), page, "it is the same every time");
}

#[test]
fn without_a_neovim_one_sentence_says_so_and_the_exit_code_is_3() {
    let folder = tempfile::tempdir().unwrap();
    let nvim = ["--editor", "nvim"];
    let (code, words) = without_neovim(folder.path(), &nvim, None);
    assert_eq!(code, Some(3), "{words}");
    assert_eq!(
        words,
        "ropewalk: there is no nvim in PATH: install Neovim 0.11 or later, or name one with --nvim PATH\n"
    );
    let (code, words) = without_neovim(folder.path(), &nvim, Some(Path::new("")));
    assert!(code == Some(3) && words.contains("in PATH"), "an empty NVIM_BIN is none: {words}");

    let named = ["--editor", "nvim", "--nvim", "nirgends/nvim-ö"];
    let (code, words) = without_neovim(folder.path(), &named, None);
    assert!(code == Some(3) && words.contains("nirgends/nvim-ö can't be run"), "{words}");
    assert_eq!(words.lines().count(), 1, "{words}");
    let (code, words) = without_neovim(folder.path(), &nvim, Some(folder.path()));
    assert!(code == Some(3) && words.contains("can't be run"), "a folder: {words}");
}

#[test]
#[cfg(unix)]
fn a_neovim_that_is_too_old_or_none_at_all_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let nvim = ["--editor", "nvim"];
    let near = folder.path().join("target/editors/nvim/some/wheel/bin/nvim");
    program(&near, "NVIM v0.10.4");
    let (code, words) = without_neovim(folder.path(), &nvim, None);
    assert_eq!(code, Some(3), "{words}");
    assert!(words.contains("some/wheel/bin/nvim is Neovim 0.10.4, too old"), "{words}");

    let of_path = folder.path().join("nvim");
    program(&of_path, "NVIM v0.9.5");
    let (code, words) = without_neovim(folder.path(), &nvim, None);
    assert!(code == Some(3) && words.contains("Neovim 0.9.5, too old"), "PATH is first: {words}");

    for says in ["VIM - Vi IMproved 9.1", "NVIM v", "NVIM v\u{1b}[2J.1", ""] {
        let other = folder.path().join("other");
        program(&other, says);
        let (code, words) = without_neovim(folder.path(), &nvim, Some(&other));
        assert!(code == Some(3) && words.contains("does not say its version"), "{says:?}: {words}");
        assert_eq!(words.lines().count(), 1, "{words}");
        assert!(!words.contains('\u{1b}'), "{words:?}");
    }
    // One that says the right words and then does not speak the protocol fails, and does not hang.
    let liar = folder.path().join("liar");
    program(&liar, "NVIM v0.11.4");
    let output = Command::new(env!("CARGO_BIN_EXE_ropewalk"))
        .args(["demo", "--editor", "nvim", "--nvim"])
        .arg(&liar)
        .output()
        .unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.starts_with("ropewalk: Neovim"), "{words}");
}

#[test]
fn an_editor_that_it_does_not_know_is_an_error_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    let (code, words) = without_neovim(folder.path(), &["--editor", "emacs"], None);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("fake, nvim"), "{words}");
    let (code, words) = without_neovim(folder.path(), &["--nvim", "nvim"], None);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("add --editor nvim"), "{words}");
}

#[test]
#[cfg(unix)]
fn on_a_machine_that_has_too_little_it_fails_in_words() {
    // How far it comes differs from machine to machine; somewhere in between each thing fails once.
    let mut failures = 0;
    for files in 4..=20 {
        let limited = format!("ulimit -n {files}; exec \"$0\" demo");
        let mut demo = Command::new("sh");
        demo.args(["-c", &limited, env!("CARGO_BIN_EXE_ropewalk")]).stdin(Stdio::null());
        let output = demo.output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => assert_eq!(words, "", "{files} files"),
            Some(1) => {
                assert!(words.starts_with("ropewalk: "), "{files} files: {words}");
                failures += 1;
            }
            // Without files for its libraries the program is not even started.
            Some(127) => {}
            code => panic!("{files} files: {code:?} {words}"),
        }
    }
    assert!(failures > 3, "{failures}");
}
