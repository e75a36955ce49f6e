//! Results of calls come in: what a call proposes, made on its view, becomes pending.

mod names;
mod questions;

use super::{Fork, ForkFile, MergeReport, Proposal, ProposedChange, base_of};
use crate::conversation::is_conversation;
use crate::entry::{Base, Entry, FileChange, Maker, Mark};
use crate::log::Cursor;
use crate::owner::ForkOwner;
use crate::view::{DiskFile, FileState, FrozenContent, View};
use crate::workspace::Workspace;
use crate::{ContentHash, DocId};
use questions::MergeAnswers;
use ropewalk_files::disk::{FileError, FileKind};
use ropewalk_files::paths::Place;
use ropewalk_files::repository::Repositories;
use ropewalk_text::decode::{FileFormat, encode};
use ropewalk_text::{Text, diff, refine};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

/// How often is asked anew for what had moved on meanwhile.
const ROUNDS: usize = 5;

/// The call that made what is merged.
#[derive(Clone, Copy, Debug)]
pub struct MergeOrigin<'a> {
    /// The turn of the call.
    pub turn: u64,
    /// The call itself.
    pub maker: &'a Maker,
}

/// [`Fork::merge`] into a fork that others use too, without its lock while it looks at the disk. Blocking.
pub fn merge(
    workspace: &Workspace,
    fork: &dyn ForkOwner,
    view: &View,
    origin: MergeOrigin<'_>,
    proposals: Vec<Proposal>,
) -> MergeReport {
    with_answers(workspace, fork, view, proposals, |fork, answers, proposals| {
        fork.merge_answered(workspace, view, origin, proposals, answers)
    })
}

/// Merges all of the proposals or none, by a try on a copy. The error is the copy's report. The fork stays on the texts
/// that it was synced with last.
pub(crate) fn merge_all(
    workspace: &Workspace,
    fork: &dyn ForkOwner,
    view: &View,
    origin: MergeOrigin<'_>,
    proposals: Vec<Proposal>,
) -> Result<MergeReport, MergeReport> {
    with_answers(workspace, fork, view, proposals, |fork, answers, proposals| {
        let mut copy = fork.clone().detached();
        let report = copy.merge_answered(workspace, view, origin, proposals, answers);
        if !report.is_whole() {
            return Err(report);
        }
        copy.session.clone_from(&fork.session);
        *fork = copy;
        Ok(report)
    })
}

/// Looks up all that a merge asks of the disk, then hands `then` the locked fork and the answers.
fn with_answers<T>(
    workspace: &Workspace,
    fork: &dyn ForkOwner,
    view: &View,
    proposals: Vec<Proposal>,
    then: impl FnOnce(&mut Fork, MergeAnswers, Vec<Proposal>) -> T,
) -> T {
    let docs = questions::docs_of(view, &proposals);
    let mut rounds = 1;
    loop {
        let questions = fork.lock().ask_merge(workspace, docs.clone());
        let answers = questions.answer(workspace, view, &proposals);
        let mut fork = fork.lock();
        // A file published meanwhile may have been looked at before it was written.
        if fork.has_same(&answers) || rounds == ROUNDS {
            return then(&mut fork, answers, proposals);
        }
        rounds += 1;
    }
}

impl Fork {
    /// Takes in what a call made on `view`: maps it over what happened since, else over the difference
    /// between the view's text and the one now. A file that is not open and can't be read is left out alone, with
    /// all that is proposed for it; so is what a git repository has of its own.
    pub fn merge(
        &mut self,
        workspace: &Workspace,
        view: &View,
        turn: u64,
        maker: &Maker,
        proposals: Vec<Proposal>,
    ) -> MergeReport {
        let questions = self.ask_merge(workspace, questions::docs_of(view, &proposals));
        let answers = questions.answer(workspace, view, &proposals);
        let origin = MergeOrigin { turn, maker };
        self.merge_answered(workspace, view, origin, proposals, answers)
    }

