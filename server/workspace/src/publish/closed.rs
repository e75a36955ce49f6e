//! Publishing to files that are not open: written, removed or renamed on the disk, after a look at whether
//! what is there is what the fork was made on.

use crate::disk::{self, Expect, FileError, FileRead};
use crate::entry::{Base, Content, Entry, FileChange, Mark};
use crate::fork::Fork;
use crate::ledger::{Published, PublishedFile};
use crate::view::LARGEST_FILE;
use crate::witness::Witness;
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
    (ids, seen): (&[HunkId], &[Content]),
    witness: &dyn Witness,
) -> Result<Vec<HunkId>, FileError> {
    let mut fork = lock(fork);
    fork.sync(workspace);
    let session = fork.session.clone();
    let Some(file) = fork.files.get(id) else { return Ok(Vec::new()) };
    let Some(place) = file.place.clone() else { return Ok(Vec::new()) };
    let ids = file.entry.unaltered(&file.entry.pending(ids), seen);
    let change = file.entry.file.clone().filter(|(_, mark)| ids.contains(&mark.id));
    let disk = Disk { workspace, roots: workspace.roots(), session, witness };
    match change {
        None => disk.write_text(&mut fork, id, &place, &ids)?,
        Some((FileChange::Rename { from }, mark)) => {
            disk.rename(&mut fork, id, &from, &mark, &ids)?
        }
        Some((change, mark)) => disk.change_file(&mut fork, id, &place, &change, &mark)?,
    }
    fork.files.retain(|_, file| !file.entry.is_empty());
    Ok(ids)
}

