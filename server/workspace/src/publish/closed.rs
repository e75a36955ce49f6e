//! Publishing to files that are not open: written, removed or renamed on the disk, after a look at whether
//! what is there is what the fork was made on.

use crate::disk::{self, Expect, FileError, FileRead};
use crate::entry::{Base, Content, Entry, FileChange, Mark};
use crate::fork::{Fork, ForkFile};
use crate::ledger::{Published, PublishedFile};
use crate::view::LARGEST_FILE;
use crate::workspace::{Workspace, lock};
use crate::{ContentHash, DocId, HunkId, Place, Roots};
use ropewalk_text::Text;
use ropewalk_text::decode::{FileFormat, decode, encode};
use std::sync::{Arc, Mutex};

/// Publishes the chosen part of a file that is not open, and chosen changes of files themselves. Gives what
/// was published.
pub(super) fn publish_closed(
    workspace: &Workspace,
    fork: &Mutex<Fork>,
    id: &DocId,
    ids: &[HunkId],
    seen: &[Content],
) -> Result<Vec<HunkId>, FileError> {
    let mut fork = lock(fork);
    fork.sync(workspace);
    let session = fork.session.clone();
    let Some(file) = fork.files.get_mut(id) else { return Ok(Vec::new()) };
    let Some(place) = file.place.clone() else { return Ok(Vec::new()) };
    let ids = file.entry.unaltered(&file.entry.pending(ids), seen);
    let change = file.entry.file.clone().filter(|(_, mark)| ids.contains(&mark.id));
    let disk = Disk { workspace, roots: workspace.roots(), session };
    match change {
        None => disk.write_text(file, &place, &ids)?,
        Some((FileChange::Rename { from }, mark)) => {
            disk.rename(&mut fork, id, &from, &mark, &ids)?
        }
        Some((change, mark)) => disk.change_file(file, &place, &change, &mark)?,
    }
    fork.files.retain(|_, file| !file.entry.is_empty());
    Ok(ids)
}

/// What every way of publishing to the disk needs.
struct Disk<'a> {
    workspace: &'a Workspace,
    roots: Roots,
    session: Arc<str>,
}

