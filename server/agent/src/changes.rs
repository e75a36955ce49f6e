//! The changes of a session: the owner of its fork, of what the journal has of it, and of the hunks as they were shown
//! last.
//!
//! Turns, reviews and commands in the background come here, and nobody else locks the fork. Under its lock no file of
//! the workspace is read or written; the journal's append is the only write.

mod branch;
mod bundle;
mod hidden;
mod made;
mod published;
mod review;
mod show;
mod told;
mod work;

pub(crate) use show::report_in_words;

use crate::beside::beside_others;
use crate::events::Events;
use crate::held::{Split, split};
use crate::journal::Journal;
use crate::journal::record::Record;
use crate::readable::ReadableFolders;
use crate::settings::CurrentSettings;
use ropewalk_protocol::HunkInfo;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::{MergeOrigin, merge, synced};
use ropewalk_workspace::publish::{PublishBounds, PublishReport, publish};
use ropewalk_workspace::state::{Private, SavedState, StateRecord, StayingCalls, go_back};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::{
    DocId, Editor, FileHunks, Fork, ForkOwner, Hunk, HunkId, HunkSelection, LockedFork,
    MergeReport, Patch, Place, Proposal, View, Workspace,
};
use std::collections::{HashMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinError;
use told::ToldPublished;
use work::FileWork;

/// See the module.
pub(crate) struct Changes {
    session: Arc<str>,
    workspace: Arc<Workspace>,
    editor: Arc<dyn Editor>,
    bounds: PublishBounds,
    journal: Journal,
    settings: Arc<CurrentSettings>,
    events: Events,
    readable: Arc<ReadableFolders>,
    state: Mutex<ChangesState>,
    /// Files that a member's task started from; None where that is the checkout.
    start: Mutex<Option<Fork>>,
    /// Locked under `state` too, and only to be read or replaced: front ends read it where messages are taken.
    review: Mutex<ReviewLook>,
    told: Mutex<ToldHunks>,
    work: Mutex<FileWork>,
}

struct ChangesState {
    fork: Fork,
    /// The fork, ledger and news as the journal has them.
    saved: SavedState,
    /// The first lines of the commands that have changed something, by the ids of their calls.
    commands: HashMap<Arc<str>, String>,
    /// Words that were told once and are not told again.
    told: HashSet<String>,
    /// Published changes that were told.
    published: ToldPublished,
    /// Calls that have started a command in the background, with their turns.
    background: HashMap<Arc<str>, u64>,
}

/// The pending changes of a session, and its latest published turn, as of the last look.
#[derive(Clone, Debug, Default)]
pub struct ReviewSnapshot {
    /// The pending hunks by files.
    pub files: Arc<[FileHunks]>,
    /// The turn of which something was published last; 0 if nothing was.
    pub latest_turn: u64,
}

impl ReviewSnapshot {
    /// The pending hunks, in the order of files and lines.
    pub fn hunks(&self) -> impl Iterator<Item = &Hunk> + Clone {
        self.files.iter().flat_map(|file| file.hunks.iter())
    }

    /// The number of pending hunks.
    pub fn pending(&self) -> usize {
        self.files.iter().map(|file| file.hunks.len()).sum()
    }
}

/// The last look at the hunks, with its number.
#[derive(Default)]
struct ReviewLook {
    number: u64,
    review: ReviewSnapshot,
}

/// The hunks that front ends were told last, with the number of the look.
#[derive(Default)]
struct ToldHunks {
    number: u64,
    hunks: Vec<HunkInfo>,
}

/// The parts that a session's changes start from.
pub(crate) struct ChangesConfig {
    pub(crate) session: Arc<str>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) editor: Arc<dyn Editor>,
    pub(crate) bounds: PublishBounds,
    pub(crate) journal: Journal,
    pub(crate) settings: Arc<CurrentSettings>,
    pub(crate) events: Events,
    /// Folders outside the roots that may be read.
    pub(crate) readable: Arc<ReadableFolders>,
    /// The state that a journal has.
    pub(crate) saved: SavedState,
    /// The state that a member's task started from.
    pub(crate) start: Option<SavedState>,
    /// The first lines of commands, by the ids of their calls.
    pub(crate) commands: HashMap<Arc<str>, String>,
    /// Calls that have started a command in the background, with their turns.
    pub(crate) background: HashMap<Arc<str>, u64>,
}

