//! A session's fork over open documents: merge, review, publish and undo, with an editor in memory that
//! applies or skips what it is told to.

use futures::future::BoxFuture;
use ropewalk_text::{Coordinates, Position, Text, diff};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{PublishBounds, publish};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::*;
use std::sync::{Arc, Mutex};

const URI: &str = "untitled:a";

/// Applies edits to its buffer and echoes them at once.
struct Echo {
    workspace: Arc<Workspace>,
    buffer: Mutex<(i32, Text)>,
}

impl Editor for Echo {
    fn habits(&self) -> Habits {
        Habits::of(Some("Visual Studio Code"))
    }
    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        let mut buffer = self.buffer.lock().unwrap();
        if edit.version != buffer.0 {
            return Box::pin(async { Err(EditorError::Declined(String::new())) });
        }
        buffer.0 += 1;
        let version = buffer.0;
        let changes: Vec<ContentChange> = edit
            .edits
            .into_iter()
            .rev()
            .map(|(start, end, text)| ContentChange { range: Some((start, end)), text })
            .collect();
        self.workspace.change(URI, version, &changes);
        buffer.1 =
            self.workspace.with_document(&DocId::from_uri(URI), |d| d.text().clone()).unwrap();
        Box::pin(async { Ok(()) })
    }
    fn barrier(&self) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
    fn save(&self, _: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(async { Ok(()) })
    }
    fn diagnostics(&self, _: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        Box::pin(async { Ok(String::new()) })
    }
}

struct Bench {
    dir: tempfile::TempDir,
    workspace: Arc<Workspace>,
    editor: Echo,
    fork: Mutex<Fork>,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let roots = Roots::new(vec![("w".to_owned(), dir.path().to_owned())]);
        let workspace = Arc::new(Workspace::new(roots));
        workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
        let editor =
            Echo { workspace: workspace.clone(), buffer: Mutex::new((1, Text::default())) };
        Self { dir, workspace, editor, fork: Mutex::new(Fork::new("s".into())) }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn call<T>(&self, f: impl FnOnce(&View) -> T) -> (View, T) {
        let mut fork = self.fork.lock().unwrap();
        self.workspace.look_at_disks();
        fork.sync_now(&self.workspace);
        let view = fork.view(self.workspace.snapshot());
        let out = f(&view);
        (view, out)
    }

    fn propose(&self, change: impl FnOnce(&View) -> Proposal) -> MergeReport {
        let (view, proposal) = self.call(change);
        let mut fork = self.fork.lock().unwrap();
        fork.merge(&self.workspace, &view, 1, &Maker::Call("c1".into()), vec![proposal])
    }

    fn write(&self, name: &str, text: &str) -> MergeReport {
        self.propose(|view| Proposal {
            place: view.contain(name).unwrap(),
            change: ProposedChange::Write(Text::from(text)),
        })
    }

    fn accept(&self, selection: HunkSelection) -> publish::PublishReport {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(publish(
            &self.workspace,
            &self.editor,
            &self.fork,
            &selection,
            PublishBounds::default(),
        ))
    }

    fn undo(&self, selection: HunkSelection) -> publish::PublishReport {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(undo(
            &self.workspace,
            &self.editor,
            &self.fork,
            &selection,
            PublishBounds::default(),
        ))
    }

    fn disk(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }
}

#[test]
fn closed_files_are_written_when_accepted_and_come_back() {
    let bench =
        Bench::new(&[("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n"), ("gone.txt", "bye\n")]);
    bench.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\nSIX\n");
    bench.write("new/b.txt", "fresh\n");
    bench.propose(|view| Proposal {
        place: view.contain("gone.txt").unwrap(),
        change: ProposedChange::Delete,
    });
    let hunks = bench.fork.lock().unwrap().hunks();
    assert_eq!(hunks.len(), 4, "{hunks:#?}");
    assert_eq!(
        bench.disk("a.txt").unwrap(),
        "one\ntwo\nthree\nfour\nfive\nsix\n",
        "nothing before a yes"
    );

    let first = hunks.iter().find(|hunk| hunk.new == "ONE\n").unwrap().id;
    assert_eq!(bench.accept(HunkSelection::Hunks(vec![first])).failed, []);
    assert_eq!(bench.disk("a.txt").unwrap(), "ONE\ntwo\nthree\nfour\nfive\nsix\n");
    assert_eq!(bench.fork.lock().unwrap().hunks().len(), 3);

    let report = bench.accept(HunkSelection::All);
    assert_eq!(report.failed, []);
    assert_eq!(bench.disk("a.txt").unwrap(), "ONE\ntwo\nthree\nfour\nfive\nSIX\n");
    assert_eq!(bench.disk("new/b.txt").unwrap(), "fresh\n");
    assert_eq!(bench.disk("gone.txt"), None);
    assert!(bench.fork.lock().unwrap().is_empty());

    assert_eq!(bench.undo(HunkSelection::Turn(1)).failed, []);
    assert_eq!(bench.disk("a.txt").unwrap(), "one\ntwo\nthree\nfour\nfive\nsix\n");
    assert_eq!(bench.disk("gone.txt").unwrap(), "bye\n");
    assert_eq!(bench.disk("new/b.txt"), None);
}

