//! A folder, a workspace on it and an editor that echoes at once; and what is left of them after a crash.

use futures::future::BoxFuture;
use ropewalk_text::{Coordinates, Text, diff};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{PublishBounds, PublishReport, publish};
use ropewalk_workspace::state::{SavedState, StateRecord};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::*;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// All that survives: the files, and the texts that the editor has open, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outside {
    pub(crate) disk: BTreeMap<String, Vec<u8>>,
    /// The targets of links.
    pub(crate) links: BTreeMap<String, PathBuf>,
    /// The modes of files that have none of the usual ones.
    pub(crate) modes: BTreeMap<String, u32>,
    pub(crate) open: BTreeMap<String, String>,
}

impl Outside {
    /// The editor has died, and what was not saved with it.
    pub(crate) fn unsaved_lost(&self) -> Self {
        Self { open: BTreeMap::new(), ..self.clone() }
    }
}

/// Knowledge at one moment, had the server died right then.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) kept: SavedState,
    pub(crate) outside: Outside,
}

/// Keeps the state, the way a journal does: through records, written and read.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Pages>>);

#[derive(Default)]
pub(crate) struct Pages {
    writer: SavedState,
    reader: SavedState,
    lines: Vec<String>,
    moments: Vec<Moment>,
    /// The state after each record since the last moment: a journal can be cut off there.
    cuts: Vec<SavedState>,
    cut_moments: Vec<Moment>,
}

impl Journal {
    /// Records, reads back what was recorded, and gives the state that was read.
    pub(crate) fn keep(&self, fork: &Fork, workspace: &Workspace) -> SavedState {
        self.take(|writer| writer.record(fork, workspace, None))
    }

    /// The same right before something is done to these files.
    fn keep_at_hand(&self, files: &[DocId], fork: &Fork, workspace: &Workspace) -> SavedState {
        self.take(|writer| writer.record_at_hand(files, fork, workspace, None))
    }

    fn take(&self, record: impl FnOnce(&mut SavedState) -> Vec<StateRecord>) -> SavedState {
        let mut pages = self.0.lock().unwrap();
        for record in record(&mut pages.writer) {
            let line = serde_json::to_string(&record).unwrap();
            let read: StateRecord = serde_json::from_str(&line).unwrap();
            assert_eq!(read, record);
            pages.reader.take(read).unwrap();
            pages.lines.push(line);
            let cut = pages.reader.clone();
            pages.cuts.push(cut);
        }
        assert_eq!(pages.reader, pages.writer, "a reader knows what the writer does");
        pages.reader.clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().lines.clone()
    }
}

struct Watching<'a>(&'a World);

/// A locked fork, and what is done with it right before each side effect.
pub(crate) struct Watched<'a, F: FnMut(&Fork, &[DocId])>(
    pub(crate) MutexGuard<'a, Fork>,
    pub(crate) F,
);

impl<F: FnMut(&Fork, &[DocId])> Deref for Watched<'_, F> {
    type Target = Fork;

    fn deref(&self) -> &Fork {
        &self.0
    }
}

impl<F: FnMut(&Fork, &[DocId])> DerefMut for Watched<'_, F> {
    fn deref_mut(&mut self) -> &mut Fork {
        &mut self.0
    }
}

impl<F: FnMut(&Fork, &[DocId])> LockedFork for Watched<'_, F> {
    fn journal_first(&mut self, files: &[DocId]) {
        (self.1)(&self.0, files);
    }
}

impl ForkOwner for Watching<'_> {
    fn lock(&self) -> Box<dyn LockedFork + '_> {
        let fork = self.0.fork.lock().unwrap();
        Box::new(Watched(fork, |fork, files| self.keep_first(fork, files)))
    }
}

impl Watching<'_> {
    fn keep_first(&self, fork: &Fork, files: &[DocId]) {
        let types = self.0.types.lock().unwrap().clone();
        // Not where the very edit is about to be made: that would be looked at anew each time.
        if let Some((name, what)) = types.filter(|(name, _)| !files.contains(&self.0.id(name))) {
            let text = self.0.text(&name);
            self.0.type_text(&name, &format!("{what}{text}{what}"));
        }
        self.0.at_hand.lock().unwrap().push(files.len());
        let kept = self.0.journal.keep_at_hand(files, fork, &self.0.workspace);
        let outside = self.0.outside();
        let mut pages = self.0.journal.0.lock().unwrap();
        let cuts = std::mem::take(&mut pages.cuts).into_iter();
        let cuts = cuts.map(|kept| Moment { kept, outside: outside.clone() });
        pages.cut_moments.extend(cuts);
        pages.moments.push(Moment { kept, outside });
    }
}

