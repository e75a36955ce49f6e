//! The workspace: open documents, roots, and what is known of the disk beside them.
//!
//! Document notifications take the gate shared and change one document each, without awaiting anything; a
//! snapshot takes it exclusively, because iterating a DashMap is not atomic. No guard leaves this file.

mod disk_looks;

use crate::document::{Accord, ContentChange, Document, NotificationEffect};
use crate::editor::{EditorError, Habits};
use crate::ledger::Ledger;
use crate::log::{Cursor, Origin};
use crate::note::Note;
use crate::view::{BufferSnapshot, DiskFile, Snapshot, notebooks_of, read_file};
use crate::{DocId, PublishId};
use dashmap::{DashMap, Entry};
use ropewalk_files::disk::{self, FileIdentity, FileMeta};
use ropewalk_files::paths::{Place, Roots};
use ropewalk_text::{Coordinates, Text};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Everything sessions share. See the module.
#[derive(Debug, Default)]
pub struct Workspace {
    documents: DashMap<DocId, Document>,
    /// Locked while a document is held, never the other way round.
    closed: Mutex<Closed>,
    gate: RwLock<()>,
    client: RwLock<ClientTraits>,
    roots: RwLock<Roots>,
    identities: DashMap<DocId, FileIdentity>,
    /// Files that documents showed when the disk was last looked at for them, closed ones too.
    shown_files: DashMap<DocId, FileMeta>,
    outputs: RwLock<Option<Roots>>,
    ledger: Mutex<Ledger>,
    news: Mutex<UntoldNews>,
    slots: DashMap<DocId, Arc<tokio::sync::Mutex<()>>>,
    /// Told whenever a document is opened or closed.
    opened: tokio::sync::Notify,
    next_publish: AtomicU64,
    /// Buffers without a file that were closed: what they held is nowhere.
    untitled_closed: Mutex<HashSet<DocId>>,
    /// Counts what the client does in documents.
    uses: AtomicU64,
    /// Edits of documents closed since of which it will never be known whether they were made.
    lost: Mutex<HashSet<PublishId>>,
    desync_alarms: AtomicUsize,
}

/// Documents that were closed before every fork had taken in what happened in them.
type Closed = HashMap<DocId, Vec<Document>>;

/// The news that nobody has taken yet.
#[derive(Debug, Default)]
struct UntoldNews {
    /// The sessions that hear what concerns all.
    present: HashSet<Arc<str>>,
    /// Each note and the session that it waits for.
    waiting: Vec<(Arc<str>, Note)>,
    /// Changes that have lost their place and the sessions that they are of, for their front ends.
    displaced: Vec<(Arc<str>, DisplacedChange)>,
}

/// A pending change that the user's text has no place for any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplacedChange {
    /// The file as it is shown.
    pub file: String,
    /// The lines it was made for.
    pub old: String,
    /// The same lines as they would have been.
    pub new: String,
    /// Text that stands there now.
    pub now: String,
}

#[derive(Clone, Copy, Debug)]
struct ClientTraits {
    coordinates: Coordinates,
    habits: Habits,
}

