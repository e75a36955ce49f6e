//! The fork: what a session has made of the user's text, before the user has it.
//!
//! One fork per session. Its base moves only when a call starts, at publish and at review
//! ([`Fork::sync`]); results of calls come in through [`Fork::merge`]; [`Fork::hunks`] is what a reviewer
//! sees; [`Fork::reject`] and [`Fork::edit`] are the user's. Sending accepted hunks is `publish`'s business.

mod branch;
mod hunks;
pub(crate) mod look;
mod merge;
mod net;
mod places;
mod review;
mod sync;
mod used;

pub use branch::Branch;
pub use hunks::FileHunks;
pub(crate) use hunks::{HunkCache, file_hunks};
pub use look::{Answers, Question, synced, synced_by};
pub(crate) use look::{DiskMemory, FileOnDisk, synced_one};
pub(crate) use merge::merge_all;
pub use merge::{MergeOrigin, merge};
pub(crate) use net::{NetChange, NetContent, Side};
pub use places::{HunkPlaces, PlacedHunk};
pub(crate) use sync::{catch_up, follow_disk, sync_file};

use crate::entry::{Base, Conflict, Entry, FileChange, HunkIdSource, Maker};
use crate::ledger::{Published, Revisions};
use crate::note::Note;
use crate::view::{ForkedFile, FormerNames, FrozenContent, Snapshot, View};
use crate::workspace::{DisplacedChange, Workspace};
use crate::{DocId, HunkId};
use ropewalk_files::disk::FileError;
use ropewalk_files::paths::{Links, PathError, Place, Roots};
use ropewalk_text::decode::FileFormat;
use ropewalk_text::{ChangeSet, Text};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A change that a call proposes, made on its view.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The file.
    pub place: Place,
    /// Change that is to be made to the file.
    pub change: ProposedChange,
}

/// Change of one file by a call.
#[derive(Clone, Debug)]
pub enum ProposedChange {
    /// Changes of the view's text.
    Edit(ChangeSet),
    /// A whole new text, for a file that the view has or has not.
    Write(Text),
    /// The file goes.
    Delete,
    /// The file goes, because its content took the place of what was at `to`. That is another change of the same call,
    /// and if it is not taken in, the file stays.
    MoveOver {
        /// Where the content stands.
        to: Place,
    },
    /// The file gets another name.
    Rename {
        /// The new place; the view has no file there.
        to: Place,
    },
    /// Bytes that are no text.
    Binary(Arc<[u8]>),
    /// Permission bits, beside whatever else is proposed for the file: `0o777` of these.
    Mode(u32),
    /// It is a symbolic link with this target, which is kept as it is, wherever it leads. The place is the link's
    /// own ([`Roots::place_in`], [`Roots::place_of_name`]).
    Link(PathBuf),
}

impl ProposedChange {
    /// Where the file's content goes, if it goes to another name.
    pub fn to(&self) -> Option<&Place> {
        match self {
            Self::Rename { to } | Self::MoveOver { to } => Some(to),
            _ => None,
        }
    }
}

/// Which pending hunks an op is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkSelection {
    /// These.
    Hunks(Vec<HunkId>),
    /// All of a file.
    File(DocId),
    /// All of a turn.
    Turn(u64),
    /// All.
    All,
}

/// Outcome of a merge, for the call's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// The hunks the call made or added to.
    pub hunks: Vec<HunkId>,
    /// Files in which a change had lost its place meanwhile.
    pub conflicts: Vec<String>,
    /// Why files were left out: they are version control's own, or what stands there could not be read, so that no undo could bring
    /// it back.
    pub refused: Vec<FileError>,
    /// Files that stay, because the place that their content was moved to was not taken in.
    pub stays: Vec<String>,
}

/// Stage of a hunk: it waits for the user, or is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkState {
    /// It waits for the user.
    Pending,
    /// It was sent and is not confirmed.
    Sent,
}

/// Kind of change that a hunk is.
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
    /// A symbolic link, in the place of whatever was there.
    Link {
        /// Where it says that it leads.
        target: String,
    },
}

