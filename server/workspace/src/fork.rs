//! The fork: what a session has made of the user's text, before the user has it.
//!
//! One fork per session. Its base moves only when a call starts, at publish and at review
//! ([`Fork::sync`]); results of calls come in through [`Fork::merge`]; [`Fork::hunks`] is what a reviewer
//! sees; [`Fork::reject`] and [`Fork::edit`] are the user's. Sending accepted hunks is `publish`'s business.

use crate::disk::FileError;
use crate::document::Document;
use crate::entry::{Base, Content, Entry, FileChange, HunkIds, Maker, Mark, SetAside};
use crate::ledger::{Ledger, Published, Stands};
use crate::log::{Cursor, Delta, Origin};
use crate::note::Note;
use crate::paths::Place;
use crate::view::{DiskFile, Frozen, FrozenContent, Snapshot, View, read_file};
use crate::workspace::Workspace;
use crate::{DocId, HunkId, PublishId};
use ropewalk_text::decode::FileFormat;
use ropewalk_text::{ChangeSet, Text, diff, line_hunks, refine, unified};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// A change that a call proposes, made on its view.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The file.
    pub place: Place,
    /// What is to happen to it.
    pub change: ProposedChange,
}

/// What a call does to a file.
#[derive(Clone, Debug)]
pub enum ProposedChange {
    /// Changes of the view's text.
    Edit(ChangeSet),
    /// A whole new text, for a file that the view has or has not.
    Write(Text),
    /// The file goes.
    Delete,
    /// The file gets another name.
    Rename {
        /// The new place; the view has no file there.
        to: Place,
    },
    /// Bytes that are no text.
    Binary(Arc<[u8]>),
    /// Permission bits.
    Mode(u32),
}

/// Which pending hunks an op is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// These.
    Hunks(Vec<HunkId>),
    /// All of a file.
    File(DocId),
    /// All of a turn.
    Turn(u64),
    /// All.
    All,
}

/// What a merge did, for the call's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// The hunks the call made or added to.
    pub hunks: Vec<HunkId>,
    /// Files in which a change had lost its place meanwhile.
    pub conflicts: Vec<String>,
}

/// Whether a hunk waits for the user or is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkState {
    /// It waits for the user.
    Pending,
    /// It was sent and is not confirmed.
    Sent,
}

/// What kind of change a hunk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkKind {
    /// Lines of a text.
    Text,
    /// A new file.
    Create,
    /// A deleted file.
    Delete,
    /// A file with another name.
    Rename {
        /// The name it had.
        from: String,
    },
    /// Other bytes.
    Binary,
    /// Other permission bits.
    Mode(u32),
}

/// A pending hunk as a reviewer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its id: that of its first change.
    pub id: HunkId,
    /// All the ids it is made of.
    pub parts: Vec<HunkId>,
    /// The file.
    pub doc: DocId,
    /// The file as it is shown.
    pub file: String,
    /// What kind of change it is.
    pub kind: HunkKind,
    /// Where it is in the user's text, in bytes.
    pub range: Range<usize>,
    /// The lines it replaces in the user's text, zero-based, counted by line feeds.
    pub lines: Range<usize>,
    /// What stands in those lines in the user's text.
    pub old: String,
    /// What would stand there.
    pub new: String,
    /// The diff, with the lines around it.
    pub diff: String,
    /// The turn it was first made in.
    pub turn: u64,
    /// Who made it.
    pub makers: Vec<Maker>,
    /// Whether it waits or is on its way.
    pub state: HunkState,
}

/// One file of the fork.
#[derive(Debug)]
pub struct ForkFile {
    /// How it is named to people.
    pub shown: String,
    /// Where it lies; None for a buffer without a file.
    pub place: Option<Place>,
    /// What is pending.
    pub entry: Entry,
    /// Hunks that were published, and that an editor which died unsaved has taken along: pending again, until
    /// their text turns up after all.
    pub returned: Vec<Published>,
}

/// See the module.
#[derive(Debug)]
pub struct Fork {
    /// The session it belongs to.
    pub session: Arc<str>,
    pub(crate) files: BTreeMap<DocId, ForkFile>,
    pub(crate) ids: HunkIds,
    /// Hunks that the user rejected: going back doesn't bring them back.
    pub(crate) rejected: BTreeSet<HunkId>,
    /// Hunks that were published, also those undone since.
    pub(crate) accepted: BTreeSet<HunkId>,
}

