//! Every keystroke of real editing, sent as didChange in each encoding, ends in the right text: alone, and
//! with an agent that edits in between through proposals, publishing and their echo.

use futures::future::BoxFuture;
use ropewalk_testkit::traces::{Trace, TraceEdit};
use ropewalk_text::{Bias, ChangeSet, Coordinates, LineEnds, PositionEncoding, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{PublishBounds, publish};
use ropewalk_workspace::{
    ContentChange, DocId, DocumentEdit, Editor, EditorError, Fork, Habits, HunkSelection, Proposal,
    ProposedChange, Roots, View, Workspace,
};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;

const TRACES: [&str; 2] = ["sveltecomponent", "json-crdt-patch"];
const ENCODINGS: [PositionEncoding; 3] =
    [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

fn trace(name: &str) -> Trace {
    let path = format!("{}/../../tests/data/{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
    Trace::read(&std::fs::read(path).unwrap()).unwrap()
}

/// A buffer that applies what it is told and says so at once.
struct Buffer {
    workspace: Arc<Workspace>,
    uri: String,
    version: AtomicI32,
}

impl Buffer {
    fn change(&self, changes: &[ContentChange]) {
        let version = self.version.fetch_add(1, Ordering::Relaxed) + 1;
        let changed = self.workspace.change(&self.uri, version, changes).unwrap();
        assert_eq!(changed.desync_alarms, 0);
    }

    fn text(&self) -> Text {
        let id = DocId::from_uri(&self.uri);
        self.workspace.with_document(&id, |document| document.text().clone()).unwrap()
    }
}

impl Editor for Buffer {
    fn habits(&self) -> Habits {
        self.workspace.habits()
    }
    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        assert_eq!(edit.version, self.version.load(Ordering::Relaxed));
        let change = |(start, end, text)| ContentChange { range: Some((start, end)), text };
        let changes: Vec<ContentChange> = edit.edits.into_iter().rev().map(change).collect();
        self.change(&changes);
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

/// A workspace with one open document.
fn open(folder: &tempfile::TempDir, encoding: PositionEncoding, text: &str) -> Buffer {
    let root = folder.path().canonicalize().unwrap();
    let workspace = Arc::new(Workspace::new(Roots::new(vec![("w".to_owned(), root.clone())])));
    let coordinates = Coordinates { encoding, line_ends: LineEnds::Lsp };
    workspace.set_client(coordinates, Habits::of(Some("Visual Studio Code")));
    let uri = DocId::from_path(&root.join("typed.txt")).to_uri();
    workspace.open(&uri, "text", 1, text);
    Buffer { workspace, uri, version: AtomicI32::new(1) }
}

fn content_change(edit: &TraceEdit) -> ContentChange {
    ContentChange { range: Some((edit.range.start, edit.range.end)), text: edit.text.clone() }
}

#[test]
fn typing_alone_ends_in_the_right_text() {
    for name in TRACES {
        let trace = trace(name);
        for encoding in ENCODINGS {
            let folder = tempfile::tempdir().unwrap();
            let buffer = open(&folder, encoding, &trace.start_content);
            for edits in trace.replay(encoding) {
                buffer.change(&edits.iter().map(content_change).collect::<Vec<_>>());
            }
            assert!(
                buffer.text() == Text::from(trace.end_content.as_str()),
                "{name} in {encoding:?}"
            );
        }
    }
}

/// The `n`-th line that the agent inserts, which nobody types.
fn agents_line(n: usize) -> String {
    format!("⟦the agent's line {n}⟧\n")
}

/// A user who types and an agent that edits in between, in one buffer.
struct Pair {
    buffer: Buffer,
    fork: Mutex<Fork>,
    /// The text as it would be without the agent.
    typed: Text,
    /// The agent's lines on top of it.
    agents: ChangeSet,
    /// How many these are.
    lines: usize,
}

impl Pair {
    fn new(buffer: Buffer, text: &str) -> Self {
        let typed = Text::from(text);
        let agents = ChangeSet::identity(typed.len());
        Self { buffer, fork: Mutex::new(Fork::new("s".into())), typed, agents, lines: 0 }
    }

    /// A call begins: what it sees is frozen while the user types on.
    fn view(&self) -> View {
        let mut fork = self.fork.lock().unwrap();
        fork.sync_now(&self.buffer.workspace);
        fork.view(self.buffer.workspace.snapshot())
    }

    fn type_in(&mut self, edit: &TraceEdit) {
        let coordinates = self.buffer.workspace.coordinates();
        let start = coordinates.position_to_byte(&self.typed, edit.range.start).byte;
        let end = coordinates.position_to_byte(&self.typed, edit.range.end).byte;
        let own = ChangeSet::single(self.typed.len(), start..end, edit.text.as_str());
        // The same place in the text that has the agent's lines in it: after a line that stands just there, as
        // rebasing has it.
        let from = self.agents.map_offset(start, Bias::After);
        let to = self.agents.map_offset(end, Bias::Before).max(from);
        let shown = self.buffer.text();
        let position = |byte| coordinates.byte_to_position(&shown, byte);
        let range = Some((position(from), position(to)));
        self.buffer.change(&[ContentChange { range, text: edit.text.clone() }]);
        self.typed = own.apply(&self.typed).unwrap();
        self.agents = self.agents.rebase(&own).unwrap().mine;
    }

    /// The call ends: a line in the middle of what it saw is merged and published.
    fn insert_line(&mut self, view: &View, runtime: &Runtime) {
        let workspace = &self.buffer.workspace;
        let place = view.contain("typed.txt").unwrap();
        let seen = view.buffers().values().next().unwrap().text.clone();
        let at = seen.line_feed_start(seen.line_feeds() / 2);
        let set = ChangeSet::single(seen.len(), at..at, agents_line(self.lines));
        self.lines += 1;
        let proposal = Proposal { place, change: ProposedChange::Edit(set) };
        let maker = Maker::Call("c".into());
        let merged = self.fork.lock().unwrap().merge(workspace, view, 1, &maker, vec![proposal]);
        assert!(merged.conflicts.len() <= 1);
        let (all, bounds) = (HunkSelection::All, PublishBounds::default());
        let report = runtime.block_on(publish(workspace, &self.buffer, &self.fork, &all, bounds));
        assert_eq!(report.failed, [], "line {}", self.lines);
        self.agents = ropewalk_text::diff(&self.typed, &self.buffer.text());
    }

    /// The text without the agent's lines.
    fn stripped(&self) -> String {
        let text = self.buffer.text().to_string();
        (0..self.lines).fold(text, |text, n| text.replace(&agents_line(n), ""))
    }
}

#[test]
fn typing_with_an_agent_editing_between_ends_in_the_right_text() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in TRACES {
        let trace = trace(name);
        for encoding in ENCODINGS {
            let folder = tempfile::tempdir().unwrap();
            let buffer = open(&folder, encoding, &trace.start_content);
            let mut pair = Pair::new(buffer, &trace.start_content);
            for (step, edits) in trace.replay(encoding).enumerate() {
                let call = (step % 97 == 0).then(|| pair.view());
                edits.iter().for_each(|edit| pair.type_in(edit));
                if step % 997 == 0 {
                    assert!(Text::from(&*pair.stripped()) == pair.typed, "{name} {step}");
                }
                if let Some(view) = call {
                    pair.insert_line(&view, &runtime);
                }
            }
            assert!(pair.stripped() == trace.end_content, "{name} in {encoding:?}");
            assert!(pair.lines > 10, "the agent edited");
        }
    }
}
