//! Publishing: accepted hunks reach the user's text.
//!
//! Open documents change only through the editor, one document and one edit at a time, and what counts is
//! the echo. Files that are not open are written to the disk, after a look at what is there. A file that is
//! open in the editor is never written.

mod closed;
mod file;
mod held;
mod rename;
mod send;

pub(crate) use rename::{old_name_words, settle_rename};
pub(crate) use send::{EditStart, send, start_edit};

use crate::editor::Editor;
use crate::entry::{ChangeTexts, FileChange, Mark};
use crate::fork::{Answers, Fork, HunkSelection, base_of, synced};
use crate::ledger::Published;
use crate::note::Note;
use crate::owner::ForkOwner;
use crate::workspace::Workspace;
use crate::{DocId, HunkId, PublishId};
use futures::future::BoxFuture;
use ropewalk_files::disk::FileError;
use ropewalk_files::repository::{Repositories, is_in_store};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// The bounds of a publish.
#[derive(Clone, Copy, Debug)]
pub struct PublishBounds {
    /// How long the echo of an edit is waited for.
    pub echo: Duration,
}

impl Default for PublishBounds {
    fn default() -> Self {
        Self { echo: Duration::from_secs(10) }
    }
}

/// Outcome of publishing a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishReport {
    /// Hunks that are in the user's text now, or on the disk.
    pub done: Vec<HunkId>,
    /// Files that could not be done: their names as shown, and why.
    pub failed: Vec<(String, Failure)>,
    /// Changed files that are open under another name too.
    pub also_open: Vec<AlsoOpen>,
    /// Sentences for the user about the work that was done.
    pub told: Vec<String>,
    /// News of failures that the model has not heard yet, for [`Workspace::tell`] unless it is told
    /// in another way.
    pub notes: Vec<Note>,
}

/// A changed file that is open under another name too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlsoOpen {
    /// The name of the document that was changed, as shown.
    pub changed: String,
    /// The name of the other document, as shown.
    pub other: String,
    /// True if the other document has unsaved text.
    pub is_unsaved: bool,
}

/// Why a file's hunks were not published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The user changed the very text that is replaced, or made the file that is to be made, or a call altered the
    /// change after it was chosen.
    #[error("it, or what stands in its place, was changed meanwhile: look at it again")]
    Conflict,
    /// The editor has not shown the edit. It is neither resent nor forgotten.
    #[error(
        "the editor has not confirmed the edit; it is settled by the next change of that file, and not sent again"
    )]
    Unconfirmed,
    /// The editor did not make the edit.
    #[error("the editor did not make the edit: {0}")]
    Refused(String),
    /// The client takes no edits, so the user has to make them.
    #[error(
        "your editor takes no edits from Ropewalk. Show the change (code action \"show this change\", or ropewalk.show) \
         and copy it; it waits until then"
    )]
    NoEdits,
    /// The document was closed meanwhile.
    #[error("the document was closed meanwhile; accept again to write the file")]
    Closed,
    /// A buffer without a file is not open.
    #[error("it is not open in the editor, and has no file: open it again, or reject the change")]
    NotOpen,
    /// Nobody knows what the document holds in the editor.
    #[error(
        "a change of it in the editor could not be read; save it, or close it and open it again, then accept again"
    )]
    OutOfStep,
    /// The file is open with unsaved text, and the file itself was to be replaced.
    #[error("it has unsaved text in the editor: save or close it first")]
    Unsaved,
    /// It is of version control's own.
    #[error(
        "it is version control's own data, which Ropewalk never changes, because it names programs that are run: reject it"
    )]
    OfStore,
    /// It is a notebook that is open in the editor.
    #[error(
        "it is a notebook that is open in the editor, which would not take the change in: close it first"
    )]
    OfNotebook,
    /// The disk did not take it.
    #[error("{0}")]
    Disk(String),
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Changed { .. } => Failure::Conflict,
            other => Failure::Disk(other.to_string()),
        }
    }
}

/// Publishes a selection of the fork. Files are done one after the other, each on its own: what fails in one
/// does not hold up the next. Its owner is told before each edit is sent and before each file is changed.
pub fn publish<'a>(
    workspace: &'a Workspace,
    editor: &'a dyn Editor,
    fork: &'a dyn ForkOwner,
    selection: &'a HunkSelection,
    bounds: PublishBounds,
) -> BoxFuture<'a, PublishReport> {
    Box::pin(async move {
        let mut report = PublishReport::default();
        let meant: HashSet<HunkId> = fork.lock().select(selection).into_iter().collect();
        let selections = synced(workspace, fork, |fork, aside| {
            for (shown, one) in aside {
                let failed = (shown, Failure::Conflict);
                if meant.contains(&one.mark.id) && !report.failed.contains(&failed) {
                    report.failed.push(failed);
                }
            }
            by_document(fork, &fork.select(selection).into_iter().collect())
        });
        let publishing = Publishing { workspace, editor, fork, bounds };
        for (id, selection) in selections {
            publishing.publish_selected(&id, &selection, &mut report).await;
        }
        synced(workspace, fork, |fork, _| fork.note_accepted(workspace));
        report
    })
}

