//! Writing requests: items of the input, instructions and tools, and the body around them.
//!
//! Everything is serialised once and then only copied. Nothing is kept at the server, so whatever
//! the model is to know goes along each time, its own sealed reasoning included.

use super::Responses;
use crate::{Block, Message, ModelRequest, Piece, Prelude, Role, ToolDeclaration, ToolInput};
use ropewalk_protocol::Content;
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use std::borrow::Cow;

/// How the seal of a block of thinking begins when it is this protocol's: it is the whole item.
const SEAL: &str = r#"{"type":"reasoning","#;
/// How a seal begins that says which part of the answer the words before it were.
pub(super) const PHASE_SEAL: &str = r#"{"phase":""#;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum RequestItem<'a> {
    Message {
        role: Role,
        content: MessageContent<'a>,
        /// The part of the answer that the model's words are, in the server's own word.
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<Box<str>>,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Output<'a>,
    },
    /// Written as it is.
    #[serde(untagged)]
    Sealed(&'a RawValue),
}

/// The model's own words are a text: its parts would be those of an item that the server knows by an id.
#[derive(Serialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    ByUser(Vec<ContentPart<'a>>),
    ByModel(Cow<'a, str>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(&'a str),
    List(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    InputText { text: Cow<'a, str> },
    InputImage { detail: &'static str, image_url: String },
}

#[derive(Serialize)]
struct ResponsesTool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// The strict kind of schema allows less than tools need.
    strict: bool,
}

/// One message as the items it is made of, a comma between them.
pub(super) fn message(message: &Message) -> Piece {
    let (role, empty) = (message.role, Content::text("(empty)"));
    let mut items = Vec::new();
    for block in message.content.iter().filter(|block| !block.is_blank()) {
        match block {
            Block::Content(content) => match items.last_mut() {
                Some(RequestItem::Message { content: MessageContent::ByUser(parts), .. }) => {
                    parts.push(part(content))
                }
                // Each text of the model's is an item, so that one more changes none that was sent.
                _ => items.push(said(role, content)),
            },
            Block::Thinking { signature, .. } if signature.starts_with(PHASE_SEAL) => {
                set_phase(&mut items, signature);
            }
            // Thoughts without a seal, or with another protocol's, say nothing to the server.
            Block::Thinking { signature, .. } => {
                items.extend(sealed(signature).map(RequestItem::Sealed))
            }
            Block::RedactedThinking { .. } => {}
            Block::ToolUse { id, name, input } => {
                let arguments = arguments(input);
                items.push(RequestItem::FunctionCall { call_id: id, name, arguments });
            }
            Block::ToolResult { tool_use_id, content, is_error } => {
                let output = output(content, *is_error);
                items.push(RequestItem::FunctionCallOutput { call_id: tool_use_id, output });
            }
        }
    }
    // Reasoning alone is no answer: the server wants what it led to behind it.
    if items.iter().all(|item| matches!(item, RequestItem::Sealed(_))) {
        items.push(said(role, &empty));
    }
    let mut text = json(&items);
    // The brackets of the list.
    text.pop();
    text.split_off(1).into()
}

fn said(role: Role, content: &Content) -> RequestItem<'_> {
    let content = match role {
        Role::User => MessageContent::ByUser(vec![part(content)]),
        Role::Assistant => MessageContent::ByModel(content.in_words()),
    };
    RequestItem::Message { role, content, phase: None }
}

/// Marks the words of the model's that stand last, and have no mark, as the part of its answer that they were.
fn set_phase(items: &mut [RequestItem<'_>], seal: &str) {
    let named = seal.strip_prefix(PHASE_SEAL).and_then(|rest| rest.strip_suffix("\"}"));
    for item in items.iter_mut().rev() {
        match (item, named) {
            (
                RequestItem::Message { role: Role::Assistant, phase: phase @ None, .. },
                Some(named),
            ) => {
                *phase = Some(named.into());
            }
            _ => return,
        }
    }
}

fn part(content: &Content) -> ContentPart<'_> {
    match content {
        Content::Image { mime, data } => ContentPart::InputImage {
            detail: "auto",
            image_url: format!("data:{mime};base64,{data}"),
        },
        words => ContentPart::InputText { text: words.in_words() },
    }
}

fn output(content: &[Content], is_error: bool) -> Output<'_> {
    match content {
        // There is no member for it, so an error must not be without words.
        [] => Output::Text(if is_error { "Error" } else { "" }),
        [Content::Text { text }] => Output::Text(text),
        parts => Output::List(parts.iter().filter(|part| !part.is_blank()).map(part).collect()),
    }
}

