//! A file that is open under two names, or under another since the user renamed it: what is pending in it belongs to the
//! document in use.

use super::look::DocumentInUse;
use super::{Answers, Fork, ForkFile};
use crate::entry::Base;

impl Fork {
    /// Moves what is pending in a file to the name under which the user works in it, if it is open under several or
    /// another.
    pub(super) fn follow_use(&mut self, answers: &Answers) {
        for (from, DocumentInUse { id: to, place }) in answers.in_use() {
            let is_free = self.files.get(from).is_some_and(is_free);
            if !is_free || to == from || self.files.contains_key(to) {
                continue;
            }
            let Some(mut file) = self.files.remove(from) else { continue };
            if let Some(place) = place {
                file.shown.clone_from(&place.shown);
                file.place = Some(place.clone());
            }
            file.seen.outdate();
            self.files.insert(to.clone(), file);
        }
    }
}

/// True if only text is pending and none of it is on its way to the editor.
pub(super) fn is_free(file: &ForkFile) -> bool {
    let entry = &file.entry;
    matches!(entry.base, Base::Buffer { .. } | Base::Disk { .. })
        && entry.file.is_none()
        && entry.mode.is_none()
        && entry.home.is_none()
        && file.returned.is_empty()
        && !file.seen.writing
        && entry.marks().iter().all(|mark| mark.sent.is_none())
}
