//! Undoing changes of files: what was made goes, and what was deleted, renamed or replaced comes back, if what was left
//! there is what stands there.

use super::Undoing;
use crate::editor::Editor;
use crate::ledger::{FileAfter, FileBefore, LedgerLine as _, PublishedFile, rename_of};
use crate::publish::{Failure, PublishBounds, PublishReport};
use crate::workspace::Workspace;
use crate::{HunkId, Place, Roots};
use ropewalk_files::disk::{self, Expect, FileError};

impl Undoing<'_> {
    /// Puts files back, the latest first: a file renamed twice finds its way back.
    pub(super) async fn files(
        &self,
        editor: &dyn Editor,
        files: &[PublishedFile],
        bounds: PublishBounds,
        report: &mut PublishReport,
    ) {
        let unsaved = |file: &&PublishedFile| self.is_unsaved(file);
        // A file that was renamed stands under one of its names at least: what can't come back does not go either.
        let mut held: Vec<HunkId> = files.iter().filter(unsaved).map(|file| file.id).collect();
        let mut renamed: Vec<HunkId> = Vec::new();
        for file in files.iter().rev() {
            if self.is_unsaved(file) {
                report.failed.push((file.file.clone(), Failure::Unsaved));
                continue;
            }
            if held.contains(&file.id) || renamed.contains(&file.id) {
                continue;
            }
            let rename = rename_of(files, file.id);
            let undone = match rename.filter(|(_, came)| self.is_by_editor(editor, came)) {
                Some(rename) => {
                    renamed.push(file.id);
                    self.rename_back(editor, rename, bounds).await
                }
                None => self.file(file).map_err(|error| match error {
                    FileError::Exists { .. } => Failure::Conflict,
                    error => error.into(),
                }),
            };
            match undone {
                Ok(()) => {
                    let both = rename.filter(|_| renamed.contains(&file.id));
                    let lines = both.map_or(vec![file], |(gone, came)| vec![gone, came]);
                    lines.into_iter().for_each(|line| self.forget_file(line, report));
                    self.tell_renamed(file, rename, report);
                }
                Err(failure) => {
                    held.push(file.id);
                    report.failed.push((file.file.clone(), failure));
                }
            }
        }
    }

    /// A file is as it was before: it leaves the ledger.
    fn forget_file(&self, file: &PublishedFile, report: &mut PublishReport) {
        let workspace = self.workspace;
        report.done.push(file.id);
        workspace.tell(Some(file.session.clone()), file.undone());
        workspace.ledger().files.take_of_hunk(file.id, |kept| kept.is(file));
        report.done.extend(drop_modes(workspace, file));
    }

    /// True if the file has unsaved text in the editor, and is to be put back as a whole.
    fn is_unsaved(&self, file: &PublishedFile) -> bool {
        let of_mode = matches!(file.after, Some(FileAfter::Mode { .. }));
        let place = self.workspace.roots().place_of_name(&file.path).ok();
        !of_mode && place.is_some_and(|place| self.workspace.is_unsaved(&[&place.doc()]))
    }

    fn file(&self, file: &PublishedFile) -> Result<(), FileError> {
        let changed = || FileError::Changed { path: file.file.clone() };
        let roots = self.workspace.roots();
        let place = roots.place_of_name(&file.path).map_err(|_| changed())?;
        self.mark_file(file, true);
        self.fork.lock().journal_first(&[place.doc()]);
        let done = put_back(self.workspace, &roots, &place, file);
        if done.is_err() {
            self.mark_file(file, false);
        }
        done
    }

    pub(super) fn mark_file(&self, file: &PublishedFile, undoing: bool) {
        let mut ledger = self.workspace.ledger();
        ledger.files.change_of_hunk(file.id, |kept| {
            if kept.is(file) {
                kept.undoing = undoing;
            }
        });
    }
}

/// A file that is gone has taken the permission bits along that it was given: there is nothing left to put back. Gives
/// whose those were.
fn drop_modes(workspace: &Workspace, gone: &PublishedFile) -> Vec<HunkId> {
    let went = |line: &PublishedFile| {
        let of_mode = matches!(line.after, Some(FileAfter::Mode { .. }));
        gone.before.is_none() && of_mode && line.session == gone.session
    };
    let lines = workspace.ledger().files.take_of_doc(&gone.doc(), went);
    for line in &lines {
        workspace.tell(Some(line.session.clone()), line.undone());
    }
    lines.into_iter().map(|line| line.id).collect()
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
        Some(FileAfter::File(hash)) => Expect::Hash(*hash),
        Some(FileAfter::Link { link }) => Expect::Link(disk::link_hash(link)),
        Some(FileAfter::Mode { mode }) => {
            let is_left = disk::stat(roots, place)?.mode & 0o777 == *mode;
            return match &file.before {
                Some(FileBefore::Mode { mode }) if is_left => disk::set_mode(roots, place, *mode),
                _ => Err(changed()),
            };
        }
    };
    // The others are the user's, whatever their mode.
    let made = disk::missing_folders(roots, place)?;
    match &file.before {
        Some(FileBefore::File { bytes, mode }) => {
            disk::write(roots, place, bytes, now)?;
            // Where a file stood all the time its mode is the user's, or told of by another line.
            let is_new = !matches!(file.after, Some(FileAfter::File(_)));
            if let Some(mode) = mode.filter(|_| is_new) {
                log_failure(file, disk::set_mode(roots, place, mode));
            }
        }
        Some(FileBefore::Link { link }) => disk::write_link(roots, place, link, now)?,
        Some(FileBefore::Mode { .. }) => return Err(changed()),
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
