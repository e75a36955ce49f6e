//! Ops: everything a front end can ask of a session.

use crate::approval::Verdict;
use ropewalk_model::{Keys, Model};
use ropewalk_tools::Mode;
use ropewalk_workspace::{HunkId, Selection};
use std::sync::Arc;

/// A request of the user, with what they were looking at when they made it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Their words.
    pub text: String,
    /// The text they had selected.
    pub selection: Option<SelectedText>,
}

impl Prompt {
    /// A request in words alone.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), selection: None }
    }
}

/// A selected text, taken at the moment of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// See the module.
pub enum Op {
    /// Starts a turn of this number, which [`crate::Session::prompt`] gives; while one is running, it waits for
    /// its end.
    Prompt(u64, Prompt),
    /// Joins the running turn after the tool results of the current step. Starts a turn if none is running.
    Steer(String),
    /// Stops the running turn where it is. What waits in the queue runs then; a steer that had not joined the
    /// turn starts one of its own.
    Interrupt,
    /// Publishes pending hunks: those that are meant when the op comes. Reviews are done one after the other,
    /// in the order of their ops.
    Accept(Selection),
    /// Drops pending hunks; the model is told, with the reason.
    Reject(Selection, Option<String>),
    /// Puts the user's own words in the place of a pending hunk.
    Edit(HunkId, String),
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
    /// Changes the model from the next step on.
    Model(Arc<dyn Model>),
    /// Other limits, rules or tools, from the next step on.
    Configure(Box<crate::session::Settings>),
    /// A document was saved: a call may be waiting for that.
    Saved,
    /// The user's text has moved: pending hunks may stand elsewhere.
    Moved,
}

impl Op {
    /// Whether it brings text of the user's, which is kept: a key may be in it.
    pub(crate) fn brings_text(&self) -> bool {
        matches!(
            self,
            Op::Prompt(..)
                | Op::Steer(_)
                | Op::Reject(_, Some(_))
                | Op::Edit(..)
                | Op::Rename(_)
                | Op::Approve(_, Verdict::Refuse(Some(_)))
        )
    }

    /// Strikes keys from what is said in words. What the user writes into a file stays as it is.
    pub(crate) fn strike(&mut self, keys: &Keys) {
        match self {
            Op::Prompt(_, prompt) => {
                keys.strike_in(&mut prompt.text);
                if let Some(selection) = &mut prompt.selection {
                    keys.strike_in(&mut selection.text);
                }
            }
            Op::Steer(words)
            | Op::Reject(_, Some(words))
            | Op::Rename(words)
            | Op::Approve(_, Verdict::Refuse(Some(words))) => keys.strike_in(words),
            _ => {}
        }
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Op::Prompt(..) => "Prompt",
            Op::Steer(_) => "Steer",
            Op::Interrupt => "Interrupt",
            Op::Accept(_) => "Accept",
            Op::Reject(..) => "Reject",
            Op::Edit(..) => "Edit",
            Op::Undo(_) => "Undo",
            Op::Rewind(_) => "Rewind",
            Op::Rename(_) => "Rename",
            Op::Approve(..) => "Approve",
            Op::Mode(_) => "Mode",
            Op::Model(_) => "Model",
            Op::Configure(_) => "Configure",
            Op::Saved => "Saved",
            Op::Moved => "Moved",
        })
    }
}
