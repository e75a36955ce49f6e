//! Publishing: accepted hunks reach the user's text.
//!
//! Open documents change only through the editor, one document and one edit at a time, and what counts is
//! the echo. Files that are not open are written to the disk, after a look at what is there. A file that is
//! open in the editor is never written.

mod closed;

use crate::disk::FileError;
use crate::document::Document;
use crate::editor::{DocumentEdit, Editor, EditorError};
use crate::entry::{Content, FileChange, Mark};
use crate::fork::{Fork, Selection, base_of};
use crate::ledger::Published;
use crate::note::Note;
use crate::proof::Settled;
use crate::witness::Witness;
use crate::workspace::{Workspace, lock};
use crate::{DocId, HunkId, PublishId};
use ropewalk_text::{Change, ChangeSet, Coordinates, LineEnds, Position, Text};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
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
    /// The document was closed meanwhile.
    #[error("the document was closed meanwhile; accept again to write the file")]
    Closed,
    /// The file is open with unsaved text, and the file itself was to be replaced.
    #[error("it has unsaved text in the editor: save or close it first")]
    Unsaved,
    /// The disk did not take it.
    #[error("{0}")]
    Disk(String),
}

/// Publishes a selection of the fork. Files are done one after the other, each on its own: what fails in one
/// does not hold up the next. `witness` is told before each edit is sent and before each file is changed.
pub async fn publish(
    workspace: &Workspace,
    editor: &dyn Editor,
    fork: &Mutex<Fork>,
    selection: &Selection,
    bounds: Bounds,
    witness: &dyn Witness,
) -> PublishReport {
    let mut report = PublishReport::default();
    let wanted = {
        let mut fork = lock(fork);
        let meant = fork.select(selection);
        for (shown, one) in fork.sync(workspace) {
            let failed = (shown, Failure::Conflict);
            if meant.contains(&one.mark.id) && !report.failed.contains(&failed) {
                report.failed.push(failed);
            }
        }
        let ids = fork.select(selection);
        by_document(&fork, &ids)
    };
    for (id, Wanted { ids, seen }) in wanted {
        let shown = lock(fork)
            .files
            .get(&id)
            .map_or_else(|| workspace.shown(&id), |file| file.shown.clone());
        let wanted = (&*ids, &*seen);
        let (done, failure) =
            publish_file(workspace, editor, fork, &id, wanted, bounds, witness).await;
        if let Some(failure) = failure {
            report.done.extend(done);
            report.notes.extend(note_of(&shown, &failure));
            report.failed.push((shown, failure));
            continue;
        }
        // What another publish had carried by then is done too; the rest had lost its place.
        let (session, docs) = {
            let fork = lock(fork);
            let source = fork.files.get(&id).map(|file| base_of(&id, &file.entry).clone());
            (fork.session.clone(), [source.unwrap_or_else(|| id.clone()), id.clone()])
        };
        let (done, lost): (Vec<HunkId>, Vec<HunkId>) = ids.iter().partition(|hunk| {
            done.contains(hunk) || is_published(workspace, &session, &docs, **hunk)
        });
        report.done.extend(done);
        let under_way = lock(fork)
            .files
            .get(&id)
            .is_some_and(|file| file.entry.pending(&lost).len() > file.entry.unsent(&lost).len());
        if under_way {
            report.failed.push((shown, Failure::Unconfirmed));
        } else if !lost.is_empty() {
            report.failed.push((shown, Failure::Conflict));
        }
    }
    let mut fork = lock(fork);
    fork.sync(workspace);
    fork.note_accepted(workspace);
    report
}

/// Whether the ledger has this hunk of one of these documents.
fn is_published(workspace: &Workspace, session: &Arc<str>, docs: &[DocId], hunk: HunkId) -> bool {
    let ledger = workspace.ledger();
    let is_it = |h: &Published| h.id == hunk && h.session == *session && docs.contains(&h.doc);
    let texts = ledger.texts.iter().any(is_it);
    texts || ledger.files.iter().any(|file| file.id == hunk && file.session == *session)
}

