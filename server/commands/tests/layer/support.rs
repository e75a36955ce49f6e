//! A workspace over a temporary folder with a layer beside it, and the marks an overlay makes in one.

use ropewalk_commands::layer::{BuildInputs, Layer, LayerChanges, LayerUpdate, file_time};
use ropewalk_text::decode::encode;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::{
    FileState, Fork, MergeReport, Proposal, ProposedChange, Roots, View, Workspace,
};
use rustix::fs::{CWD, FileType, Mode, XattrFlags};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) workspace: Workspace,
    pub(crate) fork: Fork,
    pub(crate) layer: Layer,
    pub(crate) ever: BuildInputs,
}

impl Bench {
    /// A root `w` with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("w");
        fs::create_dir(&root).unwrap();
        for (name, text) in files {
            put(&root.join(name), text.as_bytes());
        }
        // The wait makes the files just written older than any command.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let root = root.canonicalize().unwrap();
        let layer = Layer::open(&dir.path().join("layer"), std::slice::from_ref(&root)).unwrap();
        let workspace = Workspace::new(Roots::new(vec![("w".into(), root)]));
        let (fork, ever) = (Fork::new("s".into()), BuildInputs::default());
        Self { dir, workspace, fork, layer, ever }
    }

    /// The layer is a copy from now on.
    pub(crate) fn on_a_copy(mut self, most: u64) -> Self {
        let root = self.disk("").canonicalize().unwrap();
        self.layer = Layer::copy(&self.dir.path().join("layer"), &[root], most).unwrap();
        self
    }

    pub(crate) fn disk(&self, name: &str) -> PathBuf {
        self.dir.path().join("w").join(name)
    }

    pub(crate) fn up(&self, name: &str) -> PathBuf {
        self.dir.path().join("layer/0/up").join(name)
    }

    /// The editor opens a file with this text.
    pub(crate) fn open(&self, name: &str, text: &str) {
        let uri = format!("file://{}", self.disk(name).canonicalize().unwrap().display());
        self.workspace.open(&uri, "plain", 1, text);
    }

    pub(crate) fn view(&mut self) -> View {
        self.workspace.look_at_disks();
        self.fork.sync_now(&self.workspace);
        self.fork.view(self.workspace.snapshot())
    }

    /// The fork gets a change, as from a tool.
    pub(crate) fn change(&mut self, name: &str, change: ProposedChange) {
        let view = self.view();
        let place = view.contain(name).unwrap();
        self.merge(&view, vec![Proposal { place, change }]);
    }

    pub(crate) fn merge(&mut self, view: &View, proposals: Vec<Proposal>) -> MergeReport {
        let maker = Maker::Call("c".into());
        self.fork.merge(&self.workspace, view, 1, &maker, proposals)
    }

    pub(crate) fn materialise(&mut self) -> (View, LayerUpdate) {
        let view = self.view();
        let made = self.layer.materialise(&view, &mut self.ever).unwrap();
        (view, made)
    }

    /// The layer is written, a command changes it, what it did is collected.
    pub(crate) fn collect(&mut self, run: impl FnOnce(&Self)) -> (View, LayerChanges) {
        let (view, _) = self.materialise();
        let started = file_time();
        run(self);
        let collected = self.layer.collect(&view, started, &mut self.ever).unwrap();
        (view, collected)
    }

    /// The same, and it is merged.
    pub(crate) fn command(&mut self, run: impl FnOnce(&Self)) -> LayerChanges {
        let (view, collected) = self.collect(run);
        let report = self.merge(&view, collected.proposals.clone());
        assert_eq!((report.conflicts, report.refused), (vec![], vec![]));
        collected
    }

    /// A view's file, as bytes on the disk.
    pub(crate) fn reads(&mut self, name: &str) -> Option<String> {
        let view = self.view();
        let place = view.contain(name).unwrap();
        match view.read(&place).unwrap() {
            FileState::Text { text, format, .. } => {
                Some(String::from_utf8_lossy(&encode(&text, format).unwrap()).into_owned())
            }
            FileState::Binary { len } => Some(format!("{len} bytes")),
            FileState::Missing => None,
        }
    }
}

/// The proposals as short words, in their order.
pub(crate) fn said(collected: &LayerChanges) -> Vec<String> {
    let say = |proposal: &Proposal| {
        let name = &proposal.place.shown;
        match &proposal.change {
            ProposedChange::Write(text) => format!("write {name} {:?}", text.to_string()),
            ProposedChange::Delete => format!("delete {name}"),
            ProposedChange::Rename { to } => format!("rename {name} to {}", to.shown),
            ProposedChange::Binary(bytes) => format!("{} bytes {name}", bytes.len()),
            ProposedChange::Mode(mode) => format!("mode {name} {mode:o}"),
            other => format!("{name} {other:?}"),
        }
    };
    collected.proposals.iter().map(say).collect()
}

/// To whom nothing is shut.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The inode and the time of last change.
pub(crate) fn stamp(path: &Path) -> (u64, i64, i64) {
    let found = fs::symlink_metadata(path).unwrap();
    (found.ino(), found.mtime(), found.mtime_nsec())
}

/// Overlay's mark for a deleted name.
pub(crate) fn gone(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        fs::remove_dir_all(path).unwrap();
    } else if path.symlink_metadata().is_ok() {
        fs::remove_file(path).unwrap();
    }
    rustix::fs::mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
}

pub(crate) fn is_gone(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let found = path.symlink_metadata();
    found.is_ok_and(|found| found.file_type().is_char_device() && found.rdev() == 0)
}

/// Overlay's mark for a folder that replaces the one below.
pub(crate) fn opaque(path: &Path) {
    fs::create_dir_all(path).unwrap();
    rustix::fs::setxattr(path, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
}

/// Overlay's mark for a file that was copied up.
pub(crate) fn copied_up(path: &Path) {
    rustix::fs::setxattr(path, "user.overlay.origin", b"x", XattrFlags::empty()).unwrap();
}