/// The other names under which an open document's file is open.
fn others(workspace: &Workspace, id: &DocId) -> Vec<AlsoOpen> {
    if workspace.with_document(id, |_| ()).is_none() {
        return Vec::new();
    }
    let others = workspace.also_open(id, None).into_iter();
    let also_open = others.map(|other| {
        let is_dirty = workspace.with_document(&other, |document| document.use_rank().0);
        AlsoOpen {
            changed: workspace.shown_as_opened(id),
            other: workspace.shown_as_opened(&other),
            is_unsaved: is_dirty.unwrap_or(false),
        }
    });
    also_open.collect()
}

/// Parts that every way of publishing needs.
struct Publishing<'a> {
    workspace: &'a Workspace,
    editor: &'a dyn Editor,
    fork: &'a dyn ForkOwner,
    bounds: PublishBounds,
}

/// True if the ledger has this hunk of one of these documents.
fn is_published(workspace: &Workspace, session: &Arc<str>, docs: &[DocId], hunk: HunkId) -> bool {
    let ledger = workspace.ledger();
    let is_it = |h: &Published| h.session == *session && docs.contains(&h.doc);
    let texts = ledger.texts.of_hunk(hunk).any(is_it);
    texts || ledger.files.of_hunk(hunk).any(|file| file.session == *session)
}

fn note_of(file: &str, failure: &Failure) -> Option<Note> {
    let file = file.to_owned();
    match failure {
        // The rebase that found the conflict has told it with both texts.
        Failure::Conflict => None,
        Failure::Unconfirmed => Some(Note::Unconfirmed { file }),
        Failure::NoEdits => {
            let why = "it takes none, so the change stays pending until the user has copied it";
            Some(Note::Refused { file, why: why.to_owned() })
        }
        other => Some(Note::Refused { file, why: other.to_string() }),
    }
}

/// Changes of a file that are to be published, as they were when that was decided. A later version
/// by another call is not accepted with them.
#[derive(Default)]
struct FileSelection {
    ids: Vec<HunkId>,
    seen: Vec<ChangeTexts>,
}

/// Sorts the hunks to publish by document. Deletions come first, then renames, to make room for the
/// rest.
fn by_document(fork: &Fork, ids: &HashSet<HunkId>) -> Vec<(DocId, FileSelection)> {
    let mut out: BTreeMap<DocId, FileSelection> = BTreeMap::new();
    for hunks in fork.reviewed() {
        for hunk in hunks.iter().filter(|hunk| hunk.parts.iter().any(|part| ids.contains(part))) {
            out.entry(hunk.doc.clone()).or_default().ids.extend(&hunk.parts);
        }
    }
    for (id, selection) in &mut out {
        if let Some(file) = fork.files.get(id) {
            selection.seen = file.entry.contents(&selection.ids);
        }
    }
    let place = |id: &DocId| match fork.files.get(id).and_then(|file| file.entry.file.as_ref()) {
        Some((FileChange::Delete, _)) => 0,
        Some((FileChange::Rename { .. }, _)) => 1,
        _ => 2,
    };
    let mut out: Vec<(DocId, FileSelection)> = out.into_iter().collect();
    out.sort_by_key(|(id, _)| place(id));
    out
}

/// Outcome of one file's hunks: the ids that are done, and why others are not.
type FileOutcome = (Vec<HunkId>, Option<Failure>);

/// Parts of a file that a selection is about.
struct SelectedParts {
    /// The document that the file stands on.
    source: DocId,
    /// True if the file itself is selected, and not only its text.
    has_file: bool,
    /// True if its permission bits are selected.
    has_mode: bool,
}

/// The parts of a file that these hunks are about. None if the fork has no such file.
fn selected_parts(fork: &Fork, id: &DocId, ids: &[HunkId]) -> Option<SelectedParts> {
    let file = fork.files.get(id)?;
    let is_selected = |mark: &Mark| ids.contains(&mark.id);
    Some(SelectedParts {
        source: base_of(id, &file.entry).clone(),
        has_file: file.entry.file.as_ref().is_some_and(|(_, mark)| is_selected(mark)),
        has_mode: file.entry.mode.as_ref().is_some_and(|(_, mark)| is_selected(mark)),
    })
}

