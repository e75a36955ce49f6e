//! Pending hunks as events carry them, and what the user does about them.

use crate::{CallId, TextRange};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pending hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HunkInfo {
    /// Its id, unique in its session.
    pub id: u64,
    /// The document's URI.
    pub uri: String,
    /// The path as it is shown.
    pub file: String,
    /// The kind of change: of all but `text` and `create`, `diff` says in words what changes.
    pub kind: ChangeKind,
    /// The first line it replaces in the user's text, from zero.
    pub line: usize,
    /// How many lines it replaces.
    pub lines: usize,
    /// The URI of the open document that still has the name which the change takes from it. Absent if it has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The version of the open document that `range` is of. Null if it is not open.
    pub version: Option<i32>,
    /// The lines that it replaces, as the client counts, without the last one's line end; where it replaces none, the
    /// start of the line it goes before.
    pub range: TextRange,
    /// The lines as they are. Null where the texts are long: `ropewalk/hunk` gives them.
    pub old: Option<String>,
    /// The lines as they would be. Null where the texts are long.
    pub new: Option<String>,
    /// A unified diff with the lines around it. Null where the texts are long.
    pub diff: Option<String>,
    /// The turn it was made in.
    pub turn: u64,
    /// The ids of the tool calls that it came of, in order.
    pub calls: Vec<CallId>,
    /// The members of the team whose work it is, in order. Absent for a change of the session's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<HunkMember>,
    /// The first line of each command among them, in order.
    pub commands: Vec<String>,
    /// True if it is on its way to the editor.
    pub sent: bool,
    /// The program or agent that runs or follows the file, in words: it waits for the user in mode `auto` too. Absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
}

/// A member of a team, as the author of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HunkMember {
    /// Its name.
    pub member: String,
    /// The number of the task that it was made for. Absent for work without a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
}

/// A change that is in the user's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PublishedHunk {
    /// The id that `ropewalk.undo` takes.
    pub hunk: u64,
    /// The document's URI.
    pub uri: String,
    /// The path as it is shown.
    pub file: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The version of the open document that `range` is of. Null if it is not open.
    pub version: Option<i32>,
    /// The new lines, as the client counts, without the last one's line end; where there are none, the start of the line
    /// that they stood before.
    pub range: TextRange,
    /// The lines that stood there before. Null where they are long.
    pub old: Option<String>,
}

/// Kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Lines of a text.
    Text,
    /// A new file.
    Create,
    /// A file goes away.
    Delete,
    /// A file gets another name.
    Rename,
    /// The bytes of a file that is no text.
    Binary,
    /// The mode of a file.
    Mode,
    /// A symbolic link.
    Link,
}

/// A decision of the user about changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReviewAction {
    /// Takes pending hunks.
    Accept,
    /// Drops pending hunks.
    Reject,
    /// Puts own lines in the place of the proposed ones.
    Edit,
    /// Takes published hunks back.
    Undo,
    /// Takes the words and the changes of a turn back, and of all after it.
    Rewind,
}

impl ReviewAction {
    /// The word for it, in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            ReviewAction::Accept => "accept",
            ReviewAction::Reject => "reject",
            ReviewAction::Edit => "edit",
            ReviewAction::Undo => "undo",
            ReviewAction::Rewind => "rewind",
        }
    }
}
