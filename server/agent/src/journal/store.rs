//! The folder with all sessions: begin, list, open, rename, delete, prune.
//!
//! A session's file is `sessions/ID.jsonl` in the state folder, for its owner alone. Who writes to one holds
//! its lock, so one server at a time has a session; a lock goes with its process, however that ends.

use super::ids::{self, is_id};
use super::outputs::size_of;
use super::past::{Past, ReadError, each_record};
use super::record::{JournalHead, JournalSummary, Record, VERSION, now, same_roots};
use super::replay::{Replay, result_in};
use super::{Journal, MOST_BYTES, export};
use ropewalk_protocol::plugin::{CallResult, HistoryTurn};
use ropewalk_tools::escapes::strip_escapes;
use ropewalk_tools::private::whole_output;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most bytes of a whole output that a front end is given in one piece.
const MOST_OPENED: u64 = 16 << 20;

/// All sessions of a state folder.
#[derive(Clone, Debug)]
pub struct Sessions {
    folder: PathBuf,
    outputs: PathBuf,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionListing {
    /// Its id.
    pub id: String,
    /// The folders it works in.
    pub roots: Vec<String>,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// Where it stands.
    pub summary: JournalSummary,
    /// Name of the team's member whose session it is.
    pub member: Option<String>,
    /// The size of its journal.
    pub bytes: u64,
    /// True if a running Ropewalk has it.
    pub in_use: bool,
}

/// Bounds within which pruning keeps sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneBounds {
    /// Sessions used in the last so many days.
    pub days: u32,
    /// So many bytes of journals and whole outputs, the newest first.
    pub bytes: u64,
}

/// A session that pruning removes, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Which.
    pub session: SessionListing,
    /// Why, in words.
    pub why: String,
}

/// Why something can't be done with a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is none of this id.
    #[error("there is no session {0}")]
    Unknown(String),
    /// The start of an id fits several.
    #[error("{0} could be any of {1}: give more of the id")]
    Ambiguous(String, String),
    /// Another process has it.
    #[error(
        "session {0} is open in another Ropewalk, and one at a time can have it: end that one, or start a new session"
    )]
    InUse(String),
    /// Its journal can't be read.
    #[error("session {id} can't be read: {why}")]
    Unreadable {
        /// Which.
        id: String,
        /// Why.
        why: ReadError,
    },
    /// The disk says no.
    #[error("session {id}: {why}")]
    Io {
        /// Which.
        id: String,
        /// Why.
        why: io::Error,
    },
}

