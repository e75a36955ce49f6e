//! `grep`, `glob` and `list_dir`.

use crate::support::Bench;
use serde_json::{Value, json};

/// A folder with ignored, secret, binary and linked files, open text and a fork.
fn bench() -> Bench {
    let mut bench = Bench::new(&[
        (".gitignore", b"target/\n*.log\n"),
        (".git/config", b"needle\n"),
        (".github/ci.yml", b"needle: ci\n"),
        (".env", b"KEY=needle\n"),
        (".env.example", b"KEY=needle?\n"),
        ("src/main.rs", b"fn main() {\r\n    needle();\r\n}\r\n"),
        ("src/lib.rs", b"// nothing\n"),
        ("src/deep/a.rs", b"one\rneedle one\rtwo"),
        ("src/utf16.txt", b"\xFF\xFEn\0e\0e\0d\0l\0e\0\n\0"),
        ("src/latin.txt", b"needle caf\xE9\n"),
        ("src/binary", b"needle\0"),
        ("src/gone.rs", b"needle gone\n"),
        ("src/open.rs", b"needle on disk\n"),
        ("target/x.rs", b"needle built\n"),
        ("x.log", b"needle logged\n"),
        ("keys/id_rsa", b"needle\n"),
    ]);
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(bench.beside(to), bench.path(name)).unwrap();
    };
    std::fs::write(bench.beside("outside/secret.txt"), "needle outside\n").unwrap();
    link("outside", "out");
    link("outside/secret.txt", "out.txt");
    std::fs::write(bench.beside("other/o.rs"), "needle in the other root\n").unwrap();
    bench.open("src/open.rs", "open needle\n");
    bench.open("src/new_buffer.rs", "needle never saved\n");
    bench.say("delete_file", json!({"path": "src/gone.rs"}));
    bench.say("write_file", json!({"path": "src/mine/made.rs", "content": "needle made\n"}));
    bench.say(
        "edit_file",
        json!({"path": "src/lib.rs", "old_text": "nothing", "new_text": "needle"}),
    );
    bench
}

fn check(bench: &mut Bench, tool: &str, input: Value, expected: &str) {
    assert_eq!(bench.say(tool, input.clone()), expected.trim(), "{tool} {input}");
}

#[test]
fn grep_searches_the_view() {
    let bench = &mut bench();
    check(
        bench,
        "grep",
        json!({"pattern": "needle"}),
        "
.env.example:1: KEY=needle?
.github/ci.yml:1: needle: ci
other/o.rs:1: needle in the other root
src/deep/a.rs:2: needle one
src/latin.txt:1: needle café
src/lib.rs:1: // needle
src/main.rs:2:     needle();
src/mine/made.rs:1: needle made
src/new_buffer.rs:1: needle never saved
src/open.rs:1: open needle
src/utf16.txt:1: needle
(not searched, because they may hold secrets: .env, keys/id_rsa. Name one as path to search it)",
    );
}

#[test]
fn grep_searches_what_is_named() {
    let bench = &mut bench();
    check(bench, "grep", json!({"pattern": "needle", "path": ".env"}), ".env:1: KEY=needle");
    check(
        bench,
        "grep",
        json!({"pattern": "needle", "path": "target"}),
        "target/x.rs:1: needle built",
    );
    check(bench, "grep", json!({"pattern": "needle", "path": "x.log"}), "x.log:1: needle logged");
    check(
        bench,
        "grep",
        json!({"pattern": "needle", "path": "src/open.rs"}),
        "src/open.rs:1: open needle",
    );
    check(
        bench,
        "grep",
        json!({"pattern": "needle made", "path": "src/mine"}),
        "src/mine/made.rs:1: needle made",
    );
    check(
        bench,
        "grep",
        json!({"pattern": "needle", "path": "other"}),
        "other/o.rs:1: needle in the other root",
    );
    check(
        bench,
        "grep",
        json!({"pattern": "needle", "path": "src", "include": "*.txt"}),
        "src/latin.txt:1: needle café\nsrc/utf16.txt:1: needle",
    );
}

