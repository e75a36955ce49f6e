//! Undo: published hunks are taken back, now or much later.
//!
//! The inverse goes the same way to the user's text as the change did: through the editor and proved by its
//! echo for open documents, to the disk for others. What can't be found again for certain is left alone and
//! said.

use crate::disk::{self, Expect, FileError};
use crate::document::Document;
use crate::editor::Editor;
use crate::fork::Selection;
use crate::ledger::{Found, Ledger, Published, PublishedFile};
use crate::note::Note;
use crate::publish::{Bounds, Failure, PublishReport, Start, send, start_edit};
use crate::view::{DiskFile, read_file};
use crate::workspace::Workspace;
use crate::{ContentHash, DocId, HunkId};
use ropewalk_text::decode::encode;
use ropewalk_text::{Change, ChangeSet, Text};
use std::collections::BTreeMap;

/// Takes back the published hunks of `session` that `selection` means.
pub async fn undo(
    workspace: &Workspace,
    editor: &dyn Editor,
    session: &str,
    selection: &Selection,
    bounds: Bounds,
) -> PublishReport {
    let mut report = PublishReport::default();
    let (texts, files) = chosen(workspace, session, selection);
    for (id, hunks) in texts {
        let shown = hunks.first().map(|hunk| hunk.file.clone()).unwrap_or_default();
        let ids: Vec<HunkId> = hunks.iter().map(|hunk| hunk.id).collect();
        match undo_text(workspace, editor, &id, &hunks, bounds).await {
            Ok(conflicts) => {
                let done = |hunk: &&Published| !conflicts.contains(&hunk.id);
                for hunk in hunks.iter().filter(done) {
                    report.done.push(hunk.id);
                    workspace.tell(Some(hunk.session.clone()), hunk.undone());
                }
                if !conflicts.is_empty() {
                    report.failed.push((shown, Failure::Conflict));
                }
                forget(workspace, session, &id, &ids, &conflicts);
            }
            Err(failure) => report.failed.push((shown, failure)),
        }
    }
    // The latest first: a file renamed twice finds its way back.
    for file in files.into_iter().rev() {
        match undo_file(workspace, &file) {
            Ok(()) => {
                report.done.push(file.id);
                let (old, new) = match &file.before {
                    Some(_) => ("(the file as it was)", ""),
                    None => ("", "(the file)"),
                };
                let note = Note::Undone {
                    file: file.file.clone(),
                    old: old.to_owned(),
                    new: new.to_owned(),
                };
                workspace.tell(Some(file.session.clone()), note);
                workspace.ledger().files.retain(|kept| *kept != file);
            }
            Err(FileError::Changed { .. } | FileError::Exists { .. }) => {
                report.failed.push((file.file, Failure::Conflict));
            }
            Err(error) => report.failed.push((file.file, Failure::Disk(error.to_string()))),
        }
    }
    report
}

type Chosen = (BTreeMap<DocId, Vec<Published>>, Vec<PublishedFile>);

fn chosen(workspace: &Workspace, session: &str, selection: &Selection) -> Chosen {
    let means = |id: &HunkId, turn: u64, doc: &DocId| match selection {
        Selection::Hunks(ids) => ids.contains(id),
        Selection::Turn(wanted) => turn == *wanted,
        Selection::File(wanted) => doc == wanted,
        Selection::All => true,
    };
    let ledger = workspace.ledger();
    let mut texts: BTreeMap<DocId, Vec<Published>> = BTreeMap::new();
    for hunk in
        ledger.texts.iter().filter(|h| *h.session == *session && means(&h.id, h.turn, &h.doc))
    {
        texts.entry(hunk.doc.clone()).or_default().push(hunk.clone());
    }
    let files = ledger.files.iter();
    let files = files
        .filter(|f| *f.session == *session && means(&f.id, f.turn, &DocId::from_path(&f.path)));
    (texts, files.cloned().collect())
}

fn forget(workspace: &Workspace, session: &str, doc: &DocId, ids: &[HunkId], but: &[HunkId]) {
    workspace.ledger().texts.retain(|hunk| {
        *hunk.session != *session
            || hunk.doc != *doc
            || !ids.contains(&hunk.id)
            || but.contains(&hunk.id)
    });
}

