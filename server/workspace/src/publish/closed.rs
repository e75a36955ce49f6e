//! Publishing to files that are not open: written, removed, renamed or made links on the disk, after a look at
//! whether what is there is what the fork was made on. No link is followed.

use super::held::{HeldFile, HeldStop, tried, unaltered_of};
use super::{Failure, FileSelection};
use crate::entry::{Base, Entry, FileChange, Maker, Mark};
use crate::fork::{Fork, ForkFile};
use crate::ledger::{FileAfter, FileBefore, Published, PublishedFile};
use crate::owner::ForkOwner;
use crate::view::LARGEST_FILE;
use crate::workspace::Workspace;
use crate::{ContentHash, DocId, HunkId, Place, Roots};
use ropewalk_files::disk::{self, Expect, FileError};
use ropewalk_text::Text;
use ropewalk_text::decode::{FileFormat, decode, encode};
use std::sync::Arc;

/// Publishes the chosen part of a file that is not open, and chosen changes of files themselves. Gives what was
/// published, and why the rest was not. Blocking; the fork is locked for moments only.
pub(super) fn publish_closed(
    disk: &DiskPublishing<'_>,
    id: &DocId,
    selection: &FileSelection,
) -> (Vec<HunkId>, Option<Failure>) {
    let (mut done, failure) = match tried(|| disk.publish(id, selection)) {
        Ok((done, failure)) => (done, failure.map(Failure::from)),
        Err(failure) => (Vec::new(), Some(failure)),
    };
    if failure.is_some() {
        return (done, failure);
    }
    match publish_mode(disk, id, &selection.ids) {
        Ok(of_mode) => done.extend(of_mode),
        Err(failure) => return (done, Some(failure)),
    }
    (done, None)
}

/// Publishes the permission bits of a file: what of the file itself was chosen is there by now, and the text of one that
/// is open is the editor's. Gives what was published.
pub(super) fn publish_mode(
    disk: &DiskPublishing<'_>,
    id: &DocId,
    ids: &[HunkId],
) -> Result<Vec<HunkId>, Failure> {
    let mode = |file: &ForkFile| file.entry.mode.as_ref().map(|(_, mark)| mark.id);
    let own = disk.fork.lock().files.get(id).and_then(mode).filter(|own| ids.contains(own));
    // One that the file turns out to have is done too.
    own.map(|own| tried(|| disk.set_mode(id, own)).map(|()| own)).into_iter().collect()
}

/// Parts that every way of publishing to the disk needs.
pub(super) struct DiskPublishing<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) fork: &'a dyn ForkOwner,
    pub(super) roots: Roots,
    pub(super) session: Arc<str>,
}

/// Facts of a change of a file that undo needs.
pub(super) struct DiskChange {
    pub(super) before: Option<FileBefore>,
    pub(super) after: Option<FileAfter>,
    pub(super) folders: Vec<u32>,
}

