//! Questions of a fork to the disk: asked and applied under its lock, looked up without it.
//!
//! A file is read only if its metadata has changed since it was read, or is too young to stand for its content. An
//! answer holds for the state it was asked in: where that has moved on, it is left out and asked for again.

use super::sync::whole;
use super::{Conflict, Fork, ForkFile, base_of, is_about_link, place_of};
use crate::DocId;
use crate::owner::ForkOwner;
use crate::view::{DiskFile, read_file};
use crate::workspace::Workspace;
use ropewalk_files::disk::{self, FileError, FileMeta};
use ropewalk_files::paths::{Place, Roots};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often a fork asks anew for what had moved on meanwhile.
const ROUNDS: usize = 3;

/// A question to the disk about one file of a fork.
#[derive(Clone, Debug)]
pub struct Question {
    /// The file.
    pub(crate) id: DocId,
    /// The document under it.
    source: DocId,
    /// True if the name itself is meant, and not what it leads to.
    link: bool,
    stamp: u64,
    known: Option<Arc<FileOnDisk>>,
    /// True if its content is asked for, and not only its metadata.
    reads: bool,
    /// True if the document in use is asked for, among those that show this file under whatever name.
    follows: bool,
}

/// A file as the disk has it.
#[derive(Clone, Debug)]
pub(crate) struct FileOnDisk {
    /// Where the name leads; None outside the roots.
    pub(crate) place: Option<Place>,
    /// The metadata of a plain file.
    pub(crate) meta: Option<FileMeta>,
    /// True if the metadata stands for the content.
    settled: bool,
    /// The content; None if it was not asked for, or could not be read.
    pub(crate) found: Option<DiskFile>,
}

/// The disk's answers to a fork's questions.
#[derive(Clone, Debug, Default)]
pub struct Answers(HashMap<DocId, DiskAnswer>);

#[derive(Clone, Debug)]
struct DiskAnswer {
    question: Question,
    look: Arc<FileOnDisk>,
    /// True if the file was read.
    has_read: bool,
    in_use: Option<DocumentInUse>,
}

/// The document in use, among those that show a file.
#[derive(Clone, Debug)]
pub(crate) struct DocumentInUse {
    pub(crate) id: DocId,
    pub(crate) place: Option<Place>,
}

/// Memory of the disk that a file of a fork keeps.
#[derive(Clone, Debug)]
pub(crate) struct DiskMemory {
    /// Another one for each state that an answer can be about.
    stamp: u64,
    look: Option<Arc<FileOnDisk>>,
    /// True while the file is written without the fork's lock.
    pub(crate) writing: bool,
}

impl Default for DiskMemory {
    fn default() -> Self {
        static STAMPS: AtomicU64 = AtomicU64::new(0);
        let stamp = STAMPS.fetch_add(1, Ordering::Relaxed);
        Self { stamp, look: None, writing: false }
    }
}

impl DiskMemory {
    /// Makes void all answers to questions that were asked until now.
    pub(crate) fn outdate(&mut self) {
        *self = Self { look: self.look.take(), writing: self.writing, ..Self::default() };
    }
}

impl Answers {
    /// The look at a file, if it is about the state that the file is in.
    pub(crate) fn of(&self, id: &DocId, file: &ForkFile) -> Option<Arc<FileOnDisk>> {
        let answer = self.0.get(id)?;
        let (question, entry) = (&answer.question, &file.entry);
        let is_it = question.stamp == file.seen.stamp
            && question.source == *base_of(id, entry)
            && question.link == is_about_link(entry);
        is_it.then(|| answer.look.clone())
    }

    /// How many files were read for it.
    pub fn reads(&self) -> usize {
        self.0.values().filter(|answer| answer.has_read).count()
    }

    /// The look at a file, whatever has become of the file since.
    pub(crate) fn look(&self, id: &DocId) -> Option<&Arc<FileOnDisk>> {
        Some(&self.0.get(id)?.look)
    }

    /// Files of the fork, each with the document that is in use in its place.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = (&DocId, &DocumentInUse)> {
        self.0.iter().filter_map(|(id, answer)| Some((id, answer.in_use.as_ref()?)))
    }
}

impl Question {
    /// The question to ask before a file is brought to now. None if the open document says all.
    pub(crate) fn of(workspace: &Workspace, id: &DocId, file: &ForkFile) -> Option<Self> {
        let entry = &file.entry;
        if file.is_under_way() {
            return None;
        }
        let source = base_of(id, entry).clone();
        let reads = whole::is_of_no_text(entry) || !workspace.is_open(&source);
        let follows = super::used::is_free(file) && (reads || workspace.knows_identities());
        if !reads && !follows && entry.mode.is_none() {
            return None;
        }
        let (link, seen) = (is_about_link(entry), &file.seen);
        let (stamp, known) = (seen.stamp, seen.look.clone());
        Some(Self { id: id.clone(), source, link, stamp, known, reads, follows })
    }

    /// The same of a file that is not in the fork yet.
    pub(crate) fn of_new(id: DocId, link: bool) -> Self {
        let (source, stamp) = (id.clone(), DiskMemory::default().stamp);
        Self { id, source, link, stamp, known: None, reads: true, follows: false }
    }