#[test]
fn grep_reads_patterns_as_they_are_meant() {
    let bench = &mut bench();
    check(
        bench,
        "grep",
        json!({"pattern": "NEEDLE m", "ignore_case": true}),
        "src/mine/made.rs:1: needle made
(not searched, because they may hold secrets: .env, keys/id_rsa. Name one as path to search it)",
    );
    check(bench, "grep", json!({"pattern": "^}$", "path": "src"}), "src/main.rs:3: }");
    check(
        bench,
        "grep",
        json!({"pattern": "needle()", "path": "src/main.rs", "literal": true, "context": 1}),
        "src/main.rs-1- fn main() {\nsrc/main.rs:2:     needle();\nsrc/main.rs-3- }",
    );
    check(
        bench,
        "grep",
        json!({"pattern": r"\{\n\s+needle", "path": "src/main.rs"}),
        "src/main.rs:1: fn main() {\nsrc/main.rs:2:     needle();",
    );
    check(bench, "grep", json!({"pattern": "needle gone", "path": "src"}), "(no matches)");
    check(
        bench,
        "grep",
        json!({"pattern": "needle(", "path": "src/main.rs"}),
        "src/main.rs:2:     needle();\n(the pattern is no regular expression, so it was searched as it is: unclosed group)",
    );
}

