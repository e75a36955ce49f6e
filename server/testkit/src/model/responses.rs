//! OpenAI's Responses from the server's side: replies as it streams them, requests as it takes them.
//!
//! Written as OpenAI writes it: items by their place, begun empty, told in deltas and whole again at their end,
//! the usage with the last event. Its requests are held against what only this protocol wants: nothing is
//! stored, sealed reasoning is asked for, no member that it does not have. Servers with other habits are
//! played by the tests of the decoder.

use super::{
    script::{ScriptBlock, ScriptedReply},
    speech::{Heard, ScriptedBody, SentPrefix, Speech, call_id, image, pieces},
};
use ropewalk_model::ModelStop;
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

/// Members a request may have.
const MEMBERS: &[&str] = &[
    "model",
    "stream",
    "store",
    "include",
    "prompt_cache_key",
    "reasoning",
    "max_output_tokens",
    "instructions",
    "tools",
    "tool_choice",
    "input",
    "temperature",
];

/// Members a tool may have.
const TOOL: &[&str] = &["type", "name", "description", "parameters", "strict"];

/// Kinds of items, and the members each must have and no others.
const ITEMS: &[(&str, &[&str])] = &[
    ("message", &["type", "role", "content"]),
    ("reasoning", &["type", "id", "summary", "encrypted_content"]),
    ("function_call", &["type", "call_id", "name", "arguments"]),
    ("function_call_output", &["type", "call_id", "output"]),
];

/// See the module.
pub(super) struct ResponsesSpeech;

#[derive(Deserialize)]
struct RawResponsesRequest<'a> {
    #[serde(borrow)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt_cache_key: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Vec<&'a RawValue>,
}

impl Speech for ResponsesSpeech {
    fn path(&self) -> &'static str {
        "/v1/responses"
    }

    fn key(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("content-type", "application/json")]
    }

    fn read(&self, raw: &str, body: &Value) -> Heard {
        let mut faults = Vec::new();
        no_others("the request", body, MEMBERS, &mut faults);
        if body.get("store") != Some(&Value::Bool(false)) {
            faults.push("the server is to store the conversation".to_owned());
        }
        if body.get("include") != Some(&json!(["reasoning.encrypted_content"])) {
            faults.push("sealed reasoning is not asked for".to_owned());
        }
        for tool in body.get("tools").and_then(Value::as_array).into_iter().flatten() {
            no_others("a tool", tool, TOOL, &mut faults);
            if text(tool, "type") != "function" {
                faults.push(format!("a tool that is no function: {tool}"));
            }
        }
        let sent = serde_json::from_str::<RawResponsesRequest<'_>>(raw).ok().map(|request| {
            let text = |value: Option<&RawValue>| value.map_or("", RawValue::get).to_owned();
            SentPrefix {
                system: text(request.instructions),
                tools: text(request.tools),
                cache_key: text(request.prompt_cache_key),
                messages: request.input.iter().map(|item| item.get().to_owned()).collect(),
                grows: ("]}", ","),
            }
        });
        Heard { said: said(body, &mut faults), faults, sent }
    }

    fn write(&self, reply: &ScriptedReply, request: usize) -> ScriptedBody {
        let mut stream = Stream { body: ScriptedBody::default(), number: 0 };
        let id = format!("resp_{request}");
        let begun = json!({"response": {"id": id, "object": "response", "status": "in_progress"}});
        stream.event("response.created", begun.clone());
        stream.event("response.in_progress", begun);
        let mut output = Vec::new();
        for (place, block) in reply.blocks.iter().enumerate() {
            stream.body.block();
            output.push(stream.item(&ItemPlace { request, place }, block, reply.delta));
        }
        stream.body.end_of_blocks();
        let (status, details) = match &reply.stop_reason {
            Some(ModelStop::MaxTokens) => ("incomplete", json!({"reason": "max_output_tokens"})),
            Some(ModelStop::Refusal) => ("incomplete", json!({"reason": "content_filter"})),
            Some(ModelStop::ContextFull) => {
                ("incomplete", json!({"reason": "model_context_window_exceeded"}))
            }
            Some(ModelStop::Other(word)) => ("incomplete", json!({ "reason": word })),
            _ => ("completed", Value::Null),
        };
        let usage = reply.usage;
        stream.event(
            &format!("response.{status}"),
            json!({"response": {
                "id": id, "object": "response", "status": status, "output": output,
                "incomplete_details": details,
                "usage": {
                    "input_tokens": usage.prompt(), "output_tokens": usage.output,
                    "input_tokens_details": {
                        "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
                    },
                },
            }}),
        );
        stream.body
    }

    fn error(&self, kind: &str, message: &str) -> Value {
        let error = json!({"message": message, "type": kind, "param": null, "code": null});
        json!({"type": "error", "error": error})
    }

    fn thought(&self, thinking: &str, seal: &str, request: usize, block: usize) -> Option<Value> {
        let place = ItemPlace { request, place: block };
        Some(thought(&json!(thinking), seal, &place.id("rs")))
    }
}

