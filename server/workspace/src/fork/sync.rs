//! Bringing a fork's base to the user's text as it is now: over the documents' logs where they are known, else over
//! the difference of the texts.

pub(super) mod whole;

use super::{FileOnDisk, ForkFile};
use crate::document::Document;
use crate::entry::{Base, ChangeTexts, Conflict, Entry, FileChange, HunkIdSource, Maker, Mark};
use crate::ledger::{Ledger, Published, TextMatch};
use crate::log::{LogDelta, Origin};
use crate::view::DiskFile;
use crate::workspace::Workspace;
use crate::{ContentHash, DocId, PublishId};
use ropewalk_text::{ChangeSet, Text, diff};
use std::sync::Arc;

/// Brings one entry's base to now. Ours that was confirmed since goes to the ledger, in the same critical
/// section as the look at the document, so that its place there is true from the start.
///
/// `look` is what the disk has there; without it a file that is not open stays as it was.
pub(crate) fn sync_file(
    workspace: &Workspace,
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
    look: Option<Arc<FileOnDisk>>,
) -> Vec<Conflict> {
    if file.is_under_way() {
        return Vec::new();
    }
    let returned: Vec<Published> =
        file.returned.iter().filter(|hunk| is_pending(&file.entry, hunk, false)).cloned().collect();
    let mut aside = Vec::new();
    let by_buffer = !whole::is_of_no_text(&file.entry)
        && workspace
            .with_document(source, |document| {
                aside = sync_buffer(workspace, session, source, file, document);
            })
            .is_some();
    if !by_buffer {
        aside = catch_up(workspace, session, source, file);
        aside.extend(sync_disk(workspace, session, source, file, look.as_deref()));
    }
    sync_mode(&mut file.entry, look.as_deref());
    match look {
        Some(look) => file.note_look(look),
        None if by_buffer => file.seen.outdate(),
        None => {}
    }
    // Hunks that are pending no more, and were not set aside, have turned up in the user's text.
    let back = returned.into_iter().filter(|hunk| {
        !is_pending(&file.entry, hunk, true) && aside.iter().all(|one| one.mark.id != hunk.id)
    });
    for hunk in back {
        note_back(workspace, session, hunk);
    }
    aside
}

/// True if a hunk that was returned is pending as it was. With `sent`, one on its way counts as
/// pending.
fn is_pending(entry: &Entry, hunk: &Published, sent: bool) -> bool {
    let own = ChangeTexts { id: hunk.id, old: hunk.old.clone(), new: hunk.new.clone() };
    let is_sent = || entry.marks().iter().any(|mark| mark.id == hunk.id && mark.sent.is_some());
    entry.contents(&[hunk.id]).contains(&own) && (sent || !is_sent())
}

/// Puts a returned hunk into the ledger again.
fn note_back(workspace: &Workspace, session: &Arc<str>, hunk: Published) {
    if session.is_empty() {
        return;
    }
    let mut ledger = workspace.ledger();
    let same = |own: &Published| {
        (own.id, &own.session, &own.doc) == (hunk.id, session, &hunk.doc)
            && (&own.old, &own.new) == (&hunk.old, &hunk.new)
    };
    if !ledger.texts.of_hunk(hunk.id).any(same) {
        ledger.texts.push(Published { session: session.clone(), anchored: false, ..hunk });
    }
}

/// Effects of one document's steps on a fork.
#[derive(Default)]
struct ReplayEffects {
    aside: Vec<Conflict>,
    /// Changes of the fork that were published.
    fresh: Ledger,
    /// Published changes that were undone again.
    undone: Vec<Published>,
}

impl ReplayEffects {
    /// Tells of it, and gives what was set aside.
    fn tell(
        mut self,
        workspace: &Workspace,
        session: &Arc<str>,
        saved: Option<&Text>,
    ) -> Vec<Conflict> {
        if session.is_empty() {
            return self.aside;
        }
        if let Some(saved) = saved.filter(|_| !self.fresh.texts.is_empty()) {
            self.fresh.found_saved(saved);
        }
        workspace.ledger().texts.extend(self.fresh.texts);
        for hunk in self.undone {
            workspace.tell(Some(session.clone()), hunk.undone());
        }
        self.aside
    }
}

