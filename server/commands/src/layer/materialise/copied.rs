//! Bringing a copy of the roots in step with the disk, but for what the view has of its own.

use super::{PathDemands, Writer};
use crate::layer::LayerEntry;
use crate::layer::copy::{CopiedFiles, Near};
use crate::layer::folder::StampKind;
use std::io;

impl Writer<'_> {
    /// Brings the copy of everything else in step with the disk.
    pub(super) fn copy(&mut self, copied: &CopiedFiles, wants: &PathDemands) -> io::Result<()> {
        let (mut near, mut near_up) = (Near::default(), Near::default());
        for (path, found) in copied.iter().filter(|(path, _)| !wants.contains_key(*path)) {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let Ok(Some(source)) = near.reach(self.below, parent) else { continue };
            let target = match found.kind {
                StampKind::Link => source.read_link(name).ok(),
                _ => None,
            };
            let stands = match near_up.reach(&self.up, parent)? {
                Some(folder) => folder.look(name)?,
                None => None,
            };
            let is_same = match (self.own.held.get(path), found.kind) {
                (_, StampKind::Folder) => {
                    stands.is_some_and(|stands| stands.kind == StampKind::Folder)
                }
                (Some(LayerEntry::File { stamp, from, .. }), _) => {
                    stands == Some(*stamp) && *from == Some(*found)
                }
                (Some(LayerEntry::Link { stamp, target: had }), _) => {
                    stands == Some(*stamp) && Some(had) == target.as_ref()
                }
                _ => false,
            };
            if is_same {
                continue;
            }
            near_up.forget();
            let folder = self.parents(parent, wants)?;
            folder.remove(name)?;
            match (found.kind, target) {
                (StampKind::Folder, _) => drop(folder.make(name, found.mode)?),
                (_, Some(target)) => folder.put_link(name, &target)?,
                // It may be gone, or be something else by now; then the next command sees what it is.
                _ => match source.copy(name, &folder, name) {
                    Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
                    Err(_) => folder.remove(name)?,
                    Ok(()) => {}
                },
            }
            folder.own_like(name, found);
            self.out.changed += usize::from(found.kind != StampKind::Folder);
            let held = match (folder.look(name)?, found.kind) {
                (Some(stamp), StampKind::File) => {
                    LayerEntry::File { stamp, hash: None, from: Some(*found) }
                }
                (Some(stamp), StampKind::Link) => {
                    LayerEntry::Link { stamp, target: folder.read_link(name)? }
                }
                _ => continue,
            };
            self.own.held.insert(path.clone(), held);
        }
        Ok(())
    }
}
