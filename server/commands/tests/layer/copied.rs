//! A layer that is a copy: what is in it, how it is kept in step, and what comes back.

use crate::support::{Bench, mode, put, said, set_mode, stamp};
use ropewalk_commands::layer::LayerError;
use ropewalk_text::Text;
use ropewalk_workspace::ProposedChange;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

const NOTHING: [&str; 0] = [];

#[test]
fn a_copy_has_what_is_not_ignored_and_the_view_over_it() {
    let mut bench = Bench::new(&[
        (".gitignore", "out/\n"),
        ("a.txt", "a\n"),
        ("d/b.sh", "b\n"),
        ("out/x", "x\n"),
        ("c", "c\n"),
    ]);
    set_mode(&bench.disk("d/b.sh"), 0o755);
    symlink("a.txt", bench.disk("link")).unwrap();
    fs::create_dir(bench.disk("empty")).unwrap();
    bench.open("a.txt", "unsaved\n");
    bench.change("c", ProposedChange::Delete);
    let mut bench = bench.on_a_copy(1 << 20);
    assert_eq!(bench.layer.in_copy(&bench.disk("d").canonicalize().unwrap()), Some(bench.up("d")));
    bench.materialise();
    assert_eq!(fs::read_to_string(bench.up("a.txt")).unwrap(), "unsaved\n");
    assert_eq!(fs::read_to_string(bench.up("d/b.sh")).unwrap(), "b\n");
    assert_eq!(
        (mode(&bench.up("d/b.sh")), stamp(&bench.up("d/b.sh")).1),
        (0o755, stamp(&bench.disk("d/b.sh")).1)
    );
    assert_eq!(fs::read_link(bench.up("link")).unwrap().to_str(), Some("a.txt"));
    assert!(bench.up("empty").is_dir() && !bench.up("out").exists() && !bench.up("c").exists());
    let before = stamp(&bench.up("d/b.sh"));
    assert_eq!(bench.materialise().1.changed, 0);
    assert_eq!(stamp(&bench.up("d/b.sh")), before);
    // The disk goes on.
    put(&bench.disk("d/b.sh"), b"saved\n");
    put(&bench.disk("new"), b"new\n");
    fs::remove_file(bench.disk("link")).unwrap();
    bench.materialise();
    assert_eq!(fs::read_to_string(bench.up("d/b.sh")).unwrap(), "saved\n");
    assert_eq!(fs::read_to_string(bench.up("new")).unwrap(), "new\n");
    assert!(!bench.up("link").is_symlink());
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
}

#[test]
fn what_a_command_does_to_a_copy_is_proposed() {
    let mut bench = Bench::new(&[
        (".gitignore", "out/\n"),
        ("a.txt", "a\n"),
        ("b.txt", "b\n"),
        ("d/c.txt", "c\n"),
        ("e.sh", "e\n"),
    ])
    .on_a_copy(1 << 20);
    let collected = bench.command(|bench| {
        put(&bench.up("a.txt"), b"changed\n");
        fs::rename(bench.up("b.txt"), bench.up("moved.txt")).unwrap();
        fs::remove_dir_all(bench.up("d")).unwrap();
        set_mode(&bench.up("e.sh"), 0o755);
        put(&bench.up("out/built"), b"built\n");
        put(&bench.up("new.txt"), b"new\n");
    });
    assert_eq!(
        said(&collected),
        [
            "rename b.txt to moved.txt",
            "delete d/c.txt",
            "write a.txt \"changed\\n\"",
            "mode e.sh 755",
            "write new.txt \"new\\n\""
        ]
    );
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
    assert!(
        bench.up("out/built").exists()
            && bench.up("new.txt").exists()
            && !bench.up("d/c.txt").exists()
    );
}

