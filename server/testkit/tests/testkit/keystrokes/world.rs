//! A user, an editor and sessions of agents, each doing something at random: the state, what happens when, and
//! what the wire does. What the user does is in `user`, what the sessions do in `sessions`, what must hold
//! meanwhile in `checks` and `edits`.

mod checks;
mod edits;
mod sessions;
mod user;

use super::oracle::{self, Landed, Licences, Place, Saw, Shape};
use super::random::{Alphabet, Random};
use futures::future::BoxFuture;
use ropewalk_testkit::editor::{Author, Cell, Direct, Handling, Profile};
use ropewalk_workspace::entry::{Entry, Maker};
use ropewalk_workspace::publish::PublishReport;
use ropewalk_workspace::{DocId, Fork, HunkId, Roots, View, Workspace};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Counts over all worlds.
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
    /// The text that the workspace knows now, or that the disk has, and its atoms.
    text: String,
    atoms: HashSet<char>,
    /// The atoms that were there, and then were not, at any time, or may seem so.
    gone: HashSet<char>,
    /// Its version, as the workspace knows it, and how often it was seen to move: a change may arrive and be taken back
    /// between two looks at the text.
    version: Option<i32>,
    moves: u64,
    /// The how manyth opening the workspace knows; 0 when it is not open there.
    opening: u32,
    /// The last opening in which a change was told as a difference of texts only; 0 when none was.
    vague: u32,
    /// The cells that stood there when it was opened, and the how manyth opening that was.
    first: HashMap<u32, u32>,
    /// The atoms that the disk has held, the last few times it was written.
    disk: VecDeque<HashSet<char>>,
}

struct Session {
    name: Arc<str>,
    fork: Arc<Mutex<Fork>>,
    turn: u64,
    /// The call that runs.
    call: Option<Call>,
    /// By document: what its calls may do.
    licences: Vec<Licences>,
    /// By document: what was pending when it was last looked at.
    shapes: Vec<Vec<(HunkId, Shape)>>,
    /// By document: the text and the opening it last looked at, and the atoms that may have moved since, as far as the
    /// two texts tell.
    looked: Vec<(u32, Arc<str>, HashSet<char>)>,
    /// By document: whether something is pending there from before an edit went astray.
    astray: Vec<bool>,
    /// By document: the atoms that its edits have put there or taken away.
    landed: Vec<HashSet<char>>,
    /// Parts of its hunks that were seen in the editor.
    applied: HashSet<Key>,
    /// Its hunks that were altered on their way, with their documents.
    altered: HashSet<(usize, HunkId)>,
    /// New text of hunks and the cells next to them, as they were first seen: where the user likes to type.
    near: BTreeMap<Key, (String, [Option<u32>; 2])>,
}

/// Snapshot of the files that a running call has seen.
struct Call {
    view: View,
    /// By document: what the user had.
    saw: Vec<Saw>,
}

/// A hunk of a document, and the how manyth opening of the document it is.
type Key = (DocId, u32, HunkId);

/// Edits that a task was started to send.
#[derive(Clone, Default)]
struct Sending {
    session: usize,
    /// The hunks that an undo takes back; none for a publish.
    chosen: Vec<HunkId>,
    /// The changes that were accepted, each with its document and hunk, as they were then.
    accepted: Vec<(usize, HunkId, Shape)>,
    /// Changes of theirs that were published by the time it arrives, each with its document.
    undoes: Vec<(usize, Landed)>,
}

struct Task {
    sending: Arc<Sending>,
    /// Hunks that were selected when it started.
    wanted: Vec<Key>,
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
    /// Openings of documents in which an edit was made in another text than it was for.
    astray: HashSet<(usize, u32)>,
    /// Published changes, by document.
    landed: Vec<(usize, Landed)>,
    /// Senders of the requests that wait in the editor, oldest first.
    senders: VecDeque<Arc<Sending>>,
    docs: Vec<Doc>,
    sessions: Vec<Session>,
    tasks: Vec<Task>,
    runtime: tokio::runtime::Runtime,
    trace: VecDeque<String>,
    pub(crate) stats: Stats,
}

