//! Answers to commands.

use crate::{Mode, SessionId, TextPosition};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer to `ropewalk.prompt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PromptTurn {
    /// The session; null while there is none.
    pub session: Option<SessionId>,
    /// The turn it will be; null where the prompt was a command.
    pub turn: Option<u64>,
    /// The words that a command had to say. Absent for any other prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// The answer to `ropewalk.unqueue`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct UnqueuedPrompt {
    /// The words of the prompt that waits no more.
    pub prompt: String,
}

/// The answer to `ropewalk.show`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct HunkDiff {
    /// A unified diff with the lines around it.
    pub diff: String,
}

/// The answer to `ropewalk.next`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct NextHunk {
    /// The hunk.
    pub hunk: u64,
    /// The document in which it is looked at.
    pub uri: String,
    /// Where it begins there.
    pub position: TextPosition,
    /// The file that it changes, as it is shown.
    pub file: String,
}

/// The answer of a command that leads to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct CommandFile {
    /// Its path.
    pub path: String,
    /// Its URI.
    pub uri: String,
}

/// The answer to `ropewalk.mode`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SessionMode {
    /// The mode now.
    pub mode: Mode,
}

/// The answer to `ropewalk.model`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct CommandModel {
    /// The model now; null where none is usable.
    pub model: Option<String>,
    /// Words on the set-up that lacks, where none is usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// The price of a model in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// Read anew.
    pub input: f64,
    /// Written by the model.
    pub output: f64,
    /// Read from the provider's cache.
    pub cache_read: f64,
    /// Put into the provider's cache.
    pub cache_write: f64,
}

/// A model that can be chosen: one of the answer to `ropewalk.models`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ModelInfo {
    /// Its name, as `PROVIDER/NAME`.
    pub model: String,
    /// True if it can be used as things are.
    pub usable: bool,
    /// Words on the set-up that lacks before it can be used; null where nothing does.
    pub missing: Option<String>,
    /// Tokens that it takes; null where that is not known.
    pub context: Option<u64>,
    /// Its price; null where that is not known.
    pub price: Option<ModelPrice>,
    /// True if the current session uses it.
    pub current: bool,
}

/// The answer to `ropewalk.new`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct CommandSession {
    /// The session.
    pub session: SessionId,
}

/// The answer to `ropewalk.resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SessionSummary {
    /// The session.
    pub session: SessionId,
    /// Its name; empty while it has none.
    pub title: String,
    /// How many turns it has had.
    pub turns: u64,
    /// How many changes wait for review.
    pub pending: usize,
}

/// The answer to `ropewalk.rewind`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RewoundTurn {
    /// The first turn that is taken back.
    pub turn: u64,
    /// The words it had begun with.
    pub prompt: String,
}

/// The answer to `ropewalk.rename`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct SessionName {
    /// The session.
    pub session: SessionId,
    /// Its name now.
    pub title: String,
}

/// The answer to `ropewalk.delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct DeletedSession {
    /// The session that is gone.
    pub session: SessionId,
    /// Its name; empty if it had none.
    pub title: String,
    /// How many changes had waited for review in it.
    pub pending: usize,
}

/// The answer to `ropewalk.trust`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TrustOutcome {
    /// The folder that was answered about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// How many answers were forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<usize>,
}