impl HunkKind {
    /// Its name, for front ends.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Rename { .. } => "rename",
            Self::Binary => "binary",
            Self::Mode(_) => "mode",
            Self::Link { .. } => "link",
        }
    }
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
    /// Kind of change.
    pub kind: HunkKind,
    /// Where it is in the user's text, in bytes.
    pub range: Range<usize>,
    /// The lines it replaces in the user's text, zero-based, counted by line feeds.
    pub lines: Range<usize>,
    /// Text of those lines as the user has it.
    pub old: String,
    /// Text that would stand there.
    pub new: String,
    /// The diff, with the lines around it.
    pub diff: String,
    /// The turn it was first made in.
    pub turn: u64,
    /// Contributors to the hunk.
    pub makers: Vec<Maker>,
    /// Stage: waiting, or on its way.
    pub state: HunkState,
}

impl Hunk {
    /// True if the disk has the change already, and it is brought along to a buffer that has not
    /// read it.
    pub fn is_of_disk(&self) -> bool {
        self.makers == [Maker::Disk]
    }
}

/// One file of the fork. A persistent value, as the fork is.
#[derive(Clone, Debug)]
pub struct ForkFile {
    /// How it is named to people.
    pub shown: String,
    /// Where it lies; None for a buffer without a file.
    pub place: Option<Place>,
    /// Pending changes of the file.
    pub entry: Entry,
    /// Hunks that were published, and that an editor which died unsaved has taken along: pending again, until
    /// their text turns up after all.
    pub returned: Vec<Published>,
    pub(crate) seen: DiskMemory,
    pub(crate) hunks: HunkCache,
}

impl ForkFile {
    pub(crate) fn new(shown: String, place: Option<Place>, entry: Entry) -> Self {
        let (seen, hunks) = (DiskMemory::default(), HunkCache::default());
        Self { shown, place, entry, returned: Vec::new(), seen, hunks }
    }
}

/// See the module. A persistent value: a clone costs a pointer for each text and a copy of each pending change.
#[derive(Clone, Debug)]
pub struct Fork {
    /// The session it belongs to; empty for a branch, of which no ledger and no news tells.
    pub session: Arc<str>,
    pub(crate) files: BTreeMap<DocId, ForkFile>,
    pub(crate) ids: HunkIdSource,
    /// Hunks that the user rejected: going back doesn't bring them back.
    pub(crate) rejected: BTreeSet<HunkId>,
    /// Hunks that were published, also those undone since.
    pub(crate) accepted: BTreeSet<HunkId>,
    /// The names that the content of a file had before it was moved, whatever became of the moves.
    pub(crate) names: Arc<FormerNames>,
    /// How much of the ledger is among `accepted`.
    noted: Revisions,
}

impl Fork {
    /// An empty fork.
    pub fn new(session: Arc<str>) -> Self {
        Self {
            session,
            files: BTreeMap::new(),
            ids: HunkIdSource::default(),
            rejected: BTreeSet::new(),
            accepted: BTreeSet::new(),
            names: Arc::default(),
            noted: Revisions::default(),
        }
    }

    /// A copy for somebody else to start from: nothing of it is on its way, and no ledger and no news tells of it.
    pub fn handed_on(&self) -> Self {
        let mut copy = Self::new(Arc::default());
        (copy.files, copy.ids, copy.names) =
            (self.files.clone(), self.ids.clone(), self.names.clone());
        for file in copy.files.values_mut() {
            file.entry.forget_sent();
            file.returned.clear();
            file.seen.writing = false;
            file.seen.outdate();
        }
        copy
    }

    /// The same, belonging to no session.
    pub(crate) fn detached(self) -> Self {
        Self { session: Arc::default(), ..self }
    }

    /// True for a branch or a copy, which belongs to no session: nobody is told of it, and it stays on the texts it started
    /// from.
    pub(crate) fn is_detached(&self) -> bool {
        self.session.is_empty()
    }

    /// The same changes for the session of another fork, in the place of what is pending there.
    pub fn as_that_of(&self, other: &Fork) -> Self {
        let last = self.ids.last().max(other.ids.last());
        let (files, names) = (self.files.clone(), self.names.clone());
        Self { files, names, ids: HunkIdSource::after(last), ..other.clone() }
    }

    /// Its files with what is pending in each, on the base as of the last sync.
    pub fn files(&self) -> impl Iterator<Item = (&DocId, &ForkFile)> {
        self.files.iter()
    }

