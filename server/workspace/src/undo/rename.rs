//! Undoing the rename of a file: by the editor where it has the file open and its buffer follows, with all that was
//! typed in it since; else on the disk, as any other change of a file.

use super::Undoing;
use crate::editor::{Editor, FileRename};
use crate::ledger::PublishedFile;
use crate::publish::{Failure, PublishBounds, PublishReport, old_name_words, settle_rename};
use crate::{DocId, Place};
use ropewalk_files::disk::{self, FileError};

/// The lines of a rename in the ledger: of the name that went, and of the name that came.
type Rename<'a> = (&'a PublishedFile, &'a PublishedFile);

impl Undoing<'_> {
    /// True if the editor has the file open under the name that came, and takes its buffer along.
    pub(super) fn is_by_editor(&self, editor: &dyn Editor, came: &PublishedFile) -> bool {
        editor.habits().renames_files && self.workspace.is_open(&DocId::from_path(&came.path))
    }

    /// Has the editor give the file its old name.
    pub(super) async fn rename_back(
        &self,
        editor: &dyn Editor,
        (gone, came): Rename<'_>,
        bounds: PublishBounds,
    ) -> Result<(), Failure> {
        let workspace = self.workspace;
        let roots = workspace.roots();
        let place =
            |line: &PublishedFile| roots.place_of_name(&line.path).map_err(|_| Failure::Conflict);
        let (now, back): (Place, Place) = (place(came)?, place(gone)?);
        let slot = workspace.slot(&now.doc());
        let _guard = slot.lock().await;
        editor.barrier().await;
        if workspace.is_unsaved(&[&now.doc(), &back.doc()]) {
            return Err(Failure::Unsaved);
        }
        let is_free = matches!(disk::stat(&roots, &back), Err(FileError::NotFound { .. }));
        if !is_free || disk::stat(&roots, &now).is_err() {
            return Err(Failure::Conflict);
        }
        let rename = FileRename {
            from: workspace.spelling(&now.doc()),
            to: back.doc().to_uri(),
            label: "Ropewalk: undo".to_owned(),
        };
        let mark =
            |undoing| [gone, came].into_iter().for_each(|line| self.mark_file(line, undoing));
        mark(true);
        self.fork.lock().journal_first(&[now.doc(), back.doc()]);
        let answer = editor.rename(rename).await;
        if let Err(failure) = settle_rename(workspace, (&now, &back), answer, bounds.echo).await {
            mark(false);
            return Err(failure);
        }
        workspace.remove_folders(&now, came.folders.len());
        Ok(())
    }

    /// Takes the file's published changes back with it. The user is told where the editor has the
    /// file open under the name that is gone.
    pub(super) fn tell_renamed(
        &self,
        done: &PublishedFile,
        rename: Option<Rename<'_>>,
        report: &mut PublishReport,
    ) {
        let workspace = self.workspace;
        let Some((gone, came)) = rename else { return };
        let (from, to) = (DocId::from_path(&came.path), DocId::from_path(&gone.path));
        // On the disk the two names are put back one after the other.
        let is_left = |line: &PublishedFile| {
            workspace.ledger().files.of_hunk(line.id).any(|own| own.is(line))
        };
        if is_left(gone) || is_left(came) {
            return;
        }
        let by = (&*done.session, done.id);
        workspace.ledger().follow_back(&from, (&to, &gone.file), by);
        workspace.anchor(&to);
        if workspace.is_open(&from) {
            report.told.push(old_name_words(&came.file, &gone.file));
        }
    }
}
