//! Writing requests: messages, prelude, and the body with its cache markers.
//!
//! Everything is serialised once and then only copied. The splicing of markers relies on how this
//! file itself writes a message, and on nothing else.

use crate::{
    Block, Message, Piece, Prelude, Request, Role, Thinking, ToolInput, ToolSpec,
    thinking::{has_budget, must_be_asked_for_words},
};
use serde::Serialize;
use serde_json::Value;

/// Where the server may cut its prompt cache.
const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;
/// How a user's message begins, and how every message ends: in the last block of its content.
const USER: &str = r#"{"role":"user""#;
const TAIL: &str = "}]}";
/// How a user's message of results begins, and a reply that was thought about.
const RESULTS: &str = r#"{"role":"user","content":[{"type":"tool_result""#;
const THOUGHT: &[&str] = &[
    r#"{"role":"assistant","content":[{"type":"thinking""#,
    r#"{"role":"assistant","content":[{"type":"redacted_thinking""#,
];
/// A smaller budget for thinking is refused.
const LEAST_BUDGET: u32 = 1_024;
/// User messages that get a marker; with system and tools that makes four, the most there may be.
const MARKED: usize = 2;

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    content: Vec<WireBlock<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireBlock<'a> {
    Text {
        text: &'a str,
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
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
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
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

/// One message, without cache markers.
pub(super) fn message(message: &Message) -> Piece {
    let mut content: Vec<_> = message.content.iter().filter_map(block).collect();
    if content.is_empty() {
        content.push(WireBlock::Text { text: "(empty)" });
    }
    json(&WireMessage { role: message.role, content }).into()
}

fn block(block: &Block) -> Option<WireBlock<'_>> {
    if block.is_blank() {
        return None;
    }
    Some(match block {
        Block::Text { text } => WireBlock::Text { text },
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
            WireBlock::ToolResult { tool_use_id, content, is_error: *is_error }
        }
    })
}

/// System prompt and tools as members of the request's object, each with a comma behind it. They
/// carry their two cache markers from the start, since those never move.
pub(super) fn prelude(system: &str, tools: &[ToolSpec]) -> Prelude {
    let mut text = String::new();
    if !system.trim().is_empty() {
        text.push_str(r#""system":["#);
        push_marked(&mut text, &json(&WireBlock::Text { text: system }), "}");
        text.push_str("],");
    }
    if let Some((last, others)) = tools.split_last() {
        text.push_str(r#""tools":["#);
        for tool in others {
            text.push_str(&json(&wire_tool(tool)));
            text.push(',');
        }
        push_marked(&mut text, &json(&wire_tool(last)), "}");
        text.push_str("],");
    }
    Prelude::new(text)
}

fn wire_tool(tool: &ToolSpec) -> WireTool<'_> {
    let ToolSpec { name, description, input_schema } = tool;
    WireTool { name, description, input_schema }
}

/// What asks for this much thinking, with a comma behind it; or nothing.
fn thinking(model: &str, level: Thinking, request: &Request) -> String {
    if !has_budget(model) {
        let words = if must_be_asked_for_words(model) { r#","display":"summarized""# } else { "" };
        return format!(
            r#""thinking":{{"type":"adaptive"{words}}},"output_config":{{"effort":"{}"}},"#,
            level.name()
        );
    }
    // The answer keeps a quarter at least: both are within the bound of the whole.
    let budget = level.tokens().min(request.max_tokens.saturating_sub(request.max_tokens / 4));
    if budget < LEAST_BUDGET || !may_think(&request.pieces) {
        return String::new();
    }
    format!(r#""thinking":{{"type":"enabled","budget_tokens":{budget}}},"#)
}

/// Whether the turn that goes on began with thinking, or is yet to begin: one that began without must end without.
fn may_think(pieces: &[Piece]) -> bool {
    let is_prompt = |piece: &Piece| piece.starts_with(USER) && !piece.starts_with(RESULTS);
    let reply = pieces.iter().rposition(is_prompt).map_or(0, |at| at.saturating_add(1));
    let has_thought = |piece: &Piece| THOUGHT.iter().any(|start| piece.starts_with(start));
    pieces.get(reply).is_none_or(has_thought)
}

/// The whole body. Costs a copy of its bytes.
pub(super) fn request(model: &str, level: Option<Thinking>, request: &Request) -> Vec<u8> {
    let max_tokens = request.max_tokens;
    let thinking = level.map(|level| thinking(model, level, request)).unwrap_or_default();
    let head =
        format!(r#"{{"model":{},"max_tokens":{max_tokens},"stream":true,{thinking}"#, json(&model));
    let prelude = request.prelude.as_str();
    let length: usize = request.pieces.iter().map(|piece| piece.len().saturating_add(1)).sum();
    let spare = MARKER.len().saturating_mul(MARKED).saturating_add(64);
    let mut body = String::with_capacity(
        head.len().saturating_add(prelude.len()).saturating_add(length).saturating_add(spare),
    );
    body.push_str(&head);
    body.push_str(prelude);
    body.push_str(r#""messages":["#);
    let users = request.pieces.iter().enumerate().rev().filter(|(_, p)| p.starts_with(USER));
    let marked_from = users.map(|(at, _)| at).take(MARKED).last().unwrap_or(usize::MAX);
    for (at, piece) in request.pieces.iter().enumerate() {
        if at > 0 {
            body.push(',');
        }
        if at >= marked_from && piece.starts_with(USER) {
            push_marked(&mut body, piece, TAIL);
        } else {
            body.push_str(piece);
        }
    }
    body.push_str("]}");
    body.into_bytes()
}

/// Appends `object` with a marker before its closing `tail`.
fn push_marked(text: &mut String, object: &str, tail: &str) {
    match object.strip_suffix(tail) {
        Some(head) => {
            text.push_str(head);
            text.push_str(MARKER);
            text.push_str(tail);
        }
        None => text.push_str(object),
    }
}

#[expect(clippy::expect_used, reason = "strings and JSON values always serialise into memory")]
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and JSON values serialise")
}
