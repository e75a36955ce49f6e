//! Finds out which side effects were done that were under way when the process ended.
//!
//! Of an edit that had been sent, and of a file that was to be written, the kept state says only that it may have
//! happened. The texts and the disk as they are now say the rest; where they don't, it counts as neither, and is
//! told. Nothing here alters a text.

use crate::entry::{Base, Entry};
use crate::fork::ForkFile;
use crate::ledger::{FileAfter, FileBefore, Ledger, Published, PublishedFile, TextMatch};
use crate::view::LARGEST_FILE;
use crate::{ContentHash, DocId, HunkId, PublishId, Roots};
use ropewalk_files::disk;
use ropewalk_text::{ChangeSet, Text, diff};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Fate of something that was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was done.
    Done,
    /// It was not.
    NotDone,
    /// The file has its new name, and the text that it had before.
    HalfRenamed,
    /// Nobody can tell.
    Unclear,
}

/// Tells the fate of the changes of files in these lines of one hunk.
pub(super) fn fate_of(lines: &[PublishedFile], roots: &Roots) -> Fate {
    let looks: Vec<Option<Now>> = lines.iter().map(|line| look(line, roots)).collect();
    let all = |is: &dyn Fn(&PublishedFile, &Now) -> bool| {
        lines.iter().zip(&looks).all(|(line, now)| now.as_ref().is_some_and(|now| is(line, now)))
    };
    if all(&|line, now| now.is_left(line)) {
        return Fate::Done;
    }
    if all(&|line, now| now.stood(line)) {
        return Fate::NotDone;
    }
    let bytes = lines.iter().find_map(|line| match &line.before {
        Some(FileBefore::File { bytes, .. }) => Some(ContentHash::of(bytes)),
        _ => None,
    });
    let moved = |line: &PublishedFile, now: &Now| match line.after {
        Some(_) => {
            bytes.is_some_and(|hash| matches!(now, Now::File { hash: is, .. } if *is == hash))
        }
        None => *now == Now::Missing,
    };
    if lines.len() == 2 && all(&moved) {
        return Fate::HalfRenamed;
    }
    Fate::Unclear
}

/// State of the name now.
#[derive(PartialEq, Eq)]
enum Now {
    Missing,
    File { hash: ContentHash, mode: u32 },
    Link(PathBuf),
}

impl Now {
    fn is_left(&self, line: &PublishedFile) -> bool {
        match (self, &line.after) {
            (Now::Missing, None) => true,
            (Now::File { hash, .. }, Some(FileAfter::File(after))) => hash == after,
            (Now::File { mode, .. }, Some(FileAfter::Mode { mode: after })) => mode == after,
            (Now::Link(target), Some(FileAfter::Link { link })) => target == link,
            _ => false,
        }
    }

    fn stood(&self, line: &PublishedFile) -> bool {
        match (self, &line.before) {
            (Now::Missing, None) => true,
            (Now::File { hash, .. }, Some(FileBefore::File { bytes, .. })) => {
                *hash == ContentHash::of(bytes)
            }
            (Now::File { mode, .. }, Some(FileBefore::Mode { mode: before })) => mode == before,
            (Now::Link(target), Some(FileBefore::Link { link })) => target == link,
            _ => false,
        }
    }
}

/// Looks at the disk; None if it can't tell.
fn look(line: &PublishedFile, roots: &Roots) -> Option<Now> {
    let place = roots.place_of_name(&line.path).ok()?;
    if let Some(target) = disk::link(roots, &place).ok()? {
        return Some(Now::Link(target));
    }
    match disk::read(roots, &place, LARGEST_FILE) {
        Ok(read) => Some(Now::File { hash: read.hash, mode: read.meta.mode & 0o777 }),
        Err(disk::FileError::NotFound { .. }) => Some(Now::Missing),
        Err(_) => None,
    }
}

/// Changes of one publish that had been sent, as the ledger would have them.
pub(super) struct SentChanges {
    pub publish: PublishId,
    pub ids: Vec<HunkId>,
    pub part: ChangeSet,
    pub after: Text,
    pub forms: Vec<Published>,
}

impl SentChanges {
    /// The first publish of which changes of this file were sent. None if there is none.
    pub(super) fn first(session: &Arc<str>, source: &DocId, file: &ForkFile) -> Option<Self> {
        let entry = &file.entry;
        let publish = entry.marks().iter().filter_map(|mark| mark.sent).min()?;
        let sent = entry.marks().iter().filter(|mark| mark.sent == Some(publish));
        let ids: Vec<HunkId> = sent.map(|mark| mark.id).collect();
        let part = entry.part(&ids)?;
        let before = entry.base.text();
        let after = part.apply(&before).ok()?;
        let mut ledger = Ledger::default();
        let about = Published::about(session.clone(), source.clone(), file.shown.clone());
        ledger.record(&about, &before, &part, &after, &entry.sent_by(publish, &part));
        ledger.loosen(source);
        Some(Self { publish, ids, part, after, forms: ledger.texts.into_iter().collect() })
    }

    /// Judges if the edit is in `now`, which was `before` when it was sent.
    pub(super) fn fate(&self, before: &Text, now: &Text) -> Fate {
        if before == now {
            return Fate::NotDone;
        }
        if self.after == *now {
            return Fate::Done;
        }
        // An edit is made as a whole: one place of it speaks for the others.
        let stands: Vec<TextMatch> =
            self.forms.iter().map(|form| Ledger::stands(form, now)).collect();
        if stands.iter().any(|one| matches!(one, TextMatch::New(_))) {
            Fate::Done
        } else if stands.iter().any(|one| matches!(one, TextMatch::Old(_))) {
            Fate::NotDone
        } else {
            Fate::Unclear
        }
    }

    /// Where [`SentChanges::fate`] is unclear, each change's own: done if the way from `before` to `now` makes it too, not
    /// done if nothing near it has changed.
    pub(super) fn fates(&self, before: &Text, now: &Text) -> Vec<Fate> {
        let theirs = diff(before, now);
        let fate = |change: &ropewalk_text::Change| {
            if theirs.changes().contains(change) {
                Fate::Done
            } else if theirs.touches(&lines_near(before, &change.range)) {
                Fate::Unclear
            } else {
                Fate::NotDone
            }
        };
        self.part.changes().iter().map(fate).collect()
    }
}

/// The lines of a range and those next to them.
fn lines_near(text: &Text, range: &Range<usize>) -> Range<usize> {
    let first = text.line_feeds_before(range.start).saturating_sub(1);
    let last = text.line_feeds_before(range.end) + 2;
    text.line_feed_start(first)..text.line_feed_start(last)
}

/// The part that `sent` is of the entry is in the user's text: the entry drops its copy, and stands on what the
/// part made.
pub(super) fn drop_made(entry: &mut Entry, sent: &SentChanges) {
    let was_text = matches!(entry.base, Base::Buffer { .. } | Base::Disk { .. });
    entry.published(sent.publish, &sent.part, sent.after.clone());
    if !was_text {
        let (text, hash) = (sent.after.clone(), sent.after.hash());
        entry.base = Base::Disk { text, hash, format: Default::default() };
    }
}