impl Session {
    /// One that knows nothing of the three documents yet.
    fn new(name: &str) -> Self {
        let name: Arc<str> = name.into();
        let fork = Arc::new(Mutex::new(Fork::new(name.clone())));
        Self {
            name,
            fork,
            turn: 1,
            call: None,
            licences: vec![Licences::default(); 3],
            shapes: vec![Vec::new(); 3],
            looked: vec![(0, "".into(), HashSet::new()); 3],
            astray: vec![false; 3],
            landed: vec![HashSet::new(); 3],
            applied: HashSet::new(),
            altered: HashSet::new(),
            near: BTreeMap::new(),
        }
    }
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
            astray: HashSet::new(),
            landed: Vec::new(),
            senders: VecDeque::new(),
            docs: Vec::new(),
            sessions: Vec::new(),
            tasks: Vec::new(),
            runtime,
            trace: VecDeque::new(),
            stats: Stats::default(),
        };
        for (name, line_end) in [("a.txt", "\n"), ("b.txt", "\r\n"), ("c.txt", "\n")] {
            let doc = world.document(&root.join(name), name, line_end);
            world.docs.push(doc);
        }
        for name in ["one", "two"] {
            world.sessions.push(Session::new(name));
        }
        for index in 0..world.docs.len() {
            world.open(index);
        }
        world
    }

    /// A document of some lines, on the disk and not open.
    fn document(&mut self, path: &Path, name: &str, line_end: &'static str) -> Doc {
        let id = DocId::from_path(path);
        let uri = id.to_uri();
        let text = self.some_lines(14, line_end);
        let atoms: HashSet<char> = oracle::atoms(&text).collect();
        std::fs::write(path, &text).unwrap();
        Doc {
            name: name.to_owned(),
            uri,
            id,
            line_end,
            disk: VecDeque::from([atoms.clone()]),
            atoms,
            text,
            gone: HashSet::new(),
            version: None,
            moves: 0,
            opening: 0,
            vague: 0,
            first: HashMap::new(),
        }
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
            475..480 => self.format(doc),
            480..481 => self.deed(doc),
            481..487 => self.save(doc),
            487..490 => self.change_on_disk(doc),
            490..493 => self.close_or_open(doc),
            493..560 => {
                self.editor.with(|client| client.flush(&self.docs[doc].uri));
            }
            560..680 => {
                self.deliver();
            }
            680..752 => self.handle(),
            752..760 => self.batch(),
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

    // The wire.

    fn deliver(&mut self) -> bool {
        let delivered = self.editor.deliver();
        for index in 0..self.docs.len() {
            let doc = &mut self.docs[index];
            let version = self.workspace.with_document(&doc.id, |d| d.version);
            doc.moves += u64::from(version != doc.version);
            doc.version = version;
            let doc = &self.docs[index];
            let Some(cells) = self.editor.delivered(&doc.uri) else {
                if std::mem::take(&mut self.docs[index].opening) != 0 {
                    let text = self.on_disk(index);
                    self.saw(index, text, false);
                }
                continue;
            };
            let server = self.workspace.with_document(&doc.id, |d| d.text().to_string());
            let editor: String = cells.iter().map(|cell| cell.char).collect();
            assert_eq!(server.as_deref(), Some(editor.as_str()), "{} differs", doc.name);
            let opening = self.editor.openings(&doc.uri);
            let is_open = doc.opening == opening;
            if !is_open {
                let doc = &mut self.docs[index];
                doc.opening = opening;
                doc.first = cells.iter().map(|cell| (cell.id, opening)).collect();
            }
            self.saw(index, editor, is_open);
        }
        assert_eq!(self.workspace.desync_alarms(), 0);
        delivered
    }

    /// The workspace knows this text of a document now, and by its changes or as a whole.
    fn saw(&mut self, doc: usize, text: String, by_changes: bool) {
        let doc = &mut self.docs[doc];
        if doc.text == text {
            return;
        }
        let mut atoms = HashSet::new();
        // One that stands twice (an unchecking client has made an edit in another text) tells of no place either.
        doc.gone.extend(oracle::atoms(&text).filter(|char| !atoms.insert(*char)));
        doc.gone.extend(doc.atoms.difference(&atoms));
        doc.atoms = atoms;
        if !by_changes {
            doc.gone.extend(oracle::atoms(&doc.text));
        }
        doc.text = text;
    }

    /// A file was written.
    fn wrote(&mut self, doc: usize, text: &str) {
        self.docs[doc].moves += 1;
        if self.docs[doc].opening == 0 {
            self.saw(doc, text.to_owned(), false);
        }
        let disk = &mut self.docs[doc].disk;
        disk.push_back(oracle::atoms(text).collect());
        if disk.len() > 4 {
            disk.pop_front();
        }
    }

    fn on_disk(&self, doc: usize) -> String {
        std::fs::read_to_string(self.dir.path().join(&self.docs[doc].name)).unwrap()
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
        let sender = self.senders.pop_front().unwrap();
        for applied in self.editor.with(|client| client.take_applied()) {
            self.check_applied(&applied, &sender);
        }
    }

    fn advance(&mut self) {
        self.note("time passes".to_owned());
        self.runtime.block_on(tokio::time::advance(BOUND * 2));
    }
}
