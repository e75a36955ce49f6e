//! One open document: the buffer as the editor has it.
//!
//! Only [`Document::change`], which is the client's didChange, ever alters the text; our own edits come
//! back to us that way and are recognised by `proof`. The disk beside it is looked at by `workspace`.

mod echo;
mod find;
mod part;
mod saved;

pub use saved::DiskLook;
pub(crate) use saved::{Doubt, Saved};

use crate::PublishId;
use crate::editor::Habits;
use crate::log::{DeltaLog, Origin};
use crate::proof::{Expected, Settled};
use echo::ToldChange;
use ropewalk_text::decode::Encoding;
use ropewalk_text::{ChangeSet, Coordinates, Position, Text, coarse_diff};

/// A notification that deletes more lines than this, or more than half of the document, is coarse.
const COARSE_LINES: usize = 20;

/// Agreement of the text here with the editor's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accord {
    /// As far as anybody knows.
    #[default]
    Certain,
    /// A position did not exist here: it was clamped, and the next save tells.
    Doubted,
    /// A change could not be read, or had its range the wrong way round. No edit is made on the text until it is known
    /// again: from a change that holds all of it, from a save, or because it is closed and opened.
    Lost,
}

/// One content change of a didChange notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentChange {
    /// The replaced range in the client's coordinates; None replaces the whole text.
    pub range: Option<(Position, Position)>,
    /// The new text.
    pub text: String,
}

/// An open document.
#[derive(Debug)]
pub struct Document {
    /// The client's own spelling of the URI, for replies.
    pub spelling: String,
    /// The language identifier of didOpen.
    pub language: String,
    /// The version of the last didOpen or didChange.
    pub version: i32,
    text: Text,
    log: DeltaLog,
    /// Text of the disk when it was last read; None if that was no text.
    pub saved: Option<Saved>,
    /// The disk's newer text, when the buffer is as it was saved and the disk has moved on.
    pub moved: Option<Text>,
    /// The text at the last didSave, until the disk is found to hold it.
    written: Option<Text>,
    /// True if nothing was heard of the document since its last didSave.
    just_written: bool,
    accord: Accord,
    expected: Vec<Expected>,
    /// Edits for the first version that it has left behind, until the client has answered: it may still make them if it
    /// opens the file again for them.
    overtaken: Vec<Expected>,
    /// Edits that ended in a conflict: of them it will never be known whether they were made.
    lost: Vec<PublishId>,
    /// The version of didOpen, and the edits that were for it: a client that opens the file again for an edit
    /// counts from there too, and finds that it fits.
    first: (i32, Vec<PublishId>),
    /// When it was last opened or changed, counted over all documents.
    pub(crate) used: u64,
}

/// Effect of a notification on the document.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NotificationEffect {
    /// Positions that did not exist in our text, and ranges that end before they begin: the client and we disagree
    /// about it.
    pub desync_alarms: usize,
    /// True if it is only since then that nobody knows what the document holds.
    pub lost: bool,
    /// Each step of the text, in order.
    pub steps: Vec<Step>,
}

/// One step of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Maker of the step: the user, or an edit of ours.
    pub origin: Origin,
    /// The change.
    pub change: ChangeSet,
    /// The text before it. None for what only inserts: there it is what is left of the text after it.
    pub before: Option<Text>,
    /// The text after it.
    pub after: Text,
}

impl Document {
    /// A document as didOpen brings it.
    pub fn new(spelling: String, language: String, version: i32, text: Text) -> Self {
        Self {
            spelling,
            language,
            version,
            text,
            log: DeltaLog::default(),
            saved: None,
            moved: None,
            written: None,
            just_written: false,
            accord: Accord::Certain,
            expected: Vec::new(),
            overtaken: Vec::new(),
            lost: Vec::new(),
            first: (version, Vec::new()),
            used: 0,
        }
    }

    /// The text now.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The steps to now.
    pub fn log(&self) -> &DeltaLog {
        &self.log
    }

    /// A cursor at the text as it is now.
    pub fn cursor(&mut self) -> crate::log::Cursor {
        self.log.cursor()
    }