/// Takes in the document's steps since the entry last looked, if it is the one that it looked at.
fn replay(
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
    document: &Document,
) -> ReplayEffects {
    let mut out = ReplayEffects::default();
    let entry = &mut file.entry;
    let Base::Buffer { cursor, .. } = &entry.base else { return out };
    if !document.log().knows(cursor) {
        return out;
    }
    let cursor = cursor.clone();
    let mut before = entry.base.text();
    let rereads = entry.disk.as_ref().map_or(0, |disk| {
        let not_ours = |delta: &&LogDelta| !matches!(delta.origin, Origin::Publish(_));
        steps_to(disk, &before, document.log().since(&cursor).take_while(not_ours))
    });
    for (index, delta) in document.log().since(&cursor).enumerate() {
        let Ok(after) = delta.change.apply(&before) else { break };
        out.undone.extend(out.fresh.moved(source, &delta.change, (Some(&before), &after)));
        out.aside.iter_mut().for_each(|one| one.follow(&delta.change));
        match delta.origin {
            _ if index + 1 < rereads => {}
            _ if index + 1 == rereads => entry.landed(after.clone()),
            Origin::Publish(id) if entry.marks().iter().any(|mark| mark.sent == Some(id)) => {
                out.aside.extend(entry.leave_disk());
                let ids = entry.sent_by(id, &delta.change);
                entry.published(id, &delta.change, after.clone());
                let about = Published::about(session.clone(), source.clone(), file.shown.clone());
                out.fresh.record(&about, &before, &delta.change, &after, &ids);
            }
            _ => out.aside.extend(entry.rebase(&delta.change, after.clone())),
        }
        before = after;
    }
    // Text typed after a change lost its place belongs to the text that stands there.
    out.aside.iter_mut().for_each(|one| one.stands_in(&before));
    out
}

/// How many of these steps lead from `text` to what the disk has: the editor read it anew, in several places, or after
/// the user had typed. 0 when they don't.
fn steps_to<'a>(disk: &Text, text: &Text, steps: impl Iterator<Item = &'a LogDelta>) -> usize {
    let mut text = text.clone();
    let mut found = 0;
    for (index, delta) in steps.enumerate() {
        let Ok(after) = delta.change.apply(&text) else { break };
        if after == *disk {
            found = index + 1;
        }
        text = after;
    }
    found
}

/// Takes in the last steps of a document that was closed before anyone looked: an edit of ours that was made in it would
/// else be taken for the user's text, and stay pending. Without one the difference from what was looked at to what is
/// there now says more: what the user threw away by closing it has moved nothing.
pub(crate) fn catch_up(
    workspace: &Workspace,
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
) -> Vec<Conflict> {
    let Base::Buffer { cursor, .. } = &file.entry.base else { return Vec::new() };
    let cursor = cursor.clone();
    let aside = workspace.with_closed(source, &cursor, |document| {
        if !has_made(&file.entry, document) {
            return Vec::new();
        }
        let mut replayed = replay(session, source, file, document);
        let now = document.text().clone();
        replayed.aside.extend(file.entry.rebase_to(now.clone()));
        replayed.fresh.loosen(source);
        file.entry.base = Base::Buffer { text: now, cursor: document.cursor() };
        replayed.tell(workspace, session, document.last_saved())
    });
    aside.unwrap_or_default()
}

/// True if one of the document's steps since the entry last looked is a pending change, which was
/// sent.
fn has_made(entry: &Entry, document: &Document) -> bool {
    let Base::Buffer { cursor, .. } = &entry.base else { return false };
    let is_sent = |id: PublishId| entry.marks().iter().any(|mark| mark.sent == Some(id));
    let made = |delta: &LogDelta| matches!(delta.origin, Origin::Publish(id) if is_sent(id));
    document.log().knows(cursor) && document.log().since(cursor).any(made)
}