#[test]
fn a_renamed_file_keeps_what_is_pending_in_it() {
    let bench = Bench::new(&[("a.txt", "one\ntwo\n")]);
    bench.write("a.txt", "one\n2\n");
    let to = |view: &View| view.contain("b.txt").unwrap();
    bench.propose(|view| Proposal {
        place: view.contain("a.txt").unwrap(),
        change: ProposedChange::Rename { to: to(view) },
    });
    let (_, (old, new)) = bench.call(|view| {
        (view.read(&view.contain("a.txt").unwrap()).unwrap(), view.read(&to(view)).unwrap())
    });
    assert!(matches!(old, FileState::Missing));
    assert!(matches!(new, FileState::Text { text, .. } if text == Text::from("one\n2\n")));
    assert_eq!(bench.accept(HunkSelection::All).failed, []);
    assert_eq!((bench.disk("a.txt"), bench.disk("b.txt").as_deref()), (None, Some("one\n2\n")));
    assert_eq!(bench.undo(HunkSelection::All).failed, []);
    assert_eq!((bench.disk("a.txt").as_deref(), bench.disk("b.txt")), (Some("one\ntwo\n"), None));
}

#[test]
fn a_rejected_rename_leaves_the_file_where_it_was() {
    let bench = Bench::new(&[("a.txt", "one\ntwo\n")]);
    bench.propose(|view| Proposal {
        place: view.contain("a.txt").unwrap(),
        change: ProposedChange::Rename { to: view.contain("b.txt").unwrap() },
    });
    bench.write("b.txt", "one\n2\n");
    let rename =
        bench.fork.lock().unwrap().hunks().into_iter().find(|h| h.kind != HunkKind::Text).unwrap();
    bench.fork.lock().unwrap().reject(
        &bench.workspace,
        &HunkSelection::Hunks(vec![rename.id]),
        Some("no"),
    );
    assert_eq!(bench.accept(HunkSelection::All).failed, []);
    assert_eq!((bench.disk("a.txt").as_deref(), bench.disk("b.txt")), (Some("one\n2\n"), None));
}

#[test]
fn an_unsaved_buffer_is_edited_through_the_editor_and_the_disk_is_left_alone() {
    let bench = Bench::new(&[("a.txt", "one\ntwo\n")]);
    let uri = DocId::from_path(&bench.path("a.txt").canonicalize().unwrap()).to_uri();
    bench.workspace.open(&uri, "text", 1, "one, unsaved\ntwo\n");
    let report = bench.write("a.txt", "one, unsaved\n2\n");
    assert_eq!(report.hunks.len(), 1);
    // The user types above while the hunk waits.
    let change = ContentChange {
        range: Some((Position::new(0, 0), Position::new(0, 0))),
        text: "zero\n".into(),
    };
    bench.workspace.change(&uri, 2, &[change]);
    let mut fork = bench.fork.lock().unwrap();
    fork.sync_now(&bench.workspace);
    let hunks = fork.hunks();
    assert_eq!(hunks[0].lines, 2..3);
    assert_eq!(hunks[0].diff, "@@ -1,3 +1,3 @@\n zero\n one, unsaved\n-two\n+2\n");
    assert_eq!(bench.disk("a.txt").unwrap(), "one\ntwo\n");
}

#[test]
fn what_the_user_changed_is_a_conflict_and_told() {
    let bench = Bench::new(&[("a.txt", "one\ntwo\n")]);
    let uri = DocId::from_path(&bench.path("a.txt").canonicalize().unwrap()).to_uri();
    bench.workspace.open(&uri, "text", 1, "one\ntwo\n");
    bench.write("a.txt", "one\n2\n");
    let change = ContentChange {
        range: Some((Position::new(1, 1), Position::new(1, 2))),
        text: "xx".into(),
    };
    bench.workspace.change(&uri, 2, &[change]);
    bench.fork.lock().unwrap().sync_now(&bench.workspace);
    assert!(bench.fork.lock().unwrap().is_empty());
    let news = bench.workspace.take_news("s");
    assert!(matches!(&news[..], [Note::Conflict { now, .. }] if now == "txxo\n"), "{news:?}");
}

