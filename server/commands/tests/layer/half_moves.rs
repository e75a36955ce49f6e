//! A command's move of which one half can't be kept: then the other half isn't either, and no content is lost.

use crate::real::{Node, accept, can_mount, plain_copy, run, tree_of};
use crate::support::{Bench, copied_up, gone, is_gone, put, said};
use proptest::prelude::*;
use ropewalk_commands::layer::file_time;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

const FILES: &[(&str, &str)] = &[("a.txt", "alpha\n"), ("b.txt", "beta\n"), ("c.txt", "gamma\n")];

/// Moves `a.txt` there by hand, as `mv` would in an overlay, and gives what is proposed and said.
fn moves(bench: &mut Bench, to: &OsStr) -> (Vec<String>, String) {
    let collected = bench.command(|bench| {
        gone(&bench.up("a.txt"));
        put(&bench.up("").join(to), b"alpha\n");
    });
    (said(&collected), collected.told.concat())
}

#[test]
fn what_takes_the_place_of_another_file_goes_with_it() {
    let mut bench = Bench::new(FILES);
    let (said, told) = moves(&mut bench, OsStr::new("b.txt"));
    assert!(
        said[0].starts_with("a.txt MoveOver") && said[1] == "write b.txt \"alpha\\n\"",
        "{said:?}"
    );
    assert_eq!(told, "");
    assert_eq!(bench.reads("a.txt"), None);
    assert_eq!(bench.reads("b.txt").as_deref(), Some("alpha\n"));
}

#[test]
fn a_file_stays_when_its_new_place_is_not_kept() {
    let unnamed = OsStr::from_bytes(b"caf\xe9");
    for (to, words) in [
        (OsStr::new(".git/x"), "version control changes are not kept"),
        (OsStr::new(".GIT/x"), "version control changes are not kept"),
        (OsStr::new("sub/.git"), "version control changes are not kept"),
        (unnamed, "a name that is not UTF-8"),
        (OsStr::from_bytes(b"caf\xe9/in"), "a name that is not UTF-8"),
        (OsStr::new("a.bak"), "a.txt (now a.bak, which is ignored)"),
        (OsStr::new("old/sub/a.txt"), "a.txt (now a.txt in old, which is ignored)"),
    ] {
        let mut bench = Bench::new(FILES);
        put(&bench.disk(".gitignore"), b"*.bak\nold/\n");
        let (said, told) = moves(&mut bench, to);
        assert_eq!(said, [""; 0], "{to:?}");
        assert!(told.contains(words), "{told}");
        let half = "not deleted, because the place that it was moved to is not kept";
        assert!(told.contains(half) && told.contains("a.txt (now "), "{told}");
        assert_eq!(bench.reads("a.txt").as_deref(), Some("alpha\n"));
        // The next command sees it again.
        bench.materialise();
        assert!(!is_gone(&bench.up("a.txt")), "{to:?}");
    }
}

