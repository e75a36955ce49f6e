//! Taking records in, as a journal is read. What a file written by hand may say is judged here.

use super::wire::{BaseState, BaseText, Edit, PendingFile, StateRecord, WrittenChange};
use super::{HunkLines, KeptFile, SavedState};
use crate::entry::{FileChange, Mark};
use crate::{DocId, HunkId};
use ropewalk_text::{Change, ChangeSet, Text};
use std::sync::Arc;

/// Ids and turns are counted; no count comes near this, and none that does is believed: the next one must have
/// room.
const HIGHEST: u64 = 1 << 53;

/// Why a record was not taken in. The state is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The text is given as changes of one that is not there.
    #[error("the text of {doc} is written as changes of an earlier one, which is missing")]
    NoBase {
        /// The file.
        doc: DocId,
    },
    /// Changes that are not sorted, overlap, lie outside the text or inside a character, or change nothing.
    #[error(
        "a change of {doc} at bytes {start} to {end} doesn't fit its text of {len} bytes or the change before it"
    )]
    Misplaced {
        /// The file.
        doc: DocId,
        /// Where the change begins.
        start: usize,
        /// Where it ends.
        end: usize,
        /// The length of the text.
        len: usize,
    },
    /// Another number of marks than changes.
    #[error("{doc} has {changes} changes but {marks} marks")]
    Marks {
        /// The file.
        doc: DocId,
        /// The changes.
        changes: usize,
        /// The marks.
        marks: usize,
    },
    /// A text where there can be none.
    #[error("{doc} has a text although it is said to have none")]
    TextOfNothing {
        /// The file.
        doc: DocId,
    },
    /// A published hunk under another id than its own.
    #[error("what was accepted as change {expected} says that it is change {found}")]
    OtherHunk {
        /// The id of the record.
        expected: u64,
        /// The id in it.
        found: u64,
    },
    /// A number that no count comes to.
    #[error("{number} is too large for an id or a turn")]
    TooLarge {
        /// The number.
        number: u64,
    },
    /// The rename says that it comes from itself.
    #[error("{doc} is said to be renamed from itself")]
    FromItself {
        /// The file.
        doc: DocId,
    },
}

impl SavedState {
    /// Takes a record in, as a journal is read.
    ///
    /// # Errors
    /// [`StateError`] for a record that fits nothing; the state stays as it was.
    pub fn take(&mut self, record: StateRecord) -> Result<(), StateError> {
        match record {
            StateRecord::File(state) => self.take_file(*state)?,
            StateRecord::FileGone { doc } => {
                self.files.remove(&doc);
            }
            StateRecord::Published { id, texts, files } => {
                let texts_are = texts.iter().map(|hunk| (hunk.id, hunk.turn));
                for (found, turn) in texts_are.chain(files.iter().map(|file| (file.id, file.turn)))
                {
                    if found != id {
                        return Err(StateError::OtherHunk { expected: id.0, found: found.0 });
                    }
                    counted(turn)?;
                }
                for hunk in &texts {
                    counted(hunk.undoing.map_or(0, |publish| publish.0))?;
                }
                self.given(id)?;
                self.ledger.insert(id, Arc::new(HunkLines { texts, files }));
            }
            StateRecord::Unpublished { id } => {
                self.ledger.remove(&id);
            }
            StateRecord::Decided { rejected, accepted } => {
                for id in rejected.iter().chain(&accepted) {
                    counted(id.0)?;
                }
                Arc::make_mut(&mut self.rejected).extend(rejected);
                Arc::make_mut(&mut self.accepted).extend(accepted);
            }
            StateRecord::Names { doc, former } => {
                let names = Arc::make_mut(&mut self.names);
                names.insert(doc, former.into_iter().collect());
            }
            StateRecord::News { notes } => self.news = notes,
            StateRecord::Ids { hunk, publish } => {
                let (hunk, publish) = (counted(hunk)?, counted(publish)?);
                self.last_hunk = self.last_hunk.max(hunk);
                self.last_publish = self.last_publish.max(publish);
            }
        }
        Ok(())
    }