impl Fork {
    /// An empty fork.
    pub fn new(session: Arc<str>) -> Self {
        Self {
            session,
            files: BTreeMap::new(),
            ids: HunkIds::default(),
            rejected: BTreeSet::new(),
            accepted: BTreeSet::new(),
        }
    }

    /// Its files with what is pending in each, on the base as of the last sync.
    pub fn files(&self) -> impl Iterator<Item = (&DocId, &ForkFile)> {
        self.files.iter()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.files.values().all(|file| file.entry.is_empty())
    }

    /// A frozen view of the fork over a snapshot. The fork should be in sync with it.
    pub fn view(&mut self, snapshot: Snapshot) -> View {
        let left = self.places_left();
        let entries = self.files.iter_mut().map(|(id, file)| {
            let on_disk = left.get(id).cloned().or_else(|| file.place.clone());
            (id.clone(), freeze(id, file, on_disk))
        });
        let entries = entries.collect();
        View::new(snapshot, entries)
    }

    /// Of each renamed file, where it lies until that is published.
    fn places_left(&self) -> BTreeMap<DocId, Place> {
        let renamed = self.files.iter().filter_map(|(id, file)| {
            let source = base_of(id, &file.entry);
            let left = self.files.get(source).filter(|_| source != id)?;
            Some((id.clone(), left.place.clone()?))
        });
        renamed.collect()
    }

    /// Moves the base to the user's text as it is now. What has lost its place is told in `workspace`'s news.
    /// Reads the disk for files that are not open. O(files of the fork · what happened since).
    pub fn sync(&mut self, workspace: &Workspace) {
        let mut aside = Vec::new();
        for (id, file) in &mut self.files {
            let source = base_of(id, &file.entry).clone();
            let moved = sync_file(workspace, &self.session, &source, file);
            let left = follow_disk(workspace, &source, file, &mut self.ids);
            let all = moved.into_iter().chain(left);
            aside.extend(all.map(|one| (file.shown.clone(), one)));
        }
        for (shown, one) in aside {
            self.tell_conflict(workspace, shown, one);
        }
        self.files.retain(|_, file| !file.entry.is_empty());
    }

    /// Remembers what the ledger has of this session as accepted. O(ledger).
    pub(crate) fn note_accepted(&mut self, workspace: &Workspace) {
        let ledger = workspace.ledger();
        let texts = ledger.texts.iter().filter(|hunk| hunk.session == self.session);
        self.accepted.extend(texts.map(|hunk| hunk.id));
        let files = ledger.files.iter().filter(|file| file.session == self.session);
        self.accepted.extend(files.map(|file| file.id));
    }

    pub(crate) fn tell_conflict(&self, workspace: &Workspace, file: String, one: SetAside) {
        let note = Note::Conflict { file, new: one.new, now: one.now };
        workspace.tell(Some(self.session.clone()), note);
    }

    /// Takes in what a call made on `view`: maps it over what happened since, else over the difference
    /// between the view's text and the one now.
    pub fn merge(
        &mut self,
        workspace: &Workspace,
        view: &View,
        turn: u64,
        maker: &Maker,
        proposals: Vec<Proposal>,
    ) -> Result<MergeReport, FileError> {
        let mut report = MergeReport::default();
        for proposal in proposals {
            self.merge_one(workspace, view, turn, maker, proposal, &mut report)?;
        }
        self.files.retain(|_, file| !file.entry.is_empty());
        Ok(report)
    }

