//! A user who types faster than an edit can come and go: it is made in the first pause at the latest, and no key is lost,
//! doubled, or misplaced.

use futures::future::{BoxFuture, ready};
use proptest::prelude::*;
use ropewalk_text::{Coordinates, Position, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{Failure, PublishBounds, PublishReport, publish};
use ropewalk_workspace::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long one that holds changes back waits for another key.
const HELD_BACK: Duration = Duration::from_millis(500);

const TEXT: &str = "typed:\n\none\n";

/// An editor that needs some time for an edit, and makes it only in the text that it is for.
#[derive(Clone)]
struct SlowEditor {
    workspace: Arc<Workspace>,
    uri: String,
    habits: Habits,
    way: Duration,
    is_read_only: bool,
    version: Arc<Mutex<i32>>,
    asked: Arc<Mutex<usize>>,
    /// Keys that it has not told yet.
    held: Arc<Mutex<Vec<ContentChange>>>,
}

impl SlowEditor {
    fn change(&self, changes: &[ContentChange]) {
        let mut version = self.version.lock().unwrap();
        *version += 1;
        let changed = self.workspace.change(&self.uri, *version, changes).unwrap();
        assert_eq!(changed.desync_alarms, 0);
    }

    /// Types a key behind all others in the first line.
    fn press(&self, count: u32) {
        let at = Position::new(0, 6 + count);
        let change = ContentChange { range: Some((at, at)), text: key(count).to_string() };
        if self.habits.holds_changes_back {
            *self.version.lock().unwrap() += 1;
            self.held.lock().unwrap().push(change);
        } else {
            self.change(&[change]);
        }
    }

    /// Tells what it has held back.
    fn tell_held(&self) {
        let held = std::mem::take(&mut *self.held.lock().unwrap());
        if !held.is_empty() {
            self.workspace.change(&self.uri, *self.version.lock().unwrap(), &held).unwrap();
        }
    }
}

/// The key of this number.
fn key(number: u32) -> char {
    char::from_digit(number % 36, 36).unwrap()
}

impl Editor for SlowEditor {
    fn habits(&self) -> Habits {
        self.habits
    }
    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        let own = self.clone();
        Box::pin(async move {
            *own.asked.lock().unwrap() += 1;
            tokio::time::sleep(own.way).await;
            if own.is_read_only || edit.version != *own.version.lock().unwrap() {
                let refused = EditorError::Refused("it has changed in the meantime".to_owned());
                return if own.habits.answers_truly { Err(refused) } else { Ok(()) };
            }
            let change = |(start, end, text)| ContentChange { range: Some((start, end)), text };
            own.change(&edit.edits.into_iter().rev().map(change).collect::<Vec<_>>());
            Ok(())
        })
    }
    fn barrier(&self) -> BoxFuture<'static, ()> {
        Box::pin(ready(()))
    }
    fn save(&self, _: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(ready(Ok(())))
    }
    fn diagnostics(&self, _: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        Box::pin(ready(Ok(String::new())))
    }
}

/// Accepts a change of `a.txt` while `keys` are typed, one each `every`; gives what came of it, and the text at the end.
fn accept(
    name: &str,
    way: u64,
    is_read_only: bool,
    keys: u32,
    every: u64,
) -> (PublishReport, String, usize) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let workspace = Workspace::new(Roots::new(vec![("w".to_owned(), root.clone())]));
    let habits = Habits::of(Some(name));
    let coordinates = Coordinates { line_ends: habits.line_ends, ..Default::default() };
    workspace.set_client(coordinates, habits);
    std::fs::write(root.join("a.txt"), TEXT).unwrap();
    let uri = DocId::from_path(&root.join("a.txt")).to_uri();
    let id = workspace.open(&uri, "text", 0, TEXT);
    workspace.change(&uri, 3, &[]);
    let workspace = Arc::new(workspace);
    let editor = SlowEditor {
        workspace: workspace.clone(),
        uri,
        habits,
        way: Duration::from_millis(way),
        is_read_only,
        version: Arc::new(Mutex::new(3)),
        asked: Arc::default(),
        held: Arc::default(),
    };
    let mut fork = Fork::new("s".into());
    let view = fork.view(workspace.snapshot());
    let change = ProposedChange::Write(Text::from(TEXT.replace("one", "ONE").as_str()));
    let proposal = Proposal { place: view.contain("a.txt").unwrap(), change };
    fork.merge(&workspace, &view, 1, &Maker::Call("c".into()), vec![proposal]);
    let fork = Mutex::new(fork);
    let typing = async {
        for count in 0..keys {
            editor.press(count);
            tokio::time::sleep(Duration::from_millis(every)).await;
        }
        tokio::time::sleep(HELD_BACK).await;
        editor.tell_held();
    };
    let bounds = PublishBounds::default();
    let accepting = publish(&workspace, &editor, &fork, &HunkSelection::All, bounds);
    // Its clock stands still while something can be done.
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).build().unwrap();
    let (report, ()) = runtime.block_on(futures::future::join(accepting, typing));
    let text = workspace.with_document(&id, |document| document.text().to_string()).unwrap();
    let asked = *editor.asked.lock().unwrap();
    (report, text, asked)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_accepted_change_comes_in_the_first_pause(
        name in prop::sample::select(&["Visual Studio Code", "Neovim", "Emacs"][..]),
        way in 1..150_u64,
        keys in 0..90_u32,
        every in 1..100_u64,
    ) {
        let (report, text, _) = accept(name, way, false, keys, every);
        prop_assert_eq!(report.failed, []);
        let typed: String = (0..keys).map(key).collect();
        prop_assert_eq!(text, format!("typed:{typed}\n\nONE\n"));
    }
}

#[test]
fn an_editor_that_never_makes_it_is_asked_no_more_in_a_pause() {
    let (report, text, asked) = accept("Visual Studio Code", 40, true, 20, 20);
    assert!(matches!(&report.failed[..], [(_, Failure::Refused(_))]), "{report:?}");
    assert!(text.ends_with("one\n"));
    assert!((8..12).contains(&asked), "{asked}");
}
