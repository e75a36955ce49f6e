//! Which files git tracks, as git itself made the index.
#![expect(clippy::unwrap_used, reason = "tests may be blunt")]

use ropewalk_files::tracked::{TrackedFiles, index_entries};
use std::fs;
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, args: &[&str]) {
    let own = ["-c", "user.name=n", "-c", "user.email=e@example.invalid"];
    let done = Command::new("git").current_dir(folder).args(own).args(args).output().unwrap();
    assert!(done.status.success(), "{args:?} {done:?}");
}

fn names(top: &Path, below: &str) -> Vec<String> {
    let tracked = TrackedFiles::of(top);
    tracked.below(Path::new(below)).map(|name| name.to_str().unwrap().to_owned()).collect()
}

/// A folder with some files, and a repository made with these words.
fn repository(init: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "src/longer-name.rs", "src/longer-name-2.rs", "src/z", "src.rs", "caf\u{e9}"]
    {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    git(dir.path(), &[&["init", "-q"], init].concat());
    dir
}

#[test]
fn an_index_of_each_form_names_what_is_tracked() {
    let all = ["a", "caf\u{e9}", "src.rs", "src/longer-name-2.rs", "src/longer-name.rs", "src/z"];
    for (version, init) in [
        ("2", &[][..]),
        ("3", &[]),
        ("4", &[]),
        ("4", &["--object-format=sha256"]),
        ("2", &["--object-format=sha256"]),
    ] {
        let dir = repository(init);
        let top = dir.path();
        assert_eq!(names(top, ""), [""; 0], "nothing is tracked yet");
        git(top, &["update-index", "--index-version", version]);
        git(top, &["add", "."]);
        if version == "3" {
            git(top, &["update-index", "--skip-worktree", "src.rs"]);
        }
        assert_eq!(names(top, ""), all, "version {version} {init:?}");
        assert_eq!(names(top, "src"), all[3..]);
        let tracked = TrackedFiles::of(top);
        for (name, holds) in [
            ("a", true),
            ("src", true),
            ("src/z", true),
            ("sr", false),
            ("src/", true),
            ("b", false),
        ] {
            assert_eq!(tracked.holds(Path::new(name)), holds, "{name}");
        }
        // The next index is seen, and is split from the first.
        git(top, &["update-index", "--split-index"]);
        git(top, &["rm", "-q", "--cached", "src/z", "a"]);
        fs::write(top.join("b"), "b").unwrap();
        git(top, &["add", "b"]);
        let now = ["b", "caf\u{e9}", "src.rs", "src/longer-name-2.rs", "src/longer-name.rs"];
        assert_eq!(names(top, ""), now, "version {version} {init:?}, split");
        let bytes = fs::read(top.join(".git/index")).unwrap();
        for cut in 0..bytes.len() {
            let _ = index_entries(&bytes[..cut]);
        }
    }
}

#[test]
fn a_linked_work_tree_has_an_index_of_its_own() {
    let dir = repository(&["-b", "main"]);
    git(dir.path(), &["add", "a"]);
    git(dir.path(), &["commit", "-qm", "first"]);
    let linked = dir.path().join("linked");
    git(dir.path(), &["worktree", "add", "-q", linked.to_str().unwrap()]);
    fs::write(linked.join("only"), "here").unwrap();
    git(&linked, &["add", "only"]);
    assert_eq!(names(dir.path(), ""), ["a"]);
    assert_eq!(names(&linked, ""), ["a", "only"]);
}

/// An index of this version with these entries and extensions.
fn index(version: u32, count: u32, rest: &[u8]) -> Vec<u8> {
    [b"DIRC", &version.to_be_bytes()[..], &count.to_be_bytes(), rest, &[0; 20]].concat()
}

#[test]
fn a_hostile_index_takes_no_more_than_its_length() {
    // A bitmap of 4 billion ones in 32 bytes, over a shared index that has three entries.
    let run = (1_u64 << 27) - 1;
    let bitmap = [&u32::MAX.to_be_bytes()[..], &1_u32.to_be_bytes(), &run.to_be_bytes(), &[0; 4]];
    let link = [&[7; 20][..], &bitmap.concat()].concat();
    let len = u32::try_from(link.len()).unwrap().to_be_bytes();
    let split = index(2, 0, &[b"link", &len[..], &link].concat());
    let dir = repository(&[]);
    git(dir.path(), &["add", "a", "src"]);
    let own = dir.path().join(".git");
    fs::rename(own.join("index"), own.join(format!("sharedindex.{}", "07".repeat(20)))).unwrap();
    fs::write(own.join("index"), &split).unwrap();
    assert!(names(dir.path(), "").is_empty(), "all entries of the other are taken out");
    // Each name goes on where the one before it ends.
    let entry = |cut: u8, name: &[u8]| [&[0; 62][..], &[cut], name, &[0]].concat();
    let long = [entry(0, &[b'a'; 5_000]), entry(0, b"b")].concat();
    assert!(index_entries(&index(4, 2, &long)).is_none());
    let short = [entry(0, &[b'a'; 4_000]), entry(0, b"b")].concat();
    assert_eq!(index_entries(&index(4, 2, &short)).unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn only_a_plain_file_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), dir.path()] {
        assert!(ropewalk_files::disk::read_plain(path, 10).is_err(), "{}", path.display());
    }
    let file = dir.path().join("file");
    fs::write(&file, "0123456789").unwrap();
    assert_eq!(ropewalk_files::disk::read_plain(&file, 10).unwrap(), b"0123456789");
    assert!(ropewalk_files::disk::read_plain(&file, 9).is_err());
}
