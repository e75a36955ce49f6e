//! A layer that is a copy of its roots, for systems where nothing can be laid over them.
//!
//! The same folders, the same list of what stands: only that every file of the disk which is not ignored stands in it
//! too, and that nothing shows through. It is kept in step before each command: what changed on the disk is copied
//! again, sharing blocks where the disk can. `.git` and its like are copied as well, so that they can be read, and put
//! back after.

use super::folder::{DEEPEST, Folder, Stamp, StampKind};
use super::git::same_entries;
use super::notes::plain;
use super::{Layer, LayerEntry, LayerError, RootLayer};
use ropewalk_files::repository::is_store_name;
use ropewalk_files::tracked::LONGEST_INDEX;
use ropewalk_tools::walk::{tracked_besides, walker};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Copied files of a root, by path from the root.
pub(super) type CopiedFiles = BTreeMap<PathBuf, Stamp>;

/// A folder that was reached last, for the next file in it.
#[derive(Debug, Default)]
pub(super) struct Near {
    path: PathBuf,
    folder: Option<Folder>,
}

impl Near {
    /// The folder at a relative path from `base`, always the same one.
    pub(super) fn reach(&mut self, base: &Folder, path: &Path) -> io::Result<Option<&Folder>> {
        if self.folder.is_none() || self.path != path {
            self.folder = base.reach(path)?;
            self.path = path.to_owned();
        }
        Ok(self.folder.as_ref())
    }

    /// Forgets it: folders were made or removed.
    pub(super) fn forget(&mut self) {
        self.folder = None;
    }
}

impl Layer {
    /// A layer in `folder` that will hold a copy of these roots, as [`Layer::open`] makes one to be laid over them.
    /// Roots of more than `most` bytes together, ignored files aside, are refused by [`Layer::materialise`]. Nothing
    /// is copied yet.
    ///
    /// # Errors
    /// The system's.
    pub fn copy(folder: &Path, roots: &[PathBuf], most: u64) -> io::Result<Self> {
        Ok(Self { copy: Some(most), ..Self::open(folder, roots)? })
    }

    /// Where a command of this layer finds what lies at a path in the roots: in the copy; None outside the roots.
    pub fn in_copy(&self, path: &Path) -> Option<PathBuf> {
        let below = |own: &RootLayer| Some(own.up.join(path.strip_prefix(&own.root).ok()?));
        self.roots.iter().find_map(below)
    }

    /// Finds what is to be copied of each root.
    pub(super) fn find_copied(&mut self) -> Result<Vec<CopiedFiles>, LayerError> {
        let Some(most) = self.copy else {
            return Ok(self.roots.iter().map(|_| CopiedFiles::new()).collect());
        };
        let mut all = Vec::new();
        let mut bytes = 0_u64;
        for own in &self.roots {
            let copied = listed(&own.root).map_err(LayerError::at(&own.root))?;
            bytes = bytes.saturating_add(copied.values().map(|stamp| stamp.len).sum());
            if bytes > most {
                return Err(LayerError::TooLarge { most: most >> 20 });
            }
            all.push(copied);
        }
        let mut missing = None;
        for (own, copied) in self.roots.iter().zip(&mut all) {
            let root = Folder::disk(&own.root).map_err(LayerError::at(&own.root))?;
            let names = root.names().unwrap_or_default().into_iter();
            for name in names.filter(|name| is_store_name(name)) {
                let mut store = CopiedFiles::new();
                let Ok(folder) = root.enter(&name) else {
                    // With it in the copy, a commit there would be one in the real repository.
                    missing.get_or_insert((name, "it is a file here that leads to a repository elsewhere, as in a worktree or a submodule"));
                    continue;
                };
                below(Path::new(&name), &folder, &mut store, 0);
                bytes = bytes.saturating_add(store.values().map(|stamp| stamp.len).sum());
                if bytes <= most {
                    copied.append(&mut store);
                } else {
                    missing.get_or_insert((name, "it is too large to be copied"));
                }
            }
        }
        if let Some((name, why)) = missing
            && !std::mem::replace(&mut self.is_without_git, true)
        {
            let name = plain(Path::new(&name));
            self.told.push(format!(
                "version control can't be used in the copy, because {name} is not there: {why}"
            ));
        }
        Ok(all)
    }
}

