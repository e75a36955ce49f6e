//! Pending hunks that were kept beside the fork stand where the fork would have them, whatever the user types around
//! them; and those that were accepted since are not among them.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use proptest::prelude::*;
use ropewalk_text::{Coordinates, Position, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{PublishBounds, publish};
use ropewalk_workspace::*;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Ten lines, `0` to `9`.
const TEXT: &str = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// The text after the agent's changes: a line replaced, two put in, one taken out.
const PROPOSED: &str = "0\n1\ntwo\n3\n4\n5\nnew\nnewer\n6\n7\n9\n";

/// The lines that no change touches, nor the user's line ends at.
const FREE: [&str; 4] = ["0", "3", "4", "7"];

/// An editor that makes every edit at once.
struct Echo(Arc<Workspace>, String);

impl Editor for Echo {
    fn habits(&self) -> Habits {
        Habits::of(Some("Visual Studio Code"))
    }
    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        let edits = edit.edits.into_iter().rev();
        let changes: Vec<ContentChange> = edits
            .map(|(start, end, text)| ContentChange { range: Some((start, end)), text })
            .collect();
        self.0.change(&self.1, edit.version + 1, &changes);
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

/// An open document in which the agent's changes wait.
struct Bench {
    _dir: tempfile::TempDir,
    workspace: Arc<Workspace>,
    fork: Mutex<Fork>,
    id: DocId,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), TEXT).unwrap();
        let roots = Roots::new(vec![("w".to_owned(), dir.path().to_owned())]);
        let workspace = Arc::new(Workspace::new(roots));
        workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
        let path = dir.path().join("a.txt").canonicalize().unwrap();
        let id = workspace.open(&DocId::from_path(&path).to_uri(), "text", 1, TEXT);
        let mut fork = Fork::new("s".into());
        let view = fork.view(workspace.snapshot());
        let change = ProposedChange::Write(Text::from(PROPOSED));
        let proposal = Proposal { place: view.contain("a.txt").unwrap(), change };
        fork.merge(&workspace, &view, 1, &Maker::Call("c".into()), vec![proposal]);
        assert_eq!(fork.hunks().len(), 3);
        Self { _dir: dir, workspace, fork: Mutex::new(fork), id }
    }

    fn kept(&self) -> Vec<FileHunks> {
        self.fork.lock().unwrap().file_hunks()
    }

    /// The places of the hunks of `kept` now.
    fn placed(&self, kept: &[FileHunks]) -> Vec<(HunkId, Range<usize>)> {
        let in_document = |document: &mut Document| {
            let placed = kept.iter().flat_map(|file| file.placed_in(document));
            placed.map(|(hunk, lines)| (hunk.id, lines)).collect()
        };
        self.workspace.with_document(&self.id, in_document).unwrap()
    }

    /// The places as the fork has them.
    fn true_places(&self) -> Vec<(HunkId, Range<usize>)> {
        let mut fork = self.fork.lock().unwrap();
        fork.sync_now(&self.workspace);
        fork.hunks().into_iter().map(|hunk| (hunk.id, hunk.lines)).collect()
    }

    fn type_at(&self, (line, column): (usize, usize), until: (usize, usize), text: &str) {
        let at = |(line, column): (usize, usize)| {
            Position::new(u32::try_from(line).unwrap(), u32::try_from(column).unwrap())
        };
        let range = Some((at((line, column)), at(until)));
        let version = self.workspace.with_document(&self.id, |document| document.version).unwrap();
        let change = ContentChange { range, text: text.to_owned() };
        self.workspace.change(&self.id.to_uri(), version + 1, &[change]);
    }

    fn lines(&self) -> Vec<String> {
        let text = self.workspace.with_document(&self.id, |document| document.text().to_string());
        text.unwrap().lines().map(str::to_owned).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn they_follow_the_user(
        keys in prop::collection::vec((0..FREE.len(), prop::sample::select(vec!["x", "x\n", "\nx", "é\n\n", ""])), 1..12),
    ) {
        let bench = Bench::new();
        let kept = bench.kept();
        for (line, text) in keys {
            // In front of a line that is free, or the whole of what was typed there taken away.
            let Some(at) = bench.lines().iter().position(|own| own.ends_with(FREE[line])) else { continue };
            let before = bench.lines()[at].len() - 1;
            let from = if text.is_empty() { 0 } else { before };
            bench.type_at((at, from), (at, before), text);
            prop_assert_eq!(bench.placed(&kept).len(), 3);
        }
        prop_assert_eq!(bench.placed(&kept), bench.true_places());
    }
}

#[test]
fn an_accepted_one_is_not_among_them() {
    let bench = Bench::new();
    let kept = bench.kept();
    let places = bench.placed(&kept);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let editor = Echo(bench.workspace.clone(), bench.id.to_uri());
    let selection = HunkSelection::Hunks(vec![places[1].0]);
    let bounds = PublishBounds::default();
    let published = publish(&bench.workspace, &editor, &bench.fork, &selection, bounds);
    assert_eq!(runtime.block_on(published).failed, []);
    let left = bench.placed(&kept);
    assert_eq!(left, [places[0].clone(), (places[2].0, 10..11)]);
    assert_eq!(left, bench.true_places());
}