    fn merge_one(
        &mut self,
        workspace: &Workspace,
        view: &View,
        turn: u64,
        maker: &Maker,
        proposal: Proposal,
        report: &mut MergeReport,
    ) -> Result<(), FileError> {
        let Proposal { place, change } = proposal;
        let id = view.id_of(&place, view.roots());
        let seen = self.ensure(view, &id, &place, turn)?;
        let Some(file) = self.files.get_mut(&id) else { return Ok(()) };
        let source = base_of(&id, &file.entry).clone();
        let aside = sync_file(workspace, &self.session, &source, file);
        let mark = Mark { id: self.ids.give(), turn, makers: vec![maker.clone()], sent: None };
        match change {
            ProposedChange::Edit(set) => {
                let set = refine(&set, &seen.text);
                report.take(
                    file.entry.merge(&set, &seen.text, seen.cursor.as_ref(), &mark, &mut self.ids),
                    &file.shown,
                );
            }
            ProposedChange::Write(text) => {
                let taken = file.entry.file.take_if(|(change, _)| {
                    matches!(change, FileChange::Delete | FileChange::Binary(_))
                });
                let set = if matches!(taken, Some((FileChange::Delete, _))) {
                    // The view had no file here: the new text replaces all that the deletion would have.
                    let set = diff(file.entry.text(), &text);
                    report.hunks.extend(file.entry.add(&set, &mark, &mut self.ids));
                    set
                } else {
                    let set = diff(&seen.text, &text);
                    let seen_at = seen.cursor.as_ref();
                    let merged = file.entry.merge(&set, &seen.text, seen_at, &mark, &mut self.ids);
                    report.take(merged, &file.shown);
                    set
                };
                if matches!(file.entry.base, Base::Absent) && set.is_empty() {
                    // An empty new file has no change of text to carry it.
                    report.hunks.push(mark.id);
                    file.entry.file = Some((FileChange::Binary(Arc::from([])), mark));
                }
            }
            ProposedChange::Delete => {
                report.hunks.push(mark.id);
                let renamed_from = match &file.entry.file {
                    Some((FileChange::Rename { from }, _)) => Some(from.clone()),
                    _ => None,
                };
                match renamed_from {
                    // What goes is the file under the name that the user knows.
                    Some(from) => {
                        self.files.remove(&id);
                        if let Some(left) = self.files.get_mut(&from) {
                            left.entry.file = Some((FileChange::Delete, mark));
                        }
                    }
                    None => delete(file, mark),
                }
            }
            ProposedChange::Binary(bytes) => {
                report.hunks.push(mark.id);
                file.entry.file = Some((FileChange::Binary(bytes), mark));
            }
            ProposedChange::Mode(mode) => {
                report.hunks.push(mark.id);
                file.entry.file = Some((FileChange::Mode(mode), mark));
            }
            ProposedChange::Rename { to } => {
                report.hunks.push(mark.id);
                self.rename(view, &id, to, mark);
            }
        }
        let shown = self.files.get(&id).map(|file| file.shown.clone()).unwrap_or_default();
        for one in aside {
            self.tell_conflict(workspace, shown.clone(), one);
        }
        Ok(())
    }

    /// The entry moves to its new name with all that is pending; under the old one a deletion stays.
    fn rename(&mut self, view: &View, id: &DocId, to: Place, mark: Mark) {
        let Some(mut file) = self.files.remove(id) else { return };
        let new_id = view.id_of(&to, view.roots());
        let created_here = matches!(file.entry.base, Base::Absent) && file.entry.file.is_none();
        if !created_here {
            let from = base_of(id, &file.entry).clone();
            let mut gone = Entry::new(file.entry.base.clone());
            gone.file = Some((FileChange::Away, mark.clone()));
            let left = ForkFile {
                shown: file.shown.clone(),
                place: file.place.clone(),
                entry: gone,
                returned: Vec::new(),
            };
            if from == *id {
                self.files.insert(id.clone(), left);
            }
            file.entry.home = Some(from.clone());
            file.entry.file = Some((FileChange::Rename { from }, mark));
        }
        file.shown = to.shown.clone();
        file.place = Some(to);
        self.files.insert(new_id, file);
    }

