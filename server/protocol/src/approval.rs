//! Approvals: a call that waits for the user's word, and the word.

use crate::CallId;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A call that waits for the user, for as long as it takes. All its words are harmless to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The approval's id.
    #[serde(rename = "approval")]
    pub id: u64,
    /// The call's id.
    pub call: CallId,
    /// The subagent that asks, by its type and its task, as in `explore, find auth files`. Null where the session's own call
    /// waits.
    pub agent: Option<String>,
    /// The tool.
    pub tool: String,
    /// The whole command, or what the call is about. What would drive a terminal or turn writing
    /// around in it, as in the other words here, is a picture or `�`.
    pub detail: String,
    /// Why the user is asked.
    pub reason: String,
    /// The rule that "for this session" and "always" would add, with what it gives a command in the sandbox behind it
    /// (`with network, /srv/data`, or `with nothing`). Null where no rule can stand for the call.
    pub rule: Option<String>,
    /// The calls that the rule lets run, in words on one line, to be shown before it is taken. Null where there is no rule.
    pub rule_words: Option<String>,
    /// True if the rule can be kept for always.
    pub always: bool,
    /// Files whose unsaved or unpublished text the call won't see, where commands run in place.
    pub unseen: Vec<String>,
}

/// The user's word on a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Run it, this once.
    Once,
    /// Run it, and its like for the rest of the session.
    Session,
    /// Run it, and its like from now on in every session.
    Always,
    /// Run it as soon as the unsaved files it won't see are saved.
    AfterSave,
    /// Don't run it; words for the model.
    Refuse(Option<String>),
}

/// The outcome of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub enum Resolution {
    /// The call runs.
    #[serde(rename = "allowed")]
    Allowed,
    /// The call does not run.
    #[serde(rename = "refused")]
    Refused,
    /// The call runs as soon as the unsaved files are saved.
    #[serde(rename = "waiting for save")]
    WaitingForSave,
    /// The turn was stopped first.
    #[serde(rename = "interrupted")]
    Interrupted,
}
