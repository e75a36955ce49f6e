//! Looks at the disk beside open documents: whether a buffer is clean, whether the disk has moved.

use super::{Workspace, lock};
use crate::DocId;
use crate::document::{DiskLook, Document, Doubt, Saved};
use crate::note::Note;
use crate::view::{DiskFile, read_file};
use ropewalk_files::disk::{self, FileMeta};
use ropewalk_files::paths::Place;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Time between two looks at a file that may be half written, and how many looks there are at most.
const HALF_WRITTEN: (Duration, usize) = (Duration::from_millis(10), 20);

impl Workspace {
    /// Reads the disk beside an open document and keeps what it says: whether the buffer is clean, whether
    /// the disk has moved. Blocking; the text compared is the one of this moment.
    pub fn look_at_disk(&self, id: &DocId) -> DiskLook {
        self.compare_with_disk(id, false)
    }

    /// `resynchronises`: what is found is what the editor has just written.
    fn compare_with_disk(&self, id: &DocId, resynchronises: bool) -> DiskLook {
        let Some(place) = self.place(id) else { return DiskLook::NoFile };
        let Some((now, meta)) = self.whole_on_disk(id, &place) else { return DiskLook::NoFile };
        let look = self.with_document(id, |document| {
            if resynchronises {
                let changed = document.resynchronise(&now);
                self.move_ledger(id, &changed);
            }
            document.compare(now)
        });
        let Some(look) = look else { return DiskLook::NoFile };
        self.identities.insert(id.clone(), meta.identity);
        if look == DiskLook::Conflict {
            self.tell(None, Note::DiskConflict { file: place.shown });
        }
        look
    }

    /// The file beside a document, not half written: where it has just been given content that nobody told of, that is
    /// believed once two looks have found the same, and where it is the beginning of the buffer's text, as while an editor
    /// saves, only if it stays so for 200 ms. None where there is no text file.
    fn whole_on_disk(&self, id: &DocId, place: &Place) -> Option<(Saved, FileMeta)> {
        let (pause, looks) = HALF_WRITTEN;
        let mut before = None;
        for _ in 1..looks {
            let (now, meta) = self.read_beside(id, place)?;
            let doubt = |document: &mut Document| document.doubt(&now);
            match self.with_document(id, doubt).flatten() {
                Some(Doubt::News) if !meta.is_settled() && before != Some(now.hash) => {}
                Some(Doubt::CutOff) if !meta.is_settled() => {}
                _ => return Some((now, meta)),
            }
            before = Some(now.hash);
            std::thread::sleep(pause);
        }
        self.read_beside(id, place)
    }

    /// The file beside a document, which is read only where it may have changed since it was read last.
    fn read_beside(&self, id: &DocId, place: &Place) -> Option<(Saved, FileMeta)> {
        let roots = self.roots();
        let meta = disk::stat(&roots, place).ok()?;
        let known = self.with_document(id, |document| {
            document.saved.clone().filter(|saved| saved.meta == Some(meta))
        });
        if let Some(known) = known.flatten() {
            return Some((known, meta));
        }
        // Asked before the file is read: what is written to it from now on shows in its times.
        let settled = meta.is_settled().then_some(meta);
        match read_file(place, &roots).ok()? {
            DiskFile::Text { text, hash, format } => {
                Some((Saved { hash, text, format, meta: settled }, meta))
            }
            _ => None,
        }
    }

    /// didSave, in the order of notifications: the buffer was written as it is now.
    pub fn written(&self, id: &DocId) {
        self.with_document(id, |document| {
            document.written();
            lock(&self.ledger).saved(id, document.text());
        });
    }

    /// Looks at the disk after a save. True is an alarm: the disk holds something else than was in the
    /// buffer when it was saved. A text that was in doubt is then the disk's. Blocking.
    pub fn look_after_save(&self, id: &DocId) -> bool {
        let look = self.compare_with_disk(id, true);
        let unfound = self.with_document(id, Document::take_unfound_write).unwrap_or(false);
        let alarm = unfound && look != DiskLook::NoFile;
        self.desync_alarms.fetch_add(usize::from(alarm), Ordering::Relaxed);
        alarm
    }

    /// Looks at the disk beside every open document, so that what follows sees the truth. Blocking.
    pub fn look_at_disks(&self) {
        for id in self.open_documents() {
            self.look_at_disk(&id);
        }
    }
}
