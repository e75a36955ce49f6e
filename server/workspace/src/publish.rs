//! Publishing: accepted hunks reach the user's text.
//!
//! Open documents change only through the editor, one document and one edit at a time, and what counts is
//! the echo. Files that are not open are written to the disk, after a look at what is there. A file that is
//! open in the editor is never written.

mod closed;
mod file;
mod held;
mod rename;

pub(crate) use rename::{made as renamed, old_name};

use crate::disk::FileError;
use crate::document::{Accord, Document};
use crate::editor::{DocumentEdit, EditForm, Editor, EditorError};
use crate::entry::{Content, FileChange, Mark};
use crate::fork::{Answers, Fork, Selection, base_of, synced};
use crate::ledger::Published;
use crate::note::Note;
use crate::owner::ForkOwner;
use crate::proof::Settled;
use crate::repository::{Repositories, is_in_git};
use crate::said::sayable;
use crate::workspace::Workspace;
use crate::{DocId, HunkId, PublishId};
use ropewalk_text::{ChangeSet, Coordinates, Position, Text};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How often a skipped edit is mapped and sent again.
const TRIES: usize = 8;

/// The bounds of a publish.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long the echo of an edit is waited for.
    pub echo: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { echo: Duration::from_secs(10) }
    }
}

/// What became of a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishReport {
    /// Hunks that are in the user's text now, or on the disk.
    pub done: Vec<HunkId>,
    /// What could not be done: the file as it is shown, and why.
    pub failed: Vec<(String, Failure)>,
    /// Files that are open under another name too: the name of the document that was changed, the other's, and whether
    /// that has unsaved text.
    pub also_open: Vec<(String, String, bool)>,
    /// What the user should know of what was done, in sentences.
    pub told: Vec<String>,
    /// What the model has not heard yet of the failures of a publish: for [`Workspace::tell`], unless it is
    /// told in another way.
    pub notes: Vec<Note>,
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
    /// It is a git repository's own.
    #[error(
        "it is git's own data, which Ropewalk never changes, because git runs programs that it names: reject it"
    )]
    OfGit,
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
pub async fn publish(
    workspace: &Workspace,
    editor: &dyn Editor,
    fork: &dyn ForkOwner,
    selection: &Selection,
    bounds: Bounds,
) -> PublishReport {
    let mut report = PublishReport::default();
    let meant: HashSet<HunkId> = fork.lock().select(selection).into_iter().collect();
    let wanted = synced(workspace, fork, |fork, aside| {
        for (shown, one) in aside {
            let failed = (shown, Failure::Conflict);
            if meant.contains(&one.mark.id) && !report.failed.contains(&failed) {
                report.failed.push(failed);
            }
        }
        by_document(fork, &fork.select(selection).into_iter().collect())
    });
    let publishing = Publishing { workspace, editor, fork, bounds };
    for (id, wanted) in wanted {
        publishing.one(&id, wanted, &mut report).await;
    }
    synced(workspace, fork, |fork, _| fork.note_accepted(workspace));
    report
}

/// The other names under which an open document's file is open.
fn others(workspace: &Workspace, id: &DocId) -> Vec<(String, String, bool)> {
    if workspace.with_document(id, |_| ()).is_none() {
        return Vec::new();
    }
    let others = workspace.also_open(id, None).into_iter();
    let told = others.map(|other| {
        let is_dirty = workspace.with_document(&other, |document| document.use_rank().0);
        let names = (workspace.shown_as_opened(id), workspace.shown_as_opened(&other));
        (names.0, names.1, is_dirty.unwrap_or(false))
    });
    told.collect()
}

/// What every way of publishing needs.
struct Publishing<'a> {
    workspace: &'a Workspace,
    editor: &'a dyn Editor,
    fork: &'a dyn ForkOwner,
    bounds: Bounds,
}

/// Whether the ledger has this hunk of one of these documents.
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

/// What of a file is to be published, as it was when that was decided: what a call alters before its turn
/// comes is not what anyone accepted.
#[derive(Default)]
struct Wanted {
    ids: Vec<HunkId>,
    seen: Vec<Content>,
}

/// What goes makes room for what comes: deletions are first, then renames.
fn by_document(fork: &Fork, ids: &HashSet<HunkId>) -> Vec<(DocId, Wanted)> {
    let mut out: BTreeMap<DocId, Wanted> = BTreeMap::new();
    for hunks in fork.reviewed() {
        for hunk in hunks.iter().filter(|hunk| hunk.parts.iter().any(|part| ids.contains(part))) {
            out.entry(hunk.doc.clone()).or_default().ids.extend(&hunk.parts);
        }
    }
    for (id, wanted) in &mut out {
        if let Some(file) = fork.files.get(id) {
            wanted.seen = file.entry.contents(&wanted.ids);
        }
    }
    let place = |id: &DocId| match fork.files.get(id).and_then(|file| file.entry.file.as_ref()) {
        Some((FileChange::Delete, _)) => 0,
        Some((FileChange::Rename { .. }, _)) => 1,
        _ => 2,
    };
    let mut out: Vec<(DocId, Wanted)> = out.into_iter().collect();
    out.sort_by_key(|(id, _)| place(id));
    out
}