/// The item that a seal is, when it is one.
fn sealed(signature: &str) -> Option<&RawValue> {
    signature.starts_with(SEAL).then(|| serde_json::from_str(signature).ok()).flatten()
}

/// Some servers parse what they get back, so it is an object whatever the model wrote.
fn arguments(input: &ToolInput) -> String {
    match input {
        ToolInput::Json(object @ Value::Object(_)) => json(object),
        ToolInput::Json(other) => json(&serde_json::json!({ "not_an_object": other })),
        ToolInput::Broken(text) => json(&serde_json::json!({ "not_json": text })),
    }
}

/// System prompt and tools as members of the request's object, each with a comma behind it.
pub(super) fn prelude(system: &str, tools: &[ToolDeclaration]) -> Prelude {
    let mut text = String::new();
    if !system.trim().is_empty() {
        text.push_str(&format!(r#""instructions":{},"#, json(&system)));
    }
    if !tools.is_empty() {
        let tools: Vec<_> = tools.iter().map(wire_tool).collect();
        text.push_str(&format!(r#""tools":{},"#, json(&tools)));
    }
    Prelude::new(text)
}

fn wire_tool(tool: &ToolDeclaration) -> ResponsesTool<'_> {
    let ToolDeclaration { name, description, input_schema } = tool;
    ResponsesTool { r#type: "function", name, description, parameters: input_schema, strict: false }
}

/// The whole body. Costs a copy of its bytes.
pub(super) fn request(wire: &Responses, request: &ModelRequest) -> Vec<u8> {
    let model = &*wire.model;
    let mut body = format!(
        r#"{{"model":{},"max_output_tokens":{},"stream":true,"store":false,"#,
        json(&model),
        request.max_tokens,
    );
    if wire.takes_cache_key {
        let key = request.prelude.cache_key(model);
        body.push_str(&format!(r#""prompt_cache_key":"{key}","#));
    }
    // All others take it, and servers that know no reasoning ignore it.
    if !wire.never_reasons {
        body.push_str(r#""include":["reasoning.encrypted_content"],"#);
    }
    if let Some(effort) = wire.effort {
        body.push_str(&format!(r#""reasoning":{{"effort":"{effort}","summary":"auto"}},"#));
    }
    let prelude = request.prelude.as_str();
    let length: usize = request.pieces.iter().map(|piece| piece.len().saturating_add(1)).sum();
    body.reserve_exact(prelude.len().saturating_add(length).saturating_add(16));
    body.push_str(prelude);
    body.push_str(r#""input":["#);
    for (at, piece) in request.pieces.iter().enumerate() {
        if at > 0 {
            body.push(',');
        }
        body.push_str(piece);
    }
    body.push_str("]}");
    body.into_bytes()
}

#[expect(clippy::expect_used, reason = "strings and JSON values always serialise into memory")]
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and JSON values serialise")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Protocol, ServerConfig};

    fn body(model: &str, pieces: &[&str]) -> String {
        let pieces = pieces.iter().map(|text| message(&Message::user(*text))).collect();
        let prelude = prelude("be brief", &[]);
        let mut config = ServerConfig::new(Protocol::Responses, model);
        config.base_url = "https://api.openai.com/v1".to_owned();
        let request = ModelRequest { prelude, pieces, max_tokens: 9 };
        String::from_utf8(super::request(&Responses::new(&config), &request)).unwrap()
    }

    #[test]
    fn a_longer_conversation_begins_with_the_same_bytes() {
        let first = body("gpt-5", &["a"]);
        let second = body("gpt-5", &["a", "b"]);
        assert!(second.starts_with(first.strip_suffix("]}").unwrap()), "{first} {second}");
        let value: Value = serde_json::from_str(&second).unwrap();
        assert_eq!(value["store"], false);
        assert_eq!(value["stream"], true);
        assert_eq!(value["max_output_tokens"], 9);
        assert_eq!(value["include"][0], "reasoning.encrypted_content");
        assert_eq!(value["input"][1]["content"][0]["text"], "b");
        let key =
            |body: &str| serde_json::from_str::<Value>(body).unwrap()["prompt_cache_key"].clone();
        assert_eq!(key(&second), key(&first), "the key stays");
        assert_ne!(key(&body("gpt-5.1", &["a"])), key(&first), "another model has another cache");
    }

    #[test]
    fn models_that_do_not_reason_are_not_asked_for_reasoning() {
        for model in ["gpt-4.1", "gpt-4o-mini", "gpt-5-chat-latest"] {
            assert!(!body(model, &["a"]).contains("include"), "{model}");
        }
        assert!(body("o3", &["a"]).contains("include"));
    }
}