    fn look(&self, roots: &Roots) -> Arc<FileOnDisk> {
        let place = place_of(roots, &self.source, self.link).and_then(Result::ok);
        let of = |meta, settled, found| FileOnDisk { place: place.clone(), meta, settled, found };
        let Some(at) = place.as_ref().filter(|place| !place.is_untitled()) else {
            return Arc::new(of(None, false, None));
        };
        let meta = match disk::stat(roots, at) {
            Ok(meta) => meta,
            Err(FileError::NotFound { .. }) => {
                return Arc::new(of(None, false, Some(DiskFile::Missing)));
            }
            Err(_) => return Arc::new(of(None, false, read_file(at, roots).ok())),
        };
        let is_same = |known: &&Arc<FileOnDisk>| {
            known.settled && known.place == place && known.meta == Some(meta)
        };
        if let Some(known) = self.known.as_ref().filter(is_same) {
            return known.clone();
        }
        // Asked before the file is read: what is written to it from now on shows in its times.
        let settled = self.reads && meta.is_settled();
        let found = if self.reads { read_file(at, roots).ok() } else { None };
        Arc::new(of(Some(meta), settled && found.is_some(), found))
    }
}

impl Workspace {
    /// Looks at the disk for a fork. Blocking: no lock is to be held.
    pub fn answer(&self, questions: Vec<Question>) -> Answers {
        let roots = self.roots();
        let answer = |question: Question| {
            let look = question.look(&roots);
            let is_known = question.known.as_ref().is_some_and(|known| Arc::ptr_eq(known, &look));
            let has_read = look.meta.is_some() && look.found.is_some() && !is_known;
            let identity = look.meta.map(|meta| meta.identity);
            let known = || question.known.as_ref()?.meta;
            let in_use = question.follows.then(|| match look.found {
                Some(DiskFile::Missing) => self.renamed_to(&question.id, known()),
                _ => self.in_use(&question.id, identity),
            });
            let in_use = in_use.flatten();
            let in_use = in_use.map(|id| DocumentInUse { place: self.place(&id), id });
            (question.id.clone(), DiskAnswer { question, look, has_read, in_use })
        };
        Answers(questions.into_iter().map(answer).collect())
    }
}

impl Fork {
    /// The questions to ask before the fork is brought to now: of each file the path, and the metadata that is known of
    /// it. Touches no disk.
    pub fn questions(&self, workspace: &Workspace) -> Vec<Question> {
        self.files.iter().filter_map(|(id, file)| Question::of(workspace, id, file)).collect()
    }

    /// The same of these files alone.
    pub(crate) fn questions_of(&self, workspace: &Workspace, ids: &[DocId]) -> Vec<Question> {
        let files = ids.iter().filter_map(|id| Some((id, self.files.get(id)?)));
        files.filter_map(|(id, file)| Question::of(workspace, id, file)).collect()
    }

    /// The questions that `answers` had no fitting answer to.
    fn unanswered(&self, workspace: &Workspace, answers: &Answers) -> Vec<Question> {
        let is_known = |question: &Question| {
            let seen = self.files.get(&question.id).and_then(|file| file.seen.look.as_ref());
            let look = answers.look(&question.id);
            look.zip(seen).is_some_and(|(look, seen)| Arc::ptr_eq(look, seen))
        };
        let mut questions = self.questions(workspace);
        questions.retain(|question| !is_known(question));
        questions
    }

    /// Looks at the disk and brings the fork to now, where nobody else uses it. Blocking.
    pub fn sync_now(&mut self, workspace: &Workspace) -> Vec<(String, Conflict)> {
        let answers = workspace.answer(self.questions(workspace));
        self.sync(workspace, &answers)
    }
}

impl ForkFile {
    /// Notes what the disk has said.
    pub(crate) fn note_look(&mut self, look: Arc<FileOnDisk>) {
        self.seen.outdate();
        self.seen.look = Some(look);
    }

    /// True while the file is written, or given another name: until that is known, its base stands where it stood.
    pub(crate) fn is_under_way(&self) -> bool {
        self.seen.writing || self.entry.is_being_renamed()
    }
}

/// Brings a fork that others use too to now, without its lock while it looks at the disk, and does something with it
/// then. `then` gets what has lost its place. Blocking.
pub fn synced<T>(
    workspace: &Workspace,
    fork: &dyn ForkOwner,
    then: impl FnOnce(&mut Fork, Vec<(String, Conflict)>) -> T,
) -> T {
    synced_by(workspace, || fork.lock(), |fork| fork, |fork, aside| then(fork, aside))
}

/// The same for an owner that has more under the fork's lock: `fork_of` finds the fork in it.
pub fn synced_by<L, T>(
    workspace: &Workspace,
    lock: impl Fn() -> L,
    fork_of: impl Fn(&mut L) -> &mut Fork,
    then: impl FnOnce(&mut L, Vec<(String, Conflict)>) -> T,
) -> T {
    let mut questions = fork_of(&mut lock()).questions(workspace);
    let mut aside = Vec::new();
    let mut rounds = 1;
    loop {
        let answers = workspace.answer(questions);
        let mut locked = lock();
        let fork = fork_of(&mut locked);
        aside.extend(fork.sync(workspace, &answers));
        questions = fork.unanswered(workspace, &answers);
        if questions.is_empty() || rounds == ROUNDS {
            return then(&mut locked, aside);
        }
        rounds += 1;
    }
}

/// The same of one file alone.
pub(crate) fn synced_one(workspace: &Workspace, fork: &dyn ForkOwner, id: &DocId) {
    let questions = fork.lock().questions_of(workspace, std::slice::from_ref(id));
    let answers = workspace.answer(questions);
    fork.lock().sync_one(workspace, id, &answers);
}
