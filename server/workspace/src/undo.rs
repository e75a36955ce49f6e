//! Undo: published hunks are taken back, now or much later.
//!
//! The inverse goes the same way to the user's text as the change did: through the editor and proved by its
//! echo for open documents, to the disk for others. What can't be found again for certain is left alone and
//! said.

use crate::disk::{self, Expect, FileError};
use crate::document::Document;
use crate::editor::Editor;
use crate::fork::{Fork, Selection};
use crate::ledger::{Found, Ledger, Left, Published, PublishedFile, Stood};
use crate::publish::{Bounds, Failure, PublishReport, Start, send, start_edit};
use crate::view::{DiskFile, read_file};
use crate::witness::Witness;
use crate::workspace::{Workspace, lock};
use crate::{DocId, HunkId, Place, PublishId, Roots};
use ropewalk_text::decode::{FileFormat, encode};
use ropewalk_text::{Change, ChangeSet, Text};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// Takes back the published hunks of the fork's session that `selection` means. `witness` is told before each
/// edit is sent and before each file is changed.
pub async fn undo(
    workspace: &Workspace,
    editor: &dyn Editor,
    fork: &Mutex<Fork>,
    selection: &Selection,
    bounds: Bounds,
    witness: &dyn Witness,
) -> PublishReport {
    let mut report = PublishReport::default();
    let session = &*{
        let mut fork = lock(fork);
        // What was thought lost may have come back with its text.
        fork.sync(workspace);
        fork.note_accepted(workspace);
        fork.session.clone()
    };
    let undoing = Undoing { workspace, fork, witness };
    let (texts, files) = chosen(workspace, session, selection);
    // What was deleted, renamed or replaced since its text was published must be put back first.
    let comes_back = |id: &DocId| {
        files.iter().any(|file| file.after.is_none() && DocId::from_path(&file.path) == *id)
    };
    let is_there = |id: &DocId| {
        workspace.is_text_on_disk(id)
            || workspace.with_document(id, |_| ()).is_some() && !comes_back(id)
    };
    let (now, later): (Vec<_>, Vec<_>) = texts.into_iter().partition(|(id, _)| is_there(id));
    for (id, hunks) in now {
        undoing.texts(editor, &id, &hunks, bounds, &mut report).await;
    }
    // The latest first: a file renamed twice finds its way back.
    let unsaved = |file: &&PublishedFile| undoing.is_unsaved(file);
    // A file that was renamed stands under one of its names at least: what can't come back does not go either.
    let mut held: Vec<HunkId> = files.iter().filter(unsaved).map(|file| file.id).collect();
    for file in files.iter().rev() {
        if undoing.is_unsaved(file) {
            report.failed.push((file.file.clone(), Failure::Unsaved));
            continue;
        }
        if held.contains(&file.id) {
            continue;
        }
        let undone = undoing.file(file);
        if undone.is_err() {
            held.push(file.id);
        }
        match undone {
            Ok(()) => {
                report.done.push(file.id);
                workspace.tell(Some(file.session.clone()), file.undone());
                workspace.ledger().files.retain(|kept| !kept.is(file));
                report.done.extend(drop_modes(workspace, file));
            }
            Err(FileError::Changed { .. } | FileError::Exists { .. }) => {
                report.failed.push((file.file.clone(), Failure::Conflict));
            }
            Err(error) => {
                report.failed.push((file.file.clone(), Failure::Disk(error.to_string())));
            }
        }
    }
    for (id, hunks) in later {
        undoing.texts(editor, &id, &hunks, bounds, &mut report).await;
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

/// A file that is gone has taken the permission bits along that it was given: there is nothing left to put back. Gives
/// whose those were.
fn drop_modes(workspace: &Workspace, gone: &PublishedFile) -> Vec<HunkId> {
    let went = |line: &mut PublishedFile| {
        let of_mode = matches!(line.after, Some(Left::Mode { .. }));
        gone.before.is_none() && of_mode && line.session == gone.session && line.path == gone.path
    };
    let lines: Vec<PublishedFile> = workspace.ledger().files.extract_if(.., went).collect();
    for line in &lines {
        workspace.tell(Some(line.session.clone()), line.undone());
    }
    lines.into_iter().map(|line| line.id).collect()
}

/// The inverse of `hunks` on `text`, and those that have no certain place in it.
fn inverse(text: &Text, hunks: &[Published]) -> (ChangeSet, Vec<HunkId>) {
    let (mut changes, mut left): (Vec<Change>, Vec<&Published>) = (Vec::new(), Vec::new());
    for hunk in hunks.iter().rev() {
        let free = |range: &Range<usize>| {
            changes.iter().all(|c| c.range.end <= range.start || range.end <= c.range.start)
        };
        match Ledger::find(hunk, text) {
            Found::At(range) if free(&range) => {
                changes.push(Change::new(range, hunk.old.clone()));
            }
            _ => left.push(hunk),
        }
    }
    let all = ChangeSet::new(text.len(), changes);
    let mut all = all.unwrap_or_else(|| ChangeSet::identity(text.len()));
    let Ok(mut now) = all.apply(text) else {
        return (ChangeSet::identity(text.len()), hunks.iter().map(|hunk| hunk.id).collect());
    };
    // The others are looked for in the text without those: one may stand under a later one, or between lines that
    // another has changed.
    loop {
        let before = left.len();
        left.retain(|hunk| {
            let loose = Published { anchored: false, ..(*hunk).clone() };
            let Found::At(range) = Ledger::find(&loose, &now) else { return true };
            let back = ChangeSet::single(now.len(), range, hunk.old.as_str());
            let (Ok(undone), Ok(set)) = (back.apply(&now), all.compose(&back)) else { return true };
            (now, all) = (undone, set);
            false
        });
        if left.is_empty() || left.len() == before {
            return (all, left.into_iter().map(|hunk| hunk.id).collect());
        }
    }
}

/// What every way of undoing needs.
struct Undoing<'a> {
    workspace: &'a Workspace,
    fork: &'a Mutex<Fork>,
    witness: &'a dyn Witness,
}

impl Undoing<'_> {
    /// Takes back hunks of one document's text.
    async fn texts(
        &self,
        editor: &dyn Editor,
        id: &DocId,
        hunks: &[Published],
        bounds: Bounds,
        report: &mut PublishReport,
    ) {
        let (workspace, session) = (self.workspace, lock(self.fork).session.clone());
        let shown = hunks.first().map(|hunk| hunk.file.clone()).unwrap_or_default();
        let ids: Vec<HunkId> = hunks.iter().map(|hunk| hunk.id).collect();
        match self.text(editor, id, hunks, bounds).await {
            Ok(conflicts) => {
                let done = |hunk: &&Published| !conflicts.contains(&hunk.id);
                for hunk in hunks.iter().filter(done) {
                    report.done.push(hunk.id);
                    workspace.tell(Some(hunk.session.clone()), hunk.undone());
                }
                if !conflicts.is_empty() {
                    report.failed.push((shown, Failure::Conflict));
                }
                forget(workspace, &session, id, &ids, &conflicts);
            }
            Err(failure) => report.failed.push((shown, failure)),
        }
    }

    async fn text(
        &self,
        editor: &dyn Editor,
        id: &DocId,
        hunks: &[Published],
        bounds: Bounds,
    ) -> Result<Vec<HunkId>, Failure> {
        let workspace = self.workspace;
        if workspace.with_document(id, |_| ()).is_none() {
            return self.on_disk(id, hunks).map_err(|error| Failure::Disk(error.to_string()));
        }
        let mut conflicts = Vec::new();
        let mut start = |publish| {
            // The ledger moves with the text: look at it anew for each try.
            let mut now: Vec<Published> = {
                let ledger = workspace.ledger();
                let same = |hunk: &&Published| hunk.is_one_of(hunks);
                ledger.texts.iter().filter(same).cloned().collect()
            };
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
            self.ahead(&now, Some(publish));
            let started = start_edit(workspace, id, publish, &text, &set);
            if !matches!(started, Start::Sent(..)) {
                for hunk in &now {
                    self.mark(std::slice::from_ref(hunk), hunk.undoing);
                }
            }
            started
        };
        send(workspace, editor, id, &mut start, "Ropewalk: undo", bounds).await?;
        Ok(conflicts)
    }

    /// Notes that `publish` takes these hunks back, and has it kept.
    fn ahead(&self, hunks: &[Published], publish: Option<PublishId>) {
        self.mark(hunks, publish);
        self.witness.ahead(&lock(self.fork));
    }

    fn mark(&self, hunks: &[Published], publish: Option<PublishId>) {
        let mut ledger = self.workspace.ledger();
        for hunk in ledger.texts.iter_mut().filter(|hunk| hunk.is_one_of(hunks)) {
            hunk.undoing = publish;
        }
    }

    fn on_disk(&self, id: &DocId, hunks: &[Published]) -> Result<Vec<HunkId>, FileError> {
        let all = || hunks.iter().map(|hunk| hunk.id).collect();
        let Some(place) = self.workspace.place(id) else { return Ok(all()) };
        let roots = self.workspace.roots();
        let DiskFile::Text { text, hash, format } = read_file(&place, &roots)? else {
            return Ok(all());
        };
        // Without its other letters a text looks like one in UTF-8.
        let is_ascii = || text.chunks().all(str::is_ascii);
        let format = match hunks.first() {
            Some(hunk) if format == FileFormat::default() && is_ascii() => hunk.format,
            _ => format,
        };
        let (set, conflicts) = inverse(&text, hunks);
        if let Ok(after) = set.apply(&text)
            && !set.is_empty()
        {
            let bytes = encode(&after, format).map_err(|error| FileError::Io {
                path: place.shown.clone(),
                reason: error.to_string(),
            })?;
            self.ahead(hunks, Some(self.workspace.publish_id()));
            if let Err(error) = disk::write(&roots, &place, &bytes, Expect::Hash(hash)) {
                self.mark(hunks, None);
                return Err(error);
            }
        }
        Ok(conflicts)
    }

    /// Whether the file has unsaved text in the editor, and is to be put back as a whole.
    fn is_unsaved(&self, file: &PublishedFile) -> bool {
        let of_mode = matches!(file.after, Some(Left::Mode { .. }));
        let place = self.workspace.roots().place_of_name(&file.path).ok();
        let unsaved = |place: Place| {
            self.workspace.with_document(&place.doc(), |document| !document.is_clean())
        };
        !of_mode && place.and_then(unsaved).unwrap_or(false)
    }

    fn file(&self, file: &PublishedFile) -> Result<(), FileError> {
        let changed = || FileError::Changed { path: file.file.clone() };
        let roots = self.workspace.roots();
        let place = roots.place_of_name(&file.path).map_err(|_| changed())?;
        self.mark_file(file, true);
        self.witness.ahead(&lock(self.fork));
        let done = put_back(self.workspace, &roots, &place, file);
        if done.is_err() {
            self.mark_file(file, false);
        }
        done
    }

    fn mark_file(&self, file: &PublishedFile, undoing: bool) {
        let mut ledger = self.workspace.ledger();
        for kept in ledger.files.iter_mut().filter(|kept| kept.is(file)) {
            kept.undoing = undoing;
        }
    }
}