    /// The entry of a file, made from the view if there was none, and what the view had of it.
    fn ensure(
        &mut self,
        view: &View,
        id: &DocId,
        place: &Place,
        turn: u64,
    ) -> Result<SeenFile, FileError> {
        // What the view had is told by the view alone: the entry may be another by now, or gone because all of
        // it was published.
        let seen = match view.entries().get(id) {
            Some(frozen) => {
                let text = match &frozen.content {
                    Some(FrozenContent::Text(text, _)) => text.clone(),
                    _ => Text::default(),
                };
                Some(SeenFile { text, cursor: Some(frozen.cursor.clone()) })
            }
            None if self.files.contains_key(id) => {
                let text = match view.read(place)? {
                    crate::view::FileState::Text { text, .. } => text,
                    _ => Text::default(),
                };
                Some(SeenFile { text, cursor: None })
            }
            None => None,
        };
        let seen = match seen {
            Some(seen) if self.files.contains_key(id) => return Ok(seen),
            seen => seen,
        };
        let mut moved = None;
        let base = match view.buffers().get(id) {
            Some(seen) => {
                moved = seen.moved.clone();
                Base::Buffer { text: seen.text.clone(), cursor: seen.cursor.clone() }
            }
            None => match view.disk(place, view.roots())? {
                DiskFile::Text { text, hash, format } => Base::Disk { text, hash, format },
                DiskFile::Binary { hash, .. } => Base::Binary { hash },
                DiskFile::Missing => Base::Absent,
            },
        };
        let mut entry = Entry::new(base);
        if let Some(disk) = moved {
            let mark = Mark { id: self.ids.give(), turn, makers: vec![Maker::Disk], sent: None };
            entry.add(&diff(entry.text(), &disk), &mark, &mut self.ids);
            entry.disk = Some(disk);
        }
        let fresh = SeenFile { text: entry.text().clone(), cursor: Some(entry.cursor()) };
        let file = ForkFile {
            shown: place.shown.clone(),
            place: Some(place.clone()),
            entry,
            returned: Vec::new(),
        };
        self.files.insert(id.clone(), file);
        Ok(seen.unwrap_or(fresh))
    }

    /// The pending hunks in the order of files and lines, on the base as of the last sync.
    pub fn hunks(&self) -> Vec<Hunk> {
        self.files.iter().flat_map(|(id, file)| file_hunks(id, file)).collect()
    }

    /// The ids of all parts that a selection means; a hunk's id stands for all of the hunk.
    pub fn select(&self, selection: &Selection) -> Vec<HunkId> {
        let chosen = |hunk: &Hunk| match selection {
            Selection::Hunks(ids) => hunk.parts.iter().any(|part| ids.contains(part)),
            Selection::File(doc) => hunk.doc == *doc,
            Selection::Turn(turn) => hunk.turn == *turn,
            Selection::All => true,
        };
        let mut ids: Vec<HunkId> =
            self.hunks().into_iter().filter(chosen).flat_map(|hunk| hunk.parts).collect();
        ids.dedup();
        ids
    }

    /// Takes pending hunks out of the fork and keeps the news for the model. Gives how many hunks went; what
    /// is on its way and still waited for stays.
    pub fn reject(
        &mut self,
        workspace: &Workspace,
        selection: &Selection,
        reason: Option<&str>,
    ) -> usize {
        let ids = self.select(selection);
        let mut count = 0;
        for hunk in self.hunks() {
            if !hunk.parts.iter().any(|part| ids.contains(part))
                || (hunk.state == HunkState::Sent && self.is_waited_for(workspace, &hunk))
            {
                continue;
            }
            count += 1;
            self.rejected.extend(&hunk.parts);
            let note = Note::Rejected {
                file: hunk.file.clone(),
                old: hunk.old.clone(),
                new: hunk.new.clone(),
                reason: reason.map(str::to_owned),
            };
            workspace.tell(Some(self.session.clone()), note);
            // A rename and the deletion it leaves share one id, so they go together.
            for file in self.files.values_mut() {
                file.entry.remove(&hunk.parts);
                if file.entry.file.as_ref().is_some_and(|(_, mark)| hunk.parts.contains(&mark.id)) {
                    file.entry.file = None;
                }
            }
        }
        self.return_renamed();
        self.files.retain(|_, file| !file.entry.is_empty());
        count
    }

    /// Whether a part of the hunk is on its way and its echo still waited for. One that was given up can be
    /// rejected: if it comes after all, it is the user's text.
    fn is_waited_for(&self, workspace: &Workspace, hunk: &Hunk) -> bool {
        let Some(file) = self.files.get(&hunk.doc) else { return false };
        let marks = file.entry.marks().iter().filter(|mark| hunk.parts.contains(&mark.id));
        let sent: Vec<_> = marks.filter_map(|mark| mark.sent).collect();
        let source = base_of(&hunk.doc, &file.entry);
        let waited = |document: &mut Document| sent.iter().any(|id| document.is_waited_for(*id));
        workspace.with_document(source, waited).unwrap_or(false)
    }

