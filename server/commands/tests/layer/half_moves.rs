//! A command's move of which one half can't be kept: then the other half isn't either, and no content is lost.

use crate::support::{Bench, gone, is_gone, put, said};
use ropewalk_commands::layer::file_time;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

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
        (OsStr::new(".git/x"), "git changes are not kept"),
        (OsStr::new(".GIT/x"), "git changes are not kept"),
        (OsStr::new("sub/.git"), "git changes are not kept"),
        (unnamed, "a name that is not UTF-8"),
        (OsStr::from_bytes(b"caf\xe9/in"), "a name that is not UTF-8"),
    ] {
        let mut bench = Bench::new(FILES);
        let (said, told) = moves(&mut bench, to);
        assert_eq!(said, [""; 0], "{to:?}");
        assert!(told.contains(words), "{told}");
        let half = "not deleted, because the place that it was moved to is not kept";
        assert!(told.contains(half) && told.contains("a.txt"), "{told}");
        assert_eq!(bench.reads("a.txt").as_deref(), Some("alpha\n"));
        // The next command sees it again.
        bench.materialise();
        assert!(!is_gone(&bench.up("a.txt")), "{to:?}");
    }
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
fn a_repository_without_a_work_tree_is_not_kept() {
    let mut bench = Bench::new(FILES);
    let collected = bench.command(|bench| {
        for name in ["HEAD", "config", "objects/x", "refs/x", "hooks/post-commit"] {
            put(&bench.up("bare").join(name), b"x\n");
        }
        put(&bench.up("made.txt"), b"made\n");
    });
    let told = collected.told.concat();
    assert!(told.contains("git's own data, which no tool changes"), "{told}");
    let kept = said(&collected);
    assert!(kept.contains(&"write made.txt \"made\\n\"".to_owned()), "{kept:?}");
    assert!(!kept.iter().any(|said| said.contains("bare/refs") && said.contains("bare/objects")));
}
