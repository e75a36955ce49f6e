//! Files that no tool writes, and denials that hold under another name.

use crate::support::Bench;
use ropewalk_protocol::Mode;
use ropewalk_tools::{Access, Decision, Rules, decide, named_paths};
use serde_json::json;

const WORDS: &str = "is version control's own data, which no tool changes in any mode";

#[test]
fn no_tool_writes_what_is_gits() {
    let mut bench = Bench::new(&[
        (".git/config", b"one\n"),
        ("sub/.git", b"gitdir: ../elsewhere\n"),
        ("bare/HEAD", b"ref: x\n"),
        ("bare/objects/x", b"x\n"),
        ("bare/refs/x", b"x\n"),
        ("bare/config", b"one\n"),
        ("a.txt", b"one\n"),
        (".gitignore", b"one\n"),
    ]);
    std::os::unix::fs::symlink(".git", bench.path("link")).unwrap();
    std::os::unix::fs::symlink(".git/config", bench.path("conf")).unwrap();
    for path in [
        ".git/config",
        "./sub/../.git/config",
        "link/config",
        "conf",
        "bare/config",
        "sub/.git",
        ".git/hooks/post-commit",
        ".GIT/config",
        "sub/.Git/config",
        "new/.git/config",
        "git~1/config",
        ".git",
        "bare/hooks/x",
        ".hg/hgrc",
        "sub/.svn/wc.db",
        ".jj/repo/config.toml",
    ] {
        for (tool, input) in [
            ("write_file", json!({"path": path, "content": "two\n"})),
            ("edit_file", json!({"path": path, "old_text": "one", "new_text": "two"})),
            ("delete_file", json!({"path": path})),
            ("move_file", json!({"path": path, "to": "out.txt"})),
            ("move_file", json!({"path": "a.txt", "to": path})),
        ] {
            // The link itself is no part of the repository.
            if path == "conf" && ["delete_file", "move_file"].contains(&tool) {
                continue;
            }
            let said = bench.say(tool, input);
            assert!(said.starts_with("Error: ") && said.contains(WORDS), "{tool} {path}: {said}");
        }
    }
    assert_eq!(bench.fork.hunks(), []);
    for path in [".gitignore", ".gitattributes", ".gitmodules", ".github/workflows/ci.yml"] {
        let said = bench.say("write_file", json!({"path": path, "content": "two\n"}));
        assert!(said.starts_with("Wrote 4 bytes"), "{said}");
    }
    assert!(bench.say("read_file", json!({"path": ".git/config"})).ends_with("\tone"));
}

/// Decision of policy on a call under these deny rules.
fn decided(bench: &mut Bench, deny: &[&str], tool: &str, path: &str) -> Decision {
    let view = bench.context().view;
    let input = match tool {
        "grep" => json!({"pattern": "x", "path": path}),
        _ => json!({"path": path}),
    };
    let (_, call) = bench.registry.parse(tool, input).unwrap();
    let deny = deny.iter().map(|rule| rule.parse().unwrap()).collect();
    let rules = Rules { deny, ..Rules::default() };
    let paths = named_paths(&call.subject, &view);
    decide(&call, &paths, &Access::default(), Mode::Auto, &rules, &[]).decision
}

#[test]
fn what_may_not_be_read_may_not_be_read_after_a_move() {
    let mut bench = Bench::new(&[
        ("private/plan.txt", b"launch\n"),
        (".env", b"KEY=launch\n"),
        ("open.txt", b"launch\n"),
    ]);
    let deny = ["read_file(private/*)"];
    for (from, to) in [
        ("private/plan.txt", "a.txt"),
        ("a.txt", "deep/b.txt"),
        (".env", "e.txt"),
        ("open.txt", "o.txt"),
    ] {
        let said = bench.say("move_file", json!({"path": from, "to": to}));
        assert!(said.starts_with("Moved "), "{said}");
    }
    for tool in ["read_file", "grep"] {
        assert!(
            matches!(decided(&mut bench, &deny, tool, "deep/b.txt"), Decision::Deny(_)),
            "{tool}"
        );
        let Decision::Ask(why) = decided(&mut bench, &deny, tool, "e.txt") else {
            panic!("{tool}")
        };
        assert_eq!(why, "e.txt, which was .env before, may hold secrets");
        assert_eq!(decided(&mut bench, &deny, tool, "o.txt"), Decision::Allow);
        assert_eq!(decided(&mut bench, &[], tool, "deep/b.txt"), Decision::Allow);
    }
    let rules = Rules { deny: vec![deny[0].parse().unwrap()], ..Rules::default() };
    bench.hides = std::sync::Arc::new(move |file, start| rules.hides(file, start));
    let said = bench.say("grep", json!({"pattern": "launch"}));
    assert!(said.starts_with("o.txt:1: launch\n"), "{said}");
    assert!(
        said.contains("may hold secrets: e.txt.") && said.contains("unasked: deep/b.txt)"),
        "{said}"
    );
}