/// The inverse of `hunks` on `text`, and those that have no certain place in it.
fn inverse(text: &Text, hunks: &[Published]) -> (ChangeSet, Vec<HunkId>) {
    let (mut changes, mut conflicts): (Vec<Change>, _) = (Vec::new(), Vec::new());
    // Hunks on top of one another: the later one goes first, on its own; the rest is found when it is gone.
    for hunk in hunks.iter().rev() {
        let place = match Ledger::find(hunk, text) {
            Found::At(range) => Some(range),
            Found::Conflict => None,
        };
        let free = |range: &std::ops::Range<usize>| {
            changes.iter().all(|c| c.range.end <= range.start || range.end <= c.range.start)
        };
        match place.filter(free) {
            Some(range) => changes.push(Change::new(range, hunk.old.clone())),
            None => conflicts.push(hunk.id),
        }
    }
    let set =
        ChangeSet::new(text.len(), changes).unwrap_or_else(|| ChangeSet::identity(text.len()));
    (set, conflicts)
}

async fn undo_text(
    workspace: &Workspace,
    editor: &dyn Editor,
    id: &DocId,
    hunks: &[Published],
    bounds: Bounds,
) -> Result<Vec<HunkId>, Failure> {
    if workspace.with_document(id, |_| ()).is_none() {
        return undo_on_disk(workspace, id, hunks)
            .map_err(|error| Failure::Disk(error.to_string()));
    }
    let mut conflicts = Vec::new();
    let mut start = |publish| {
        let same = |hunk: &Published| {
            hunk.doc == *id && hunks.iter().any(|h| h.id == hunk.id && h.session == hunk.session)
        };
        // The ledger moves with the text: look at it anew for each try.
        let mut now: Vec<Published> =
            workspace.ledger().texts.iter().filter(|hunk| same(hunk)).cloned().collect();
        // An undo of which nobody knows whether it was made is not sent again.
        let unsettled = |hunk: &Published| {
            hunk.undoing.is_some_and(|id_of_undo| {
                let known = |document: &mut Document| {
                    document.is_expected(id_of_undo) || document.is_lost(id_of_undo)
                };
                workspace.with_document(id, known).unwrap_or(false)
            })
        };
        let before = now.len();
        now.retain(|hunk| !unsettled(hunk));
        if now.is_empty() && before > 0 {
            return Start::Busy;
        }
        let Some(text) = workspace.with_document(id, |document| document.text().clone()) else {
            return Start::Closed;
        };
        let (set, lost) = inverse(&text, &now);
        conflicts = lost;
        if set.is_empty() {
            return Start::Nothing;
        }
        let started = start_edit(workspace, id, publish, &text, &set);
        if matches!(started, Start::Sent(..)) {
            let mut ledger = workspace.ledger();
            let sent =
                |hunk: &Published| now.iter().any(|h| h.id == hunk.id && h.session == hunk.session);
            for hunk in ledger.texts.iter_mut().filter(|hunk| hunk.doc == *id && sent(hunk)) {
                hunk.undoing = Some(publish);
            }
        }
        started
    };
    send(workspace, editor, id, &mut start, "Ropewalk: undo", bounds).await?;
    Ok(conflicts)
}

fn undo_on_disk(
    workspace: &Workspace,
    id: &DocId,
    hunks: &[Published],
) -> Result<Vec<HunkId>, FileError> {
    let all = || hunks.iter().map(|hunk| hunk.id).collect();
    let Some(place) = workspace.place(id) else { return Ok(all()) };
    let roots = workspace.roots();
    let DiskFile::Text { text, hash, format } = read_file(&place, &roots)? else {
        return Ok(all());
    };
    let (set, conflicts) = inverse(&text, hunks);
    if let Ok(after) = set.apply(&text)
        && !set.is_empty()
    {
        let bytes = encode(&after, format).map_err(|error| FileError::Io {
            path: place.shown.clone(),
            reason: error.to_string(),
        })?;
        disk::write(&roots, &place, &bytes, Expect::Hash(hash))?;
    }
    Ok(conflicts)
}

fn undo_file(workspace: &Workspace, file: &PublishedFile) -> Result<(), FileError> {
    let changed = || FileError::Changed { path: file.file.clone() };
    let roots = workspace.roots();
    let place = roots.place_of(&file.path).map_err(|_| changed())?;
    let open = workspace.with_document(&place.doc(), |document| document.is_clean());
    if open == Some(false) {
        return Err(changed());
    }
    let now: Expect = file.after.map_or(Expect::Absent, Expect::Hash);
    match &file.before {
        Some(bytes) => {
            let hash: ContentHash = disk::write(&roots, &place, bytes, now)?;
            debug_assert_eq!(hash, ContentHash::of(bytes));
        }
        None => disk::remove(&roots, &place, now)?,
    }
    Ok(())
}
