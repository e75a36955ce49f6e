//! The delta log of one open document: how its text got from an earlier state to now.
//!
//! Every reader that may still ask holds a [`Cursor`]. What no cursor points before is dropped, and a log
//! that grows past [`MOST`] entries is composed between the cursors, so typing for hours with one hunk
//! pending stays small. The log does not know what a delta means to a fork.

use crate::PublishId;
use ropewalk_text::ChangeSet;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// Past so many entries the log is composed.
pub const MOST: usize = 1_000;

/// Maker of a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user, their editor, or a formatter: everything that is not ours.
    User,
    /// An edit of ours, confirmed by its echo.
    Publish(PublishId),
}

/// One step of a document's text.
#[derive(Clone, Debug)]
pub struct LogDelta {
    /// From the text before to the text after.
    pub change: ChangeSet,
    /// Maker of the step.
    pub origin: Origin,
}

/// A reader's place in a log. Dropping it lets the log forget.
#[derive(Clone, Debug)]
pub struct Cursor(Arc<u64>);

/// The steps of a document since the oldest cursor.
#[derive(Clone, Debug, Default)]
pub struct DeltaLog {
    /// Each entry and the number of the state it starts from; a composed one spans several states.
    entries: VecDeque<(u64, LogDelta)>,
    /// The number of the state now.
    head: u64,
    cursors: Vec<Weak<u64>>,
}

impl DeltaLog {
    /// Adds the step to the state now. Changes nothing when the delta is empty and the user's.
    pub fn push(&mut self, delta: LogDelta) {
        if delta.change.is_empty() && delta.origin == Origin::User {
            return;
        }
        let from = self.head;
        self.head += 1;
        self.cursors.retain(|cursor| cursor.strong_count() > 0);
        if self.cursors.is_empty() {
            self.entries.clear();
            return;
        }
        self.entries.push_back((from, delta));
        if self.entries.len() > MOST {
            self.shorten();
        }
    }

    /// A cursor at the state now.
    pub fn cursor(&mut self) -> Cursor {
        let place = Arc::new(self.head);
        self.cursors.push(Arc::downgrade(&place));
        Cursor(place)
    }

    /// True if the cursor is one of this log's. A document that was opened anew has another log, in
    /// which the old one's cursors mean nothing.
    pub fn knows(&self, cursor: &Cursor) -> bool {
        self.cursors.iter().any(|own| std::ptr::eq(own.as_ptr(), Arc::as_ptr(&cursor.0)))
    }

    /// True if any reader has steps ahead of it.
    pub fn is_awaited(&self) -> bool {
        let places = self.cursors.iter().filter_map(Weak::upgrade);
        places.min().is_some_and(|oldest| self.entries.iter().any(|(from, _)| *from >= *oldest))
    }

    /// The deltas from `cursor`, which is one of this log's, to now.
    pub fn since(&self, cursor: &Cursor) -> impl Iterator<Item = &LogDelta> {
        let at = *cursor.0;
        self.entries.iter().skip_while(move |(from, _)| *from < at).map(|(_, delta)| delta)
    }

    /// How many entries are held.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if no entry is held.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Drops what no cursor needs and composes runs of the user's deltas between cursors.
    fn shorten(&mut self) {
        let mut places: Vec<u64> =
            self.cursors.iter().filter_map(|cursor| Some(*cursor.upgrade()?)).collect();
        places.sort_unstable();
        let oldest = places.first().copied().unwrap_or(self.head);
        while self.entries.front().is_some_and(|(from, _)| *from < oldest) {
            self.entries.pop_front();
        }
        let mut short: VecDeque<(u64, LogDelta)> = VecDeque::new();
        let mut run: Vec<ChangeSet> = Vec::new();
        let mut run_from = 0;
        for (from, delta) in self.entries.drain(..) {
            let boundary = places.binary_search(&from).is_ok() || delta.origin != Origin::User;
            if boundary {
                flush(&mut short, &mut run, run_from);
            }
            if delta.origin != Origin::User {
                short.push_back((from, delta));
                continue;
            }
            if run.is_empty() {
                run_from = from;
            }
            run.push(delta.change);
        }
        flush(&mut short, &mut run, run_from);
        self.entries = short;
    }
}

fn flush(short: &mut VecDeque<(u64, LogDelta)>, run: &mut Vec<ChangeSet>, from: u64) {
    // The lengths of successive deltas agree by construction; if they ever did not, keeping them apart is
    // safe.
    match ChangeSet::compose_all(run) {
        Some(Ok(change)) => short.push_back((from, LogDelta { change, origin: Origin::User })),
        Some(Err(_)) => short.extend(
            (from..)
                .zip(run.iter().cloned())
                .map(|(from, change)| (from, LogDelta { change, origin: Origin::User })),
        ),
        None => {}
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_text::Text;

    fn typed(log: &mut DeltaLog, text: &mut Text, at: usize, what: &str) {
        let change = ChangeSet::single(text.len(), at..at, what);
        *text = change.apply(text).unwrap();
        log.push(LogDelta { change, origin: Origin::User });
    }

    #[test]
    fn a_long_log_is_composed_between_its_cursors() {
        let (mut log, mut text) = (DeltaLog::default(), Text::from(""));
        let early = log.cursor();
        for _ in 0..10 {
            typed(&mut log, &mut text, 0, "a");
        }
        let (middle, middle_text) = (log.cursor(), text.clone());
        for n in 0..3 * MOST {
            let at = n % (text.len() + 1);
            typed(&mut log, &mut text, at, "é".get(0..2).unwrap());
        }
        assert!(log.len() <= MOST + 1, "{}", log.len());
        let replay = |from: &Cursor, start: Text| {
            log.since(from).fold(start, |text, delta| delta.change.apply(&text).unwrap())
        };
        assert_eq!(replay(&early, Text::from("")), text);
        assert_eq!(replay(&middle, middle_text), text);
    }

    #[test]
    fn a_log_knows_its_own_cursors() {
        let (mut log, mut other) = (DeltaLog::default(), DeltaLog::default());
        let (cursor, theirs) = (log.cursor(), other.cursor());
        assert!(log.knows(&cursor) && log.knows(&cursor.clone()));
        assert!(!log.knows(&theirs));
    }

    #[test]
    fn without_readers_nothing_is_kept() {
        let (mut log, mut text) = (DeltaLog::default(), Text::from(""));
        typed(&mut log, &mut text, 0, "a");
        assert!(log.is_empty());
        let cursor = log.cursor();
        typed(&mut log, &mut text, 0, "b");
        assert_eq!(log.len(), 1);
        drop(cursor);
        typed(&mut log, &mut text, 0, "c");
        assert!(log.is_empty());
    }
}