#[test]
fn what_is_too_large_for_a_review_stays_when_it_is_moved() {
    let mut bench = Bench::new(FILES);
    let sparse = |path: &Path| fs::File::create(path).unwrap().set_len(65 << 20).unwrap();
    sparse(&bench.disk("large"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    let collected = bench.command(|bench| {
        gone(&bench.up("large"));
        sparse(&bench.up("moved"));
        copied_up(&bench.up("moved"));
    });
    assert_eq!(said(&collected), [""; 0]);
    assert!(collected.told.concat().contains("large (now moved)"), "{:?}", collected.told);
}

#[test]
fn a_link_stays_when_its_new_place_is_ignored() {
    let link = |path: &Path| std::os::unix::fs::symlink("b.txt", path).unwrap();
    let mut bench = Bench::new(FILES);
    put(&bench.disk(".gitignore"), b"*.bak\n");
    link(&bench.disk("link"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    let collected = bench.command(|bench| {
        gone(&bench.up("link"));
        link(&bench.up("link.bak"));
    });
    assert_eq!(said(&collected), [""; 0]);
    assert!(collected.told.concat().contains("link (now link.bak"), "{:?}", collected.told);
}

#[test]
fn what_an_earlier_command_left_ignored_keeps_no_file_from_being_deleted() {
    let mut bench = Bench::new(FILES);
    put(&bench.disk(".gitignore"), b"dist/\n");
    bench.command(|bench| put(&bench.up("dist/a.txt"), b"alpha\n"));
    std::thread::sleep(std::time::Duration::from_millis(40));
    let collected = bench.command(|bench| gone(&bench.up("a.txt")));
    assert_eq!(said(&collected), ["delete a.txt"]);
    // A file of the fork's that goes there is known by itself, whatever its times say.
    bench.command(|bench| put(&bench.up("made/m.txt"), b"made\n"));
    std::thread::sleep(std::time::Duration::from_millis(40));
    let collected = bench.command(|bench| {
        fs::rename(bench.up("made"), bench.up("dist/made")).unwrap();
    });
    assert_eq!(said(&collected), [""; 0], "{:?}", collected.told);
}

/// A line for the shell that takes contents elsewhere. What fails in one place fails in the other.
fn line() -> impl Strategy<Value = String> {
    const FILES: &[&str] =
        &["a.txt", "b.txt", "a.bak", "d/c.txt", "d/new.txt", "old/c.txt", "old/d/x"];
    let file = || prop::sample::select(FILES);
    let folder = || prop::sample::select(&["d", "d/e", "old", "old/d", "new"][..]);
    prop_oneof![
        3 => (file(), file()).prop_map(|(from, to)| format!("mkdir -p $(dirname {to}); mv -T {from} {to}")),
        2 => (folder(), folder()).prop_map(|(from, to)| format!("mkdir -p {to}; mv {from} {to}/")),
        1 => (file(), folder()).prop_map(|(from, to)| format!("mkdir -p {to}; mv {from} {to}/")),
        1 => (file(), file()).prop_map(|(from, to)| format!("cp {from} {to}; rm -rf {from}")),
        1 => (file(), file()).prop_map(|(from, to)| format!("ln {from} {to}; rm -f {from}")),
        1 => (file(), file()).prop_map(|(one, two)| format!("mv {one} swap; mv {two} {one}; mv swap {two}")),
        1 => (folder(), folder()).prop_map(|(from, to)| {
            format!("mkdir -p {to}; tar -cf p.tar {from} && rm -rf {from} && tar -xf p.tar -C {to}; rm -f p.tar")
        }),
        1 => (file(), file()).prop_map(|(from, to)| format!("mkdir -p $(dirname {to}); git mv -f {from} {to}")),
        1 => file().prop_map(|file| format!("rm -f {file}")),
    ]
}

/// Checks that each content which the commands left somewhere stands somewhere once what they did is accepted, or
/// was written over under its name, which a review shows.
fn keeps_contents(rules: &str, lines: &[String]) {
    let mut bench = Bench::new(FILES);
    for (name, text) in
        [(".gitignore", rules), ("d/c.txt", "delta\n"), ("d/e/f", "epsilon\n"), ("old/o", "old\n")]
    {
        put(&bench.disk(name), text.as_bytes());
    }
    for args in [&["init", "-q"][..], &["add", "-f", "d"]] {
        let done = Command::new("git").current_dir(bench.disk("")).args(args).status();
        assert!(done.unwrap().success());
    }
    std::thread::sleep(std::time::Duration::from_millis(20));
    bench.open("b.txt", "beta, unsaved\n");
    let mut before = tree_of(&bench.disk(""));
    before.insert("b.txt".into(), Node::File(b"beta, unsaved\n".to_vec(), 0o644));
    let copy = bench.dir.path().join("copy");
    plain_copy(&before, &copy);
    // Without it, though it is empty, git takes this for no repository.
    fs::create_dir_all(copy.join(".git/refs")).unwrap();
    run(&copy, None, lines);
    let layer = bench.dir.path().join("layer/0");
    let root = bench.disk("");
    let (_, collected) = bench.collect(|_| assert!(run(&root, Some(&layer), lines), "{lines:?}"));
    before.retain(|name, _| !name.starts_with(".git/"));
    let (left, made) = (tree_of(&copy), accept(before.clone(), &collected.proposals));
    let is_somewhere = |tree: &crate::real::Tree, bytes: &[u8]| {
        tree.values().any(|node| matches!(node, Node::File(own, _) if own == bytes))
    };
    for (name, node) in &before {
        let Node::File(bytes, _) = node else { continue };
        let is_written_over = made.get(name).is_some_and(|now| now != node);
        assert!(
            is_somewhere(&made, bytes) || !is_somewhere(&left, bytes) || is_written_over,
            "{name} is lost: {rules:?} {lines:#?} {collected:#?}"
        );
    }
}

#[test]
fn no_content_is_lost_by_what_is_not_taken_in() {
    if !can_mount() {
        return;
    }
    const RULES: &[&str] =
        &["*.bak\nold/\n", "*.txt\n!b.txt\n", "/d/\n", "new*\n*.tar\n", "*\n!*/\n!b.txt\n", ""];
    let config = ProptestConfig { cases: 80, failure_persistence: None, ..Default::default() };
    proptest!(config, |(rules in prop::sample::select(RULES), lines in prop::collection::vec(line(), 1..6))| {
        keeps_contents(rules, &lines);
    });
}

#[test]
fn a_file_stays_when_its_new_place_is_hidden() {
    let mut bench = Bench::new(FILES);
    let hidden = bench.disk("b.txt").canonicalize().unwrap();
    bench.layer.veil(&[hidden]);
    let (said, told) = moves(&mut bench, OsStr::new("b.txt"));
    assert!(said.len() == 1 && said[0].starts_with("a.txt MoveOver"), "{said:?}");
    assert!(told.contains("hidden from commands") && told.contains("b.txt"), "{told}");
    assert_eq!(bench.reads("a.txt").as_deref(), Some("alpha\n"), "it stays without the other");
    assert_eq!(bench.fork.hunks(), []);
}

#[test]
fn a_file_stays_when_its_new_place_changed_meanwhile() {
    let mut bench = Bench::new(FILES);
    let collected = bench.command(|bench| {
        gone(&bench.up("a.txt"));
        put(&bench.up("b.txt"), b"alpha\n");
        // Somebody else saves it while the command runs.
        fs::write(bench.disk("b.txt"), "theirs\n").unwrap();
    });
    assert_eq!(said(&collected), [""; 0]);
    assert!(collected.told.concat().contains("not deleted, because"), "{:?}", collected.told);
    assert_eq!(bench.reads("b.txt").as_deref(), Some("theirs\n"));
}

#[test]
fn a_file_is_older_than_a_commands_start_exactly_if_it_was_saved_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let saved = |name: String| {
        // Nobody has asked for the times of a new file, so that it has the coarse ones.
        let file = folder.path().join(name);
        fs::write(&file, "theirs").unwrap();
        file
    };
    let changed = |file: &Path| {
        let saved = fs::metadata(file).unwrap();
        (saved.ctime(), saved.ctime_nsec())
    };
    for number in 0..500 {
        let before = saved(format!("{number} before"));
        let started = file_time().duration_since(std::time::UNIX_EPOCH).unwrap();
        let started = (started.as_secs() as i64, started.subsec_nanos().into());
        let after = saved(format!("{number} after"));
        assert!(changed(&before) < started, "{number}");
        assert!(started <= changed(&after), "{number}");
    }
}

#[test]
fn a_deletion_beside_what_is_left_out_is_one() {
    let mut bench = Bench::new(FILES);
    put(&bench.disk("empty"), b"");
    std::thread::sleep(std::time::Duration::from_millis(20));
    let collected = bench.command(|bench| {
        gone(&bench.up("c.txt"));
        gone(&bench.up("empty"));
        put(&bench.up(".git/x"), b"alpha\n");
        put(&bench.up(".git/y"), b"");
    });
    assert_eq!(said(&collected), ["delete c.txt", "delete empty"]);
}

#[test]
fn a_store_of_version_control_is_as_it_was() {
    for on_a_copy in [false, true] {
        let mut bench = Bench::new(FILES);
        put(&bench.disk(".hg/store/00changelog.i"), b"one\n");
        std::thread::sleep(std::time::Duration::from_millis(20));
        if on_a_copy {
            bench = bench.on_a_copy(1 << 20);
        }
        let collected = bench.command(|bench| {
            put(&bench.up(".hg/store/00changelog.i"), b"one\ntwo\n");
            put(&bench.up("sub/.svn/wc.db"), b"x\n");
            put(&bench.up("a.txt"), b"changed\n");
        });
        assert_eq!(said(&collected), ["write a.txt \"changed\\n\""]);
        let told = collected.told.concat();
        let words =
            "version control changes are not kept (commit after accepting): .hg, sub/.svn is";
        assert!(told.starts_with(words), "{told}");
        bench.materialise();
        if on_a_copy {
            assert_eq!(fs::read(bench.up(".hg/store/00changelog.i")).unwrap(), b"one\n");
        } else {
            assert!(!bench.up(".hg").exists());
        }
    }
}

#[test]
fn a_repository_without_a_work_tree_is_not_kept() {
    let mut bench = Bench::new(FILES);
    let collected = bench.command(|bench| {
        for name in ["HEAD", "config", "objects/x", "refs/x", "hooks/post-commit"] {
            put(&bench.up("bare").join(name), b"x\n");
        }
        put(&bench.up("made.txt"), b"made\n");
    });
    let told = collected.told.concat();
    assert!(told.contains("version control's own data, which no tool changes"), "{told}");
    let kept = said(&collected);
    assert!(kept.contains(&"write made.txt \"made\\n\"".to_owned()), "{kept:?}");
    assert!(!kept.iter().any(|said| said.contains("bare/refs") && said.contains("bare/objects")));
}
