//! A folder with files, one of them open in an editor, a lead's fork, and members that branch from it.

use ropewalk_text::{Coordinates, Text};
use ropewalk_workspace::bundle::take;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::{merge, synced};
use ropewalk_workspace::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) fork: Mutex<Fork>,
}

pub(crate) fn bob(task: u64) -> Maker {
    Maker::Member { name: "bob".into(), task: Some(task) }
}

impl World {
    /// Files with these texts; the first is open.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let roots = Roots::new(vec![("w".to_owned(), dir.path().to_owned())]);
        let workspace = Arc::new(Workspace::new(roots));
        workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
        let world = Self { dir, workspace, fork: Mutex::new(Fork::new("s".into())) };
        if let Some((name, text)) = files.first() {
            world.workspace.open(&world.id(name).to_uri(), "text", 1, text);
        }
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn id(&self, name: &str) -> DocId {
        DocId::from_path(&self.root().join(name))
    }

    pub(crate) fn branch(&self) -> Branch {
        synced(&self.workspace, &self.fork, |fork, _| Branch::of(fork, 1, bob(1)))
    }

    pub(crate) fn propose(&self, view: &View, name: &str, change: ProposedChange) -> Proposal {
        Proposal { place: view.roots().contain(name).unwrap(), change }
    }

    /// A branch makes these changes; a new name is given as a link's target.
    pub(crate) fn work(&self, branch: &mut Branch, changes: Vec<(&str, ProposedChange)>) {
        let view = branch.fork().view(self.workspace.snapshot());
        let all = changes.into_iter().map(|(name, change)| self.propose(&view, name, change));
        let report =
            branch.fork().merge(&self.workspace, &view, 1, &Maker::Call("c".into()), all.collect());
        assert_eq!(report.conflicts, Vec::<String>::new());
    }

    /// The branch's bundle, written and read.
    pub(crate) fn bundle(&self, branch: &mut Branch) -> Bundle {
        let (bundle, left_out) = branch.bundle(&self.workspace, BundleGuard::NONE).unwrap();
        assert_eq!(left_out, Vec::<String>::new());
        let again = Bundle::read(&bundle.write().unwrap()).unwrap();
        assert_eq!(again, bundle);
        again
    }

    pub(crate) fn take(&self, bundle: &Bundle, task: u64) -> Result<MergeReport, TakeError> {
        take(
            &self.workspace,
            &self.fork,
            bundle,
            MergeOrigin { turn: 1, maker: &bob(task) },
            BundleGuard::NONE,
        )
    }

    /// A call of the lead's own writes a file.
    pub(crate) fn lead_writes(&self, name: &str, text: &str) {
        let view =
            synced(&self.workspace, &self.fork, |fork, _| fork.view(self.workspace.snapshot()));
        let change = ProposedChange::Write(Text::from(text));
        let proposals = vec![self.propose(&view, name, change)];
        let by = Maker::Call("l".into());
        merge(&self.workspace, &self.fork, &view, MergeOrigin { turn: 1, maker: &by }, proposals);
    }

    /// The text that the fork has.
    pub(crate) fn forked(&self, name: &str) -> String {
        forked(&self.workspace, &self.fork, name)
    }

    /// The text that the user has.
    pub(crate) fn users(&self, name: &str) -> String {
        let open = self.workspace.with_document(&self.id(name), |d| d.text().to_string());
        let read = || std::fs::read_to_string(self.root().join(name)).ok();
        open.or_else(read).unwrap_or_default()
    }

    /// Names and kinds of what waits, and for whom it was made.
    pub(crate) fn waits(&self) -> Vec<(String, String, Vec<Maker>)> {
        let hunks = self.fork.lock().unwrap().hunks();
        let told = |h: &Hunk| (h.file.clone(), h.kind.name().to_owned(), h.makers.clone());
        hunks.iter().map(told).collect()
    }
}

pub(crate) fn forked(workspace: &Workspace, fork: &Mutex<Fork>, name: &str) -> String {
    let view = synced(workspace, fork, |fork, _| fork.view(workspace.snapshot()));
    match view.read(&view.contain(name).unwrap()).unwrap() {
        FileState::Text { text, .. } => text.to_string(),
        _ => String::new(),
    }
}
