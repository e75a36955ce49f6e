//! Requests beside commands, between the server and a plugin: those that a plugin makes, and those that it answers.

use crate::{CallId, SessionEvent, SessionId, StopReason, TextPosition, TextRange, Tokens};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A document: `ropewalk/save`, and `ropewalk/document`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DocumentName {
    /// Its URI.
    pub uri: String,
}

/// The answer to `ropewalk/hunk`: the texts of a change, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct HunkTexts {
    /// The lines as they are.
    pub old: String,
    /// The lines as they would be.
    pub new: String,
    /// A unified diff with the lines around it.
    pub diff: String,
}

/// The answer to `ropewalk/document`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ProposedDocument {
    /// Its text with all proposed changes; null if there would be no such file, or none of text.
    pub text: Option<String>,
}

/// `ropewalk/history`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct HistoryRequest {
    /// The session; the current one without it.
    #[serde(default)]
    pub session: Option<String>,
    /// Turns before this one alone.
    #[serde(default)]
    pub before: Option<u64>,
    /// How many turns at most, the last ones; 20 without it.
    #[serde(default)]
    pub turns: Option<usize>,
}

/// The answer to `ropewalk/history`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SessionHistory {
    /// The session.
    pub session: SessionId,
    /// Finished turns, the oldest first.
    pub turns: Vec<HistoryTurn>,
    /// True if there are turns before these.
    pub more: bool,
}

/// A turn that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryTurn {
    /// Its number.
    pub turn: u64,
    /// When it began, in milliseconds since 1970.
    pub at: u64,
    /// The words it began with.
    pub prompt: String,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Tokens that it used.
    pub usage: Tokens,
    /// Its events as they were told, each step's words and thoughts in one delta, and of outputs the previews alone.
    pub events: Vec<SessionEvent>,
}

/// `ropewalk/result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ResultRequest {
    /// The call.
    pub call: CallId,
    /// The session it is of; the current one without it.
    #[serde(default)]
    pub session: Option<String>,
}

/// The answer to `ropewalk/result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// Text that the model got, whole.
    pub text: String,
    /// True if the call failed.
    pub is_error: bool,
}

/// `ropewalk/complete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct CompletionRequest {
    /// The prompt as it is so far.
    pub text: String,
    /// Where the cursor is: units of the client's encoding from the start of the whole text.
    pub offset: usize,
}

/// The answer to `ropewalk/complete`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Completions {
    /// Where the text begins that an item takes the place of, up to the cursor.
    pub start: usize,
    /// Completions, the best first.
    pub items: Vec<Completion>,
}

/// Something that can be completed in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Completion {
    /// The text that is put in, with its `@` or `/`.
    pub text: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// A few words on it; empty for a file.
    pub detail: String,
}

/// Kinds of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CompletionKind {
    /// A file of the workspace.
    File,
    /// A built-in command.
    Command,
    /// A command of the user's or the repository's own.
    Prompt,
    /// A skill.
    Skill,
}

/// `ropewalk/diagnostics`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DiagnosticsRequest {
    /// The document; null for all.
    pub uri: Option<String>,
}

/// One of the answer to `ropewalk/diagnostics`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DiagnosticLine {
    /// The document.
    pub uri: String,
    /// Its line, from zero.
    pub line: u32,
    /// `error`, `warning`, `information` or `hint`.
    pub severity: String,
    /// Words of the finding.
    pub message: String,
    /// Tool that found it.
    #[serde(default)]
    pub source: Option<String>,
}

/// `ropewalk/symbols`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SymbolsRequest {
    /// A part of the names that are looked for; empty for all of a document.
    pub query: String,
    /// The document; null for the whole workspace.
    pub uri: Option<String>,
}

/// One of the answer to `ropewalk/symbols`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SymbolPlace {
    /// The document.
    pub uri: String,
    /// Where its name stands, or all of it.
    pub range: TextRange,
    /// Its name.
    pub name: String,
    /// Its kind in one word, such as `function`.
    pub kind: String,
    /// The name of what it is in, if that is known.
    #[serde(default)]
    pub container: Option<String>,
}

/// `ropewalk/definition` and `ropewalk/references`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PlaceRequest {
    /// The document, which need not be open.
    pub uri: String,
    /// The version that the position is of; null if the document is not open.
    pub version: Option<i32>,
    /// A position in the name that is asked about.
    pub position: TextPosition,
}

/// One of the answer to `ropewalk/definition` and `ropewalk/references`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DocumentPlace {
    /// The document.
    pub uri: String,
    /// Where in it.
    pub range: TextRange,
}

/// The options of a client in `initializationOptions`, beside configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClientOptions {
    /// It takes `ropewalk/event`.
    pub events: bool,
    /// It draws pending hunks itself, and wants neither diagnostics nor lenses.
    pub draws_hunks: bool,
    /// It shows approvals itself.
    pub approvals: bool,
    /// It takes the events of subagents too.
    pub threads: bool,
    /// It takes the events of teammates too, and shows what they ask.
    pub team: bool,
    /// It shows messages of any length without taking keys from the user.
    pub messages: bool,
    /// It answers `ropewalk/save` and `ropewalk/diagnostics`.
    pub plugin: bool,
    /// It answers `ropewalk/symbols`, `ropewalk/definition` and `ropewalk/references`.
    pub knowledge: bool,
    /// It applies edits, though its capabilities don't say so.
    pub edits: bool,
    /// It applies no edit at another version than the one it is for, and tells so: `applied` is believed.
    pub checked_edits: bool,
    /// It wants the conversation document, though it takes events and approvals.
    pub conversation: bool,
}
