//! Going back: what was pending at an earlier time is pending again, on the texts as they are now.
//!
//! The user's later decisions stay. Changes that were published since are taken back by
//! [`undo`](crate::undo::undo), before; nothing here touches a text of the user's.

use super::leftover::{SentChanges, drop_made};
use super::restore::bring_to_now;
use super::stays::{StayingCalls, StayingWork};
use super::{KeptFile, SavedState};
use crate::document::Document;
use crate::entry::Mark;
use crate::fork::{
    Answers, Fork, ForkFile, Question, base_of, is_about_link, place_over, sync_file, synced,
};
use crate::owner::ForkOwner;
use crate::workspace::Workspace;
use crate::{DocId, HunkId};
use ropewalk_text::Change;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Takes a fork that others use too back to what was pending in `to`, without its lock while it looks at the disk. What
/// the calls in `stays` have made since stays pending. Gives how many hunks fewer are pending now. Blocking.
pub fn go_back(
    workspace: &Workspace,
    fork: &dyn ForkOwner,
    to: &SavedState,
    stays: &StayingCalls,
) -> usize {
    let earlier = EarlierFiles::of(workspace, to);
    let count = |fork: &Fork| fork.reviewed().map(|hunks| hunks.len()).sum::<usize>();
    let before = synced(workspace, fork, |fork, _| {
        let before = count(fork);
        fork.go_back(workspace, to, earlier, &StayingWork::since(to, stays));
        before
    });
    // A file renamed meanwhile stands on another file than it was asked about.
    synced(workspace, fork, |fork, _| before.saturating_sub(count(fork)))
}

/// The files as they were kept, with what the disk has of them now.
struct EarlierFiles {
    files: BTreeMap<DocId, ForkFile>,
    answers: Answers,
}

impl EarlierFiles {
    fn of(workspace: &Workspace, to: &SavedState) -> Self {
        let (roots, over) = (workspace.roots(), to.over());
        let file = |(id, kept): (&DocId, &Arc<KeptFile>)| {
            let mut file = kept.file_with(kept.entry()?);
            // A folder that was closed meanwhile has no files that anything could be pending in.
            let link = is_about_link(&file.entry);
            file.place = place_over(&roots, id, link, &over).transpose().ok()?;
            Some((id.clone(), file))
        };
        let files: BTreeMap<DocId, ForkFile> = to.files.iter().filter_map(file).collect();
        let questions = files.iter().filter_map(|(id, file)| Question::of(workspace, id, file));
        let answers = workspace.answer(questions.collect());
        Self { files, answers }
    }
}

impl Fork {
    /// Pending becomes what it was in `to`, on the texts as they are now: changes made since are gone, those that
    /// were joined with later ones are what they were. What was rejected or accepted since does not come back,
    /// and what is on its way to the editor stays until that is known. What has lost its place is told.
    fn go_back(
        &mut self,
        workspace: &Workspace,
        to: &SavedState,
        earlier: EarlierFiles,
        staying: &StayingWork<'_>,
    ) {
        self.note_accepted(workspace);
        let since = std::mem::take(&mut self.files);
        let work = staying.of(&since);
        let EarlierFiles { files, answers } = earlier;
        for (id, file) in files {
            self.bring_back(workspace, to, (id, file), &answers);
        }
        self.return_renamed();
        for (id, mut file) in since {
            if file.seen.writing {
                self.files.insert(id, file);
            } else if only_waited_for(workspace, &id, &mut file) {
                self.keep_sent(workspace, id, file);
            }
        }
        self.keep_work(workspace, work);
        self.files.retain(|_, file| file.is_under_way() || !file.entry.is_empty());
    }

    fn bring_back(
        &mut self,
        workspace: &Workspace,
        to: &SavedState,
        (id, mut file): (DocId, ForkFile),
        answers: &Answers,
    ) {
        let rejected = |id: &HunkId| self.rejected.contains(id) && !to.rejected.contains(id);
        let accepted = |id: &HunkId| self.accepted.contains(id) && !to.accepted.contains(id);
        let change = file.entry.file.take_if(|(_, mark)| rejected(&mark.id) || accepted(&mark.id));
        if change.is_some_and(|(_, mark)| accepted(&mark.id)) {
            file.entry.home = None;
        }
        file.entry.remove_of_file(|id| rejected(&id) || accepted(&id));
        let ids = |which: &dyn Fn(&HunkId) -> bool| -> Vec<HunkId> {
            file.entry.marks().iter().map(|mark| mark.id).filter(|id| which(id)).collect()
        };
        let (gone, there) = (ids(&rejected), ids(&accepted));
        file.entry.free_unexpected(|_| false);
        file.entry.remove(&gone);
        file.entry.mark_sent(&there, Some(workspace.publish_id()));
        let source = base_of(&id, &file.entry).clone();
        if let Some(sent) = SentChanges::first(&self.session, &source, &file) {
            drop_made(&mut file.entry, &sent);
        }
        let now = workspace.with_document(&source, |document| document.text().clone());
        let now = (now.as_ref(), answers.of(&id, &file));
        let aside = bring_to_now(workspace, self, &source, &mut file, now);
        for one in aside {
            self.tell_conflict(workspace, file.shown.clone(), &one);
        }
        self.files.insert(id, file);
    }

    /// Keeps a file's changes that are on their way, and adds the ones brought back where both
    /// stand on one text.
    fn keep_sent(&mut self, workspace: &Workspace, id: DocId, mut sent: ForkFile) {
        let Some(mut back) = self.files.remove(&id) else {
            self.files.insert(id, sent);
            return;
        };
        // Both on one text: the user may have typed between the two looks.
        let source = base_of(&id, &sent.entry).clone();
        for _ in 0..100 {
            sync_file(workspace, &self.session, &source, &mut back, None);
            sync_file(workspace, &self.session, &source, &mut sent, None);
            if back.entry.base.text() == sent.entry.base.text() {
                break;
            }
        }
        if back.entry.base.text() == sent.entry.base.text() {
            let own: Vec<HunkId> = sent.entry.marks().iter().map(|mark| mark.id).collect();
            let more: Vec<(Change, Mark)> = back
                .entry
                .set()
                .changes()
                .iter()
                .cloned()
                .zip(back.entry.marks().to_vec())
                .collect();
            for (change, mark) in more.into_iter().filter(|(_, mark)| !own.contains(&mark.id)) {
                sent.entry.insert(change, mark);
            }
        }
        self.files.insert(id, sent);
    }
}

/// Takes out of a file what is not on its way. False if nothing is left.
fn only_waited_for(workspace: &Workspace, id: &DocId, file: &mut ForkFile) -> bool {
    let source = base_of(id, &file.entry).clone();
    let marks = file.entry.marks().to_vec();
    let others = |document: &mut Document| -> Vec<HunkId> {
        let waited =
            |mark: &&Mark| mark.sent.is_some_and(|publish| document.is_waited_for(publish));
        marks.iter().filter(|mark| !waited(mark)).map(|mark| mark.id).collect()
    };
    let Some(others) = workspace.with_document(&source, others) else { return false };
    if others.len() == marks.len() {
        return false;
    }
    file.entry.remove(&others);
    file.entry.file = None;
    file.entry.mode = None;
    true
}
