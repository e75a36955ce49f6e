//! The times that build tools see: a file whose content changed since a build is never older than that build.

use crate::support::{Bench, put, stamp};
use ropewalk_commands::layer::{BuildInputs, Layer};
use ropewalk_text::Text;
use ropewalk_workspace::{HunkSelection, ProposedChange};
use std::fs;
use std::path::Path;

/// Cargo's rule: a source that is younger than the mark of the build is built again.
fn is_fresh(source: &Path, mark: &Path) -> bool {
    fs::metadata(source).unwrap().modified().unwrap()
        <= fs::metadata(mark).unwrap().modified().unwrap()
}

/// A build: its mark is written, after everything that it sees.
fn build(bench: &Bench) -> std::path::PathBuf {
    std::thread::sleep(std::time::Duration::from_millis(20));
    let mark = bench.dir.path().join("mark");
    fs::write(&mark, "").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    mark
}

#[test]
fn a_file_that_goes_back_to_the_disks_text_is_younger_than_the_build_of_the_other() {
    let mut bench =
        Bench::new(&[("main.rs", "fn main() {}\n"), ("lib.rs", "lib\n"), ("made.rs", "m\n")]);
    bench.open("lib.rs", "lib, unsaved\n");
    bench.change("main.rs", ProposedChange::Write(Text::from("fn main() { 1 }\n")));
    bench.materialise();
    let mark = build(&bench);
    for name in ["main.rs", "lib.rs"] {
        assert!(is_fresh(&bench.up(name), &mark), "nothing changed since the build");
    }
    // Files that a command itself wrote and built count as seen, too.
    bench.command(|bench| {
        put(&bench.up("made.rs"), b"by the command\n");
        build(bench);
    });
    bench.materialise();
    for name in ["main.rs", "lib.rs", "made.rs"] {
        assert!(is_fresh(&bench.up(name), &mark), "{name} is as the build saw it");
    }
    bench.fork.reject(&bench.workspace, &HunkSelection::All, None);
    let lib = format!("file://{}", bench.disk("lib.rs").canonicalize().unwrap().display());
    bench.workspace.close(&lib);
    bench.materialise();
    for (name, text) in [("main.rs", "fn main() {}\n"), ("lib.rs", "lib\n"), ("made.rs", "m\n")] {
        assert_eq!(fs::read_to_string(bench.up(name)).unwrap(), text);
        assert!(!is_fresh(&bench.up(name), &mark), "{name} changed since the build");
    }
    // And it stays so: the next build is of the disk's text, and nothing changes after it.
    let mark = build(&bench);
    let before = stamp(&bench.up("main.rs"));
    assert_eq!(bench.materialise().1.changed, 0);
    assert_eq!(stamp(&bench.up("main.rs")), before);
    assert!(is_fresh(&bench.up("main.rs"), &mark));
    // The user saves another text: it comes through, younger than the build.
    put(&bench.disk("main.rs"), b"fn main() { 2 }\n");
    bench.materialise();
    assert_eq!(fs::read_to_string(bench.up("main.rs")).unwrap(), "fn main() { 2 }\n");
    assert!(!is_fresh(&bench.up("main.rs"), &mark));
}

#[test]
fn a_deleted_file_that_comes_back_is_younger_too() {
    let mut bench = Bench::new(&[("gone.rs", "g\n")]);
    bench.change("gone.rs", ProposedChange::Delete);
    bench.materialise();
    let mark = build(&bench);
    bench.fork.reject(&bench.workspace, &HunkSelection::All, None);
    bench.materialise();
    assert_eq!(fs::read_to_string(bench.up("gone.rs")).unwrap(), "g\n");
    assert!(!is_fresh(&bench.up("gone.rs"), &mark));
}

#[test]
fn a_saved_text_keeps_the_time_that_commands_saw() {
    let mut bench = Bench::new(&[("a.rs", "a\n")]);
    bench.open("a.rs", "b\n");
    bench.materialise();
    let before = stamp(&bench.up("a.rs"));
    build(&bench);
    put(&bench.disk("a.rs"), b"b\n");
    bench.materialise();
    assert_eq!(stamp(&bench.up("a.rs")), before);
}

#[test]
fn the_list_is_kept_on_disk_and_a_broken_one_is_an_error() {
    let mut bench = Bench::new(&[("a.rs", "a\n"), ("gone", "g\n")]);
    bench.open("a.rs", "b\n");
    bench.change("gone", ProposedChange::Delete);
    bench.materialise();
    let before = stamp(&bench.up("a.rs"));
    let file = bench.dir.path().join("ever.json");
    assert!(BuildInputs::load(&file).unwrap().is_empty());
    bench.ever.save(&file).unwrap();
    bench.ever = BuildInputs::load(&file).unwrap();
    assert_eq!(bench.ever.len(), 2);
    bench.materialise();
    assert_eq!(stamp(&bench.up("a.rs")), before);
    for broken in ["", "{}", "[{\"path\":3}]", "[{\"path\":\"/x\"}]"] {
        fs::write(&file, broken).unwrap();
        assert!(BuildInputs::load(&file).is_err(), "{broken}");
    }
}

