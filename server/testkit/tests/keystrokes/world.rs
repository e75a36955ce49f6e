//! A user, an editor and sessions of agents, each doing something at random; and the checks between.

mod checks;

use super::oracle::Licence;
use super::random::{Alphabet, Random};
use futures::future::BoxFuture;
use futures::task::noop_waker;
use ropewalk_testkit::editor::{Cell, Direct, EchoShape, Handling, Profile};
use ropewalk_text::{Change, ChangeSet};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{Bounds, PublishReport, publish};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::{
    DocId, FileState, Fork, HunkId, HunkKind, HunkState, NoWitness, Proposal, ProposedChange,
    Roots, Selection, View, Workspace,
};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

/// What was counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stats {
    pub(crate) keystrokes: u64,
    pub(crate) proposals: u64,
    pub(crate) publishes: u64,
    pub(crate) applied: u64,
    pub(crate) confirmed: u64,
    pub(crate) failed: u64,
    pub(crate) undone: u64,
    pub(crate) conflicts: u64,
    /// Edits that an unchecking client made for another text than they were for.
    pub(crate) stale: u64,
    /// The user's characters that such edits took away.
    pub(crate) taken_by_stale: u64,
}

impl Stats {
    pub(crate) fn add(&mut self, other: &Stats) {
        self.keystrokes += other.keystrokes;
        self.proposals += other.proposals;
        self.publishes += other.publishes;
        self.applied += other.applied;
        self.confirmed += other.confirmed;
        self.failed += other.failed;
        self.undone += other.undone;
        self.conflicts += other.conflicts;
        self.stale += other.stale;
        self.taken_by_stale += other.taken_by_stale;
    }
}

struct Doc {
    name: String,
    uri: String,
    id: DocId,
    line_end: &'static str,
}

struct Session {
    name: Arc<str>,
    fork: Arc<Mutex<Fork>>,
    turn: u64,
    /// The view of a call that runs, and which documents it will change.
    call: Option<View>,
    /// By document, opening of it and hunk; the latest last.
    licences: BTreeMap<Key, Vec<Licence>>,
    /// What of those was seen in the editor.
    applied: HashSet<Key>,
    /// Old and new text of all that was ever pending, in files that were not open too.
    meant: HashSet<(String, String)>,
    /// The characters that its calls have proposed to take away, in texts that they had seen.
    taken: HashSet<char>,
}

/// A hunk of a document, and the how manyth opening of the document it is.
type Key = (DocId, u32, HunkId);

struct Task {
    session: usize,
    /// What was selected when it started.
    wanted: Vec<Key>,
    is_undo: bool,
    future: BoxFuture<'static, PublishReport>,
}

pub(crate) struct World {
    dir: tempfile::TempDir,
    profile: Profile,
    workspace: Arc<Workspace>,
    editor: Arc<Direct>,
    random: Random,
    alphabet: Alphabet,
    /// The characters that only agents' changes brought.
    agents: HashSet<char>,
    /// The new texts of each edit of the server's.
    made: HashMap<u32, Vec<String>>,
    /// Openings of documents in which a hunk was made that had no licence any more.
    altered: HashSet<(DocId, u32)>,
    docs: Vec<Doc>,
    sessions: Vec<Session>,
    tasks: Vec<Task>,
    runtime: tokio::runtime::Runtime,
    trace: VecDeque<String>,
    pub(crate) stats: Stats,
}

const BOUND: Duration = Duration::from_secs(10);
const LONGEST: usize = 900;

