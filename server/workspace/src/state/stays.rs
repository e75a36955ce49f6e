//! Work that stays when a fork goes back: changes that some calls have made since, whatever else is taken back.
//!
//! A command in the background may end turns after the one that has started it. Its changes are taken out of the fork
//! before that goes back, and put beside what is pending again.

use super::SavedState;
use crate::entry::{Entry, FileChange, Maker, Mark};
use crate::fork::{Fork, ForkFile, base_of, sync_file};
use crate::workspace::Workspace;
use crate::{DocId, HunkId};
use ropewalk_files::paths::Place;
use ropewalk_text::Change;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// Ids of the calls whose changes stay.
pub type StayingCalls = BTreeSet<Arc<str>>;

/// Tells changes that stay from those that go.
pub(super) struct StayingWork<'a> {
    calls: &'a StayingCalls,
    /// Makers of what was pending then.
    earlier: HashSet<&'a Maker>,
}

impl<'a> StayingWork<'a> {
    /// For a fork that goes back to `to`.
    pub(super) fn since(to: &'a SavedState, calls: &'a StayingCalls) -> Self {
        let marks = to.files.values().flat_map(|file| {
            let of_file = file.file.iter().map(|(_, mark)| mark);
            let of_mode = file.mode.iter().map(|(_, mark)| mark);
            file.marks.iter().chain(of_file).chain(of_mode)
        });
        Self { calls, earlier: marks.flat_map(|mark| &mark.makers).collect() }
    }

    /// True if such a call has made the change since, and nobody who goes has a part in it.
    fn has(&self, mark: &Mark) -> bool {
        let is_new = |maker: &Maker| {
            let call = maker.call().filter(|call| self.calls.contains(*call));
            call.is_some() && !self.earlier.contains(maker)
        };
        let stays = |maker: &Maker| match maker {
            Maker::User | Maker::Disk => true,
            maker => is_new(maker) || self.earlier.contains(maker),
        };
        mark.makers.iter().any(is_new) && mark.makers.iter().all(stays)
    }

    /// The files in which something stays, with that alone, those that are renamed first.
    pub(super) fn of(&self, files: &BTreeMap<DocId, ForkFile>) -> Vec<WorkOnFile> {
        if self.calls.is_empty() {
            return Vec::new();
        }
        let alone = |(id, file): (&DocId, &ForkFile)| {
            let mut own = file.clone();
            let entry = &mut own.entry;
            let goes = entry.marks().iter().filter(|mark| !self.has(mark));
            let goes: Vec<HunkId> = goes.map(|mark| mark.id).collect();
            let source = base_of(id, entry).clone();
            entry.remove(&goes);
            entry.file.take_if(|(_, mark)| !self.has(mark));
            entry.mode.take_if(|(_, mark)| !self.has(mark));
            entry.forget_sent();
            own.returned.clear();
            if file.seen.writing || own.entry.is_empty() {
                return None;
            }
            let is_moved = source != *id && own.entry.file.is_none();
            let left = if is_moved { files.get(&source) } else { None };
            let old_name = left.map(|left| OldName {
                id: source,
                shown: left.shown.clone(),
                place: left.place.clone(),
            });
            Some(WorkOnFile { id: id.clone(), old_name, file: own })
        };
        let mut all: Vec<WorkOnFile> = files.iter().filter_map(alone).collect();
        all.sort_by_key(|work| !is_renamed(&work.file.entry));
        all
    }
}

/// Work that stays in one file.
pub(super) struct WorkOnFile {
    id: DocId,
    /// The name that the file has again if its renaming goes.
    old_name: Option<OldName>,
    file: ForkFile,
}

/// A name of a file before it was renamed.
struct OldName {
    id: DocId,
    shown: String,
    place: Option<Place>,
}

fn is_renamed(entry: &Entry) -> bool {
    matches!(entry.file, Some((FileChange::Rename { .. }, _)))
}