    /// Merges with the disk's answers. Where the fork has moved on since the questions, a file's base stays as it was until
    /// the next sync.
    fn merge_answered(
        &mut self,
        workspace: &Workspace,
        view: &View,
        MergeOrigin { turn, maker }: MergeOrigin<'_>,
        proposals: Vec<Proposal>,
        mut answers: MergeAnswers,
    ) -> MergeReport {
        let mut report = MergeReport::default();
        let mut repositories = std::mem::take(&mut answers.repositories);
        let notebooks = workspace.open_notebooks();
        let (mut refused, mut taken) = (HashSet::new(), HashSet::new());
        // A file that goes because its content stands elsewhere goes only once that is taken in.
        let is_over =
            |proposal: &Proposal| matches!(proposal.change, ProposedChange::MoveOver { .. });
        let (over, first): (Vec<_>, Vec<_>) = proposals.into_iter().partition(is_over);
        for Proposal { place, change } in first.into_iter().chain(over) {
            if refused.contains(&place.path) {
                continue;
            }
            let to = change.to().cloned();
            if let ProposedChange::MoveOver { to } = &change
                && !taken.contains(&to.path)
            {
                report.stays.push(place.shown.clone());
                continue;
            }
            let places = || [Some(&place), to.as_ref()].into_iter().flatten();
            if let Some(own) = places().find(|place| is_conversation(&place.path)) {
                report.refused.push(FileError::OfConversation { path: own.shown.clone() });
                refused.insert(place.path.clone());
                continue;
            }
            if let Some(own) = places().find(|place| notebooks.contains(&place.path)) {
                report.refused.push(FileError::OfNotebook { path: own.shown.clone() });
                refused.insert(place.path.clone());
                continue;
            }
            if let Some(own) = places().find(|place| repositories.own(place)) {
                report.refused.push(FileError::OfStore { path: own.shown.clone() });
                refused.insert(place.path.clone());
                continue;
            }
            let mark = Mark { id: self.ids.give(), turn, makers: vec![maker.clone()], sent: None };
            let (hunks, conflicts) = (report.hunks.len(), report.conflicts.len());
            let mut merging =
                Merging { fork: self, view, mark, report: &mut report, answers: &answers };
            if let Err(error) = merging.merge_proposal(workspace, &place, change) {
                report.hunks.truncate(hunks);
                report.refused.push(error);
                refused.extend(to.map(|to| to.path).into_iter().chain([place.path]));
            } else if report.conflicts.len() == conflicts
                && !report.conflicts.contains(&place.shown)
            {
                places().for_each(|place| repositories.add(&place.path));
                taken.extend(to.map(|to| to.path).into_iter().chain([place.path]));
            }
        }
        self.files.retain(|_, file| !file.entry.is_empty());
        report
    }

    /// Git repositories that the fork's files would make of folders.
    pub(super) fn repositories(&self) -> Repositories {
        let mut known = Repositories::default();
        let gone = |file: &&ForkFile| {
            matches!(file.entry.file, Some((FileChange::Delete | FileChange::Away, _)))
        };
        for place in self.files.values().filter(|file| !gone(file)).filter_map(|f| f.place.as_ref())
        {
            known.add(&place.path);
        }
        known
    }
}

/// One proposal being taken in.
struct Merging<'a> {
    fork: &'a mut Fork,
    view: &'a View,
    /// The mark of what it makes.
    mark: Mark,
    report: &'a mut MergeReport,
    answers: &'a MergeAnswers,
}

/// All that a file holds.
enum WholeContent {
    Text(Text, FileFormat),
    Bytes(Arc<[u8]>),
    Link(PathBuf),
}

/// Text that a view had of a file, and its place in the document's log.
struct SeenFile {
    text: Text,
    /// False if the view had no text there.
    is_text: bool,
    cursor: Option<Cursor>,
}

impl SeenFile {
    fn new(text: Option<Text>, cursor: Option<Cursor>) -> Self {
        Self { is_text: text.is_some(), text: text.unwrap_or_default(), cursor }
    }
}