impl World {
    pub(crate) fn new(profile: Profile, seed: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let roots = Roots::new(vec![("w".to_owned(), root.clone())]);
        let workspace = Arc::new(Workspace::new(roots));
        let editor = Arc::new(Direct::new(workspace.clone(), profile));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let mut world = Self {
            dir,
            profile,
            workspace,
            editor,
            random: Random::new(seed),
            alphabet: Alphabet::default(),
            agents: HashSet::new(),
            made: HashMap::new(),
            altered: HashSet::new(),
            docs: Vec::new(),
            sessions: Vec::new(),
            tasks: Vec::new(),
            runtime,
            trace: VecDeque::new(),
            stats: Stats::default(),
        };
        for (name, line_end) in [("a.txt", "\n"), ("b.txt", "\r\n"), ("c.txt", "\n")] {
            let id = DocId::from_path(&root.join(name));
            let uri = id.to_uri();
            let doc = Doc { name: name.to_owned(), uri, id, line_end };
            let text = world.some_lines(14, line_end);
            std::fs::write(root.join(name), &text).unwrap();
            world.docs.push(doc);
        }
        for name in ["one", "two"] {
            let name: Arc<str> = name.into();
            let fork = Arc::new(Mutex::new(Fork::new(name.clone())));
            world.sessions.push(Session {
                name,
                fork,
                turn: 1,
                call: None,
                licences: BTreeMap::new(),
                applied: HashSet::new(),
                meant: HashSet::new(),
                taken: HashSet::new(),
            });
        }
        for index in 0..world.docs.len() {
            world.open(index);
        }
        world
    }

    fn some_lines(&mut self, count: usize, line_end: &str) -> String {
        let mut text = String::new();
        for _ in 0..count {
            for _ in 0..self.random.in_range(1..4) {
                for _ in 0..self.random.in_range(1..5) {
                    text.push(self.alphabet.next());
                }
                text.push(' ');
            }
            text.push_str("ab");
            text.push_str(line_end);
        }
        text
    }

    /// Lives until so many keystrokes were made, and settles now and then.
    pub(crate) fn live(&mut self, keystrokes: u64) {
        let mut steps = 0u64;
        while self.stats.keystrokes < keystrokes {
            self.step();
            steps += 1;
            if steps.is_multiple_of(400) {
                self.settle();
            }
        }
        self.settle();
    }

    fn note(&mut self, what: String) {
        if std::env::var_os("ROPEWALK_TRACE").is_some() {
            eprintln!("{what}");
        }
        if self.trace.len() == 60 {
            self.trace.pop_front();
        }
        self.trace.push_back(what);
    }

    pub(crate) fn last_words(&mut self) -> String {
        let lines: Vec<String> = self.trace.drain(..).collect();
        format!("the last steps:\n  {}\n{:?}", lines.join("\n  "), self.stats)
    }

    fn step(&mut self) {
        let doc = self.random.in_range(0..self.docs.len());
        let session = self.random.in_range(0..self.sessions.len());
        match self.random.in_range(0..1000) {
            0..420 => self.type_something(doc),
            420..460 => self.delete_something(doc),
            460..475 => self.user_undo(doc),
            475..481 => self.format(doc),
            481..487 => self.save(doc),
            487..490 => self.change_on_disk(doc),
            490..493 => self.close_or_open(doc),
            493..560 => {
                self.editor.with(|client| client.flush(&self.docs[doc].uri));
            }
            560..680 => {
                self.deliver();
            }
            680..760 => self.handle(),
            760..763 => {
                if self.editor.time_out() > 0 {
                    self.note("answers time out".to_owned());
                }
            }
            763..860 => self.poll(),
            860..900 => self.call(session),
            900..930 => self.merge(session),
            930..965 => self.publish(session),
            965..978 => self.review(session),
            978..988 => self.undo(session),
            988..990 => self.advance(),
            _ => self.sync(session),
        }
    }

    // What the user does.

    fn buffer(&self, doc: usize) -> Option<Vec<Cell>> {
        self.editor.with(|client| Some(client.buffer(&self.docs[doc].uri)?.cells().to_vec()))
    }

    /// Where the user types: often at the border of something pending or just published.
    fn place(&mut self, doc: usize, cells: &[Cell]) -> usize {
        let mut at = self.random.in_range(0..cells.len() + 1);
        if self.random.chance(40) {
            let licences: Vec<&Licence> = self
                .sessions
                .iter()
                .flat_map(|s| &s.licences)
                .filter(|((id, ..), _)| *id == self.docs[doc].id)
                .filter_map(|(_, all)| all.last())
                .collect();
            if let Some(licence) = self.random.pick(&licences) {
                let ids = [licence.left.first(), licence.right.first()];
                let near = self.random.pick(&ids).copied().flatten();
                if let Some(place) = cells.iter().position(|cell| Some(&cell.id) == near) {
                    at = place + self.random.in_range(0..2);
                }
            }
        }
        snap(cells, at)
    }

