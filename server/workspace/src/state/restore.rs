//! How a session's kept state comes back: its fork on the texts as they are now, its ledger and news into the
//! workspace.
//!
//! Edits that were under way when the process ended are looked for (`leftover`), so that an accepted edit is either in the
//! ledger or pending, never both and never neither. What no longer has a place is told.

mod texts;

use super::leftover::{Fate, SentChanges, drop_made, fate_of};
use super::{HunkLines, KeptFile, SavedState};
use crate::entry::{Base, FileChange, HunkIdSource, Mark};
use crate::fork::{
    FileOnDisk, Fork, ForkFile, Question, base_of, follow_disk, is_about_link, place_over,
    sync_file,
};
use crate::ledger::{
    FileAfter, FileBefore, Ledger, Published, PublishedFile, TextMatch, UndoSpot, rename_of,
};
use crate::note::Note;
use crate::view::{DiskFile, read_file};
use crate::workspace::Workspace;
use crate::{DocId, HunkId, Roots};
use ropewalk_files::disk;
use ropewalk_files::paths::Links;
use ropewalk_text::Text;
use std::collections::BTreeMap;
use std::sync::Arc;

impl SavedState {
    /// The session's fork on the texts as they are now; its ledger and news go into the workspace, in the place
    /// of what that has of the session. Reads the disk. Blocking.
    ///
    /// A file that is not in the folders that are open now is left out, and told.
    pub fn restore(&self, session: Arc<str>, workspace: &Workspace) -> Fork {
        workspace.skip_publish_ids(self.last_publish);
        for note in &self.news {
            workspace.tell(Some(session.clone()), note.clone());
        }
        let mut fork = Fork::new(session);
        fork.ids = HunkIdSource::after(self.last_hunk);
        fork.rejected = (*self.rejected).clone();
        fork.accepted = (*self.accepted).clone();
        fork.names = self.names.clone();
        let roots = workspace.roots();
        let mut back = Restoring {
            kept: self,
            workspace,
            roots,
            fork,
            ledger: Ledger::default(),
            fates: BTreeMap::new(),
            over: self.over(),
        };
        back.load_ledger();
        back.settle_files();
        for (id, kept) in &self.files {
            back.file(id, kept);
        }
        back.settle_rejected();
        back.settle_texts();
        back.finish()
    }
}

/// A restore under way.
struct Restoring<'a> {
    kept: &'a SavedState,
    workspace: &'a Workspace,
    roots: Roots,
    fork: Fork,
    ledger: Ledger,
    /// Fates of the changes of files that were under way.
    fates: BTreeMap<HunkId, Fate>,
    /// Names that the changes take away.
    over: Links,
}

