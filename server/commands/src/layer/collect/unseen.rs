//! Files that we put in a layer and the walk has not come by: gone, or in a folder that is ignored.

use super::CollectWalk;
use crate::layer::folder::{Folder, StampKind};
use crate::layer::notes::NoteKind;
use crate::layer::{LayerEntry, RootLayer};
use ropewalk_files::repository::is_store_name;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl CollectWalk<'_, '_, '_> {
    /// Settles files that we put in the layer and the walk has not come by.
    pub(super) fn unseen(&mut self, up: &Arc<Folder>, below: &Arc<Folder>) -> io::Result<()> {
        let mut unseen: Vec<PathBuf> = std::mem::take(&mut self.unseen).into_iter().collect();
        unseen.retain(|path| self.own.held.get(path).is_some_and(is_file));
        unseen.sort_unstable();
        for path in unseen {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let folder = up.reach(parent)?.map(Arc::new);
            let stamp = match &folder {
                Some(folder) => folder.look(name)?.filter(|found| found.kind != StampKind::Folder),
                None => None,
            };
            match (folder, stamp) {
                (Some(folder), Some(stamp)) => {
                    let Ok(below) = below.reach(parent) else {
                        self.judge.told.add(NoteKind::Unreadable, &path);
                        continue;
                    };
                    let below = below.map(Arc::new);
                    self.is_moving = match &below {
                        Some(below) => self.judge.is_since(&below.own()?),
                        None => false,
                    };
                    self.name(&path, (&folder, name), stamp, below.as_ref())?;
                }
                _ => {
                    let held = self.own.held.remove(&path);
                    if let Some(LayerEntry::File { stamp, .. }) = &held {
                        self.judge.left_out.took_away(stamp);
                    }
                    if self.is_copy && !self.judge.has(&path) {
                        self.gone_from_copy(&path, held, below)?;
                    } else {
                        self.judge.gone_from_view(&path);
                    }
                }
            }
        }
        Ok(())
    }

    /// A file of the disk's that the copy had has gone from it.
    fn gone_from_copy(
        &mut self,
        path: &Path,
        held: Option<LayerEntry>,
        below: &Folder,
    ) -> io::Result<()> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        let found = below.reach(parent).and_then(|folder| {
            let Some(folder) = folder else { return Ok(None) };
            Ok(folder.look(name)?.map(|disk| (disk, folder)))
        });
        let Ok(found) = found else {
            self.judge.told.add(NoteKind::Unreadable, path);
            return Ok(());
        };
        // Gone on both sides is no change.
        let Some((disk, folder)) = found.filter(|(disk, _)| disk.kind != StampKind::Folder) else {
            return Ok(());
        };
        let moved = matches!(held, Some(LayerEntry::File { from: Some(from), .. }) if from != disk);
        if moved {
            self.judge.told.add(NoteKind::Moved, path);
        } else if self.judge.has_room_for(1)? {
            self.judge.gone(path, disk, (&folder, name));
        } else {
            self.judge.told.add(NoteKind::Surplus, path);
        }
        Ok(())
    }
}

fn is_file(held: &LayerEntry) -> bool {
    matches!(held, LayerEntry::File { .. } | LayerEntry::Link { .. })
}

/// The files and links that we put in a layer, but for git's.
pub(super) fn ours(own: &RootLayer) -> HashSet<PathBuf> {
    let files = own
        .held
        .iter()
        .filter(|(path, held)| is_file(held) && !path.iter().next().is_some_and(is_store_name));
    files.map(|(path, _)| path.clone()).collect()
}