    fn typed(&mut self, line_end: &str) -> String {
        let mut text = String::new();
        for _ in 0..self.random.in_range(1..4) {
            match self.random.in_range(0..20) {
                0..14 => text.push(self.alphabet.next()),
                14..16 => text.push_str(line_end),
                16 => text.push('\u{301}'),
                17 if self.profile != Profile::VSCODE && self.random.chance(20) => text.push('\r'),
                _ => text.push(' '),
            }
        }
        text
    }

    fn type_something(&mut self, doc: usize) {
        let Some(cells) = self.buffer(doc) else { return };
        let at = self.place(doc, &cells);
        let text = self.typed(self.docs[doc].line_end);
        self.stats.keystrokes += text.chars().count() as u64;
        self.note(format!("user types {text:?} at {at} of {}", self.docs[doc].name));
        self.editor.with(|client| client.replace(&self.docs[doc].uri, at..at, &text));
    }

    fn delete_something(&mut self, doc: usize) {
        let Some(cells) = self.buffer(doc) else { return };
        let start = self.place(doc, &cells);
        let most = if cells.len() > LONGEST { LONGEST / 2 } else { 4 };
        let end = snap(&cells, (start + self.random.in_range(1..most)).min(cells.len()));
        if start >= end {
            return;
        }
        self.stats.keystrokes += 1;
        self.note(format!("user deletes {start}..{end} of {}", self.docs[doc].name));
        self.editor.with(|client| client.replace(&self.docs[doc].uri, start..end, ""));
    }

    fn user_undo(&mut self, doc: usize) {
        let uri = self.docs[doc].uri.clone();
        let times = self.random.in_range(1..4);
        let again = self.random.chance(30);
        self.stats.keystrokes += times as u64;
        self.note(format!("user undoes {times} steps of {}, redo: {again}", self.docs[doc].name));
        self.editor.with(|client| {
            for _ in 0..times {
                client.undo(&uri);
            }
            if again {
                client.redo(&uri);
            }
        });
    }

    /// A formatter indents or unindents some lines, and tells it coarsely.
    fn format(&mut self, doc: usize) {
        let Some(cells) = self.buffer(doc) else { return };
        let mut changes = Vec::new();
        for (index, cell) in cells.iter().enumerate() {
            let starts_line = index == 0 || cells[index - 1].char == '\n';
            if !starts_line || self.random.chance(70) {
                continue;
            }
            if cell.char == ' ' {
                changes.push((index..index + 1, String::new()));
            } else {
                changes.push((index..index, "  ".to_owned()));
            }
        }
        let shapes = [EchoShape::AsMade, EchoShape::Whole, EchoShape::InsertAllDeleteAll];
        let shape = *self.random.pick(&shapes).unwrap();
        self.note(format!("a formatter runs over {}, told {shape:?}", self.docs[doc].name));
        self.editor.with(|client| client.replace_all(&self.docs[doc].uri, changes, shape));
    }

    fn save(&mut self, doc: usize) {
        let uri = self.docs[doc].uri.clone();
        let Some(text) = self.editor.with(|client| client.save(&uri)) else { return };
        std::fs::write(self.dir.path().join(&self.docs[doc].name), text).unwrap();
        self.note(format!("user saves {}", self.docs[doc].name));
        // The notification is read before anyone types on, or the disk has other text than it speaks of.
        while self.deliver() {}
    }

    /// Someone else writes the file; the editor reads it anew if the buffer was clean, or does not.
    fn change_on_disk(&mut self, doc: usize) {
        let path = self.dir.path().join(&self.docs[doc].name);
        let mut lines: Vec<String> = std::fs::read_to_string(&path)
            .unwrap()
            .split_inclusive('\n')
            .map(str::to_owned)
            .collect();
        let fresh = format!("{}{}", self.alphabet.next(), self.docs[doc].line_end);
        let at = self.random.in_range(0..lines.len() + 1);
        if self.random.chance(30) && at < lines.len() {
            lines.remove(at);
        } else {
            lines.insert(at, fresh);
        }
        let text = lines.concat();
        std::fs::write(&path, &text).unwrap();
        let uri = self.docs[doc].uri.clone();
        let clean = self.editor.with(|c| c.buffer(&uri).is_some_and(|buffer| !buffer.is_dirty()));
        let reloads = clean && self.random.chance(60);
        self.note(format!("{} changes on the disk, reloaded: {reloads}", self.docs[doc].name));
        if reloads {
            let shape = if self.random.chance(50) { EchoShape::Whole } else { EchoShape::AsMade };
            self.editor.with(|client| client.reload(&uri, &text, shape));
        }
    }

