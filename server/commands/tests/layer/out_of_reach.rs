//! Files that can't be read, removed or proposed: they are left out alone, and neither the rest nor the next command
//! suffers.
//!
//! For root nothing is unreadable: what needs that is tried by the ordinary user alone, as whom these tests are run
//! again.

use crate::support::{Bench, copied_up, gone, is_gone, is_root, put, said, set_mode};
use ropewalk_commands::layer::BuildCaches;
use ropewalk_files::disk::FileError;
use ropewalk_text::Text;
use ropewalk_workspace::view::LARGEST_FILE;
use ropewalk_workspace::{Fork, ProposedChange};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use std::fs;
use std::path::Path;

/// A bench whose disk has a file that is too large to be brought back, once it is gone.
fn with_a_large_file() -> Bench {
    let bench = Bench::new(&[("a.txt", "a\n")]);
    let big = fs::File::create(bench.disk("big")).unwrap();
    big.set_len(LARGEST_FILE + 1).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    bench
}

/// The next two commands see all that is there; only the first is told of the file.
fn goes_on(bench: &mut Bench, name: &str) {
    let (_, shown) = bench.materialise();
    let told = format!("as it is on the disk: {name}");
    assert!(matches!(&shown.told[..], [one] if one.ends_with(&told)), "{shown:?}");
    assert!(!is_gone(&bench.up(name)));
    let (_, shown) = bench.materialise();
    assert_eq!(shown.told, Vec::<String>::new());
    assert_eq!(
        said(&bench.command(|bench| put(&bench.up("later"), b"x\n"))),
        ["write later \"x\\n\""]
    );
}

#[test]
fn a_large_file_that_goes_stays_alone_and_the_next_command_sees_it() {
    for on_a_copy in [false, true] {
        let mut bench = with_a_large_file();
        if on_a_copy {
            bench = bench.on_a_copy(1 << 40);
        }
        let (view, collected) = bench.collect(|bench| {
            put(&bench.up("a.txt"), b"changed\n");
            put(&bench.up("new"), b"n\n");
            if on_a_copy {
                fs::remove_file(bench.up("big")).unwrap();
            } else {
                gone(&bench.up("big"));
            }
        });
        assert_eq!(said(&collected).len(), 3, "{collected:?}");
        let report = bench.merge(&view, collected.proposals);
        assert!(
            matches!(&report.refused[..], [FileError::TooLarge { path, .. }] if path == "big"),
            "{report:?}"
        );
        assert_eq!(report.hunks.len(), 2);
        assert_eq!(bench.reads("a.txt").unwrap(), "changed\n");
        assert_eq!(bench.reads("new").unwrap(), "n\n");
        goes_on(&mut bench, "big");
        assert_eq!(bench.up("big").exists(), on_a_copy);
    }
}

#[test]
fn what_was_built_without_a_file_goes_when_nobody_can_tell_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = with_a_large_file();
    let caches = BuildCaches::open(dir.path(), &["/w".into()], 1 << 30).unwrap();
    bench.ever = caches.ever_dirty().unwrap();
    let built = caches.paths()[0].join("built");
    let (view, collected) = bench.collect(|bench| {
        put(&built, b"x");
        gone(&bench.up("big"));
    });
    bench.merge(&view, collected.proposals);
    caches.ended(&mut bench.ever).unwrap();
    assert!(built.exists());
    bench.materialise();
    caches.begins(&mut bench.ever).unwrap();
    assert!(!built.exists());
    // Once.
    put(&built, b"x");
    bench.materialise();
    caches.begins(&mut bench.ever).unwrap();
    caches.ended(&mut bench.ever).unwrap();
    assert!(built.exists() && caches.ever_dirty().unwrap().is_empty());
}

#[test]
fn a_file_that_only_others_may_read_stays_alone_too() {
    if is_root() {
        return;
    }
    let mut bench = Bench::new(&[("own", "mine\n"), ("b.txt", "b\n")]);
    set_mode(&bench.disk("own"), 0);
    let (view, collected) = bench.collect(|bench| {
        gone(&bench.up("own"));
        put(&bench.up("new"), b"n\n");
    });
    let report = bench.merge(&view, collected.proposals);
    assert!(
        matches!(&report.refused[..], [FileError::Denied { path }] if path == "own"),
        "{report:?}"
    );
    assert_eq!(bench.reads("new").unwrap(), "n\n");
    goes_on(&mut bench, "own");
    // So does one that was made so by a command, once that is accepted.
    bench.change("b.txt", ProposedChange::Mode(0));
    bench.materialise();
    set_mode(&bench.disk("b.txt"), 0);
    bench.fork = Fork::new("s".into());
    goes_on(&mut bench, "b.txt");
}