/// Applies edits to the workspace's own documents and echoes them at once.
pub(crate) struct Echo(Arc<Workspace>);

impl Editor for Echo {
    fn habits(&self) -> Habits {
        Habits::of(Some("Visual Studio Code"))
    }
    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        let id = DocId::from_uri(&edit.uri);
        let version = self.0.with_document(&id, |document| document.version);
        if version != Some(edit.version) {
            return Box::pin(async { Err(EditorError::Declined(String::new())) });
        }
        let change = |(start, end, text)| ContentChange { range: Some((start, end)), text };
        let changes: Vec<ContentChange> = edit.edits.into_iter().rev().map(change).collect();
        self.0.change(&edit.uri, edit.version + 1, &changes);
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

pub(crate) struct World {
    pub(crate) dir: Arc<tempfile::TempDir>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) fork: Mutex<Fork>,
    pub(crate) journal: Journal,
    pub(crate) turn: u64,
    /// A document, and the text that the user types in it at each moment.
    types: Mutex<Option<(String, String)>>,
    /// How many files each moment was about.
    at_hand: Mutex<Vec<usize>>,
}

impl World {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = Arc::new(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let workspace = workspace(dir.path());
        let fork = Mutex::new(Fork::new("s".into()));
        let (types, at_hand) = (Mutex::default(), Mutex::default());
        Self { dir, workspace, fork, journal: Journal::default(), turn: 1, types, at_hand }
    }

    /// From now on the user types this at both ends of a document right before each side effect.
    pub(crate) fn type_at_each_moment(&self, name: &str, what: &str) {
        *self.types.lock().unwrap() = Some((name.to_owned(), what.to_owned()));
    }

    /// How many files each moment was about since the last call.
    pub(crate) fn at_hand(&self) -> Vec<usize> {
        std::mem::take(&mut *self.at_hand.lock().unwrap())
    }

    /// Another process, in which `kept` came back and nothing but `outside` was left of this one.
    pub(crate) fn after(&self, kept: &SavedState, outside: &Outside) -> World {
        let now = self.outside();
        for name in now.disk.keys().chain(now.links.keys()) {
            std::fs::remove_file(self.dir.path().join(name)).unwrap();
        }
        for (name, bytes) in &outside.disk {
            let path = self.dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        for (name, target) in &outside.links {
            let path = self.dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, path).unwrap();
        }
        for (name, mode) in &outside.modes {
            let mode = std::fs::Permissions::from_mode(*mode);
            std::fs::set_permissions(self.dir.path().join(name), mode).unwrap();
        }
        self.beside(kept, outside)
    }

    /// The same on the disk as it is.
    pub(crate) fn beside(&self, kept: &SavedState, outside: &Outside) -> World {
        let workspace = workspace(self.dir.path());
        let world = World {
            dir: self.dir.clone(),
            workspace,
            fork: Mutex::new(Fork::new("s".into())),
            journal: Journal::default(),
            turn: self.turn,
            types: Mutex::default(),
            at_hand: Mutex::default(),
        };
        for (name, text) in &outside.open {
            world.open(name, text);
        }
        world.workspace.look_at_disks();
        *world.fork.lock().unwrap() = kept.restore("s".into(), &world.workspace);
        world.journal.0.lock().unwrap().writer = kept.clone();
        world.journal.0.lock().unwrap().reader = kept.clone();
        world
    }

    pub(crate) fn id(&self, name: &str) -> DocId {
        if name.contains(':') {
            return DocId::from_uri(name);
        }
        DocId::from_path(&self.dir.path().canonicalize().unwrap().join(name))
    }

    pub(crate) fn open(&self, name: &str, text: &str) {
        self.workspace.open(&self.id(name).to_uri(), "text", 1, text);
    }

    /// The user's buffer becomes `text`, as their editor tells it: by what differs.
    pub(crate) fn type_text(&self, name: &str, text: &str) {
        let id = self.id(name);
        let (version, before) =
            self.workspace.with_document(&id, |d| (d.version, d.text().clone())).unwrap();
        let coordinates = Coordinates::default();
        let position = |at| coordinates.byte_to_position(&before, at);
        let set = diff(&before, &Text::from(text));
        let changes: Vec<ContentChange> = set
            .changes()
            .iter()
            .rev()
            .map(|c| ContentChange {
                range: Some((position(c.range.start), position(c.range.end))),
                text: c.text.clone(),
            })
            .collect();
        if !changes.is_empty() {
            self.workspace.change(&id.to_uri(), version + 1, &changes);
        }
        assert_eq!(self.text(name), text);
    }