/// Waits until the disk's clock, which goes in steps of milliseconds, has passed this moment.
fn tick(bench: &Bench) {
    let (now, file) = (std::time::SystemTime::now(), bench.dir.path().join("tick"));
    while {
        fs::write(&file, "").unwrap();
        fs::metadata(&file).unwrap().modified().unwrap() <= now
    } {}
}

/// Names on the list at the next session's start, of some files of the root.
fn kept(bench: &mut Bench, names: &[&str]) -> Vec<bool> {
    let file = bench.dir.path().join("ever.json");
    bench.ever.save(&file).unwrap();
    let root = bench.disk("").canonicalize().unwrap();
    let mut ever = BuildInputs::load(&file).unwrap();
    ever.forget_saved(std::slice::from_ref(&root));
    ever.save(&file).unwrap();
    bench.ever = BuildInputs::load(&file).unwrap();
    bench.layer = Layer::open(&bench.dir.path().join("layer"), &[root]).unwrap();
    bench.materialise();
    names.iter().map(|name| bench.up(name).exists()).collect()
}

#[test]
fn what_was_saved_since_commands_saw_it_is_the_disks_again() {
    let names = ["main.rs", "other.rs", "gone.rs"];
    let mut bench = Bench::new(&[("main.rs", "m\n"), ("other.rs", "o\n"), ("gone.rs", "g\n")]);
    bench.materialise();
    let mark = build(&bench);
    for name in names {
        bench.change(name, ProposedChange::Write(Text::from("by the agent\n")));
    }
    bench.materialise();
    bench.change("gone.rs", ProposedChange::Delete);
    bench.materialise();
    bench.fork.reject(&bench.workspace, &HunkSelection::All, None);
    tick(&bench);
    // One is saved as commands saw it, one otherwise, and one is deleted.
    put(&bench.disk("main.rs"), b"by the agent\n");
    put(&bench.disk("other.rs"), b"by the user\n");
    fs::remove_file(bench.disk("gone.rs")).unwrap();
    assert_eq!(kept(&mut bench, &names), [false, true, false]);
    assert_eq!(bench.ever.len(), 2, "nobody knows of a file that is gone that it stays so");
    for path in [bench.disk("main.rs"), bench.up("other.rs")] {
        assert!(!is_fresh(&path, &mark), "{path:?} changed since the build");
    }
    // Once it is seen as the user saved it, it is done with when it is saved again.
    assert_eq!(kept(&mut bench, &names), [false, true, false]);
    tick(&bench);
    put(&bench.disk("other.rs"), b"by the user\n");
    assert_eq!(kept(&mut bench, &names), [false, false, false]);
}

#[test]
fn what_the_disk_had_before_commands_saw_it_stays_on_the_list() {
    let mut bench = Bench::new(&[("a.rs", "a\n"), ("b.rs", "b\n")]);
    bench.change("a.rs", ProposedChange::Write(Text::from("by the agent\n")));
    bench.change("b.rs", ProposedChange::Write(Text::from("by the agent\n")));
    bench.materialise();
    let mark = build(&bench);
    bench.fork.reject(&bench.workspace, &HunkSelection::All, None);
    // Commands see the disk's texts again: the same, with times from before the build of the others.
    bench.materialise();
    assert!(is_fresh(&bench.disk("a.rs"), &mark) && !is_fresh(&bench.up("a.rs"), &mark));
    // A text that comes to the disk with an old time is in the same case.
    let old = fs::metadata(bench.disk("b.rs")).unwrap().modified().unwrap();
    put(&bench.disk("b.rs"), b"restored\n");
    fs::File::options().append(true).open(bench.disk("b.rs")).unwrap().set_modified(old).unwrap();
    bench.materialise();
    for _ in 0..2 {
        assert_eq!(kept(&mut bench, &["a.rs", "b.rs"]), [true, true]);
        for name in ["a.rs", "b.rs"] {
            assert_eq!(fs::read(bench.up(name)).unwrap(), fs::read(bench.disk(name)).unwrap());
            assert!(!is_fresh(&bench.up(name), &mark), "{name} changed since the build");
        }
    }
}