/// True if one of these is of version control's own. Merging lets none in; one may come from an older journal, or a folder
/// may have become a repository since. Blocking.
fn is_of_store(fork: &dyn ForkOwner, docs: [&DocId; 2]) -> bool {
    let place = |id: &DocId| fork.lock().files.get(id).and_then(|file| file.place.clone());
    let is_one = |id: &DocId| {
        place(id).is_some_and(|place| Repositories::default().own(&place))
            || id.path().is_some_and(|path| is_in_store(&path))
    };
    is_one(docs[0]) || docs[0] != docs[1] && is_one(docs[1])
}

/// Why none of these documents is written, if that is so. Blocking.
fn nobodys(workspace: &Workspace, fork: &dyn ForkOwner, docs: [&DocId; 2]) -> Option<Failure> {
    let notebooks = workspace.open_notebooks();
    let is_notebook = |id: &DocId| id.path().is_some_and(|path| notebooks.contains(&path));
    match docs.into_iter().any(is_notebook) {
        true => Some(Failure::OfNotebook),
        false => is_of_store(fork, docs).then_some(Failure::OfStore),
    }
}

/// Publishes what the disk takes, one at a time of each file: all that was chosen, or the mode alone of an open one.
async fn publish_on_disk(
    disk: &closed::DiskPublishing<'_>,
    (id, source): (&DocId, &DocId),
    selection: &FileSelection,
    all: bool,
) -> FileOutcome {
    let slot = disk.workspace.slot(source);
    let guard = slot.lock().await;
    let outcome = match all {
        true => closed::publish_closed(disk, id, selection),
        false => match closed::publish_mode(disk, id, &selection.ids) {
            Ok(done) => (done, None),
            Err(failure) => (Vec::new(), Some(failure)),
        },
    };
    drop(guard);
    drop(slot);
    disk.workspace.free_slot(source);
    outcome
}

async fn publish_file(
    workspace: &Workspace,
    editor: &dyn Editor,
    fork: &dyn ForkOwner,
    id: &DocId,
    selection: &FileSelection,
    bounds: PublishBounds,
) -> FileOutcome {
    let parts = selected_parts(&fork.lock(), id, &selection.ids);
    let Some(SelectedParts { source, has_file, has_mode }) = parts else {
        return FileOutcome::default();
    };
    if let Some(failure) = nobodys(workspace, fork, [id, &source]) {
        return (Vec::new(), Some(failure));
    }
    if has_file && workspace.is_unsaved(&[id, &source]) {
        return (Vec::new(), Some(Failure::Unsaved));
    }
    // A file whose rename was not chosen lies under its old name.
    let is_open = workspace.with_document(&source, |_| ()).is_some();
    if source.is_untitled() && !is_open {
        return (Vec::new(), Some(Failure::NotOpen));
    }
    let by_disk = has_file || !is_open;
    let (roots, session) = (workspace.roots(), fork.lock().session.clone());
    let disk = closed::DiskPublishing { workspace, fork, roots, session };
    let mut done = match by_disk || has_mode {
        true => match publish_on_disk(&disk, (id, &source), selection, by_disk).await {
            (done, None) if !by_disk => done,
            outcome => return outcome,
        },
        false => Vec::new(),
    };
    let mut carried = Vec::new();
    let mut start = |publish: PublishId| {
        let mut fork = fork.lock();
        fork.sync_one(workspace, id, &Answers::default());
        let Some(file) = fork.files.get_mut(id) else { return EditStart::Nothing };
        // Changes in an earlier edit, which may or may not have been made, are not sent again.
        let unsent = file.entry.unsent(&selection.ids);
        let ids = &file.entry.unaltered(&unsent, &selection.seen);
        let Some(part) = file.entry.part(ids) else { return EditStart::Nothing };
        let basis = file.entry.base.text();
        let marked = file.entry.mark_sent(ids, Some(publish));
        // Journalled before the edit's place is looked up: writing takes time, and the user may be typing.
        fork.journal_first(std::slice::from_ref(id));
        let started = start_edit(workspace, &source, publish, &basis, &part);
        if matches!(started, EditStart::Sent(..)) {
            carried = marked;
        } else if let Some(file) = fork.files.get_mut(id) {
            file.entry.mark_sent(&marked, None);
        }
        started
    };
    let sent = send(workspace, editor, &source, &mut start, "Ropewalk: accept", bounds).await;
    fork.lock().sync_one(workspace, id, &Answers::default());
    match sent {
        Ok(true) => done.extend(carried),
        Ok(false) => {}
        Err(failure) => return (done, Some(failure)),
    }
    (done, None)
}
