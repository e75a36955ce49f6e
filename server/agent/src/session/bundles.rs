//! Bundles that a session takes in and starts from, one after the other, between reviews.

use super::parts::SessionParts;
use crate::bundles::{BundleRefusal, IncomingBundle, TaskStart};
use ropewalk_protocol::Mode;
use ropewalk_workspace::HunkSelection;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Work with a bundle that the session is asked for.
pub(crate) enum BundleWork {
    /// A bundle is handed over; the answer is how many of its changes the fork has.
    Take(Box<IncomingBundle>, oneshot::Sender<Result<usize, BundleRefusal>>),
    /// A task starts from these files.
    Start(Box<TaskStart>, oneshot::Sender<Result<(), BundleRefusal>>),
}

impl SessionParts {
    pub(super) async fn bundle_work(self: &Arc<Self>, work: BundleWork) {
        match work {
            BundleWork::Take(incoming, done) => {
                let taken = self.take_bundle(*incoming).await;
                // Whoever asked may be gone.
                let _ = done.send(taken);
            }
            BundleWork::Start(start, done) => {
                let started = self.start_task(*start).await;
                let _ = done.send(started);
            }
        }
    }

    async fn take_bundle(&self, incoming: IncomingBundle) -> Result<usize, BundleRefusal> {
        let IncomingBundle { id, bundle, may_publish } = incoming;
        if self.bundles.has(&id) {
            return Ok(0);
        }
        // Its changes are of the turn that goes on, or of the last one.
        let turn = self.snapshot.borrow().turns.last().map_or(0, |mark| mark.turn);
        let report = self.changes.take(bundle, (turn, id.maker())).await?;
        self.changes.keep();
        self.bundles.took(turn, id);
        let count = report.hunks.len();
        if may_publish && self.settings.get().mode == Mode::Auto && count > 0 {
            let parted = self.changes.split(report.hunks, Vec::new()).await;
            let published = self.changes.publish(&HunkSelection::Hunks(parted.now)).await;
            self.changes.tell_model(&published);
            self.changes.tell_user(&published);
            self.changes.tell_also_open(&published);
        }
        Ok(count)
    }

    async fn start_task(&self, start: TaskStart) -> Result<(), BundleRefusal> {
        let turn = self.snapshot.borrow().turns.last().map_or(0, |mark| mark.turn);
        let bundles = start.bundles.into_iter();
        let bundles = bundles.map(|(id, bundle)| (bundle, id.maker())).collect();
        self.changes.start_from(turn, start.lead, bundles).await?;
        self.bundles.starts(turn);
        Ok(())
    }
}
