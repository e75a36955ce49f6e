//! Looks at the disk beside open documents: whether a buffer is clean, whether the disk has moved.
//!
//! An editor empties a file before it writes it, and may be looked at amid that, when the file's times tell nothing yet. So
//! content that nobody has told of is believed once two looks have found the same; and what a save looks like halfway, only
//! where it stays so for 150 ms. Looks at several documents wait together, and once for each content.

use super::Workspace;
use crate::DocId;
use crate::document::{DiskLook, Document, Doubt, Saved};
use crate::note::Note;
use crate::view::{DiskFile, read_file};
use ropewalk_files::disk::{self, FileMeta};
use ropewalk_text::ContentHash;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Pauses between looks at a file that may be half written.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::from_millis(80),
];

impl Workspace {
    /// Reads the disk beside an open document and keeps what it says: whether the buffer is clean, whether
    /// the disk has moved. Blocking, 150 ms longer than the reads at most; the text compared is the one of this moment.
    pub fn look_at_disk(&self, id: &DocId) -> DiskLook {
        self.look([id.clone()], false).pop().map_or(DiskLook::NoFile, |(_, look)| look)
    }

    /// Looks at the disk beside every open document, so that what follows sees the truth. Blocking, as for one.
    pub fn look_at_disks(&self) -> Vec<(DocId, DiskLook)> {
        self.look(self.open_documents(), false)
    }

    /// True if one of these is open with text that the disk has not. Looks at the disk. Blocking, as for one.
    pub(crate) fn is_unsaved(&self, ids: &[&DocId]) -> bool {
        let open: Vec<DocId> = ids.iter().copied().filter(|id| self.is_open(id)).cloned().collect();
        self.look(open.iter().cloned(), false);
        // All as they are now: one may have been typed into while another was looked at.
        let is_dirty = |id| self.with_document(id, |document| !document.is_clean());
        open.iter().any(|id| is_dirty(id).unwrap_or(false))
    }

    /// didSave, in the order of notifications: the buffer was written as it is now.
    pub fn written(&self, id: &DocId) {
        self.with_document(id, |document| {
            document.written();
            self.ledger().saved(id, document.text());
        });
    }

    /// Looks at the disk after a save. True is an alarm: the disk holds something else than was in the
    /// buffer when it was saved. A text that was in doubt is then the disk's. Blocking.
    pub fn look_after_save(&self, id: &DocId) -> bool {
        let look = self.look([id.clone()], true).pop().map(|(_, look)| look);
        let unfound = self.with_document(id, Document::take_unfound_write).unwrap_or(false);
        let alarm = unfound && !matches!(look, None | Some(DiskLook::NoFile | DiskLook::Clean));
        self.desync_alarms.fetch_add(usize::from(alarm), Ordering::Relaxed);
        alarm
    }

    /// See the module. `resynchronises`: what is found is what the editor has just written.
    fn look(
        &self,
        ids: impl IntoIterator<Item = DocId>,
        resynchronises: bool,
    ) -> Vec<(DocId, DiskLook)> {
        let mut looks = Vec::new();
        let mut left: Vec<_> = ids.into_iter().map(|id| (id, None)).collect();
        for pause in PAUSES.into_iter().map(Some).chain([None]) {
            for (id, before) in std::mem::take(&mut left) {
                match self.read_beside(&id) {
                    Some((now, _)) if pause.is_some() && self.is_doubtful(&id, &now, before) => {
                        left.push((id, Some(now.hash)));
                    }
                    read => {
                        let look = self.compare(&id, read, resynchronises);
                        looks.push((id, look));
                    }
                }
            }
            match pause {
                Some(pause) if !left.is_empty() => std::thread::sleep(pause),
                _ => break,
            }
        }
        looks
    }

    /// The file beside a document, which is read only where it may have changed since it was read last. None where there is
    /// no text file.
    fn read_beside(&self, id: &DocId) -> Option<(Saved, FileMeta)> {
        let (place, roots) = (self.place(id)?, self.roots());
        let meta = disk::stat(&roots, &place).ok()?;
        let known = self.with_document(id, |document| {
            document.saved.clone().filter(|saved| saved.meta == Some(meta))
        });
        if let Some(now) = known.flatten() {
            return Some((now, meta));
        }
        // Asked before the file is read: what is written to it from now on shows in its times.
        let settled = meta.is_settled().then_some(meta);
        match read_file(&place, &roots).ok()? {
            DiskFile::Text { text, hash, format } => {
                Some((Saved { hash, text, format, meta: settled }, meta))
            }
            _ => None,
        }
    }

    /// True if what was read may be half written. `before`: the content that the look before found.
    fn is_doubtful(&self, id: &DocId, now: &Saved, before: Option<ContentHash>) -> bool {
        match self.with_document(id, |document| document.doubt(now)).flatten() {
            Some(Doubt::CutOff) => true,
            Some(Doubt::News) => before != Some(now.hash),
            None => false,
        }
    }

    fn compare(
        &self,
        id: &DocId,
        read: Option<(Saved, FileMeta)>,
        resynchronises: bool,
    ) -> DiskLook {
        let Some((now, meta)) = read else { return DiskLook::NoFile };
        let look = self.with_document(id, |document| {
            if resynchronises {
                let changed = document.resynchronise(&now);
                self.move_ledger(id, &changed);
            }
            document.compare(now)
        });
        let Some(look) = look else { return DiskLook::NoFile };
        self.identities.insert(id.clone(), meta.identity);
        self.shown_files.insert(id.clone(), meta);
        if look == DiskLook::Conflict {
            self.tell(None, Note::DiskConflict { file: self.shown(id) });
        }
        look
    }
}
