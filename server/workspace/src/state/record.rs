//! Records of the changes since the state was last kept.
//!
//! Costs what is pending and what the session has in the ledger; texts are compared only where the user's text
//! has moved under pending changes, and copied only when they were never kept.

use super::wire::{BaseState, BaseText, Edit, PendingFile, StateRecord, WrittenChange};
use super::{HunkLines, KeptFile, SavedState};
use crate::entry::{Base, FileChange};
use crate::fork::{Fork, ForkFile};
use crate::ledger::{FileBefore, Ledger, Published, PublishedFile};
use crate::workspace::Workspace;
use crate::{DocId, HunkId, PublishId};
use ropewalk_text::{ChangeSet, Text, diff};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Says of some bytes that they must not be written anywhere.
pub type Private<'a> = Option<&'a dyn Fn(&[u8]) -> bool>;

/// The longest text, in bytes, that is written while the user waits: about a millisecond.
pub const PROMPT: usize = 1 << 20;

impl SavedState {
    /// Gives the changes since the last call, as records to be written in this order. Cut off after
    /// any of them, they lose nothing and repeat nothing that [`SavedState::restore`] would not see.
    ///
    /// While the user only types, nothing changes: pending changes find their places again over the difference
    /// of the texts, and that they do is checked here.
    ///
    /// Pending changes of a file that holds something `private` are not kept, nor its ledger lines and news:
    /// to the records it is as if it were not there. [`SavedState::take_left_out`] names such files.
    pub fn record(
        &mut self,
        fork: &Fork,
        workspace: &Workspace,
        private: Private<'_>,
    ) -> Vec<StateRecord> {
        self.record_of(None, usize::MAX, fork, workspace, private)
    }

    /// The same for a moment at which the user waits: a file whose text is longer than [`PROMPT`] and was never
    /// kept is left for the next [`SavedState::record`]. A crash before that loses what is pending in it, and nothing of
    /// the user's text.
    pub fn record_promptly(
        &mut self,
        fork: &Fork,
        workspace: &Workspace,
        private: Private<'_>,
    ) -> Vec<StateRecord> {
        self.record_of(None, PROMPT, fork, workspace, private)
    }

    /// The same of the files at hand alone, right before something is done to them: what else is pending is as it was,
    /// or is kept later. Costs these files and what has changed in the ledger.
    pub fn record_at_hand(
        &mut self,
        files: &[DocId],
        fork: &Fork,
        workspace: &Workspace,
        private: Private<'_>,
    ) -> Vec<StateRecord> {
        // Files that were at hand last are done by now.
        let mut all = std::mem::replace(&mut self.compared.files, files.to_vec());
        all.extend_from_slice(files);
        self.record_of(Some(&all), PROMPT, fork, workspace, private)
    }

    /// The files that were left out since the last call because they hold something private, as they are shown.
    pub fn take_left_out(&mut self) -> Vec<String> {
        std::mem::take(&mut self.left_out)
    }

    fn record_of(
        &mut self,
        files: Option<&[DocId]>,
        most: usize,
        fork: &Fork,
        workspace: &Workspace,
        private: Private<'_>,
    ) -> Vec<StateRecord> {
        let mut out = Vec::new();
        self.record_ids(fork, workspace, &mut out);
        self.record_decided(fork, &mut out);
        self.record_names(fork, &mut out);
        // First where changes are only new or only sent: one that is in the ledger alone counts as made.
        let growing: Vec<&DocId> = match files {
            None => fork.files.keys().filter(|id| self.has_only_more(id, fork)).collect(),
            Some(files) => files.iter().filter(|id| self.has_only_more(id, fork)).collect(),
        };
        self.record_files(growing.into_iter(), most, fork, private, &mut out);
        let gone = self.record_ledger(fork, workspace, private, &mut out);
        match files {
            None => self.record_files(fork.files.keys(), most, fork, private, &mut out),
            Some(files) => self.record_files(files.iter(), most, fork, private, &mut out),
        }
        if files.is_none() {
            let kept: Vec<DocId> = self.files.keys().cloned().collect();
            self.record_gone(kept.iter(), fork, &mut out);
        }
        out.extend(gone.into_iter().map(|id| StateRecord::Unpublished { id }));
        let mut notes = workspace.news_of(&fork.session);
        notes.retain(|note| !holds(private, note.to_string().as_bytes()));
        if notes != self.news {
            self.news.clone_from(&notes);
            out.push(StateRecord::News { notes });
        }
        out
    }

    /// True if more is pending or sent in a file than was kept, and all that was kept still is.
    fn has_only_more(&self, id: &DocId, fork: &Fork) -> bool {
        let Some(file) = fork.files.get(id) else { return false };
        let now = KeptFile::of(file);
        let (kept, now) = (self.files.get(id).map(|kept| kept.stages()), now.stages());
        kept.is_none_or(|kept| kept.len() < now.len() && kept.is_subset(&now))
    }

