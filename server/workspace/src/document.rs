//! One open document: the buffer as the editor has it.
//!
//! Only [`Document::change`], which is the client's didChange, ever alters the text; our own edits come
//! back to us that way and are recognised by `proof`. The disk beside it is looked at by `workspace`.

use crate::disk::FileMeta;
use crate::editor::Habits;
use crate::log::{Delta, DeltaLog, Origin};
use crate::proof::{Expected, Settled, Sighting};
use crate::workspace::DiskLook;
use crate::{ContentHash, PublishId};
use ropewalk_text::decode::FileFormat;
use ropewalk_text::{ChangeSet, Coordinates, Position, Text, diff};

/// A notification that deletes more lines than this, or more than half of the document, is coarse.
const COARSE_LINES: usize = 20;

/// At least so many content changes are looked at as what an edit of ours may have come in.
const RUN: usize = 16;

/// One content change of a didChange notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentChange {
    /// The replaced range in the client's coordinates; None replaces the whole text.
    pub range: Option<(Position, Position)>,
    /// The new text.
    pub text: String,
}

/// The disk's content as it was when it was last looked at.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The hash of the file's bytes.
    pub hash: ContentHash,
    /// The decoded text. Shares the buffer's memory when they were equal.
    pub text: Text,
    /// How the bytes are encoded.
    pub format: FileFormat,
    /// The file's metadata from before it was read, if it was settled: as long as it is the same, the file need
    /// not be read again.
    pub meta: Option<FileMeta>,
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
    /// What the disk held when it was last read, if it held text.
    pub saved: Option<Saved>,
    /// The disk's newer text, when the buffer is as it was saved and the disk has moved on.
    pub moved: Option<Text>,
    /// The text at the last didSave, until the disk is found to hold it.
    written: Option<Text>,
    expected: Vec<Expected>,
    /// Edits that ended in a conflict: of them it will never be known whether they were made.
    lost: Vec<PublishId>,
    /// The version of didOpen, and the edits that were for it: a client that opens the file again for an edit
    /// counts from there too, and finds that it fits.
    first: (i32, Vec<PublishId>),
}

/// What a notification did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Positions that did not exist in our text: the client and we disagree about it.
    pub desync_alarms: usize,
    /// Each step of the text, in order.
    pub steps: Vec<Step>,
}