/// What every way of publishing to the disk needs.
struct Disk<'a> {
    workspace: &'a Workspace,
    roots: Roots,
    session: Arc<str>,
    witness: &'a dyn Witness,
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

    /// A line of the ledger.
    fn about(
        &self,
        place: &Place,
        (id, turn): (HunkId, u64),
        before: Option<Vec<u8>>,
        after: Option<ContentHash>,
    ) -> PublishedFile {
        PublishedFile {
            id,
            session: self.session.clone(),
            turn,
            path: place.path.clone(),
            file: place.shown.clone(),
            before: before.map(Arc::from),
            after,
            undoing: false,
        }
    }

    /// Does something to files that the ledger tells of, and the witness, before it is done. What fails leaves
    /// the ledger.
    fn noted<T>(
        &self,
        fork: &Fork,
        lines: &[PublishedFile],
        act: impl FnOnce() -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        self.workspace.ledger().files.extend_from_slice(lines);
        self.witness.ahead(fork);
        let done = act();
        if done.is_err() {
            self.workspace.ledger().files.retain(|file| !lines.iter().any(|line| line.is(file)));
        }
        done
    }

    fn change_file(
        &self,
        fork: &mut Fork,
        id: &DocId,
        place: &Place,
        change: &FileChange,
        mark: &Mark,
    ) -> Result<(), FileError> {
        let Some(file) = fork.files.get(id) else { return Ok(()) };
        let old = self.read(place, &file.entry.base)?;
        let expect = old.as_ref().map_or(Expect::Absent, |old| Expect::Hash(old.hash));
        let before = old.map(|old| old.bytes);
        let about = |before, after| [self.about(place, (mark.id, mark.turn), before, after)];
        match change {
            FileChange::Delete if before.is_none() => {}
            FileChange::Delete => {
                let remove = || disk::remove(&self.roots, place, expect);
                self.noted(fork, &about(before, None), remove)?;
            }
            FileChange::Binary(bytes) => {
                let write = || disk::write(&self.roots, place, bytes, expect);
                self.noted(fork, &about(before, Some(ContentHash::of(bytes))), write)?;
            }
            FileChange::Mode(mode) => {
                self.noted(fork, &[], || disk::set_mode(&self.roots, place, *mode))?;
            }
            // Published under the new name.
            FileChange::Away | FileChange::Rename { .. } => return Ok(()),
        }
        let Some(file) = fork.files.get_mut(id) else { return Ok(()) };
        if matches!(change, FileChange::Delete) {
            file.entry.base = Base::Absent;
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
        let Some(file) = fork.files.get(id) else { return Ok(()) };
        let (Some(old_place), Some(place)) = (old_place, file.place.clone()) else { return Ok(()) };
        let Some(old) = self.read(&old_place, &file.entry.base)? else {
            return Err(FileError::NotFound { path: old_place.shown });
        };
        let format = decode(&old.bytes).map(|(_, format)| format).unwrap_or_default();
        let text = file.entry.part(ids).and_then(|part| part.apply(&file.entry.base.text()).ok());
        // Encoded first, so that what can't be written changes nothing.
        let bytes = text.map(|text| encoded(&text, format, &place)).transpose()?;
        let after = bytes.as_deref().map_or(old.hash, ContentHash::of);
        let which = (mark.id, mark.turn);
        let new = self.about(&place, which, None, Some(after));
        let left = self.about(&old_place, which, Some(old.bytes.clone()), None);
        let publish = self.workspace.publish_id();
        if let Some(file) = fork.files.get_mut(id) {
            file.entry.mark_sent(ids, Some(publish));
        }
        let rename = || disk::rename(&self.roots, &old_place, &place, Expect::Hash(old.hash));
        let renamed = self.noted(fork, &[new.clone(), left], rename);
        if let Some(file) = fork.files.get_mut(id) {
            file.entry.mark_sent(ids, None);
        }
        renamed?;
        let written = match &bytes {
            Some(bytes) => disk::write(&self.roots, &place, bytes, Expect::Hash(old.hash)).err(),
            None => None,
        };
        // The name is new; where the text could not be written it stays pending.
        let (bytes, hash) = match (&written, &bytes) {
            (None, Some(bytes)) => (bytes, after),
            _ => (&old.bytes, old.hash),
        };
        for line in self.workspace.ledger().files.iter_mut().filter(|line| line.is(&new)) {
            line.after = Some(hash);
        }
        let base = match decode(bytes) {
            Some((text, format)) => Base::Disk { text, hash, format },
            None => Base::Binary { hash },
        };
        fork.files.remove(from);
        let Some(file) = fork.files.get_mut(id) else { return Ok(()) };
        let rest = ropewalk_text::diff(&base.text(), file.entry.text());
        let mut entry = Entry::new(base);
        let others = Mark { id: fork.ids.give(), sent: None, ..mark.clone() };
        entry.add(&rest, &others, &mut fork.ids);
        file.entry = entry;
        written.map_or(Ok(()), Err)
    }

    fn write_text(
        &self,
        fork: &mut Fork,
        id: &DocId,
        place: &Place,
        ids: &[HunkId],
    ) -> Result<(), FileError> {
        let Some(file) = fork.files.get_mut(id) else { return Ok(()) };
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
        let bytes = encoded(&after, format, place)?;
        let hash = ContentHash::of(&bytes);
        let publish = self.workspace.publish_id();
        let marked = file.entry.mark_sent(ids, Some(publish));
        let hunks = file.entry.sent_by(publish, &part);
        let lines: Vec<PublishedFile> = match (whole, hunks.first()) {
            (Some(old), Some(first)) => vec![self.about(place, *first, old, Some(hash))],
            _ => Vec::new(),
        };
        let write = || disk::write(&self.roots, place, &bytes, expect);
        let written = self.noted(fork, &lines, write);
        let Some(file) = fork.files.get_mut(id) else { return Ok(()) };
        if let Err(error) = written {
            file.entry.mark_sent(&marked, None);
            return Err(error);
        }
        if lines.is_empty() {
            let (session, doc) = (self.session.clone(), place.doc());
            let about = Published::about(session, doc.clone(), place.shown.clone());
            let mut ledger = self.workspace.ledger();
            ledger.record(&Published { saved: true, ..about }, &before, &part, &after, &hunks);
            ledger.loosen(&doc);
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
