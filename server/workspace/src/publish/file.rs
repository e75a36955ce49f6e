//! Publishing what was chosen of one file, and what of it could not be done.

use super::{
    Failure, FileSelection, PublishReport, Publishing, is_published, note_of, others, publish_file,
    rename,
};
use crate::fork::base_of;
use crate::{DocId, HunkId};
use std::sync::Arc;

impl Publishing<'_> {
    /// Publishes what was chosen of one file: first its other name, if the editor is to give it, then the rest.
    pub(super) async fn publish_selected(
        &self,
        id: &DocId,
        selection: &FileSelection,
        report: &mut PublishReport,
    ) {
        let Publishing { workspace, fork, .. } = *self;
        let shown = fork
            .lock()
            .files
            .get(id)
            .map_or_else(|| workspace.shown(id), |file| file.shown.clone());
        let ids = &selection.ids;
        let chosen_rename = rename::chosen_rename(fork, id, ids);
        let (mut done, mut failure) = (Vec::new(), None);
        match self.rename_by_editor(id, selection).await {
            None => {}
            Some(Ok(renamed)) => done.push(renamed),
            Some(Err(why)) => failure = Some(why),
        }
        if failure.is_none() {
            let Publishing { editor, bounds, .. } = *self;
            let (rest, why) = publish_file(workspace, editor, fork, id, selection, bounds).await;
            done.extend(rest);
            failure = why;
        }
        if let Some(rename) = chosen_rename.filter(|rename| done.contains(&rename.mark)) {
            rename.tell_if_open(workspace, &shown, report);
        }
        if let Some(failure) = failure {
            // Some places of an edit may be made, where the editor has told it in parts.
            let (session, docs) = self.names_of(id);
            let made = |hunk: &&HunkId| is_published(workspace, &session, &docs, **hunk);
            let made: Vec<HunkId> =
                ids.iter().filter(|id| !done.contains(id)).filter(made).copied().collect();
            report.done.extend(done.into_iter().chain(made));
            report.notes.extend(note_of(&shown, &failure));
            report.failed.push((shown, failure));
            return;
        }
        self.tell_rest(id, (ids, &done), shown, report);
    }

    /// The session, and the documents under which the ledger may have changes of a file: the name that it has until its
    /// rename is published, and its own.
    fn names_of(&self, id: &DocId) -> (Arc<str>, [DocId; 2]) {
        let fork = self.fork.lock();
        let source = fork.files.get(id).map(|file| base_of(id, &file.entry).clone());
        (fork.session.clone(), [source.unwrap_or_else(|| id.clone()), id.clone()])
    }

    /// Reports hunks that this publish did not carry itself. Ones that another publish carried are
    /// done too; the rest had lost their place.
    fn tell_rest(
        &self,
        id: &DocId,
        (ids, done): (&[HunkId], &[HunkId]),
        shown: String,
        report: &mut PublishReport,
    ) {
        let (session, docs) = self.names_of(id);
        let (done, lost): (Vec<HunkId>, Vec<HunkId>) = ids.iter().partition(|hunk| {
            done.contains(hunk) || is_published(self.workspace, &session, &docs, **hunk)
        });
        if let ([source, _], false) = (&docs, done.is_empty()) {
            report.also_open.extend(others(self.workspace, source));
        }
        report.done.extend(done);
        let under_way =
            self.fork.lock().files.get(id).is_some_and(|file| {
                file.entry.pending(&lost).len() > file.entry.unsent(&lost).len()
            });
        if under_way {
            report.failed.push((shown, Failure::Unconfirmed));
        } else if !lost.is_empty() {
            report.failed.push((shown, Failure::Conflict));
        }
    }
}
