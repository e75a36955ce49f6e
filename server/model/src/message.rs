//! Conversation of user and model: messages, blocks, tool calls and their results.
//!
//! These types belong to no protocol; each protocol's file writes and reads them its own way. They
//! serialise (for the journal), and do not check that a history is valid: the agent keeps it so.

use crate::Keys;
use ropewalk_protocol::Content;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and the results of tool calls.
    User,
    /// The model.
    Assistant,
}

/// One message: who says it, and its blocks in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The speaker.
    pub role: Role,
    /// Blocks, in order. Tool results come first in a user's message.
    pub content: Vec<Block>,
}

impl Message {
    /// A user's message of one text.
    pub fn user(text: impl Into<String>) -> Message {
        Message { role: Role::User, content: vec![Block::text(text)] }
    }

    /// A model's message of one text.
    pub fn assistant(text: impl Into<String>) -> Message {
        Message { role: Role::Assistant, content: vec![Block::text(text)] }
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// The model's thinking. It goes back unchanged, with its signature, within a tool loop.
    Thinking {
        /// The thoughts.
        thinking: String,
        /// The server's seal over the thoughts; empty when the server gives none.
        signature: String,
    },
    /// Thinking that the server keeps to itself; goes back unchanged.
    RedactedThinking {
        /// The server's opaque bytes, as it wrote them.
        data: String,
    },
    /// The model's call of a tool.
    ToolUse {
        /// Names the call; its result carries the same id.
        id: String,
        /// The tool's name, as the model wrote it (it may not exist).
        name: String,
        /// The arguments.
        input: ToolInput,
    },
    /// Result of a tool call.
    ToolResult {
        /// The id of the call this answers.
        tool_use_id: String,
        /// The result, as the model will read it. It serialises as a text where it is no more than that.
        #[serde(with = "result")]
        content: Vec<Content>,
        /// True if the call failed.
        is_error: bool,
    },
    /// Text, an image or a file, said or shown.
    #[serde(untagged)]
    Content(Content),
}

/// Results of calls: a text, as they once all were, or a list.
mod result {
    use ropewalk_protocol::Content;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum ResultContent {
        Text(String),
        List(Vec<Content>),
    }

    pub(super) fn serialize<S: Serializer>(content: &[Content], to: S) -> Result<S::Ok, S::Error> {
        match content {
            [] => "".serialize(to),
            [Content::Text { text }] => text.serialize(to),
            content => content.serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Content>, D::Error> {
        Ok(match ResultContent::deserialize(from)? {
            ResultContent::Text(text) => super::list(text),
            ResultContent::List(list) => list,
        })
    }
}

/// A result that is a text.
fn list(text: String) -> Vec<Content> {
    if text.is_empty() { Vec::new() } else { vec![Content::Text { text }] }
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Block {
        Block::Content(Content::text(text))
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Block::Content(Content::Text { text }) => Some(text),
            _ => None,
        }
    }

    /// The result of the call `id`, a text.
    pub fn result(id: impl Into<String>, content: impl Into<String>, is_error: bool) -> Block {
        Block::ToolResult { tool_use_id: id.into(), content: list(content.into()), is_error }
    }

    /// Redacts keys from all its words. Thoughts that had one lose their seal, which was for other words.
    pub fn redact(&mut self, keys: &Keys) {
        match self {
            Block::Thinking { thinking, signature } => {
                if let Cow::Owned(redacted) = keys.redact(thinking) {
                    *thinking = redacted;
                    signature.clear();
                }
            }
            Block::RedactedThinking { .. } => {}
            Block::ToolUse { id, name, input } => {
                keys.redact_in(id);
                keys.redact_in(name);
                match input {
                    ToolInput::Json(value) => redact_value(value, keys),
                    ToolInput::Broken(text) => keys.redact_in(text),
                }
            }
            Block::ToolResult { content, .. } => {
                content
                    .iter_mut()
                    .flat_map(Content::texts_mut)
                    .for_each(|text| keys.redact_in(text));
            }
            Block::Content(content) => content.texts_mut().for_each(|text| keys.redact_in(text)),
        }
    }

    /// The result of the call `id`, whatever it is made of.
    pub fn results(id: impl Into<String>, content: Vec<Content>, is_error: bool) -> Block {
        Block::ToolResult { tool_use_id: id.into(), content, is_error }
    }

    /// True if the block says nothing, and a server would refuse it: a text of white space only,
    /// or thinking without a thought and a signature.
    pub fn is_blank(&self) -> bool {
        match self {
            Block::Content(content) => content.is_blank(),
            Block::Thinking { thinking, signature } => {
                thinking.trim().is_empty() && signature.is_empty()
            }
            Block::RedactedThinking { data } => data.is_empty(),
            Block::ToolUse { .. } | Block::ToolResult { .. } => false,
        }
    }
}

/// Values are as deep as the parser lets them be, which the stack can take.
fn redact_value(value: &mut Value, keys: &Keys) {
    match value {
        Value::String(text) => keys.redact_in(text),
        Value::Array(values) => values.iter_mut().for_each(|value| redact_value(value, keys)),
        Value::Object(members) => {
            // A name can only be changed by putting its member in anew.
            if members.keys().any(|name| matches!(keys.redact(name), Cow::Owned(_))) {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(name, value)| (keys.redact(&name).into_owned(), value))
                    .collect();
            }
            members.values_mut().for_each(|value| redact_value(value, keys));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The arguments of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolInput {
    /// The model wrote valid JSON (of any type: the tool's schema is checked elsewhere).
    Json(Value),
    /// The model wrote this, which is no JSON; the agent tells it so.
    Broken(String),
}

impl ToolInput {
    /// Reads the arguments as the model streamed them. No text at all is an empty object, as
    /// servers send it for a tool without parameters.
    pub fn parse(text: &str) -> ToolInput {
        if text.trim().is_empty() {
            return ToolInput::Json(Value::Object(serde_json::Map::new()));
        }
        match serde_json::from_str(text) {
            Ok(value) => ToolInput::Json(value),
            Err(_) => ToolInput::Broken(text.to_owned()),
        }
    }

    /// The parsed JSON, when it is JSON.
    pub fn as_json(&self) -> Option<&Value> {
        match self {
            ToolInput::Json(value) => Some(value),
            ToolInput::Broken(_) => None,
        }
    }
}

/// Why the model stopped, as the server says. The content decides what happens next: a reply with
/// tool calls may well say `EndTurn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelStop {
    /// The model is done.
    EndTurn,
    /// It waits for the results of its tool calls.
    ToolUse,
    /// The bound on output tokens was reached.
    MaxTokens,
    /// A stop sequence was met.
    StopSequence,
    /// The server paused a long turn: send the history again, with this reply, to go on.
    PauseTurn,
    /// The model's context is full: the reply ends where no more fits, and no other can follow.
    ContextFull,
    /// The model declined.
    Refusal,
    /// A reason this list doesn't know, in the server's word; `interrupted` for a partial reply.
    Other(String),
}

impl ModelStop {
    /// A reason in a word of the server's that its protocol's own list does not have.
    pub(crate) fn named(word: &str) -> ModelStop {
        const FULL: &[&str] =
            &["model_context_window_exceeded", "context_length_exceeded", "model_length"];
        match FULL.contains(&word) {
            true => ModelStop::ContextFull,
            false => ModelStop::Other(word.to_owned()),
        }
    }
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDeclaration {
    /// The name the model calls it by.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of its input; an object schema.
    pub input_schema: Value,
}
