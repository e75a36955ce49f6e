//! A folder, a workspace on it, and a session whose calls propose.

use ropewalk_text::{Coordinates, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{PublishBounds, PublishReport, publish};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::*;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// Thing at a name, for comparing folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    Folder,
    File(Vec<u8>, u32),
    Link(PathBuf),
}

pub(crate) struct Bench {
    /// Removed in the end; None where it is somebody else's.
    _dir: Option<tempfile::TempDir>,
    root: PathBuf,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) fork: Mutex<Fork>,
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::new(vec![("w".to_owned(), dir.path().to_owned())]);
        let bench = Self { _dir: Some(dir), ..Self::at(roots) };
        for (name, bytes) in files {
            let path = bench.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        bench
    }

    /// A workspace on these roots, of which the first is worked in.
    pub(crate) fn at(roots: Roots) -> Self {
        let root = roots.iter().next().unwrap().path().to_owned();
        let workspace = Arc::new(Workspace::new(roots));
        workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
        Self { _dir: None, root, workspace, fork: Mutex::new(Fork::new("s".into())) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn open(&self, name: &str, text: &str) {
        let uri = DocId::from_path(&self.path(name)).to_uri();
        self.workspace.open(&uri, "text", 1, text);
    }

    /// The user makes a file under a free name: on the disk, or in a new buffer.
    pub(crate) fn user_makes(&self, name: &str, what: u8) {
        if what < 4 {
            std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        }
        match what {
            0 => std::fs::write(self.path(name), "the user's\n").unwrap(),
            1 => std::fs::write(self.path(name), b"\0theirs").unwrap(),
            2 => std::fs::write(self.path(name), "").unwrap(),
            3 => self.link(name, "a.txt"),
            4 => self.open(name, "unsaved\n"),
            _ => self.open(name, "é\n"),
        }
    }

    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.unsaved(name).is_some()
    }

    /// The text of a buffer.
    pub(crate) fn unsaved(&self, name: &str) -> Option<String> {
        let id = DocId::from_path(&self.path(name));
        self.workspace.with_document(&id, |document| document.text().to_string())
    }

    /// A view of the session as it is now.
    pub(crate) fn view(&self) -> View {
        let mut fork = self.fork.lock().unwrap();
        self.workspace.look_at_disks();
        fork.sync_now(&self.workspace);
        fork.view(self.workspace.snapshot())
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// All that is in the folder: the folders too.
    pub(crate) fn things(&self) -> BTreeMap<String, Thing> {
        let mut out = BTreeMap::new();
        things_in(&self.path("."), Path::new(""), &mut out);
        out
    }

    pub(crate) fn thing(&self, name: &str) -> Option<Thing> {
        self.things().remove(name)
    }

    /// A call of the session's proposes these on one view, for the names themselves.
    pub(crate) fn propose_all(&self, all: Vec<(&str, ProposedChange)>) -> MergeReport {
        let view = self.view();
        let place = |name: &str| view.roots().place_in(0, Path::new(name)).unwrap();
        let proposal = |(name, change)| Proposal { place: place(name), change };
        let proposals = all.into_iter().map(proposal).collect();
        let mut fork = self.fork.lock().unwrap();
        fork.merge(&self.workspace, &view, 1, &Maker::Call("c1".into()), proposals)
    }

    pub(crate) fn propose(&self, name: &str, change: ProposedChange) -> MergeReport {
        self.propose_all(vec![(name, change)])
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> MergeReport {
        self.propose(name, ProposedChange::Write(Text::from(text)))
    }

    pub(crate) fn rename(&self, name: &str, to: &str) -> MergeReport {
        let to = self.workspace.roots().place_in(0, Path::new(to)).unwrap();
        self.propose(name, ProposedChange::Rename { to })
    }

    pub(crate) fn to_link(&self, name: &str, target: &str) -> MergeReport {
        self.propose(name, ProposedChange::Link(target.into()))
    }

    pub(crate) fn binary(&self, name: &str, bytes: &[u8]) -> MergeReport {
        self.propose(name, ProposedChange::Binary(Arc::from(bytes)))
    }

    pub(crate) fn reject(&self, id: HunkId) -> usize {
        let which = HunkSelection::Hunks(vec![id]);
        self.fork.lock().unwrap().reject(&self.workspace, &which, None)
    }

    /// One line for each pending hunk: its file, kind and diff.
    pub(crate) fn review(&self) -> Vec<String> {
        let line = |hunk: Hunk| format!("{} {}: {}", hunk.file, hunk.kind.name(), hunk.diff);
        self.hunks().into_iter().map(line).collect()
    }

    /// The id of the only hunk of this kind.
    pub(crate) fn only(&self, kind: &str) -> HunkId {
        let mut all = self.hunks();
        all.retain(|hunk| hunk.kind.name() == kind);
        assert_eq!(all.len(), 1, "{all:#?}");
        all[0].id
    }

    /// The same session on the same folder in another process, by what was written of it.
    pub(crate) fn restarted(&self) -> Fork {
        let fork = self.fork.lock().unwrap();
        let mut kept = state::SavedState::default();
        for record in state::SavedState::default().record(&fork, &self.workspace, None) {
            let line = serde_json::to_string(&record).unwrap();
            kept.take(serde_json::from_str(&line).unwrap()).unwrap();
        }
        let workspace = Workspace::new(self.workspace.roots());
        kept.restore("s".into(), &workspace)
    }

    pub(crate) fn accept_one(&self, id: HunkId) -> PublishReport {
        self.accept(&HunkSelection::Hunks(vec![id]))
    }

    /// All is accepted without trouble, then undone, and the folder is as it was.
    pub(crate) fn accept_and_undo(
        &self,
        before: &BTreeMap<String, Thing>,
    ) -> BTreeMap<String, Thing> {
        let report = self.accept(&HunkSelection::All);
        assert_eq!(report.failed, []);
        assert_eq!(self.review(), [""; 0]);
        let after = self.things();
        let report = self.undo(&HunkSelection::Turn(1));
        assert_eq!(report.failed, []);
        assert_eq!(self.things(), *before);
        assert!(
            self.workspace.ledger().files.is_empty() && self.workspace.ledger().texts.is_empty()
        );
        after
    }

    pub(crate) fn hunks(&self) -> Vec<Hunk> {
        self.fork.lock().unwrap().hunks()
    }

    pub(crate) fn accept(&self, selection: &HunkSelection) -> PublishReport {
        self.accept_by(&self.fork, selection)
    }

    pub(crate) fn accept_by(
        &self,
        fork: &dyn ForkOwner,
        selection: &HunkSelection,
    ) -> PublishReport {
        let bounds = PublishBounds::default();
        let done = publish(&self.workspace, &NoEditor, fork, selection, bounds);
        runtime().block_on(done)
    }

    pub(crate) fn undo(&self, selection: &HunkSelection) -> PublishReport {
        let (bounds, fork) = (PublishBounds::default(), &self.fork);
        let done = undo(&self.workspace, &NoEditor, fork, selection, bounds);
        runtime().block_on(done)
    }
}

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

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn things_in(folder: &Path, below: &Path, out: &mut BTreeMap<String, Thing>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = below.join(path.file_name().unwrap());
        let found = std::fs::symlink_metadata(&path).unwrap();
        let thing = if found.is_symlink() {
            Thing::Link(std::fs::read_link(&path).unwrap())
        } else if found.is_dir() {
            things_in(&path, &name, out);
            Thing::Folder
        } else {
            Thing::File(std::fs::read(&path).unwrap(), found.permissions().mode() & 0o777)
        };
        out.insert(name.to_str().unwrap().to_owned(), thing);
    }
}
