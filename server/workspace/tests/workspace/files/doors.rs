//! Changes that no tool makes, changes that go only together, and former names of a file.

use super::bench::Bench;
use ropewalk_files::disk::FileError;
use ropewalk_text::{Change, ChangeSet, Text};
use ropewalk_workspace::publish::Failure;
use ropewalk_workspace::{HunkSelection, ProposedChange};

fn changes() -> Vec<ProposedChange> {
    vec![
        ProposedChange::Write(Text::from("new\n")),
        ProposedChange::Edit(ChangeSet::new(4, vec![Change::new(0..3, "two")]).unwrap()),
        ProposedChange::Delete,
        ProposedChange::Binary(b"\0"[..].into()),
        ProposedChange::Mode(0o755),
        ProposedChange::Link("elsewhere".into()),
    ]
}

#[test]
fn nothing_of_git_enters_the_fork() {
    let files: &[(&str, &[u8])] = &[
        (".git/config", b"one\n"),
        ("sub/.GIT/hooks/x", b"one\n"),
        ("worktree/.git", b"one\n"),
        ("bare/HEAD", b"one\n"),
        ("bare/objects/x", b"one\n"),
        ("bare/refs/x", b"one\n"),
        ("bare/config", b"one\n"),
        (".gitignore", b"one\n"),
        (".github/x.yml", b"one\n"),
        (".gitmodules", b"one\n"),
    ];
    for change in changes() {
        for (name, _) in files.iter().take(7) {
            let bench = Bench::new(files);
            let report = bench.propose(name, change.clone());
            assert_eq!(report.refused, [FileError::OfStore { path: (*name).to_owned() }], "{name}");
            assert!(bench.hunks().is_empty() && report.hunks.is_empty(), "{name}: {change:?}");
        }
        for (name, _) in files.iter().skip(7) {
            let bench = Bench::new(files);
            assert_eq!(bench.propose(name, change.clone()).refused, []);
            assert_eq!(bench.hunks().len(), 1, "{name}: {change:?}");
        }
    }
    let bench = Bench::new(files);
    for (from, to) in [
        (".git/config", "out"),
        ("bare/config", "out"),
        (".gitignore", ".git/info/exclude"),
        (".gitignore", "new/.Git/config"),
        (".gitignore", "git~1"),
    ] {
        assert_eq!(bench.rename(from, to).refused.len(), 1, "{from} to {to}");
    }
    assert_eq!(bench.review(), [""; 0]);
}

#[test]
fn the_last_part_of_a_repository_is_refused() {
    let bench = Bench::new(&[("near/refs/x", b"one\n")]);
    assert_eq!(bench.write("near/HEAD", "ref: refs/heads/main\n").refused, []);
    assert_eq!(bench.write("near/config", "[core]\n").refused, []);
    let report = bench.write("near/objects/x", "x\n");
    assert_eq!(report.refused, [FileError::OfStore { path: "near/objects/x".to_owned() }]);
    let write = |text: &str| ProposedChange::Write(Text::from(text));
    let all = vec![("a/HEAD", write("x")), ("a/refs/x", write("x")), ("a/objects/x", write("x"))];
    assert_eq!(bench.propose_all(all).refused.len(), 1, "in one call too");
}

