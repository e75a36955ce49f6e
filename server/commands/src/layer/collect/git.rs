//! Putting back what a command changed in a `.git` or another store of version control, and what git put back outside of it.

use super::{CollectWalk, enter};
use crate::layer::copy::put_back;
use crate::layer::folder::path_in;
use crate::layer::folder::{Folder, Stamp, StampKind};
use crate::layer::git::{self, same_entries, went_elsewhere};
use crate::layer::notes::NoteKind;
use ropewalk_files::tracked::LONGEST_INDEX;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

impl CollectWalk<'_, '_, '_> {
    /// Finds out which files git put back in the folder of a repository, before any of them is come by.
    pub(super) fn note_put_back(&mut self, path: &Path, up: &Folder, below: Option<&Arc<Folder>>) {
        let name = OsStr::new(".git");
        let is_folder = |found: Stamp| found.kind == StampKind::Folder;
        // In a folder that was shut nothing was put back.
        let (true, Some(below)) =
            (up.look(name).is_ok_and(|found| found.is_some_and(is_folder)), below)
        else {
            return;
        };
        if let (Ok(inner), Ok(lower)) = (up.enter(name), below.enter(name)) {
            let own = path_in(&self.own.root, path.as_os_str());
            let files = git::put_back(&inner, &lower);
            self.judge
                .note_put_back(files.into_iter().map(|(path, written)| (own.join(path), written)));
        }
    }

    /// Puts a `.git` of the layer back to what the disk has, and tells it unless all that changed is what git
    /// remembers of times.
    pub(super) fn git(
        &mut self,
        path: &Path,
        up: &Folder,
        name: &OsStr,
        below: Option<&Folder>,
    ) -> io::Result<()> {
        let inner = enter(up, name)?;
        // One of the disk's that can't be read is taken for none.
        let lower = below.and_then(|below| below.enter(name).ok());
        let is_copied = self.is_copy && path.iter().count() == 1;
        if let (Some(inner), Some(lower)) = (&inner, &lower)
            && went_elsewhere(inner, lower, is_copied)
        {
            self.judge.told.add(NoteKind::Elsewhere, path);
        }
        if is_copied && let Some(inner) = &inner {
            self.judge.left_out.folder(inner, path);
            if put_back(self.own, path, inner)? {
                self.judge.told.add(NoteKind::Git, path);
            }
            return Ok(());
        }
        let is_untouched = match (&inner, &lower) {
            (Some(inner), Some(lower)) => only_times(inner, lower)?,
            _ => false,
        };
        if !is_untouched {
            self.judge.told.add(NoteKind::Git, path);
            match &inner {
                Some(inner) => self.judge.left_out.folder(inner, path),
                None => self.judge.left_out.now(up, name, path),
            }
        }
        up.remove(name)
    }
}

/// True if a `.git` over another holds nothing but an index that says the same.
fn only_times(over: &Folder, below: &Folder) -> io::Result<bool> {
    let index = OsStr::new("index");
    for name in over.names()? {
        if name != index {
            return Ok(false);
        }
        let is_file = |folder: &Folder| matches!(folder.look(index), Ok(Some(found)) if found.kind == StampKind::File);
        if !is_file(over) || !is_file(below) {
            return Ok(false);
        }
        let (new, old) = (over.read(index, LONGEST_INDEX), below.read(index, LONGEST_INDEX));
        if !matches!((new, old), (Ok(new), Ok(old)) if same_entries(&old, &new)) {
            return Ok(false);
        }
    }
    Ok(true)
}
