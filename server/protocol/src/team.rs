//! Teams, as front ends see them: members, the tasks of their board, messages, and what a user asks of a team.

use crate::SessionId;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TeamState {
    /// It has work.
    Working,
    /// It waits for work.
    #[default]
    Idle,
    /// It has ended.
    Shutdown,
    /// Nothing was heard of it for longer than its lease.
    Gone,
}

/// A member of a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TeamMember {
    /// Its name.
    pub name: String,
    /// Its role; empty for any.
    pub role: String,
    /// Its state.
    pub state: TeamState,
    /// The number of the task that it works on. Null without one.
    pub task: Option<u64>,
    /// Its session, if that is open in this server. Null for workers, and for members that have ended.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// Tokens that it used.
    pub tokens: u64,
    /// Price of those in cents.
    pub cents: u64,
}

/// Status of a board task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BoardTaskStatus {
    /// It waits for a member, or for other tasks.
    #[default]
    Pending,
    /// A member works on it.
    InProgress,
    /// It is done.
    Completed,
    /// It failed too often, and waits for the user.
    Failed,
    /// Nobody needs it any more.
    Cancelled,
}

/// A task of a team's board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BoardTask {
    /// Its number in the team.
    pub number: u64,
    /// Its subject, in one line.
    pub subject: String,
    /// Its status.
    pub status: BoardTaskStatus,
    /// The member that works on it or has completed it. Null where nobody has.
    pub owner: Option<String>,
    /// The numbers of the tasks it still waits for.
    pub blocked_by: Vec<u64>,
    /// How often it was begun.
    pub attempt: u64,
}

/// A message to the lead of a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TeamMessage {
    /// Its number on the board.
    pub number: u64,
    /// The member that sent it, or `board`.
    pub from: String,
    /// One word for its kind, such as `message`, `plan` or `task_failed`.
    pub kind: String,
    /// The number of the request in it, such as a plan that waits for an answer. Null without one.
    pub request: Option<u64>,
    /// Its text.
    pub body: String,
}

/// A team and its members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TeamRoster {
    /// The team's name.
    pub team: String,
    /// The members as they are now, the lead first.
    pub members: Vec<TeamMember>,
}

/// A request of the user about a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TeamOp {
    /// Asks for its members.
    Show,
    /// Ends a teammate, by its name.
    Stop(String),
    /// Answers a plan that waits.
    Plan {
        /// The number of the request.
        request: u64,
        /// True if the teammate may go on as planned.
        approve: bool,
        /// Words for the teammate.
        words: Option<String>,
    },
    /// Leads a team, by its name, whose lead is gone.
    Adopt(String),
}
