//! Files written for a command, and changes that come back from it.

use crate::support::{Bench, gone, is_gone, mode, opaque, put, said, set_mode, stamp};
use ropewalk_text::Text;
use ropewalk_workspace::{HunkSelection, ProposedChange};
use std::fs;

const NOTHING: [&str; 0] = [];

#[test]
fn what_is_done_to_folders_alone_is_told() {
    let mut bench = Bench::new(&[("full/a.txt", "a\n")]);
    fs::create_dir(bench.disk("hollow")).unwrap();
    let collected = bench.command(|bench| {
        fs::create_dir_all(bench.up("made/in")).unwrap();
        gone(&bench.up("hollow"));
        fs::create_dir(bench.up("full")).unwrap();
        set_mode(&bench.up("full"), 0o700);
    });
    assert_eq!(said(&collected), [""; 0]);
    let words = [
        ("empty folders are not kept: ", "made/in"),
        ("folders without files are not removed: ", "hollow"),
        ("the mode of a folder is not kept: ", "full"),
    ];
    assert_eq!(collected.told.len(), words.len(), "{:?}", collected.told);
    for (told, (words, name)) in collected.told.iter().zip(words) {
        assert!(told.starts_with(words) && told.ends_with(name), "{told}");
    }
    let again = bench.command(|_| {});
    assert!(again.told.iter().all(|told| !told.contains("hollow")), "{:?}", again.told);
}

#[test]
fn a_command_sees_open_text_and_the_forks_changes_and_nothing_else_is_written() {
    let mut bench =
        Bench::new(&[("a.txt", "disk\n"), ("b.txt", "b\n"), ("c.txt", "c\n"), ("sub/d.sh", "d\n")]);
    set_mode(&bench.disk("sub/d.sh"), 0o750);
    bench.open("a.txt", "unsaved ☃\n");
    bench.open("b.txt", "b\n");
    bench.change("sub/d.sh", ProposedChange::Write(Text::from("edited\n")));
    bench.change("new/e.txt", ProposedChange::Write(Text::from("made\n")));
    bench.change("c.txt", ProposedChange::Delete);
    let (_, made) = bench.materialise();
    assert_eq!((made.changed, made.told.len()), (5, 0));
    assert_eq!(fs::read_to_string(bench.up("a.txt")).unwrap(), "unsaved ☃\n");
    assert_eq!(fs::read_to_string(bench.up("b.txt")).unwrap(), "b\n");
    assert_eq!(stamp(&bench.up("b.txt")).1, stamp(&bench.disk("b.txt")).1);
    assert_eq!(fs::read_to_string(bench.up("sub/d.sh")).unwrap(), "edited\n");
    assert_eq!(mode(&bench.up("sub/d.sh")), 0o750);
    assert_eq!(fs::read_to_string(bench.up("new/e.txt")).unwrap(), "made\n");
    assert!(is_gone(&bench.up("c.txt")));
    // A file that stands already is left alone, and is no change of a command's.
    let before = ["a.txt", "b.txt", "sub/d.sh", "c.txt"].map(|name| stamp(&bench.up(name)));
    let collected = bench.command(|_| ());
    assert_eq!((said(&collected), collected.told), (vec![], vec![]));
    let after = ["a.txt", "b.txt", "sub/d.sh", "c.txt"].map(|name| stamp(&bench.up(name)));
    assert_eq!(before, after);
    assert_eq!(bench.materialise().1.changed, 0);
}

