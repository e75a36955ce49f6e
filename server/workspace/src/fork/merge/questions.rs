//! Questions of a merge to the disk, looked up before it begins.

use super::Proposal;
use crate::DocId;
use crate::entry::{Base, FileChange};
use crate::fork::{Answers, Fork, ForkFile, Question, base_of};
use crate::view::{DiskFile, LARGEST_FILE, View};
use crate::workspace::Workspace;
use ropewalk_files::disk::{self, FileError};
use ropewalk_files::paths::Place;
use ropewalk_files::repository::Repositories;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Questions to ask before a merge.
pub(super) struct MergeQuestions {
    /// The documents of the places that the proposals name.
    docs: HashMap<PathBuf, DocId>,
    questions: Vec<Question>,
    repositories: Repositories,
    /// Files whose mode a change of names may need; true for one whose bytes it may need too.
    under: Vec<(Place, bool)>,
    /// The documents that are in the fork.
    here: HashSet<DocId>,
}

/// The disk's answers to the questions of a merge.
pub(super) struct MergeAnswers {
    pub(super) docs: HashMap<PathBuf, DocId>,
    pub(super) files: Answers,
    pub(super) repositories: Repositories,
    pub(super) under: HashMap<PathBuf, UnderlyingFile>,
    /// The documents that were in the fork.
    here: HashSet<DocId>,
}

/// A file that lies under an entry.
#[derive(Clone)]
pub(super) struct UnderlyingFile {
    pub(super) mode: Option<u32>,
    pub(super) bytes: Option<Result<Arc<[u8]>, FileError>>,
}

/// All places that proposals name.
fn places(proposals: &[Proposal]) -> impl Iterator<Item = &Place> {
    proposals.iter().flat_map(|one| [Some(&one.place), one.change.to()].into_iter().flatten())
}

/// The documents of the places that proposals name. Blocking.
pub(super) fn docs_of(view: &View, proposals: &[Proposal]) -> HashMap<PathBuf, DocId> {
    let doc = |place: &Place| (place.path.clone(), view.id_of(place, view.roots()));
    places(proposals).map(doc).collect()
}

impl Fork {
    /// The questions to ask before these proposals are merged. Touches no disk.
    pub(super) fn ask_merge(
        &self,
        workspace: &Workspace,
        docs: HashMap<PathBuf, DocId>,
    ) -> MergeQuestions {
        let mut all: HashSet<DocId> = docs.values().cloned().collect();
        // A file that has left one of these names may have to be made anew.
        let comes_from = |file: &ForkFile| match &file.entry.file {
            Some((FileChange::Rename { from }, _)) => all.contains(from),
            _ => false,
        };
        let twins = self.files.iter().filter(|(_, file)| comes_from(file));
        let twins: Vec<DocId> = twins.map(|(id, _)| id.clone()).collect();
        all.extend(twins);
        let under = all.iter().filter_map(|id| self.under(id)).collect();
        let all: Vec<DocId> = all.into_iter().collect();
        let questions = self.questions_of(workspace, &all);
        let here = all.into_iter().filter(|id| self.files.contains_key(id)).collect();
        MergeQuestions { docs, questions, repositories: self.repositories(), under, here }
    }

    /// True if the fork has the same of these documents as when the questions were asked.
    pub(super) fn has_same(&self, answers: &MergeAnswers) -> bool {
        let same = |id: &DocId| answers.here.contains(id) == self.files.contains_key(id);
        answers.docs.values().all(same)
    }

    fn under(&self, id: &DocId) -> Option<(Place, bool)> {
        let entry = &self.files.get(id)?.entry;
        let place = self.files.get(base_of(id, entry))?.place.clone()?;
        Some((place, matches!(entry.base, Base::Binary { .. })))
    }
}

impl MergeQuestions {
    /// Looks at the disk. Blocking: no lock is to be held.
    pub(super) fn answer(
        self,
        workspace: &Workspace,
        view: &View,
        proposals: &[Proposal],
    ) -> MergeAnswers {
        let Self { docs, mut questions, mut repositories, mut under, here } = self;
        let has_names = proposals.iter().any(|one| one.change.to().is_some());
        for Proposal { place, change } in proposals {
            for place in [Some(place), change.to()].into_iter().flatten() {
                repositories.own(place);
            }
        }
        let mut asked: HashSet<DocId> = questions.iter().map(|own| own.id.clone()).collect();
        for place in places(proposals) {
            let Some(id) = docs.get(&place.path) else { continue };
            let is_asked = !asked.insert(id.clone());
            if view.buffers().contains_key(id) || is_asked && view.entries().contains_key(id) {
                continue;
            }
            // Read once, and remembered by the view; why it can't be is said where it is needed.
            let found = view.disk(place, view.roots());
            if !is_asked {
                let is_link = matches!(found, Ok(DiskFile::Link { .. }));
                questions.push(Question::of_new(id.clone(), is_link));
            }
            if has_names {
                under.push((place.clone(), matches!(found, Ok(DiskFile::Binary { .. }))));
            }
        }
        let look = |(place, reads): (Place, bool)| {
            let mode = disk::stat(view.roots(), &place).ok().map(|meta| meta.mode & 0o777);
            let read = reads.then(|| disk::read(view.roots(), &place, LARGEST_FILE));
            let bytes = read.map(|read| read.map(|read| read.bytes.into()));
            (place.path, UnderlyingFile { mode, bytes })
        };
        let under = under.into_iter().map(look).collect();
        MergeAnswers { docs, files: workspace.answer(questions), repositories, under, here }
    }
}
