//! Results of calls come in: what a call proposes, made on its view, becomes pending.
//!
//! A name that is renamed away and used again, or a renamed file that is replaced as a whole, is no rename any more:
//! it becomes a deletion of the old name and a new file under the new one, so that each pending change can be
//! accepted and rejected on its own.

use super::{Fork, ForkFile, MergeReport, Proposal, ProposedChange, base_of};
use crate::DocId;
use crate::disk::{self, FileError, FileKind};
use crate::entry::{Base, Entry, FileChange, Maker, Mark};
use crate::log::Cursor;
use crate::paths::Place;
use crate::view::{DiskFile, FileState, FrozenContent, LARGEST_FILE, View};
use crate::workspace::Workspace;
use ropewalk_text::decode::{FileFormat, encode};
use ropewalk_text::{Text, diff, refine};
use std::path::PathBuf;
use std::sync::Arc;

impl Fork {
    /// Takes in what a call made on `view`: maps it over what happened since, else over the difference
    /// between the view's text and the one now.
    ///
    /// # Errors
    /// [`FileError`], when a file that is not open can't be read; what came before it is taken in.
    pub fn merge(
        &mut self,
        workspace: &Workspace,
        view: &View,
        turn: u64,
        maker: &Maker,
        proposals: Vec<Proposal>,
    ) -> Result<MergeReport, FileError> {
        let mut report = MergeReport::default();
        let mut merged = Ok(());
        for Proposal { place, change } in proposals {
            let mark = Mark { id: self.ids.give(), turn, makers: vec![maker.clone()], sent: None };
            let mut merging = Merging { fork: self, view, mark, report: &mut report };
            merged = merging.one(workspace, &place, change);
            if merged.is_err() {
                break;
            }
        }
        self.files.retain(|_, file| !file.entry.is_empty());
        merged.map(|()| report)
    }
}

/// One proposal being taken in.
struct Merging<'a> {
    fork: &'a mut Fork,
    view: &'a View,
    /// The mark of what it makes.
    mark: Mark,
    report: &'a mut MergeReport,
}

/// All that a file holds.
enum Whole {
    Text(Text, FileFormat),
    Bytes(Arc<[u8]>),
    Link(PathBuf),
}

/// What a view had of a file, and since when.
struct SeenFile {
    text: Text,
    cursor: Option<Cursor>,
}