/// Which item of which reply.
struct ItemPlace {
    request: usize,
    place: usize,
}

impl ItemPlace {
    fn id(&self, kind: &str) -> String {
        format!("{kind}_{}_{}", self.request, self.place)
    }
}

/// Events with their numbers.
struct Stream {
    body: ScriptedBody,
    number: u32,
}

impl Stream {
    fn event(&mut self, kind: &str, mut data: Value) {
        if let Some(data) = data.as_object_mut() {
            data.insert("type".to_owned(), kind.into());
            data.insert("sequence_number".to_owned(), self.number.into());
        }
        self.number = self.number.saturating_add(1);
        self.body.event(kind, &data.to_string());
    }

    /// An item from its start to its end; gives it whole.
    fn item(&mut self, at: &ItemPlace, block: &ScriptBlock, size: usize) -> Value {
        let (empty, whole) = items(at, block);
        let (id, output_index) = (whole.get("id").cloned(), at.place);
        self.event(
            "response.output_item.added",
            json!({"output_index": output_index, "item": empty}),
        );
        // Where the deltas belong, what they are called, and the part of the item that holds them.
        let (kind, text, part) = match block {
            ScriptBlock::Text(text) => {
                let part = json!({"type": "output_text", "annotations": [], "text": ""});
                ("output_text", text, Some(("content", "content_part", part)))
            }
            ScriptBlock::Thinking { thinking, .. } => {
                let part = json!({"type": "summary_text", "text": ""});
                let part = ("summary", "reasoning_summary_part", part);
                ("reasoning_summary_text", thinking, Some(part))
            }
            ScriptBlock::Call { json, .. } => ("function_call_arguments", json, None),
        };
        let within = |more: Value| {
            let mut data = json!({"item_id": id, "output_index": output_index});
            if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
                data.extend(more);
                if let Some((index, ..)) = &part {
                    data.insert(format!("{index}_index"), 0.into());
                }
            }
            data
        };
        if let Some((_, name, part)) = &part {
            self.event(&format!("response.{name}.added"), within(json!({ "part": part })));
        }
        for delta in pieces(text, size) {
            self.event(&format!("response.{kind}.delta"), within(json!({ "delta": delta })));
        }
        let told = if part.is_some() { "text" } else { "arguments" };
        self.event(&format!("response.{kind}.done"), within(json!({ told: text })));
        if let Some((list, name, _)) = &part {
            let part = whole.get(list).and_then(|parts| parts.get(0));
            self.event(&format!("response.{name}.done"), within(json!({ "part": part })));
        }
        self.event(
            "response.output_item.done",
            json!({"output_index": output_index, "item": whole}),
        );
        whole
    }
}

/// An item as it begins and as it ends.
fn items(at: &ItemPlace, block: &ScriptBlock) -> (Value, Value) {
    match block {
        ScriptBlock::Text(text) => {
            let item = |status: &str, content: Value| {
                json!({
                    "type": "message", "id": at.id("msg"), "status": status,
                    "role": "assistant", "content": content,
                })
            };
            let part = json!({"type": "output_text", "annotations": [], "text": text});
            (item("in_progress", json!([])), item("completed", json!([part])))
        }
        ScriptBlock::Thinking { thinking, signature } => {
            let item = |summary: Value, seal: &str| {
                json!({
                    "type": "reasoning", "id": at.id("rs"), "summary": summary,
                    "encrypted_content": Some(seal).filter(|seal| !seal.is_empty()),
                })
            };
            let part = json!({"type": "summary_text", "text": thinking});
            (item(json!([]), ""), item(json!([part]), signature))
        }
        ScriptBlock::Call { name, json, id } => {
            let call_id = call_id(id.as_deref(), at.request, at.place);
            let item = |status: &str, arguments: &str| {
                json!({
                    "type": "function_call", "id": at.id("fc"), "status": status,
                    "call_id": call_id, "name": name, "arguments": arguments,
                })
            };
            (item("in_progress", ""), item("completed", json))
        }
    }
}