/// The call that has made changes.
pub(crate) struct CallOrigin {
    pub(crate) turn: u64,
    pub(crate) call: Arc<str>,
    /// The first line of its command, if it ran one.
    pub(crate) command: Option<String>,
}

/// The outcome of proposals.
#[derive(Default)]
pub(crate) struct MergeOutcome {
    pub(crate) report: MergeReport,
    /// The files in which a key that is not shown would be lost, as they are shown: nothing was merged there.
    pub(crate) hidden: Vec<String>,
}

impl Changes {
    /// Restores what was pending on the files as they are now. Blocking.
    pub(crate) fn new(config: ChangesConfig) -> Self {
        let ChangesConfig { session, workspace, editor, bounds, journal, settings, events, .. } =
            config;
        let (saved, commands, readable) = (config.saved, config.commands, config.readable);
        let background = config.background;
        workspace.join(session.clone());
        let fork = saved.restore(session.clone(), &workspace);
        let start = config.start.map(|start| start.restore(Arc::default(), &workspace));
        let start = Mutex::new(start);
        let published = ToldPublished::all(&workspace, &session);
        let told = HashSet::new();
        let state = Mutex::new(ChangesState { fork, saved, commands, told, published, background });
        let (review, work) = (Mutex::default(), Mutex::default());
        let changes = Self {
            session,
            workspace,
            editor,
            bounds,
            journal,
            settings,
            events,
            readable,
            state,
            start,
            review,
            told: Mutex::default(),
            work,
        };
        changes.note(&changes.state().fork);
        changes
    }

    fn state(&self) -> MutexGuard<'_, ChangesState> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_look(&self) -> MutexGuard<'_, ReviewLook> {
        self.review.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what waits for the disk where that holds up nobody.
    async fn apart<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let changes = self.clone();
        match spawn_blocking(move || work(&changes)).await.map_err(JoinError::try_into_panic) {
            Ok(done) => done,
            // A panic goes on here.
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime is going down, and this task with it.
            Err(Err(_)) => std::future::pending().await,
        }
    }

    /// The view of a call: the user's text as it is now, under the fork.
    pub(crate) async fn view(self: &Arc<Self>) -> View {
        self.editor.barrier().await;
        self.apart(Self::view_now).await
    }

    /// The same of the user's text as it is known. Blocking.
    pub(crate) fn view_now(&self) -> View {
        self.workspace.look_at_disks();
        let snapshot = || self.workspace.snapshot();
        let view = synced(&self.workspace, self, |fork, _| fork.view(snapshot()));
        self.sync_start();
        view.with_readable(self.readable.get())
    }

    /// Takes in what a call proposes, made on `view`.
    pub(crate) async fn merge(
        self: &Arc<Self>,
        origin: CallOrigin,
        view: &Arc<View>,
        mut proposals: Vec<Proposal>,
    ) -> MergeOutcome {
        let view = view.clone();
        let merging = move |changes: &Self| {
            let hidden = changes.without_hidden(&view, &mut proposals);
            if !proposals.is_empty() {
                changes.note_merge();
            }
            let CallOrigin { turn, call, command } = origin;
            if let Some(command) = command {
                changes.state().commands.insert(call.clone(), command);
            }
            let origin = MergeOrigin { turn, maker: &Maker::Call(call) };
            let report = merge(&changes.workspace, changes, &view, origin, proposals);
            MergeOutcome { report, hidden }
        };
        self.apart(merging).await
    }

    /// Takes out what would lose a key that is not shown, and gives the files of it.
    fn without_hidden(&self, view: &View, proposals: &mut Vec<Proposal>) -> Vec<String> {
        let keys = self.settings.keys();
        let hidden = match keys.is_empty() {
            true => Vec::new(),
            false => hidden::overwritten(&keys, view, proposals),
        };
        proposals.retain(|proposal| !hidden.contains(&proposal.place.shown));
        hidden
    }

