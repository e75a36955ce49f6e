//! Files of a subagent: one frozen view of which nothing comes back, or a branch of the session's fork.

use crate::changes::{Changes, Merged, Origin};
use ropewalk_tools::ToolOutput;
use ropewalk_workspace::{Branch, Proposal, View};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// See the module.
pub(crate) enum ThreadFiles {
    Frozen(Arc<View>),
    Branch(BranchFiles),
}

/// A branch, and how it fares.
pub(crate) struct BranchFiles {
    changes: Arc<Changes>,
    branch: Arc<Mutex<Branch>>,
    /// The files in which its own work has lost its place while it followed the session's fork.
    lost: Mutex<BTreeSet<String>>,
}

impl ThreadFiles {
    /// A branch of what the session holds now, for this call.
    pub(crate) async fn branch(changes: &Arc<Changes>, turn: u64, call: &Arc<str>) -> Self {
        let branch = Arc::new(Mutex::new(changes.branch(turn, call).await));
        Self::Branch(BranchFiles { changes: changes.clone(), branch, lost: Mutex::default() })
    }

    /// The view of a call.
    pub(crate) async fn view(&self) -> Arc<View> {
        match self {
            Self::Frozen(view) => view.clone(),
            Self::Branch(own) => {
                let (view, lost) = own.changes.follow(&own.branch).await;
                own.lost.lock().unwrap_or_else(PoisonError::into_inner).extend(lost);
                Arc::new(view)
            }
        }
    }

    /// Takes in what a call of the subagent's proposes.
    pub(crate) async fn merge(
        &self,
        origin: Origin,
        view: &Arc<View>,
        proposals: Vec<Proposal>,
        output: &mut ToolOutput,
    ) -> Merged {
        match self {
            Self::Frozen(_) => {
                if !proposals.is_empty() {
                    output.say(
                        "\n(What it wrote is dropped: a subagent of this type changes nothing.)",
                    );
                }
                Merged::default()
            }
            Self::Branch(own) => own.changes.merge_into(&own.branch, origin, view, proposals).await,
        }
    }

    /// The work that is to come back, on the view that it was made on, and the files in which some of it has lost its
    /// place already.
    pub(crate) async fn work(&self) -> Option<(Arc<View>, Vec<Proposal>, BTreeSet<String>)> {
        let Self::Branch(own) = self else { return None };
        let (_, lost) = own.changes.follow(&own.branch).await;
        let (view, work) = own.changes.work(&own.branch).await;
        let mut all = own.lost.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.extend(lost);
        Some((Arc::new(view), work, all))
    }
}
