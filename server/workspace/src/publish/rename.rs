//! Another name for a file that is open: the editor gives it, so that the buffer follows.
//!
//! Its answer proves nothing. What counts is that the old name was closed and the new one opened. Where only the disk
//! shows the new name the rename was made as well, and the buffer has stayed behind, which is told.

use super::closed::{DiskChange, DiskPublishing};
use super::held::{HeldFile, HeldStop, tried, unaltered_of};
use super::{Failure, FileSelection, PublishReport, Publishing, nobodys};
use crate::editor::{EditorError, FileRename};
use crate::entry::FileChange;
use crate::fork::{Answers, ForkFile, catch_up};
use crate::ledger::{FileAfter, FileBefore, PublishedFile};
use crate::note::Note;
use crate::owner::ForkOwner;
use crate::workspace::Workspace;
use crate::{ContentHash, DocId, HunkId, Place, Roots};
use ropewalk_files::disk::{self, FileError};
use std::time::Duration;

/// A chosen rename, and the name that its file leaves.
pub(super) struct ChosenRename {
    pub(super) mark: HunkId,
    from: DocId,
    shown: String,
}

/// The rename among the chosen changes of a file, if there is one.
pub(super) fn chosen_rename(
    fork: &dyn ForkOwner,
    id: &DocId,
    ids: &[HunkId],
) -> Option<ChosenRename> {
    let fork = fork.lock();
    let (change, mark) = fork.files.get(id)?.entry.file.as_ref()?;
    let FileChange::Rename { from } = change else { return None };
    let shown = fork.files.get(from).map_or_else(|| from.to_string(), |left| left.shown.clone());
    ids.contains(&mark.id).then(|| ChosenRename { mark: mark.id, from: from.clone(), shown })
}

impl ChosenRename {
    /// Says so where the editor has the file open under its old name still.
    pub(super) fn tell_if_open(
        &self,
        workspace: &Workspace,
        now: &str,
        report: &mut PublishReport,
    ) {
        if workspace.is_open(&self.from) {
            report.told.push(old_name_words(&self.shown, now));
            report.notes.push(Note::OldName { file: now.to_owned(), old: self.shown.clone() });
        }
    }
}

/// Words for the user where a file has another name than its buffer.
pub(crate) fn old_name_words(old: &str, now: &str) -> String {
    format!(
        "{old} is {now} now, but your editor still has it open as {old}: close that and open {now}. Saving it would \
         make {old} anew."
    )
}

/// Waits until `from` is closed and `to` is open. False if that has not come in time.
async fn wait_for_names(workspace: &Workspace, from: &DocId, to: &DocId, bound: Duration) -> bool {
    let followed = async {
        loop {
            // Taken before the look, so that nothing is missed in between.
            let next = workspace.next_opening();
            if !workspace.is_open(from) && workspace.is_open(to) {
                return;
            }
            next.await;
        }
    };
    tokio::time::timeout(bound, followed).await.is_ok()
}

/// True if the disk has the file under its new name alone.
fn is_on_disk(roots: &Roots, old: &Place, new: &Place) -> bool {
    disk::stat(roots, new).is_ok()
        && matches!(disk::stat(roots, old), Err(FileError::NotFound { .. }))
}

/// Settles a rename that the editor was asked for.
///
/// # Errors
/// [`Failure`] where nothing was renamed.
pub(crate) async fn settle_rename(
    workspace: &Workspace,
    (old, new): (&Place, &Place),
    answer: Result<(), EditorError>,
    bound: Duration,
) -> Result<(), Failure> {
    let why = match answer {
        Ok(()) | Err(EditorError::NoAnswer) => None,
        Err(error) => Some(error.to_string()),
    };
    let is_made = || is_on_disk(&workspace.roots(), old, new);
    let has_followed = match why {
        None => wait_for_names(workspace, &old.doc(), &new.doc(), bound).await,
        Some(_) => false,
    };
    if has_followed || is_made() {
        return Ok(());
    }
    Err(Failure::Refused(why.unwrap_or_else(|| "it has not renamed the file".to_owned())))
}

/// A rename that the editor is about to be asked for.
struct BegunRename {
    mark: HunkId,
    old: Place,
    new: Place,
    lines: [PublishedFile; 2],
    /// How many folders the file leaves empty.
    emptied: usize,
}