/// One step of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who made it.
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
            expected: Vec::new(),
            lost: Vec::new(),
            first: (version, Vec::new()),
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
    ) -> Changed {
        self.version = version;
        let mut out = Changed::default();
        let inserts =
            |change: &ContentChange| change.range.is_some_and(|(start, end)| start == end);
        let length = self.text.len();
        // Insertions are never coarse, and while no edit of ours is under way nobody asks for the text before
        // them. A rope that is not shared is changed in place, so typing is spared a copy of its path.
        let before =
            (!self.expected.is_empty() || !changes.iter().all(inserts)).then(|| self.text.clone());
        let mut steps = Vec::with_capacity(changes.len());
        let mut deleted_lines = 0;
        let mut deleted = 0;
        let mut whole = false;
        for change in changes {
            let range = match change.range {
                Some((start, end)) => {
                    let typed = start == end;
                    let start = coordinates.position_to_byte(&self.text, start);
                    let end =
                        if typed { start } else { coordinates.position_to_byte(&self.text, end) };
                    out.desync_alarms += usize::from(!start.exact) + usize::from(!end.exact);
                    start.byte..end.byte.max(start.byte)
                }
                None => {
                    whole = true;
                    0..self.text.len()
                }
            };
            deleted += range.len();
            if range.len() > COARSE_LINES {
                deleted_lines += self.text.line_feeds_before(range.end)
                    - self.text.line_feeds_before(range.start);
            }
            let set = ChangeSet::single(self.text.len(), range.clone(), change.text.as_str());
            self.text.replace(range, &change.text);
            steps.push((set, self.text.clone()));
        }
        let coarse =
            whole || deleted_lines > COARSE_LINES || (deleted > 80 && deleted > length / 2);
        if let (true, Some(before)) = (coarse, &before) {
            // A formatter or a reload: only what really differs is a change, so that hunks survive it.
            steps = vec![(diff(before, &self.text), self.text.clone())];
        }
        let mut previous = before.unwrap_or_else(|| self.text.clone());
        let mut rest = steps.as_slice();
        while !rest.is_empty() {
            // An edit of several places comes as one content change for each of them.
            let ours = self.run_of_ours(&previous, rest, habits.checks_versions);
            let (run, others) = rest.split_at(ours.max(1));
            let set = match run {
                [(set, _)] => Some(Ok(set.clone())),
                _ => ChangeSet::compose_all(
                    &run.iter().map(|(set, _)| set.clone()).collect::<Vec<_>>(),
                ),
            };
            if let (Some(Ok(set)), Some((_, next))) = (set, run.last()) {
                self.take_in(&previous, set, next, habits.checks_versions, &mut out);
                previous = next.clone();
            }
            rest = others;
        }
        self.pass_over(habits.trusts_versions());
        // What the disk had ahead of a clean buffer is judged anew when the disk is next looked at.
        self.moved = None;
        out
    }

    /// How many of the next steps are, together, exactly an edit of ours; 0 when none are.
    fn run_of_ours(
        &self,
        before: &Text,
        steps: &[(ChangeSet, Text)],
        checks_versions: bool,
    ) -> usize {
        let is_run = |expected: &Expected| {
            let predicted = expected.edit.apply(before).ok()?;
            let longest = expected.edit.changes().len().max(RUN).min(steps.len());
            let steps = steps.get(..longest)?;
            steps.iter().position(|(_, after)| *after == predicted).map(|last| last + 1)
        };
        let possible = self.expected.iter().filter(|e| !checks_versions || !e.passed_over);
        possible.filter_map(is_run).next().unwrap_or(0)
    }

    /// One step of the text: ours, the user's, or both.
    fn take_in(
        &mut self,
        before: &Text,
        set: ChangeSet,
        after: &Text,
        checks_versions: bool,
        out: &mut Changed,
    ) {
        let mut made: Option<(Expected, ChangeSet)> = None;
        let mut kept = Vec::with_capacity(self.expected.len());
        for mut expected in self.expected.drain(..) {
            match expected.look(before, &set, after, checks_versions) {
                Sighting::Made(own) if made.is_none() => made = Some((expected, own)),
                Sighting::Overtaken if checks_versions && !expected.unconfirmed => {
                    settle(expected.waiter, Settled::Skipped);
                }
                Sighting::Made(_) | Sighting::Overtaken | Sighting::Gone => {
                    self.lost.push(expected.id);
                    settle(expected.waiter, Settled::Conflict);
                }
                Sighting::NotYet(edit) => {
                    expected.edit = edit;
                    kept.push(expected);
                }
            }
        }
        self.expected = kept;
        let mut record = |origin, change: ChangeSet, before: &Text, after: Text| {
            if origin != Origin::User || !change.is_empty() {
                let before = (!change.only_inserts()).then(|| before.clone());
                out.steps.push(Step { origin, change: change.clone(), before, after });
                self.log.push(Delta { change, origin });
            }
        };
        match made {
            Some((expected, own)) => {
                let ours = expected.edit.apply(before).unwrap_or_else(|_| after.clone());
                record(Origin::Publish(expected.id), expected.edit, before, ours.clone());
                record(Origin::User, own, &ours, after.clone());
                settle(expected.waiter, Settled::Confirmed);
            }
            None => record(Origin::User, set, before, after.clone()),
        }
    }

    /// After a whole notification: what was not in it, although it should have been, was skipped.
    fn pass_over(&mut self, trusts_versions: bool) {
        for expected in &mut self.expected {
            expected.passed_over = true;
        }
        self.settle_skipped(trusts_versions);
    }

    /// Settles those edits of which it is now certain that the client skipped them.
    fn settle_skipped(&mut self, trusts_versions: bool) {
        let mut index = 0;
        while let Some(expected) = self.expected.get(index) {
            let skipped = match expected.answer {
                Some(false) => true,
                Some(true) => expected.passed_over && trusts_versions,
                None => false,
            };
            if skipped {
                let expected = self.expected.remove(index);
                settle(expected.waiter, Settled::Skipped);
            } else {
                index += 1;
            }
        }
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
            edit,
            answer: None,
            passed_over: false,
            unconfirmed: false,
            waiter: Some(sender),
        });
        Some(receiver)
    }

    /// The client answered our edit. `settles_refusal`: its `applied: false` means that nothing changed.
    pub fn answered(&mut self, id: PublishId, applied: bool, trusts_versions: bool) {
        if let Some(expected) = self.expected.iter_mut().find(|expected| expected.id == id) {
            expected.answer = Some(applied);
        }
        self.settle_skipped(trusts_versions);
    }

    /// The bound for the echo has passed: the slot is free again, the edit is kept in mind.
    pub fn give_up_waiting(&mut self, id: PublishId) {
        if let Some(expected) = self.expected.iter_mut().find(|expected| expected.id == id) {
            expected.unconfirmed = true;
            settle(expected.waiter.take(), Settled::Unconfirmed);
        }
    }

    /// Whether the edit is neither confirmed nor given up as impossible.
    pub fn is_expected(&self, id: PublishId) -> bool {
        self.expected.iter().any(|expected| expected.id == id)
    }

    /// Whether the edit was sent and its echo is still waited for.
    pub fn is_waited_for(&self, id: PublishId) -> bool {
        self.expected.iter().any(|expected| expected.id == id && !expected.unconfirmed)
    }

    /// Whether the edit ended in a conflict: it may or may not be in the text.
    pub fn is_lost(&self, id: PublishId) -> bool {
        self.lost.contains(&id)
    }

    /// The document is closed: nothing more will be known of edits under way. Gives those that may be in the
    /// text it had, unrecognised: an editor tells of changes before it closes, so an edit that was not seen is
    /// not there, but for those that were given up, those that were for the first version (the client may open the
    /// file for them) and, of clients that check nothing, all.
    pub fn close(&mut self, checks_versions: bool) -> Vec<PublishId> {
        for expected in self.expected.drain(..) {
            let fits_again = self.first.1.contains(&expected.id);
            if expected.unconfirmed || fits_again || !checks_versions {
                self.lost.push(expected.id);
            }
            settle(expected.waiter, Settled::Closed);
        }
        std::mem::take(&mut self.lost)
    }

    /// The editor has written the buffer as it is now: what the disk will be found to hold.
    pub fn written(&mut self) {
        self.written = Some(self.text.clone());
    }

    /// The text that the disk was last known to hold, or told to.
    pub fn last_saved(&self) -> Option<&Text> {
        self.written.as_ref().or(self.saved.as_ref().map(|saved| &saved.text))
    }

    /// Whether a write was told of that the disk has not been found to hold. Asked once.
    pub fn take_unfound_write(&mut self) -> bool {
        self.written.take().is_some()
    }

    /// Compares the buffer with what the disk holds now, and keeps the outcome.
    pub fn compare(&mut self, now: Saved) -> DiskLook {
        self.moved = None;
        let is_written = |written: &mut Text| now.text.equal_but_line_ends(written);
        let found = self.written.take_if(is_written).is_some();
        if now.text.equal_but_line_ends(&self.text) {
            // Share the memory where they are equal to the byte.
            let text = if now.text == self.text { self.text.clone() } else { now.text.clone() };
            self.saved = Some(Saved { text, ..now });
            return DiskLook::Clean;
        }
        match &self.saved {
            Some(saved) if saved.hash == now.hash => {
                let text = saved.text.clone();
                self.saved = Some(Saved { text, ..now });
                DiskLook::Dirty
            }
            // The user saved, and has typed on before anybody looked.
            Some(_) if found => {
                self.saved = Some(now);
                DiskLook::Dirty
            }
            Some(_) if self.is_clean() => {
                self.moved = Some(now.text);
                DiskLook::Moved
            }
            Some(_) => {
                // Told once for each content of the disk: from now on it is what is known.
                self.saved = Some(now);
                DiskLook::Conflict
            }
            None => {
                self.saved = Some(now);
                DiskLook::Dirty
            }
        }
    }

    /// Whether the buffer equals the disk's content as last read, line ends aside.
    pub fn is_clean(&self) -> bool {
        self.saved.as_ref().is_some_and(|saved| saved.text.equal_but_line_ends(&self.text))
    }
}