impl Default for ClientTraits {
    fn default() -> Self {
        Self { coordinates: Coordinates::default(), habits: Habits::UNKNOWN }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workspace {
    /// An empty workspace over these roots.
    pub fn new(roots: Roots) -> Self {
        Self { roots: RwLock::new(roots), ..Self::default() }
    }

    /// Sets the coordinates and habits that `initialize` agreed on.
    pub fn set_client(&self, coordinates: Coordinates, habits: Habits) {
        *self.client.write().unwrap_or_else(PoisonError::into_inner) =
            ClientTraits { coordinates, habits };
    }

    /// How the client counts.
    pub fn coordinates(&self) -> Coordinates {
        self.client.read().unwrap_or_else(PoisonError::into_inner).coordinates
    }

    /// Habits of the client, as far as they are known.
    pub fn habits(&self) -> Habits {
        self.client.read().unwrap_or_else(PoisonError::into_inner).habits
    }

    /// The roots; without any, the open documents' own files.
    pub fn roots(&self) -> Roots {
        let roots = self.roots.read().unwrap_or_else(PoisonError::into_inner).clone();
        if roots.iter().len() > 0 {
            return roots;
        }
        let files: Vec<PathBuf> =
            self.documents.iter().filter_map(|doc| doc.key().path()).collect();
        roots.with_single_files(files)
    }

    /// Other roots from now on. Views taken before keep theirs.
    pub fn set_roots(&self, roots: Roots) {
        *self.roots.write().unwrap_or_else(PoisonError::into_inner) = roots;
    }

    /// The folder outside the roots where whole outputs of calls lie, for reading.
    pub fn set_outputs(&self, outputs: Option<Roots>) {
        *self.outputs.write().unwrap_or_else(PoisonError::into_inner) = outputs;
    }

    /// Positions of the client that did not exist in our text, since the start.
    pub fn desync_alarms(&self) -> usize {
        self.desync_alarms.load(Ordering::Relaxed)
    }

    /// didOpen. A second one for the same document replaces it: the client knows best.
    pub fn open(&self, uri: &str, language: &str, version: i32, text: &str) -> DocId {
        self.open_as(DocId::from_uri(uri), uri, language, version, text)
    }

    /// The same, where the client's own spelling of the URI is known apart from the document it names.
    pub fn open_as(
        &self,
        id: DocId,
        spelling: &str,
        language: &str,
        version: i32,
        text: &str,
    ) -> DocId {
        let (spelling, language) = (spelling.to_owned(), language.to_owned());
        let mut document = Document::new(spelling, language, version, Text::from(text));
        document.used = self.uses.fetch_add(1, Ordering::Relaxed);
        let _shared = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        match self.documents.entry(id.clone()) {
            Entry::Occupied(mut entry) => {
                let mut closed = lock(&self.closed);
                let old = entry.insert(document);
                self.put_away(&mut closed, &id, old);
            }
            Entry::Vacant(entry) => drop(entry.insert(document)),
        }
        self.ledger().loosen(&id);
        if id.is_untitled() {
            lock(&self.untitled_closed).remove(&id);
        }
        self.opened.notify_waiters();
        id
    }

    /// didChange. None when the document is not open.
    pub fn change(
        &self,
        uri: &str,
        version: i32,
        changes: &[ContentChange],
    ) -> Option<NotificationEffect> {
        let id = DocId::from_uri(uri);
        let client = *self.client.read().unwrap_or_else(PoisonError::into_inner);
        let _shared = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let mut document = self.documents.get_mut(&id)?;
        let changed = document.change(version, changes, client.coordinates, &client.habits);
        document.used = self.uses.fetch_add(1, Ordering::Relaxed);
        self.desync_alarms.fetch_add(changed.desync_alarms, Ordering::Relaxed);
        // Still holding the document: a hunk recorded by a sync can then not miss a delta, nor meet one twice.
        self.move_ledger(&id, &changed);
        Some(changed)
    }

    /// A notification about a document could not be read: what it holds in the editor is not known any more. None: not
    /// even which one is known. True if it is open, and was known until now.
    pub fn lose_track(&self, uri: Option<&str>) -> bool {
        self.desync_alarms.fetch_add(1, Ordering::Relaxed);
        let Some(uri) = uri else { return false };
        let _shared = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        self.with_document(&DocId::from_uri(uri), Document::lose_track).unwrap_or(false)
    }

    /// True if an open document may hold another text in the editor than here.
    pub fn is_in_doubt(&self, id: &DocId) -> bool {
        let doubted = |document: &mut Document| document.accord() != Accord::Certain;
        self.with_document(id, doubted).unwrap_or(false)
    }

    fn move_ledger(&self, id: &DocId, changed: &NotificationEffect) {
        let mut ledger = lock(&self.ledger);
        if ledger.texts.is_empty() {
            return;
        }
        let mut undone = Vec::new();
        for step in &changed.steps {
            let gone = ledger.typed(id, &step.change, (step.before.as_ref(), &step.after));
            if step.origin == Origin::User {
                undone.extend(gone);
            }
        }
        drop(ledger);
        let mut news = lock(&self.news);
        news.waiting.extend(undone.into_iter().map(|hunk| {
            (hunk.session, Note::Undone { file: hunk.file, old: hunk.old, new: hunk.new })
        }));
    }

    /// didClose.
    pub fn close(&self, uri: &str) -> Option<DocId> {
        let id = DocId::from_uri(uri);
        let _shared = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        let Entry::Occupied(entry) = self.documents.entry(id.clone()) else { return None };
        let mut closed = lock(&self.closed);
        let document = entry.remove();
        self.put_away(&mut closed, &id, document);
        drop(closed);
        self.identities.remove(&id);
        self.ledger().loosen(&id);
        if id.is_untitled() {
            lock(&self.untitled_closed).insert(id.clone());
        }
        self.opened.notify_waiters();
        Some(id)
    }

    /// Resolves at the next didOpen or didClose from now on, polled or not.
    pub(crate) fn next_opening(&self) -> tokio::sync::futures::Notified<'_> {
        self.opened.notified()
    }

    /// True if the document is open.
    pub(crate) fn is_open(&self, id: &DocId) -> bool {
        self.documents.contains_key(id)
    }

    /// Finds the places of published texts of an open document anew, and follows them from now on.
    pub(crate) fn anchor(&self, id: &DocId) {
        self.with_document(id, |document| self.ledger().anchor(id, document.text()));
    }

    /// True if it is a buffer without a file that was open, and is not.
    pub(crate) fn is_gone(&self, id: &DocId) -> bool {
        lock(&self.untitled_closed).contains(id)
    }

    /// A document was closed. It is kept as long as a fork has not taken in all that happened in it: an edit of ours
    /// may have been made last, and seen nowhere else. `closed` is held while it leaves the open ones, so that there
    /// is no moment at which it is in neither place.
    fn put_away(&self, closed: &mut Closed, id: &DocId, mut document: Document) {
        self.lose(document.close(self.habits().checks_versions));
        closed.entry(id.clone()).or_default().push(document);
        closed.retain(|_, documents| {
            documents.retain(|document| document.log().is_awaited());
            !documents.is_empty()
        });
    }

    /// Does something with the closed document that `cursor` is of, if it is kept. The closure must not touch the
    /// open documents.
    pub(crate) fn with_closed<T>(
        &self,
        id: &DocId,
        cursor: &Cursor,
        f: impl FnOnce(&mut Document) -> T,
    ) -> Option<T> {
        let mut closed = lock(&self.closed);
        closed.get_mut(id)?.iter_mut().find(|document| document.log().knows(cursor)).map(f)
    }

    fn lose(&self, edits: Vec<PublishId>) {
        if !edits.is_empty() {
            lock(&self.lost).extend(edits);
        }
    }

    /// Takes in the client's answer to an edit, however late it comes. An error is a no, [`EditorError::NoAnswer`] is no
    /// answer. Gives the reason of a no. O(open documents).
    pub fn answered(&self, edit: PublishId, answer: Result<(), EditorError>) -> Option<String> {
        let why = match answer {
            Ok(()) => None,
            Err(EditorError::NoAnswer) => return None,
            Err(error) => Some(error.to_string()),
        };
        if why.is_some() {
            lock(&self.lost).remove(&edit);
        }
        let trusts_versions = self.habits().trusts_versions();
        for mut document in self.documents.iter_mut().filter(|one| one.is_expected(edit)) {
            document.answered(edit, why.is_none(), trusts_versions);
        }
        why
    }

    /// True if nobody will ever know if the edit was made: it ended so in a document that was
    /// closed since.
    pub(crate) fn is_lost(&self, edit: PublishId) -> bool {
        lock(&self.lost).contains(&edit)
    }

    /// All open documents but the conversation, and the roots, at one moment. O(open documents).
    pub fn snapshot(&self) -> Snapshot {
        let roots = self.roots();
        let outputs = self.outputs.read().unwrap_or_else(PoisonError::into_inner).clone();
        let _exclusive = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut buffers = HashMap::with_capacity(self.documents.len());
        let mut used = HashMap::with_capacity(self.documents.len());
        for mut document in self.documents.iter_mut() {
            if document.key().is_conversation() {
                continue;
            }
            let cursor = document.cursor();
            let seen = BufferSnapshot {
                version: document.version,
                text: document.text().clone(),
                cursor,
                moved: document.moved.clone(),
                dirty: !document.is_clean(),
                lost: document.accord() == Accord::Lost,
                format: document.saved.as_ref().map(|saved| saved.format).unwrap_or_default(),
            };
            used.insert(document.key().clone(), document.use_rank());
            buffers.insert(document.key().clone(), seen);
        }
        let mut identities: HashMap<FileIdentity, Vec<DocId>> = HashMap::new();
        for pair in &self.identities {
            identities.entry(*pair.value()).or_default().push(pair.key().clone());
        }
        for names in identities.values_mut().filter(|names| names.len() > 1) {
            names.sort_by_key(|name| std::cmp::Reverse(used.get(name).copied()));
        }
        Snapshot { buffers, roots, outputs, identities }
    }

    /// Does something with an open document, if it is open. The closure must not touch the workspace.
    pub fn with_document<T>(&self, id: &DocId, f: impl FnOnce(&mut Document) -> T) -> Option<T> {
        self.documents.get_mut(id).map(|mut document| f(&mut document))
    }

    /// How the client spells a document's URI: as it did when it opened it, else the canonical way.
    pub fn spelling(&self, id: &DocId) -> String {
        self.with_document(id, |document| document.spelling.clone()).unwrap_or_else(|| id.to_uri())
    }

    /// The ids of the open documents.
    pub fn open_documents(&self) -> Vec<DocId> {
        self.documents.iter().map(|document| document.key().clone()).collect()
    }

    /// The files of notebooks that are open by their cells.
    pub(crate) fn open_notebooks(&self) -> HashSet<PathBuf> {
        notebooks_of(self.open_documents().iter(), &self.roots())
    }

    /// The place of a document's file, if it is inside the roots.
    pub fn place(&self, id: &DocId) -> Option<Place> {
        self.roots().place_of(&id.path()?).ok()
    }

    /// True if a document's file is a text on the disk. Blocking.
    pub(crate) fn is_text_on_disk(&self, id: &DocId) -> bool {
        let found = self.place(id).and_then(|place| read_file(&place, &self.roots()).ok());
        matches!(found, Some(DiskFile::Text { .. }))
    }

    /// Removes as many of the innermost folders above a place as are said, as long as they are empty. A folder
    /// above a document that is open stays, whether its file is there or not: some editors save into no folder that
    /// they don't find. What can't be removed stays too, and is only logged. Blocking.
    pub(crate) fn remove_folders(&self, place: &Place, most: usize) {
        let roots = self.roots();
        let open: Vec<PathBuf> = (self.open_documents().iter())
            .filter_map(DocId::path)
            .flat_map(|path| {
                let resolved = roots.place_of(&path).ok().map(|place| place.path);
                resolved.into_iter().chain([path])
            })
            .collect();
        let is_used = |folder: &Path| open.iter().any(|path| path.starts_with(folder));
        let above = place.path.ancestors().skip(1);
        let most = above.take(most).take_while(|folder| !is_used(folder)).count();
        if let Err(error) = disk::remove_folders(&roots, place, most) {
            tracing::warn!(file = place.shown, %error, "emptied folders were left behind");
        }
    }

    /// True if it is known of an open document which file it shows.
    pub(crate) fn knows_identities(&self) -> bool {
        !self.identities.is_empty()
    }

    /// The other open documents that show the same file as the document does, or else the one that the disk has there.
    /// Some system calls where there are any.
    pub(crate) fn also_open(&self, id: &DocId, there: Option<FileIdentity>) -> Vec<DocId> {
        let roots = self.roots();
        let identity = |place: &Place| disk::identity(&roots, place).ok();
        let known = self.identities.get(id).map(|known| *known);
        let Some(own) = known.or(there) else { return Vec::new() };
        let others =
            self.identities.iter().filter(|other| *other.value() == own && other.key() != id);
        let others: Vec<DocId> = others.map(|other| other.key().clone()).collect();
        // A file's former identity may be another's by now.
        let is_own = |id: &DocId| self.place(id).and_then(|at| identity(&at)) == Some(own);
        if others.is_empty() || !there.map_or_else(|| is_own(id), |there| there == own) {
            return Vec::new();
        }
        others.into_iter().filter(is_own).collect()
    }

    /// The document in use of those that show the same file as this one: one with unsaved text before others, then the
    /// one that was changed or opened last. None if it is open under no other name.
    pub(crate) fn in_use(&self, id: &DocId, there: Option<FileIdentity>) -> Option<DocId> {
        let mut all = self.also_open(id, there);
        if all.is_empty() {
            return None;
        }
        all.push(id.clone());
        let rank = |id: &DocId| self.with_document(id, |document| document.use_rank());
        all.into_iter().max_by_key(rank)
    }

    /// The name under which a document was opened, for people, where that leads to another.
    pub(crate) fn shown_as_opened(&self, id: &DocId) -> String {
        let name = id.path().and_then(|path| self.roots().place_of_name(&path).ok());
        name.map_or_else(|| self.shown(id), |name| name.shown)
    }

    /// The open document that shows the file which went by this name when it was last looked at: the user has renamed it,
    /// and it has not been written since (its number alone may be another file's by now). `known`: that file, if it is known
    /// otherwise. A system call for each open document.
    pub(crate) fn renamed_to(&self, id: &DocId, known: Option<FileMeta>) -> Option<DocId> {
        let was = known.or_else(|| self.shown_files.get(id).map(|was| *was))?;
        let open: Vec<DocId> = self.documents.iter().map(|own| own.key().clone()).collect();
        let roots = self.roots();
        let shows_it = |one: &DocId| {
            let now = self.place(one).and_then(|at| disk::stat(&roots, &at).ok());
            now.is_some_and(|now| {
                (now.identity, now.mtime, now.len) == (was.identity, was.mtime, was.len)
            })
        };
        open.into_iter().find(shows_it)
    }

    /// How a document is named to people.
    pub fn shown(&self, id: &DocId) -> String {
        self.place(id).map_or_else(|| id.as_str().to_owned(), |place| place.shown)
    }

    /// The name of a document for people, with the links in its path as they are. Touches no disk.
    pub fn name(&self, id: &DocId) -> String {
        let Some(path) = id.path() else { return id.as_str().to_owned() };
        let roots = self.roots.read().unwrap_or_else(PoisonError::into_inner).clone();
        let whole = match roots.first() {
            // The file is one of those that are open.
            None => path.to_str(),
            Some(_) => None,
        };
        roots.name(&path).unwrap_or_else(|| whole.unwrap_or(id.as_str()).to_owned())
    }

    /// An id for a publish.
    pub fn publish_id(&self) -> PublishId {
        PublishId(self.next_publish.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Publishes get ids above `last` from now on.
    pub(crate) fn skip_publish_ids(&self, last: u64) {
        self.next_publish.fetch_max(last, Ordering::Relaxed);
    }

    /// The last id that a publish got.
    pub(crate) fn last_publish_id(&self) -> u64 {
        self.next_publish.load(Ordering::Relaxed)
    }

    /// The turn-taking of edits of one document: at most one is under way.
    pub(crate) fn slot(&self, id: &DocId) -> Arc<tokio::sync::Mutex<()>> {
        self.slots.entry(id.clone()).or_default().clone()
    }

    /// Forgets the turn-taking of a document, unless somebody takes part in it.
    pub(crate) fn free_slot(&self, id: &DocId) {
        self.slots.remove_if(id, |_, slot| Arc::strong_count(slot) == 1);
    }

    /// The ledger, for a short while.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        let mut ledger = lock(&self.ledger);
        ledger.settle();
        ledger
    }

    /// A session is there: from now on it hears what concerns all.
    pub fn join(&self, session: Arc<str>) {
        lock(&self.news).present.insert(session);
    }

    /// A session has ended; what it has not taken is gone with it.
    pub fn leave(&self, session: &str) {
        let mut news = lock(&self.news);
        news.present.remove(session);
        news.waiting.retain(|(waits_for, _)| **waits_for != *session);
        news.displaced.retain(|(of, _)| **of != *session);
    }

    /// Keeps a change that has lost its place for the front end of its session.
    pub(crate) fn displace(&self, session: Arc<str>, change: DisplacedChange) {
        lock(&self.news).displaced.push((session, change));
    }

    /// Takes the changes of a session that have lost their place since, oldest first.
    pub fn take_displaced(&self, session: &str) -> Vec<DisplacedChange> {
        let mut news = lock(&self.news);
        let own = news.displaced.extract_if(.., |(of, _)| **of == *session);
        own.map(|(_, change)| change).collect()
    }

    /// Keeps news for a session, or for every session that is there now.
    pub fn tell(&self, session: Option<Arc<str>>, note: Note) {
        let mut news = lock(&self.news);
        let concerned = match session {
            Some(session) => vec![session],
            None => news.present.iter().cloned().collect(),
        };
        for session in concerned {
            let item = (session, note.clone());
            if !news.waiting.contains(&item) {
                news.waiting.push(item);
            }
        }
    }

    /// The news for `session` that nobody has taken yet.
    pub fn news_of(&self, session: &str) -> Vec<Note> {
        let news = lock(&self.news);
        let own = news.waiting.iter().filter(|(waits_for, _)| **waits_for == *session);
        own.map(|(_, note)| note.clone()).collect()
    }

    /// Takes those of the news for `session` that are for members of a team.
    pub fn take_member_news(&self, session: &str) -> Vec<Note> {
        let mut news = lock(&self.news);
        let theirs = news.waiting.extract_if(.., |(waits_for, note)| {
            let is_theirs = matches!(note, Note::Rejected { members, .. } if !members.is_empty());
            **waits_for == *session && is_theirs
        });
        theirs.map(|(_, note)| note).collect()
    }

    /// Takes the news for `session`, oldest first.
    pub fn take_news(&self, session: &str) -> Vec<Note> {
        let mut news = lock(&self.news);
        let mine = news.waiting.extract_if(.., |(waits_for, _)| **waits_for == *session);
        mine.map(|(_, note)| note).collect()
    }
}
