//! Files of a disk's folder that a deleted or replaced one hides.

use super::{CollectWalk, MOST_NAMES, enter};
use crate::layer::folder::{DEEPEST, Folder, StampKind};
use crate::layer::notes::NoteKind;
use ropewalk_files::repository::is_store_name;
use std::io;
use std::path::{Path, PathBuf};

/// Fate of the files under a hidden folder.
pub(super) enum HiddenFate {
    /// These are deleted, and nothing else was there.
    All(Vec<PathBuf>),
    /// Some changed outside meanwhile and stay.
    Part,
    /// More than a review takes; nothing is proposed for it.
    TooMuch,
}

impl CollectWalk<'_, '_, '_> {
    /// The files of a folder of the disk's that no longer show, nor stand in `over`. They are judged as deleted.
    pub(super) fn hidden(
        &mut self,
        path: &Path,
        lower: &Folder,
        over: Option<&Folder>,
    ) -> HiddenFate {
        let mut found = Vec::new();
        let mut all = true;
        self.cut = false;
        if self.list(path, lower, over, (&mut found, &mut all), 0).is_err() {
            self.judge.told.add(NoteKind::Unreadable, path);
            return HiddenFate::TooMuch;
        }
        if self.cut {
            self.judge.told.add(NoteKind::Surplus, path);
            return HiddenFate::TooMuch;
        }
        if all { HiddenFate::All(found) } else { HiddenFate::Part }
    }

    fn list(
        &mut self,
        path: &Path,
        lower: &Folder,
        over: Option<&Folder>,
        (found, all): (&mut Vec<PathBuf>, &mut bool),
        depth: usize,
    ) -> io::Result<()> {
        if depth > DEEPEST || self.names > MOST_NAMES {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for name in lower.names()? {
            self.names += 1;
            let Some(stamp) = lower.look(&name)? else { continue };
            let is_folder = stamp.kind == StampKind::Folder;
            if is_store_name(&name) || self.ignores.ignores(&name, is_folder) {
                continue;
            }
            let path = path.join(&name);
            let stands = match over {
                Some(over) => over.look(&name)?,
                None => None,
            };
            if is_folder {
                let inner = match (over, stands.map(|stands| stands.kind)) {
                    (Some(over), Some(StampKind::Folder)) => enter(over, &name)?,
                    _ => None,
                };
                let Some(lower) = enter(lower, &name)? else { continue };
                let full = self.own.root.join(&path);
                self.ignores.enter(&full, None, Some(&lower));
                let listed =
                    self.list(&path, &lower, inner.as_ref(), (&mut *found, &mut *all), depth + 1);
                self.ignores.leave();
                listed?;
            } else if stands.is_none() && matches!(stamp.kind, StampKind::File | StampKind::Link) {
                if !self.judge.has_room_for(1)? {
                    self.cut = true;
                    return Ok(());
                }
                if self.judge.gone(&path, stamp, (lower, &name)) {
                    found.push(path);
                } else {
                    *all = false;
                }
            }
        }
        Ok(())
    }
}