#[test]
fn what_a_command_writes_is_proposed_and_stays_for_the_next() {
    let mut bench =
        Bench::new(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.sh", "c\n"), ("same.txt", "same\n")]);
    let collected = bench.command(|bench| {
        put(&bench.up("a.txt"), b"changed\n");
        put(&bench.up("deep/er/new.txt"), b"new\n");
        put(&bench.up("tool.sh"), b"#!/bin/sh\n");
        set_mode(&bench.up("tool.sh"), 0o755);
        put(&bench.up("data.bin"), b"a\0b");
        put(&bench.up("latin.txt"), b"caf\xE9\n");
        put(&bench.up("c.sh"), b"c\n");
        set_mode(&bench.up("c.sh"), 0o744);
        put(&bench.up("same.txt"), b"same\n");
        put(&bench.up("empty"), b"");
        gone(&bench.up("b.txt"));
    });
    assert_eq!(
        said(&collected),
        [
            "delete b.txt",
            "write a.txt \"changed\\n\"",
            "mode c.sh 744",
            "3 bytes data.bin",
            "write deep/er/new.txt \"new\\n\"",
            "write empty \"\"",
            "5 bytes latin.txt",
            "write tool.sh \"#!/bin/sh\\n\"",
            "mode tool.sh 755",
        ]
    );
    assert_eq!(collected.told, NOTHING);
    let before = stamp(&bench.up("a.txt"));
    let (_, _) = bench.materialise();
    assert_eq!(stamp(&bench.up("a.txt")), before);
    assert!(!bench.up("same.txt").exists(), "the disk's file shows again");
    assert!(is_gone(&bench.up("b.txt")));
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
}

#[test]
fn what_is_rejected_goes_from_the_layer_and_the_disk_shows_again() {
    let mut bench =
        Bench::new(&[("a.txt", "a\n"), ("d/x.txt", "x\n"), ("d/y.txt", "y\n"), ("e/z", "z\n")]);
    bench.command(|bench| {
        put(&bench.up("new/file.txt"), b"new\n");
        gone(&bench.up("d"));
        opaque(&bench.up("e"));
        put(&bench.up("e/other"), b"other\n");
    });
    assert_eq!(bench.reads("d/x.txt"), None);
    let x = bench.workspace.roots().contain("d/x.txt").unwrap().doc();
    bench.fork.reject(&bench.workspace, &HunkSelection::File(x), None);
    bench.materialise();
    // One of two files is back, and a mark stands for the other alone.
    assert_eq!(fs::read_to_string(bench.up("d/x.txt")).unwrap(), "x\n");
    assert!(is_gone(&bench.up("d/y.txt")));
    bench.fork.reject(&bench.workspace, &HunkSelection::All, None);
    bench.materialise();
    assert!(!bench.up("new").exists() && !is_gone(&bench.up("d/y.txt")));
    assert!(
        rustix::fs::getxattr(bench.up("e"), "user.overlay.opaque", [0_u8; 4].as_mut_slice())
            .is_err()
            || !bench.up("e").exists()
    );
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
}

#[test]
fn whole_folders_go_and_are_replaced() {
    let mut bench = Bench::new(&[
        (".gitignore", "*.log\n"),
        ("d/x.txt", "x\n"),
        ("d/deep/y.txt", "y\n"),
        ("d/out.log", "kept\n"),
        ("e/old", "old\n"),
        ("e/both", "both\n"),
    ]);
    let collected = bench.command(|bench| {
        gone(&bench.up("d"));
        opaque(&bench.up("e"));
        put(&bench.up("e/new"), b"new\n");
        put(&bench.up("e/both"), b"both\n");
    });
    assert_eq!(
        said(&collected),
        ["delete d/deep/y.txt", "delete d/x.txt", "delete e/old", "write e/new \"new\\n\"",]
    );
    bench.materialise();
    assert!(is_gone(&bench.up("d")));
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
    // The agent makes a file in a folder that is gone: what was in it stays away.
    bench.change("d/again.txt", ProposedChange::Write(Text::from("again\n")));
    bench.materialise();
    assert_eq!(fs::read_to_string(bench.up("d/again.txt")).unwrap(), "again\n");
    let mut value = [0_u8; 4];
    assert_eq!(
        rustix::fs::getxattr(bench.up("d"), "user.overlay.opaque", value.as_mut_slice()),
        Ok(1)
    );
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
}

#[test]
fn files_and_folders_take_each_others_place() {
    let mut bench = Bench::new(&[("f", "a file\n"), ("g/inside", "inside\n")]);
    let collected = bench.command(|bench| {
        put(&bench.up("f/now"), b"a folder\n");
        put(&bench.up("g"), b"a file now\n");
    });
    assert_eq!(
        said(&collected),
        ["delete f", "delete g/inside", "write f/now \"a folder\\n\"", "write g \"a file now\\n\""]
    );
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
    assert!(bench.up("f/now").is_file() && bench.up("g").is_file());
}

#[test]
fn moved_files_are_renames() {
    let mut bench = Bench::new(&[
        ("src/a.rs", "one\n"),
        ("src/b.rs", "one\n"),
        ("src/c.rs", "three\n"),
        ("p/__init__.py", ""),
        ("p/empty", ""),
    ]);
    let collected = bench.command(|bench| {
        gone(&bench.up("src"));
        put(&bench.up("lib/b.rs"), b"one\n");
        put(&bench.up("lib/other.rs"), b"one\n");
        put(&bench.up("lib/c.rs"), b"three and more\n");
        put(&bench.up("copy.rs"), b"one\n");
        gone(&bench.up("p/__init__.py"));
        gone(&bench.up("p/empty"));
        put(&bench.up("q/__init__.py"), b"");
        put(&bench.up("q/void"), b"");
    });
    assert_eq!(
        said(&collected),
        [
            "rename p/__init__.py to q/__init__.py",
            "delete p/empty",
            "rename src/a.rs to copy.rs",
            "rename src/b.rs to lib/b.rs",
            "delete src/c.rs",
            "write lib/c.rs \"three and more\\n\"",
            "write lib/other.rs \"one\\n\"",
            "write q/void \"\"",
        ]
    );
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
}

#[test]
fn what_is_ignored_stays_in_the_layer() {
    let mut bench = Bench::new(&[
        (".gitignore", "target/\n*.o\n"),
        ("a/.gitignore", "!keep.o\n"),
        ("main.o", "old\n"),
    ]);
    bench.open("main.o", "old\n");
    let collected = bench.command(|bench| {
        put(&bench.up("target/debug/thing"), b"built\n");
        put(&bench.up("a/x.o"), b"x\n");
        put(&bench.up("a/keep.o"), b"keep\n");
        put(&bench.up("main.o"), b"the view has this one\n");
    });
    assert_eq!(
        said(&collected),
        ["write a/keep.o \"keep\\n\"", "write main.o \"the view has this one\\n\""]
    );
    bench.materialise();
    assert_eq!(fs::read_to_string(bench.up("target/debug/thing")).unwrap(), "built\n");
    assert!(bench.up("a/x.o").exists());
    // A command that changes the rules is held to the new ones.
    let collected = bench.command(|bench| put(&bench.up(".gitignore"), b"target/\n"));
    assert_eq!(said(&collected), ["write .gitignore \"target/\\n\"", "write a/x.o \"x\\n\""]);
}

#[test]
fn git_is_put_back_in_words() {
    let mut bench = Bench::new(&[
        ("a.txt", "a\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/index", "x"),
    ]);
    let collected = bench.command(|bench| put(&bench.up(".git/index"), b"x"));
    assert_eq!((said(&collected), collected.told), (vec![], vec![]));
    assert!(!bench.up(".git").exists());
    let collected = bench.command(|bench| {
        put(&bench.up(".git/index"), b"z");
        put(&bench.up(".git/objects/aa/bb"), b"an object");
        put(&bench.up("nested/.git/HEAD"), b"ref: refs/heads/main\n");
        put(&bench.up("nested/file"), b"f\n");
    });
    assert_eq!(said(&collected), ["write nested/file \"f\\n\""]);
    assert_eq!(
        collected.told,
        [
            "version control changes are not kept (commit after accepting): .git, nested/.git is as it was"
        ]
    );
    assert!(!bench.up(".git").exists() && !bench.up("nested/.git").exists());
}

#[test]
fn an_open_text_keeps_its_encoding() {
    let mut bench =
        Bench::new(&[("bom.txt", "\u{feff}a\n"), ("plain.txt", "a\n"), ("closed.txt", "a\n")]);
    bench.open("bom.txt", "a\n");
    bench.open("plain.txt", "a\n");
    let collected = bench.command(|bench| {
        assert_eq!(fs::read(bench.up("bom.txt")).unwrap(), "\u{feff}a\n".as_bytes());
        put(&bench.up("bom.txt"), "\u{feff}b\n".as_bytes());
        put(&bench.up("plain.txt"), b"caf\xE9\n");
        put(&bench.up("closed.txt"), b"caf\xE9\n");
    });
    assert_eq!(said(&collected), ["write bom.txt \"b\\n\"", "5 bytes closed.txt"]);
    assert_eq!(collected.told.len(), 1);
    assert!(collected.told[0].ends_with("plain.txt"), "{:?}", collected.told);
    bench.materialise();
    assert_eq!(fs::read(bench.up("plain.txt")).unwrap(), b"a\n");
}
