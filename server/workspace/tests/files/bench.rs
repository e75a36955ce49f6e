//! A folder, a workspace on it, and a session whose calls propose.

use ropewalk_text::{Coordinates, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{Bounds, PublishReport, publish};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub(crate) struct Bench {
    dir: tempfile::TempDir,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) fork: Mutex<Fork>,
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::new(vec![("w".to_owned(), dir.path().to_owned())]);
        let workspace = Arc::new(Workspace::new(roots));
        workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
        let bench = Self { dir, workspace, fork: Mutex::new(Fork::new("s".into())) };
        for (name, bytes) in files {
            let path = bench.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn open(&self, name: &str, text: &str) {
        let uri = DocId::from_path(&self.path(name)).to_uri();
        self.workspace.open(&uri, "text", 1, text);
    }

    /// A view of the session as it is now.
    pub(crate) fn view(&self) -> View {
        let mut fork = self.fork.lock().unwrap();
        self.workspace.look_at_disks();
        fork.sync(&self.workspace);
        fork.view(self.workspace.snapshot())
    }

    /// A call of the session's proposes these on one view.
    pub(crate) fn propose_all(&self, all: Vec<(&str, ProposedChange)>) -> MergeReport {
        let view = self.view();
        let proposal = |(name, change)| Proposal { place: view.contain(name).unwrap(), change };
        let proposals = all.into_iter().map(proposal).collect();
        let mut fork = self.fork.lock().unwrap();
        fork.merge(&self.workspace, &view, 1, &Maker::Call("c1".into()), proposals).unwrap()
    }

    pub(crate) fn propose(&self, name: &str, change: ProposedChange) -> MergeReport {
        self.propose_all(vec![(name, change)])
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> MergeReport {
        self.propose(name, ProposedChange::Write(Text::from(text)))
    }

    pub(crate) fn rename(&self, name: &str, to: &str) -> MergeReport {
        let to = self.workspace.roots().contain(to).unwrap();
        self.propose(name, ProposedChange::Rename { to })
    }

    pub(crate) fn hunks(&self) -> Vec<Hunk> {
        self.fork.lock().unwrap().hunks()
    }

    pub(crate) fn accept(&self, selection: &Selection) -> PublishReport {
        let (bounds, fork) = (Bounds::default(), &self.fork);
        let done = publish(&self.workspace, &NoEditor, fork, selection, bounds, &NoWitness);
        runtime().block_on(done)
    }

    pub(crate) fn undo(&self, selection: &Selection) -> PublishReport {
        let (bounds, fork) = (Bounds::default(), &self.fork);
        let done = undo(&self.workspace, &NoEditor, fork, selection, bounds, &NoWitness);
        runtime().block_on(done)
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