/// What became of one file's hunks: those that are done, and why others are not.
type Outcome = (Vec<HunkId>, Option<Failure>);

/// The document that a file stands on, and whether the file itself and its mode are among the hunks.
fn chosen(fork: &Fork, id: &DocId, ids: &[HunkId]) -> Option<(DocId, bool, bool)> {
    let file = fork.files.get(id)?;
    let chosen = |mark: &Mark| ids.contains(&mark.id);
    let of_file = file.entry.file.as_ref().is_some_and(|(_, mark)| chosen(mark));
    let of_mode = file.entry.mode.as_ref().is_some_and(|(_, mark)| chosen(mark));
    Some((base_of(id, &file.entry).clone(), of_file, of_mode))
}

/// True if one of these is a git repository's own. Merging lets none in; one may come from an older journal, or a folder
/// may have become a repository since. Blocking.
fn is_of_git(fork: &dyn ForkOwner, docs: [&DocId; 2]) -> bool {
    let place = |id: &DocId| fork.lock().files.get(id).and_then(|file| file.place.clone());
    let is_one = |id: &DocId| {
        place(id).is_some_and(|place| Repositories::default().own(&place))
            || id.path().is_some_and(|path| is_in_git(&path))
    };
    is_one(docs[0]) || docs[0] != docs[1] && is_one(docs[1])
}

/// Publishes what the disk takes, one at a time of each file: all that was chosen, or the mode alone of an open one.
async fn publish_on_disk(
    disk: &closed::Disk<'_>,
    (id, source): (&DocId, &DocId),
    (ids, seen): (&[HunkId], &[Content]),
    all: bool,
) -> Outcome {
    let slot = disk.workspace.slot(source);
    let turn = slot.lock().await;
    let outcome = match all {
        true => closed::publish_closed(disk, id, (ids, seen)),
        false => match closed::publish_mode(disk, id, ids) {
            Ok(done) => (done, None),
            Err(failure) => (Vec::new(), Some(failure)),
        },
    };
    drop(turn);
    drop(slot);
    disk.workspace.free_slot(source);
    outcome
}