impl DiskPublishing<'_> {
    /// Reads the file's state, and fails unless the fork was made on it.
    pub(super) fn read_expected(
        &self,
        place: &Place,
        entry: &Entry,
    ) -> Result<Option<FileBefore>, FileError> {
        let found = match disk::link(&self.roots, place)? {
            Some(link) => Some(FileBefore::Link { link }),
            None => match disk::read(&self.roots, place, LARGEST_FILE) {
                Ok(read) => {
                    let mode = Some(read.meta.mode & 0o777);
                    Some(FileBefore::File { bytes: read.bytes.into(), mode })
                }
                Err(FileError::NotFound { .. }) => None,
                Err(error) => return Err(error),
            },
        };
        let as_expected = match (&entry.base, &found) {
            // A clean buffer: its file is what the disk holds, or what the disk has ahead of it is known.
            (Base::Buffer { text, .. }, Some(FileBefore::File { bytes, .. })) => {
                let is_known = |there: &Text| {
                    there.equal_but_line_ends(text) || entry.disk.as_ref() == Some(there)
                };
                decode(bytes).is_some_and(|(there, _)| is_known(&there))
            }
            (Base::Buffer { .. }, _) | (Base::Absent, None) => true,
            (
                Base::Disk { hash, .. } | Base::Binary { hash },
                Some(FileBefore::File { bytes, .. }),
            ) => ContentHash::of(bytes) == *hash,
            (Base::Link { target }, Some(FileBefore::Link { link })) => target == link,
            _ => false,
        };
        if as_expected { Ok(found) } else { Err(FileError::Changed { path: place.shown.clone() }) }
    }

    /// The line of the ledger for a change of a file.
    pub(super) fn ledger_line(
        &self,
        place: &Place,
        (id, turn): (HunkId, u64),
        change: DiskChange,
    ) -> PublishedFile {
        let DiskChange { before, after, folders } = change;
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
    pub(super) fn new_folders(&self, place: &Place) -> Result<Vec<u32>, FileError> {
        Ok(vec![0; disk::missing_folders(&self.roots, place)?])
    }

    /// Publishes what was chosen of one file, but for its mode. The second part is why its text was not, where the file
    /// has got its new name.
    fn publish(
        &self,
        id: &DocId,
        selection: &FileSelection,
    ) -> Result<(Vec<HunkId>, Option<FileError>), HeldStop> {
        let Some(held) = HeldFile::of(self.workspace, self.fork, id) else {
            return Ok(Default::default());
        };
        let (file, under) = (&held.file, held.under());
        let (Some(place), Some(under)) = (file.place.clone(), under.place.clone()) else {
            return Ok(Default::default());
        };
        let of_mode = file.entry.mode.as_ref().map(|(_, mark)| mark.id);
        let ids = unaltered_of(file, selection);
        let rest = || ids.iter().copied().filter(|id| Some(*id) != of_mode).collect();
        match file.entry.file.clone().filter(|(_, mark)| ids.contains(&mark.id)) {
            // A file whose rename was not chosen lies under its old name.
            None => self.write_text(&held, &under, &ids).map(|()| (rest(), None)),
            Some((FileChange::Rename { .. }, mark)) => {
                match self.rename(&held, (&under, &place), &mark, &ids)? {
                    None => Ok((rest(), None)),
                    Some(of_text) => Ok((vec![mark.id], Some(of_text))),
                }
            }
            Some((change, mark)) => {
                self.change_file(&held, &place, &change, &mark).map(|()| (rest(), None))
            }
        }
    }

    fn carry_out<T>(
        &self,
        held: &HeldFile,
        lines: &[PublishedFile],
        mark: impl FnOnce(&mut Entry),
        act: impl FnOnce() -> Result<T, FileError>,
        settle: impl FnOnce(&mut Fork, Result<&T, &FileError>),
    ) -> Result<T, HeldStop> {
        held.carry_out((self.workspace, self.fork), lines, mark, act, settle)
    }

    fn change_file(
        &self,
        held: &HeldFile,
        place: &Place,
        change: &FileChange,
        mark: &Mark,
    ) -> Result<(), HeldStop> {
        let before = self.read_expected(place, &held.file.entry)?;
        let expect = expected(before.as_ref());
        let folders = match (change, &before) {
            (FileChange::Delete, _) => disk::folders_of_its_own(&self.roots, place)?,
            (_, None) => self.new_folders(place)?,
            (_, Some(_)) => Vec::new(),
        };
        let emptied = folders.len();
        let is_there = before.is_some();
        let (after, base) = match change {
            FileChange::Delete => (None, Base::Absent),
            FileChange::Binary(bytes) => {
                (Some(FileAfter::File(ContentHash::of(bytes))), base_of_bytes(bytes))
            }
            FileChange::Link(target) => (
                Some(FileAfter::Link { link: target.clone() }),
                Base::Link { target: target.clone() },
            ),
            // Published under the new name.
            FileChange::Away | FileChange::Rename { .. } => return Ok(()),
        };
        let line =
            self.ledger_line(place, (mark.id, mark.turn), DiskChange { before, after, folders });
        let is_nothing = matches!(change, FileChange::Delete) && !is_there;
        let lines = if is_nothing { &[][..] } else { std::slice::from_ref(&line) };
        let act = || match change {
            FileChange::Binary(bytes) => disk::write(&self.roots, place, bytes, expect).map(drop),
            FileChange::Link(target) => disk::write_link(&self.roots, place, target, expect),
            _ if is_nothing => Ok(()),
            _ => {
                disk::remove(&self.roots, place, expect)?;
                self.workspace.remove_folders(place, emptied);
                Ok(())
            }
        };
        self.carry_out(
            held,
            lines,
            |_| {},
            act,
            |fork, done| {
                if let (Ok(()), Some(file)) = (done, fork.files.get_mut(&held.id)) {
                    // Beside a change of the whole only a mode can be pending.
                    let mode = file.entry.mode.take();
                    file.entry = Entry::new(base);
                    file.entry.mode = mode;
                }
                drop_empty(fork, &held.id);
            },
        )
    }

    /// Gives the file its permission bits, if they are still these.
    fn set_mode(&self, id: &DocId, which: HunkId) -> Result<(), HeldStop> {
        let Some(held) = HeldFile::of(self.workspace, self.fork, id) else { return Ok(()) };
        let own = held.file.entry.mode.clone();
        let Some((mode, mark)) = own.filter(|(_, mark)| mark.id == which) else {
            return Ok(());
        };
        // It may be renamed, and that not be chosen.
        let Some(place) = held.under().place.clone() else { return Ok(()) };
        let now = match disk::stat(&self.roots, &place) {
            Ok(there) => there.mode & 0o777,
            // The buffer was never saved.
            Err(FileError::NotFound { .. }) if self.workspace.is_open(&held.source) => {
                return Err(HeldStop::Failed(Failure::Unsaved));
            }
            Err(error) => return Err(error.into()),
        };
        let (before, after) = (FileBefore::Mode { mode: now }, FileAfter::Mode { mode });
        let change = DiskChange { before: Some(before), after: Some(after), folders: Vec::new() };
        let line = self.ledger_line(&place, (mark.id, mark.turn), change);
        let lines = if now == mode { &[][..] } else { std::slice::from_ref(&line) };
        let act = || match now == mode {
            true => Ok(()),
            false => disk::set_mode(&self.roots, &place, mode),
        };
        self.carry_out(
            &held,
            lines,
            |_| {},
            act,
            |fork, done| {
                let file = fork.files.get_mut(id).filter(|_| done.is_ok());
                if let Some(file) = file {
                    file.entry.mode.take_if(|(_, own)| own.id == mark.id);
                }
                drop_empty(fork, id);
            },
        )
    }

    /// The file gets its new name, keeping its mode, and then those of its pending changes that were chosen. Gives why
    /// its text was not written: the file has its new name either way.
    fn rename(
        &self,
        held: &HeldFile,
        (old_place, place): (&Place, &Place),
        mark: &Mark,
        ids: &[HunkId],
    ) -> Result<Option<FileError>, HeldStop> {
        let entry = &held.file.entry;
        let stood = self.read_expected(old_place, entry)?;
        let old = match &stood {
            Some(FileBefore::File { bytes, .. }) => bytes.clone(),
            Some(_) => return Err(changed(old_place)),
            None => return Err(FileError::NotFound { path: old_place.shown.clone() }.into()),
        };
        let old_hash = ContentHash::of(&old);
        let (there, format) = decode(&old).unwrap_or_default();
        let part = entry.part(ids);
        if !loses_nothing(entry, part.as_ref().map(|_| ids), &there) {
            return Err(changed(old_place));
        }
        let text = part.and_then(|part| part.apply(&entry.base.text()).ok());
        // Encoded first, so that what can't be written changes nothing.
        let bytes = text.map(|text| encoded(&text, format, place)).transpose()?;
        let after = bytes.as_deref().map_or(old_hash, ContentHash::of);
        let which = (mark.id, mark.turn);
        let left = |hash| Some(FileAfter::File(hash));
        let folders = self.new_folders(place)?;
        let new = DiskChange { before: None, after: left(after), folders };
        let new = self.ledger_line(place, which, new);
        let folders = disk::folders_of_its_own(&self.roots, old_place)?;
        let emptied = folders.len();
        let gone =
            self.ledger_line(old_place, which, DiskChange { before: stood, after: None, folders });
        let publish = self.workspace.publish_id();
        let lines = [new.clone(), gone];
        let mark_sent = |entry: &mut Entry| drop(entry.mark_sent(ids, Some(publish)));
        let act = || {
            disk::rename(&self.roots, old_place, place, Expect::Hash(old_hash))?;
            self.workspace.remove_folders(old_place, emptied);
            let write =
                |bytes| disk::write(&self.roots, place, bytes, Expect::Hash(old_hash)).err();
            Ok(bytes.as_deref().and_then(write))
        };
        self.carry_out(held, &lines, mark_sent, act, |fork, done| {
            if let Some(file) = fork.files.get_mut(&held.id) {
                file.entry.mark_sent(ids, None);
            }
            let Ok(written) = done else { return };
            // The name is new; where the text could not be written it stays pending.
            let (bytes, hash) = match (written, &bytes) {
                (None, Some(bytes)) => (bytes.as_slice(), after),
                _ => (&*old, old_hash),
            };
            self.renamed(fork, (held, mark), (&new, hash), base_of_bytes(bytes));
        })
    }

    /// Brings the fork and the ledger to a rename that was made, after which the file has the content of `base`.
    fn renamed(
        &self,
        fork: &mut Fork,
        (held, mark): (&HeldFile, &Mark),
        (new, hash): (&PublishedFile, ContentHash),
        base: Base,
    ) {
        let mut ledger = self.workspace.ledger();
        ledger.files.change_of_hunk(new.id, |line| {
            if line.is(new) {
                line.after = Some(FileAfter::File(hash));
            }
        });
        ledger.follow(&held.source, (&held.id, &new.file), (&self.session, mark.id));
        drop(ledger);
        fork.files.remove(&held.source);
        let Some(file) = fork.files.get_mut(&held.id) else { return };
        let rest = ropewalk_text::diff(&base.text(), file.entry.text());
        let mut entry = Entry::new(base);
        entry.mode = file.entry.mode.take();
        let others = Mark { id: fork.ids.give(), sent: None, ..mark.clone() };
        entry.add(&rest, &others, &mut fork.ids);
        file.entry = entry;
        drop_empty(fork, &held.id);
    }

    fn write_text(&self, held: &HeldFile, place: &Place, ids: &[HunkId]) -> Result<(), HeldStop> {
        let entry = &held.file.entry;
        let Some(part) = entry.part(ids) else { return Ok(()) };
        let before = entry.base.text();
        let Ok(after) = part.apply(&before) else { return Ok(()) };
        let (expect, format) = match &entry.base {
            Base::Disk { hash, format, .. } => (Expect::Hash(*hash), *format),
            Base::Binary { hash } => (Expect::Hash(*hash), FileFormat::default()),
            Base::Link { target } => (Expect::Link(disk::link_hash(target)), FileFormat::default()),
            _ => (Expect::Absent, FileFormat::default()),
        };
        // Where there was no text, undo puts back the bytes, or takes the file away.
        let whole = match &entry.base {
            Base::Disk { .. } => None,
            _ => Some(self.read_expected(place, entry)?),
        };
        let bytes = encoded(&after, format, place)?;
        let hash = ContentHash::of(&bytes);
        let publish = self.workspace.publish_id();
        let mut marked = entry.clone();
        marked.mark_sent(ids, Some(publish));
        let hunks = marked.sent_by(publish, &part);
        let lines: Vec<PublishedFile> = match (whole, hunks.first()) {
            (Some(before), Some(first)) => {
                let folders = match before {
                    None => self.new_folders(place)?,
                    Some(_) => Vec::new(),
                };
                let change = DiskChange { before, after: Some(FileAfter::File(hash)), folders };
                vec![self.ledger_line(place, *first, change)]
            }
            _ => Vec::new(),
        };
        let mark = |entry: &mut Entry| drop(entry.mark_sent(ids, Some(publish)));
        let write = || {
            // The text of a file that is open is the editor's: it may have been opened this very moment.
            if self.workspace.is_open(&held.source) {
                return Err(FileError::Changed { path: place.shown.clone() });
            }
            disk::write(&self.roots, place, &bytes, expect).map(drop)
        };
        self.carry_out(held, &lines, mark, write, |fork, done| {
            let Some(file) = fork.files.get_mut(&held.id) else { return };
            if done.is_err() {
                file.entry.mark_sent(ids, None);
                return;
            }
            if lines.is_empty() {
                let (session, doc) = (self.session.clone(), place.doc());
                let about = Published::about(session, doc.clone(), place.shown.clone());
                let about = Published { saved: true, format, ..about };
                let mut ledger = self.workspace.ledger();
                ledger.record(&about, &before, &part, &after, &hunks);
                ledger.loosen(&doc);
            }
            file.entry.published(publish, &part, after.clone());
            file.entry.base = Base::Disk { text: after, hash, format };
            drop_empty(fork, &held.id);
        })
    }
}

