//! Files that a view lays over the disk, for a command that is to see the files as the view does.
//!
//! Only said here, not written: where it is put, and when, is the business of who runs the command.

use super::{BufferSnapshot, ForkedFile, FrozenContent, View};
use crate::DocId;
use ropewalk_files::disk;
use ropewalk_files::paths::Place;
use ropewalk_text::Text;
use ropewalk_text::decode::FileFormat;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A place at which a view has something of its own.
#[derive(Clone, Debug)]
pub struct OverlayFile {
    /// The place. It is the name itself, also where a link is to stand or stood.
    pub place: Place,
    /// Content that must stand there.
    pub stands: OverlayContent,
    /// The permission bits it must have, where the fork changes them or a text has another name than on the disk; else
    /// those of the disk's file.
    pub mode: Option<u32>,
    /// True if it is an open document, or was renamed from one.
    pub open: bool,
    /// True if it is something else than the disk held when it was last read.
    pub differs: bool,
}

/// Content that must stand at a place.
#[derive(Clone, Debug)]
pub enum OverlayContent {
    /// Nothing.
    Missing,
    /// A text, encoded as the file on the disk is, for an open buffer too; a new one in UTF-8.
    Text(Text, FileFormat),
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// Content of the disk at this place: the file is renamed, or only its mode is another.
    OnDisk(Place),
    /// A symbolic link with this target.
    Link(PathBuf),
}

impl View {
    /// Lists places where the view may differ from the disk, one each, sorted by path: open
    /// documents inside the roots, and files of the fork. Shares texts; costs some system calls for
    /// each open document.
    pub fn materials(&self) -> Vec<OverlayFile> {
        let mut found: BTreeMap<PathBuf, OverlayFile> = BTreeMap::new();
        for (id, seen) in &self.snapshot.buffers {
            let material = match self.snapshot.same_file(id) {
                None => self.of_buffer(id, seen),
                Some(names) => self.of_several(id, seen, names),
            };
            found.extend(material.map(|material| (material.place.path.clone(), material)));
        }
        for frozen in self.entries.values() {
            if let Some(material) = self.of_entry(frozen) {
                found.insert(material.place.path.clone(), material);
            }
        }
        found.into_values().collect()
    }

    fn of_buffer(&self, id: &DocId, seen: &BufferSnapshot) -> Option<OverlayFile> {
        let place = self.snapshot.roots.place_of(&id.path()?).ok()?;
        let text = seen.moved.as_ref().unwrap_or(&seen.text).clone();
        let differs = seen.dirty && seen.moved.is_none();
        let stands = OverlayContent::Text(text, seen.format);
        Some(OverlayFile { place, stands, mode: None, open: true, differs })
    }

    /// The same of a file that is open under several names: each has the text of the one in use, or what is pending.
    fn of_several(
        &self,
        id: &DocId,
        seen: &BufferSnapshot,
        names: &[DocId],
    ) -> Option<OverlayFile> {
        let used = names.first().and_then(|used| self.snapshot.buffers.get(used)).unwrap_or(seen);
        let material = self.of_buffer(id, used)?;
        let is_text =
            |frozen: &&ForkedFile| matches!(frozen.content, Some(FrozenContent::Text(..)));
        let pending = names.iter().filter_map(|name| self.entries.get(name)).find(is_text);
        match pending.and_then(|frozen| self.of_entry(frozen)) {
            Some(pending) => {
                Some(OverlayFile { stands: pending.stands, differs: true, ..material })
            }
            None => Some(material),
        }
    }

    fn of_entry(&self, frozen: &ForkedFile) -> Option<OverlayFile> {
        let under = self.snapshot.buffers.get(&frozen.source);
        let stands = match &frozen.content {
            None => OverlayContent::Missing,
            Some(FrozenContent::Text(text, format)) => {
                OverlayContent::Text(text.clone(), under.map_or(*format, |seen| seen.format))
            }
            Some(FrozenContent::Bytes(bytes)) => OverlayContent::Bytes(bytes.clone()),
            Some(FrozenContent::OnDisk(place)) => OverlayContent::OnDisk(place.clone()),
            Some(FrozenContent::Link(target)) => OverlayContent::Link(target.clone()),
        };
        Some(OverlayFile {
            place: frozen.place.clone().filter(|place| !place.is_untitled())?,
            stands,
            mode: frozen.mode.or_else(|| self.mode_left(frozen)),
            open: under.is_some(),
            differs: true,
        })
    }

    /// The permission bits that a renamed text has under its old name.
    fn mode_left(&self, frozen: &ForkedFile) -> Option<u32> {
        let is_text = matches!(frozen.content, Some(FrozenContent::Text(..)));
        let is_renamed = frozen.place.as_ref().is_some_and(|place| place.doc() != frozen.source);
        let path = frozen.source.path().filter(|_| is_text && is_renamed)?;
        let left = self.snapshot.roots.place_of(&path).ok()?;
        let found = disk::stat(&self.snapshot.roots, &left).ok()?;
        Some(found.mode & 0o777)
    }
}
