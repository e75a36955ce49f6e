//! Opening of a session, as journals keep it.

use ropewalk_model::ToolDeclaration;
use ropewalk_workspace::ContentHash;
use serde::{Deserialize, Serialize};

/// An opening, as journals keep it. No key is in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionOpening {
    /// Whole name of the model that it is for.
    pub model: String,
    /// True if it is short, for a model with little context.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lean: bool,
    /// The lines of the system prompt that name the folders; empty if none does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folders: String,
    /// The system prompt.
    pub system: String,
    /// The tools, in their order.
    pub tools: Vec<ToolDeclaration>,
    /// Texts of instructions in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<OpeningText>,
    /// Descriptions of skills in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<OpeningText>,
    /// Descriptions of subagent types in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<OpeningText>,
}

/// A text that an opening has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpeningText {
    /// Its file, or the name of what it describes.
    pub name: String,
    /// The text.
    #[serde(with = "ropewalk_workspace::state::wire::hash")]
    pub hash: ContentHash,
}

impl OpeningText {
    pub(crate) fn of(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), hash: ContentHash::of(text.as_bytes()) }
    }
}

impl SessionOpening {
    /// True if the opening declares a tool of this name.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }
}