#[test]
fn what_is_no_file_or_too_much_to_read_stays_on_the_list() {
    let names = ["link.rs", "d/inner.rs", "huge.rs"];
    let mut bench = Bench::new(&[("link.rs", "x\n"), ("d/inner.rs", "x\n"), ("huge.rs", "x\n")]);
    for name in names {
        bench.change(name, ProposedChange::Write(Text::from("seen\n")));
    }
    bench.materialise();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let outside = bench.dir.path().join("outside");
    put(&outside.join("inner.rs"), b"seen\n");
    fs::remove_file(bench.disk("link.rs")).unwrap();
    std::os::unix::fs::symlink(outside.join("inner.rs"), bench.disk("link.rs")).unwrap();
    fs::remove_dir_all(bench.disk("d")).unwrap();
    std::os::unix::fs::symlink(&outside, bench.disk("d")).unwrap();
    fs::File::create(bench.disk("huge.rs")).unwrap().set_len(1 << 40).unwrap();
    let root = bench.disk("").canonicalize().unwrap();
    bench.ever.forget_saved(&[root, "/no/such/folder".into()]);
    assert_eq!(bench.ever.len(), 3);
}

/// The times of files in the layer after the next command's start.
fn times(bench: &mut Bench, names: &[&str]) -> Vec<(u64, i64, i64)> {
    bench.materialise();
    names.iter().map(|name| stamp(&bench.up(name))).collect()
}

/// Builds outside, later than all that commands see.
fn outside(bench: &Bench, name: &str) {
    std::thread::sleep(std::time::Duration::from_millis(20));
    put(&bench.disk(name), b"of the disk's text");
    std::thread::sleep(std::time::Duration::from_millis(20));
}

#[test]
fn a_source_is_younger_than_what_was_built_outside_of_another_text() {
    let mut bench = Bench::new(&[
        (".gitignore", "*.o\n*.log\n.*.swp\nbuild/\nnode_modules/\n"),
        ("sub/Makefile", ""),
        ("sub/src/main.c", "disk\n"),
        ("sub/src/clean.c", "clean\n"),
        ("sub/crate/Cargo.toml", ""),
        ("sub/crate/lib.rs", "disk\n"),
        ("other.c", "disk\n"),
    ]);
    let names = ["sub/src/main.c", "sub/src/clean.c", "sub/crate/lib.rs", "other.c"];
    for name in names {
        bench.open(name, if name.ends_with("clean.c") { "clean\n" } else { "unsaved\n" });
    }
    bench.change("sub/new.h", ProposedChange::Write(Text::from("new\n")));
    bench.change("sub/build/hidden", ProposedChange::Write(Text::from("by a command\n")));
    let before = times(&mut bench, &names);
    // Files that are no output, are not to be seen, are none of the project's, or were fetched.
    for name in [
        "sub/src/notes.txt",
        "sub/build/hidden",
        "main.o",
        "sub/node_modules/x",
        "sub/crate/target/x",
        "sub/server.log",
        "sub/src/.main.c.swp",
    ] {
        outside(&bench, name);
        assert_eq!(times(&mut bench, &names), before, "{name}");
    }
    for name in ["sub/src/main.o", "sub/build/deep/part"] {
        let before = times(&mut bench, &names);
        outside(&bench, name);
        let after = times(&mut bench, &names);
        assert!(!is_fresh(&bench.up("sub/src/main.c"), &bench.disk(name)), "{name}");
        assert!(!is_fresh(&bench.up("sub/new.h"), &bench.disk(name)), "{name}");
        assert_eq!(after[1..], before[1..], "{name}");
        assert_eq!(after[0].0, before[0].0, "{name}: it is the same file");
        assert_eq!(times(&mut bench, &names), after, "{name}: once");
    }
    // A later build of a command lies over it, and is fresh.
    bench.command(|bench| {
        build(bench);
        put(&bench.up("sub/src/main.o"), b"of what commands see");
    });
    let before = times(&mut bench, &names);
    outside(&bench, "sub/src/main.o");
    assert_eq!(times(&mut bench, &names), before);
    assert!(is_fresh(&bench.up("sub/src/main.c"), &bench.up("sub/src/main.o")));
}

#[test]
fn a_saved_source_is_younger_than_what_was_built_before_it_was_saved() {
    let mut bench = Bench::new(&[(".gitignore", "*.o\n"), ("Makefile", ""), ("a.c", "disk\n")]);
    bench.open("a.c", "unsaved\n");
    let before = times(&mut bench, &["a.c"]);
    outside(&bench, "a.o");
    outside(&bench, "b.o");
    put(&bench.disk("a.c"), b"unsaved\n");
    bench.materialise();
    assert!(!is_fresh(&bench.up("a.c"), &bench.disk("b.o")));
    // A build of saved files is fresh.
    outside(&bench, "a.o");
    let after = times(&mut bench, &["a.c"]);
    assert_ne!(after, before);
    assert!(is_fresh(&bench.up("a.c"), &bench.disk("a.o")));
    outside(&bench, "b.o");
    assert_eq!(times(&mut bench, &["a.c"]), after);
}