    fn take_file(&mut self, state: PendingFile) -> Result<(), StateError> {
        let PendingFile { doc, shown, base, text, changes, marks, .. } = state;
        let PendingFile { file, mode, home, disk, returned, .. } = state;
        let (file, mode) = match file {
            Some((WrittenChange::Mode { mode: alone }, mark)) => {
                (None, mode.or(Some((alone, mark))))
            }
            Some((WrittenChange::Change(change), mark)) => (Some((change, mark)), mode),
            None => (None, mode),
        };
        let text = match text {
            BaseText::Whole(text) => Text::from(text.as_str()),
            BaseText::Changed(changes) => {
                let last = self.bases.get(&doc);
                let last = last.ok_or_else(|| StateError::NoBase { doc: doc.clone() })?;
                applied(&doc, changes, last)?
            }
        };
        let is_text = matches!(base, BaseState::Buffer | BaseState::Disk { .. });
        if !is_text && !text.is_empty() {
            return Err(StateError::TextOfNothing { doc });
        }
        let set = fitting(changes, &text).map_err(|edit| edit.error(&doc))?;
        if set.changes().len() != marks.len() {
            let (changes, marks) = (set.changes().len(), marks.len());
            return Err(StateError::Marks { doc, changes, marks });
        }
        let disk = disk.map(|changes| applied(&doc, changes, &text)).transpose()?;
        if matches!(&file, Some((FileChange::Rename { from }, _)) if *from == doc) {
            return Err(StateError::FromItself { doc });
        }
        let of_file = || file.iter().map(|(_, mark)| mark).chain(mode.iter().map(|(_, mark)| mark));
        for Mark { id, turn, sent, .. } in marks.iter().chain(of_file()) {
            counted(id.0)?;
            counted(*turn)?;
            counted(sent.map_or(0, |publish| publish.0))?;
        }
        for hunk in &returned {
            counted(hunk.id.0)?;
            counted(hunk.turn)?;
        }
        // Above all of them, whatever the record of ids says.
        for Mark { id, sent, .. } in marks.iter().chain(of_file()) {
            self.last_hunk = self.last_hunk.max(id.0);
            self.last_publish = self.last_publish.max(sent.map_or(0, |publish| publish.0));
        }
        self.bases.insert(doc.clone(), text.clone());
        let kept = KeptFile { shown, base, text, set, marks, file, mode, home, disk, returned };
        self.files.insert(doc, Arc::new(kept));
        Ok(())
    }

    /// Notes that this id has been given.
    fn given(&mut self, id: HunkId) -> Result<(), StateError> {
        self.last_hunk = self.last_hunk.max(counted(id.0)?);
        Ok(())
    }
}

fn counted(number: u64) -> Result<u64, StateError> {
    if number < HIGHEST { Ok(number) } else { Err(StateError::TooLarge { number }) }
}

/// An edit that is not sorted, overlaps another, lies outside the text or inside a character, or changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MisplacedEdit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) len: usize,
}

impl MisplacedEdit {
    fn error(self, doc: &DocId) -> StateError {
        let Self { start, end, len } = self;
        StateError::Misplaced { doc: doc.clone(), start, end, len }
    }
}

fn applied(doc: &DocId, changes: Vec<Edit>, text: &Text) -> Result<Text, StateError> {
    let set = fitting(changes, text).map_err(|edit| edit.error(doc))?;
    // It was made for this text, so it fits.
    Ok(set.apply(text).unwrap_or_default())
}

/// The changes as a set of `text`, if they are one.
pub(crate) fn fitting(edits: Vec<Edit>, text: &Text) -> Result<ChangeSet, MisplacedEdit> {
    let (len, mut reached) = (text.len(), 0);
    let mut changes = Vec::with_capacity(edits.len());
    for Edit(start, end, new) in edits {
        let whole = |at: usize| text.floor_boundary(at) == at;
        let in_order = reached <= start && start <= end && end <= len;
        let changes_something = start < end || !new.is_empty();
        if !in_order || !changes_something || !whole(start) || !whole(end) {
            return Err(MisplacedEdit { start, end, len });
        }
        reached = end;
        changes.push(Change::new(start..end, new));
    }
    Ok(ChangeSet::new(len, changes).unwrap_or_else(|| ChangeSet::identity(len)))
}