    fn open(&mut self, doc: usize) {
        let text = std::fs::read_to_string(self.dir.path().join(&self.docs[doc].name)).unwrap();
        let uri = self.docs[doc].uri.clone();
        self.editor.with(|client| client.open(&uri, &text));
    }

    fn close_or_open(&mut self, doc: usize) {
        let uri = self.docs[doc].uri.clone();
        let is_open = self.editor.with(|client| client.buffer(&uri).is_some());
        self.note(format!("user {} {}", if is_open { "closes" } else { "opens" }, uri));
        if !is_open {
            return self.open(doc);
        }
        if self.random.chance(70) {
            self.save(doc);
        }
        self.editor.with(|client| client.close(&uri));
    }

    // What the wire does.

    fn deliver(&mut self) -> bool {
        let delivered = self.editor.deliver();
        for doc in &self.docs {
            let Some(cells) = self.editor.delivered(&doc.uri) else { continue };
            let server = self.workspace.with_document(&doc.id, |d| d.text().to_string());
            let editor: String = cells.iter().map(|cell| cell.char).collect();
            assert_eq!(server.as_deref(), Some(editor.as_str()), "{} differs", doc.name);
        }
        assert_eq!(self.workspace.desync_alarms(), 0);
        delivered
    }

    fn handle(&mut self) {
        let how = match self.random.in_range(0..100) {
            0..80 => Handling::Usual,
            80..90 => Handling::OtherOrder,
            90..92 => Handling::MadeInSilence,
            92..94 => Handling::Ignored,
            _ => Handling::Refused,
        };
        self.handle_as(how);
    }

    fn handle_as(&mut self, how: Handling) {
        let what = self.editor.with(|client| format!("{:?}", client.oldest()));
        if !self.editor.with(|client| client.handle(how)) {
            return;
        }
        self.note(format!("the editor handles {how:?} {what}"));
        for applied in self.editor.with(|client| client.take_applied()) {
            self.check_applied(&applied);
        }
    }

    fn advance(&mut self) {
        self.note("time passes".to_owned());
        self.runtime.block_on(tokio::time::advance(BOUND * 2));
    }

    // What the sessions do.

    fn poll(&mut self) {
        if self.tasks.is_empty() {
            return;
        }
        let index = self.random.in_range(0..self.tasks.len());
        self.poll_task(index);
    }

    fn poll_task(&mut self, index: usize) -> bool {
        let waker = noop_waker();
        let _guard = self.runtime.enter();
        let task = &mut self.tasks[index];
        let Poll::Ready(report) = task.future.as_mut().poll(&mut Context::from_waker(&waker))
        else {
            return false;
        };
        drop(_guard);
        let task = self.tasks.swap_remove(index);
        self.check_report(&task, &report);
        true
    }

    fn call(&mut self, index: usize) {
        if self.sessions[index].call.is_some() {
            return;
        }
        self.workspace.look_at_disks();
        let view = {
            let mut fork = self.sessions[index].fork.lock().unwrap();
            fork.sync(&self.workspace);
            fork.view(self.workspace.snapshot())
        };
        self.note(format!("session {index} starts a call"));
        self.check_fork(index, &[]);
        self.sessions[index].call = Some(view);
    }

