//! Parts of layers: the roots they are over, a private folder on a disk, and the command that uses one.

use super::CommandSettings;
use crate::layer::remove;
use ropewalk_workspace::View;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// A command that runs, or was interrupted: its layer has not been collected.
#[derive(Debug)]
pub(super) struct UncollectedCommand {
    pub(super) view: Arc<View>,
    pub(super) started: SystemTime,
}

/// A private folder for layers on a disk, removed when nobody needs it.
///
/// It is locked for as long as it is held: one that nobody locks is what a killed process left, and goes when the
/// next is made.
#[derive(Debug)]
pub(super) struct LayerFolder {
    path: PathBuf,
    _lock: Option<File>,
}

impl LayerFolder {
    /// A new one.
    pub(super) fn make(settings: &CommandSettings) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent =
            settings.cache_folder.clone().unwrap_or_else(|| std::env::temp_dir().join("ropewalk"));
        let parent = parent.join("layers");
        private(&parent)?;
        // Whoever makes or removes one holds the parent, so that none is taken for left before it is locked.
        let all = File::open(&parent)?;
        flock(&all, FlockOperation::LockExclusive)?;
        remove_left(&parent)?;
        let folder = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = parent.join(format!("{}-{number}", std::process::id()));
            // Another PID namespace may have a process of this number, too.
            if !folder.exists() {
                break folder;
            }
        };
        private(&folder)?;
        let lock = File::open(&folder)?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(Self { path: folder.canonicalize()?, _lock: Some(lock) })
    }

    /// One that is there, or will be, inside of another.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, _lock: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LayerFolder {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::debug!(%error, "a folder for layers stays");
        }
    }
}

/// Makes a folder, and those above it, for their owner alone.
fn private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes the folders that nobody locks.
fn remove_left(parent: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(parent)? {
        let path = entry?.path();
        let Ok(folder) = File::open(&path) else { continue };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok()
            && let Err(error) = remove(&path)
        {
            tracing::warn!(%error, "a folder that a killed process left for layers stays");
        }
    }
    Ok(())
}

/// The roots that commands run over: none inside another.
pub(super) fn roots_of(view: &View) -> Vec<PathBuf> {
    let all: Vec<&Path> = view.roots().iter().map(|root| root.path()).collect();
    let is_outermost =
        |root: &&&Path| !all.iter().any(|other| other != *root && root.starts_with(other));
    let mut outermost: Vec<PathBuf> =
        all.iter().filter(is_outermost).map(|root| root.to_path_buf()).collect();
    outermost.dedup();
    outermost
}