/// Forgets a file in which nothing is pending any more.
fn drop_empty(fork: &mut Fork, id: &DocId) {
    if fork.files.get(id).is_some_and(|file| file.entry.is_empty()) {
        fork.files.remove(id);
    }
}

fn changed(place: &Place) -> HeldStop {
    FileError::Changed { path: place.shown.clone() }.into()
}

/// True if renaming the file and then writing these changes loses nothing of the disk's: under a
/// clean buffer it may have moved on.
fn loses_nothing(entry: &Entry, ids: Option<&[HunkId]>, there: &Text) -> bool {
    let is_brought = |mark: &Mark| {
        !mark.makers.contains(&Maker::Disk) || ids.is_none_or(|ids| ids.contains(&mark.id))
    };
    there.equal_but_line_ends(&entry.base.text())
        || entry.disk.as_ref() == Some(there) && entry.marks().iter().all(is_brought)
}

/// Condition for changing a file in this state.
fn expected(stands: Option<&FileBefore>) -> Expect {
    match stands {
        Some(FileBefore::File { bytes, .. }) => Expect::Hash(ContentHash::of(bytes)),
        Some(FileBefore::Link { link }) => Expect::Link(disk::link_hash(link)),
        Some(FileBefore::Mode { .. }) => Expect::Anything,
        None => Expect::Absent,
    }
}

/// Base of an entry where a file has these bytes.
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