/// True if a pending change is in the document's text already, or on its way and can't be called
/// back. An editor that checks no versions makes it wherever the text has gone.
fn is_ours(workspace: &Workspace, entry: &Entry, document: &Document) -> bool {
    let is_sent = |mark: &Mark| mark.sent.is_some_and(|id| document.is_expected(id));
    let is_bound = || !workspace.habits().checks_versions && entry.marks().iter().any(is_sent);
    has_made(entry, document) || is_bound()
}

fn sync_buffer(
    workspace: &Workspace,
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
    document: &mut Document,
) -> Vec<Conflict> {
    melt_returned(workspace, session, file, document.text());
    let mut aside = catch_up(workspace, session, source, file);
    aside.extend(whole::over_buffer(&mut file.entry, document));
    if !is_ours(workspace, &file.entry, document) {
        aside.extend(whole::made_over_buffer(&mut file.entry, document));
    }
    let mut replayed = replay(session, source, file, document);
    let entry = &mut file.entry;
    let (was, now) = (entry.base.text(), document.text().clone());
    if was != now {
        replayed.aside.extend(entry.rebase_to(now.clone()));
        replayed.fresh.loosen(source);
    }
    entry.base = Base::Buffer { text: now, cursor: document.cursor() };
    aside.extend(replayed.tell(workspace, session, document.last_saved()));
    aside.extend(entry.set_aside_lost(|id| document.is_lost(id) || workspace.is_lost(id)));
    // A change that was sent and is expected no more, without having been confirmed, waits for the
    // user again.
    entry.free_unexpected(|id| document.is_expected(id));
    aside
}

fn sync_disk(
    workspace: &Workspace,
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
    look: Option<&FileOnDisk>,
) -> Vec<Conflict> {
    let entry = &mut file.entry;
    let mut aside = entry.set_aside_lost(|id| workspace.is_lost(id));
    entry.free_unexpected(|_| false);
    if workspace.is_gone(source) {
        aside.extend(entry.give_way_to("(the document was closed, and had no file)"));
        return aside;
    }
    let Some((look, place)) = look.and_then(|look| Some((look, look.place.as_ref()?))) else {
        return aside;
    };
    // A new file is made under its own name: a link above it, which goes first, is not followed. A
    // rename stands on the file that it leaves, which may come back.
    let is_free = matches!(entry.base, Base::Absent)
        && !matches!(entry.file, Some((FileChange::Rename { .. }, _)))
        && file.place.as_ref().is_some_and(|own| own.path != place.path);
    let found = if is_free { Some(DiskFile::Missing) } else { look.found.clone() };
    let Some(found) = found else { return aside };
    if let DiskFile::Text { text, .. } = &found {
        melt_returned(workspace, session, file, text);
    }
    let entry = &mut file.entry;
    let was = entry.base.text();
    aside.extend(whole::over_disk(entry, &found));
    aside.extend(whole::made_over_disk(entry, &found));
    if entry.is_whole() {
        // The text that it was made of is there.
        entry.disk = None;
    }
    match found {
        DiskFile::Text { text, hash, format } => {
            if was != text {
                aside.extend(entry.rebase_to(text.clone()));
            }
            entry.base = Base::Disk { text, hash, format };
            entry.file.take_if(|(change, _)| is_of_bytes(change, hash));
        }
        DiskFile::Binary { hash, .. } => {
            aside.extend(text_gone(entry));
            entry.base = Base::Binary { hash };
            entry.file.take_if(|(change, _)| is_of_bytes(change, hash));
        }
        DiskFile::Missing => {
            aside.extend(text_gone(entry));
            entry.base = Base::Absent;
            // It is gone already, whoever did it.
            entry.file.take_if(|(change, _)| *change == FileChange::Delete);
        }
        DiskFile::Link { target } => {
            aside.extend(text_gone(entry));
            let there = FileChange::Link(target.clone());
            entry.base = Base::Link { target };
            entry.file.take_if(|(change, _)| *change == there);
        }
    }
    aside
}

