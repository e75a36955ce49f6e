//! The journal: what a session needs to go on after a crash, one file of JSON lines per session.
//!
//! A line is written before what it speaks of takes effect: the model's message before its calls run, what is
//! accepted before it is sent to the editor. Each line is one `write`, so that a killed process leaves at most
//! its last line torn; a reader drops that one, and a session that goes on cuts it off. One thing comes later: a
//! text of more than a megabyte that was never kept, at the end of the turn or the review. Lines are synced to
//! the disk when a turn or a review ends: only a power cut can lose what came after.
//!
//! Here is the writer. [`record`] says what a line holds, [`past`] folds lines into what a session starts
//! from, [`store`] is the folder with all sessions, [`export`] words one for people, `replay` tells a front end of its turns. Nothing here decides what
//! is worth a line.

pub mod export;
mod ids;
pub mod opening;
pub(crate) mod outputs;
pub mod past;
pub mod record;
pub mod reduction;
mod replay;
pub mod store;
pub(crate) mod told;

use record::{JournalHead, Record, ThreadRecord};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest a journal gets, in bytes. A session that needs more has long left every model's context.
pub const MOST_BYTES: u64 = 256 << 20;

/// A handle to a session's journal. Cheap to clone; all handles write to the same file.
#[derive(Clone, Default)]
pub struct Journal {
    inner: Option<Arc<Mutex<JournalCore>>>,
    /// The subagent whose records are written, and the call that has started it.
    thread: Option<(Arc<str>, Arc<str>)>,
}

struct JournalCore {
    path: PathBuf,
    state: JournalState,
    bytes: u64,
    /// Why nothing is written any more, until it is told.
    failure: Option<String>,
}

enum JournalState {
    /// Nothing was asked yet, so there is no file: only who asks leaves something behind. The lines wait.
    New(JournalHead, Vec<u8>),
    Open(File),
    /// A write failed; the session goes on without a journal.
    Failed,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Journal").field(&self.path()).finish()
    }
}

impl Journal {
    /// No journal: nothing is kept.
    pub fn none() -> Self {
        Self::default()
    }

    /// A journal at `path`, which is made when the first turn begins.
    pub(crate) fn new(path: PathBuf, head: JournalHead) -> Self {
        Self::with(path, JournalState::New(head, Vec::new()), 0)
    }

    /// Goes on with a file that is locked and ends with a whole line.
    pub(crate) fn going_on(path: PathBuf, file: File, bytes: u64) -> Self {
        Self::with(path, JournalState::Open(file), bytes)
    }

    fn with(path: PathBuf, state: JournalState, bytes: u64) -> Self {
        let inner = Arc::new(Mutex::new(JournalCore { path, state, bytes, failure: None }));
        Self { inner: Some(inner), thread: None }
    }

    /// The same file for the records of a subagent, which the call of the second id has started.
    pub(crate) fn of_thread(&self, thread: Arc<str>, call: Arc<str>) -> Self {
        Self { inner: self.inner.clone(), thread: Some((thread, call)) }
    }

    /// The same file for the session's own records.
    pub(crate) fn of_session(&self) -> Self {
        Self { inner: self.inner.clone(), thread: None }
    }

    /// True if anything is kept.
    pub fn is_kept(&self) -> bool {
        self.inner.is_some()
    }

    /// True if what was written is gone.
    pub(crate) fn is_lost(&self) -> bool {
        let lost = self.inner(|inner| match &inner.state {
            JournalState::New(..) => false,
            JournalState::Open(file) => is_deleted(file),
            JournalState::Failed => !inner.path.exists(),
        });
        lost.unwrap_or(false)
    }

    /// Where it is, or will be.
    pub fn path(&self) -> Option<PathBuf> {
        self.inner(|inner| inner.path.clone())
    }

    /// Writes a line. What goes wrong ends the journal, not the session; [`Journal::take_failure`] says it.
    pub(crate) fn write(&self, record: &Record<'_>) {
        self.inner(|inner| {
            if let Err(error) = inner.write(record, self.thread.as_ref()) {
                tracing::error!(%error, path = %inner.path.display(), "the journal can't be written");
                inner.state = JournalState::Failed;
                inner.failure = Some(format!(
                    "The session can't be kept in {}: {error}. It goes on, but what comes now is lost when it ends.",
                    inner.path.display()
                ));
            }
        });
    }

    /// Takes the failure, once, as a sentence for the user.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.inner(|inner| inner.failure.take()).flatten()
    }

    /// Waits until what was written is on the disk. Blocking.
    pub(crate) fn sync(&self) {
        let file = self.inner(|inner| match &inner.state {
            JournalState::Open(file) => file.try_clone().ok(),
            _ => None,
        });
        // Outside the lock: who writes meanwhile does not wait for the disk.
        if let Some(file) = file.flatten()
            && let Err(error) = file.sync_data()
        {
            tracing::warn!(%error, "the journal can't be synced");
        }
    }

    fn inner<T>(&self, f: impl FnOnce(&mut JournalCore) -> T) -> Option<T> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.inner
            .as_ref()
            .map(|inner| f(&mut inner.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl JournalCore {
    fn write(
        &mut self,
        record: &Record<'_>,
        thread: Option<&(Arc<str>, Arc<str>)>,
    ) -> io::Result<()> {
        if let JournalState::New(head, waiting) = &mut self.state {
            match record {
                Record::Turn { .. } => {}
                // It says nothing that the lines don't.
                Record::Summary(_) => return Ok(()),
                record => {
                    waiting.append(&mut line(record)?);
                    return Ok(());
                }
            }
            let mut lines = line(&Record::Journal(head.clone()))?;
            lines.append(waiting);
            let mut file = create(&self.path)?;
            file.write_all(&lines)?;
            self.bytes = lines.len() as u64;
            self.state = JournalState::Open(file);
        }
        let JournalState::Open(file) = &mut self.state else { return Ok(()) };
        let line = match thread {
            Some((thread, call)) => line(&ThreadRecord::Thread { thread, call, record })?,
            None => line(record)?,
        };
        if self.bytes + line.len() as u64 > MOST_BYTES {
            return Err(io::Error::other(format!(
                "it has reached its limit of {} MB; begin a new session",
                MOST_BYTES >> 20
            )));
        }
        file.write_all(&line)?;
        self.bytes += line.len() as u64;
        match is_deleted(file) {
            true => Err(io::Error::other("its file was deleted")),
            false => Ok(()),
        }
    }
}

/// True if no name leads to an open file any more, as when the state folder was deleted.
fn is_deleted(file: &File) -> bool {
    #[cfg(unix)]
    return file.metadata().is_ok_and(|found| std::os::unix::fs::MetadataExt::nlink(&found) == 0);
    #[cfg(not(unix))]
    return {
        let _ = file;
        false
    };
}

fn line(record: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}

/// Makes the file, for its owner alone, and locks it for as long as it is open.
fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        store::make_private_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path)?;
    // Nobody else knows of it yet; where locks are not to be had, the session goes on without.
    let _ = file.try_lock();
    Ok(file)
}