    /// Parts hunks into those that may be published at once and those that wait for the user. `moves`: from where to
    /// where the call that made them moves files.
    pub(crate) async fn split(
        self: &Arc<Self>,
        hunks: Vec<HunkId>,
        moves: Vec<(Place, Place)>,
    ) -> Split {
        let changes = self.clone();
        let parting = spawn_blocking(move || {
            let fork = changes.state().fork.clone();
            split(&fork, &changes.workspace.roots(), &hunks, &moves)
        });
        parting.await.unwrap_or_else(|error| {
            // Nothing is published of which that is not known.
            tracing::error!(%error, "what may be published could not be told");
            Split::default()
        })
    }

    /// Brings a selection into the user's text.
    pub(crate) async fn publish(&self, selection: &HunkSelection) -> PublishReport {
        let documents = self.documents();
        let publishing = publish(&self.workspace, &*self.editor, self, selection, self.bounds);
        let report = beside_others(publishing).await;
        self.note_published(&report.done, &documents);
        report
    }

    /// Takes published changes back.
    pub(crate) async fn undo(&self, selection: &HunkSelection) -> PublishReport {
        beside_others(undo(&self.workspace, &*self.editor, self, selection, self.bounds)).await
    }

    /// The call of this turn has started a command in the background.
    pub(crate) fn note_background(&self, call: Arc<str>, turn: u64) {
        self.state().background.insert(call, turn);
    }

    /// Makes pending what was pending before `turn`, and forgets the news for the model. What commands of earlier turns
    /// have changed in the background since stays. Gives how many hunks fewer are pending.
    pub(crate) async fn go_back(self: &Arc<Self>, to: SavedState, turn: u64) -> usize {
        let going = move |changes: &Self| {
            let stays: StayingCalls = {
                let mut state = changes.state();
                state.background.retain(|_, started| *started < turn);
                state.background.keys().cloned().collect()
            };
            let count = go_back(&changes.workspace, changes, &to, &stays);
            changes.workspace.take_news(&changes.session);
            count
        };
        self.apart(going).await
    }

    /// The net change that is pending, as `git apply` takes it. Blocking.
    pub(crate) fn patch(&self) -> Patch {
        synced(&self.workspace, self, |fork, _| fork.clone()).patch(&self.workspace)
    }

    /// How many hunks are pending, and how many accepted ones were never saved, as the journal has it.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        let state = self.state();
        (state.saved.pending(), state.saved.unsaved())
    }

    /// Writes what is new in fork, ledger and news into the journal, and gives the state that it has then.
    pub(crate) fn keep(&self) -> SavedState {
        let mut state = self.state();
        self.record(&mut state, SavedState::record);
        state.saved.clone()
    }

    /// Writes what is new of the state. A text with a key in it is in no journal: what is pending in such a file
    /// does not outlive the process, which is said.
    fn record(
        &self,
        state: &mut ChangesState,
        record: impl FnOnce(&mut SavedState, &Fork, &Workspace, Private<'_>) -> Vec<StateRecord>,
    ) {
        if !self.journal.is_kept() {
            return;
        }
        let keys = self.settings.keys();
        let is_private = |bytes: &[u8]| keys.are_in(bytes);
        let private: Private<'_> = if keys.is_empty() { None } else { Some(&is_private) };
        for state in record(&mut state.saved, &state.fork, &self.workspace, private) {
            self.journal.write(&Record::State(state));
        }
        for file in state.saved.take_left_out() {
            self.events.warn(format!(
                "{file} holds an API key, so its proposed changes are not kept on the disk, and a crash would lose \
                 them."
            ));
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.workspace.leave(&self.session);
    }
}

/// The fork under its lock, with all that stands there.
struct LockedChanges<'a> {
    changes: &'a Changes,
    state: MutexGuard<'a, ChangesState>,
}

impl Deref for LockedChanges<'_> {
    type Target = Fork;

    fn deref(&self) -> &Fork {
        &self.state.fork
    }
}

impl DerefMut for LockedChanges<'_> {
    fn deref_mut(&mut self) -> &mut Fork {
        &mut self.state.fork
    }
}

impl LockedFork for LockedChanges<'_> {
    fn journal_first(&mut self, files: &[DocId]) {
        self.changes.record(&mut self.state, |saved, fork, workspace, private| {
            saved.record_at_hand(files, fork, workspace, private)
        });
    }
}

impl ForkOwner for Changes {
    fn lock(&self) -> Box<dyn LockedFork + '_> {
        Box::new(LockedChanges { changes: self, state: self.state() })
    }
}