#[test]
fn grep_says_what_can_t_be_searched() {
    let bench = &mut bench();
    for (input, expected) in [
        (json!({"pattern": ""}), "Error: the pattern is empty"),
        (json!({"pattern": "x", "path": "none"}), "Error: There is no file none"),
        (json!({"pattern": "x", "path": "out"}), "Error: Path escapes workspace: out"),
        (
            json!({"pattern": "x", "path": "../outside"}),
            "Error: Path escapes workspace: ../outside",
        ),
        (json!({"pattern": "x", "include": "a{"}), "Error: the pattern \"a{\" is not understood"),
        (json!({"pattern": "x", "path": "src/gone.rs"}), "Error: There is no file src/gone.rs"),
    ] {
        let said = bench.say("grep", input);
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn an_ignored_file_is_found_if_git_tracks_it() {
    let mut bench = Bench::new(&[
        (".gitignore", b"*.gen\nbuild/\n"),
        (".ignore", b"lock.json\n"),
        ("a.gen", b"needle tracked\n"),
        ("b.gen", b"needle not\n"),
        ("build/deep/c.rs", b"needle tracked too\n"),
        ("build/deep/d.rs", b"needle not\n"),
        ("lock.json", b"needle for no search\n"),
    ]);
    let root = bench.path("");
    for args in [&["init", "-q"][..], &["add", "-f", "a.gen", "build/deep/c.rs", "lock.json"]] {
        let done = std::process::Command::new("git").current_dir(&root).args(args).status();
        assert!(done.unwrap().success());
    }
    let found = "a.gen:1: needle tracked\nbuild/deep/c.rs:1: needle tracked too";
    check(&mut bench, "grep", json!({"pattern": "needle"}), found);
    check(&mut bench, "glob", json!({"pattern": "**/*.{gen,rs}"}), "a.gen\nbuild/deep/c.rs");
    let listed =
        ".gitignore\n.ignore\na.gen\nbuild/\n(ignored: b.gen, lock.json)\n(other roots: other/)";
    check(&mut bench, "list_dir", json!({}), listed);
}

#[test]
fn grep_is_bounded() {
    let mut bench = Bench::new(&[("f", "x\n".repeat(500).as_bytes())]);
    bench.put("long", format!("{}needle{}\n", "é".repeat(5000), "z".repeat(5000)).as_bytes());
    bench.put("many", "x\n".repeat(20_000).as_bytes());
    let said = bench.say("grep", json!({"pattern": "x", "path": "f"}));
    assert_eq!(said.lines().count(), 201);
    assert!(
        said.ends_with("... (300 more matches; narrow the pattern, path or include)"),
        "{said}"
    );
    let said = bench.say("grep", json!({"pattern": "x", "path": "many"}));
    assert!(said.contains("... (at least 9800 more matches"), "{said}");
    let said = bench.say("grep", json!({"pattern": "needle"}));
    assert!(
        said.starts_with("long:1: …éé") && said.contains("éneedlez") && said.len() < 1000,
        "{said}"
    );
    for bomb in ["(a{500}){500}{500}", "x{1,1000}{1,1000}", r"(?:\w{1,1000}\s){1,1000}"] {
        let said = bench.say("grep", json!({ "pattern": bomb }));
        assert!(said.starts_with("Error: the pattern is too large"), "{bomb}: {said}");
        let said = bench.say("grep", json!({ "pattern": bomb, "literal": true }));
        assert_eq!(said, "(no matches)", "{bomb}");
    }
}

#[test]
fn a_pipe_is_never_opened() {
    let mut bench = Bench::new(&[("a", b"needle\n")]);
    let made = std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap();
    assert!(made.success());
    check(&mut bench, "grep", json!({"pattern": "needle"}), "a:1: needle");
    check(&mut bench, "glob", json!({"pattern": "*"}), "a");
    check(&mut bench, "list_dir", json!({}), "a\npipe (no ordinary file)\n(other roots: other/)");
    for (tool, input) in [
        ("read_file", json!({"path": "pipe"})),
        ("write_file", json!({"path": "pipe", "content": "x"})),
        ("edit_file", json!({"path": "pipe", "old_text": "x", "new_text": "y"})),
        ("delete_file", json!({"path": "pipe"})),
        ("move_file", json!({"path": "pipe", "to": "b"})),
        ("grep", json!({"pattern": "x", "path": "pipe"})),
    ] {
        let said = bench.say(tool, input);
        assert_eq!(said, "Error: pipe is a named pipe, not a file", "{tool}");
    }
    check(
        &mut bench,
        "move_file",
        json!({"path": "a", "to": "pipe"}),
        "Error: pipe exists already. Choose another name, or delete it first",
    );
}

#[test]
fn glob_finds_names_in_the_view() {
    let bench = &mut bench();
    let made = "src/mine/made.rs\nsrc/new_buffer.rs\nsrc/open.rs";
    let rs = format!("other/o.rs\nsrc/deep/a.rs\nsrc/lib.rs\nsrc/main.rs\n{made}");
    check(bench, "glob", json!({"pattern": "*.rs"}), &rs);
    check(bench, "glob", json!({"pattern": "**/*.rs"}), &rs);
    check(
        bench,
        "glob",
        json!({"pattern": "src/*.rs"}),
        "src/lib.rs\nsrc/main.rs\nsrc/new_buffer.rs\nsrc/open.rs",
    );
    check(bench, "glob", json!({"pattern": "./src/{lib,main}.rs"}), "src/lib.rs\nsrc/main.rs");
    check(bench, "glob", json!({"pattern": "*.rs", "path": "src/deep"}), "src/deep/a.rs");
    check(bench, "glob", json!({"pattern": "a.rs", "path": "src/deep/a.rs"}), "src/deep/a.rs");
    check(bench, "glob", json!({"pattern": "x.rs", "path": "target"}), "target/x.rs");
    check(bench, "glob", json!({"pattern": "*.log"}), "(no matches)");
    check(bench, "glob", json!({"pattern": "config"}), "(no matches)");
    let whole = bench.path("src/*.txt");
    let whole = std::fs::canonicalize(bench.path(""))
        .unwrap()
        .join(whole.strip_prefix(bench.path("")).unwrap());
    check(
        bench,
        "glob",
        json!({"pattern": whole.to_str().unwrap()}),
        "src/latin.txt\nsrc/utf16.txt",
    );
    check(
        bench,
        "glob",
        json!({"pattern": "/etc/*"}),
        "Error: Path escapes workspace: /etc/* (give a pattern without .., relative to the folder)",
    );
    check(
        bench,
        "glob",
        json!({"pattern": "../*"}),
        "Error: Path escapes workspace: ../* (give a pattern without .., relative to the folder)",
    );
    assert!(
        bench
            .say("glob", json!({"pattern": "[a"}))
            .starts_with("Error: the pattern \"[a\" is not understood")
    );
    assert!(
        bench
            .say("glob", json!({"pattern": ""}))
            .starts_with("Error: the pattern \"\" is not understood: it is empty")
    );
}

#[test]
fn list_dir_shows_the_view() {
    let bench = &mut bench();
    let out = bench.beside("outside").display().to_string();
    check(
        bench,
        "list_dir",
        json!({}),
        &format!(
            ".env
.env.example
.github/
.gitignore
keys/
out -> {out}
out.txt -> {out}/secret.txt
src/
(ignored: target/, x.log)
(other roots: other/)"
        ),
    );
    check(
        bench,
        "list_dir",
        json!({"path": "src"}),
        "binary
deep/
latin.txt
lib.rs (with pending changes)
main.rs
mine/
new_buffer.rs (unsaved in the editor)
open.rs (unsaved in the editor)
utf16.txt",
    );
    check(bench, "list_dir", json!({"path": "src/mine"}), "made.rs (with pending changes)");
    check(bench, "list_dir", json!({"path": "other"}), "o.rs");
    std::fs::create_dir(bench.path("empty")).unwrap();
    check(bench, "list_dir", json!({"path": "empty"}), "(empty folder)");
}

#[test]
fn list_dir_says_what_can_t_be_listed() {
    let bench = &mut bench();
    check(
        bench,
        "list_dir",
        json!({"path": "src/main.rs"}),
        "Error: src/main.rs is a file, not a folder. Read it instead",
    );
    check(
        bench,
        "list_dir",
        json!({"path": "src/mine/made.rs"}),
        "Error: src/mine/made.rs is a file, not a folder. Read it instead",
    );
    assert!(
        bench
            .say("list_dir", json!({"path": "out"}))
            .starts_with("Error: Path escapes workspace: out")
    );
    assert!(
        bench.say("list_dir", json!({"path": "none"})).starts_with("Error: There is no file none")
    );
}

#[test]
fn a_link_to_a_secret_must_be_named_by_what_it_leads_to() {
    let mut bench = Bench::new(&[(".env", b"KEY=1\n"), (".ssh/config", b"x\n")]);
    std::os::unix::fs::symlink(".env", bench.path("notes.txt")).unwrap();
    std::os::unix::fs::symlink(".ssh", bench.path("docs")).unwrap();
    for (tool, input, leads_to) in [
        ("read_file", json!({"path": "notes.txt"}), ".env"),
        ("read_file", json!({"path": "docs/config"}), ".ssh/config"),
        ("edit_file", json!({"path": "notes.txt", "old_text": "K", "new_text": "y"}), ".env"),
        ("write_file", json!({"path": "notes.txt", "content": "y"}), ".env"),
        ("delete_file", json!({"path": "docs/config"}), ".ssh/config"),
        ("move_file", json!({"path": "docs/config", "to": "a"}), ".ssh/config"),
        ("grep", json!({"pattern": "K", "path": "notes.txt"}), ".env"),
        ("grep", json!({"pattern": "x", "path": "docs"}), ".ssh"),
        ("glob", json!({"pattern": "*", "path": "docs"}), ".ssh"),
        ("list_dir", json!({"path": "docs"}), ".ssh"),
    ] {
        let said = bench.say(tool, input);
        let words = format!(" leads to {leads_to}, which may hold secrets. Name that file itself");
        assert!(said.contains(&words), "{tool}: {said}");
    }
    assert_eq!(bench.say("grep", json!({"pattern": "K", "path": ".env"})), ".env:1: KEY=1");
}