    /// True if nothing is pending.
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
        View::new(snapshot, entries).with_names(self.names.clone())
    }

    /// Notes that the content of the file `from` is called `to` now.
    pub(crate) fn note_move(&mut self, from: &DocId, to: &DocId) {
        let names = Arc::make_mut(&mut self.names);
        let mut former = names.get(from).cloned().unwrap_or_default();
        former.insert(from.clone());
        former.remove(to);
        names.entry(to.clone()).or_default().extend(former);
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

    /// Moves the base to the user's text as it is now. What has lost its place is told in `workspace`'s news, and
    /// given with the file as it is shown. What files that are not open hold is in `answers`; where those say nothing,
    /// such a file stays as it was. Touches no disk. O(files of the fork · what happened since).
    pub fn sync(&mut self, workspace: &Workspace, answers: &Answers) -> Vec<(String, Conflict)> {
        self.follow_use(answers);
        let mut aside = Vec::new();
        for (id, file) in &mut self.files {
            aside.extend(bring(workspace, (&self.session, &mut self.ids), id, file, answers));
        }
        for (shown, one) in &aside {
            self.tell_conflict(workspace, shown.clone(), one);
        }
        self.files.retain(|_, file| file.is_under_way() || !file.entry.is_empty());
        aside
    }

    /// The same of one file alone.
    pub(crate) fn sync_one(&mut self, workspace: &Workspace, id: &DocId, answers: &Answers) {
        let Some(file) = self.files.get_mut(id) else { return };
        let aside = bring(workspace, (&self.session, &mut self.ids), id, file, answers);
        let is_empty = !file.is_under_way() && file.entry.is_empty();
        for (shown, one) in aside {
            self.tell_conflict(workspace, shown, &one);
        }
        if is_empty {
            self.files.remove(id);
        }
    }

    /// Remembers what the ledger has of this session as accepted. O(what is new there).
    pub(crate) fn note_accepted(&mut self, workspace: &Workspace) {
        let ledger = workspace.ledger();
        let own = |session: &Arc<str>| *session == self.session;
        let changed = ledger.changed_since(&self.session, self.noted);
        let is_there = |id: &HunkId| {
            ledger.texts.of_hunk(*id).any(|hunk| own(&hunk.session))
                || ledger.files.of_hunk(*id).any(|file| own(&file.session))
        };
        self.accepted.extend(changed.into_iter().filter(is_there));
        self.noted = ledger.revisions();
    }

    pub(crate) fn tell_conflict(&self, workspace: &Workspace, file: String, one: &Conflict) {
        if self.is_detached() {
            return;
        }
        let Conflict { old, new, now, .. } = one.clone();
        let note = Note::Conflict { file: file.clone(), new: new.clone(), now: now.clone() };
        workspace.tell(Some(self.session.clone()), note);
        workspace.displace(self.session.clone(), DisplacedChange { file, old, new, now });
    }

    /// The pending hunks in the order of files and lines, on the base as of the last sync.
    pub fn hunks(&self) -> Vec<Hunk> {
        self.reviewed().flat_map(|hunks| hunks.iter().cloned().collect::<Vec<_>>()).collect()
    }

    /// The pending hunks by files, without a copy of the texts, for those who have no fork.
    pub fn file_hunks(&self) -> Vec<FileHunks> {
        let of = |(id, file): (&DocId, &ForkFile)| FileHunks::new(id, file, self.left_by(id, file));
        self.files.iter().map(of).filter(|file| !file.hunks.is_empty()).collect()
    }

    /// The same, without a copy.
    pub(crate) fn reviewed(&self) -> impl Iterator<Item = Arc<[Hunk]>> {
        self.files.iter().map(|(id, file)| file.hunks.of(id, file, self.left_by(id, file)))
    }

    /// How the file that is to be renamed is named to people.
    fn left_by(&self, id: &DocId, file: &ForkFile) -> Option<&str> {
        let source = base_of(id, &file.entry);
        self.files.get(source).filter(|_| source != id).map(|left| &*left.shown)
    }

    /// The ids of all parts that a selection means; a hunk's id stands for all of the hunk.
    pub fn select(&self, selection: &HunkSelection) -> Vec<HunkId> {
        let wanted: HashSet<HunkId> = match selection {
            HunkSelection::Hunks(ids) => ids.iter().copied().collect(),
            _ => HashSet::new(),
        };
        let chosen = |hunk: &&Hunk| match selection {
            HunkSelection::Hunks(_) => hunk.parts.iter().any(|part| wanted.contains(part)),
            HunkSelection::File(doc) => hunk.doc == *doc,
            HunkSelection::Turn(turn) => hunk.turn == *turn,
            HunkSelection::All => true,
        };
        let mut ids = Vec::new();
        for hunks in self.reviewed() {
            ids.extend(hunks.iter().filter(chosen).flat_map(|hunk| &hunk.parts));
        }
        ids.dedup();
        ids
    }
}