async fn publish_file(
    workspace: &Workspace,
    editor: &dyn Editor,
    fork: &dyn ForkOwner,
    id: &DocId,
    (ids, seen): (&[HunkId], &[Content]),
    bounds: Bounds,
) -> Outcome {
    let found = chosen(&fork.lock(), id, ids);
    let Some((source, changes_file, changes_mode)) = found else { return Outcome::default() };
    if is_of_git(fork, [id, &source]) {
        return (Vec::new(), Some(Failure::OfGit));
    }
    if changes_file && (workspace.is_unsaved(id) || workspace.is_unsaved(&source)) {
        return (Vec::new(), Some(Failure::Unsaved));
    }
    // What is to be renamed, and that was not chosen, lies under its old name.
    let is_open = workspace.with_document(&source, |_| ()).is_some();
    if source.is_untitled() && !is_open {
        return (Vec::new(), Some(Failure::NotOpen));
    }
    let by_disk = changes_file || !is_open;
    let (roots, session) = (workspace.roots(), fork.lock().session.clone());
    let disk = closed::Disk { workspace, fork, roots, session };
    let mut done = match by_disk || changes_mode {
        true => match publish_on_disk(&disk, (id, &source), (ids, seen), by_disk).await {
            (done, None) if !by_disk => done,
            outcome => return outcome,
        },
        false => Vec::new(),
    };
    let mut carried = Vec::new();
    let mut start = |publish: PublishId| {
        let mut fork = fork.lock();
        fork.sync_one(workspace, id, &Answers::default());
        let Some(file) = fork.files.get_mut(id) else { return Start::Nothing };
        // What an earlier edit carries, of which it is not known whether it was made, is not sent again.
        let ids = &file.entry.unaltered(&file.entry.unsent(ids), seen);
        let Some(part) = file.entry.part(ids) else { return Start::Nothing };
        let basis = file.entry.base.text();
        let marked = file.entry.mark_sent(ids, Some(publish));
        // Kept before the place of the edit is made out: writing takes time, and the user may be typing.
        fork.ahead(std::slice::from_ref(id));
        let started = start_edit(workspace, &source, publish, &basis, &part);
        if matches!(started, Start::Sent(..)) {
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

/// The outcome of trying to start an edit of an open document.
pub(crate) enum Start {
    /// It is noted as expected and must be sent now.
    Sent(DocumentEdit, oneshot::Receiver<Settled>),
    /// The client's first version is never checked: move the document off it first.
    Prime(DocumentEdit),
    /// The text has moved since; try again.
    Stale,
    /// Another edit of the document is under way.
    Busy,
    /// The document is not open.
    Closed,
    /// Nobody knows what it holds.
    OutOfStep,
    /// There is nothing left to send.
    Nothing,
}

/// Notes `set`, made on `basis`, as expected of an open document and gives the edit to send.
pub(crate) fn start_edit(
    workspace: &Workspace,
    id: &DocId,
    publish: PublishId,
    basis: &Text,
    set: &ChangeSet,
) -> Start {
    let coordinates = workspace.coordinates();
    let primes = workspace.habits().primes_version_zero;
    let started = workspace.with_document(id, |document| {
        if document.accord() == Accord::Lost {
            return Start::OutOfStep;
        }
        if document.text() != basis {
            return Start::Stale;
        }
        if primes && document.version == 0 {
            return Start::Prime(priming(document));
        }
        match document.expect(publish, set.clone()) {
            Some(receiver) => Start::Sent(document_edit(document, set, coordinates), receiver),
            None => Start::Busy,
        }
    });
    started.unwrap_or(Start::Closed)
}

fn priming(document: &Document) -> DocumentEdit {
    DocumentEdit {
        uri: document.spelling.clone(),
        version: document.version,
        edits: vec![(Position::default(), Position::default(), String::new())],
        label: "Ropewalk".to_owned(),
    }
}

fn document_edit(document: &Document, set: &ChangeSet, coordinates: Coordinates) -> DocumentEdit {
    let text = document.text();
    let position = |byte| coordinates.byte_to_position(text, byte);
    let edits = sayable(text, set, coordinates.line_ends);
    DocumentEdit {
        uri: document.spelling.clone(),
        version: document.version,
        edits: edits
            .into_iter()
            .map(|c| (position(c.range.start), position(c.range.end), c.text))
            .collect(),
        label: "Ropewalk".to_owned(),
    }
}

/// Sends an edit until it is settled. True: it is in the text. False: there was nothing (left) to do.
pub(crate) async fn send(
    workspace: &Workspace,
    editor: &dyn Editor,
    id: &DocId,
    start: &mut (dyn FnMut(PublishId) -> Start + Send),
    label: &str,
    bounds: Bounds,
) -> Result<bool, Failure> {
    let habits = editor.habits();
    if habits.edits == EditForm::None {
        return Err(Failure::NoEdits);
    }
    let slot = workspace.slot(id);
    let _turn = slot.lock().await;
    let mut primed = 0;
    let mut tries = 0;
    let mut stale = 0;
    loop {
        editor.barrier().await;
        let publish = workspace.publish_id();
        let (mut edit, receiver) = match start(publish) {
            Start::Sent(edit, receiver) => (edit, receiver),
            Start::Prime(edit) if primed < 3 => {
                primed += 1;
                // Only a version is wanted of it; whether it came is seen in the next round.
                let _ = editor.apply(edit).await;
                continue;
            }
            Start::Prime(_) => {
                return Err(Failure::Refused("its first version cannot be checked".to_owned()));
            }
            // Each time the user has typed between two looks: bounded only so that nothing spins for ever.
            Start::Stale if stale < 1_000 => {
                stale += 1;
                tokio::task::yield_now().await;
                continue;
            }
            Start::Stale | Start::Busy => return Err(Failure::Unconfirmed),
            Start::Closed => return Err(Failure::Closed),
            Start::OutOfStep => return Err(Failure::OutOfStep),
            Start::Nothing => return Ok(false),
        };
        label.clone_into(&mut edit.label);
        let why =
            answer(workspace, id, publish, editor.apply(edit).await, habits.trusts_versions());
        let settled = match tokio::time::timeout(bounds.echo, receiver).await {
            Ok(settled) => settled.unwrap_or(Settled::Closed),
            Err(_) => {
                workspace.with_document(id, |document| document.give_up_waiting(publish));
                Settled::Unconfirmed
            }
        };
        match settled {
            Settled::Confirmed => return Ok(true),
            Settled::Conflict => return Err(Failure::Conflict),
            Settled::Unconfirmed => return Err(Failure::Unconfirmed),
            Settled::Closed => return Err(Failure::Closed),
            Settled::Skipped if habits.checks_versions && tries + 1 < TRIES => tries += 1,
            Settled::Skipped => {
                return Err(Failure::Refused(
                    why.unwrap_or_else(|| "the text kept moving".to_owned()),
                ));
            }
        }
    }
}

/// Hands the client's answer to the document. An error is a no; silence is no answer.
fn answer(
    workspace: &Workspace,
    id: &DocId,
    publish: PublishId,
    answer: Result<bool, EditorError>,
    trusts_versions: bool,
) -> Option<String> {
    let (applied, why) = match answer {
        Ok(applied) => (applied, (!applied).then(|| "it said no".to_owned())),
        Err(EditorError::NoAnswer) => return None,
        Err(error) => (false, Some(error.to_string())),
    };
    if !applied {
        workspace.refused(publish);
    }
    workspace.with_document(id, |document| document.answered(publish, applied, trusts_versions));
    why
}