/// Puts back what stood at a place, if what was left there is what stands there.
fn put_back(
    workspace: &Workspace,
    roots: &Roots,
    place: &Place,
    file: &PublishedFile,
) -> Result<(), FileError> {
    let changed = || FileError::Changed { path: file.file.clone() };
    let now = match &file.after {
        None => Expect::Absent,
        Some(Left::File(hash)) => Expect::Hash(*hash),
        Some(Left::Link { link }) => Expect::Link(disk::link_hash(link)),
        Some(Left::Mode { mode }) => {
            let is_left = disk::stat(roots, place)?.mode & 0o777 == *mode;
            return match &file.before {
                Some(Stood::Mode { mode }) if is_left => disk::set_mode(roots, place, *mode),
                _ => Err(changed()),
            };
        }
    };
    // The others are the user's, whatever their mode.
    let made = disk::missing_folders(roots, place)?;
    match &file.before {
        Some(Stood::File { bytes, mode }) => {
            disk::write(roots, place, bytes, now)?;
            // Where a file stood all the time its mode is the user's, or told of by another line.
            let is_new = !matches!(file.after, Some(Left::File(_)));
            if let Some(mode) = mode.filter(|_| is_new) {
                log_failure(file, disk::set_mode(roots, place, mode));
            }
        }
        Some(Stood::Link { link }) => disk::write_link(roots, place, link, now)?,
        Some(Stood::Mode { .. }) => return Err(changed()),
        None => {
            disk::remove(roots, place, now)?;
            workspace.remove_folders(place, file.folders.len());
            return Ok(());
        }
    }
    let modes = file.folders.get(..made).unwrap_or(&file.folders);
    log_failure(file, disk::set_folder_modes(roots, place, modes));
    Ok(())
}

/// The file stands where it stood: that only its mode, or that of a folder, is another is no reason to call that not
/// done.
fn log_failure(file: &PublishedFile, done: Result<(), FileError>) {
    if let Err(error) = done {
        tracing::warn!(file = file.file, %error, "put back, but with another mode");
    }
}