    /// Says what has changed in the ledger since it was last compared. Gives the hunks that are in it no more.
    fn record_ledger(
        &mut self,
        fork: &Fork,
        workspace: &Workspace,
        private: Private<'_>,
        out: &mut Vec<StateRecord>,
    ) -> Vec<HunkId> {
        let mut gone = Vec::new();
        let ledger = workspace.ledger();
        let since = self.compared.ledger.replace(ledger.revisions());
        let mut changed = ledger.changed_since(&fork.session, since.unwrap_or_default());
        if since.is_none() {
            changed.extend(self.ledger.keys());
        }
        for id in changed {
            let lines = lines(id, fork, &ledger);
            let is_kept = self.ledger.get(&id).is_some_and(|kept| **kept == lines);
            if is_kept {
                continue;
            }
            if lines == HunkLines::default() || private.is_some() && lines.hold(private) {
                gone.extend(self.ledger.remove(&id).map(|_| id));
                continue;
            }
            let HunkLines { texts, files } = lines.clone();
            out.push(StateRecord::Published { id, texts, files });
            self.ledger.insert(id, Arc::new(lines));
        }
        gone
    }

    fn record_ids(&mut self, fork: &Fork, workspace: &Workspace, out: &mut Vec<StateRecord>) {
        let hunk = fork.ids.last().max(self.last_hunk);
        let publish = workspace.last_publish_id().max(self.last_publish);
        if (hunk, publish) != (self.last_hunk, self.last_publish) {
            (self.last_hunk, self.last_publish) = (hunk, publish);
            out.push(StateRecord::Ids { hunk, publish });
        }
    }

    fn record_decided(&mut self, fork: &Fork, out: &mut Vec<StateRecord>) {
        let new = |now: &BTreeSet<HunkId>, kept: &BTreeSet<HunkId>| -> Vec<HunkId> {
            if now.len() == kept.len() {
                // Neither ever loses one.
                return Vec::new();
            }
            now.difference(kept).copied().collect()
        };
        let rejected = new(&fork.rejected, &self.rejected);
        let accepted = new(&fork.accepted, &self.accepted);
        if !rejected.is_empty() || !accepted.is_empty() {
            Arc::make_mut(&mut self.rejected).extend(&rejected);
            Arc::make_mut(&mut self.accepted).extend(&accepted);
            out.push(StateRecord::Decided { rejected, accepted });
        }
    }

    fn record_names(&mut self, fork: &Fork, out: &mut Vec<StateRecord>) {
        if self.names == fork.names {
            return;
        }
        for (doc, former) in fork.names.iter() {
            if self.names.get(doc) != Some(former) {
                let former = former.iter().cloned().collect();
                out.push(StateRecord::Names { doc: doc.clone(), former });
            }
        }
        self.names = fork.names.clone();
    }

    fn record_files<'a>(
        &mut self,
        these: impl Iterator<Item = &'a DocId> + Clone,
        most: usize,
        fork: &Fork,
        private: Private<'_>,
        out: &mut Vec<StateRecord>,
    ) {
        let files = these.clone().filter_map(|id| Some((id, fork.files.get(id)?)));
        for (id, file) in files.filter(|(_, file)| !file.entry.is_empty()) {
            if !self.bases.contains_key(id) && file.entry.base.text().len() > most {
                continue;
            }
            let now = KeptFile::of(file);
            if self.files.get(id).is_some_and(|kept| kept.leads_to(&now)) {
                continue;
            }
            if private.is_some() && now.holds(private, file) {
                self.bases.remove(id);
                if self.files.remove(id).is_some() {
                    out.push(StateRecord::FileGone { doc: id.clone() });
                }
                if self.private.insert(id.clone()) {
                    self.left_out.push(file.shown.clone());
                }
                continue;
            }
            out.push(StateRecord::File(Box::new(now.state(id, self.bases.get(id)))));
            self.bases.insert(id.clone(), now.text.clone());
            self.files.insert(id.clone(), Arc::new(now));
        }
        self.record_gone(these, fork, out);
    }

    /// Says in which of these files nothing is pending any more.
    fn record_gone<'a>(
        &mut self,
        these: impl Iterator<Item = &'a DocId>,
        fork: &Fork,
        out: &mut Vec<StateRecord>,
    ) {
        let empty = |id: &DocId| fork.files.get(id).is_none_or(|file| file.entry.is_empty());
        for doc in these.filter(|id| empty(id)) {
            if self.files.remove(doc).is_some() {
                out.push(StateRecord::FileGone { doc: doc.clone() });
            }
        }
    }
}

/// The ledger's line of a hunk of the session, as it is written: without the session, loosened.
fn lines(id: HunkId, fork: &Fork, ledger: &Ledger) -> HunkLines {
    let texts = ledger.texts.of_hunk(id).filter(|hunk| hunk.session == fork.session).map(written);
    let files = ledger.files.of_hunk(id).filter(|file| file.session == fork.session);
    let files = files.map(|file| PublishedFile { session: Arc::default(), ..file.clone() });
    HunkLines { texts: texts.collect(), files: files.collect() }
}

/// A published hunk as it is written: without its place in today's text, which moves with each key typed above.
fn written(hunk: &Published) -> Published {
    Published { session: Arc::default(), anchored: false, range: 0..0, ..hunk.clone() }
}