#[test]
fn a_deleted_file_can_be_written_anew() {
    let bench = Bench::new(&[("a.txt", "one\ntwo\n")]);
    bench.propose(|view| Proposal {
        place: view.contain("a.txt").unwrap(),
        change: ProposedChange::Delete,
    });
    bench.write("a.txt", "one\nthree\n");
    let (_, state) = bench.call(|view| view.read(&view.contain("a.txt").unwrap()).unwrap());
    assert!(matches!(state, FileState::Text { text, .. } if text == Text::from("one\nthree\n")));
    assert_eq!(bench.accept(HunkSelection::All).failed, []);
    assert_eq!(bench.disk("a.txt").unwrap(), "one\nthree\n");
    assert_eq!(bench.undo(HunkSelection::All).failed, []);
    assert_eq!(bench.disk("a.txt").unwrap(), "one\ntwo\n");
}

#[test]
fn an_edit_of_what_another_call_made_away_with_meanwhile_is_a_conflict() {
    let binary = ProposedChange::Binary(Arc::from(&b"\0"[..]));
    for change in [ProposedChange::Delete, ProposedChange::Link("b.txt".into()), binary] {
        let bench = Bench::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "b\n")]);
        let (before, place) = bench.call(|view| view.contain("a.txt").unwrap());
        let name = format!("{change:?}");
        bench.propose(|_| Proposal { place: place.clone(), change });
        let set = diff(&Text::from("one\ntwo\n"), &Text::from("1\ntwo\n"));
        let edit = Proposal { place, change: ProposedChange::Edit(set) };
        let mut fork = bench.fork.lock().unwrap();
        let by = Maker::Call("c2".into());
        let report = fork.merge(&bench.workspace, &before, 1, &by, vec![edit]);
        assert_eq!(report.conflicts, ["a.txt"], "{name}");
        assert_eq!(fork.hunks().len(), 1, "{name}");
    }
}

#[test]
fn an_edit_of_what_another_call_renamed_meanwhile_is_not_lost_unsaid() {
    let bench = Bench::new(&[("a.txt", "one\ntwo\n")]);
    let (before, place) = bench.call(|view| view.contain("a.txt").unwrap());
    bench.propose(|view| Proposal {
        place: place.clone(),
        change: ProposedChange::Rename { to: view.contain("b.txt").unwrap() },
    });
    let set = diff(&Text::from("one\ntwo\n"), &Text::from("1\ntwo\n"));
    let edit = Proposal { place, change: ProposedChange::Edit(set) };
    let by = Maker::Call("c2".into());
    let report = bench.fork.lock().unwrap().merge(&bench.workspace, &before, 1, &by, vec![edit]);
    let (_, text) = bench.call(|view| view.read(&view.contain("b.txt").unwrap()).unwrap());
    let is_there = matches!(&text, FileState::Text { text, .. } if *text == Text::from("1\ntwo\n"));
    assert!(is_there || report.conflicts == ["a.txt"], "{text:?} {report:?}");
}

#[test]
fn a_renamed_binary_file_keeps_its_bytes_and_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new(&[]);
    let bytes = b"\x7fELF\0\xff".as_slice();
    std::fs::write(bench.path("tool"), bytes).unwrap();
    std::fs::set_permissions(bench.path("tool"), std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.propose(|view| Proposal {
        place: view.contain("tool").unwrap(),
        change: ProposedChange::Rename { to: view.contain("bin").unwrap() },
    });
    let (_, state) = bench.call(|view| view.read(&view.contain("bin").unwrap()).unwrap());
    assert!(matches!(state, FileState::Binary { .. }));
    assert_eq!(bench.accept(HunkSelection::All).failed, []);
    assert_eq!(std::fs::read(bench.path("bin")).unwrap(), bytes);
    assert_eq!(std::fs::metadata(bench.path("bin")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!bench.path("tool").exists());
    assert_eq!(bench.undo(HunkSelection::All).failed, []);
    assert_eq!(std::fs::read(bench.path("tool")).unwrap(), bytes);
}

#[test]
fn text_over_a_binary_file_is_a_text_from_then_on() {
    let bench = Bench::new(&[]);
    std::fs::write(bench.path("a"), b"\0\x01").unwrap();
    bench.write("a", "text\n");
    let (_, state) = bench.call(|view| view.read(&view.contain("a").unwrap()).unwrap());
    assert!(matches!(state, FileState::Text { .. }));
    assert_eq!(bench.accept(HunkSelection::All).failed, []);
    assert_eq!(bench.disk("a").unwrap(), "text\n");
    assert_eq!(bench.undo(HunkSelection::All).failed, []);
    assert_eq!(std::fs::read(bench.path("a")).unwrap(), b"\0\x01");
}
