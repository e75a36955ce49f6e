//! Requests: what a user asks of a session, through any front end.

use crate::content::briefly;
use crate::{Content, Mode, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request of the user, with what they were looking at when they made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// A selected text, taken at the moment of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// A request of the user to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Starts a turn; while one is running, it waits for its end.
    Prompt(Prompt),
    /// Joins the running turn after the tool results of the current step. Starts a turn if none is running.
    Steer(Vec<Content>),
    /// Stops the running turn where it is. What waits in the queue runs then; a steer that had not joined the
    /// turn starts one of its own.
    Interrupt,
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
    /// Gives the session a name.
    Rename(String),
    /// Answers a waiting approval: the given one, or the oldest.
    Approve(Option<u64>, Verdict),
    /// Changes when edits reach the editor.
    Mode(Mode),
}

impl Op {
    /// The kind of request, without what it says.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Prompt(_) => "prompt",
            Op::Steer(_) => "steer",
            Op::Interrupt => "interrupt",
            Op::Accept(_) => "accept",
            Op::Reject(..) => "reject",
            Op::Edit(..) => "edit",
            Op::Undo(_) => "undo",
            Op::Rewind(_) => "rewind",
            Op::Rename(_) => "rename",
            Op::Approve(..) => "approve",
            Op::Mode(_) => "mode",
        }
    }
}