/// Brings one file to now. Gives what has lost its place, with the file as it is shown.
fn bring(
    workspace: &Workspace,
    (session, ids): (&Arc<str>, &mut HunkIdSource),
    id: &DocId,
    file: &mut ForkFile,
    answers: &Answers,
) -> Vec<(String, Conflict)> {
    if file.is_under_way() {
        return Vec::new();
    }
    let source = base_of(id, &file.entry).clone();
    let moved = sync_file(workspace, session, &source, file, answers.of(id, file));
    let left = follow_disk(workspace, &source, file, ids);
    file.entry.tell_apart(ids);
    let all = moved.into_iter().chain(left);
    all.map(|one| (file.shown.clone(), one)).collect()
}

/// A file as views have it; `on_disk` is where the file under it lies.
fn freeze(id: &DocId, file: &mut ForkFile, on_disk: Option<Place>) -> ForkedFile {
    let entry = &mut file.entry;
    let cursor = entry.cursor();
    let content = match (&entry.file, on_disk) {
        (Some((FileChange::Delete | FileChange::Away, _)), _) => None,
        (Some((FileChange::Binary(bytes), _)), _) if !bytes.is_empty() => {
            Some(FrozenContent::Bytes(bytes.clone()))
        }
        (Some((FileChange::Binary(_), _)), _) => {
            Some(FrozenContent::Text(Text::default(), FileFormat::default()))
        }
        (Some((FileChange::Link(target), _)), _) => Some(FrozenContent::Link(target.clone())),
        // Renamed, or with another mode.
        (_, Some(place)) if matches!(entry.base, Base::Binary { .. }) && entry.set().is_empty() => {
            Some(FrozenContent::OnDisk(place))
        }
        _ => match &entry.base {
            Base::Link { target } if entry.set().is_empty() => {
                Some(FrozenContent::Link(target.clone()))
            }
            Base::Disk { format, .. } => Some(FrozenContent::Text(entry.text().clone(), *format)),
            _ => Some(FrozenContent::Text(entry.text().clone(), FileFormat::default())),
        },
    };
    let away = matches!(entry.file, Some((FileChange::Away, _)));
    let mode = entry.mode.as_ref().map(|(mode, _)| *mode);
    let over_link = matches!(entry.base, Base::Link { .. });
    let source = base_of(id, entry).clone();
    ForkedFile { place: file.place.clone(), content, mode, source, away, over_link, cursor }
}

/// The document under an entry: itself, or the one it was renamed from.
pub(crate) fn base_of<'a>(id: &'a DocId, entry: &'a Entry) -> &'a DocId {
    match &entry.file {
        Some((FileChange::Rename { from }, _)) => from,
        _ => id,
    }
}

/// True if the name is, or is to be, a symbolic link: then its place is the name itself, and
/// nothing is read through it.
pub(crate) fn is_about_link(entry: &Entry) -> bool {
    matches!(entry.base, Base::Link { .. }) || matches!(entry.file, Some((FileChange::Link(_), _)))
}

/// True if the pending changes leave a link at the name.
pub(crate) fn is_link(entry: &Entry) -> bool {
    match &entry.file {
        Some((FileChange::Link(_), _)) => true,
        None => matches!(entry.base, Base::Link { .. }) && entry.set().is_empty(),
        Some(_) => false,
    }
}

/// Where a document of a fork lies: the name itself for a link. None if it shows no file and was never to be one.
pub(crate) fn place_of(roots: &Roots, id: &DocId, link: bool) -> Option<Result<Place, PathError>> {
    place_over(roots, id, link, &Links::default())
}

/// The same where these links above the document count before the disk's.
pub(crate) fn place_over(
    roots: &Roots,
    id: &DocId,
    link: bool,
    over: &Links,
) -> Option<Result<Place, PathError>> {
    if let Some(place) = Place::of_untitled(id) {
        return Some(Ok(place));
    }
    let path = id.path()?;
    // The disk is looked at under the document's own name.
    let disk = Links::default();
    let over = if over.hide(&path) { over } else { &disk };
    Some(if link { roots.name_over(&path, over) } else { roots.place_over(&path, over) })
}
