//! Bundles on their way into the session's fork, and out of it.

use super::Changes;
use crate::journal::record::Record;
use ropewalk_tools::policy::is_sensitive;
use ropewalk_workspace::bundle::take;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::{MergeOrigin, synced};
use ropewalk_workspace::state::SavedState;
use ropewalk_workspace::{Branch, Bundle, BundleGuard, Fork, MergeReport, TakeError};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

/// How often two forks are brought to the same texts, while the user types.
const ROUNDS: usize = 20;

/// Pause before a file that is being written is looked at again.
const WRITE_PAUSE: Duration = Duration::from_millis(50);

/// How many such pauses are made.
const WRITE_PAUSES: usize = 100;

impl Changes {
    /// Takes a bundle in, all of it or nothing.
    pub(crate) async fn take(
        self: &Arc<Self>,
        bundle: Bundle,
        by: (u64, Maker),
    ) -> Result<MergeReport, TakeError> {
        self.editor.barrier().await;
        let (bundle, by) = (Arc::new(bundle), Arc::new(by));
        let mut rounds = 0;
        loop {
            let (bundle, by) = (bundle.clone(), by.clone());
            let taking = move |changes: &Self| {
                let origin = MergeOrigin { turn: by.0, maker: &by.1 };
                changes.guarded(|guard| take(&changes.workspace, changes, &bundle, origin, guard))
            };
            match self.apart(taking).await {
                Err(TakeError::Busy(_)) if rounds < WRITE_PAUSES => {
                    rounds += 1;
                    tokio::time::sleep(WRITE_PAUSE).await;
                }
                Ok(report) => {
                    self.note_merge();
                    return Ok(report);
                }
                refused => return refused,
            }
        }
    }

    /// Has the fork start from the lead's and these bundles, in their order; own work is what comes after.
    pub(crate) async fn start_from(
        self: &Arc<Self>,
        turn: u64,
        lead: Option<Fork>,
        bundles: Vec<(Bundle, Maker)>,
    ) -> Result<(), TakeError> {
        self.editor.barrier().await;
        let starting = move |changes: &Self| {
            let workspace = &changes.workspace;
            let mut start = changes.start();
            let lead = lead.unwrap_or_else(|| Fork::new(Arc::default()));
            let mut branch = Branch::of(&lead, turn, Maker::User);
            branch.refresh(workspace);
            let bundles: Vec<(&Bundle, Maker)> =
                bundles.iter().map(|(bundle, maker)| (bundle, maker.clone())).collect();
            changes.guarded(|guard| branch.start_with(workspace, &bundles, guard))?;
            let mut kept = SavedState::default();
            let keys = changes.settings.keys();
            let is_private = |bytes: &[u8]| keys.are_in(bytes);
            let state = kept.record(branch.start(), workspace, Some(&is_private));
            let mut own = changes.state();
            // One line, so that fork and start are never of two tasks.
            changes.journal.write(&Record::Start { turn, state });
            own.saved.begin_from(&kept);
            own.fork = branch.start().as_that_of(&own.fork);
            *start = Some(branch.start().clone());
            Ok(())
        };
        self.apart(starting).await
    }

    /// Own work as a bundle, and the files that were left out of it, as they are shown.
    pub(crate) async fn own_bundle(self: &Arc<Self>) -> Result<(Bundle, Vec<String>), TakeError> {
        self.editor.barrier().await;
        let making = |changes: &Self| {
            let workspace = &changes.workspace;
            workspace.look_at_disks();
            let mut kept = changes.start();
            let mut checkout = Fork::new(Arc::default());
            let start = kept.as_mut().unwrap_or(&mut checkout);
            for _ in 0..ROUNDS {
                let now = synced(workspace, changes, |fork, _| fork.clone());
                start.sync_now(workspace);
                let mut branch = Branch::between(start, &now, 0, Maker::User);
                if branch.is_level() {
                    let made = changes.guarded(|guard| branch.bundle(workspace, guard));
                    return made.map_err(TakeError::File);
                }
            }
            Err(TakeError::Busy(vec!["an open file".to_owned()]))
        };
        self.apart(making).await
    }

    /// A copy of the fork for a member to start from.
    pub(crate) async fn handed_on(self: &Arc<Self>) -> Fork {
        self.editor.barrier().await;
        let copying = |changes: &Self| {
            changes.workspace.look_at_disks();
            synced(&changes.workspace, changes, |fork, _| fork.handed_on())
        };
        self.apart(copying).await
    }

    /// Brings what the session's task started from to the user's text as it is now. Blocking.
    pub(super) fn sync_start(&self) {
        if let Some(start) = self.start().as_mut() {
            start.sync_now(&self.workspace);
        }
    }

    /// Locks the fork that the session's task started from. Taken before the session's fork where
    /// both are.
    fn start(&self) -> MutexGuard<'_, Option<Fork>> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.start.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a guard that knows which files may hold secrets, and the session's keys.
    fn guarded<T>(&self, act: impl FnOnce(BundleGuard<'_>) -> T) -> T {
        let keys = self.settings.keys();
        let is_private = |bytes: &[u8]| keys.are_in(bytes);
        act(BundleGuard { is_secret: &is_sensitive, private: Some(&is_private) })
    }
}
