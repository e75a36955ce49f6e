//! What becomes of published texts that are not in the user's text any more: pending again, or taken back, or left
//! in the ledger to be looked for.

use super::Restoring;
use crate::DocId;
use crate::entry::{Base, Entry, Mark};
use crate::fork::ForkFile;
use crate::ledger::{Ledger, Published, Stands};
use crate::view::{DiskFile, read_file};
use ropewalk_text::{Change, ChangeSet, Text};
use std::ops::Range;

impl Restoring<'_> {
    /// Published texts: what an editor that died unsaved has taken along is pending again; what was being taken
    /// back, and is not there, was taken back.
    pub(super) fn settle_texts(&mut self) {
        for mut hunk in std::mem::take(&mut self.ledger.texts) {
            if hunk.anchored {
                // This process has followed it all the time.
                self.ledger.texts.push(hunk);
                continue;
            }
            let undoing = hunk.undoing.take().is_some();
            let on_disk = self.disk_text(&hunk.doc).map(|text| Ledger::stands(&hunk, &text));
            let saved = matches!(on_disk, Some(Stands::New(_)));
            hunk.saved |= saved;
            let now = self.text_now(&hunk.doc);
            let stands = now.as_ref().map_or(Stands::Unclear, |now| Ledger::stands(&hunk, now));
            match (stands, now) {
                (Stands::Old(_), _) if undoing => self.tell(hunk.undone()),
                (Stands::Old(range), Some(now)) if !hunk.saved => {
                    if !self.give_back(&hunk, &now, range) {
                        self.ledger.texts.push(hunk);
                    }
                }
                (Stands::Unclear, now) if !hunk.saved && !undoing => {
                    // Where the text is the disk's, nothing unsaved has survived, the user's words beside it neither.
                    let now = now.filter(|now| self.disk_text(&hunk.doc).as_ref() == Some(now));
                    let stood = now.and_then(|now| Some((Ledger::stood(&hunk, &now)?, now)));
                    let given = self.give_back_upon(&hunk)
                        || stood.is_some_and(|(range, now)| self.give_back(&hunk, &now, range));
                    if !given {
                        self.ledger.texts.push(hunk);
                    }
                }
                _ => self.ledger.texts.push(hunk),
            }
        }
    }

    /// Makes a published hunk pending again where its old text stands in the user's. False if that can't be.
    fn give_back(&mut self, hunk: &Published, now: &Text, range: Range<usize>) -> bool {
        let Some(file) = self.file_for(&hunk.doc) else { return false };
        let base = file.entry.base.text();
        if base != *now {
            return false;
        }
        let contents = file.entry.contents(&[hunk.id]);
        if contents.iter().any(|own| own.old == hunk.old && own.new == hunk.new) {
            return true;
        }
        let change = Change::new(range, hunk.new.as_str());
        let given = file.entry.insert(change, mark_of(hunk));
        if given {
            file.returned.push(hunk.clone());
        }
        given
    }

    /// The same for one that was made on top of another that is pending again.
    fn give_back_upon(&mut self, hunk: &Published) -> bool {
        let mut ids = std::mem::take(&mut self.fork.ids);
        let given = self.fork.files.get_mut(&hunk.doc).is_some_and(|file| {
            let Stands::Old(range) = Ledger::stands(hunk, file.entry.text()) else { return false };
            // What is pending on its own may look like the text that was replaced.
            if !is_upon_returned(file, hunk, &range) {
                return false;
            }
            let set = ChangeSet::single(file.entry.text().len(), range, hunk.new.as_str());
            let given = file.entry.add(&set, &mark_of(hunk), &mut ids);
            if let [id] = given.as_slice() {
                file.returned.push(Published { id: *id, ..hunk.clone() });
            }
            !given.is_empty()
        });
        self.fork.ids = ids;
        given
    }

    /// The fork's file of a document, with nothing pending if it had none.
    fn file_for(&mut self, id: &DocId) -> Option<&mut ForkFile> {
        if !self.fork.files.contains_key(id) {
            let place = id.path().map(|path| self.roots.place_of(&path)).transpose().ok()?;
            let open = self.workspace.with_document(id, |document| Base::Buffer {
                text: document.text().clone(),
                cursor: document.cursor(),
            });
            let base = match (open, &place) {
                (Some(base), _) => base,
                (None, Some(place)) => match read_file(place, &self.roots).ok()? {
                    DiskFile::Text { text, hash, format } => Base::Disk { text, hash, format },
                    DiskFile::Binary { .. } | DiskFile::Link { .. } | DiskFile::Missing => {
                        return None;
                    }
                },
                (None, None) => return None,
            };
            let shown = self.workspace.shown(id);
            let file = ForkFile { shown, place, entry: Entry::new(base), returned: Vec::new() };
            self.fork.files.insert(id.clone(), file);
        }
        self.fork.files.get_mut(id)
    }
}

/// Whether the old form of a hunk at `range` of the proposed text, with the lines around it, reaches into a change that
/// was published and is pending again.
fn is_upon_returned(file: &ForkFile, hunk: &Published, range: &Range<usize>) -> bool {
    let (before, after) = &hunk.around_old;
    let form = range.start.saturating_sub(before.len())..range.end + after.len();
    let returned = |mark: &Mark| file.returned.iter().any(|hunk| hunk.id == mark.id);
    let mut proposed = file.entry.set().new_ranges().zip(file.entry.marks());
    proposed.any(|(new, mark)| returned(mark) && new.start <= form.end && form.start <= new.end)
}

fn mark_of(hunk: &Published) -> Mark {
    Mark { id: hunk.id, turn: hunk.turn, makers: Vec::new(), sent: None }
}