impl Fork {
    /// Puts work that stays beside what is pending again. What has no place beside that is told as lost.
    pub(super) fn keep_work(&mut self, workspace: &Workspace, work: Vec<WorkOnFile>) {
        for WorkOnFile { mut id, old_name, file: mut own } in work {
            match own.entry.file.as_ref().map(|(change, _)| change.clone()) {
                Some(FileChange::Rename { from }) => {
                    if let Some(mut back) = self.files.remove(&from) {
                        self.join(workspace, &id, &mut own, &mut back, put_earlier);
                    }
                }
                Some(_) => {}
                None => {
                    if let Some(old) = old_name
                        && !self.files.contains_key(&id)
                    {
                        (id, own.shown, own.place) = (old.id, old.shown, old.place);
                        own.entry.home = None;
                    }
                    if let Some(mut back) = self.files.remove(&id) {
                        self.join(workspace, &id, &mut back, &mut own, put_later);
                        own = back;
                    }
                }
            }
            self.files.insert(id, own);
        }
    }

    /// Puts the changes of `more` into a file, each by `put`, which gives false for one that has no place there.
    fn join(
        &mut self,
        workspace: &Workspace,
        id: &DocId,
        file: &mut ForkFile,
        more: &mut ForkFile,
        put: fn(&mut Entry, Change, Mark) -> bool,
    ) {
        // Both on one text: the user may have typed between the two looks.
        let source = base_of(id, &file.entry).clone();
        for _ in 0..100 {
            for one in [&mut *file, &mut *more] {
                sync_file(workspace, &self.session, &source, one, None);
            }
            if file.entry.base.text() == more.entry.base.text() {
                break;
            }
        }
        let is_same = file.entry.base.text() == more.entry.base.text();
        let fits = is_same && !file.entry.is_whole() && !file.seen.writing;
        let changes = more.entry.set().changes().iter().cloned().zip(more.entry.marks().to_vec());
        let mut lost = Vec::new();
        for (change, mark) in changes {
            let id = mark.id;
            if !(fits && put(&mut file.entry, change, mark)) {
                lost.push(id);
            }
        }
        let mode = more.entry.mode.take().filter(|_| fits);
        if let Some((mode, mark)) = mode
            && file.entry.mode.as_ref().is_none_or(|(_, own)| own.id < mark.id)
        {
            file.entry.mode = Some((mode, mark));
        }
        for one in more.entry.remove(&lost) {
            self.tell_conflict(workspace, file.shown.clone(), &one);
        }
    }
}

/// Puts a change in the place of those that it was made of. False, and nothing done, if it overlaps others.
fn put_later(entry: &mut Entry, change: Change, mark: Mark) -> bool {
    let is_same = |own: &Mark| own.id == mark.id;
    if entry.marks().iter().any(|own| is_same(own) && own.sent.is_some()) {
        // It is on its way as it is.
        return true;
    }
    let all = entry.set().changes().iter().zip(entry.marks());
    let parts = all.filter(|own| is_same(own.1) || is_part(*own, (&change, &mark)));
    let parts: Vec<HunkId> = parts.map(|(_, of)| of.id).collect();
    let mut tried = entry.clone();
    tried.remove(&parts);
    let is_done = tried.insert(change, mark);
    if is_done {
        *entry = tried;
    }
    is_done
}

/// Puts a change beside those that are there, unless one of them was made of it. False, and nothing done, if it overlaps
/// others.
fn put_earlier(entry: &mut Entry, change: Change, mark: Mark) -> bool {
    let mut all = entry.set().changes().iter().zip(entry.marks());
    let is_in = all.any(|own| own.1.id == mark.id || is_part((&change, &mark), own));
    is_in || entry.insert(change, mark)
}

/// True if one change stands where the other does, and was made by some of its makers.
fn is_part((part, of): (&Change, &Mark), (whole, mark): (&Change, &Mark)) -> bool {
    let touches = part.range.start <= whole.range.end && whole.range.start <= part.range.end;
    touches && of.makers.iter().all(|maker| mark.makers.contains(maker))
}
