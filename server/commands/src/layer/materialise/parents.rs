//! The folders of a layer that what is written lies in.

use super::{DemandedContent, PathDemands, Writer};
use crate::layer::LayerEntry;
use crate::layer::folder::{Folder, StampKind, names_of};
use std::io;
use std::path::{Path, PathBuf};

impl Writer<'_> {
    /// Removes folders that are empty now, upwards, but for those that hide something.
    pub(super) fn prune(&self, folder: &Path) -> io::Result<()> {
        for path in folder.ancestors() {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { break };
            let hides = matches!(self.own.held.get(path), Some(LayerEntry::Opaque { .. }));
            let Some(parent) = self.up.reach(parent)?.filter(|_| !hides) else { break };
            if !parent.remove_empty(name) {
                break;
            }
        }
        Ok(())
    }

    /// True if something in the layer hides the disk's folder with all that is in it.
    pub(super) fn is_hidden(&self, folder: &Path) -> io::Result<bool> {
        let mut at = self.up.again()?;
        for name in names_of(folder) {
            match at.look(name)?.map(|found| found.kind) {
                None => return Ok(false),
                Some(StampKind::Folder) => at = at.enter(name)?,
                Some(_) => return Ok(true),
            }
            if at.is_opaque() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The folder in the layer, made with those above it where they are not. What is in the way goes; where that
    /// hid a folder of the disk's, the new one hides it too.
    pub(super) fn parents(&mut self, folder: &Path, wants: &PathDemands) -> io::Result<Folder> {
        let mut at = self.up.again()?;
        let mut below = Some(self.below.again()?);
        let mut walked = PathBuf::new();
        for name in names_of(folder) {
            walked.push(name);
            let next = match below {
                Some(below) => below.enter(name).ok(),
                None => None,
            };
            let disk = next.as_ref().and_then(|next| next.own().ok());
            match at.look(name)?.map(|found| found.kind) {
                Some(StampKind::Folder) => at = at.enter(name)?,
                found => {
                    at.remove(name)?;
                    let made = at.make(name, disk.map_or(0o755, |disk| disk.mode))?;
                    if let Some(like) = disk.or(self.below.own().ok()) {
                        at.own_like(name, &like);
                    }
                    let was = self.own.held.remove(&walked);
                    if found.is_some() && disk.is_some() && !self.is_copy {
                        made.set_opaque(true)?;
                        let hides = match was {
                            Some(LayerEntry::Gone { hides, .. }) if !hides.is_empty() => hides,
                            _ => missing_below(wants, &walked),
                        };
                        self.own.held.insert(walked.clone(), LayerEntry::Opaque { hides });
                    }
                    at = made;
                }
            }
            below = next.filter(|_| !at.is_opaque());
        }
        Ok(at)
    }
}

fn missing_below(wants: &PathDemands, folder: &Path) -> Vec<PathBuf> {
    let missing = wants.iter().filter(|(path, want)| {
        matches!(want.stands, DemandedContent::Missing)
            && path.starts_with(folder)
            && *path != folder
    });
    missing.map(|(path, _)| path.clone()).collect()
}
