//! A command's own layer over the disk: what stands in it before, and what came of it after.
//!
//! A command runs over the fork: under the real paths it sees the disk, and over it a layer with every open
//! document's text and every change of the fork. [`Layer::materialise`] writes the layer so that it shows a view;
//! what the command writes lands in it; [`Layer::collect`] turns that into proposals, which are merged and reviewed
//! like any other's. What is ignored stays in the layer and lives on for the next command; what is under `.git` is
//! dropped, in words.
//!
//! Works on plain folders and knows no namespaces: the folder that gets the writes is mounted over the root by
//! somebody else, with `up` as the upper layer and `work` as its scratch folder. Nothing here writes to a root.
//! Blocking; no command of the layer may run meanwhile.

mod accounts;
mod beside;
mod build_inputs;
mod caches;
mod collect;
mod compare;
mod copy;
mod folder;
mod fork;
mod git;
mod hidden_paths;
mod ignores;
mod judge;
mod left_out;
mod materialise;
mod notes;

pub(crate) use accounts::redacted_outside;
pub use build_inputs::BuildInputs;
pub use caches::BuildCaches;
use caches::{is_built_in, is_project_file};
pub(crate) use caches::{is_project, remove};
pub use folder::file_time;

use folder::Stamp;
use ropewalk_workspace::{ContentHash, Place, Proposal, ProposedChange};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// The most files of one command that become proposals.
pub const MOST_CHANGES: usize = 5_000;

/// The most bytes of one command's files that become proposals.
pub const MOST_BYTES: u64 = 64 << 20;

/// A layer could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// There is no room left in it.
    #[error(
        "the sandbox is full: what this session's commands have written takes more room than it has. Delete build output or other large files that commands made, and try again"
    )]
    Full,
    /// The roots are too large to be copied.
    #[error(
        "the open folders hold more than {most} MB beside what is ignored, too much for commands to run on a copy. Add large folders that commands don't need to .gitignore"
    )]
    TooLarge {
        /// The bound, in megabytes.
        most: u64,
    },
    /// Anything else the system says.
    #[error("{path}: {error}")]
    Io {
        /// Where.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
}

impl LayerError {
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Io { path, error },
        }
    }
}

/// Outcome of writing a view for a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerUpdate {
    /// How many files were written or removed; what stands already is left alone.
    pub changed: usize,
    /// Files that the command will not see as they are, in words for the result.
    pub told: Vec<String>,
}

/// Changes of a command.
#[derive(Clone, Debug, Default)]
pub struct LayerChanges {
    /// Its changes, on the view it ran on. Deletions and renames come first.
    pub proposals: Vec<Proposal>,
    /// Changes that did not become proposals and why, in words for the result.
    pub told: Vec<String>,
}

impl LayerChanges {
    /// Drops the proposals for these places, and those of files that were moved there. Gives their names.
    fn leave_out(&mut self, mut is_left_out: impl FnMut(&Place) -> bool) -> Vec<String> {
        let mut dropped = Vec::new();
        self.proposals.retain(|Proposal { place, change }| {
            let to = match change {
                // It stays by itself once its new place is dropped.
                ProposedChange::MoveOver { .. } => None,
                change => change.to(),
            };
            let places = [Some(place), to].into_iter().flatten();
            let left: Vec<&Place> = places.filter(|place| is_left_out(place)).collect();
            dropped.extend(left.iter().map(|place| notes::plain(Path::new(&place.shown))));
            left.is_empty()
        });
        dropped
    }
}

/// See the module.
#[derive(Debug)]
pub struct Layer {
    roots: Vec<RootLayer>,
    /// Words for the next command's result.
    told: Vec<String>,
    /// Some if it is a copy and not laid over its roots: how many bytes may be copied.
    copy: Option<u64>,
    /// Set once a result said that a copy has no `.git`.
    is_without_git: bool,
    /// Set once a result said that not all builds outside were looked through.
    has_unseen: bool,
    /// Where commands have what they write outside of the roots, if that ends with the session.
    scratch: Option<PathBuf>,
    /// Paths that nobody sees in it.
    veil: hidden_paths::HiddenPaths,
}

/// The part of a layer that lies over one root.
#[derive(Debug)]
struct RootLayer {
    /// The root.
    root: PathBuf,
    /// The folder that lies over it.
    up: PathBuf,
    /// Known entries in it, by path from the root.
    held: HashMap<PathBuf, LayerEntry>,
    /// The `.git` folders of repositories whose settings may open accounts, by path from the root.
    repositories: Vec<PathBuf>,
    /// Their settings as they stand in the layer now.
    redacted: accounts::Redacted,
}

/// An entry of a layer as we left it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LayerEntry {
    /// A file: materialised, or made by a command and proposed.
    File {
        stamp: Stamp,
        /// Of its bytes, where we have read them.
        hash: Option<ContentHash>,
        /// The disk's file that it was copied from.
        from: Option<Stamp>,
    },
    /// A link.
    Link { stamp: Stamp, target: PathBuf },
    /// The mark of a deleted name; the files that it hides, when the name is a folder's.
    Gone { stamp: Stamp, hides: Vec<PathBuf> },
    /// A folder that hides these files of the disk's.
    Opaque { hides: Vec<PathBuf> },
    /// Left by a command, told, and no proposal: it stays until it changes.
    Left { stamp: Stamp },
}

impl LayerEntry {
    fn stamp(&self) -> Option<&Stamp> {
        match self {
            Self::File { stamp, .. }
            | Self::Link { stamp, .. }
            | Self::Gone { stamp, .. }
            | Self::Left { stamp } => Some(stamp),
            Self::Opaque { .. } => None,
        }
    }
}

impl Layer {
    /// An empty layer over these roots (real paths, none inside another), in `folder`: for each root, by its index,
    /// `INDEX/up` and `INDEX/work` are made. What was there is removed.
    ///
    /// # Errors
    /// The system's.
    pub fn open(folder: &Path, roots: &[PathBuf]) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let here = folder::Folder::ours(folder)?;
        let mut made = Vec::new();
        for (index, root) in roots.iter().enumerate() {
            let name = index.to_string();
            here.remove(name.as_ref())?;
            let own = here.make(name.as_ref(), 0o700)?;
            let like = std::fs::metadata(root)?;
            let mode = std::os::unix::fs::PermissionsExt::mode(&like.permissions());
            own.make("up".as_ref(), mode & 0o7777)?;
            own.make("work".as_ref(), 0o700)?;
            if let Ok(below) = folder::Folder::disk(root).and_then(|root| root.own()) {
                own.own_like("up".as_ref(), &below);
            }
            let up = folder.join(name).join("up");
            made.push(RootLayer {
                root: root.clone(),
                up,
                held: HashMap::new(),
                repositories: Vec::new(),
                redacted: Vec::new(),
            });
        }
        Ok(Self {
            roots: made,
            told: Vec::new(),
            copy: None,
            is_without_git: false,
            has_unseen: false,
            scratch: None,
            veil: Default::default(),
        })
    }

    /// Tells the folder of what commands write outside of the roots, which is lost with the session.
    pub fn look_outside(&mut self, scratch: &Path) {
        self.scratch = Some(scratch.to_owned());
    }

    /// The root that a path is in, by index, and the path from there.
    fn locate<'a>(&self, path: &'a Path) -> Option<(usize, &'a Path)> {
        let inside =
            |(index, own): (usize, &RootLayer)| Some((index, path.strip_prefix(&own.root).ok()?));
        self.roots
            .iter()
            .enumerate()
            .find_map(inside)
            .filter(|(_, rest)| !rest.as_os_str().is_empty())
    }
}
