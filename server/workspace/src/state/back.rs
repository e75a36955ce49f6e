//! Going back: what was pending at an earlier time is pending again, on the texts as they are now.
//!
//! What the user has decided on since stays decided. What was published since is taken back by
//! [`undo`](crate::undo::undo), before; nothing here touches a text of the user's.

use super::leftover::{Sent, drop_made};
use super::restore::bring_to_now;
use super::{Kept, KeptFile};
use crate::document::Document;
use crate::entry::Mark;
use crate::fork::{Fork, ForkFile, base_of, is_about_link, place_of, sync_file};
use crate::workspace::Workspace;
use crate::{DocId, HunkId};
use ropewalk_text::Change;

impl Fork {
    /// Pending becomes what it was in `to`, on the texts as they are now: changes made since are gone, those that
    /// were joined with later ones are what they were. What was rejected or accepted since does not come back,
    /// and what is on its way to the editor stays until that is known. What has lost its place is told.
    pub fn go_back(&mut self, workspace: &Workspace, to: &Kept) {
        self.sync(workspace);
        self.note_accepted(workspace);
        let since = std::mem::take(&mut self.files);
        for (id, kept) in &to.files {
            self.bring_back(workspace, to, id, kept);
        }
        self.return_renamed();
        for (id, mut file) in since {
            if only_waited_for(workspace, &id, &mut file) {
                self.keep_sent(workspace, id, file);
            }
        }
        self.files.retain(|_, file| !file.entry.is_empty());
    }

    fn bring_back(&mut self, workspace: &Workspace, to: &Kept, id: &DocId, kept: &KeptFile) {
        let rejected = |id: &HunkId| self.rejected.contains(id) && !to.rejected.contains(id);
        let accepted = |id: &HunkId| self.accepted.contains(id) && !to.accepted.contains(id);
        let Some(entry) = kept.entry() else { return };
        let mut file = kept.file_with(entry);
        let place = place_of(&workspace.roots(), id, is_about_link(&file.entry)).transpose();
        // A folder that was closed meanwhile has no files that anything could be pending in.
        let Ok(place) = place else { return };
        file.place = place;
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
        let source = base_of(id, &file.entry).clone();
        if let Some(sent) = Sent::first(&self.session, &source, &file) {
            drop_made(&mut file.entry, &sent);
        }
        let now = workspace.with_document(&source, |document| document.text().clone());
        let aside = bring_to_now(workspace, self, &source, &mut file, now.as_ref());
        for one in aside {
            self.tell_conflict(workspace, file.shown.clone(), &one);
        }
        self.files.insert(id.clone(), file);
    }

    /// What is on its way stays, before all that it stands in the way of.
    fn keep_sent(&mut self, workspace: &Workspace, id: DocId, mut sent: ForkFile) {
        let Some(mut back) = self.files.remove(&id) else {
            self.files.insert(id, sent);
            return;
        };
        // Both on one text: the user may have typed between the two looks.
        let source = base_of(&id, &sent.entry).clone();
        for _ in 0..100 {
            sync_file(workspace, &self.session, &source, &mut back);
            sync_file(workspace, &self.session, &source, &mut sent);
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
