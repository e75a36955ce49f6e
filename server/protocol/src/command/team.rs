//! Commands about a team: `ropewalk.tasks` and `ropewalk.team`.

use crate::{BoardTask, TeamOp};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `ropewalk.tasks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TasksArgument {
    /// The page, from one, which it is without it.
    #[serde(default)]
    pub page: Option<u32>,
}

/// The answer to `ropewalk.tasks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TaskPage {
    /// The tasks, by number.
    pub tasks: Vec<BoardTask>,
    /// True if there is another page.
    pub more: bool,
}

/// `ropewalk.team`: one of these, or nothing to show the team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TeamArgument {
    /// The teammate that is to end.
    #[serde(default)]
    pub stop: Option<String>,
    /// An answer to a plan.
    #[serde(default)]
    pub plan: Option<PlanAnswer>,
    /// The team to lead, whose lead is gone.
    #[serde(default)]
    pub adopt: Option<String>,
}

/// An answer to the plan of a teammate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanAnswer {
    /// The number of the request.
    pub request: u64,
    /// True if the teammate may go on as planned.
    pub approve: bool,
    /// Words for the teammate.
    #[serde(default)]
    pub words: Option<String>,
}

impl TeamArgument {
    /// The request that it is. None if it is several.
    pub fn op(self) -> Option<TeamOp> {
        Some(match (self.stop, self.plan, self.adopt) {
            (None, None, None) => TeamOp::Show,
            (Some(name), None, None) => TeamOp::Stop(name),
            (None, Some(PlanAnswer { request, approve, words }), None) => {
                TeamOp::Plan { request, approve, words }
            }
            (None, None, Some(team)) => TeamOp::Adopt(team),
            _ => return None,
        })
    }
}
