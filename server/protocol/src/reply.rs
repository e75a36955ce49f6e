//! Replies: what a host answers to a request. What becomes of it is told by events.

use crate::usage::short_count;
use crate::{BoardTask, ContextUse, Mode, SessionId, TeamMessage, TeamRoster, Tokens};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An answer to a [`Request`](crate::Request) that was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Nothing is to be said but that it was taken.
    Taken,
    /// A prompt was taken: the session, and the turn it will be.
    Turn(SessionId, u64),
    /// The words of a prompt that waits no more.
    Unqueued(String),
    /// The turn that is taken back, and the words it had begun with.
    Rewinding(u64, String),
    /// How the session stands.
    Status(Status),
    /// A session was begun, or nothing was asked yet in the current one; with the session that was left for it.
    Begun(SessionId, Option<LeftSession>),
    /// A session goes on.
    Resumed(ResumedSession),
    /// A session was left.
    Closed(Option<LeftSession>),
    /// The sessions that were asked for, the last used first. Their numbers count from one, until the next list.
    Sessions(Vec<SessionInfo>),
    /// The session's id and its name now.
    Renamed(SessionId, String),
    /// The session as it was.
    Deleted(SessionInfo),
    /// The file that was asked for, as a path.
    File(String),
    /// The folder that was answered about.
    Answered(String),
    /// How many answers were forgotten.
    Forgotten(usize),
    /// A page of the team's tasks, by number.
    Tasks {
        /// The tasks.
        tasks: Vec<BoardTask>,
        /// True if there is another page.
        more: bool,
    },
    /// The team.
    Team(TeamRoster),
    /// Messages to the lead, the oldest first.
    Inbox(Vec<TeamMessage>),
}

/// A request that can't be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Refusal {
    /// Why, in a sentence without its full stop.
    pub words: String,
    /// True if another process has the session.
    #[serde(default)]
    pub in_use: bool,
}

impl<T: Into<String>> From<T> for Refusal {
    fn from(words: T) -> Self {
        Self { words: words.into(), in_use: false }
    }
}

/// A key of the configuration that can't be changed here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Lock {
    /// The key.
    pub key: String,
    /// The place that locks it.
    pub by: String,
}

/// A session as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Its id.
    pub session: SessionId,
    /// Its name; empty while it has none.
    pub title: String,
    /// How many turns it has had.
    pub turns: usize,
    /// Keys that the configuration locks.
    pub locks: Vec<Lock>,
    /// Its mode.
    pub mode: Mode,
    /// Its model; null where none is usable.
    pub model: Option<String>,
    /// Words on the set-up that lacks where none is usable, else null.
    pub missing: Option<String>,
    /// How many hunks are pending.
    pub hunks: usize,
    /// Ids of the approvals that wait, the oldest first.
    pub approvals: Vec<u64>,
    /// How many todos there are.
    pub todos: usize,
    /// How many of them are completed.
    pub todos_done: usize,
    /// How many messages were said.
    pub messages: usize,
    /// Tokens so far, and what they cost.
    pub tokens: Tokens,
    /// How full the model's context is.
    pub context: ContextFill,
    /// How often a document was found to be out of step.
    pub desync_alarms: usize,
}

/// How full a model's context is by the last request, in tokens, by estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextFill {
    /// Taken by all of it; 0 before the first request.
    pub used: u64,
    /// Taken by the system prompt and the tools.
    pub prelude: u64,
    /// The model's context; 0 where it is not known.
    pub context: u64,
}

impl From<ContextFill> for ContextUse {
    fn from(fill: ContextFill) -> Self {
        Self { used: fill.used, size: Some(fill.context).filter(|size| *size > 0) }
    }
}

impl ContextFill {
    /// A sentence about it.
    pub fn in_words(self) -> String {
        let (used, prelude) = (short_count(self.used), short_count(self.prelude));
        match (self.used, self.context) {
            (0, _) => "Nothing was asked yet, so the context is empty.".to_owned(),
            (_, 0) => format!(
                "The last request had about {used} tokens, {prelude} of them for the system prompt and the tools; how \
                 many the model takes is not known."
            ),
            (_, context) => format!(
                "The context is {}% full: about {used} of {} tokens, {prelude} of them for the system prompt and the tools.",
                self.used.saturating_mul(100) / context,
                short_count(context)
            ),
        }
    }
}

/// A session that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// Its id.
    pub session: SessionId,
    /// Its name; empty while it has none.
    pub title: String,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// When something last happened in it, likewise.
    pub at: u64,
    /// The folders it works in.
    pub roots: Vec<String>,
    /// How many turns it has.
    pub turns: u64,
    /// How many changes wait for review.
    pub pending: usize,
    /// How many accepted changes were never saved: if the editor died, they wait again.
    pub unsaved: usize,
    /// The size of its journal, in bytes.
    pub bytes: u64,
    /// True if another process has it.
    pub in_use: bool,
    /// True if it is the current one.
    pub current: bool,
}

impl SessionInfo {
    /// How many changes would be lost with it: those that wait for review, and those that were never saved.
    pub fn waits(&self) -> usize {
        self.pending + self.unsaved
    }
}

/// A session that was left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LeftSession {
    /// Its name; empty while it has none.
    pub title: String,
    /// How many changes stay in it.
    pub pending: usize,
}

/// A session that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ResumedSession {
    /// Its id.
    pub session: SessionId,
    /// Its name; empty while it has none.
    pub title: String,
    /// When something last happened in it, in milliseconds since 1970.
    pub at: u64,
    /// How many turns it has had.
    pub turns: u64,
    /// How many changes wait for review.
    pub pending: usize,
    /// Changes that could not be brought back, in words.
    pub lost: Vec<String>,
    /// Words of the user that were not taken up before it ended.
    pub waiting: Vec<String>,
    /// Faults of its journal, in words.
    pub problems: Vec<String>,
    /// The session that was left for it.
    pub left: Option<LeftSession>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_full_the_context_is_is_said_in_round_numbers() {
        for (used, prelude, context, words) in [
            (0, 0, 200_000, "Nothing was asked yet"),
            (9_119, 2_211, 0, "about 9119 tokens, 2211 of them"),
            (109_876, 12_345, 200_000, "54% full: about 109k of 200k tokens, 12k of them"),
        ] {
            let said = ContextFill { used, prelude, context }.in_words();
            assert!(said.contains(words), "{said}");
        }
    }
}