impl Merging<'_> {
    fn one(
        &mut self,
        workspace: &Workspace,
        place: &Place,
        change: ProposedChange,
    ) -> Result<(), FileError> {
        let id = self.view.id_of(place, self.view.roots());
        let seen = self.ensure(&id, place)?;
        self.free_left_name(&id)?;
        let Some(file) = self.fork.files.get_mut(&id) else { return Ok(()) };
        let source = base_of(&id, &file.entry).clone();
        let session = self.fork.session.clone();
        let aside = super::sync_file(workspace, &session, &source, file);
        let shown = file.shown.clone();
        match change {
            ProposedChange::Edit(set) => {
                let set = refine(&set, &seen.text);
                let (seen_at, ids) = (seen.cursor.as_ref(), &mut self.fork.ids);
                let merged = file.entry.merge(&set, &seen.text, seen_at, &self.mark, ids);
                self.report.take(merged, &shown);
            }
            ProposedChange::Write(text) => self.write(&id, &seen, text)?,
            ProposedChange::Delete => self.delete(&id),
            ProposedChange::Binary(bytes) => self.put(&id, Whole::Bytes(bytes))?,
            ProposedChange::Link(target) => self.put(&id, Whole::Link(target))?,
            ProposedChange::Mode(mode) => {
                // A link has none of its own.
                if !super::is_link(&file.entry) {
                    file.entry.mode = Some((mode & 0o777, self.mark.clone()));
                    self.report.hunks.push(self.mark.id);
                }
            }
            ProposedChange::Rename { to } => self.rename(&id, to)?,
        }
        for one in aside {
            self.fork.tell_conflict(workspace, shown.clone(), one);
        }
        Ok(())
    }

    /// A whole text: over what the view had, else over what it replaces.
    fn write(&mut self, id: &DocId, seen: &SeenFile, text: Text) -> Result<(), FileError> {
        let Some(file) = self.fork.files.get_mut(id) else { return Ok(()) };
        let replaces = matches!(
            file.entry.file,
            Some((FileChange::Delete | FileChange::Binary(_) | FileChange::Link(_), _))
        );
        let is_text = matches!(file.entry.base, Base::Buffer { .. } | Base::Disk { .. });
        if replaces || (text.is_empty() && !is_text) {
            let format = own_format(&file.entry).unwrap_or_default();
            return self.put(id, Whole::Text(text, format));
        }
        let (seen_at, ids) = (seen.cursor.as_ref(), &mut self.fork.ids);
        let set = diff(&seen.text, &text);
        let merged = file.entry.merge(&set, &seen.text, seen_at, &self.mark, ids);
        let shown = file.shown.clone();
        self.report.take(merged, &shown);
        Ok(())
    }

    /// Puts all that a file is to hold in the place of what is pending in it.
    fn put(&mut self, id: &DocId, whole: Whole) -> Result<(), FileError> {
        self.leave_old_name(id)?;
        let mark = self.mark.clone();
        let Some(file) = self.fork.files.get_mut(id) else { return Ok(()) };
        let entry = &mut file.entry;
        let whole = match whole {
            // As a text it would be written in the encoding of what is there.
            Whole::Text(text, format) if own_format(entry).is_some_and(|own| own != format) => {
                encode(&text, format)
                    .map_or(Whole::Text(text, format), |bytes| Whole::Bytes(bytes.into()))
            }
            whole => whole,
        };
        match whole {
            Whole::Text(text, _) => {
                entry.file = None;
                let set = diff(entry.text(), &text);
                self.report.hunks.extend(entry.add(&set, &mark, &mut self.fork.ids));
                let is_text = matches!(entry.base, Base::Buffer { .. } | Base::Disk { .. });
                if !is_text && text.is_empty() {
                    // An empty file where there was no text has no change of text to carry it.
                    self.report.hunks.push(mark.id);
                    entry.replace(FileChange::Binary(Arc::from([])), mark);
                }
            }
            Whole::Bytes(bytes) => {
                self.report.hunks.push(mark.id);
                entry.replace(FileChange::Binary(bytes), mark);
            }
            Whole::Link(target) => {
                let there = matches!(&entry.base, Base::Link { target: now } if *now == target);
                self.report.hunks.push(mark.id);
                entry.replace(FileChange::Link(target), mark);
                if there {
                    entry.file = None;
                }
            }
        }
        Ok(())
    }

    fn delete(&mut self, id: &DocId) {
        let mark = self.mark.clone();
        let Some(file) = self.fork.files.get_mut(id) else { return };
        self.report.hunks.push(mark.id);
        match &file.entry.file {
            // What goes is the file under the name that the user knows.
            Some((FileChange::Rename { from }, _)) => {
                let from = from.clone();
                self.fork.files.remove(id);
                if let Some(left) = self.fork.files.get_mut(&from) {
                    left.entry.file = Some((FileChange::Delete, mark));
                }
            }
            _ => {
                file.entry.replace(FileChange::Delete, mark);
                // A file that only the fork has is simply not made.
                if matches!(file.entry.base, Base::Absent) {
                    file.entry.file = None;
                }
            }
        }
    }

    /// The entry moves to its new name with all that is pending; under the old one a deletion stays.
    fn rename(&mut self, id: &DocId, to: Place) -> Result<(), FileError> {
        let new_id = self.view.id_of(&to, self.view.roots());
        if new_id == *id {
            return Ok(());
        }
        self.report.hunks.push(self.mark.id);
        if self.return_home(id, &new_id) {
            return Ok(());
        }
        self.free_left_name(&new_id)?;
        let there = self.fork.files.get(&new_id).filter(|file| !file.entry.is_empty());
        let replaces = match there.map(|file| &file.entry.file) {
            None => false,
            Some(Some((FileChange::Delete, _))) => true,
            // Another call has put something there since the view was taken.
            Some(_) => {
                self.report.hunks.pop();
                self.report.conflict(&to.shown);
                return Ok(());
            }
        };
        let Some(file) = self.fork.files.get(id) else { return Ok(()) };
        let renamed = matches!(file.entry.file, Some((FileChange::Rename { .. }, _)));
        let created_here = matches!(file.entry.base, Base::Absent) && !renamed;
        let is_whole = matches!(file.entry.base, Base::Link { .. })
            || matches!(file.entry.file, Some((FileChange::Binary(_) | FileChange::Link(_), _)));
        // It takes the name of a folder that it lies in, or needs one of its own name: first it must go.
        let is_nested = base_of(id, &file.entry)
            .path()
            .is_some_and(|old| old.starts_with(&to.path) || to.path.starts_with(&old));
        if replaces || ((is_whole || is_nested) && !created_here) {
            // What is made tells of itself.
            self.report.hunks.pop();
            return self.make_anew(id, &new_id, &to);
        }
        let Some(mut file) = self.fork.files.remove(id) else { return Ok(()) };
        if !created_here {
            let from = base_of(id, &file.entry).clone();
            // Renamed once more it is still the first change of its name, which the one it left shares.
            let mark = match file.entry.file.take() {
                Some((FileChange::Rename { .. }, mark)) => mark,
                _ => self.mark.clone(),
            };
            if from == *id {
                let mut gone = Entry::new(file.entry.base.clone());
                gone.file = Some((FileChange::Away, mark.clone()));
                let (shown, place) = (file.shown.clone(), file.place.clone());
                let left = ForkFile { shown, place, entry: gone, returned: Vec::new() };
                self.fork.files.insert(id.clone(), left);
            }
            file.entry.home = Some(from.clone());
            file.entry.file = Some((FileChange::Rename { from }, mark));
        }
        file.shown = to.shown.clone();
        file.place = Some(to);
        self.fork.files.insert(new_id, file);
        Ok(())
    }

    /// A renamed file that gets its own name again is renamed no more.
    fn return_home(&mut self, id: &DocId, new_id: &DocId) -> bool {
        let back = |file: &ForkFile| match &file.entry.file {
            Some((FileChange::Rename { from }, _)) => from == new_id,
            _ => false,
        };
        if !self.fork.files.get(id).is_some_and(back) {
            return false;
        }
        let (Some(mut file), Some(left)) =
            (self.fork.files.remove(id), self.fork.files.remove(new_id))
        else {
            return true;
        };
        file.entry.file = None;
        file.entry.home = None;
        self.fork
            .files
            .insert(new_id.clone(), ForkFile { shown: left.shown, place: left.place, ..file });
        true
    }

    /// Makes all that one file holds anew under another name, and deletes the file.
    fn make_anew(&mut self, id: &DocId, new_id: &DocId, to: &Place) -> Result<(), FileError> {
        let (whole, mode) = self.content(id)?;
        self.ensure(new_id, to)?;
        self.put(new_id, whole)?;
        self.give_mode(new_id, mode);
        self.mark.id = self.fork.ids.give();
        self.delete(id);
        Ok(())
    }

    /// A name that a file has only just left is free for another: what was renamed is a deletion and a new file.
    fn free_left_name(&mut self, id: &DocId) -> Result<(), FileError> {
        let is_away = |file: &ForkFile| matches!(file.entry.file, Some((FileChange::Away, _)));
        if !self.fork.files.get(id).is_some_and(is_away) {
            return Ok(());
        }
        let comes_from = |file: &ForkFile| match &file.entry.file {
            Some((FileChange::Rename { from }, _)) => from == id,
            _ => false,
        };
        let new = self.fork.files.iter().find(|(_, file)| comes_from(file));
        match new.map(|(new, _)| new.clone()) {
            Some(new) => self.leave_old_name(&new),
            None => Ok(()),
        }
    }

    /// If the file was renamed, it is made anew under its name instead, and the old name is deleted.
    fn leave_old_name(&mut self, id: &DocId) -> Result<(), FileError> {
        let Some(file) = self.fork.files.get(id) else { return Ok(()) };
        let Some((FileChange::Rename { from }, mark)) = file.entry.file.clone() else {
            return Ok(());
        };
        let Some(place) = file.place.clone() else { return Ok(()) };
        let (whole, mode) = self.content(id)?;
        self.fork.files.remove(id);
        self.ensure(id, &place)?;
        let own = std::mem::replace(&mut self.mark, mark);
        self.put(id, whole)?;
        self.give_mode(id, mode);
        self.mark.id = self.fork.ids.give();
        let gone = std::mem::replace(&mut self.mark, own);
        if let Some(left) = self.fork.files.get_mut(&from) {
            left.entry.file = Some((FileChange::Delete, gone));
        }
        Ok(())
    }

    /// All that a file holds with what is pending in it, and the permission bits it has or is to have. Reads the
    /// file where its bytes are no text.
    fn content(&self, id: &DocId) -> Result<(Whole, Option<u32>), FileError> {
        let Some(file) = self.fork.files.get(id) else {
            return Ok((Whole::Text(Text::default(), FileFormat::default()), None));
        };
        let entry = &file.entry;
        let source = base_of(id, entry);
        let under = self.fork.files.get(source).and_then(|left| left.place.as_ref());
        let roots = self.view.roots();
        let there = under.and_then(|place| disk::stat(roots, place).ok());
        let mode = entry.mode.as_ref().map(|(mode, _)| *mode);
        let mode = mode.or(there.map(|there| there.mode & 0o777));
        let format = own_format(entry).or_else(|| {
            let seen = self.view.buffers().get(source)?;
            Some(seen.format)
        });
        let format = format.unwrap_or_default();
        let whole = match (&entry.file, &entry.base, under) {
            (Some((FileChange::Binary(bytes), _)), ..) => Whole::Bytes(bytes.clone()),
            (Some((FileChange::Link(target), _)), ..) => Whole::Link(target.clone()),
            (_, Base::Link { target }, _) if entry.set().is_empty() => Whole::Link(target.clone()),
            (_, Base::Binary { .. }, Some(place)) if entry.set().is_empty() => {
                Whole::Bytes(disk::read(roots, place, LARGEST_FILE)?.bytes.into())
            }
            _ => Whole::Text(entry.text().clone(), format),
        };
        Ok((whole, mode))
    }

    fn give_mode(&mut self, id: &DocId, mode: Option<u32>) {
        let Some(mode) = mode else { return };
        let mark = Mark { id: self.fork.ids.give(), ..self.mark.clone() };
        if let Some(file) = self.fork.files.get_mut(id).filter(|file| !super::is_link(&file.entry))
        {
            file.entry.mode = Some((mode, mark));
        }
    }

    /// The entry of a file, made from the view if there was none, and what the view had of it.
    fn ensure(&mut self, id: &DocId, place: &Place) -> Result<SeenFile, FileError> {
        let view = self.view;
        let is_here = self.fork.files.contains_key(id);
        // What the view had is told by the view alone: the entry may be another by now, or gone because all of
        // it was published.
        let seen = match view.entries().get(id) {
            Some(frozen) => {
                let text = match &frozen.content {
                    Some(FrozenContent::Text(text, _)) => text.clone(),
                    _ => Text::default(),
                };
                Some(SeenFile { text, cursor: Some(frozen.cursor.clone()) })
            }
            None if is_here => {
                let text = match view.read(place) {
                    Ok(FileState::Text { text, .. }) => text,
                    Ok(_) => Text::default(),
                    Err(error) if is_no_file(&error) => Text::default(),
                    Err(error) => return Err(error),
                };
                Some(SeenFile { text, cursor: None })
            }
            None => None,
        };
        let seen = match seen {
            Some(seen) if is_here => return Ok(seen),
            seen => seen,
        };
        let mut moved = None;
        let base = match view.buffers().get(id) {
            Some(seen) => {
                moved = seen.moved.clone();
                Base::Buffer { text: seen.text.clone(), cursor: seen.cursor.clone() }
            }
            None => match view.disk(place, view.roots()) {
                Ok(DiskFile::Text { text, hash, format }) => Base::Disk { text, hash, format },
                Ok(DiskFile::Binary { hash, .. }) => Base::Binary { hash },
                Ok(DiskFile::Link { target }) => Base::Link { target },
                Ok(DiskFile::Missing) => Base::Absent,
                Err(error) if is_no_file(&error) => Base::Absent,
                Err(error) => return Err(error),
            },
        };
        let mut entry = Entry::new(base);
        if let Some(disk) = moved {
            let (id, makers) = (self.fork.ids.give(), vec![Maker::Disk]);
            let mark = Mark { id, turn: self.mark.turn, makers, sent: None };
            entry.add(&diff(entry.text(), &disk), &mark, &mut self.fork.ids);
            entry.disk = Some(disk);
        }
        let fresh = SeenFile { text: entry.text().clone(), cursor: Some(entry.cursor()) };
        let (shown, place) = (place.shown.clone(), Some(place.clone()));
        let file = ForkFile { shown, place, entry, returned: Vec::new() };
        self.fork.files.insert(id.clone(), file);
        Ok(seen.unwrap_or(fresh))
    }
}

/// How a text is written that is put into an entry. None where that is the editor's business.
fn own_format(entry: &Entry) -> Option<FileFormat> {
    match &entry.base {
        Base::Disk { format, .. } => Some(*format),
        Base::Buffer { .. } => None,
        Base::Binary { .. } | Base::Link { .. } | Base::Absent => Some(FileFormat::default()),
    }
}

/// Whether the disk has a folder under the name, or something else than a folder above it: a call may take that away
/// in the same breath. If it stays, publishing says so.
fn is_no_file(error: &FileError) -> bool {
    match error {
        FileError::BecameLink { .. } | FileError::ThroughFile { .. } => true,
        FileError::NotAFile { kind, .. } => *kind == FileKind::Folder,
        _ => false,
    }
}

impl MergeReport {
    fn take(&mut self, merged: crate::entry::Merged, shown: &str) {
        self.hunks.extend(merged.hunks);
        if merged.conflicts > 0 {
            self.conflict(shown);
        }
    }

    fn conflict(&mut self, shown: &str) {
        if !self.conflicts.iter().any(|file| file == shown) {
            self.conflicts.push(shown.to_owned());
        }
    }
}
