//! Renames in the ledger: published changes go with their file to its other name, and back when
//! that is undone.

use super::{FileAfter, Ledger, PublishedFile, UndoSpot};
use crate::{DocId, HunkId};
use ropewalk_text::Text;

impl Ledger {
    /// A file goes by another name, `to`, which is shown so, by a rename of this session's: what was published in it
    /// is to be looked for there.
    pub fn follow(&mut self, from: &DocId, (to, shown): (&DocId, &str), by: (&str, HunkId)) {
        let (session, rename) = by;
        self.texts.change_of_doc(from, |hunk| {
            (hunk.doc, hunk.file, hunk.anchored) = (to.clone(), shown.to_owned(), false);
            if *hunk.session == *session {
                hunk.renames.push(rename);
            }
        });
    }

    /// The same when that rename was undone: the file is `to` again.
    pub fn follow_back(&mut self, from: &DocId, (to, shown): (&DocId, &str), by: (&str, HunkId)) {
        let (session, rename) = by;
        self.texts.change_of_doc(from, |hunk| {
            (hunk.doc, hunk.file, hunk.anchored) = (to.clone(), shown.to_owned(), false);
            if *hunk.session == *session && hunk.renames.last() == Some(&rename) {
                hunk.renames.pop();
            }
        });
    }

    /// Finds the places of a document's texts in what it holds now; those that are not certain stay loose.
    pub(crate) fn anchor(&mut self, doc: &DocId, text: &Text) {
        self.texts.place_of_doc(doc, |hunk| {
            if !hunk.anchored
                && let UndoSpot::At(range) = Self::find(hunk, text)
            {
                (hunk.range, hunk.anchored) = (range, true);
            }
        });
    }
}

/// The lines of a hunk that is a rename: of the name that went, and of the name that came. None if it is another change.
pub fn rename_of(lines: &[PublishedFile], id: HunkId) -> Option<(&PublishedFile, &PublishedFile)> {
    let mut of_it = lines.iter().filter(|line| line.id == id);
    let gone = of_it.clone().find(|line| line.after.is_none() && line.before.is_some())?;
    let came = |line: &&PublishedFile| {
        line.before.is_none() && matches!(line.after, Some(FileAfter::File(_)))
    };
    Some((gone, of_it.find(came)?))
}