/// The request in the form that the rules know.
fn said(body: &Value, faults: &mut Vec<String>) -> Value {
    let mut said = Map::new();
    for (name, member) in [
        ("model", "model"),
        ("stream", "stream"),
        ("max_tokens", "max_output_tokens"),
        ("system", "instructions"),
    ] {
        if let Some(value) = body.get(member) {
            said.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(tools) = body.get("tools") {
        let tool = |tool: &Value| {
            json!({
                "name": tool.get("name"), "description": tool.get("description"),
                "input_schema": tool.get("parameters"),
            })
        };
        said.insert("tools".to_owned(), tools.as_array().into_iter().flatten().map(tool).collect());
    }
    // Items of one side that follow each other are one message there.
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for item in body.get("input").and_then(Value::as_array).into_iter().flatten() {
        let (role, blocks) = blocks(item, faults);
        match messages.last_mut() {
            Some((last, held)) if *last == role => held.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    let is_thought = |block: &Value| text(block, "type") == "thinking";
    for (_, blocks) in &messages {
        if blocks.last().is_some_and(is_thought) {
            faults.push("reasoning without what it led to".to_owned());
        }
    }
    let message = |(role, blocks): (&str, Vec<Value>)| json!({"role": role, "content": blocks});
    said.insert("messages".to_owned(), messages.into_iter().map(message).collect());
    said.into()
}

/// Role and blocks of an item.
fn blocks<'a>(item: &'a Value, faults: &mut Vec<String>) -> (&'a str, Vec<Value>) {
    let kind = text(item, "type");
    let Some((_, members)) = ITEMS.iter().find(|(name, _)| *name == kind) else {
        faults.push(format!("an item of type {kind:?}"));
        return ("user", Vec::new());
    };
    no_others(&format!("a {kind}"), item, members, faults);
    for member in members.iter().filter(|member| item.get(**member).is_none_or(Value::is_null)) {
        faults.push(format!("a {kind} without {member:?}"));
    }
    match kind {
        "message" => {
            let (role, content) = (text(item, "role"), item.get("content"));
            if role == "assistant" {
                if !content.is_some_and(Value::is_string) {
                    faults.push(format!("{role:?} says {content:?}, which is no text"));
                }
                return (role, vec![json!({"type": "text", "text": content})]);
            }
            let block = |part: &Value| self::part(role, part, faults);
            (role, content.and_then(Value::as_array).into_iter().flatten().map(block).collect())
        }
        "reasoning" => {
            let parts = item.get("summary").and_then(Value::as_array).into_iter().flatten();
            let words = parts.filter_map(|part| part.get("text")?.as_str());
            let words = json!(words.collect::<Vec<_>>().join("\n\n"));
            let seal = text(item, "encrypted_content");
            ("assistant", vec![thought(&words, seal, text(item, "id"))])
        }
        "function_call" => {
            let arguments = text(item, "arguments");
            let input = serde_json::from_str(arguments).unwrap_or_else(|error| {
                faults.push(format!("the arguments {arguments:?} are no JSON: {error}"));
                Value::Null
            });
            let (id, name) = (text(item, "call_id"), item.get("name"));
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
            ("assistant", vec![block])
        }
        _ => {
            let (id, output) = (text(item, "call_id"), item.get("output"));
            let output = match output {
                Some(Value::Array(parts)) => {
                    parts.iter().map(|part| self::part("user", part, faults)).collect()
                }
                output => output.cloned().unwrap_or_default(),
            };
            ("user", vec![json!({"type": "tool_result", "tool_use_id": id, "content": output})])
        }
    }
}

/// A part of what the user says, or of a result.
fn part(role: &str, part: &Value, faults: &mut Vec<String>) -> Value {
    match text(part, "type") {
        "input_text" => json!({"type": "text", "text": part.get("text")}),
        "input_image" => image(text(part, "image_url")),
        _ => {
            faults.push(format!("{role:?} cannot say {part}"));
            Value::Null
        }
    }
}

/// Reasoning in the form that the rules know, and its id, which must come back too.
fn thought(words: &Value, seal: &str, id: &str) -> Value {
    json!({"type": "thinking", "thinking": words, "signature": seal, "id": id})
}

fn no_others(what: &str, value: &Value, members: &[&str], faults: &mut Vec<String>) {
    let object = value.as_object().into_iter().flat_map(Map::keys);
    for member in object.filter(|member| !members.contains(&member.as_str())) {
        faults.push(format!("{what} has an unknown member {member:?}"));
    }
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}
