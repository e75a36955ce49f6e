//! Diffs: they lead from one text to the other, never split what a client can't, and print as patches that
//! `git apply` and `patch` take.
#![expect(clippy::panic, reason = "tests may be blunt")]

#[path = "../../../../tests/support/skip.rs"]
mod skip;

use proptest::prelude::*;
use ropewalk_text::{Coordinates, Text, diff, unified};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn lines() -> impl Strategy<Value = Vec<&'static str>> {
    let line = prop::sample::select(vec![
        "a\n",
        "b\n",
        "}\n",
        "\n",
        "\r\n",
        "a\r\n",
        "été\n",
        "ète\n",
        "日本\r\n",
        "x\ry\n",
        "  a\n",
        "😀",
        "\r",
    ]);
    prop::collection::vec(line, 0..14)
}

/// Two texts that share most of their lines, and the number of lines of context.
fn pair() -> impl Strategy<Value = (String, String)> {
    let cut = prop::collection::vec((0usize..14, 0usize..4, lines()), 0..3);
    (lines(), cut).prop_map(|(before, cuts)| {
        let mut after = before.clone();
        for (at, len, new) in cuts {
            let at = at.min(after.len());
            let end = (at + len).min(after.len());
            after.splice(at..end, new.into_iter().take(3));
        }
        (before.concat(), after.concat())
    })
}

fn splits_a_pair(text: &str, at: usize) -> bool {
    at > 0 && text.as_bytes().get(at - 1) == Some(&b'\r') && text.as_bytes().get(at) == Some(&b'\n')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_diff_leads_to_the_other_text((before, after) in pair()) {
        let (a, b) = (Text::from(before.as_str()), Text::from(after.as_str()));
        let set = diff(&a, &b);
        prop_assert_eq!(&set.apply(&a).unwrap(), &b);
        prop_assert_eq!(set.is_empty(), before == after);
        prop_assert_eq!(unified(&a, &b, &set, 3).is_empty(), before == after);
        let mut client = before.clone();
        for change in set.changes().iter().rev() {
            prop_assert!(!change.text.is_empty() || !change.range.is_empty());
            for at in [change.range.start, change.range.end] {
                prop_assert!(!splits_a_pair(&before, at), "{change:?} splits a line end");
            }
            // So a client that gets the change as positions makes the same edit.
            let c = Coordinates::default();
            let at = |byte| c.position_to_byte(&a, c.byte_to_position(&a, byte)).byte;
            client.replace_range(at(change.range.start)..at(change.range.end), &change.text);
        }
        prop_assert_eq!(client, after);
    }
}

/// Runs a program that may not be installed; None then.
fn run(program: &str, args: &[&str], dir: &Path, input: &str) -> Option<(bool, String)> {
    let patch = dir.join("all.diff");
    fs::write(&patch, input).unwrap();
    let output = Command::new(program)
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap())
        .stdin(Stdio::from(fs::File::open(&patch).unwrap()))
        .output();
    match output {
        Ok(o) => {
            let words = [o.stdout, o.stderr].concat();
            Some((o.status.success(), String::from_utf8_lossy(&words).into_owned()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            skip::skip(&format!("{program} is not installed"));
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

fn check_applies(pairs: &[(String, String)], context: usize, program: &str, args: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let mut patch = String::new();
    for (index, (before, after)) in pairs.iter().enumerate() {
        let (a, b) = (Text::from(before.as_str()), Text::from(after.as_str()));
        fs::write(dir.path().join(format!("f{index}")), before).unwrap();
        if before != after {
            patch.push_str(&format!(
                "diff --git a/f{index} b/f{index}\n--- a/f{index}\n+++ b/f{index}\n"
            ));
            patch.push_str(&unified(&a, &b, &diff(&a, &b), context));
        }
    }
    if patch.is_empty() {
        return;
    }
    let Some((success, words)) = run(program, args, dir.path(), &patch) else { return };
    assert!(success, "{program}: {words}\n{patch}");
    for (index, (_, after)) in pairs.iter().enumerate() {
        // Some versions of patch take an emptied file away.
        let found = fs::read_to_string(dir.path().join(format!("f{index}"))).unwrap_or_default();
        assert_eq!(&found, after, "f{index} by {program}: {words}\n{patch}");
    }
}

proptest! {
    // Each case starts processes, for all its pairs at once.
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn patches_are_taken_by_git_and_patch(pairs in prop::collection::vec(pair(), 1..80), context in 0usize..4) {
        let git = ["apply", "--whitespace=nowarn", "--unidiff-zero", "all.diff"];
        check_applies(&pairs, context, "git", &git);
        // GNU patch finds the place of a hunk without context by its line number alone, as git does.
        check_applies(&pairs, context, "patch", &["-p1", "--binary", "--no-backup-if-mismatch", "--silent"]);
    }
}

#[test]
fn a_rewrite_of_a_long_text_is_quick_and_right() {
    let line = |n: usize| format!("    let value_{n} = compute({});\r\n", n % 17);
    let before: String = (0..20_000).map(line).collect();
    let after: String = (0..20_000).map(|n| line(n + n % 3).replace("    ", "\t")).collect();
    let (a, b) = (Text::from(before.as_str()), Text::from(after.as_str()));
    assert_eq!(diff(&a, &b).apply(&a).unwrap(), b);
    let unix = before.replace("\r\n", "\n");
    let set = diff(&a, &Text::from(unix.as_str()));
    assert_eq!(set.changes().len(), 20_000, "one change a line");
    assert_eq!(set.apply(&a).unwrap().to_string(), unix);
}

#[test]
fn texts_of_nothing_but_repeated_lines_are_bounded() {
    // Compared line by line this takes a minute.
    let (before, after) = ("a\n".repeat(200_000), "a\nb\n".repeat(200_000));
    let (a, b) = (Text::from(before.as_str()), Text::from(after.as_str()));
    let set = diff(&a, &b);
    assert_eq!(set.apply(&a).unwrap(), b);
    assert_eq!(set.changes().len(), 1);
}