    fn merge(&mut self, index: usize) {
        let Some(view) = self.sessions[index].call.take() else { return };
        let mut proposals = Vec::new();
        for _ in 0..self.random.in_range(1..3) {
            let doc = self.random.in_range(0..self.docs.len());
            if let Some(proposal) = self.proposal(&view, doc) {
                proposals.push(proposal);
            }
        }
        // One change of a document per call: a second would be made on another text than the view's.
        proposals.dedup_by(|a, b| a.place.path == b.place.path);
        self.stats.proposals += proposals.len() as u64;
        let what: Vec<String> = proposals
            .iter()
            .map(|p| match &p.change {
                ProposedChange::Edit(set) => format!("{} {set:?}", p.place.shown),
                _ => format!("{} whole", p.place.shown),
            })
            .collect();
        self.note(format!("session {index} merges {what:?}"));
        for proposal in &proposals {
            if let Ok(FileState::Text { text, .. }) = view.read(&proposal.place) {
                let set = match &proposal.change {
                    ProposedChange::Edit(set) => set.clone(),
                    ProposedChange::Write(new) => ropewalk_text::diff(&text, new),
                    _ => continue,
                };
                let taken = set.changes().iter().map(|change| text.slice(change.range.clone()));
                self.sessions[index]
                    .taken
                    .extend(taken.flat_map(|old| old.chars().collect::<Vec<_>>()));
            }
        }
        let maker = Maker::Call("call".into());
        let report = {
            let session = &mut self.sessions[index];
            session.turn += 1;
            let mut fork = session.fork.lock().unwrap();
            let report =
                fork.merge(&self.workspace, &view, session.turn, &maker, proposals).unwrap();
            fork.sync(&self.workspace);
            report
        };
        self.stats.conflicts += report.conflicts.len() as u64;
        self.check_fork(index, &report.hunks);
        if self.random.chance(40) {
            self.publish_selected(index, &Selection::All);
        }
    }

    fn proposal(&mut self, view: &View, doc: usize) -> Option<Proposal> {
        let place = view.contain(&self.docs[doc].name).ok()?;
        let FileState::Text { text, .. } = view.read(&place).ok()? else { return None };
        let string = text.to_string();
        let chars: Vec<(usize, char)> = string.char_indices().collect();
        let byte = |index: usize| chars.get(index).map_or(string.len(), |(at, _)| *at);
        let line_end = self.docs[doc].line_end;
        let mut token = || {
            let char = self.alphabet.next();
            self.agents.insert(char);
            char
        };
        let mut changes: Vec<Change> = Vec::new();
        for _ in 0..self.random.in_range(1..4) {
            let mut start = self.random.in_range(0..chars.len() + 1);
            let mut end = (start + self.random.in_range(0..10)).min(chars.len());
            let mut new = String::new();
            match self.random.in_range(0..5) {
                // A line more.
                0 => {
                    while start > 0 && chars.get(start - 1).is_some_and(|(_, c)| *c != '\n') {
                        start -= 1;
                    }
                    end = start;
                    new = format!("{}new{line_end}", token());
                }
                // Only a deletion.
                1 => {}
                // Only an insertion.
                2 => {
                    end = start;
                    new = format!("+{}", token());
                }
                _ => {
                    new.push(token());
                    if self.random.chance(30) {
                        new.push_str(line_end);
                        new.push(token());
                    }
                }
            }
            let (start, end) = (snap_chars(&chars, start), snap_chars(&chars, end));
            let change = Change::new(byte(start)..byte(end).max(byte(start)), new);
            let apart =
                |c: &Change| change.range.start > c.range.end || c.range.start > change.range.end;
            if changes.iter().all(apart) {
                changes.push(change);
            }
        }
        let set = ChangeSet::new(text.len(), changes)?;
        let change = if self.random.chance(40) {
            ProposedChange::Write(set.apply(&text).ok()?)
        } else {
            ProposedChange::Edit(set)
        };
        Some(Proposal { place, change })
    }

    fn publish(&mut self, index: usize) {
        let (hunks, turn) = {
            let session = &self.sessions[index];
            (session.fork.lock().unwrap().hunks(), session.turn)
        };
        let selection = match self.random.in_range(0..4) {
            0 => Selection::All,
            1 => Selection::Turn(turn),
            2 => {
                let doc = self.random.in_range(0..self.docs.len());
                Selection::File(self.docs[doc].id.clone())
            }
            _ => match self.random.pick(&hunks) {
                Some(hunk) => Selection::Hunks(vec![hunk.id]),
                None => return,
            },
        };
        self.publish_selected(index, &selection);
    }