#[test]
fn a_folder_that_only_others_may_read_spoils_nothing() {
    if is_root() {
        return;
    }
    for (mode, on_a_copy) in [(0o000, false), (0o000, true), (0o400, false), (0o400, true)] {
        let mut bench = Bench::new(&[("a.txt", "a\n"), ("shut/in", "in\n"), ("gone/in", "in\n")]);
        set_mode(&bench.disk("shut"), mode);
        set_mode(&bench.disk("gone"), mode);
        if on_a_copy {
            bench = bench.on_a_copy(1 << 20);
        }
        let collected = bench.command(|bench| put(&bench.up("a.txt"), b"changed\n"));
        assert_eq!(said(&collected), ["write a.txt \"changed\\n\""], "{mode:o} {on_a_copy}");
        assert_eq!(collected.told, Vec::<String>::new());
        let collected = bench.command(|bench| {
            put(&bench.up("shut/new"), b"n\n");
            if !on_a_copy {
                gone(&bench.up("gone"));
            }
            put(&bench.up("a.txt"), b"changed again\n");
        });
        assert_eq!(said(&collected), ["write a.txt \"changed again\\n\""]);
        let names = if on_a_copy { "shut" } else { "gone, shut" };
        // Made by hand, the folder in the layer has not the mode of the disk's.
        let mut told = collected.told.clone();
        told.retain(|told| !told.starts_with("the mode of a folder is not kept: "));
        assert!(
            told.len() == 1 && told[0].contains("could not be read") && told[0].contains(names),
            "{told:?}"
        );
        set_mode(&bench.disk("shut"), 0o700);
        set_mode(&bench.disk("gone"), 0o700);
    }
}

#[test]
fn folders_that_a_command_shut_are_written_and_removed() {
    for mode in [0o500, 0o400, 0o300, 0] {
        let mut bench = Bench::new(&[("a.txt", "a\n")]);
        let collected = bench.command(|bench| {
            put(&bench.up("k/x.txt"), b"x\n");
            put(&bench.up("k/sub/y.txt"), b"y\n");
            set_mode(&bench.up("k/sub"), mode);
            set_mode(&bench.up("k"), mode);
        });
        assert_eq!(said(&collected), ["write k/sub/y.txt \"y\\n\"", "write k/x.txt \"x\\n\""]);
        bench.change("k/x.txt", ProposedChange::Write(Text::from("the user's\n")));
        bench.materialise();
        assert_eq!(fs::read_to_string(bench.up("k/x.txt")).unwrap(), "the user's\n");
        set_mode(&bench.up("k/sub"), mode);
        set_mode(&bench.up("k"), mode);
        // All of it is rejected.
        bench.fork = Fork::new("s".into());
        bench.ever = Default::default();
        bench.materialise();
        assert!(!bench.up("k").exists(), "{mode:o}");
    }
}

/// Makes so many folders in each other, more than a path can name.
fn deep(folder: &Path, depth: usize) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut at = openat(CWD, folder, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&at, "deep", Mode::RWXU).unwrap();
        at = openat(&at, "deep", flags, Mode::empty()).unwrap();
    }
}

#[test]
fn a_deep_tree_in_git_is_put_back_like_any() {
    for (on_a_copy, depth) in [(false, 300), (false, 3_000), (true, 300), (true, 3_000)] {
        let mut bench = Bench::new(&[("a.txt", "a\n"), (".git/HEAD", "ref: refs/heads/main\n")]);
        if on_a_copy {
            bench = bench.on_a_copy(1 << 20);
        }
        let collected = bench.command(|bench| {
            fs::create_dir_all(bench.up(".git")).unwrap();
            deep(&bench.up(".git"), depth);
            put(&bench.up("a.txt"), b"changed\n");
        });
        assert_eq!(said(&collected), ["write a.txt \"changed\\n\""]);
        assert!(
            collected.told[0].starts_with("version control changes are not kept"),
            "{:?}",
            collected.told
        );
        bench.materialise();
    }
}

#[test]
fn a_deep_tree_in_the_place_of_a_file_goes_with_what_is_rejected() {
    for on_a_copy in [false, true] {
        let mut bench = Bench::new(&[("a.txt", "a\n")]);
        bench.open("a.txt", "unsaved\n");
        if on_a_copy {
            bench = bench.on_a_copy(1 << 20);
        }
        let (_, collected) = bench.collect(|bench| {
            fs::remove_file(bench.up("a.txt")).unwrap();
            fs::create_dir(bench.up("a.txt")).unwrap();
            deep(&bench.up("a.txt"), 1_500);
        });
        assert_eq!(said(&collected), ["delete a.txt"]);
        // Nothing of it is merged.
        bench.materialise();
        assert_eq!(fs::read_to_string(bench.up("a.txt")).unwrap(), "unsaved\n");
    }
}

#[test]
fn a_replaced_file_that_was_copied_up_and_cant_be_read_is_told() {
    if is_root() {
        return;
    }
    let mut bench = Bench::new(&[("own", "mine\n")]);
    set_mode(&bench.disk("own"), 0);
    let collected = bench.command(|bench| {
        put(&bench.up("own"), b"mine\n");
        copied_up(&bench.up("own"));
        put(&bench.up("new"), b"n\n");
    });
    assert_eq!(said(&collected), ["write new \"n\\n\""]);
    assert!(collected.told[0].contains("could not be read") && collected.told[0].contains("own"));
    assert_eq!(said(&bench.command(|_| ())), [""; 0]);
}