impl Disk<'_> {
    /// What is there, if it is what the fork was made on.
    fn read(&self, place: &Place, base: &Base) -> Result<Option<FileRead>, FileError> {
        let found = match disk::read(&self.roots, place, LARGEST_FILE) {
            Ok(read) => Some(read),
            Err(FileError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let expected = match base {
            Base::Disk { hash, .. } | Base::Binary { hash } => Some(*hash),
            // A clean buffer: its file is what the disk holds.
            Base::Buffer { .. } => return Ok(found),
            Base::Absent => None,
        };
        if found.as_ref().map(|read| read.hash) == expected {
            Ok(found)
        } else {
            Err(FileError::Changed { path: place.shown.clone() })
        }
    }

    fn record(
        &self,
        place: &Place,
        mark: (HunkId, u64),
        before: Option<Vec<u8>>,
        after: Option<ContentHash>,
    ) {
        self.workspace.ledger().files.push(PublishedFile {
            id: mark.0,
            session: self.session.clone(),
            turn: mark.1,
            path: place.path.clone(),
            file: place.shown.clone(),
            before: before.map(Arc::from),
            after,
        });
    }

    fn change_file(
        &self,
        file: &mut ForkFile,
        place: &Place,
        change: &FileChange,
        mark: &Mark,
    ) -> Result<(), FileError> {
        let old = self.read(place, &file.entry.base)?;
        let expect = old.as_ref().map_or(Expect::Absent, |old| Expect::Hash(old.hash));
        let before = old.map(|old| old.bytes);
        match change {
            FileChange::Delete => {
                if before.is_some() {
                    disk::remove(&self.roots, place, expect)?;
                    self.record(place, (mark.id, mark.turn), before, None);
                }
                file.entry.base = Base::Absent;
            }
            FileChange::Binary(bytes) => {
                let hash = disk::write(&self.roots, place, bytes, expect)?;
                self.record(place, (mark.id, mark.turn), before, Some(hash));
            }
            FileChange::Mode(mode) => disk::set_mode(&self.roots, place, *mode)?,
            // Published under the new name.
            FileChange::Away | FileChange::Rename { .. } => return Ok(()),
        }
        file.entry.file = None;
        Ok(())
    }

    /// The file gets its new name, keeping its mode, and then those of its pending changes that were chosen.
    fn rename(
        &self,
        fork: &mut Fork,
        id: &DocId,
        from: &DocId,
        mark: &Mark,
        ids: &[HunkId],
    ) -> Result<(), FileError> {
        let old_place = fork.files.get(from).and_then(|left| left.place.clone());
        let Some(file) = fork.files.get_mut(id) else { return Ok(()) };
        let (Some(old_place), Some(place)) = (old_place, file.place.clone()) else { return Ok(()) };
        let Some(old) = self.read(&old_place, &file.entry.base)? else {
            return Err(FileError::NotFound { path: old_place.shown });
        };
        let format = decode(&old.bytes).map(|(_, format)| format).unwrap_or_default();
        let text = file.entry.part(ids).and_then(|part| part.apply(&file.entry.base.text()).ok());
        // Encoded first, so that what can't be written changes nothing.
        let bytes = text.map(|text| encoded(&text, format, &place)).transpose()?;
        disk::rename(&self.roots, &old_place, &place, Expect::Hash(old.hash))?;
        let mut hash = old.hash;
        if let Some(bytes) = &bytes {
            hash = disk::write(&self.roots, &place, bytes, Expect::Hash(old.hash))?;
        }
        let base = match decode(bytes.as_deref().unwrap_or(&old.bytes)) {
            Some((text, format)) => Base::Disk { text, hash, format },
            None => Base::Binary { hash },
        };
        self.record(&place, (mark.id, mark.turn), None, Some(hash));
        self.record(&old_place, (mark.id, mark.turn), Some(old.bytes), None);
        let rest = ropewalk_text::diff(&base.text(), file.entry.text());
        let mut entry = Entry::new(base);
        let others = Mark { id: fork.ids.give(), sent: None, ..mark.clone() };
        entry.add(&rest, &others, &mut fork.ids);
        file.entry = entry;
        fork.files.remove(from);
        Ok(())
    }

    fn write_text(
        &self,
        file: &mut ForkFile,
        place: &Place,
        ids: &[HunkId],
    ) -> Result<(), FileError> {
        let Some(part) = file.entry.part(ids) else { return Ok(()) };
        let before = file.entry.base.text();
        let Ok(after) = part.apply(&before) else { return Ok(()) };
        let (expect, format) = match &file.entry.base {
            Base::Disk { hash, format, .. } => (Expect::Hash(*hash), *format),
            Base::Binary { hash } => (Expect::Hash(*hash), FileFormat::default()),
            _ => (Expect::Absent, FileFormat::default()),
        };
        // Where there was no text, undo puts back the bytes, or takes the file away.
        let whole = match &file.entry.base {
            Base::Disk { .. } => None,
            base => Some(self.read(place, base)?.map(|old| old.bytes)),
        };
        let hash = disk::write(&self.roots, place, &encoded(&after, format, place)?, expect)?;
        let publish = self.workspace.publish_id();
        file.entry.mark_sent(ids, Some(publish));
        let hunks = file.entry.sent_by(publish, &part);
        match (whole, hunks.first()) {
            (Some(old), Some(first)) => self.record(place, *first, old, Some(hash)),
            _ => {
                let about =
                    Published::about(self.session.clone(), place.doc(), place.shown.clone());
                let mut ledger = self.workspace.ledger();
                ledger.record(&about, &before, &part, &after, &hunks);
                ledger.loosen(&place.doc());
            }
        }
        file.entry.published(publish, &part, after.clone());
        file.entry.base = Base::Disk { text: after, hash, format };
        Ok(())
    }
}

fn encoded(text: &Text, format: FileFormat, place: &Place) -> Result<Vec<u8>, FileError> {
    encode(text, format)
        .map_err(|error| FileError::Io { path: place.shown.clone(), reason: error.to_string() })
}
