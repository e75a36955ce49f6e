//! Undo: published hunks are taken back, now or much later.
//!
//! The inverse goes the same way to the user's text as the change did: through the editor and proved by its
//! echo for open documents, to the disk for others. What can't be found again for certain is left alone and
//! said.

mod files;
mod inverse;
mod rename;

use crate::document::Document;
use crate::editor::Editor;
use crate::fork::{HunkSelection, synced};
use crate::ledger::{Published, PublishedFile, rename_of};
use crate::owner::ForkOwner;
use crate::publish::{EditStart, Failure, PublishBounds, PublishReport, send, start_edit};
use crate::view::{DiskFile, read_file};
use crate::workspace::Workspace;
use crate::{DocId, HunkId, PublishId};
use futures::future::BoxFuture;
use inverse::inverse;
use ropewalk_files::disk::{self, Expect, FileError};
use ropewalk_text::decode::{FileFormat, encode};
use std::collections::{BTreeMap, HashSet};

/// Takes back the published hunks of the fork's session that `selection` means. Its owner is told before
/// each edit is sent and before each file is changed.
pub fn undo<'a>(
    workspace: &'a Workspace,
    editor: &'a dyn Editor,
    fork: &'a dyn ForkOwner,
    selection: &'a HunkSelection,
    bounds: PublishBounds,
) -> BoxFuture<'a, PublishReport> {
    Box::pin(async move {
        let mut report = PublishReport::default();
        let session = &*{
            // A change thought lost may have come back with its text.
            synced(workspace, fork, |fork, _| {
                fork.note_accepted(workspace);
                fork.session.clone()
            })
        };
        let undoing = Undoing { workspace, fork };
        let (texts, files) = chosen(workspace, session, selection);
        // Files deleted, renamed or replaced since their text was published must be put back first.
        let comes_back = |id: &DocId| {
            files.iter().any(|file| file.after.is_none() && DocId::from_path(&file.path) == *id)
        };
        let is_there =
            |id: &DocId| workspace.is_text_on_disk(id) || workspace.is_open(id) && !comes_back(id);
        // Hunks published before their file was renamed stand under the old name when that is undone.
        let is_renamed =
            |hunk: &Published| hunk.renames.iter().any(|by| rename_of(&files, *by).is_some());
        let (mut now, mut later) = (BTreeMap::<DocId, Vec<_>>::new(), Vec::new());
        for (id, hunks) in texts {
            let is_there = is_there(&id);
            let (with_file, own): (Vec<_>, Vec<_>) =
                hunks.into_iter().partition(|hunk| !is_there || is_renamed(hunk));
            later.extend(with_file);
            now.entry(id).or_default().extend(own);
        }
        for (id, hunks) in now.into_iter().filter(|(_, hunks)| !hunks.is_empty()) {
            undoing.texts(editor, &id, &hunks, bounds, &mut report).await;
        }
        undoing.files(editor, &files, bounds, &mut report).await;
        for (id, hunks) in still_published(workspace, &later) {
            undoing.texts(editor, &id, &hunks, bounds, &mut report).await;
        }
        report
    })
}

/// These as the ledger has them now, by the documents they are in.
fn still_published(workspace: &Workspace, hunks: &[Published]) -> BTreeMap<DocId, Vec<Published>> {
    let ledger = workspace.ledger();
    let mut out: BTreeMap<DocId, Vec<Published>> = BTreeMap::new();
    for own in hunks {
        let same = |hunk: &&Published| {
            (&own.session, &own.at) == (&hunk.session, &hunk.at)
                && (&own.old, &own.new) == (&hunk.old, &hunk.new)
        };
        for hunk in ledger.texts.of_hunk(own.id).filter(same) {
            out.entry(hunk.doc.clone()).or_default().push(hunk.clone());
        }
    }
    out
}

type UndoSelection = (BTreeMap<DocId, Vec<Published>>, Vec<PublishedFile>);