    /// Takes in a didChange. `trusts_versions`: the client skips edits for a version it has left behind, so
    /// a whole notification without our edit proves that it was skipped.
    ///
    /// O(log n) for a keystroke; O(n) for coarse changes and while an edit of ours is under way.
    pub fn change(
        &mut self,
        version: i32,
        changes: &[ContentChange],
        coordinates: Coordinates,
        habits: &Habits,
    ) -> NotificationEffect {
        self.version = version;
        self.just_written = false;
        let accord = self.accord;
        let mut out = NotificationEffect::default();
        let inserts =
            |change: &ContentChange| change.range.is_some_and(|(start, end)| start == end);
        // Insertions are never coarse, and while no edit of ours is under way nobody asks for the text before
        // them. A rope that is not shared is changed in place, so typing is spared a copy of its path.
        let before =
            (!self.expected.is_empty() || !changes.iter().all(inserts)).then(|| self.text.clone());
        let steps: Vec<ToldChange> =
            changes.iter().map(|change| self.told(change, coordinates, &mut out)).collect();
        let before = before.unwrap_or_else(|| self.text.clone());
        self.take_in(before, &steps, (coordinates, habits.checks_versions), &mut out);
        self.pass_over(habits.trusts_versions());
        // The disk's lead over a clean buffer is judged anew when the disk is next looked at.
        self.moved = None;
        out.lost = accord < Accord::Lost && self.accord == Accord::Lost;
        if out.lost {
            self.give_up_edits();
        }
        out
    }

    /// Makes one content change in the text. The protocol has no range that ends before it begins; its own library
    /// reads one the other way round, and so does this, but takes nobody's word for the text from then on.
    fn told(
        &mut self,
        change: &ContentChange,
        coordinates: Coordinates,
        out: &mut NotificationEffect,
    ) -> ToldChange {
        let range = match change.range {
            Some((start, end)) => {
                let (start, end, reversed) = (start.min(end), start.max(end), end < start);
                let typed = start == end;
                let start = coordinates.position_to_byte(&self.text, start);
                let end = if typed { start } else { coordinates.position_to_byte(&self.text, end) };
                let clamped = usize::from(!start.exact) + usize::from(!end.exact);
                out.desync_alarms += clamped + usize::from(reversed);
                self.accord = match (reversed, clamped) {
                    (true, _) => Accord::Lost,
                    (false, 0) => self.accord,
                    (false, _) => self.accord.max(Accord::Doubted),
                };
                start.byte..end.byte.max(start.byte)
            }
            None => {
                self.accord = Accord::Certain;
                0..self.text.len()
            }
        };
        let deletes_lines = range.len() > COARSE_LINES;
        let lines =
            |text: &Text| text.line_feeds_before(range.end) - text.line_feeds_before(range.start);
        let deleted_lines = if deletes_lines { lines(&self.text) } else { 0 };
        let set = ChangeSet::single(self.text.len(), range.clone(), change.text.as_str());
        let (deleted, whole) = (range.len(), change.range.is_none());
        self.text.replace(range, &change.text);
        ToldChange { set, after: self.text.clone(), deleted, deleted_lines, whole }
    }
}

fn settle(waiter: Option<tokio::sync::oneshot::Sender<Settled>>, how: Settled) {
    if let Some(waiter) = waiter {
        // The publisher may have been dropped with its session; the log has the truth either way.
        let _ = waiter.send(how);
    }
}

impl Document {
    /// Notes an edit that is about to be sent, on the text as it is now. At most one edit of a document is
    /// under way: None is answered while there is one.
    pub fn expect(
        &mut self,
        id: PublishId,
        edit: ChangeSet,
    ) -> Option<tokio::sync::oneshot::Receiver<Settled>> {
        if self.expected.iter().any(|expected| !expected.unconfirmed) {
            return None;
        }
        if self.version == self.first.0 {
            self.first.1.push(id);
        }
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.expected.push(Expected {
            id,
            sent: (self.text.clone(), edit.clone()),
            edit,
            answer: None,
            passed_over: false,
            unconfirmed: false,
            in_parts: false,
            waiter: Some(sender),
        });
        Some(receiver)
    }

    /// The client answered our edit.
    pub fn answered(&mut self, id: PublishId, applied: bool, trusts_versions: bool) {
        if let Some(expected) = self.expected.iter_mut().find(|expected| expected.id == id) {
            expected.answer = Some(applied);
        }
        for overtaken in self.overtaken.extract_if(.., |own| own.id == id) {
            settle(overtaken.waiter, Settled::Skipped);
        }
        self.settle_skipped(trusts_versions);
    }

