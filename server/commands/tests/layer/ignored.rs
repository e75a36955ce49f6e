//! A name that is ignored: a rule of git's matches it, and git doesn't track it.

use crate::support::{Bench, gone, put, said};
use std::process::Command;

/// A folder with these rules, in which git tracks these files.
fn bench(rules: &str, tracked: &[&str]) -> Bench {
    let bench = Bench::new(&[(".gitignore", rules), ("plain.txt", "plain\n")]);
    for name in tracked {
        put(&bench.disk(name), b"old\n");
    }
    git(&bench, &["init", "-q"]);
    git(&bench, &[&["add", "-f"], tracked].concat());
    std::thread::sleep(std::time::Duration::from_millis(20));
    bench
}

fn git(bench: &Bench, args: &[&str]) {
    let own = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"];
    let done = Command::new("git").current_dir(bench.disk("")).args(own).args(args).status();
    assert!(done.unwrap().success(), "{args:?}");
}

#[test]
fn a_tracked_file_is_not_ignored_whatever_matches_it() {
    let mut bench = bench("*.gen\nbuild/\n", &["a.gen", "b.gen", "build/deep/kept.txt"]);
    let collected = bench.command(|bench| {
        for name in ["a.gen", "c.gen", "build/deep/kept.txt", "build/deep/made.txt", "build/out"] {
            put(&bench.up(name), name.as_bytes());
        }
        gone(&bench.up("b.gen"));
    });
    let kept = "build/deep/kept.txt";
    let wanted = ["delete b.gen", "write a.gen \"a.gen\"", &format!("write {kept} {kept:?}")];
    assert_eq!(said(&collected), wanted);
    // A folder that goes takes its tracked files along.
    let collected = bench.command(|bench| gone(&bench.up("build")));
    assert_eq!(said(&collected), ["delete build/deep/kept.txt"]);
}

#[test]
fn a_file_for_searches_decides_nothing_of_what_a_command_wrote() {
    for on_a_copy in [false, true] {
        let mut bench = bench("", &["lock.json"]);
        put(&bench.disk(".ignore"), b"*.json\n");
        if on_a_copy {
            bench = bench.on_a_copy(1 << 20);
        }
        let collected = bench.command(|bench| {
            put(&bench.up("lock.json"), b"new\n");
            put(&bench.up("made.json"), b"new\n");
        });
        assert_eq!(said(&collected), ["write lock.json \"new\\n\"", "write made.json \"new\\n\""]);
    }
}

#[test]
fn a_tracked_file_is_copied_though_it_is_ignored() {
    let mut bench = bench("*.gen\n", &["a.gen"]).on_a_copy(1 << 20);
    let collected = bench.command(|bench| {
        assert_eq!(std::fs::read(bench.up("a.gen")).unwrap(), b"old\n");
        std::fs::remove_file(bench.up("a.gen")).unwrap();
    });
    assert_eq!(said(&collected), ["delete a.gen"]);
}

#[test]
fn classes_of_characters_are_those_of_git() {
    let rules =
        "a[[:digit:]]\nb[![:digit:]]\nc[[:space:]_]\nd[[:punct:]]\ne[[:upper:][:digit:]]x\n";
    let mut bench = bench(rules, &["plain.txt"]);
    let names = ["a1", "ax", "b1", "bx", "c_", "c ", "cx", "d!", "d]", "dx", "e1x", "eQx", "eqx"];
    for name in names {
        put(&bench.disk(name), b"");
    }
    let out =
        Command::new("git").current_dir(bench.disk("")).arg("check-ignore").args(names).output();
    let out = String::from_utf8(out.unwrap().stdout).unwrap();
    for name in names {
        std::fs::remove_file(bench.disk(name)).unwrap();
    }
    let is_kept = |name: &&str| !out.lines().any(|line| line.trim_matches('"') == *name);
    let wanted: Vec<String> = names
        .iter()
        .filter(|name| is_kept(name))
        .map(|name| format!("write {name} \"new\\n\""))
        .collect();
    let collected = bench.command(|bench| {
        for name in names {
            put(&bench.up(name), b"new\n");
        }
    });
    assert_eq!(said(&collected), wanted);
    assert_eq!(wanted.len(), 5, "{wanted:?}");
}

#[test]
fn a_linked_work_tree_has_the_excludes_of_its_repository() {
    let mut linked = Bench::new(&[]);
    let main = bench("", &["plain.txt"]);
    git(&main, &["commit", "-qm", "first"]);
    let folder = linked.disk("").canonicalize().unwrap();
    git(&main, &["worktree", "add", "-q", "--detach", folder.to_str().unwrap()]);
    put(&main.disk(".git/info/exclude"), b"*.mine\n");
    let collected = linked.command(|bench| {
        put(&bench.up("a.mine"), b"new\n");
        put(&bench.up("a"), b"new\n");
    });
    assert_eq!(said(&collected), ["write a \"new\\n\""]);
}