fn note_of(file: &str, failure: &Failure) -> Option<Note> {
    let file = file.to_owned();
    match failure {
        // The rebase that found the conflict has told it with both texts.
        Failure::Conflict => None,
        Failure::Unconfirmed => Some(Note::Unconfirmed { file }),
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
fn by_document(fork: &Fork, ids: &[HunkId]) -> Vec<(DocId, Wanted)> {
    let mut out: BTreeMap<DocId, Wanted> = BTreeMap::new();
    for hunk in fork.hunks() {
        if hunk.parts.iter().any(|part| ids.contains(part)) {
            out.entry(hunk.doc).or_default().ids.extend(hunk.parts);
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

async fn publish_file(
    workspace: &Workspace,
    editor: &dyn Editor,
    fork: &Mutex<Fork>,
    id: &DocId,
    (ids, seen): (&[HunkId], &[Content]),
    bounds: Bounds,
    witness: &dyn Witness,
) -> Outcome {
    let found = lock(fork).files.get(id).map(|file| {
        let chosen = |mark: &Mark| ids.contains(&mark.id);
        let of_file = file.entry.file.as_ref().is_some_and(|(_, mark)| chosen(mark));
        let of_mode = file.entry.mode.as_ref().is_some_and(|(_, mark)| chosen(mark));
        (base_of(id, &file.entry).clone(), of_file, of_mode)
    });
    let Some((source, changes_file, changes_mode)) = found else { return Outcome::default() };
    let unsaved = |doc: &DocId| {
        workspace.look_at_disk(doc);
        workspace.with_document(doc, |document| !document.is_clean()).unwrap_or(false)
    };
    if changes_file && (unsaved(id) || unsaved(&source)) {
        return (Vec::new(), Some(Failure::Unsaved));
    }
    // What is to be renamed, and that was not chosen, lies under its old name.
    let is_open = workspace.with_document(&source, |_| ()).is_some();
    if changes_file || !is_open {
        let (done, failure) = closed::publish_closed(workspace, fork, id, (ids, seen), witness);
        let failure = failure.map(|error| match error {
            FileError::Changed { .. } => Failure::Conflict,
            other => Failure::Disk(other.to_string()),
        });
        return (done, failure);
    }
    let mut done = match changes_mode {
        true => match closed::publish_mode(workspace, fork, id, ids, witness) {
            Ok(done) => done,
            // The buffer was never saved.
            Err(FileError::NotFound { .. }) => return (Vec::new(), Some(Failure::Unsaved)),
            Err(error) => return (Vec::new(), Some(Failure::Disk(error.to_string()))),
        },
        false => Vec::new(),
    };
    let mut carried = Vec::new();
    let mut start = |publish: PublishId| {
        let mut fork = lock(fork);
        fork.sync(workspace);
        let Some(file) = fork.files.get_mut(id) else { return Start::Nothing };
        // What an earlier edit carries, of which it is not known whether it was made, is not sent again.
        let ids = &file.entry.unaltered(&file.entry.unsent(ids), seen);
        let Some(part) = file.entry.part(ids) else { return Start::Nothing };
        let basis = file.entry.base.text();
        let marked = file.entry.mark_sent(ids, Some(publish));
        // Kept before the place of the edit is made out: writing takes time, and the user may be typing.
        witness.ahead(&fork);
        let started = start_edit(workspace, &source, publish, &basis, &part);
        if matches!(started, Start::Sent(..)) {
            carried = marked;
        } else if let Some(file) = fork.files.get_mut(id) {
            file.entry.mark_sent(&marked, None);
        }
        started
    };
    let sent = send(workspace, editor, &source, &mut start, "Ropewalk: accept", bounds).await;
    lock(fork).sync(workspace);
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

/// The changes as positions can say them. Under LSP's rule there is no position between `\r` and `\n`: a change
/// that begins or ends there (the user typed a carriage return before a line feed of ours) would take the
/// carriage return with it, so it takes in the pair and puts it back.
fn sayable(text: &Text, set: &ChangeSet, line_ends: LineEnds) -> Vec<Change> {
    let splits = |at: usize| {
        line_ends == LineEnds::Lsp
            && text.byte(at) == Some(b'\n')
            && at.checked_sub(1).is_some_and(|before| text.byte(before) == Some(b'\r'))
    };
    let mut out: Vec<Change> = Vec::new();
    for change in set.changes() {
        let mut change = change.clone();
        let (starts, ends) = (splits(change.range.start), splits(change.range.end));
        if ends {
            change.range.end += 1;
            change.text.push('\n');
        }
        match out.last_mut() {
            // The change before has taken in this pair already: its line feed stands after this one.
            Some(last) if starts && last.range.end > change.range.start => {
                last.text.pop();
                last.text.push_str(&change.text);
                last.range.end = change.range.end.max(last.range.end);
                if !ends && change.range.is_empty() {
                    last.text.push('\n');
                }
            }
            _ => {
                if starts {
                    change.range.start -= 1;
                    change.text.insert(0, '\r');
                }
                out.push(change);
            }
        }
    }
    out
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_between_the_bytes_of_a_line_end_leaves_both() {
        let check = |text: &str, changes: &[(usize, usize, &str)]| {
            let text = Text::from(text);
            let changes = changes.iter().map(|(s, e, t)| Change::new(*s..*e, *t)).collect();
            let set = ChangeSet::new(text.len(), changes).unwrap();
            let said = sayable(&text, &set, LineEnds::Lsp);
            assert_eq!(sayable(&text, &set, LineEnds::Newline), set.changes());
            for change in &said {
                for at in [change.range.start, change.range.end] {
                    let c = Coordinates::default();
                    assert_eq!(c.position_to_byte(&text, c.byte_to_position(&text, at)).byte, at);
                }
            }
            let said = ChangeSet::new(text.len(), said).unwrap();
            assert_eq!(said.apply(&text).unwrap(), set.apply(&text).unwrap());
        };
        check("ab\r\ncd", &[(3, 5, "")]);
        check("ab\r\ncd", &[(1, 3, "x")]);
        check("ab\r\ncd", &[(3, 3, "x")]);
        check("ab\r\ncd", &[(1, 3, "x"), (3, 5, "y")]);
        check("ab\r\ncd", &[(1, 3, "x"), (3, 3, "y")]);
        check("ab\r\n\r\ncd", &[(1, 3, "x"), (3, 5, "y"), (5, 6, "")]);
    }
}