    /// The bound for the echo has passed: the slot is free again, the edit is kept in mind.
    pub fn give_up_waiting(&mut self, id: PublishId) {
        let mut all = self.expected.iter_mut().chain(&mut self.overtaken);
        if let Some(expected) = all.find(|expected| expected.id == id) {
            expected.unconfirmed = true;
            settle(expected.waiter.take(), Settled::Unconfirmed);
        }
    }

    /// True if the edit is neither confirmed nor given up as impossible.
    pub fn is_expected(&self, id: PublishId) -> bool {
        self.expected.iter().chain(&self.overtaken).any(|expected| expected.id == id)
    }

    /// True if the edit was sent and its echo is still waited for.
    pub fn is_waited_for(&self, id: PublishId) -> bool {
        self.expected.iter().any(|expected| expected.id == id && !expected.unconfirmed)
    }

    /// True if the client says that it made the edit, and has told some places of it and not the others.
    pub(crate) fn is_halfway(&self, id: PublishId) -> bool {
        let is_it = |own: &Expected| own.in_parts && own.answer == Some(true) && !own.unconfirmed;
        self.expected.iter().any(|own| own.id == id && is_it(own))
    }

    /// True if the edit ended in a conflict: it may or may not be in the text.
    pub fn is_lost(&self, id: PublishId) -> bool {
        self.lost.contains(&id)
    }

    /// A change of the document could not be read. True if its text was not lost before.
    pub fn lose_track(&mut self) -> bool {
        self.just_written = false;
        let lost = self.accord < Accord::Lost;
        self.accord = Accord::Lost;
        self.give_up_edits();
        lost
    }

    /// Agreement of our text with the editor's, as far as it is known.
    pub fn accord(&self) -> Accord {
        self.accord
    }

    /// An edit under way may have been in what was lost: it is never sent again.
    fn give_up_edits(&mut self) {
        for expected in self.expected.drain(..) {
            self.lost.push(expected.id);
            settle(expected.waiter, Settled::Conflict);
        }
    }

    /// Takes what the disk held right after a save for the text, where it was in doubt: with nothing heard of the
    /// document since, the editor has just that. Text of which only guesses tell the encoding is left alone.
    pub fn resynchronise(&mut self, disk: &Saved) -> NotificationEffect {
        let mut out = NotificationEffect::default();
        let known = disk.format.encoding != Encoding::Latin1;
        if self.accord == Accord::Certain || !self.just_written || !known {
            return out;
        }
        self.accord = Accord::Certain;
        if !disk.text.equal_but_line_ends(&self.text) {
            self.give_up_edits();
            // Some editors show line feeds alone, whatever the file has.
            let after = match self.text.line_feeds() > 0 && self.text.crlfs() == 0 {
                true => Text::from(disk.text.to_string().replace("\r\n", "\n").as_str()),
                false => disk.text.clone(),
            };
            let before = std::mem::replace(&mut self.text, after.clone());
            let set = coarse_diff(&before, &after);
            self.record(Origin::User, set, &before, &after, &mut out);
        }
        self.written();
        out
    }

    /// The document is closed: nothing more will be known of edits under way. Gives those that may be in the
    /// text it had, unrecognised: an editor tells of changes before it closes, so an edit that was not seen is
    /// not there, but for those that were given up, those that were for the first version (the client may open the
    /// file for them) and, of clients that check nothing, all.
    pub fn close(&mut self, checks_versions: bool) -> Vec<PublishId> {
        for expected in self.expected.drain(..).chain(self.overtaken.drain(..)) {
            let fits_again = self.first.1.contains(&expected.id);
            if expected.unconfirmed || fits_again || !checks_versions {
                self.lost.push(expected.id);
            }
            settle(expected.waiter, Settled::Closed);
        }
        std::mem::take(&mut self.lost)
    }

    /// Orders the documents that show one file: the greatest is in use.
    pub(crate) fn use_rank(&self) -> (bool, u64) {
        (!self.is_clean() && self.moved.is_none(), self.used)
    }
}
