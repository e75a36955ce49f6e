//! Review of pending hunks, beside accepting them: the user takes them out, or puts words of their
//! own in their place.

use super::hunks::lines_after;
use super::{Fork, Hunk, HunkKind, HunkSelection, HunkState, base_of};
use crate::document::Document;
use crate::entry::{Base, FileChange, Maker, Mark};
use crate::note::Note;
use crate::workspace::Workspace;
use crate::{DocId, HunkId};
use ropewalk_text::ChangeSet;
use std::collections::HashSet;

impl Fork {
    /// Takes pending hunks out of the fork and keeps the news for the model. Gives how many hunks went; what
    /// is on its way and still waited for stays. So does what only the disk has brought, which is there whatever is
    /// said of it, as long as something of the fork's own is pending in the file.
    pub fn reject(
        &mut self,
        workspace: &Workspace,
        selection: &HunkSelection,
        reason: Option<&str>,
    ) -> usize {
        let ids: HashSet<HunkId> = self.select(selection).into_iter().collect();
        let (mut count, mut gone) = (0, HashSet::new());
        for hunk in self.reviewed().collect::<Vec<_>>().iter().flat_map(|hunks| hunks.iter()) {
            if !hunk.parts.iter().any(|part| ids.contains(part))
                || hunk.is_of_disk()
                || self.is_waited_for(workspace, hunk)
            {
                continue;
            }
            count += 1;
            self.rejected.extend(&hunk.parts);
            gone.extend(hunk.parts.iter().copied());
            // Each maker is told of its own: the members of a team, and this session's model.
            let is_member = |maker: &Maker| matches!(maker, Maker::Member { .. });
            let (members, others): (Vec<Maker>, Vec<Maker>) =
                hunk.makers.iter().cloned().partition(is_member);
            let tell = |members: Vec<Maker>| {
                let note = Note::Rejected {
                    file: hunk.file.clone(),
                    old: hunk.old.clone(),
                    new: hunk.new.clone(),
                    reason: reason.map(str::to_owned),
                    members,
                };
                workspace.tell(Some(self.session.clone()), note);
            };
            if members.is_empty() || !others.is_empty() {
                tell(Vec::new());
            }
            if !members.is_empty() {
                tell(members);
            }
        }
        // A rename and the deletion it leaves share one id, so they go together.
        for file in self.files.values_mut().filter(|file| !file.seen.writing) {
            let marks = file.entry.marks().iter().map(|mark| mark.id);
            let own: Vec<HunkId> = marks.filter(|id| gone.contains(id)).collect();
            if !own.is_empty() {
                file.entry.reject(&own, &mut self.ids);
            }
            file.entry.remove_of_file(|id| gone.contains(&id));
            file.entry.drop_stray_mode();
        }
        self.return_renamed();
        for file in self.files.values_mut().filter(|file| file.entry.is_of_disk_alone()) {
            file.entry.leave_disk();
        }
        self.files.retain(|_, file| !file.entry.is_empty());
        count
    }

    /// True if a part of the hunk is on its way and its echo still waited for. One that was given
    /// up can be rejected: if it comes after all, it is the user's text.
    fn is_waited_for(&self, workspace: &Workspace, hunk: &Hunk) -> bool {
        let Some(file) = self.files.get(&hunk.doc) else { return false };
        let of_file = |(_, mark): &(FileChange, Mark)| hunk.parts.contains(&mark.id);
        let is_renaming = || file.entry.is_being_renamed();
        if file.seen.writing || is_renaming() && file.entry.file.as_ref().is_some_and(of_file) {
            return true;
        }
        if hunk.state != HunkState::Sent {
            return false;
        }
        let marks = file.entry.marks().iter().filter(|mark| hunk.parts.contains(&mark.id));
        let sent: Vec<_> = marks.filter_map(|mark| mark.sent).collect();
        let source = base_of(&hunk.doc, &file.entry);
        let waited = |document: &mut Document| sent.iter().any(|id| document.is_waited_for(*id));
        workspace.with_document(source, waited).unwrap_or(false)
    }

    /// Entries whose rename was rejected go back to their old name.
    pub(crate) fn return_renamed(&mut self) {
        let strayed: Vec<DocId> = self
            .files
            .iter()
            .filter(|(_, file)| {
                file.entry.file.is_none() && !matches!(file.entry.base, Base::Absent)
            })
            .filter(|(id, file)| file.entry.home.as_ref().is_some_and(|home| home != *id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in strayed {
            let Some(mut file) = self.files.remove(&id) else { continue };
            let Some(home) = file.entry.home.take() else { continue };
            if let Some(old) = self.files.remove(&home) {
                file.shown = old.shown;
                file.place = old.place;
            }
            self.files.insert(home, file);
        }
    }

    /// The user's own version of a pending hunk takes its place. False when there is no such hunk, or it is
    /// no change of text, or it is on its way.
    pub fn edit(&mut self, workspace: &Workspace, id: HunkId, text: &str) -> bool {
        let Some(hunk) = self.hunks().into_iter().find(|hunk| hunk.parts.contains(&id)) else {
            return false;
        };
        if self.files.get(&hunk.doc).is_some_and(|file| file.seen.writing)
            || hunk.state == HunkState::Sent
            || !matches!(hunk.kind, HunkKind::Text | HunkKind::Create)
        {
            return false;
        }
        let Some(file) = self.files.get_mut(&hunk.doc) else { return false };
        let after = lines_after(&file.entry, &hunk);
        let set = ChangeSet::single(file.entry.text().len(), after, text);
        let mark = Mark { id: hunk.id, turn: hunk.turn, makers: vec![Maker::User], sent: None };
        // An empty file that was to be made is one with a text now.
        file.entry.file.take_if(|(change, _)| change.is_whole() && !text.is_empty());
        file.entry.add(&set, &mark, &mut self.ids);
        let note = Note::Edited { file: hunk.file, proposed: hunk.new, text: text.to_owned() };
        workspace.tell(Some(self.session.clone()), note);
        self.files.retain(|_, file| !file.entry.is_empty());
        true
    }
}