#[test]
fn what_has_become_gits_is_not_published() {
    let bench = Bench::new(&[("near/config", b"one\n"), ("near/HEAD", b"one\n")]);
    bench.write("near/config", "two\n");
    for folder in ["near/objects", "near/refs"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    let report = bench.accept(&HunkSelection::All);
    assert_eq!(report.failed, [("near/config".to_owned(), Failure::OfStore)]);
    assert_eq!(std::fs::read(bench.path("near/config")).unwrap(), b"one\n");
}

#[test]
fn an_open_notebook_is_changed_by_its_cells_alone() {
    let bench = Bench::new(&[("n n.ipynb", b"{}"), ("a", b"one\n"), ("later.ipynb", b"{}")]);
    let path = |name: &str| bench.path(name).display().to_string().replace(' ', "%20");
    let open = |uri: &str| bench.workspace.open(uri, "python", 1, "1 + 1");
    let cell = open(&format!("vscode-notebook-cell:{}#W0sZmlsZQ%3D%3D", path("n n.ipynb")));
    assert!(cell.is_untitled());
    let refused = [FileError::OfNotebook { path: "n n.ipynb".to_owned() }];
    for change in changes() {
        assert_eq!(bench.propose("n n.ipynb", change).refused, refused);
    }
    assert_eq!(bench.rename("n n.ipynb", "out.ipynb").refused, refused);
    assert_eq!(bench.rename("a", "n n.ipynb").refused, refused);
    // One that is opened before its change is accepted isn't written either.
    assert_eq!(bench.write("later.ipynb", "{1}").refused, []);
    open(&format!("vscode-notebook-cell://ssh-remote%2Bx{}#W1", path("later.ipynb")));
    let report = bench.accept(&HunkSelection::All);
    assert_eq!(report.failed, [("later.ipynb".to_owned(), Failure::OfNotebook)]);
    assert_eq!(std::fs::read(bench.path("later.ipynb")).unwrap(), b"{}");
}

#[test]
fn what_moves_over_another_file_goes_only_with_it() {
    let files: &[(&str, &[u8])] = &[("a", b"one\n"), ("b", b"two\n"), (".git/x", b"two\n")];
    let over = |bench: &Bench, to: &str, also: bool| {
        let to_place = bench.workspace.roots().place_in(0, to.as_ref()).unwrap();
        let mut all = vec![("a", ProposedChange::MoveOver { to: to_place })];
        if also {
            all.push((to, ProposedChange::Write(Text::from("one\n"))));
        }
        bench.propose_all(all)
    };
    for (to, also, stays) in [("b", true, false), ("b", false, true), (".git/x", true, true)] {
        let bench = Bench::new(files);
        let before = bench.things();
        let report = over(&bench, to, also);
        assert_eq!(report.stays.is_empty(), !stays, "{to}");
        assert_eq!(bench.hunks().len(), if stays { 0 } else { 2 }, "{to}");
        let after = bench.accept_and_undo(&before);
        assert_eq!(after.contains_key("a"), stays, "{to}");
    }
    // Its place can't be read, so that no undo could bring that back.
    let bench = Bench::new(files);
    std::fs::File::create(bench.path("b")).unwrap().set_len((256 << 20) + 1).unwrap();
    let report = over(&bench, "b", true);
    assert_eq!((report.refused.len(), report.stays.as_slice()), (1, ["a".to_owned()].as_slice()));
    assert_eq!(bench.review(), [""; 0]);
}

#[test]
fn a_moved_file_is_known_by_all_its_names() {
    let bench = Bench::new(&[("a", b"one\n"), ("x", b"x\n"), ("over", b"y\n")]);
    let former = |name: &str| {
        let view = bench.view();
        let place = view.contain(name).unwrap();
        let shown = view.former_places(&place).into_iter().map(|place| place.shown);
        shown.collect::<Vec<_>>()
    };
    bench.rename("a", "b");
    assert_eq!(former("b"), ["a"]);
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    assert_eq!(former("b"), ["a"], "published too");
    bench.rename("b", "d/c");
    bench.write("d/c", "other\n");
    assert_eq!(former("d/c"), ["a", "b"]);
    assert_eq!(former("x"), [""; 0]);
    let again = bench.restarted();
    *bench.fork.lock().unwrap() = again;
    assert_eq!(former("d/c"), ["a", "b"], "in another process too");
    // A rename that becomes a deletion and a new file.
    bench.propose("over", ProposedChange::Delete);
    bench.rename("x", "over");
    assert_eq!(former("over"), ["x"]);
}
