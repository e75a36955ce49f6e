//! Files of a subagent: one frozen view of which nothing comes back, or a branch of the session's fork.

use super::lost::LostWork;
use crate::changes::{CallOrigin, Changes, MergeOutcome};
use ropewalk_tools::ToolOutput;
use ropewalk_workspace::{Branch, Proposal, View};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
pub(crate) enum ThreadFiles {
    Frozen(Arc<View>),
    Branch(BranchFiles),
}

/// A branch, and how it fares.
pub(crate) struct BranchFiles {
    changes: Arc<Changes>,
    branch: Arc<Mutex<Branch>>,
    /// Own work that was left out while it followed the session's fork.
    lost: Mutex<LostWork>,
    /// The part of that which the subagent is still to be told.
    untold: Mutex<LostWork>,
}

/// Work of a subagent that is to come back.
pub(super) struct ThreadWork {
    /// The view that it was made on.
    pub(super) view: Arc<View>,
    pub(super) proposals: Vec<Proposal>,
    /// The part of the work that is lost already.
    pub(super) lost: LostWork,
}

impl BranchFiles {
    async fn follow(&self) -> View {
        let (view, report) = self.changes.follow(&self.branch).await;
        for lost in [&self.lost, &self.untold] {
            locked(lost).add(&report);
        }
        view
    }
}

impl ThreadFiles {
    /// A branch of what the session holds now, for this call.
    pub(crate) async fn branch(changes: &Arc<Changes>, turn: u64, call: &Arc<str>) -> Self {
        let branch = Arc::new(Mutex::new(changes.branch(turn, call).await));
        let (lost, untold) = (Mutex::default(), Mutex::default());
        Self::Branch(BranchFiles { changes: changes.clone(), branch, lost, untold })
    }

    /// The view of a call.
    pub(crate) async fn view(&self) -> Arc<View> {
        match self {
            Self::Frozen(view) => view.clone(),
            Self::Branch(own) => Arc::new(own.follow().await),
        }
    }

    /// Says in a result of the subagent's what of its work was lost since the one before.
    pub(crate) fn say_lost(&self, output: &mut ToolOutput) {
        if let Self::Branch(own) = self {
            std::mem::take(&mut *locked(&own.untold)).say(output, "you");
        }
    }

    /// Takes in what a call of the subagent's proposes.
    pub(crate) async fn merge(
        &self,
        origin: CallOrigin,
        view: &Arc<View>,
        proposals: Vec<Proposal>,
        output: &mut ToolOutput,
    ) -> MergeOutcome {
        match self {
            Self::Frozen(_) => {
                if !proposals.is_empty() {
                    output.say(
                        "\n(What it wrote is dropped: a subagent of this type changes nothing.)",
                    );
                }
                MergeOutcome::default()
            }
            Self::Branch(own) => own.changes.merge_into(&own.branch, origin, view, proposals).await,
        }
    }

    /// The work that is to come back. None where the subagent changes nothing.
    pub(super) async fn work(&self) -> Option<ThreadWork> {
        let Self::Branch(own) = self else { return None };
        own.follow().await;
        let (view, proposals) = own.changes.work(&own.branch).await;
        let lost = locked(&own.lost).clone();
        Some(ThreadWork { view: Arc::new(view), proposals, lost })
    }
}

fn locked(lost: &Mutex<LostWork>) -> MutexGuard<'_, LostWork> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    lost.lock().unwrap_or_else(PoisonError::into_inner)
}
