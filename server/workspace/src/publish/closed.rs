//! Publishing to files that are not open: written, removed, renamed or made links on the disk, after a look at
//! whether what is there is what the fork was made on. No link is followed.

use crate::disk::{self, Expect, FileError};
use crate::entry::{Base, Content, Entry, FileChange, Maker, Mark};
use crate::fork::{Fork, base_of};
use crate::ledger::{Left, Published, PublishedFile, Stood};
use crate::view::LARGEST_FILE;
use crate::witness::Witness;
use crate::workspace::{Workspace, lock};
use crate::{ContentHash, DocId, HunkId, Place, Roots};
use ropewalk_text::Text;
use ropewalk_text::decode::{FileFormat, decode, encode};
use std::sync::{Arc, Mutex};

/// Publishes the chosen part of a file that is not open, and chosen changes of files themselves. Gives what was
/// published, and why the rest was not.
pub(super) fn publish_closed(
    workspace: &Workspace,
    fork: &Mutex<Fork>,
    id: &DocId,
    (ids, seen): (&[HunkId], &[Content]),
    witness: &dyn Witness,
) -> (Vec<HunkId>, Option<FileError>) {
    let mut fork = lock(fork);
    fork.sync(workspace);
    let session = fork.session.clone();
    let Some(file) = fork.files.get(id) else { return Default::default() };
    let Some(place) = file.place.clone() else { return Default::default() };
    let of_mode = file.entry.mode.as_ref().map(|(_, mark)| mark.id);
    let ids = file.entry.unaltered(&file.entry.pending(ids), seen);
    let change = file.entry.file.clone().filter(|(_, mark)| ids.contains(&mark.id));
    let disk = Disk { workspace, roots: workspace.roots(), session, witness };
    let rest = || ids.iter().copied().filter(|id| Some(*id) != of_mode).collect();
    let (mut done, failure) = match change {
        None => {
            // What is to be renamed, and that was not chosen, lies under its old name.
            let source = base_of(id, &file.entry);
            let Some(place) = fork.files.get(source).and_then(|left| left.place.clone()) else {
                return Default::default();
            };
            match disk.write_text(&mut fork, id, &place, &ids) {
                Ok(()) => (rest(), None),
                Err(error) => (Vec::new(), Some(error)),
            }
        }
        Some((FileChange::Rename { from }, mark)) => {
            match disk.rename(&mut fork, id, &from, &mark, &ids) {
                Ok(Ok(())) => (rest(), None),
                Ok(Err(of_text)) => (vec![mark.id], Some(of_text)),
                Err(error) => (Vec::new(), Some(error)),
            }
        }
        Some((change, mark)) => match disk.change_file(&mut fork, id, &place, &change, &mark) {
            Ok(()) => (rest(), None),
            Err(error) => (Vec::new(), Some(error)),
        },
    };
    let failure = failure.or_else(|| match disk.set_mode(&mut fork, id, &ids) {
        Ok(()) => {
            done.extend(of_mode.filter(|id| ids.contains(id)));
            None
        }
        Err(error) => Some(error),
    });
    fork.files.retain(|_, file| !file.entry.is_empty());
    (done, failure)
}

