//! Writing requests: messages, prelude, and the body with its cache markers.
//!
//! Everything is serialised once and then only copied. The splicing of markers relies on how this
//! file itself writes a message, and on nothing else.

use super::Anthropic;
use crate::{
    Block, Message, ModelRequest, Piece, Prelude, Role, ToolDeclaration, ToolInput,
    markers::{MARKED, MARKER_BYTES, marked, push_marked},
    thinking::{effort, has_budget, must_be_asked_for_words, thinks_unasked, tokens},
};
use ropewalk_protocol::{Content, Thinking};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// How a user's message begins, and how every message ends: in the last block of its content.
const USER: &str = r#"{"role":"user""#;
const TAIL: &str = "}]}";
/// How a user's message of results begins, and a reply that was thought about.
const RESULTS: &str = r#"{"role":"user","content":[{"type":"tool_result""#;
const THOUGHT: &[&str] = &[
    r#"{"role":"assistant","content":[{"type":"thinking""#,
    r#"{"role":"assistant","content":[{"type":"redacted_thinking""#,
];
/// The most bytes of a document's title.
const LONGEST_TITLE: usize = 500;
/// A smaller budget for thinking is refused.
const LEAST_BUDGET: u32 = 1_024;

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    content: Vec<WireBlock<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireBlock<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: ImageSource<'a>,
    },
    Document {
        source: ImageSource<'a>,
        title: &'a str,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: WireInput<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        // An empty result is one without content: an empty text would be refused.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<WireResult<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ImageSource<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Text { media_type: &'static str, data: &'a str },
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireResult<'a> {
    Text(&'a str),
    List(Vec<WireBlock<'a>>),
}

/// The protocol takes objects only: whatever else the model wrote goes back as it was, wrapped.
#[derive(Serialize)]
#[serde(untagged)]
enum WireInput<'a> {
    Object(&'a Value),
    NoObject { not_an_object: &'a Value },
    NoJson { not_json: &'a str },
}

#[derive(Serialize)]
struct AnthropicTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

/// One message, without cache markers. `documents`: the server knows a block for texts that have a URI.
pub(super) fn message(message: &Message, documents: bool) -> Piece {
    let blocks = message.content.iter().filter_map(|one| block(one, documents));
    let mut content: Vec<_> = blocks.collect();
    if content.is_empty() {
        content.push(text("(empty)"));
    }
    json(&WireMessage { role: message.role, content }).into()
}

fn block(block: &Block, documents: bool) -> Option<WireBlock<'_>> {
    if block.is_blank() {
        return None;
    }
    Some(match block {
        Block::Content(content) => shown(content, documents),
        // The server checks the seal; without one the block would be refused.
        Block::Thinking { signature, .. } if signature.is_empty() => return None,
        Block::Thinking { thinking, signature } => WireBlock::Thinking { thinking, signature },
        Block::RedactedThinking { data } => WireBlock::RedactedThinking { data },
        Block::ToolUse { id, name, input } => {
            let input = match input {
                ToolInput::Json(object @ Value::Object(_)) => WireInput::Object(object),
                ToolInput::Json(other) => WireInput::NoObject { not_an_object: other },
                ToolInput::Broken(text) => WireInput::NoJson { not_json: text },
            };
            WireBlock::ToolUse { id, name, input }
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            let content = result(content, documents);
            WireBlock::ToolResult { tool_use_id, content, is_error: *is_error }
        }
    })
}

fn text(text: &str) -> WireBlock<'_> {
    WireBlock::Text { text: text.into() }
}

fn shown(content: &Content, documents: bool) -> WireBlock<'_> {
    match content {
        Content::Image { mime, data } => {
            WireBlock::Image { source: ImageSource::Base64 { media_type: mime, data } }
        }
        Content::Resource { uri, text: data, .. }
            if documents && !data.trim().is_empty() && uri.len() <= LONGEST_TITLE =>
        {
            let source = ImageSource::Text { media_type: "text/plain", data };
            WireBlock::Document { source, title: uri }
        }
        content => WireBlock::Text { text: content.in_words() },
    }
}

fn result(content: &[Content], documents: bool) -> Option<WireResult<'_>> {
    match content {
        [] => None,
        [Content::Text { text }] => Some(WireResult::Text(text)),
        content => {
            let parts = content.iter().filter(|part| !part.is_blank());
            let parts: Vec<_> = parts.map(|part| shown(part, documents)).collect();
            (!parts.is_empty()).then_some(WireResult::List(parts))
        }
    }
}