    /// The user's file becomes `text`: in the editor where it is open.
    pub(crate) fn type_or_write(&self, name: &str, text: &str) {
        match self.workspace.with_document(&self.id(name), |_| ()) {
            Some(()) => self.type_text(name, text),
            None => self.write_on_disk(name, text),
        }
    }

    /// Another program writes a file.
    pub(crate) fn write_on_disk(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The user saves.
    pub(crate) fn save(&self, name: &str) {
        self.write_on_disk(name, &self.text(name));
        self.workspace.written(&self.id(name));
        self.workspace.look_after_save(&self.id(name));
    }

    /// The user's text: the open one, else the disk's; nothing where there is no file.
    pub(crate) fn text(&self, name: &str) -> String {
        let open = self.workspace.with_document(&self.id(name), |d| d.text().to_string());
        open.or_else(|| std::fs::read_to_string(self.dir.path().join(name)).ok())
            .unwrap_or_default()
    }

    pub(crate) fn outside(&self) -> Outside {
        let root = self.dir.path().canonicalize().unwrap();
        let mut out = Outside::default();
        files_in(&root, &root, &mut out);
        for id in self.workspace.open_documents() {
            let text = self.workspace.with_document(&id, |d| d.text().to_string()).unwrap();
            let name = match id.path() {
                Some(path) => path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(),
                None => id.to_uri(),
            };
            out.open.insert(name, text);
        }
        out
    }

    /// A call of the agent's proposes something.
    pub(crate) fn propose(&self, name: &str, change: ProposedChange) -> MergeReport {
        let mut fork = self.fork.lock().unwrap();
        self.workspace.look_at_disks();
        fork.sync_now(&self.workspace);
        let view = fork.view(self.workspace.snapshot());
        let place = view.contain(name).unwrap();
        let maker = Maker::Call(format!("c{}", self.turn).into());
        let proposals = vec![Proposal { place, change }];
        fork.merge(&self.workspace, &view, self.turn, &maker, proposals)
    }

    /// The same of a name itself, which may be a link.
    pub(crate) fn propose_itself(&self, name: &str, change: ProposedChange) -> MergeReport {
        let mut fork = self.fork.lock().unwrap();
        self.workspace.look_at_disks();
        fork.sync_now(&self.workspace);
        let view = fork.view(self.workspace.snapshot());
        let place = view.roots().place_in(0, Path::new(name)).unwrap();
        let proposals = vec![Proposal { place, change }];
        let maker = Maker::Call("c1".into());
        fork.merge(&self.workspace, &view, self.turn, &maker, proposals)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> MergeReport {
        self.propose(name, ProposedChange::Write(Text::from(text)))
    }

    /// The same, where it may be impossible by now.
    pub(crate) fn agent_tries(&self, name: &str, change: ProposedChange) {
        let state = {
            let mut fork = self.fork.lock().unwrap();
            fork.sync_now(&self.workspace);
            let view = fork.view(self.workspace.snapshot());
            view.read(&view.contain(name).unwrap()).unwrap()
        };
        let renamed = self
            .hunks()
            .iter()
            .any(|hunk| matches!(hunk.kind, HunkKind::Rename { .. }) && hunk.file == name);
        let bytes = matches!(change, ProposedChange::Binary(_));
        if !(matches!(state, FileState::Missing) || renamed && bytes) {
            self.propose(name, change);
        }
    }

    /// True if a file is to be renamed that is neither open nor on the disk.
    pub(crate) fn renames_nothing(&self) -> bool {
        let gone = |from: &DocId| {
            let open = self.workspace.with_document(from, |_| ()).is_some();
            !open && !from.path().is_some_and(|path| path.exists())
        };
        self.hunks().iter().any(|hunk| match &hunk.kind {
            HunkKind::Rename { from } => gone(&DocId::from_uri(from)),
            _ => false,
        })
    }

    /// The agent makes another text of what it sees, or of nothing.
    pub(crate) fn agent_writes(&self, name: &str, make: impl FnOnce(&str) -> String) {
        let (state, away) = {
            let mut fork = self.fork.lock().unwrap();
            fork.sync_now(&self.workspace);
            let view = fork.view(self.workspace.snapshot());
            let away = view.entries().get(&self.id(name)).is_some_and(|frozen| frozen.away);
            (view.read(&view.contain(name).unwrap()).unwrap(), away)
        };
        match state {
            _ if away => {}
            FileState::Text { text, .. } => drop(self.write(name, &make(&text.to_string()))),
            FileState::Missing => drop(self.write(name, &make(""))),
            FileState::Binary { .. } => {}
        }
    }

    /// The agent renames what it sees, to where it sees nothing.
    pub(crate) fn agent_renames(&self, name: &str, to: &str) {
        let free = {
            let mut fork = self.fork.lock().unwrap();
            fork.sync_now(&self.workspace);
            let view = fork.view(self.workspace.snapshot());
            // Nothing goes under a name that a file has only just left, and no file is renamed twice.
            let taken = |name: &str| view.entries().contains_key(&self.id(name));
            let there = view.read(&view.contain(to).unwrap()).unwrap();
            matches!(there, FileState::Missing) && !taken(to) && !taken(name)
        };
        if free && name != to {
            let to = self.workspace.roots().contain(to).unwrap();
            self.agent_tries(name, ProposedChange::Rename { to });
        }
    }

    pub(crate) fn rename(&self, name: &str, to: &str) {
        let to = self.workspace.roots().contain(to).unwrap();
        self.propose(name, ProposedChange::Rename { to });
    }

    pub(crate) fn accept(&self, selection: &HunkSelection) -> PublishReport {
        let (editor, fork) = (Echo(self.workspace.clone()), Watching(self));
        let bounds = PublishBounds::default();
        let done = publish(&self.workspace, &editor, &fork, selection, bounds);
        runtime().block_on(done)
    }

    pub(crate) fn undo(&self, selection: &HunkSelection) -> PublishReport {
        let (editor, fork) = (Echo(self.workspace.clone()), Watching(self));
        let bounds = PublishBounds::default();
        let done = undo(&self.workspace, &editor, &fork, selection, bounds);
        runtime().block_on(done)
    }

    /// The state as a journal has it now.
    pub(crate) fn keep(&self) -> SavedState {
        self.journal.keep(&self.fork.lock().unwrap(), &self.workspace)
    }

    /// The moments right before a side effect since the last call.
    pub(crate) fn moments(&self) -> Vec<Moment> {
        std::mem::take(&mut self.journal.0.lock().unwrap().moments)
    }

    /// The moments since the last call at which what was journalled right before a side effect was cut off.
    pub(crate) fn cuts(&self) -> Vec<Moment> {
        std::mem::take(&mut self.journal.0.lock().unwrap().cut_moments)
    }

    pub(crate) fn sync(&self) {
        self.fork.lock().unwrap().sync_now(&self.workspace);
    }

    pub(crate) fn hunks(&self) -> Vec<Hunk> {
        self.fork.lock().unwrap().hunks()
    }

    /// Hunks as a reviewer sees them, without ids.
    pub(crate) fn review(&self) -> Vec<(String, String, String, u64, Vec<Maker>)> {
        let seen = |hunk: Hunk| (hunk.file, hunk.old, hunk.new, hunk.turn, hunk.makers);
        self.hunks().into_iter().map(seen).collect()
    }

    /// Changes that can be undone: files, old and new texts.
    pub(crate) fn published(&self) -> Vec<(String, String, String)> {
        let ledger = self.workspace.ledger();
        let texts = ledger.texts.iter();
        let texts = texts.map(|hunk| (hunk.file.clone(), hunk.old.clone(), hunk.new.clone()));
        let files = ledger.files.iter();
        let files =
            files.map(|f| (f.file.clone(), format!("{:?}", f.before), format!("{:?}", f.after)));
        let mut all: Vec<_> = texts.chain(files).collect();
        all.sort();
        all
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

fn files_in(root: &Path, dir: &Path, out: &mut Outside) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let found = std::fs::symlink_metadata(&path).unwrap();
        if found.is_symlink() {
            out.links.insert(name, std::fs::read_link(&path).unwrap());
        } else if found.is_dir() {
            files_in(root, &path, out);
        } else {
            let mode = found.permissions().mode() & 0o777;
            if mode != 0o644 {
                out.modes.insert(name.clone(), mode);
            }
            out.disk.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

fn workspace(dir: &Path) -> Arc<Workspace> {
    let roots = Roots::new(vec![("w".to_owned(), dir.to_owned())]);
    let workspace = Arc::new(Workspace::new(roots));
    workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
    workspace
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