/// A root's files, links and folders that are not ignored.
fn listed(root: &Path) -> io::Result<CopiedFiles> {
    let base = Folder::disk(root)?;
    let mut near = Near::default();
    let mut out = CopiedFiles::new();
    // A file that only searches leave out is a file for commands.
    let walked: Vec<_> = walker(root).ignore(false).build().flatten().collect();
    let known: HashSet<&Path> = walked.iter().map(|entry| entry.path()).collect();
    let besides = tracked_besides(root, false, |path| known.contains(path));
    for entry in walked.iter().chain(&besides) {
        let Ok(path) = entry.path().strip_prefix(root) else { continue };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
        // A folder that the disk doesn't let us look at is not copied.
        let Ok(Some(folder)) = near.reach(&base, parent) else { continue };
        // A file without a name in text can't be proposed, but a command may well need it.
        if let Ok(Some(stamp)) = folder.look(name)
            && matches!(stamp.kind, StampKind::File | StampKind::Link | StampKind::Folder)
        {
            let len = if stamp.kind == StampKind::File { stamp.len } else { 0 };
            out.insert(path.to_owned(), Stamp { len, ..stamp });
        }
    }
    Ok(out)
}

/// All files and folders in a folder, but for the locks of whoever works in it now and what can't be looked at.
fn below(path: &Path, folder: &Folder, out: &mut CopiedFiles, depth: usize) {
    for name in folder.names().unwrap_or_default() {
        let path = path.join(&name);
        let Ok(Some(stamp)) = folder.look(&name) else { continue };
        match stamp.kind {
            StampKind::Folder if depth < DEEPEST => {
                out.insert(path.clone(), Stamp { len: 0, ..stamp });
                if let Ok(inner) = folder.enter(&name) {
                    below(&path, &inner, out, depth + 1);
                }
            }
            StampKind::File if path.extension().is_none_or(|end| end != "lock") => {
                out.insert(path, stamp);
            }
            StampKind::Link => {
                out.insert(path, Stamp { len: 0, ..stamp });
            }
            _ => {}
        }
    }
}

/// Puts a `.git` of a copy back to what was copied: what is new goes, and what was changed goes too, so that it is
/// copied again. Gives whether anything was changed but the times that the index remembers.
pub(super) fn put_back(own: &mut RootLayer, path: &Path, folder: &Folder) -> io::Result<bool> {
    put_back_below(own, path, folder, 0)
}

fn put_back_below(
    own: &mut RootLayer,
    path: &Path,
    folder: &Folder,
    depth: usize,
) -> io::Result<bool> {
    let mut changed = false;
    for name in folder.names()? {
        let path = path.join(&name);
        let Some(stamp) = folder.look(&name)? else { continue };
        // Deeper folders were not copied.
        if stamp.kind == StampKind::Folder && depth < DEEPEST {
            changed |= put_back_below(own, &path, &folder.enter(&name)?, depth + 1)?;
            continue;
        }
        if own.held.get(&path).and_then(LayerEntry::stamp) == Some(&stamp) {
            continue;
        }
        changed |= path != Path::new(".git/index")
            || stamp.kind != StampKind::File
            || !is_same_index(&own.root, folder);
        own.held.remove(&path);
        folder.remove(&name)?;
    }
    Ok(changed)
}

/// True if the index in a copy's `.git` says what the root's does.
fn is_same_index(root: &Path, copy: &Folder) -> bool {
    let name = OsStr::new("index");
    let below = Folder::disk(root).and_then(|root| root.reach(Path::new(".git")));
    let Ok(Some(below)) = below else { return false };
    let (old, new) = (below.read(name, LONGEST_INDEX), copy.read(name, LONGEST_INDEX));
    matches!((old, new), (Ok(old), Ok(new)) if same_entries(&old, &new))
}
