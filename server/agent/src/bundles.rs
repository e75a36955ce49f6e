//! Bundles of a team: what a session takes in from other members, what it starts a task from, and what it hands on.
//!
//! The team room brings them from the board and takes them there. Here is what a session knows of them: which it has
//! taken in, and who is told what becomes of them.

pub(crate) mod id;

pub use id::BundleId;

use crate::journal::Journal;
use crate::journal::record::Record;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::{Bundle, Fork, Note, TakeError, Workspace};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A bundle that another member hands over.
#[derive(Clone, Debug)]
pub struct IncomingBundle {
    /// Its maker.
    pub id: BundleId,
    /// The work.
    pub bundle: Bundle,
    /// True if mode `auto` may publish it: of teammates, never of workers.
    pub may_publish: bool,
}

/// The files that a task starts from.
#[derive(Clone, Debug, Default)]
pub struct TaskStart {
    /// A copy of the lead's fork, if that is in this server ([`Session::fork`](crate::Session::fork)); None starts from
    /// the checkout.
    pub lead: Option<Fork>,
    /// Bundles that the lead's fork has not taken, of the tasks that this one waited for, in the order of completion.
    pub bundles: Vec<(BundleId, Bundle)>,
}

/// Why a bundle was not taken in, made or started from. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleRefusal {
    /// It does not fit, or is hostile.
    #[error(transparent)]
    Take(#[from] TakeError),
    /// The session has ended.
    #[error("the session has ended")]
    Ended,
}

/// Something became of bundles that a session has taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleNews {
    /// The user rejected a change of a member's.
    Rejected {
        /// The member.
        member: Arc<str>,
        /// Its task.
        task: Option<u64>,
        /// Words for the member, with the change and the user's reason.
        words: String,
    },
    /// A rewind took these out again: they may be handed over once more. It may be told more than once.
    TakenBack(Vec<BundleId>),
}

/// A bundle that was taken in, and the turn that counts it as its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TakenBundle {
    pub(crate) turn: u64,
    pub(crate) id: BundleId,
}

/// Bundles that came in, and what became of that.
#[derive(Debug, Default)]
pub(crate) struct TakenBundles {
    /// Bundles that are in, oldest first.
    taken: Vec<TakenBundle>,
    /// Bundles that a rewind took out, and that have not come again.
    back: Vec<BundleId>,
}

impl TakenBundles {
    pub(crate) fn took(&mut self, turn: u64, id: BundleId) {
        self.back.retain(|one| *one != id);
        self.taken.push(TakenBundle { turn, id });
    }

    /// A turn and all after it were taken back. Gives what went with them.
    pub(crate) fn rewind(&mut self, turn: u64) -> Vec<BundleId> {
        let went = self.taken.extract_if(.., |one| one.turn >= turn);
        let went: Vec<BundleId> = went.map(|one| one.id).collect();
        self.back.extend(went.iter().cloned());
        went
    }
}

/// The bundles of a session.
pub(crate) struct Bundles {
    taken: Mutex<TakenBundles>,
    /// The last turn before the start of the session's task.
    start: AtomicU64,
    watcher: Mutex<Option<UnboundedSender<BundleNews>>>,
    journal: Journal,
}

impl Bundles {
    pub(crate) fn new(taken: TakenBundles, start: u64, journal: Journal) -> Self {
        let (taken, start) = (Mutex::new(taken), AtomicU64::new(start));
        Self { taken, start, watcher: Mutex::default(), journal }
    }

    fn taken(&self) -> MutexGuard<'_, TakenBundles> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bundles that were taken in, oldest first.
    pub(crate) fn ids(&self) -> Vec<BundleId> {
        self.taken().taken.iter().map(|one| one.id.clone()).collect()
    }

    pub(crate) fn has(&self, id: &BundleId) -> bool {
        self.taken().taken.iter().any(|one| one.id == *id)
    }

    /// Notes that a bundle is in the fork. The fork's state is in the journal by then: cut off between the two lines, the
    /// bundle is taken once more and melts.
    pub(crate) fn took(&self, turn: u64, id: BundleId) {
        self.journal.write(&Record::Taken { turn, id: Cow::Borrowed(&id) });
        self.taken().took(turn, id);
    }

    /// A turn and all after it were taken back, and with them what was taken in since.
    pub(crate) fn rewind(&self, turn: u64) {
        let back = self.taken().rewind(turn);
        if !back.is_empty() {
            self.tell(BundleNews::TakenBack(back));
        }
    }

    pub(crate) fn starts(&self, turn: u64) {
        self.start.store(turn, Ordering::Relaxed);
    }

    /// True if the turn lies before the start of the session's task.
    pub(crate) fn is_before_start(&self, turn: u64) -> bool {
        turn <= self.start.load(Ordering::Relaxed)
    }

    /// Whoever watches from now on; an earlier watcher hears nothing more. What a rewind took out and has not come again is
    /// told once more: nobody may have heard of it, or the process have ended before it was done.
    pub(crate) fn watch(&self) -> UnboundedReceiver<BundleNews> {
        let (sender, receiver) = unbounded_channel();
        let back = self.taken().back.clone();
        if !back.is_empty() {
            // The receiver is here.
            let _ = sender.send(BundleNews::TakenBack(back));
        }
        *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    fn watcher(&self) -> Option<UnboundedSender<BundleNews>> {
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        watcher.clone().filter(|watcher| !watcher.is_closed())
    }

    fn tell(&self, news: BundleNews) {
        if let Some(watcher) = self.watcher() {
            let _ = watcher.send(news);
        }
    }

    /// Tells members of the changes that the user rejected. Without a watcher the session's own model is told.
    pub(crate) fn tell_rejections(&self, workspace: &Workspace, session: &str) {
        if self.watcher().is_none() {
            return;
        }
        for note in workspace.take_member_news(session) {
            let Note::Rejected { members, .. } = &note else { continue };
            for maker in members {
                if let Maker::Member { name, task } = maker {
                    let (member, task) = (name.clone(), *task);
                    let words = note.to_string();
                    self.tell(BundleNews::Rejected { member, task, words });
                }
            }
        }
    }
}
