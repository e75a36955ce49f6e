//! Branches of the session's fork, in which subagents work until their changes come back.

use super::{CallOrigin, Changes, MergeOutcome};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::synced;
use ropewalk_workspace::{Branch, MergeReport, Proposal, View};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

impl Changes {
    /// A branch of what is pending now, whose work is that of this call.
    pub(crate) async fn branch(self: &Arc<Self>, turn: u64, call: &Arc<str>) -> Branch {
        self.editor.barrier().await;
        let maker = Maker::Call(call.clone());
        let branch = move |changes: &Self| {
            changes.workspace.look_at_disks();
            synced(&changes.workspace, changes, |fork, _| Branch::of(fork, turn, maker))
        };
        self.apart(branch).await
    }

    /// Brings a branch to what is pending now. Gives its view, and what of its work was left out.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        branch: &Arc<Mutex<Branch>>,
    ) -> (View, MergeReport) {
        self.editor.barrier().await;
        let branch = branch.clone();
        let following = move |changes: &Self| {
            let workspace = &changes.workspace;
            workspace.look_at_disks();
            let fork = synced(workspace, changes, |fork, _| fork.clone());
            let mut branch = locked(&branch);
            let report = branch.follow(workspace, fork);
            (branch.fork().view(workspace.snapshot()), report)
        };
        self.apart(following).await
    }

    /// Takes in what a call in a branch proposes, made on `view`.
    pub(crate) async fn merge_into(
        self: &Arc<Self>,
        branch: &Arc<Mutex<Branch>>,
        origin: CallOrigin,
        view: &Arc<View>,
        mut proposals: Vec<Proposal>,
    ) -> MergeOutcome {
        let (branch, view) = (branch.clone(), view.clone());
        let merging = move |changes: &Self| {
            let hidden = changes.without_hidden(&view, &mut proposals);
            let maker = Maker::Call(origin.call);
            let mut branch = locked(&branch);
            let (fork, workspace) = (branch.fork(), &changes.workspace);
            let report = fork.merge(workspace, &view, origin.turn, &maker, proposals);
            MergeOutcome { report, hidden }
        };
        self.apart(merging).await
    }

    /// The branch's own work, on the view that it was made on.
    pub(crate) async fn work(
        self: &Arc<Self>,
        branch: &Arc<Mutex<Branch>>,
    ) -> (View, Vec<Proposal>) {
        let branch = branch.clone();
        self.apart(move |changes| locked(&branch).work(&changes.workspace)).await
    }
}

fn locked(branch: &Mutex<Branch>) -> MutexGuard<'_, Branch> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    branch.lock().unwrap_or_else(PoisonError::into_inner)
}