    fn publish_selected(&mut self, index: usize, selection: &Selection) {
        if self.tasks.len() > 4 {
            return;
        }
        self.sync(index);
        let fork = self.sessions[index].fork.clone();
        let wanted = {
            let fork = fork.lock().unwrap();
            let ids = fork.select(selection);
            let hunks = fork.hunks();
            hunks
                .iter()
                .filter(|hunk| hunk.state == HunkState::Pending)
                .flat_map(|hunk| hunk.parts.iter().map(|part| (&hunk.doc, *part)))
                .filter(|(_, part)| ids.contains(part))
                .map(|(doc, part)| (doc.clone(), self.opening(doc), part))
                .collect()
        };
        self.stats.publishes += 1;
        self.note(format!("session {index} publishes {selection:?}: {wanted:?}"));
        let (workspace, editor, selection) =
            (self.workspace.clone(), self.editor.clone(), selection.clone());
        let future = Box::pin(async move {
            let bounds = Bounds { echo: BOUND };
            publish(&workspace, &*editor, &fork, &selection, bounds, &NoWitness).await
        });
        self.tasks.push(Task { session: index, wanted, is_undo: false, future });
        self.poll_task(self.tasks.len() - 1);
    }

    /// The user rejects a hunk or writes their own version of it.
    fn review(&mut self, index: usize) {
        self.sync(index);
        let fork = self.sessions[index].fork.clone();
        let mut fork = fork.lock().unwrap();
        let hunks = fork.hunks();
        let Some(hunk) = self.random.pick(&hunks) else { return };
        let mut touched = hunk.parts.clone();
        if self.random.chance(50) || hunk.kind != HunkKind::Text {
            let count = fork.reject(&self.workspace, &Selection::Hunks(vec![hunk.id]), Some("no"));
            self.note(format!("user rejects {:?} of session {index}: {count}", hunk.id));
        } else {
            let mut text = hunk.new.clone();
            text.insert(0, self.alphabet.next());
            let before: HashSet<HunkId> =
                fork.files().flat_map(|(_, f)| f.entry.marks().iter().map(|m| m.id)).collect();
            fork.edit(&self.workspace, hunk.id, &text);
            let all = fork.files().flat_map(|(_, f)| f.entry.marks().iter().map(|m| m.id));
            touched.extend(all.filter(|id| !before.contains(id)));
            self.note(format!("user edits {:?} of session {index}: {text:?}", hunk.id));
        }
        drop(fork);
        self.check_fork(index, &touched);
    }

    fn undo(&mut self, index: usize) {
        let name = self.sessions[index].name.clone();
        let ids: Vec<(HunkId, u64)> = {
            let ledger = self.workspace.ledger();
            let own = ledger.texts.iter().filter(|hunk| hunk.session == name);
            own.map(|hunk| (hunk.id, hunk.turn)).collect()
        };
        let Some((id, turn)) = self.random.pick(&ids).copied() else { return };
        let selection =
            if self.random.chance(60) { Selection::Hunks(vec![id]) } else { Selection::Turn(turn) };
        self.note(format!("session {index} undoes {selection:?}"));
        let (workspace, editor) = (self.workspace.clone(), self.editor.clone());
        let fork = self.sessions[index].fork.clone();
        let future = Box::pin(async move {
            let bounds = Bounds { echo: BOUND };
            undo(&workspace, &*editor, &fork, &selection, bounds, &NoWitness).await
        });
        self.tasks.push(Task { session: index, wanted: Vec::new(), is_undo: true, future });
        self.poll_task(self.tasks.len() - 1);
    }

    fn sync(&mut self, index: usize) {
        self.workspace.look_at_disks();
        self.sessions[index].fork.lock().unwrap().sync(&self.workspace);
        self.check_fork(index, &[]);
    }
}

/// A place at or before `at` that is not inside a pair of line end bytes.
fn snap(cells: &[Cell], at: usize) -> usize {
    let char = |index: usize| cells.get(index).map(|cell| cell.char);
    let inside = char(at) == Some('\n') && at > 0 && char(at - 1) == Some('\r');
    at - usize::from(inside)
}

fn snap_chars(chars: &[(usize, char)], at: usize) -> usize {
    let char = |index: usize| chars.get(index).map(|(_, char)| *char);
    let inside = char(at) == Some('\n') && at > 0 && char(at - 1) == Some('\r');
    at - usize::from(inside)
}

fn char_index(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count()
}