/// Publishes the permission bits of a file that is open: its text is the editor's. Gives what was published.
pub(super) fn publish_mode(
    workspace: &Workspace,
    fork: &Mutex<Fork>,
    id: &DocId,
    ids: &[HunkId],
    witness: &dyn Witness,
) -> Result<Vec<HunkId>, FileError> {
    let mut fork = lock(fork);
    fork.sync(workspace);
    let Some(file) = fork.files.get(id) else { return Ok(Vec::new()) };
    let own = file.entry.mode.iter().map(|(_, mark)| mark.id);
    let ids: Vec<HunkId> = own.filter(|own| ids.contains(own)).collect();
    let (roots, session) = (workspace.roots(), fork.session.clone());
    Disk { workspace, roots, session, witness }.set_mode(&mut fork, id, &ids)?;
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

/// What undo needs to know of a change of a file.
struct Change {
    before: Option<Stood>,
    after: Option<Left>,
    folders: Vec<u32>,
}

impl Disk<'_> {
    /// What is there, if it is what the fork was made on.
    fn read(&self, place: &Place, entry: &Entry) -> Result<Option<Stood>, FileError> {
        let found = match disk::link(&self.roots, place)? {
            Some(link) => Some(Stood::Link { link }),
            None => match disk::read(&self.roots, place, LARGEST_FILE) {
                Ok(read) => {
                    let mode = Some(read.meta.mode & 0o777);
                    Some(Stood::File { bytes: read.bytes.into(), mode })
                }
                Err(FileError::NotFound { .. }) => None,
                Err(error) => return Err(error),
            },
        };
        let as_expected = match (&entry.base, &found) {
            // A clean buffer: its file is what the disk holds, or what the disk has ahead of it is known.
            (Base::Buffer { text, .. }, Some(Stood::File { bytes, .. })) => {
                let is_known = |there: &Text| {
                    there.equal_but_line_ends(text) || entry.disk.as_ref() == Some(there)
                };
                decode(bytes).is_some_and(|(there, _)| is_known(&there))
            }
            (Base::Buffer { .. }, _) | (Base::Absent, None) => true,
            (Base::Disk { hash, .. } | Base::Binary { hash }, Some(Stood::File { bytes, .. })) => {
                ContentHash::of(bytes) == *hash
            }
            (Base::Link { target }, Some(Stood::Link { link })) => target == link,
            _ => false,
        };
        if as_expected { Ok(found) } else { Err(FileError::Changed { path: place.shown.clone() }) }
    }

    /// A line of the ledger.
    fn about(&self, place: &Place, (id, turn): (HunkId, u64), change: Change) -> PublishedFile {
        let Change { before, after, folders } = change;
        PublishedFile {
            id,
            session: self.session.clone(),
            turn,
            path: place.path.clone(),
            file: place.shown.clone(),
            before,
            after,
            folders,
            undoing: false,
        }
    }

    /// The folders that come with a new file at a place.
    fn new_folders(&self, place: &Place) -> Result<Vec<u32>, FileError> {
        Ok(vec![0; disk::missing_folders(&self.roots, place)?])
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
        let before = self.read(place, &file.entry)?;
        let expect = expected(before.as_ref());
        let folders = match (change, &before) {
            (FileChange::Delete, _) => disk::folders_of_its_own(&self.roots, place)?,
            (_, None) => self.new_folders(place)?,
            (_, Some(_)) => Vec::new(),
        };
        let about = |before, after, folders: &[u32]| {
            let change = Change { before, after, folders: folders.to_vec() };
            [self.about(place, (mark.id, mark.turn), change)]
        };
        match change {
            FileChange::Delete if before.is_none() => {}
            FileChange::Delete => {
                self.noted(fork, &about(before, None, &folders), || {
                    disk::remove(&self.roots, place, expect)
                })?;
                self.workspace.remove_folders(place, folders.len());
            }
            FileChange::Binary(bytes) => {
                let after = Some(Left::File(ContentHash::of(bytes)));
                let write = || disk::write(&self.roots, place, bytes, expect);
                self.noted(fork, &about(before, after, &folders), write)?;
            }
            FileChange::Link(target) => {
                let after = Some(Left::Link { link: target.clone() });
                let write = || disk::write_link(&self.roots, place, target, expect);
                self.noted(fork, &about(before, after, &folders), write)?;
            }
            // Published under the new name.
            FileChange::Away | FileChange::Rename { .. } => return Ok(()),
        }
        let Some(file) = fork.files.get_mut(id) else { return Ok(()) };
        let base = match change {
            FileChange::Link(target) => Base::Link { target: target.clone() },
            FileChange::Binary(bytes) => base_of_bytes(bytes),
            FileChange::Delete | FileChange::Away | FileChange::Rename { .. } => Base::Absent,
        };
        // Beside a change of the whole only a mode can be pending.
        let mode = file.entry.mode.take();
        file.entry = Entry::new(base);
        file.entry.mode = mode;
        Ok(())
    }

    /// Gives the file its permission bits, if those are chosen: what of the file itself was chosen is there by now.
    fn set_mode(&self, fork: &mut Fork, id: &DocId, ids: &[HunkId]) -> Result<(), FileError> {
        let Some(file) = fork.files.get(id) else { return Ok(()) };
        let Some((mode, mark)) = file.entry.mode.clone().filter(|(_, m)| ids.contains(&m.id))
        else {
            return Ok(());
        };
        // It may be renamed, and that not be chosen.
        let source = base_of(id, &file.entry);
        let Some(place) = fork.files.get(source).and_then(|file| file.place.clone()) else {
            return Ok(());
        };
        let now = disk::stat(&self.roots, &place)?.mode & 0o777;
        if now != mode {
            let (before, after) = (Stood::Mode { mode: now }, Left::Mode { mode });
            let change = Change { before: Some(before), after: Some(after), folders: Vec::new() };
            let line = self.about(&place, (mark.id, mark.turn), change);
            self.noted(fork, &[line], || disk::set_mode(&self.roots, &place, mode))?;
        }
        if let Some(file) = fork.files.get_mut(id) {
            file.entry.mode = None;
        }
        Ok(())
    }

    /// The file gets its new name, keeping its mode, and then those of its pending changes that were chosen. The inner
    /// result is that of the text: the file has its new name either way.
    fn rename(
        &self,
        fork: &mut Fork,
        id: &DocId,
        from: &DocId,
        mark: &Mark,
        ids: &[HunkId],
    ) -> Result<Result<(), FileError>, FileError> {
        let old_place = fork.files.get(from).and_then(|left| left.place.clone());
        let Some(file) = fork.files.get(id) else { return Ok(Ok(())) };
        let (Some(old_place), Some(place)) = (old_place, file.place.clone()) else {
            return Ok(Ok(()));
        };
        let stood = self.read(&old_place, &file.entry)?;
        let old = match &stood {
            Some(Stood::File { bytes, .. }) => bytes.clone(),
            Some(_) => return Err(FileError::Changed { path: old_place.shown }),
            None => return Err(FileError::NotFound { path: old_place.shown }),
        };
        let old_hash = ContentHash::of(&old);
        let (there, format) = decode(&old).unwrap_or_default();
        let part = file.entry.part(ids);
        if !brings(&file.entry, part.as_ref().map(|_| ids), &there) {
            return Err(FileError::Changed { path: old_place.shown });
        }
        let text = part.and_then(|part| part.apply(&file.entry.base.text()).ok());
        // Encoded first, so that what can't be written changes nothing.
        let bytes = text.map(|text| encoded(&text, format, &place)).transpose()?;
        let after = bytes.as_deref().map_or(old_hash, ContentHash::of);
        let which = (mark.id, mark.turn);
        let left = |hash| Some(Left::File(hash));
        let folders = self.new_folders(&place)?;
        let new = Change { before: None, after: left(after), folders };
        let new = self.about(&place, which, new);
        let folders = disk::folders_of_its_own(&self.roots, &old_place)?;
        let emptied = folders.len();
        let gone = self.about(&old_place, which, Change { before: stood, after: None, folders });
        let publish = self.workspace.publish_id();
        if let Some(file) = fork.files.get_mut(id) {
            file.entry.mark_sent(ids, Some(publish));
        }
        let renamed = self.noted(fork, &[new.clone(), gone], || {
            disk::rename(&self.roots, &old_place, &place, Expect::Hash(old_hash))
        });
        if let Some(file) = fork.files.get_mut(id) {
            file.entry.mark_sent(ids, None);
        }
        renamed?;
        self.workspace.remove_folders(&old_place, emptied);
        let written = match &bytes {
            Some(bytes) => disk::write(&self.roots, &place, bytes, Expect::Hash(old_hash)).err(),
            None => None,
        };
        // The name is new; where the text could not be written it stays pending.
        let (bytes, hash) = match (&written, &bytes) {
            (None, Some(bytes)) => (bytes.as_slice(), after),
            _ => (&*old, old_hash),
        };
        for line in self.workspace.ledger().files.iter_mut().filter(|line| line.is(&new)) {
            line.after = left(hash);
        }
        let base = base_of_bytes(bytes);
        fork.files.remove(from);
        let Some(file) = fork.files.get_mut(id) else { return Ok(Ok(())) };
        let rest = ropewalk_text::diff(&base.text(), file.entry.text());
        let mut entry = Entry::new(base);
        entry.mode = file.entry.mode.take();
        let others = Mark { id: fork.ids.give(), sent: None, ..mark.clone() };
        entry.add(&rest, &others, &mut fork.ids);
        file.entry = entry;
        Ok(written.map_or(Ok(()), Err))
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
            Base::Link { target } => (Expect::Link(disk::link_hash(target)), FileFormat::default()),
            _ => (Expect::Absent, FileFormat::default()),
        };
        // Where there was no text, undo puts back the bytes, or takes the file away.
        let whole = match &file.entry.base {
            Base::Disk { .. } => None,
            _ => Some(self.read(place, &file.entry)?),
        };
        let bytes = encoded(&after, format, place)?;
        let hash = ContentHash::of(&bytes);
        let publish = self.workspace.publish_id();
        let marked = file.entry.mark_sent(ids, Some(publish));
        let hunks = file.entry.sent_by(publish, &part);
        let lines: Vec<PublishedFile> = match (whole, hunks.first()) {
            (Some(before), Some(first)) => {
                let folders = match before {
                    None => self.new_folders(place)?,
                    Some(_) => Vec::new(),
                };
                let change = Change { before, after: Some(Left::File(hash)), folders };
                vec![self.about(place, *first, change)]
            }
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
            let about = Published { saved: true, format, ..about };
            ledger.record(&about, &before, &part, &after, &hunks);
            ledger.loosen(&doc);
        }
        file.entry.published(publish, &part, after.clone());
        file.entry.base = Base::Disk { text: after, hash, format };
        Ok(())
    }
}