/// System prompt and tools as members of the request's object, each with a comma behind it. They
/// carry their two cache markers from the start, since those never move.
pub(super) fn prelude(marker: &str, system: &str, tools: &[ToolDeclaration]) -> Prelude {
    let mut text = String::new();
    if !system.trim().is_empty() {
        text.push_str(r#""system":["#);
        push_marked(&mut text, marker, &json(&self::text(system)), "}");
        text.push_str("],");
    }
    if let Some((last, others)) = tools.split_last() {
        text.push_str(r#""tools":["#);
        for tool in others {
            text.push_str(&json(&wire_tool(tool)));
            text.push(',');
        }
        push_marked(&mut text, marker, &json(&wire_tool(last)), "}");
        text.push_str("],");
    }
    Prelude::new(text)
}

fn wire_tool(tool: &ToolDeclaration) -> AnthropicTool<'_> {
    let ToolDeclaration { name, description, input_schema } = tool;
    AnthropicTool { name, description, input_schema }
}

/// The request's part that asks for this much thinking, with a comma behind it; or nothing. A model that thinks unasked says
/// in its thoughts what it says between its calls: it is asked for the words of these.
fn thinking(wire: &Anthropic, request: &ModelRequest) -> String {
    let (base_url, model) = (&*wire.base_url, &*wire.model);
    let level = wire.thinking.filter(|level| *level != Thinking::Off);
    if wire.never_thinks {
        return String::new();
    }
    if !has_budget(base_url, model) {
        let words = if must_be_asked_for_words(model) { r#","display":"summarized""# } else { "" };
        let effort = level.and_then(|level| effort(base_url, model, level));
        return match effort {
            Some(effort) => format!(
                r#""thinking":{{"type":"adaptive"{words}}},"output_config":{{"effort":"{effort}"}},"#
            ),
            None if thinks_unasked(model) => format!(r#""thinking":{{"type":"adaptive"{words}}},"#),
            None => String::new(),
        };
    }
    let Some(level) = level else { return String::new() };
    // The answer keeps a quarter at least: both are within the bound of the whole.
    let budget = tokens(level).min(request.max_tokens.saturating_sub(request.max_tokens / 4));
    if budget < LEAST_BUDGET || !may_think(&request.pieces) {
        return String::new();
    }
    format!(r#""thinking":{{"type":"enabled","budget_tokens":{budget}}},"#)
}

/// True if the turn that goes on began with thinking, or is yet to begin: one that began without must end without.
fn may_think(pieces: &[Piece]) -> bool {
    let is_prompt = |piece: &Piece| piece.starts_with(USER) && !piece.starts_with(RESULTS);
    let reply = pieces.iter().rposition(is_prompt).map_or(0, |at| at.saturating_add(1));
    let has_thought = |piece: &Piece| THOUGHT.iter().any(|start| piece.starts_with(start));
    pieces.get(reply).is_none_or(has_thought)
}

/// The whole body. Costs a copy of its bytes.
pub(super) fn request(wire: &Anthropic, request: &ModelRequest) -> Vec<u8> {
    let (model, max_tokens) = (json(&wire.model), request.max_tokens);
    let thinking = thinking(wire, request);
    let head = format!(r#"{{"model":{model},"max_tokens":{max_tokens},"stream":true,{thinking}"#);
    let prelude = request.prelude.as_str();
    let length: usize = request.pieces.iter().map(|piece| piece.len().saturating_add(1)).sum();
    let spare = MARKER_BYTES.saturating_mul(MARKED).saturating_add(64);
    let mut body = String::with_capacity(
        head.len().saturating_add(prelude.len()).saturating_add(length).saturating_add(spare),
    );
    body.push_str(&head);
    body.push_str(prelude);
    body.push_str(r#""messages":["#);
    let is_user = |piece: &Piece| piece.starts_with(USER);
    let marked_from = marked(&request.pieces, is_user).last().unwrap_or(usize::MAX);
    for (at, piece) in request.pieces.iter().enumerate() {
        if at > 0 {
            body.push(',');
        }
        if at >= marked_from && piece.starts_with(USER) {
            push_marked(&mut body, wire.marker, piece, TAIL);
        } else {
            body.push_str(piece);
        }
    }
    body.push_str("]}");
    body.into_bytes()
}

#[expect(clippy::expect_used, reason = "strings and JSON values always serialise into memory")]
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and JSON values serialise")
}