#[test]
fn a_file_that_changed_outside_is_a_conflict_in_a_copy_too() {
    let mut bench =
        Bench::new(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n"), ("both.txt", "x\n")])
            .on_a_copy(1 << 20);
    let collected = bench.command(|bench| {
        put(&bench.disk("a.txt"), b"the user's\n");
        put(&bench.up("a.txt"), b"the command's\n");
        put(&bench.disk("b.txt"), b"the user's\n");
        fs::remove_file(bench.up("b.txt")).unwrap();
        fs::remove_file(bench.disk("c.txt")).unwrap();
        put(&bench.up("c.txt"), b"the command's\n");
        fs::remove_file(bench.disk("both.txt")).unwrap();
        fs::remove_file(bench.up("both.txt")).unwrap();
    });
    assert_eq!(said(&collected), NOTHING);
    assert!(collected.told[0].contains("a.txt, b.txt, c.txt;"), "{:?}", collected.told);
    bench.materialise();
    assert_eq!(fs::read_to_string(bench.up("a.txt")).unwrap(), "the user's\n");
    assert_eq!(fs::read_to_string(bench.up("b.txt")).unwrap(), "the user's\n");
    assert!(!bench.up("c.txt").exists());
}

#[test]
fn git_can_be_read_in_a_copy_and_is_put_back() {
    let bench = Bench::new(&[("a.txt", "a\n")]);
    let git = |folder: &std::path::Path, args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(folder).args(["-c", "user.name=n", "-c", "user.email=e@e"]).args(args);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    git(&bench.disk(""), &["init", "-q"]);
    git(&bench.disk(""), &["add", "."]);
    git(&bench.disk(""), &["commit", "-qm", "first"]);
    let mut bench = bench.on_a_copy(1 << 20);
    let collected = bench.command(|bench| {
        assert_eq!(git(&bench.up(""), &["status", "--short"]), "");
        assert!(git(&bench.up(""), &["log", "--oneline"]).ends_with(" first\n"));
    });
    assert_eq!((said(&collected), collected.told), (vec![], vec![]));
    let collected = bench.command(|bench| {
        put(&bench.up("a.txt"), b"changed\n");
        git(&bench.up(""), &["commit", "-qam", "second"]);
    });
    assert_eq!(said(&collected), ["write a.txt \"changed\\n\""]);
    assert!(
        collected.told[0].starts_with("version control changes are not kept"),
        "{:?}",
        collected.told
    );
    bench.materialise();
    assert!(git(&bench.up(""), &["log", "--oneline"]).ends_with(" first\n"));
    assert_eq!(git(&bench.up(""), &["status", "--short"]), " M a.txt\n");
}

#[test]
fn a_worktrees_repository_is_not_reached_from_a_copy_and_that_is_said_once() {
    let mut bench =
        Bench::new(&[("a.txt", "a\n"), (".git", "gitdir: /elsewhere/.git/worktrees/w\n")])
            .on_a_copy(1 << 20);
    let (_, made) = bench.materialise();
    assert!(
        made.told[0].starts_with("version control can't be used in the copy"),
        "{:?}",
        made.told
    );
    assert!(bench.up("a.txt").exists() && !bench.up(".git").exists());
    assert_eq!(bench.materialise().1.told, NOTHING);
}

#[test]
fn what_is_too_large_is_refused_in_words() {
    let mut bench =
        Bench::new(&[(".gitignore", "big\n"), ("a.txt", "a\n"), ("big", "")]).on_a_copy(1 << 20);
    fs::File::create(bench.disk("big")).unwrap().set_len(1 << 30).unwrap();
    bench.materialise();
    fs::File::create(bench.disk("bigger")).unwrap().set_len(1 << 21).unwrap();
    let view = bench.view();
    let error = bench.layer.materialise(&view, &mut bench.ever).unwrap_err();
    assert!(matches!(error, LayerError::TooLarge { most: 1 }), "{error}");
    assert!(error.to_string().contains(".gitignore"));
}

#[test]
fn a_fork_of_a_copy_is_a_copy() {
    let mut bench = Bench::new(&[(".gitignore", "out/\n"), ("a.txt", "a\n")]).on_a_copy(1 << 20);
    bench.change("a.txt", ProposedChange::Write(Text::from("changed\n")));
    bench.command(|bench| put(&bench.up("out/built"), b"built\n"));
    let folder = bench.dir.path().join("layer/b1");
    let mut other = bench.layer.fork_to(&folder, u64::MAX).unwrap();
    let view = bench.view();
    other.materialise(&view, &mut bench.ever).unwrap();
    let read = |name: &str| fs::read_to_string(folder.join("0/up").join(name)).unwrap();
    assert_eq!((read("a.txt"), read("out/built")), ("changed\n".into(), "built\n".into()));
}