/// Whether nothing that stands on the disk is lost when the file is renamed, and then written with these changes of it:
/// under a clean buffer the disk may have moved on.
fn brings(entry: &Entry, ids: Option<&[HunkId]>, there: &Text) -> bool {
    let is_brought = |mark: &Mark| {
        !mark.makers.contains(&Maker::Disk) || ids.is_none_or(|ids| ids.contains(&mark.id))
    };
    there.equal_but_line_ends(&entry.base.text())
        || entry.disk.as_ref() == Some(there) && entry.marks().iter().all(is_brought)
}

/// What must be there for this to be changed.
fn expected(stands: Option<&Stood>) -> Expect {
    match stands {
        Some(Stood::File { bytes, .. }) => Expect::Hash(ContentHash::of(bytes)),
        Some(Stood::Link { link }) => Expect::Link(disk::link_hash(link)),
        Some(Stood::Mode { .. }) => Expect::Anything,
        None => Expect::Absent,
    }
}

/// What an entry stands on where a file has these bytes.
fn base_of_bytes(bytes: &[u8]) -> Base {
    let hash = ContentHash::of(bytes);
    match decode(bytes) {
        Some((text, format)) => Base::Disk { text, hash, format },
        None => Base::Binary { hash },
    }
}

fn encoded(text: &Text, format: FileFormat, place: &Place) -> Result<Vec<u8>, FileError> {
    encode(text, format)
        .map_err(|error| FileError::Io { path: place.shown.clone(), reason: error.to_string() })
}