impl Merging<'_> {
    fn merge_proposal(
        &mut self,
        workspace: &Workspace,
        place: &Place,
        change: ProposedChange,
    ) -> Result<(), FileError> {
        let id = self.doc_of(place);
        let to = change.to().map(|to| self.doc_of(to));
        if self.is_being_written(&id, is_of_name(&change))
            || to.is_some_and(|to| self.is_being_written(&to, true))
        {
            self.report.conflict(&place.shown);
            return Ok(());
        }
        let is_new = !self.fork.files.contains_key(&id);
        let seen = self.ensure(&id, place)?;
        let id = match &change {
            ProposedChange::Edit(_) => self.renamed_since(&id).unwrap_or(id),
            _ => id,
        };
        self.free_left_name(&id)?;
        let is_detached = self.fork.is_detached();
        let Some(file) = self.fork.files.get_mut(&id) else { return Ok(()) };
        let source = base_of(&id, &file.entry).clone();
        let bytes = binary_hash(&file.entry);
        let look = match is_new {
            true => self.answers.files.look(&id).cloned(),
            false => self.answers.files.of(&id, file),
        };
        // A fork without a session is a branch or a copy: it stays on the texts that it started from.
        let aside = match is_detached {
            true => Vec::new(),
            false => super::sync_file(workspace, &self.fork.session, &source, file, look),
        };
        file.entry.tell_apart(&mut self.fork.ids);
        let shown = file.shown.clone();
        let is_lost = match &change {
            _ if !is_of_name(&change) => false,
            // A file that is open under a name that leads to it, or under another of its names.
            _ if file.place.as_ref().is_none_or(|own| own.path != place.path) => true,
            ProposedChange::Rename { .. } => false,
            _ => {
                !file.entry.is_whole() && {
                    bytes != binary_hash(&file.entry)
                        || !seen.text.equal_but_line_ends(file.entry.text())
                }
            }
        };
        let done = match is_lost {
            true => {
                self.report.conflict(&place.shown);
                Ok(())
            }
            false => self.apply_change(&id, place, &seen, change),
        };
        // Told even if the change itself is left out, since these have left the fork already.
        for one in aside {
            self.fork.tell_conflict(workspace, shown.clone(), &one);
        }
        done
    }

    /// Puts a change that has its place into the entry; `seen` is the text that it was made on.
    fn apply_change(
        &mut self,
        id: &DocId,
        place: &Place,
        seen: &SeenFile,
        change: ProposedChange,
    ) -> Result<(), FileError> {
        let Some(file) = self.fork.files.get_mut(id) else { return Ok(()) };
        match change {
            // Another call has made away with the text since the view was taken.
            ProposedChange::Edit(_) if seen.is_text && file.entry.is_whole() => {
                let shown = file.shown.clone();
                self.report.conflict(&shown);
                Ok(())
            }
            ProposedChange::Edit(set) => {
                let shown = file.shown.clone();
                let set = refine(&set, &seen.text);
                let (seen_at, ids) = (seen.cursor.as_ref(), &mut self.fork.ids);
                let merged = file.entry.merge(&set, &seen.text, seen_at, &self.mark, ids);
                self.report.add(merged, &shown);
                Ok(())
            }
            ProposedChange::Write(text) => self.write(id, seen, text),
            ProposedChange::Delete => {
                self.delete(id);
                Ok(())
            }
            ProposedChange::MoveOver { to } => {
                self.delete(id);
                self.fork.note_move(&place.doc(), &to.doc());
                Ok(())
            }
            ProposedChange::Binary(bytes) => self.put(id, WholeContent::Bytes(bytes)),
            ProposedChange::Link(target) => self.put(id, WholeContent::Link(target)),
            ProposedChange::Mode(mode) => {
                // A link has none of its own.
                if !super::is_link(&file.entry) {
                    file.entry.mode = Some((mode & 0o777, self.mark.clone()));
                    self.report.hunks.push(self.mark.id);
                }
                Ok(())
            }
            ProposedChange::Rename { to } => {
                let (new, name) = (to.doc(), to.shown.clone());
                let renamed = self.rename(id, to);
                if renamed.is_ok() && !self.report.conflicts.contains(&name) {
                    self.fork.note_move(&place.doc(), &new);
                }
                renamed
            }
        }
    }

    /// The document that a place is.
    fn doc_of(&self, place: &Place) -> DocId {
        let known = self.answers.docs.get(&place.path).cloned();
        known.unwrap_or_else(|| self.view.id_of(place, self.view.roots()))
    }

    /// True if the file is being written and the change can't join that. Only a change of text joins a write of text.
    fn is_being_written(&self, id: &DocId, is_of_name: bool) -> bool {
        let is_apart = |file: &ForkFile| is_of_name || file.entry.file.is_some();
        self.fork.files.get(id).is_some_and(|file| file.seen.writing && is_apart(file))
    }

    /// Takes in a whole text as its difference to the view's. It is put in whole where the file is replaced as a whole, or
    /// where it is empty and no text was there.
    fn write(&mut self, id: &DocId, seen: &SeenFile, text: Text) -> Result<(), FileError> {
        let Some(file) = self.fork.files.get_mut(id) else { return Ok(()) };
        let replaces = file.entry.is_whole();
        let is_text = matches!(file.entry.base, Base::Buffer { .. } | Base::Disk { .. });
        if replaces || (text.is_empty() && !is_text) {
            let format = own_format(&file.entry).unwrap_or_default();
            return self.put(id, WholeContent::Text(text, format));
        }
        let (seen_at, ids) = (seen.cursor.as_ref(), &mut self.fork.ids);
        let set = diff(&seen.text, &text);
        let merged = file.entry.merge(&set, &seen.text, seen_at, &self.mark, ids);
        let shown = file.shown.clone();
        self.report.add(merged, &shown);
        Ok(())
    }

    /// Replaces all that is pending in a file by its new content.
    fn put(&mut self, id: &DocId, whole: WholeContent) -> Result<(), FileError> {
        self.leave_old_name(id)?;
        let mark = self.mark.clone();
        let Some(file) = self.fork.files.get_mut(id) else { return Ok(()) };
        let entry = &mut file.entry;
        let whole = match whole {
            // As a text it would be written in the encoding of what is there.
            WholeContent::Text(text, format)
                if own_format(entry).is_some_and(|own| own != format) =>
            {
                encode(&text, format).map_or(WholeContent::Text(text, format), |bytes| {
                    WholeContent::Bytes(bytes.into())
                })
            }
            whole => whole,
        };
        match whole {
            WholeContent::Text(text, _) => {
                if entry.file.take().is_some() {
                    entry.disk = None;
                }
                let set = diff(entry.text(), &text);
                self.report.hunks.extend(entry.add(&set, &mark, &mut self.fork.ids));
                let is_text = matches!(entry.base, Base::Buffer { .. } | Base::Disk { .. });
                if !is_text && text.is_empty() {
                    // An empty file where there was no text has no change of text to carry it.
                    self.report.hunks.push(mark.id);
                    entry.replace(FileChange::Binary(Arc::from([])), mark);
                }
            }
            WholeContent::Bytes(bytes) => {
                self.report.hunks.push(mark.id);
                entry.replace(FileChange::Binary(bytes), mark);
            }
            WholeContent::Link(target) => {
                let is_there = matches!(&entry.base, Base::Link { target: now } if *now == target);
                self.report.hunks.push(mark.id);
                entry.replace(FileChange::Link(target), mark);
                // The disk has this very link: only what was pending over it goes.
                if is_there {
                    entry.file = None;
                }
            }
        }
        Ok(())
    }

    /// Makes an entry for the file from the view if the fork has none. Gives the view's text of the file.
    fn ensure(&mut self, id: &DocId, place: &Place) -> Result<SeenFile, FileError> {
        let view = self.view;
        let is_here = self.fork.files.contains_key(id);
        // Only the view knows its text: the entry may have changed since, or be gone because all of it was published.
        let seen = match view.entries().get(id) {
            Some(frozen) => {
                let text = match &frozen.content {
                    Some(FrozenContent::Text(text, _)) => Some(text.clone()),
                    _ => None,
                };
                Some(SeenFile::new(text, Some(frozen.cursor.clone())))
            }
            None if is_here => {
                let text = match view.read(place) {
                    Ok(FileState::Text { text, .. }) => Some(text),
                    Ok(_) => None,
                    Err(error) if is_no_file(&error) => None,
                    Err(error) => return Err(error),
                };
                Some(SeenFile::new(text, None))
            }
            None => None,
        };
        let seen = match seen {
            Some(seen) if is_here => return Ok(seen),
            seen => seen,
        };
        let mut moved = None;
        let base = match view.buffers().get(id) {
            Some(buffer) => {
                moved = buffer.moved.clone();
                Base::Buffer { text: buffer.text.clone(), cursor: buffer.cursor.clone() }
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
        let seen_now = SeenFile::new(Some(entry.text().clone()), Some(entry.cursor()));
        let (shown, place) = (place.shown.clone(), Some(place.clone()));
        self.fork.files.insert(id.clone(), ForkFile::new(shown, place, entry));
        Ok(seen.unwrap_or(seen_now))
    }
}

/// True if the change is about the name as a whole, whatever the file holds.
fn is_of_name(change: &ProposedChange) -> bool {
    match change {
        ProposedChange::Delete
        | ProposedChange::MoveOver { .. }
        | ProposedChange::Rename { .. }
        | ProposedChange::Binary(_)
        | ProposedChange::Link(_) => true,
        ProposedChange::Edit(_) | ProposedChange::Write(_) | ProposedChange::Mode(_) => false,
    }
}

/// The hash of the bytes under an entry that are no text.
fn binary_hash(entry: &Entry) -> Option<ContentHash> {
    match &entry.base {
        Base::Binary { hash } => Some(*hash),
        _ => None,
    }
}

/// The format in which a text that is put into an entry is written. None where the editor writes it.
fn own_format(entry: &Entry) -> Option<FileFormat> {
    match &entry.base {
        Base::Disk { format, .. } => Some(*format),
        Base::Buffer { .. } => None,
        Base::Binary { .. } | Base::Link { .. } | Base::Absent => Some(FileFormat::default()),
    }
}

/// True if the disk has a folder under the name, or something else than a folder above it. A call
/// may take that away in the same breath; if it stays, publishing says so.
fn is_no_file(error: &FileError) -> bool {
    match error {
        FileError::BecameLink { .. } | FileError::ThroughFile { .. } => true,
        FileError::NotAFile { kind, .. } => *kind == FileKind::Folder,
        _ => false,
    }
}

impl MergeReport {
    /// True if nothing was left out.
    fn is_whole(&self) -> bool {
        self.conflicts.is_empty() && self.refused.is_empty() && self.stays.is_empty()
    }

    fn add(&mut self, merged: crate::entry::EntryMerge, shown: &str) {
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
