//! Requests: what a user asks of a session, through any front end.

use crate::content::briefly;
use crate::{Content, Mode, SessionId, TeamOp, Verdict};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request of the user, with what they were looking at when they made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Prompt {
    /// Their words, and what they show.
    pub content: Vec<Content>,
    /// The text they had selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectedText>,
}

impl Prompt {
    /// A request in words alone.
    pub fn new(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], selection: None }
    }

    /// All of it, for people.
    pub fn briefly(&self) -> String {
        briefly(&self.content)
    }
}

/// A selected text, taken at the moment of the request. One that is empty is where the cursor stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SelectedText {
    /// The file as it is shown.
    pub file: String,
    /// Its language, as the editor names it.
    pub language: String,
    /// The first and last line, counted from one.
    pub lines: (usize, usize),
    /// The text.
    pub text: String,
}

/// Hunks that are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// These, by their ids.
    Hunks(Vec<u64>),
    /// All of a document, by its URI.
    File(String),
    /// All of a turn, by its number.
    Turn(u64),
    /// All.
    All,
}

/// A request as a host takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Request {
    /// The session it is for; none means the current one. `resume`, `rename`, `delete` and `export` take its number in the
    /// last list too, or the start of its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The teammate it is for; none means the session's own agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The request itself.
    pub op: Op,
}

impl Request {
    /// A request to a session; none means the current one.
    pub fn to(session: Option<impl Into<SessionId>>, op: Op) -> Self {
        Self { session: session.map(Into::into), member: None, op }
    }

    /// The same request to a teammate; none changes nothing.
    #[must_use]
    pub fn of_member(self, member: Option<String>) -> Self {
        Self { member: member.or(self.member), ..self }
    }
}

impl From<Op> for Request {
    fn from(op: Op) -> Self {
        Self { session: None, member: None, op }
    }
}

/// An answer to the question if a folder's configuration is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TrustAnswer {
    /// The folder, as a path or a URI; none means the only one that asks, or for `forget` all that are open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Hash of what was asked: the answer is refused if something else is asked by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The answer.
    pub answer: Trust,
}

/// Trust in what a folder's configuration asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// It counts.
    Trust,
    /// It is ignored, and not asked about again until it asks for something else.
    Never,
    /// Forgets what was answered, so that it is asked again.
    Forget,
}

/// A request of the user to a session, or about sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Starts a turn; while one is running, it waits for its end.
    Prompt(Prompt),
    /// Joins the running turn after the tool results of the current step. Starts a turn if none is running.
    Steer(Vec<Content>),
    /// Takes a prompt back that waits for its turn, by the turn it would be.
    Unqueue(u64),
    /// Stops the running turn where it is. What waits in the queue runs then; a steer that had not joined the
    /// turn starts one of its own. With the id of a subagent it stops that one alone.
    Interrupt(Option<String>),
    /// Publishes pending hunks: those that are meant when the request comes. Reviews are done one after the other,
    /// in the order of their requests.
    Accept(Selection),
    /// Drops pending hunks; the model is told, with the reason.
    Reject(Selection, Option<String>),
    /// Puts the user's own lines in the place of a pending hunk, by its id.
    Edit(u64, String),
    /// Takes published hunks back.
    Undo(Selection),
    /// Takes back the words and the edits of this turn and of all after it. A running turn is interrupted first.
    Rewind(u64),
    /// Replaces the older part of the conversation by a summary, which keeps these words in view: before the running turn's
    /// next step, or now.
    Compact(Option<String>),
    /// Gives the session a name.
    Rename(String),
    /// Answers a waiting approval: the given one, or the oldest.
    Approve(Option<u64>, Verdict),
    /// Changes when edits reach the editor.
    Mode(Mode),
    /// Changes the model, named `provider/name`. The host makes it.
    SetModel(String),
    /// Asks how the session stands. This and what follows is the host's alone.
    Status,
    /// Begins a session: beside the others if `beside`, else in the place of the current one, which is left.
    New {
        /// True if the current session stays what it is.
        beside: bool,
    },
    /// Goes on with a kept session, the last one of these folders if none is named; `beside` as for `new`.
    Resume {
        /// True if the current session stays what it is.
        beside: bool,
    },
    /// Leaves a session: its turn is interrupted, and what is pending stays in its journal.
    Close,
    /// Lists the kept sessions of these folders, or of all.
    Sessions {
        /// True for those of all folders.
        all: bool,
    },
    /// Deletes a session that is not open.
    Delete {
        /// True if it is deleted also if changes wait in it.
        force: bool,
    },
    /// Writes a session as Markdown into this new file, or into one of its own.
    Export(Option<String>),
    /// Asks for the file of the rules that hold for always, which is made unless it is there.
    Rules,
    /// Answers a question of trust.
    Trust(TrustAnswer),
    /// Lists the tasks of the team's board.
    Tasks {
        /// The page, from one, which it is without it.
        page: Option<u32>,
    },
    /// Shows the team or does something about it.
    Team(TeamOp),
    /// Lists the messages to the lead that were not read yet.
    Inbox,
}

impl Op {
    /// The kind of request, without what it says.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Prompt(_) => "prompt",
            Op::Steer(_) => "steer",
            Op::Unqueue(_) => "unqueue",
            Op::Interrupt(_) => "interrupt",
            Op::Accept(_) => "accept",
            Op::Reject(..) => "reject",
            Op::Edit(..) => "edit",
            Op::Undo(_) => "undo",
            Op::Rewind(_) => "rewind",
            Op::Compact(_) => "compact",
            Op::Rename(_) => "rename",
            Op::Approve(..) => "approve",
            Op::Mode(_) => "mode",
            Op::SetModel(_) => "set_model",
            Op::Status => "status",
            Op::New { .. } => "new",
            Op::Resume { .. } => "resume",
            Op::Close => "close",
            Op::Sessions { .. } => "sessions",
            Op::Delete { .. } => "delete",
            Op::Export(_) => "export",
            Op::Rules => "rules",
            Op::Trust(_) => "trust",
            Op::Tasks { .. } => "tasks",
            Op::Team(_) => "team",
            Op::Inbox => "inbox",
        }
    }
}