    /// Entries whose rename was rejected go back to their old name.
    pub(crate) fn return_renamed(&mut self) {
        let strayed: Vec<DocId> = self
            .files
            .iter()
            .filter(|(_, file)| {
                file.entry.file.is_none() && !matches!(file.entry.base, Base::Absent)
            })
            .filter(|(id, file)| file.entry.home.as_ref().is_some_and(|home| home != *id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in strayed {
            let Some(mut file) = self.files.remove(&id) else { continue };
            let Some(home) = file.entry.home.take() else { continue };
            if let Some(old) = self.files.remove(&home) {
                file.shown = old.shown;
                file.place = old.place;
            }
            self.files.insert(home, file);
        }
    }

    /// The user's own version of a pending hunk takes its place. False when there is no such hunk, or it is
    /// no change of text, or it is on its way.
    pub fn edit(&mut self, workspace: &Workspace, id: HunkId, text: &str) -> bool {
        let Some(hunk) = self.hunks().into_iter().find(|hunk| hunk.parts.contains(&id)) else {
            return false;
        };
        if hunk.state == HunkState::Sent || !matches!(hunk.kind, HunkKind::Text | HunkKind::Create)
        {
            return false;
        }
        let Some(file) = self.files.get_mut(&hunk.doc) else { return false };
        let after = lines_after(&file.entry, &hunk);
        let set = ChangeSet::single(file.entry.text().len(), after, text);
        let mark = Mark { id: hunk.id, turn: hunk.turn, makers: vec![Maker::User], sent: None };
        file.entry.add(&set, &mark, &mut self.ids);
        let note = Note::Edited { file: hunk.file, proposed: hunk.new, text: text.to_owned() };
        workspace.tell(Some(self.session.clone()), note);
        self.files.retain(|_, file| !file.entry.is_empty());
        true
    }

    /// The net change as one unified diff per file, with names as `diff --git` has them.
    pub fn diff(&self) -> String {
        let mut out = String::new();
        for file in self.files.values() {
            let base = file.entry.base.text();
            let name = &file.shown;
            let (old, new) = match (&file.entry.base, &file.entry.file) {
                (Base::Absent, _) => ("/dev/null".to_owned(), format!("b/{name}")),
                (_, Some((FileChange::Away, _))) => continue,
                (_, Some((FileChange::Delete, _))) => (format!("a/{name}"), "/dev/null".to_owned()),
                _ => (format!("a/{name}"), format!("b/{name}")),
            };
            out.push_str(&format!("--- {old}\n+++ {new}\n"));
            if matches!(file.entry.file, Some((FileChange::Delete, _))) {
                let set = ChangeSet::single(base.len(), 0..base.len(), "");
                out.push_str(&unified(&base, &Text::default(), &set, 3));
            } else {
                out.push_str(&unified(&base, file.entry.text(), file.entry.set(), 3));
            }
        }
        out
    }
}

/// What a view had of a file, and since when.
struct SeenFile {
    text: Text,
    cursor: Option<Cursor>,
}

impl MergeReport {
    fn take(&mut self, merged: crate::entry::Merged, shown: &str) {
        self.hunks.extend(merged.hunks);
        if merged.conflicts > 0 && !self.conflicts.iter().any(|file| file == shown) {
            self.conflicts.push(shown.to_owned());
        }
    }
}

/// A file as views have it; `on_disk` is where the file under it lies.
fn freeze(id: &DocId, file: &mut ForkFile, on_disk: Option<Place>) -> Frozen {
    let entry = &mut file.entry;
    let cursor = entry.cursor();
    let content = match (&entry.file, on_disk) {
        (Some((FileChange::Delete | FileChange::Away, _)), _) => None,
        (Some((FileChange::Binary(bytes), _)), _) if !bytes.is_empty() => {
            Some(FrozenContent::Bytes(bytes.clone()))
        }
        // Renamed, or with another mode.
        (_, Some(place)) if matches!(entry.base, Base::Binary { .. }) && entry.set().is_empty() => {
            Some(FrozenContent::OnDisk(place))
        }
        _ => {
            let format = match &entry.base {
                Base::Disk { format, .. } => *format,
                _ => FileFormat::default(),
            };
            Some(FrozenContent::Text(entry.text().clone(), format))
        }
    };
    let away = matches!(entry.file, Some((FileChange::Away, _)));
    let mode = match &entry.file {
        Some((FileChange::Mode(mode), _)) => Some(*mode),
        _ => None,
    };
    let source = base_of(id, entry).clone();
    Frozen { place: file.place.clone(), content, mode, source, away, cursor }
}

fn delete(file: &mut ForkFile, mark: Mark) {
    let all: Vec<HunkId> = file.entry.marks().iter().map(|mark| mark.id).collect();
    file.entry.remove(&all);
    // A file that only the fork has is simply not made.
    file.entry.file =
        (!matches!(file.entry.base, Base::Absent)).then_some((FileChange::Delete, mark));
}

/// The document under an entry: itself, or the one it was renamed from.
pub(crate) fn base_of<'a>(id: &'a DocId, entry: &'a Entry) -> &'a DocId {
    match &entry.file {
        Some((FileChange::Rename { from }, _)) => from,
        _ => id,
    }
}

/// Brings one entry's base to now. Ours that was confirmed since goes to the ledger, in the same critical
/// section as the look at the document, so that its place there is true from the start.
pub(crate) fn sync_file(
    workspace: &Workspace,
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
) -> Vec<SetAside> {
    let returned: Vec<Published> =
        file.returned.iter().filter(|hunk| is_pending(&file.entry, hunk, false)).cloned().collect();
    let mut aside = Vec::new();
    let open = workspace.with_document(source, |document| {
        aside = sync_buffer(workspace, session, source, file, document);
    });
    if open.is_none() {
        aside = catch_up(workspace, session, source, file);
        aside.extend(sync_disk(workspace, session, source, file));
    }
    // Those that are pending no more, and were not set aside, have turned up in the user's text.
    let back = returned.into_iter().filter(|hunk| {
        !is_pending(&file.entry, hunk, true) && aside.iter().all(|one| one.mark.id != hunk.id)
    });
    for hunk in back {
        note_back(workspace, session, hunk);
    }
    aside
}

/// Whether a hunk that was returned is pending as it was; `sent`: whether on its way counts as pending.
fn is_pending(entry: &Entry, hunk: &Published, sent: bool) -> bool {
    let own = Content { id: hunk.id, old: hunk.old.clone(), new: hunk.new.clone() };
    let is_sent = || entry.marks().iter().any(|mark| mark.id == hunk.id && mark.sent.is_some());
    entry.contents(&[hunk.id]).contains(&own) && (sent || !is_sent())
}

/// What had been returned is in the ledger again.
fn note_back(workspace: &Workspace, session: &Arc<str>, hunk: Published) {
    let mut ledger = workspace.ledger();
    let same = |own: &Published| {
        (own.id, &own.session, &own.doc) == (hunk.id, session, &hunk.doc)
            && (&own.old, &own.new) == (&hunk.old, &hunk.new)
    };
    if !ledger.texts.iter().any(same) {
        ledger.texts.push(Published { session: session.clone(), anchored: false, ..hunk });
    }
}

/// What one document's steps have done to a fork.
#[derive(Default)]
struct Replayed {
    aside: Vec<SetAside>,
    /// What of the fork was published.
    fresh: Ledger,
    /// What of that was undone again.
    undone: Vec<Published>,
}

impl Replayed {
    /// Tells of it, and gives what was set aside.
    fn tell(
        mut self,
        workspace: &Workspace,
        session: &Arc<str>,
        saved: Option<&Text>,
    ) -> Vec<SetAside> {
        if let Some(saved) = saved.filter(|_| !self.fresh.texts.is_empty()) {
            self.fresh.found_saved(saved);
        }
        workspace.ledger().texts.append(&mut self.fresh.texts);
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
) -> Replayed {
    let mut out = Replayed::default();
    let entry = &mut file.entry;
    let Base::Buffer { cursor, .. } = &entry.base else { return out };
    if !document.log().knows(cursor) {
        return out;
    }
    let cursor = cursor.clone();
    let mut before = entry.base.text();
    let rereads = entry.disk.as_ref().map_or(0, |disk| {
        let not_ours = |delta: &&Delta| !matches!(delta.origin, Origin::Publish(_));
        steps_to(disk, &before, document.log().since(&cursor).take_while(not_ours))
    });
    for (index, delta) in document.log().since(&cursor).enumerate() {
        let Ok(after) = delta.change.apply(&before) else { break };
        out.undone.extend(out.fresh.moved(source, &delta.change, (Some(&before), &after)));
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
    out
}

/// How many of these steps lead from `text` to what the disk has: the editor read it anew, in several places, or after
/// the user had typed. 0 when they don't.
fn steps_to<'a>(disk: &Text, text: &Text, steps: impl Iterator<Item = &'a Delta>) -> usize {
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
fn catch_up(
    workspace: &Workspace,
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
) -> Vec<SetAside> {
    let Base::Buffer { cursor, .. } = &file.entry.base else { return Vec::new() };
    let cursor = cursor.clone();
    let aside = workspace.with_closed(source, &cursor, |document| {
        let is_ours = |id: PublishId| file.entry.marks().iter().any(|mark| mark.sent == Some(id));
        let made = |delta: &Delta| matches!(delta.origin, Origin::Publish(id) if is_ours(id));
        if !document.log().since(&cursor).any(made) {
            return Vec::new();
        }
        let mut replayed = replay(session, source, file, document);
        let (was, now) = (file.entry.base.text(), document.text().clone());
        replayed.aside.extend(file.entry.rebase(&diff(&was, &now), now.clone()));
        replayed.fresh.loosen(source);
        file.entry.base = Base::Buffer { text: now, cursor: document.cursor() };
        replayed.tell(workspace, session, document.last_saved())
    });
    aside.unwrap_or_default()
}

fn sync_buffer(
    workspace: &Workspace,
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
    document: &mut Document,
) -> Vec<SetAside> {
    melt_returned(workspace, session, file, document.text());
    let mut aside = catch_up(workspace, session, source, file);
    let mut replayed = replay(session, source, file, document);
    let entry = &mut file.entry;
    let (was, now) = (entry.base.text(), document.text().clone());
    if was != now {
        replayed.aside.extend(entry.rebase(&diff(&was, &now), now.clone()));
        replayed.fresh.loosen(source);
    }
    entry.base = Base::Buffer { text: now, cursor: document.cursor() };
    aside.extend(replayed.tell(workspace, session, document.last_saved()));
    aside.extend(entry.set_aside_lost(|id| document.is_lost(id) || workspace.is_lost(id)));
    // What was sent and is expected no more, without having been confirmed, waits for the user again.
    entry.free_unexpected(|id| document.is_expected(id));
    aside
}

fn sync_disk(
    workspace: &Workspace,
    session: &Arc<str>,
    source: &DocId,
    file: &mut ForkFile,
) -> Vec<SetAside> {
    let entry = &mut file.entry;
    let mut aside = entry.set_aside_lost(|id| workspace.is_lost(id));
    entry.free_unexpected(|_| false);
    let Some(place) = workspace.place(source) else { return aside };
    let Ok(found) = read_file(&place, &workspace.roots()) else { return aside };
    if let DiskFile::Text { text, .. } = &found {
        melt_returned(workspace, session, file, text);
    }
    let entry = &mut file.entry;
    let was = entry.base.text();
    match found {
        DiskFile::Text { text, hash, format } => {
            if was != text {
                aside.extend(entry.rebase(&diff(&was, &text), text.clone()));
            }
            entry.base = Base::Disk { text, hash, format };
        }
        DiskFile::Binary { hash, .. } => {
            aside.extend(text_gone(entry));
            entry.base = Base::Binary { hash };
        }
        DiskFile::Missing => {
            aside.extend(text_gone(entry));
            entry.base = Base::Absent;
            // It is gone already, whoever did it.
            entry.file.take_if(|(change, _)| *change == FileChange::Delete);
        }
    }
    aside
}

/// There is no text any more that changes could be made in.
fn text_gone(entry: &mut Entry) -> Vec<SetAside> {
    let len = entry.base.text().len();
    entry.rebase(&ChangeSet::single(len, 0..len, ""), Text::default())
}

/// What was returned too early: its text has turned up in `now`, which a buffer with unsaved text brought. It is
/// pending no more, and in the ledger again.
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
        is_pending(entry, hunk, false) && matches!(Ledger::stands(hunk, now), Stands::New(_))
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
    ids: &mut HunkIds,
) -> Vec<SetAside> {
    let moved = workspace.with_document(source, |document| document.moved.clone()).flatten();
    if file.entry.disk == moved {
        return Vec::new();
    }
    let aside = file.entry.leave_disk();
    let Some(disk) = moved else { return aside };
    // What of the disk is on its way is not brought a second time: the echo or the answer comes first.
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

pub(crate) fn file_hunks(id: &DocId, file: &ForkFile) -> Vec<Hunk> {
    let entry = &file.entry;
    let base = entry.base.text();
    let mut out = Vec::new();
    let state = |marks: &[&Mark]| {
        if marks.iter().any(|mark| mark.sent.is_some()) {
            HunkState::Sent
        } else {
            HunkState::Pending
        }
    };
    if let Some((change, mark)) =
        entry.file.as_ref().filter(|(change, _)| *change != FileChange::Away)
    {
        let kind = match change {
            FileChange::Delete | FileChange::Away => HunkKind::Delete,
            FileChange::Rename { from } => HunkKind::Rename { from: from.as_str().to_owned() },
            FileChange::Binary(bytes) if bytes.is_empty() => HunkKind::Create,
            FileChange::Binary(_) => HunkKind::Binary,
            FileChange::Mode(mode) => HunkKind::Mode(*mode),
        };
        out.push(Hunk {
            id: mark.id,
            parts: vec![mark.id],
            doc: id.clone(),
            file: file.shown.clone(),
            diff: describe(&kind, &file.shown),
            kind,
            range: 0..0,
            lines: 0..0,
            old: String::new(),
            new: String::new(),
            turn: mark.turn,
            makers: mark.makers.clone(),
            state: state(&[mark]),
        });
    }
    let created = matches!(entry.base, Base::Absent) && entry.file.is_none();
    for hunk in line_hunks(&base, entry.text(), entry.set()) {
        let marks: Vec<&Mark> =
            entry.marks().get(hunk.changes.clone()).unwrap_or_default().iter().collect();
        let changes = entry.set().changes().get(hunk.changes.clone()).unwrap_or_default();
        let (Some(first), Some(mark)) = (changes.first(), marks.first()) else { continue };
        let end = changes.last().map_or(first.range.end, |last| last.range.end);
        let text_of = |text: &Text, lines: &Range<usize>| {
            text.slice(text.line_feed_start(lines.start)..text.line_feed_start(lines.end))
        };
        let own = ChangeSet::new(base.len(), changes.to_vec());
        let shown = own.and_then(|own| Some(unified(&base, &own.apply(&base).ok()?, &own, 3)));
        let mut makers: Vec<Maker> = Vec::new();
        for maker in marks.iter().flat_map(|mark| &mark.makers) {
            if !makers.contains(maker) {
                makers.push(maker.clone());
            }
        }
        out.push(Hunk {
            id: mark.id,
            parts: marks.iter().map(|mark| mark.id).collect(),
            doc: id.clone(),
            file: file.shown.clone(),
            kind: if created { HunkKind::Create } else { HunkKind::Text },
            range: first.range.start..end,
            old: text_of(&base, &hunk.before),
            new: text_of(entry.text(), &hunk.after),
            lines: hunk.before,
            diff: shown.unwrap_or_default(),
            turn: mark.turn,
            makers,
            state: state(&marks),
        });
    }
    out
}

fn describe(kind: &HunkKind, file: &str) -> String {
    match kind {
        HunkKind::Delete => format!("delete {file}\n"),
        HunkKind::Rename { from } => format!("rename {from} to {file}\n"),
        HunkKind::Create => format!("create {file}, empty\n"),
        HunkKind::Binary => format!("replace the bytes of {file}\n"),
        HunkKind::Mode(mode) => format!("set the mode of {file} to {mode:o}\n"),
        HunkKind::Text => String::new(),
    }
}

/// The lines of the fork's text that a hunk made.
fn lines_after(entry: &Entry, hunk: &Hunk) -> Range<usize> {
    let base = entry.base.text();
    let found = line_hunks(&base, entry.text(), entry.set())
        .into_iter()
        .find(|lines| lines.before == hunk.lines);
    let text = entry.text();
    found.map_or(0..0, |lines| {
        text.line_feed_start(lines.after.start)..text.line_feed_start(lines.after.end)
    })
}