impl Publishing<'_> {
    /// Has the editor rename the file, if that was chosen, the file is open, and the editor is one that does it well.
    /// None: it is for the disk.
    pub(super) async fn rename_by_editor(
        &self,
        id: &DocId,
        selection: &FileSelection,
    ) -> Option<Result<HunkId, Failure>> {
        let Publishing { workspace, editor, fork, bounds, .. } = *self;
        let ChosenRename { from, .. } = chosen_rename(fork, id, &selection.ids)?;
        if !editor.habits().renames_files || !workspace.is_open(&from) {
            return None;
        }
        let slot = workspace.slot(&from);
        let _guard = slot.lock().await;
        editor.barrier().await;
        if workspace.is_unsaved(&[id, &from]) {
            return Some(Err(Failure::Unsaved));
        }
        let begun = match tried(|| self.begin(&from, id, selection)) {
            Ok(begun) => begun,
            Err(failure) => return Some(Err(failure)),
        };
        let rename = FileRename {
            from: workspace.spelling(&from),
            to: id.to_uri(),
            label: "Ropewalk: accept".to_owned(),
        };
        let answer = editor.rename(rename).await;
        let made = settle_rename(workspace, (&begun.old, &begun.new), answer, bounds.echo).await;
        let (old, emptied) = (begun.old.clone(), begun.emptied);
        let finished = self.finish(id, &from, begun, made);
        if finished.is_ok() {
            workspace.remove_folders(&old, emptied);
        }
        Some(finished)
    }

    /// Notes in the ledger and the journal what is about to be done.
    fn begin(
        &self,
        from: &DocId,
        id: &DocId,
        selection: &FileSelection,
    ) -> Result<BegunRename, HeldStop> {
        let Publishing { workspace, fork, .. } = *self;
        let conflict = || HeldStop::Failed(Failure::Conflict);
        let held = HeldFile::of(workspace, fork, id).ok_or_else(conflict)?;
        if let Some(failure) = nobodys(workspace, fork, [id, from]) {
            return Err(HeldStop::Failed(failure));
        }
        let (roots, session) = (workspace.roots(), fork.lock().session.clone());
        let disk = DiskPublishing { workspace, fork, roots, session };
        let file = &held.file;
        let (Some(old), Some((_, mark)), Some(new)) =
            (held.under().place.clone(), &file.entry.file, file.place.clone())
        else {
            return Err(conflict());
        };
        if held.left.is_none() || !unaltered_of(file, selection).contains(&mark.id) {
            return Err(conflict());
        }
        let stood = disk.read_expected(&old, &file.entry)?;
        let Some(FileBefore::File { bytes, .. }) = &stood else { return Err(conflict()) };
        if !matches!(disk::stat(&disk.roots, &new), Err(FileError::NotFound { .. })) {
            return Err(FileError::Exists { path: new.shown.clone() }.into());
        }
        let which = (mark.id, mark.turn);
        let (after, folders) =
            (Some(FileAfter::File(ContentHash::of(bytes))), disk.new_folders(&new)?);
        let came = disk.ledger_line(&new, which, DiskChange { before: None, after, folders });
        let folders = disk::folders_of_its_own(&disk.roots, &old)?;
        let emptied = folders.len();
        let gone =
            disk.ledger_line(&old, which, DiskChange { before: stood, after: None, folders });
        let lines = [came, gone];
        let publish = workspace.publish_id();
        let mut fork = fork.lock();
        if !held.stands_in(&fork) {
            return Err(HeldStop::Moved);
        }
        for name in [id, from] {
            if let Some(file) = fork.files.get_mut(name) {
                file.entry.mark_renaming(Some(publish));
            }
        }
        workspace.ledger().files.extend(lines.iter().cloned());
        fork.journal_first(&held.docs());
        Ok(BegunRename { mark: which.0, old, new, lines, emptied })
    }

    /// Brings the fork and the ledger to what was done.
    fn finish(
        &self,
        id: &DocId,
        from: &DocId,
        begun: BegunRename,
        made: Result<(), Failure>,
    ) -> Result<HunkId, Failure> {
        let workspace = self.workspace;
        let mut fork = self.fork.lock();
        for name in [id, from] {
            if let Some(file) = fork.files.get_mut(name) {
                file.entry.mark_renaming(None);
            }
        }
        let is_it = |file: &ForkFile| match &file.entry.file {
            Some((FileChange::Rename { from: own }, mark)) => own == from && mark.id == begun.mark,
            _ => false,
        };
        if let Err(failure) = made {
            let is_of_it = |line: &PublishedFile| begun.lines.iter().any(|own| own.is(line));
            workspace.ledger().files.take_of_hunk(begun.mark, is_of_it);
            for name in [id, from] {
                fork.sync_one(workspace, name, &Answers::default());
            }
            return Err(failure);
        }
        let session = fork.session.clone();
        let mut aside = Vec::new();
        if let Some(file) = fork.files.get_mut(id).filter(|file| is_it(file)) {
            // The last that was typed under the old name, and what of ours was made there.
            aside = catch_up(workspace, &session, from, file);
            aside.extend(file.entry.leave_disk());
            (file.entry.file, file.entry.home) = (None, None);
            fork.files.remove(from);
        }
        for one in aside {
            fork.tell_conflict(workspace, begun.new.shown.clone(), &one);
        }
        let to = (id, &*begun.new.shown);
        workspace.ledger().follow(from, to, (&session, begun.mark));
        workspace.anchor(id);
        fork.sync_one(workspace, id, &Answers::default());
        Ok(begun.mark)
    }
}