fn holds(private: Private<'_>, bytes: &[u8]) -> bool {
    private.is_some_and(|is_private| is_private(bytes))
}

fn hunk_holds(private: Private<'_>, hunk: &Published) -> bool {
    let (around, around_old) = (&hunk.around, &hunk.around_old);
    // With what stands around it: a private word may begin there.
    let new = [around.0.as_str(), hunk.new.as_str(), around.1.as_str()].concat();
    let old = [around_old.0.as_str(), hunk.old.as_str(), around_old.1.as_str()].concat();
    holds(private, new.as_bytes()) || holds(private, old.as_bytes())
}

impl HunkLines {
    fn hold(&self, private: Private<'_>) -> bool {
        self.texts.iter().any(|hunk| hunk_holds(private, hunk))
            || self.files.iter().any(|file| match &file.before {
                Some(FileBefore::File { bytes, .. }) => holds(private, bytes),
                _ => false,
            })
    }
}

impl KeptFile {
    /// True if its texts or bytes hold something private. O(them).
    fn holds(&self, private: Private<'_>, file: &ForkFile) -> bool {
        let bytes = match &self.file {
            Some((FileChange::Binary(bytes), _)) => holds(private, bytes),
            _ => false,
        };
        let text = |text: &Text| holds(private, text.to_string().as_bytes());
        bytes
            || text(&self.text)
            || text(file.entry.text())
            || self.disk.as_ref().is_some_and(text)
            || self.returned.iter().any(|hunk| hunk_holds(private, hunk))
    }

    fn of(file: &ForkFile) -> Self {
        let entry = &file.entry;
        let base = match &entry.base {
            Base::Buffer { .. } => BaseState::Buffer,
            Base::Disk { hash, format, .. } => BaseState::Disk { hash: *hash, format: *format },
            Base::Binary { hash } => BaseState::Binary { hash: *hash },
            Base::Link { target } => BaseState::Link { target: target.clone() },
            Base::Absent => BaseState::Absent,
        };
        Self {
            shown: file.shown.clone(),
            base,
            text: entry.base.text(),
            set: entry.set().clone(),
            marks: entry.marks().to_vec(),
            file: entry.file.clone(),
            mode: entry.mode.clone(),
            home: entry.home.clone(),
            disk: entry.disk.clone(),
            returned: file.returned.iter().map(written).collect(),
        }
    }

    /// Ids of the pending changes, each also with the edit that it was sent in.
    fn stages(&self) -> BTreeSet<(HunkId, Option<PublishId>)> {
        let (file, mode) = (self.file.as_ref(), self.mode.as_ref());
        let alone = file.map(|(_, mark)| mark).into_iter().chain(mode.map(|(_, mark)| mark));
        let marks = self.marks.iter().chain(alone);
        marks.flat_map(|mark| [(mark.id, None), (mark.id, mark.sent)]).collect()
    }

    /// True if restoring `self` on `now`'s text gives `now`: only the user has typed.
    fn leads_to(&self, now: &KeptFile) -> bool {
        let KeptFile { shown, base, text: _, set: _, marks, file, mode, .. } = self;
        let KeptFile { home, disk, returned, .. } = self;
        let same = (shown, base, marks) == (&now.shown, &now.base, &now.marks)
            && (file, mode) == (&now.file, &now.mode)
            && (home, disk, returned) == (&now.home, &now.disk, &now.returned);
        if !same {
            return false;
        }
        if self.text == now.text {
            return self.set == now.set;
        }
        let rebased = self.set.rebase(&diff(&self.text, &now.text));
        rebased
            .is_ok_and(|rebased| rebased.mine == now.set && rebased.kept.len() == self.marks.len())
    }

    fn state(&self, id: &DocId, last: Option<&Text>) -> PendingFile {
        let text = match last {
            Some(last) => shorter(diff(last, &self.text), &self.text),
            None => BaseText::Whole(self.text.to_string()),
        };
        PendingFile {
            doc: id.clone(),
            shown: self.shown.clone(),
            base: self.base.clone(),
            text,
            changes: edits(&self.set),
            marks: self.marks.clone(),
            file: self.file.clone().map(|(change, mark)| (WrittenChange::Change(change), mark)),
            mode: self.mode.clone(),
            home: self.home.clone(),
            disk: self.disk.as_ref().map(|disk| edits(&diff(&self.text, disk))),
            returned: self.returned.clone(),
        }
    }
}

/// A text as its changes, unless those are longer than it is.
fn shorter(set: ChangeSet, text: &Text) -> BaseText {
    let len: usize = set.changes().iter().map(|change| change.text.len()).sum();
    if len > text.len() / 2 && len > 1_000 {
        BaseText::Whole(text.to_string())
    } else {
        BaseText::Changed(edits(&set))
    }
}

pub(crate) fn edits(set: &ChangeSet) -> Vec<Edit> {
    let edit = |change: &ropewalk_text::Change| {
        Edit(change.range.start, change.range.end, change.text.clone())
    };
    set.changes().iter().map(edit).collect()
}
