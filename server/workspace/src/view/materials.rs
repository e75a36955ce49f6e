//! What a view lays over the disk, for a command that is to see the files as the view does.
//!
//! Only said here, not written: where it is put, and when, is the business of who runs the command.

use super::{Frozen, FrozenContent, Seen, View};
use crate::DocId;
use crate::disk;
use crate::paths::Place;
use ropewalk_text::Text;
use ropewalk_text::decode::FileFormat;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A place at which a view has something of its own.
#[derive(Clone, Debug)]
pub struct Material {
    /// The place. It is the name itself, also where a link is to stand or stood.
    pub place: Place,
    /// What must stand there.
    pub stands: Stands,
    /// The permission bits it must have, where the fork changes them or a text has another name than on the disk; else
    /// those of the disk's file.
    pub mode: Option<u32>,
    /// Whether it is an open document, or was renamed from one.
    pub open: bool,
    /// Whether it is something else than the disk held when it was last read.
    pub differs: bool,
}

/// What must stand at a place.
#[derive(Clone, Debug)]
pub enum Stands {
    /// Nothing.
    Missing,
    /// A text, encoded as the file on the disk is, for an open buffer too; a new one in UTF-8.
    Text(Text, FileFormat),
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// What the disk has at this place: the file is renamed, or only its mode is another.
    OnDisk(Place),
    /// A symbolic link with this target.
    Link(PathBuf),
}

impl View {
    /// What the view has at places where the disk may have something else: every open document with a file inside
    /// the roots, and every file of the fork, one for each place, sorted by path. Texts and bytes are shared, not
    /// copied. O(open documents and files of the fork), with some system calls for each open document.
    pub fn materials(&self) -> Vec<Material> {
        let mut found: BTreeMap<PathBuf, Material> = BTreeMap::new();
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

    fn of_buffer(&self, id: &DocId, seen: &Seen) -> Option<Material> {
        let place = self.snapshot.roots.place_of(&id.path()?).ok()?;
        let text = seen.moved.as_ref().unwrap_or(&seen.text).clone();
        let differs = seen.dirty && seen.moved.is_none();
        let stands = Stands::Text(text, seen.format);
        Some(Material { place, stands, mode: None, open: true, differs })
    }

    /// The same of a file that is open under several names: each has the text of the one in use, or what is pending.
    fn of_several(&self, id: &DocId, seen: &Seen, names: &[DocId]) -> Option<Material> {
        let used = names.first().and_then(|used| self.snapshot.buffers.get(used)).unwrap_or(seen);
        let material = self.of_buffer(id, used)?;
        let is_text = |frozen: &&Frozen| matches!(frozen.content, Some(FrozenContent::Text(..)));
        let pending = names.iter().filter_map(|name| self.entries.get(name)).find(is_text);
        match pending.and_then(|frozen| self.of_entry(frozen)) {
            Some(pending) => Some(Material { stands: pending.stands, differs: true, ..material }),
            None => Some(material),
        }
    }

    fn of_entry(&self, frozen: &Frozen) -> Option<Material> {
        let under = self.snapshot.buffers.get(&frozen.source);
        let stands = match &frozen.content {
            None => Stands::Missing,
            Some(FrozenContent::Text(text, format)) => {
                Stands::Text(text.clone(), under.map_or(*format, |seen| seen.format))
            }
            Some(FrozenContent::Bytes(bytes)) => Stands::Bytes(bytes.clone()),
            Some(FrozenContent::OnDisk(place)) => Stands::OnDisk(place.clone()),
            Some(FrozenContent::Link(target)) => Stands::Link(target.clone()),
        };
        Some(Material {
            place: frozen.place.clone().filter(|place| !place.is_untitled())?,
            stands,
            mode: frozen.mode.or_else(|| self.mode_left(frozen)),
            open: under.is_some(),
            differs: true,
        })
    }

    /// The permission bits that a renamed text has under its old name.
    fn mode_left(&self, frozen: &Frozen) -> Option<u32> {
        let is_text = matches!(frozen.content, Some(FrozenContent::Text(..)));
        let is_renamed = frozen.place.as_ref().is_some_and(|place| place.doc() != frozen.source);
        let path = frozen.source.path().filter(|_| is_text && is_renamed)?;
        let left = self.snapshot.roots.place_of(&path).ok()?;
        let found = disk::stat(&self.snapshot.roots, &left).ok()?;
        Some(found.mode & 0o777)
    }
}