fn chosen(workspace: &Workspace, session: &str, selection: &HunkSelection) -> UndoSelection {
    let means = |id: &HunkId, turn: u64, doc: &DocId| match selection {
        HunkSelection::Hunks(ids) => ids.contains(id),
        HunkSelection::Turn(wanted) => turn == *wanted,
        HunkSelection::File(wanted) => doc == wanted,
        HunkSelection::All => true,
    };
    let ledger = workspace.ledger();
    let mut texts: BTreeMap<DocId, Vec<Published>> = BTreeMap::new();
    for hunk in
        ledger.texts.iter().filter(|h| *h.session == *session && means(&h.id, h.turn, &h.doc))
    {
        texts.entry(hunk.doc.clone()).or_default().push(hunk.clone());
    }
    let own = || ledger.files.iter().filter(|file| *file.session == *session);
    let chosen: HashSet<HunkId> = own()
        .filter(|file| means(&file.id, file.turn, &DocId::from_path(&file.path)))
        .map(|file| file.id)
        .collect();
    // A rename has a line for each of its names: one without the other would take the file away.
    (texts, own().filter(|file| chosen.contains(&file.id)).cloned().collect())
}

fn forget(workspace: &Workspace, session: &str, doc: &DocId, ids: &[HunkId], but: &[HunkId]) {
    workspace.ledger().texts.take_of_doc(doc, |hunk| {
        *hunk.session == *session && ids.contains(&hunk.id) && !but.contains(&hunk.id)
    });
}

/// Parts that every way of undoing needs.
struct Undoing<'a> {
    workspace: &'a Workspace,
    fork: &'a dyn ForkOwner,
}

impl Undoing<'_> {
    /// Takes back hunks of one document's text.
    async fn texts(
        &self,
        editor: &dyn Editor,
        id: &DocId,
        hunks: &[Published],
        bounds: PublishBounds,
        report: &mut PublishReport,
    ) {
        let (workspace, session) = (self.workspace, self.fork.lock().session.clone());
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
            Err(Failure::NoEdits) => {
                let why = "it takes no edits from Ropewalk: take the change back by hand";
                report.failed.push((shown, Failure::Refused(why.to_owned())));
            }
            Err(failure) => report.failed.push((shown, failure)),
        }
    }

    async fn text(
        &self,
        editor: &dyn Editor,
        id: &DocId,
        hunks: &[Published],
        bounds: PublishBounds,
    ) -> Result<Vec<HunkId>, Failure> {
        let workspace = self.workspace;
        if !workspace.is_open(id) {
            return self.on_disk(id, hunks).map_err(|error| Failure::Disk(error.to_string()));
        }
        let mut conflicts = Vec::new();
        let mut start = |publish| {
            // The ledger moves with the text: look at it anew for each try.
            let mut now: Vec<Published> = {
                let ledger = workspace.ledger();
                let same = |hunk: &&Published| hunk.is_one_of(hunks);
                ledger.texts.of_doc(id).filter(same).cloned().collect()
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
                return EditStart::Busy;
            }
            let Some(text) = workspace.with_document(id, |document| document.text().clone()) else {
                return EditStart::Closed;
            };
            let (set, lost) = inverse(&text, &now);
            conflicts = lost;
            if set.is_empty() {
                return EditStart::Nothing;
            }
            self.note_undoing(id, &now, Some(publish));
            let started = start_edit(workspace, id, publish, &text, &set);
            if !matches!(started, EditStart::Sent(..)) {
                for hunk in &now {
                    self.mark(std::slice::from_ref(hunk), hunk.undoing);
                }
            }
            started
        };
        send(workspace, editor, id, &mut start, "Ropewalk: undo", bounds).await?;
        Ok(conflicts)
    }

    /// Notes in ledger and journal that `publish` takes these hunks back.
    fn note_undoing(&self, id: &DocId, hunks: &[Published], publish: Option<PublishId>) {
        self.mark(hunks, publish);
        self.fork.lock().journal_first(std::slice::from_ref(id));
    }

    fn mark(&self, hunks: &[Published], publish: Option<PublishId>) {
        let mut ledger = self.workspace.ledger();
        for hunk in hunks {
            ledger.texts.change_of_hunk(hunk.id, |own| {
                if own.is_one_of(std::slice::from_ref(hunk)) {
                    own.undoing = publish;
                }
            });
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
            self.note_undoing(id, hunks, Some(self.workspace.publish_id()));
            if let Err(error) = disk::write(&roots, &place, &bytes, Expect::Hash(hash)) {
                self.mark(hunks, None);
                return Err(error);
            }
        }
        Ok(conflicts)
    }
}
