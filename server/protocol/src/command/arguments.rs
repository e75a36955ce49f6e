//! Arguments of commands. Where one that is needed is missing, the command says so in words of its own.

use crate::{Content, Mode, TextPosition, TextRange, Trust};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NoArgument {}

/// A document, and the version of it that positions are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DocumentVersion {
    /// Its URI.
    pub uri: String,
    /// The version that positions are of: they are found again after typing.
    #[serde(default)]
    pub version: Option<i32>,
}

/// `ropewalk.prompt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, schemars(extend("required" = ["prompt"])))]
pub struct PromptArgument {
    /// The words. `@path` and `@path:10-20` in them attach those lines.
    #[serde(default)]
    pub prompt: String,
    /// Content that goes with the words.
    #[serde(default)]
    pub content: Vec<Content>,
    /// The document in which it is asked.
    #[serde(default)]
    pub text_document: Option<DocumentVersion>,
    /// The selection in it; an empty range is the cursor, whose line is named.
    #[serde(default)]
    pub range: Option<TextRange>,
    /// The teammate that it is for; the session itself without it.
    #[serde(default)]
    pub member: Option<String>,
}

/// `ropewalk.send`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendArgument {
    /// The conversation document; the open one without it.
    #[serde(default)]
    pub text_document: Option<DocumentVersion>,
    /// A selection to send in place of the draft.
    #[serde(default)]
    pub range: Option<TextRange>,
    /// True to wait for the end of a running turn, which is joined without it.
    #[serde(default)]
    pub queue: bool,
}

/// `ropewalk.steer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(extend("required" = ["text"])))]
pub struct SteerArgument {
    /// Words that join the running turn.
    #[serde(default)]
    pub text: String,
    /// The teammate that it is for; the session itself without it.
    #[serde(default)]
    pub member: Option<String>,
}

/// `ropewalk.unqueue`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnqueueArgument {
    /// The turn that the waiting prompt would be.
    pub turn: u64,
    /// The teammate whose prompt waits. Without it, the current session's.
    pub member: Option<String>,
}

/// `ropewalk.interrupt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InterruptArgument {
    /// The subagent that is stopped alone; without it the turn is.
    #[serde(default)]
    pub thread: Option<String>,
    /// The teammate that it is for; the session itself without it.
    #[serde(default)]
    pub member: Option<String>,
}

/// Ids of hunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(untagged)]
pub enum HunkIds {
    /// One.
    One(u64),
    /// Several.
    Many(Vec<u64>),
}

/// `ropewalk.accept`, `ropewalk.reject` and `ropewalk.undo`: hunks, chosen in one way at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HunkChoice {
    /// These.
    #[serde(default)]
    pub hunk: Option<HunkIds>,
    /// All of a document.
    #[serde(default)]
    pub uri: Option<String>,
    /// All of a turn.
    #[serde(default)]
    pub turn: Option<u64>,
    /// All.
    #[serde(default)]
    pub all: bool,
    /// Words for the model; to reject alone.
    #[serde(default)]
    pub reason: Option<String>,
    /// The session that they are of; refused if it is not the current one.
    #[serde(default)]
    pub session: Option<String>,
}

/// `ropewalk.edit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EditArgument {
    /// The hunk.
    pub hunk: u64,
    /// The lines in place of the proposed ones, whole.
    pub text: String,
    /// The session that it is of.
    #[serde(default)]
    pub session: Option<String>,
}

/// `ropewalk.show`, and the request `ropewalk/hunk`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HunkArgument {
    /// The hunk.
    pub hunk: u64,
    /// The session that it is of.
    #[serde(default)]
    pub session: Option<String>,
}

/// `ropewalk.next`: where the user is; without any of it, where they were led last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NextArgument {
    /// The hunk they are at.
    #[serde(default)]
    pub hunk: Option<u64>,
    /// The document they are in.
    #[serde(default)]
    pub text_document: Option<DocumentVersion>,
    /// Their cursor in it.
    #[serde(default)]
    pub position: Option<TextPosition>,
    /// The session that the hunk is of.
    #[serde(default)]
    pub session: Option<String>,
}

/// An answer to an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ApprovalAnswer {
    /// Run it, this once.
    #[default]
    Once,
    /// Run it, and its like for the rest of the session.
    Session,
    /// Run it, and its like from now on.
    Always,
    /// Run it as soon as the unsaved files are saved.
    AfterSave,
    /// Don't run it.
    Refuse,
}

/// `ropewalk.approve`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApprovalArgument {
    /// The approval; the oldest without it.
    #[serde(default)]
    pub approval: Option<u64>,
    /// The answer; `once` without it.
    #[serde(default)]
    pub answer: Option<ApprovalAnswer>,
    /// Words for the model, where it is refused.
    #[serde(default)]
    pub words: Option<String>,
    /// The session that it is of.
    #[serde(default)]
    pub session: Option<String>,
    /// The teammate that it is for; the session itself without it.
    #[serde(default)]
    pub member: Option<String>,
}

/// `ropewalk.mode`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModeArgument {
    /// The mode from now on; without it nothing changes.
    #[serde(default)]
    pub mode: Option<Mode>,
}

/// `ropewalk.model`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelArgument {
    /// The model from now on, as `PROVIDER/NAME`; without it nothing changes.
    #[serde(default)]
    pub model: Option<String>,
}

/// `ropewalk.status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StatusArgument {
    /// The teammate that it is about; the session itself without it.
    #[serde(default)]
    pub member: Option<String>,
}

/// `ropewalk.sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionsArgument {
    /// True for those of all folders.
    #[serde(default)]
    pub all: bool,
}

/// `ropewalk.resume`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResumeArgument {
    /// The session: its number in the last list, its id, or the start of it; the last one without it.
    #[serde(default)]
    pub session: Option<String>,
}

/// `ropewalk.rewind`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RewindArgument {
    /// The first turn that is taken back; the last one without it.
    #[serde(default)]
    pub turn: Option<u64>,
}

/// `ropewalk.compact`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CompactArgument {
    /// Matter that the summary keeps in view.
    #[serde(default)]
    pub focus: Option<String>,
}

/// `ropewalk.rename`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(extend("required" = ["title"])))]
pub struct RenameArgument {
    /// The name.
    #[serde(default)]
    pub title: String,
    /// The session; the current one without it.
    #[serde(default)]
    pub session: Option<String>,
}

/// `ropewalk.delete`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(extend("required" = ["session"])))]
pub struct DeleteArgument {
    /// The session.
    #[serde(default)]
    pub session: String,
    /// True if it is deleted also if changes wait in it.
    #[serde(default)]
    pub force: bool,
}

/// `ropewalk.export`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ExportArgument {
    /// The session; the current one without it.
    #[serde(default)]
    pub session: Option<String>,
    /// A file that is not there yet; one of our own without it.
    #[serde(default)]
    pub path: Option<String>,
    /// The teammate that it is for; the session itself without it.
    #[serde(default)]
    pub member: Option<String>,
}

/// `ropewalk.trust`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TrustArgument {
    /// The folder; the only one that asks without it.
    #[serde(default)]
    pub root: Option<String>,
    /// The answer.
    pub answer: Trust,
    /// The hash of what was asked.
    #[serde(default)]
    pub hash: Option<String>,
}