impl Restoring<'_> {
    fn tell(&self, note: Note) {
        self.workspace.tell(Some(self.fork.session.clone()), note);
    }

    fn not_restored(&self, file: &str, why: &str) {
        self.tell(Note::NotRestored { file: file.to_owned(), why: why.to_owned() });
    }

    /// The ledger as it was kept, but for what this process knows better because the session was in it before.
    fn load_ledger(&mut self) {
        let session = &self.fork.session;
        let mut ledger = self.workspace.ledger();
        let live: Vec<Published> = ledger.texts.take_all(|hunk| hunk.session == *session);
        ledger.files.take_all(|file| file.session == *session);
        drop(ledger);
        for HunkLines { texts, files } in self.kept.ledger.values().map(|lines| &**lines) {
            for hunk in texts {
                let same = |live: &&Published| {
                    (live.id, &live.doc, &live.at) == (hunk.id, &hunk.doc, &hunk.at)
                        && (&live.old, &live.new) == (&hunk.old, &hunk.new)
                };
                let own = || Published { session: session.clone(), ..hunk.clone() };
                self.ledger.texts.push(live.iter().find(same).cloned().unwrap_or_else(own));
            }
            let own =
                |file: &PublishedFile| PublishedFile { session: session.clone(), ..file.clone() };
            self.ledger.files.extend(files.iter().map(own));
        }
    }

    /// Finds out the fates of changes of files that were under way: pending ones that the ledger
    /// lists, and ones that were being undone.
    fn settle_files(&mut self) {
        for (id, lines) in &self.kept.ledger {
            if lines.files.is_empty() {
                continue;
            }
            if self.is_under_way(*id) {
                let fate = fate_of(&lines.files, &self.roots);
                self.fates.insert(*id, fate);
                if fate == Fate::NotDone {
                    self.ledger.files.take_of_hunk(*id, |_| true);
                }
                continue;
            }
            // Each file is put back on its own.
            for line in lines.files.iter().filter(|line| line.undoing) {
                if fate_of(std::slice::from_ref(line), &self.roots) == Fate::NotDone {
                    let put_back = |own: &PublishedFile| own.undoing && own.path == line.path;
                    self.ledger.files.take_of_hunk(*id, put_back);
                    self.tell(line.undone());
                }
            }
        }
        let halves: Vec<HunkId> = self
            .fates
            .iter()
            .filter(|(_, f)| **f == Fate::HalfRenamed)
            .map(|(id, _)| *id)
            .collect();
        for id in halves {
            let left = self.ledger.files.of_hunk(id).find_map(|line| match &line.before {
                Some(FileBefore::File { bytes, .. }) => {
                    Some(FileAfter::File(crate::ContentHash::of(bytes)))
                }
                _ => None,
            });
            self.ledger.files.change_of_hunk(id, |line| {
                if line.after.is_some() {
                    line.after.clone_from(&left);
                }
            });
        }
        self.ledger.files.change_all(|line| line.undoing = false);
        self.follow_renames();
    }

    /// Takes published changes along to a name that their file got right before the end.
    fn follow_renames(&mut self) {
        let is_made = |(_, fate): &(&HunkId, &Fate)| matches!(fate, Fate::Done | Fate::HalfRenamed);
        for (id, _) in self.fates.iter().filter(is_made) {
            let lines: Vec<PublishedFile> = self.ledger.files.of_hunk(*id).cloned().collect();
            let Some((gone, new)) = rename_of(&lines, *id) else { continue };
            let (from, to) = (DocId::from_path(&gone.path), DocId::from_path(&new.path));
            let shown = new.file.clone();
            self.ledger.follow(&from, (&to, &shown), (&self.fork.session, *id));
        }
    }

    /// True if a hunk is pending whose file was to be changed as a whole.
    fn is_under_way(&self, id: HunkId) -> bool {
        self.kept.files.values().any(|kept| {
            kept.file.as_ref().is_some_and(|(_, mark)| mark.id == id)
                || kept.mode.as_ref().is_some_and(|(_, mark)| mark.id == id)
                || kept.marks.iter().any(|mark| mark.id == id && mark.sent.is_some())
        })
    }

    fn file(&mut self, id: &DocId, kept: &KeptFile) {
        let Some(entry) = kept.entry() else { return };
        let link = is_about_link(&entry);
        let place = match place_over(&self.roots, id, link, &self.over).transpose() {
            Ok(place) => place,
            Err(error) => return self.not_restored(&kept.shown, &error.to_string()),
        };
        let mut file = kept.file_with(entry);
        if let Some(place) = &place {
            file.shown = place.shown.clone();
        }
        file.place = place;
        let gone: Vec<HunkId> =
            kept.marks.iter().map(|m| m.id).filter(|id| self.fork.rejected.contains(id)).collect();
        file.entry.remove(&gone);
        if !self.file_change(id, &mut file) {
            return;
        }
        self.mode_change(&mut file);
        let source = base_of(id, &file.entry).clone();
        let now = if link { None } else { self.text_now(&source) };
        // Its text may have been sent without it.
        let renamed = kept.file.as_ref().is_some_and(|(_, m)| self.fates.contains_key(&m.id));
        self.settle_sent(&source, &mut file, now.as_ref(), renamed);
        let look = Question::of(self.workspace, id, &file);
        let look = look.map(|question| self.workspace.answer(vec![question]));
        let look = look.and_then(|answers| answers.of(id, &file));
        let now = (now.as_ref(), look);
        let aside = bring_to_now(self.workspace, &mut self.fork, &source, &mut file, now);
        for one in aside {
            self.fork.tell_conflict(self.workspace, file.shown.clone(), &one);
        }
        self.fork.files.insert(id.clone(), file);
    }

    /// Settles a change of the file itself by its fate. False if nothing of this entry is left.
    fn file_change(&self, id: &DocId, file: &mut ForkFile) -> bool {
        let Some((change, mark)) = file.entry.file.clone() else { return true };
        let fate = self.fates.get(&mark.id).copied();
        match (&change, fate) {
            (_, Some(Fate::Unclear)) => {
                if change != FileChange::Away {
                    let why = "it is not known whether it was made, and the file has changed since";
                    self.not_restored(&file.shown, why);
                }
                return false;
            }
            (FileChange::Away, Some(Fate::Done | Fate::HalfRenamed)) => return false,
            (_, Some(Fate::Done | Fate::HalfRenamed)) => {
                file.entry.file = None;
                file.entry.home = None;
            }
            (FileChange::Away, _) => {
                let goes_on = |(_, twin): (&DocId, &Arc<KeptFile>)| {
                    twin.file.as_ref().is_some_and(|(change, own)| {
                        own.id == mark.id && *change == FileChange::Rename { from: id.clone() }
                    })
                };
                return self.kept.files.iter().any(goes_on);
            }
            (FileChange::Rename { from }, _) => return self.can_rename(from, &mark, file),
            (FileChange::Delete | FileChange::Binary(_) | FileChange::Link(_), _) => {}
        }
        true
    }

    /// Settles by their fate permission bits that were to be set.
    fn mode_change(&self, file: &mut ForkFile) {
        let Some((_, mark)) = &file.entry.mode else { return };
        match self.fates.get(&mark.id) {
            Some(Fate::Done) => file.entry.mode = None,
            Some(Fate::Unclear | Fate::HalfRenamed) => {
                self.not_restored(&file.shown, "its mode has been changed since by somebody else");
                file.entry.mode = None;
            }
            Some(Fate::NotDone) | None => {}
        }
    }

    fn can_rename(&self, from: &DocId, mark: &Mark, file: &ForkFile) -> bool {
        let left = self.kept.files.get(from).and_then(|left| left.file.as_ref());
        let away =
            left.is_some_and(|(change, own)| *change == FileChange::Away && own.id == mark.id);
        let place = from.path().and_then(|path| self.roots.place_of(&path).ok());
        let there = place.is_some_and(|place| {
            let open = self.workspace.with_document(from, |_| ()).is_some();
            open || disk::stat(&self.roots, &place).is_ok()
        });
        if !away || !there {
            self.not_restored(&file.shown, "the file that was to be renamed is not there");
        }
        away && there
    }

    /// The open text, else the disk's. None where neither is a text.
    fn text_now(&self, id: &DocId) -> Option<Text> {
        let open = self.workspace.with_document(id, |document| document.text().clone());
        open.or_else(|| self.disk_text(id))
    }

    fn disk_text(&self, id: &DocId) -> Option<Text> {
        let place = place_over(&self.roots, id, false, &self.over)?.ok()?;
        if place.is_untitled() {
            return None;
        }
        match read_file(&place, &self.roots).ok()? {
            DiskFile::Text { text, .. } => Some(text),
            DiskFile::Binary { .. } | DiskFile::Link { .. } | DiskFile::Missing => None,
        }
    }

    /// Finds out about changes that had been sent. `renamed`: what is done is in the ledger as a change of the file.
    fn settle_sent(
        &mut self,
        source: &DocId,
        file: &mut ForkFile,
        now: Option<&Text>,
        renamed: bool,
    ) {
        let session = self.fork.session.clone();
        while let Some(sent) = SentChanges::first(&session, source, file) {
            let entry = &mut file.entry;
            let before = entry.base.text();
            let whole = !matches!(entry.base, Base::Buffer { .. } | Base::Disk { .. });
            let closed = !matches!(entry.base, Base::Buffer { .. });
            let of_file = sent.ids.iter().find_map(|id| self.fates.get(id)).copied();
            let fate = match (of_file, now) {
                (Some(fate), _) if whole => fate,
                (_, Some(now)) => sent.fate(&before, now),
                (_, None) => Fate::NotDone,
            };
            match fate {
                Fate::Done => {
                    drop_made(entry, &sent);
                    if !whole && !renamed {
                        self.made(sent.forms, now, closed);
                    }
                }
                Fate::NotDone | Fate::HalfRenamed => {
                    entry.mark_sent(&sent.ids, None);
                    if !closed {
                        file.returned.extend(sent.forms);
                    }
                }
                Fate::Unclear => {
                    entry.mark_sent(&sent.ids, None);
                    let fates = match now {
                        Some(now) if !whole => sent.fates(&before, now),
                        _ => vec![Fate::Unclear; sent.forms.len()],
                    };
                    let (mut made, mut lost) = (Vec::new(), Vec::new());
                    for (form, fate) in sent.forms.into_iter().zip(fates) {
                        match fate {
                            Fate::Done => made.push(form),
                            Fate::Unclear => lost.push(form.id),
                            Fate::NotDone | Fate::HalfRenamed => {}
                        }
                    }
                    for one in entry.remove(&lost) {
                        self.fork.tell_conflict(self.workspace, file.shown.clone(), &one);
                    }
                    self.made(made, now, closed);
                }
            }
        }
    }

    /// These are in the user's text, but for what the user took out again.
    fn made(&mut self, forms: Vec<Published>, now: Option<&Text>, saved: bool) {
        for form in forms {
            self.fork.accepted.insert(form.id);
            if now.is_some_and(|now| matches!(Ledger::stands(&form, now), TextMatch::Old(_))) {
                self.tell(form.undone());
                continue;
            }
            let same = |own: &Published| {
                (own.id, &own.doc, &own.old, &own.new) == (form.id, &form.doc, &form.old, &form.new)
            };
            if !self.ledger.texts.of_hunk(form.id).any(same) {
                self.ledger.texts.push(Published { saved, ..form });
            }
        }
    }

    /// Changes of files that were rejected right before the end.
    fn settle_rejected(&mut self) {
        for file in self.fork.files.values_mut() {
            file.entry.remove_of_file(|id| self.fork.rejected.contains(&id));
            file.entry.drop_stray_mode();
        }
        self.fork.return_renamed();
    }

    fn finish(mut self) -> Fork {
        self.fork.files.retain(|_, file| !file.entry.is_empty());
        self.workspace.ledger().files.extend(self.ledger.files);
        for mut hunk in self.ledger.texts {
            let doc = hunk.doc.clone();
            // Where it is found for certain its place is followed again, from this very text on.
            let anchored = self.workspace.with_document(&doc, |document| {
                if let UndoSpot::At(range) = Ledger::find(&hunk, document.text()) {
                    hunk = Published { range, anchored: true, ..hunk.clone() };
                }
                self.workspace.ledger().texts.push(hunk.clone());
            });
            if anchored.is_none() {
                self.workspace.ledger().texts.push(hunk);
            }
        }
        self.fork.note_accepted(self.workspace);
        self.fork
    }
}

/// Brings a file that was kept to the text as it is now.
pub(super) fn bring_to_now(
    workspace: &Workspace,
    fork: &mut Fork,
    source: &DocId,
    file: &mut ForkFile,
    (now, look): (Option<&Text>, Option<Arc<FileOnDisk>>),
) -> Vec<crate::entry::Conflict> {
    let mut aside = match now {
        // The editor has read the disk anew meanwhile: what the fork had brought along is there.
        Some(now) if file.entry.disk.as_ref() == Some(now) => {
            file.entry.landed(now.clone());
            Vec::new()
        }
        _ if file.entry.is_whole() => Vec::new(),
        _ => file.entry.leave_disk(),
    };
    aside.extend(sync_file(workspace, &fork.session, source, file, look));
    aside.extend(follow_disk(workspace, source, file, &mut fork.ids));
    aside
}