/// True if the change is to the bytes with this hash.
fn is_of_bytes(change: &FileChange, hash: ContentHash) -> bool {
    matches!(change, FileChange::Binary(bytes) if ContentHash::of(bytes) == hash)
}

/// A mode that the file has already is pending no more, whoever set it; nor is that of a file that is neither there
/// nor to be made.
fn sync_mode(entry: &mut Entry, look: Option<&FileOnDisk>) {
    entry.drop_stray_mode();
    let Some((mode, _)) = entry.mode.as_ref().filter(|_| !matches!(entry.base, Base::Absent))
    else {
        return;
    };
    let there = look.and_then(|look| look.meta);
    if there.is_some_and(|there| there.mode & 0o777 == mode & 0o777) {
        entry.mode = None;
    }
}

/// There is no text any more that changes could be made in.
fn text_gone(entry: &mut Entry) -> Vec<Conflict> {
    let len = entry.base.text().len();
    entry.rebase(&ChangeSet::single(len, 0..len, ""), Text::default())
}

/// Drops from the pending changes one that was returned too early: a buffer with unsaved text has
/// brought it, in `now`. The ledger has it again.
fn melt_returned(workspace: &Workspace, session: &Arc<str>, file: &mut ForkFile, now: &Text) {
    if file.returned.is_empty() {
        return;
    }
    let entry = &mut file.entry;
    file.returned.retain(|hunk| is_pending(entry, hunk, true));
    if entry.base.text() == *now {
        return;
    }
    // One that is on its way to the editor turns up because of that.
    let turned_up = |hunk: &Published| {
        is_pending(entry, hunk, false) && matches!(Ledger::stands(hunk, now), TextMatch::New(_))
    };
    let (back, still): (Vec<_>, Vec<_>) =
        std::mem::take(&mut file.returned).into_iter().partition(turned_up);
    file.returned = still;
    entry.remove(&back.iter().map(|hunk| hunk.id).collect::<Vec<_>>());
    for hunk in back {
        note_back(workspace, session, hunk);
    }
}

/// A clean buffer whose file has moved on the disk: the disk's text is the truth, and comes as a change of
/// origin disk.
pub(crate) fn follow_disk(
    workspace: &Workspace,
    source: &DocId,
    file: &mut ForkFile,
    ids: &mut HunkIdSource,
) -> Vec<Conflict> {
    if file.entry.is_being_renamed() {
        return Vec::new();
    }
    // Where nothing of the fork's own is pending any more the editor has all the time to read it.
    if file.entry.is_of_disk_alone() {
        return file.entry.leave_disk();
    }
    // A file that goes, or is changed as a whole, has no text that the disk's could be brought to.
    if !matches!(file.entry.file, None | Some((FileChange::Rename { .. }, _))) {
        return Vec::new();
    }
    let moved = workspace.with_document(source, |document| document.moved.clone()).flatten();
    if file.entry.disk == moved {
        return Vec::new();
    }
    let aside = file.entry.leave_disk();
    let Some(disk) = moved else { return aside };
    // Changes of the disk that are on their way are not brought a second time: the echo or the
    // answer comes first.
    if file.entry.marks().iter().any(|mark| mark.makers.contains(&Maker::Disk)) {
        return aside;
    }
    let theirs = diff(&file.entry.base.text(), &disk);
    let Ok(rebased) = file.entry.set().rebase(&theirs) else { return aside };
    if rebased.is_clean() {
        let mark = Mark { id: ids.give(), turn: 0, makers: vec![Maker::Disk], sent: None };
        file.entry.add(&rebased.theirs, &mark, ids);
        file.entry.disk = Some(disk);
    }
    aside
}
