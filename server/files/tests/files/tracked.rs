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
