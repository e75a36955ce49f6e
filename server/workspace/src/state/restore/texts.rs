//! Published texts that are not in the user's text any more: pending again, or taken back, or left
//! in the ledger to be looked for.

use super::Restoring;
use crate::DocId;
use crate::entry::{Base, Entry, Mark};
use crate::fork::{ForkFile, place_of};
use crate::ledger::{Ledger, Published, TextMatch};
use crate::note::shortened;
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
            let saved = matches!(on_disk, Some(TextMatch::New(_)));
            hunk.saved |= saved;
            let now = self.text_now(&hunk.doc);
            let stands = now.as_ref().map_or(TextMatch::Unclear, |now| Ledger::stands(&hunk, now));
            match (stands, now) {
                (TextMatch::Old(_), _) if undoing => self.tell(hunk.undone()),
                (TextMatch::Old(range), Some(now)) if !hunk.saved => {
                    if !self.give_back(&hunk, &now, range) {
                        self.lose(hunk);
                    }
                }
                (TextMatch::Unclear, now) if !hunk.saved && !undoing => {
                    // Where the text is the disk's, nothing unsaved has survived, the user's words beside it neither.
                    let now = now.filter(|now| self.disk_text(&hunk.doc).as_ref() == Some(now));
                    let is_gone = now.as_ref().is_some_and(|now| !holds_part_of(&hunk, now));
                    let stood = now.and_then(|now| Some((Ledger::stood(&hunk, &now)?, now)));
                    let given = self.give_back_upon(&hunk)
                        || stood.is_some_and(|(range, now)| self.give_back(&hunk, &now, range));
                    match (given, is_gone) {
                        (true, _) => {}
                        (false, true) => self.lose(hunk),
                        (false, false) => self.ledger.texts.push(hunk),
                    }
                }
                _ => self.ledger.texts.push(hunk),
            }
        }
    }

    /// A published hunk went with the editor's unsaved text and has no place in what is there now. It is told once.
    fn lose(&mut self, mut hunk: Published) {
        let what = match hunk.new.lines().find(|line| !line.trim().is_empty()) {
            Some(line) => shortened(line),
            None => "a deletion".to_owned(),
        };
        let why =
            format!("{what} was accepted and never saved, and the text that it stood in is gone");
        self.not_restored(&hunk.file, &why);
        // Nothing waits for it any more; should its text turn up, it can be undone still.
        hunk.saved = true;
        self.ledger.texts.push(hunk);
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
            let TextMatch::Old(range) = Ledger::stands(hunk, file.entry.text()) else {
                return false;
            };
            // A pending change of its own may look like the text that was replaced.
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
            let place = place_of(&self.roots, id, false).transpose().ok()?;
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
            let file = ForkFile::new(shown, place, Entry::new(base));
            self.fork.files.insert(id.clone(), file);
        }
        self.fork.files.get_mut(id)
    }
}

/// True if the old form of a hunk, at `range` of the proposed text and with the lines around it,
/// reaches into a change that is pending again.
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

/// True if a line that the hunk brought stands in a text: the user has changed it and saved it, so it is not lost. O(n).
fn holds_part_of(hunk: &Published, text: &Text) -> bool {
    let text = text.to_string();
    let lines = hunk.new.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.filter(|line| !hunk.old.contains(line)).any(|line| text.contains(line))
}