impl Sessions {
    /// The sessions of a state folder, which need not exist yet.
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("sessions"), outputs: state.join("outputs") }
    }

    /// A new id of the usual form.
    pub fn new_id() -> String {
        ids::new_id()
    }

    /// A new id that no session here has or had outputs under.
    pub fn free_id(&self) -> String {
        let is_free = |id: &String| !self.path(id).exists() && !self.outputs(id).exists();
        let mut ids = std::iter::repeat_with(ids::new_id).take(1_000);
        ids.find(is_free).unwrap_or_else(ids::new_id)
    }

    /// Where whole outputs of a session's calls are kept.
    pub fn outputs(&self, id: &str) -> PathBuf {
        self.outputs.join(id)
    }

    /// Where sessions are exported to, unless the user names a place.
    pub fn exports(&self) -> PathBuf {
        self.outputs.with_file_name("exports")
    }

    /// A journal for a new session. Its file is made when its first turn begins.
    pub fn begin(&self, id: &str, roots: Vec<String>) -> Journal {
        self.begin_for(id, roots, None)
    }

    /// A journal for the new session of a team's member, if a name is given.
    pub fn begin_for(&self, id: &str, roots: Vec<String>, member: Option<String>) -> Journal {
        let head =
            JournalHead { version: VERSION, session: id.to_owned(), at: now(), roots, member };
        Journal::new(self.path(id), head)
    }

    /// All sessions of the user's, the last used first. Those of teams' members are left out, and what is no journal.
    pub fn list(&self) -> Vec<SessionListing> {
        let mut list = self.all();
        list.retain(|listed| listed.member.is_none());
        list
    }

    /// All sessions, the last used first.
    fn all(&self) -> Vec<SessionListing> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let ids = entries.flatten().filter_map(|entry| id_of(&entry.path()));
        let mut list: Vec<SessionListing> = ids.filter_map(|id| self.listed(&id)).collect();
        list.sort_by_key(|listed| std::cmp::Reverse(listed.summary.at));
        list
    }

    /// The sessions of exactly these roots, in whatever order those are, the last used first.
    pub fn of_roots(&self, roots: &[String]) -> Vec<SessionListing> {
        let mut list = self.list();
        list.retain(|listed| same_roots(&listed.roots, roots));
        list
    }

    /// A session as a list has it, by its whole id. None if it can't be read.
    pub fn listed(&self, id: &str) -> Option<SessionListing> {
        if !is_id(id) {
            return None;
        }
        let mut file = self.file(id, OpenOptions::new().read(true)).ok()?;
        let bytes = file.metadata().ok()?.len();
        let (head, summary) = match quick_look(&mut file, bytes) {
            Some(found) => found,
            None => {
                file.rewind().ok()?;
                let (past, _) = Past::read(BufReader::new(&file)).ok()?;
                let summary = past.summary();
                (past.head, summary)
            }
        };
        if head.session != id {
            return None;
        }
        let in_use = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        Some(SessionListing {
            id: id.to_owned(),
            roots: head.roots,
            began: head.at,
            member: head.member,
            summary,
            bytes,
            in_use,
        })
    }

    /// The whole id of the one session whose id begins so.
    pub fn find(&self, start: &str) -> Result<String, SessionError> {
        if is_id(start) && self.path(start).exists() {
            return Ok(start.to_owned());
        }
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut fits: Vec<String> = entries
            .filter_map(|entry| id_of(&entry.path()))
            .filter(|id| !start.is_empty() && id.starts_with(start))
            .collect();
        fits.sort_unstable();
        match fits.as_slice() {
            [] => Err(SessionError::Unknown(start.to_owned())),
            [one] => Ok(one.clone()),
            several => Err(SessionError::Ambiguous(start.to_owned(), several.join(", "))),
        }
    }

    /// Opens a session to go on with it.
    pub fn open(&self, start: &str) -> Result<(Journal, Past), SessionError> {
        let id = self.find(start)?;
        let mut file = self.locked(&id)?;
        let io = |why| SessionError::Io { id: id.clone(), why };
        let (past, whole) = read(&id, &file)?;
        // A line that a crash tore off would spoil the next one.
        file.set_len(whole).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok((Journal::going_on(self.path(&id), file, whole), past))
    }

    /// Reads a session, also one that is in use.
    pub fn read(&self, start: &str) -> Result<Past, SessionError> {
        let id = self.find(start)?;
        let file = self.file(&id, OpenOptions::new().read(true))?;
        read(&id, &file).map(|(past, _)| past)
    }

    /// Gives a session that is not in use a name.
    pub fn rename(&self, start: &str, title: &str) -> Result<(), SessionError> {
        let (journal, mut past) = self.open(start)?;
        journal.write(&Record::Title(title.to_owned()));
        past.title = Some(title.to_owned());
        journal.write(&Record::Summary(past.summary()));
        Ok(())
    }

    /// Removes a session that is not in use, with the outputs of its calls.
    pub fn delete(&self, start: &str) -> Result<SessionListing, SessionError> {
        let id = self.find(start)?;
        let listed = self.listed(&id);
        let _locked = self.locked(&id)?;
        std::fs::remove_file(self.path(&id))
            .map_err(|why| SessionError::Io { id: id.clone(), why })?;
        let outputs = self.outputs(&id);
        if let Err(error) = std::fs::remove_dir_all(&outputs)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %outputs.display(), "outputs can't be removed");
        }
        Ok(listed.unwrap_or(SessionListing {
            id,
            roots: Vec::new(),
            began: 0,
            member: None,
            summary: JournalSummary::default(),
            bytes: 0,
            in_use: false,
        }))
    }

    /// Lists the sessions that pruning would remove: too old or too many, and open nowhere. One in
    /// which changes wait is kept at any age, for the user to decide; changes that a team's member
    /// has not handed over are nobody's.
    pub fn to_prune(&self, keep: PruneBounds) -> Vec<Pruned> {
        const DAY: u64 = 24 * 60 * 60 * 1000;
        let oldest = now().saturating_sub(u64::from(keep.days).saturating_mul(DAY));
        let mut sum: u64 = 0;
        let mut pruned = Vec::new();
        for session in self.all() {
            let bytes = session.bytes.saturating_add(size_of(&self.outputs(&session.id)));
            sum = sum.saturating_add(bytes);
            let old = session.summary.at < oldest;
            let waits = session.member.is_none() && session.summary.waits() > 0;
            if session.in_use || waits || !(old || sum > keep.bytes) {
                continue;
            }
            sum = sum.saturating_sub(bytes);
            let why = if old {
                format!("not used for {} days", keep.days)
            } else {
                format!("all sessions together are over {} MB", keep.bytes >> 20)
            };
            pruned.push(Pruned { session, why });
        }
        pruned
    }

    /// A session as Markdown, for people.
    pub fn export(&self, start: &str) -> Result<String, SessionError> {
        let id = self.find(start)?;
        let file = self.file(&id, OpenOptions::new().read(true))?;
        let mut out = None;
        let read = each_record(BufReader::new(&file), |record| {
            match (&mut out, record) {
                (None, Ok(Record::Journal(head))) if head.version > VERSION => {
                    return Err(ReadError::Later(head.version));
                }
                (None, Ok(head @ Record::Journal(_))) => {
                    out.insert(export::Markdown::default()).take(&head);
                }
                (None, _) => return Err(ReadError::NoJournal),
                (Some(out), Ok(record)) => out.take(&record),
                (Some(_), Err(_)) => {}
            }
            Ok(())
        });
        let out = read.and_then(|_| out.ok_or(ReadError::NoJournal));
        let out = out.map_err(|why| SessionError::Unreadable { id, why })?;
        Ok(out.finish())
    }

    /// The last turns of a session that have ended before this one, so many at most, as its front end was told of them;
    /// true if there are more before them. Also of a session that is in use. O(bytes of its journal).
    pub fn history(
        &self,
        start: &str,
        before: Option<u64>,
        most: usize,
    ) -> Result<(Vec<HistoryTurn>, bool), SessionError> {
        let id = self.find(start)?;
        let mut replay = Replay::new(id.as_str().into(), before.unwrap_or(u64::MAX), most);
        self.each(&id, |record| replay.take(record))?;
        Ok(replay.finish())
    }

    /// Finds the result that the model got for a call of a session, or the whole of it where that was cut; none if its journal
    /// has no such call. O(bytes of its journal and of the whole).
    pub fn result(&self, start: &str, call: &str) -> Result<Option<CallResult>, SessionError> {
        let id = self.find(start)?;
        let mut found = None;
        self.each(&id, |record| {
            found = found.take().or_else(|| result_in(&record, call));
            Ok(())
        })?;
        let file = whole_output(&self.outputs(&id), call);
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_cut = |result: &&mut CallResult| result.text.contains(&name);
        if let Some(result) = found.as_mut().filter(is_cut)
            && std::fs::metadata(&file).is_ok_and(|found| found.len() <= MOST_OPENED)
            && let Ok(whole) = std::fs::read(&file)
        {
            result.text = strip_escapes(&String::from_utf8_lossy(&whole));
        }
        Ok(found)
    }

    /// Reads the records that can be read.
    fn each(
        &self,
        id: &str,
        mut each: impl FnMut(Record<'static>) -> Result<(), ReadError>,
    ) -> Result<(), SessionError> {
        let file = self.file(id, OpenOptions::new().read(true))?;
        let read = each_record(BufReader::new(&file), |record| record.map_or(Ok(()), &mut each));
        read.map(drop).map_err(|why| SessionError::Unreadable { id: id.to_owned(), why })
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.jsonl"))
    }

    fn file(&self, id: &str, options: &OpenOptions) -> Result<File, SessionError> {
        let path = self.path(id);
        let io = |why| SessionError::Io { id: id.to_owned(), why };
        let meta = std::fs::symlink_metadata(&path).map_err(io)?;
        let unreadable = |why| Err(SessionError::Unreadable { id: id.to_owned(), why });
        if !meta.is_file() {
            return unreadable(ReadError::NoJournal);
        }
        if meta.len() > MOST_BYTES {
            let words = format!("it is too large: over {} MB", MOST_BYTES >> 20);
            let why = io::Error::new(io::ErrorKind::FileTooLarge, words);
            return unreadable(ReadError::Io(why));
        }
        options.open(&path).map_err(io)
    }

    fn locked(&self, id: &str) -> Result<File, SessionError> {
        let file = self.file(id, OpenOptions::new().read(true).append(true))?;
        // The lock's last holder may have deleted the file.
        let still_there = |file: File| match is_at(&file, &self.path(id)) {
            true => Ok(file),
            false => Err(SessionError::Unknown(id.to_owned())),
        };
        // Somebody who lists sessions holds it for a moment, and so does a session that has just ended.
        for _ in 0..100 {
            match file.try_lock() {
                Ok(()) => return still_there(file),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return still_there(file);
                }
                Err(TryLockError::Error(why)) => {
                    return Err(SessionError::Io { id: id.to_owned(), why });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        Err(SessionError::InUse(id.to_owned()))
    }
}

/// Reads the journal of the session `id`. One that says it is another's is refused: its id names folders.
fn read(id: &str, file: &File) -> Result<(Past, u64), SessionError> {
    let read = Past::read(BufReader::with_capacity(1 << 16, file)).and_then(|(past, whole)| {
        if past.head.session != id {
            let words = "it says that it is of another session";
            return Err(ReadError::Io(io::Error::new(io::ErrorKind::InvalidData, words)));
        }
        Ok((past, whole))
    });
    read.map_err(|why| SessionError::Unreadable { id: id.to_owned(), why })
}

/// True if the open file is still the one at this path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(ours), Ok(there)) = (file.metadata(), std::fs::symlink_metadata(path)) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

/// True if there is a file at this path: here an open file can't be put out of its place.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// The first line and the last one but for events, where that says where the session stands: events say nothing of it.
/// None: it must be read whole.
fn quick_look(file: &mut File, bytes: u64) -> Option<(JournalHead, JournalSummary)> {
    const END: u64 = 1 << 15;
    let mut first = Vec::new();
    io::BufRead::read_until(&mut BufReader::new((&*file).take(1 << 16)), b'\n', &mut first).ok()?;
    let Record::Journal(head) = serde_json::from_slice(&first).ok()? else { return None };
    if head.version > VERSION {
        return None;
    }
    file.seek(SeekFrom::Start(bytes.saturating_sub(END))).ok()?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end).ok()?;
    let mut lines = end.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n');
    let last = lines.find(|line| !line.starts_with(b"{\"event\":"))?;
    match serde_json::from_slice(last).ok()? {
        Record::Summary(summary) => Some((head, summary)),
        _ => None,
    }
}

fn id_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    is_id(name).then(|| name.to_owned())
}

/// Makes a folder, and those above it, for their owner alone.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}
