//! Proposals about names: files that go, and files that get another name.
//!
//! A name that is renamed away and used again, or a renamed file that is replaced as a whole, is no rename any more:
//! it becomes a deletion of the old name and a new file under the new one, so that each pending change can be
//! accepted and rejected on its own.

use super::{Merging, WholeContent, own_format};
use crate::DocId;
use crate::entry::{Base, Entry, FileChange, Mark};
use crate::fork::{ForkFile, base_of, is_link};
use ropewalk_files::disk::FileError;
use ropewalk_files::paths::Place;
use ropewalk_text::Text;
use ropewalk_text::decode::FileFormat;

impl Merging<'_> {
    pub(super) fn delete(&mut self, id: &DocId) {
        let mark = self.mark.clone();
        let Some(file) = self.fork.files.get_mut(id) else { return };
        self.report.hunks.push(mark.id);
        match &file.entry.file {
            // The file under the name that the user knows is the one that goes.
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
    pub(super) fn rename(&mut self, id: &DocId, to: Place) -> Result<(), FileError> {
        let new_id = self.doc_of(&to);
        if new_id == *id {
            return Ok(());
        }
        if self.return_home(id, &new_id) {
            self.report.hunks.push(self.mark.id);
            return Ok(());
        }
        self.free_left_name(&new_id)?;
        let there = self.fork.files.get(&new_id).filter(|file| !file.entry.is_empty());
        let replaces = match there.map(|file| &file.entry.file) {
            None => false,
            Some(Some((FileChange::Delete, _))) => true,
            // Another call has put something there since the view was taken.
            Some(_) => {
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
            return self.make_anew(id, &new_id, &to);
        }
        self.report.hunks.push(self.mark.id);
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
                let left = ForkFile::new(shown, place, gone);
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

    /// The name that a file has now which another call has renamed since the view was taken.
    pub(super) fn renamed_since(&self, id: &DocId) -> Option<DocId> {
        let is_away = |file: &ForkFile| matches!(file.entry.file, Some((FileChange::Away, _)));
        let is_here = self.view.entries().get(id).is_none_or(|frozen| !frozen.away);
        match is_here && self.fork.files.get(id).is_some_and(is_away) {
            true => self.new_name(id),
            false => None,
        }
    }

    /// The name of the file that was renamed away from this one.
    fn new_name(&self, from: &DocId) -> Option<DocId> {
        let comes_from = |file: &ForkFile| match &file.entry.file {
            Some((FileChange::Rename { from: old }, _)) => old == from,
            _ => false,
        };
        let new = self.fork.files.iter().find(|(_, file)| comes_from(file));
        new.map(|(new, _)| new.clone())
    }

    /// A name that a file has only just left is free for another: what was renamed is a deletion and a new file.
    pub(super) fn free_left_name(&mut self, id: &DocId) -> Result<(), FileError> {
        let is_away = |file: &ForkFile| matches!(file.entry.file, Some((FileChange::Away, _)));
        if !self.fork.files.get(id).is_some_and(is_away) {
            return Ok(());
        }
        match self.new_name(id) {
            Some(new) => self.leave_old_name(&new),
            None => Ok(()),
        }
    }

    /// If the file was renamed, it is made anew under its name instead, and the old name is deleted.
    pub(super) fn leave_old_name(&mut self, id: &DocId) -> Result<(), FileError> {
        let Some(file) = self.fork.files.get(id) else { return Ok(()) };
        let Some((FileChange::Rename { from }, mark)) = file.entry.file.clone() else {
            return Ok(());
        };
        let Some(place) = file.place.clone() else { return Ok(()) };
        let (whole, mode) = self.content(id)?;
        let renamed = self.fork.files.remove(id);
        if let Err(error) = self.ensure(id, &place) {
            // Nothing of it is lost with the change that asks for its name.
            self.fork.files.extend(renamed.map(|file| (id.clone(), file)));
            return Err(error);
        }
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
    fn content(&self, id: &DocId) -> Result<(WholeContent, Option<u32>), FileError> {
        let Some(file) = self.fork.files.get(id) else {
            return Ok((WholeContent::Text(Text::default(), FileFormat::default()), None));
        };
        let entry = &file.entry;
        let source = base_of(id, entry);
        let under = self.fork.files.get(source).and_then(|left| left.place.as_ref());
        let there = under.and_then(|place| self.answers.under.get(&place.path));
        let mode = entry.mode.as_ref().map(|(mode, _)| *mode);
        let mode = mode.or(there.and_then(|there| there.mode));
        let format = own_format(entry).or_else(|| {
            let seen = self.view.buffers().get(source)?;
            Some(seen.format)
        });
        let format = format.unwrap_or_default();
        let whole = match (&entry.file, &entry.base, under) {
            (Some((FileChange::Binary(bytes), _)), ..) => WholeContent::Bytes(bytes.clone()),
            (Some((FileChange::Link(target), _)), ..) => WholeContent::Link(target.clone()),
            (_, Base::Link { target }, _) if entry.set().is_empty() => {
                WholeContent::Link(target.clone())
            }
            (_, Base::Binary { .. }, Some(place)) if entry.set().is_empty() => {
                let changed = || FileError::Changed { path: place.shown.clone() };
                WholeContent::Bytes(
                    there.and_then(|there| there.bytes.clone()).ok_or_else(changed)??,
                )
            }
            _ => WholeContent::Text(entry.text().clone(), format),
        };
        Ok((whole, mode))
    }

    fn give_mode(&mut self, id: &DocId, mode: Option<u32>) {
        let Some(mode) = mode else { return };
        let mark = Mark { id: self.fork.ids.give(), ..self.mark.clone() };
        if let Some(file) = self.fork.files.get_mut(id).filter(|file| !is_link(&file.entry)) {
            self.report.hunks.push(mark.id);
            file.entry.mode = Some((mode, mark));
        }
    }
}
