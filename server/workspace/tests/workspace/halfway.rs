//! A user who types exactly one place of an edit while it is under way, in an editor that skips the edit and says that it
//! made it: what they typed stays once, the rest is given up as soon as the editor has told all, and can be accepted again.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use ropewalk_text::{Coordinates, Position, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{Failure, PublishBounds, PublishReport, publish};
use ropewalk_workspace::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Neovim, and a user who is as quick as it.
struct Typist {
    workspace: Arc<Workspace>,
    uri: String,
    is_typing: AtomicBool,
}

impl Typist {
    fn new(workspace: &Arc<Workspace>, uri: &str) -> Self {
        let (workspace, uri) = (workspace.clone(), uri.to_owned());
        Self { workspace, uri, is_typing: AtomicBool::new(true) }
    }
}

impl Editor for Typist {
    fn habits(&self) -> Habits {
        Habits::of(Some("Neovim"))
    }
    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        let places = edit.edits.into_iter().rev();
        let mut changes: Vec<ContentChange> = places
            .map(|(start, end, text)| ContentChange { range: Some((start, end)), text })
            .collect();
        if self.is_typing.swap(false, Ordering::Relaxed) {
            changes.truncate(1);
        }
        self.workspace.change(&self.uri, edit.version + 1, &changes);
        ready(Ok(())).boxed()
    }
    fn barrier(&self) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }
    fn save(&self, _: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        ready(Ok(())).boxed()
    }
    fn diagnostics(&self, _: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        ready(Ok(String::new())).boxed()
    }
}

const TEXT: &str = "one\n\n\n\n\n\n\ntwo\n";

const PROPOSED: &str = "ONE\n\n\n\n\n\n\nTWO\n";

/// `a.txt` with [`TEXT`], open in Neovim, past the first version, which Neovim never checks.
struct OpenedFile {
    workspace: Arc<Workspace>,
    uri: String,
    id: DocId,
    _dir: tempfile::TempDir,
}

impl OpenedFile {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let workspace = Workspace::new(Roots::new(vec![("w".to_owned(), root.clone())]));
        let habits = Habits::of(Some("Neovim"));
        let coordinates = Coordinates { line_ends: habits.line_ends, ..Default::default() };
        workspace.set_client(coordinates, habits);
        std::fs::write(root.join("a.txt"), TEXT).unwrap();
        let uri = DocId::from_path(&root.join("a.txt")).to_uri();
        let id = workspace.open(&uri, "text", 0, TEXT);
        workspace.change(&uri, 3, &[]);
        Self { workspace: Arc::new(workspace), uri, id, _dir: dir }
    }
}

/// A runtime whose clock stands still while something can be done.
fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().unwrap()
}

#[test]
fn what_was_made_under_the_old_name_of_a_file_is_done() {
    let OpenedFile { workspace, uri, .. } = &OpenedFile::new();
    let mut fork = Fork::new("s".into());
    let to = |view: &View| view.contain("b.txt").unwrap();
    for is_rename in [true, false] {
        fork.sync_now(workspace);
        let view = fork.view(workspace.snapshot());
        let (place, change) = match is_rename {
            true => (view.contain("a.txt").unwrap(), ProposedChange::Rename { to: to(&view) }),
            false => (to(&view), ProposedChange::Write(Text::from(PROPOSED))),
        };
        let proposals = vec![Proposal { place, change }];
        fork.merge(workspace, &view, 1, &Maker::Call("c".into()), proposals);
    }
    let texts = fork.hunks().into_iter().filter(|hunk| hunk.kind == HunkKind::Text);
    let texts: Vec<Hunk> = texts.collect();
    let second = texts.iter().find(|hunk| hunk.new == "TWO\n").unwrap().id;
    let chosen = HunkSelection::Hunks(texts.iter().map(|hunk| hunk.id).collect());
    let fork = Mutex::new(fork);
    let editor = Typist::new(workspace, uri);
    let runtime = runtime();
    let publishing = publish(workspace, &editor, &fork, &chosen, PublishBounds::default());
    let report = runtime.block_on(publishing);
    assert_eq!(report.failed, [("b.txt".to_owned(), Failure::Unconfirmed)]);
    assert_eq!(report.done, [second]);
}

#[test]
fn the_rest_is_not_waited_for_when_all_was_told() {
    let OpenedFile { workspace, uri, id, .. } = &OpenedFile::new();
    let mut fork = Fork::new("s".into());
    let view = fork.view(workspace.snapshot());
    let change = ProposedChange::Write(Text::from(PROPOSED));
    let proposal = Proposal { place: view.contain("a.txt").unwrap(), change };
    fork.merge(workspace, &view, 1, &Maker::Call("c".into()), vec![proposal]);
    let fork = Mutex::new(fork);
    let editor = Typist::new(workspace, uri);
    let now = || workspace.with_document(id, |document| document.text().to_string()).unwrap();
    let runtime = runtime();
    let accept = || -> (PublishReport, Duration) {
        runtime.block_on(async {
            let start = tokio::time::Instant::now();
            let all =
                publish(workspace, &editor, &fork, &HunkSelection::All, PublishBounds::default());
            (all.await, start.elapsed())
        })
    };
    let (report, waited) = accept();
    assert_eq!(report.failed, [("a.txt".to_owned(), Failure::Unconfirmed)]);
    assert!(waited < Duration::from_secs(1), "{waited:?}");
    assert_eq!(now(), TEXT.replace("two", "TWO"));
    // The next key says that the rest was skipped.
    let at = Some((Position::new(3, 0), Position::new(3, 0)));
    let version = workspace.with_document(id, |document| document.version).unwrap();
    workspace.change(uri, version + 1, &[ContentChange { range: at, text: "x".to_owned() }]);
    assert_eq!(accept().0.failed, []);
    assert_eq!(now(), "ONE\n\n\nx\n\n\n\nTWO\n");
}
