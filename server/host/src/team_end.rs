//! The end of a team's work for a front end that does not stay, such as `ropewalk run`.

use crate::host::Host;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use ropewalk_protocol::{BoardTask, BoardTaskStatus};
use std::sync::Arc;

/// Work that a team has left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftWork {
    /// The team's name.
    pub team: String,
    /// Tasks that are pending or in progress.
    pub tasks: Vec<BoardTask>,
    /// Plans that nobody has answered: the member, and its words.
    pub plans: Vec<(String, String)>,
}

impl Host {
    /// True if the current session leads a team, or goes on with one in a moment.
    pub fn has_team(&self) -> bool {
        self.lead().is_ok_and(|lead| lead.has_team())
    }

    /// Waits until nothing of the current session's team goes on by itself any more: no turn runs, and none begins.
    pub fn team_rests(self: &Arc<Self>) -> BoxFuture<'static, ()> {
        match self.lead() {
            Ok(lead) => Box::pin(async move { lead.rests().await }),
            Err(_) => ready(()).boxed(),
        }
    }

    /// Stops the team of the current session: its members' turns are interrupted, and their tasks return to the board.
    pub fn stop_team(&self) {
        if let Ok(lead) = self.lead() {
            lead.stop_all();
        }
    }

    /// Has the members that live here leave, the lead too. What they have handed over is in the review then. Gives what
    /// is left; None without a team.
    pub fn leave_team(&self) -> BoxFuture<'_, Option<LeftWork>> {
        Box::pin(async move {
            let lead = self.lead().ok().filter(|lead| lead.known().is_some())?;
            let plans = lead.open_plans().await.unwrap_or_default();
            lead.leave().await;
            let mut left =
                LeftWork { team: lead.roster().await.ok()?.team, tasks: Vec::new(), plans };
            for page in 1.. {
                let Ok((tasks, more)) = lead.tasks(Some(page)).await else { break };
                left.tasks.extend(tasks.into_iter().filter(|task| {
                    matches!(task.status, BoardTaskStatus::Pending | BoardTaskStatus::InProgress)
                }));
                if !more {
                    break;
                }
            }
            Some(left)
        })
    }
}
