//! OpenAI's Chat Completions from the server's side: replies as it streams them, requests as it takes
//! them.
//!
//! Written as OpenAI writes it: a first delta with the role and no content, calls by index, the usage in
//! a chunk of its own when it was asked for, `[DONE]`. Servers with other habits are played by the tests
//! of the decoder.

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
    "stream_options",
    "prompt_cache_key",
    "reasoning_effort",
    "max_tokens",
    "max_completion_tokens",
    "tools",
    "tool_choice",
    "messages",
    "temperature",
];

/// See the module.
pub(super) struct ChatSpeech;

#[derive(Deserialize)]
struct RawChatRequest<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt_cache_key: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

impl Speech for ChatSpeech {
    fn path(&self) -> &'static str {
        "/v1/chat/completions"
    }

    fn key(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("content-type", "application/json")]
    }

    fn read(&self, raw: &str, body: &Value) -> Heard {
        let mut faults = Vec::new();
        for member in body.as_object().into_iter().flat_map(|object| object.keys()) {
            if !MEMBERS.contains(&member.as_str()) {
                faults.push(format!("unknown member {member:?}"));
            }
        }
        if body.pointer("/stream_options/include_usage") != Some(&Value::Bool(true)) {
            faults.push("the usage is not asked for".to_owned());
        }
        let sent = serde_json::from_str::<RawChatRequest<'_>>(raw).ok().map(|request| {
            let mut messages: Vec<String> =
                request.messages.iter().map(|message| message.get().to_owned()).collect();
            let has_system =
                messages.first().is_some_and(|first| first.starts_with(r#"{"role":"system""#));
            let system = if has_system { messages.remove(0) } else { String::new() };
            let text = |value: Option<&RawValue>| value.map_or("", RawValue::get).to_owned();
            SentPrefix {
                system,
                tools: text(request.tools),
                cache_key: text(request.prompt_cache_key),
                messages,
                grows: ("\"}", "\\n\\n"),
            }
        });
        Heard { said: said(body, &mut faults), faults, sent }
    }

    fn write(&self, reply: &ScriptedReply, request: usize) -> ScriptedBody {
        let mut body = ScriptedBody::default();
        let chunk = |choices: Value, usage: Value| {
            json!({
                "id": format!("chatcmpl-{request}"), "object": "chat.completion.chunk",
                "created": 0, "model": "scripted", "choices": choices, "usage": usage,
            })
            .to_string()
        };
        let delta = |delta: Value| {
            let choice =
                json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null});
            chunk(json!([choice]), Value::Null)
        };
        body.event("", &delta(json!({"role": "assistant", "content": null})));
        let mut calls = 0;
        for (number, block) in reply.blocks.iter().enumerate() {
            body.block();
            match block {
                ScriptBlock::Text(text) => {
                    for text in pieces(text, reply.delta) {
                        body.event("", &delta(json!({ "content": text })));
                    }
                }
                ScriptBlock::Thinking { thinking, .. } => {
                    for text in pieces(thinking, reply.delta) {
                        body.event("", &delta(json!({ "reasoning_content": text })));
                    }
                }
                ScriptBlock::Call { name, json, id } => {
                    let start = json!({
                        "index": calls, "id": call_id(id.as_deref(), request, number),
                        "type": "function", "function": {"name": name, "arguments": ""},
                    });
                    body.event("", &delta(json!({ "tool_calls": [start] })));
                    for part in pieces(json, reply.delta) {
                        let more = json!({"index": calls, "function": {"arguments": part}});
                        body.event("", &delta(json!({ "tool_calls": [more] })));
                    }
                    calls += 1;
                }
            }
        }
        body.end_of_blocks();
        let by_content = || if calls > 0 { "tool_calls" } else { "stop" }.to_owned();
        let reason = reply.stop_reason.as_ref().map_or_else(by_content, word);
        let last = json!({"index": 0, "delta": {}, "logprobs": null, "finish_reason": reason});
        body.event("", &chunk(json!([last]), Value::Null));
        let usage = reply.usage;
        let usage = json!({
            "prompt_tokens": usage.prompt(), "completion_tokens": usage.output,
            "prompt_tokens_details": {
                "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
            },
        });
        body.event("", &chunk(json!([]), usage));
        body.event("", "[DONE]");
        body
    }

    fn error(&self, kind: &str, message: &str) -> Value {
        json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
    }

    fn thought(&self, _: &str, _: &str, _: usize, _: usize) -> Option<Value> {
        None
    }
}

/// The request in the form that the rules know.
fn said(body: &Value, faults: &mut Vec<String>) -> Value {
    let mut said = Map::new();
    let tokens = body.get("max_tokens").or(body.get("max_completion_tokens"));
    for (name, value) in
        [("model", body.get("model")), ("stream", body.get("stream")), ("max_tokens", tokens)]
    {
        if let Some(value) = value {
            said.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(tools) = body.get("tools") {
        let tool = |tool: &Value| {
            let function = tool.get("function").unwrap_or(&Value::Null);
            json!({
                "name": function.get("name"), "description": function.get("description"),
                "input_schema": function.get("parameters"),
            })
        };
        said.insert("tools".to_owned(), tools.as_array().into_iter().flatten().map(tool).collect());
    }
    let mut all = body.get("messages").and_then(Value::as_array).into_iter().flatten().peekable();
    if let Some(system) = all.next_if(|message| text(message, "role") == "system") {
        said.insert("system".to_owned(), system.get("content").cloned().unwrap_or_default());
    }
    let mut messages = Vec::new();
    while let Some(message) = all.next() {
        let mut blocks = Vec::new();
        let role = text(message, "role");
        match role {
            "tool" => {
                blocks.push(result(message));
                // Results and the words behind them are one message there.
                while let Some(next) = all.next_if(|next| text(next, "role") == "tool") {
                    blocks.push(result(next));
                }
                if let Some(next) = all.next_if(|next| text(next, "role") == "user") {
                    blocks.extend(words(next));
                }
            }
            "user" => blocks.extend(words(message)),
            "assistant" => {
                if !message.get("content").is_none_or(Value::is_null) {
                    blocks.extend(words(message));
                }
                let calls = message.get("tool_calls").and_then(Value::as_array);
                blocks.extend(calls.into_iter().flatten().map(|call| self::call(call, faults)));
            }
            _ => faults.push(format!("a message of role {role:?}")),
        }
        let role = if role == "assistant" { role } else { "user" };
        messages.push(json!({"role": role, "content": blocks}));
    }
    said.insert("messages".to_owned(), messages.into());
    said.into()
}

fn words(message: &Value) -> Vec<Value> {
    let part = |part: &Value| match part.pointer("/image_url/url").and_then(Value::as_str) {
        Some(url) => image(url),
        None => part.clone(),
    };
    match message.get("content") {
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(content) => vec![json!({"type": "text", "text": content})],
        None => Vec::new(),
    }
}

fn result(message: &Value) -> Value {
    json!({
        "type": "tool_result", "tool_use_id": text(message, "tool_call_id"),
        "content": message.get("content"),
    })
}

fn call(call: &Value, faults: &mut Vec<String>) -> Value {
    if text(call, "type") != "function" {
        faults.push(format!("a call that is no function: {call}"));
    }
    let arguments = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
    let input = serde_json::from_str(arguments).unwrap_or_else(|error| {
        faults.push(format!("the arguments {arguments:?} are no JSON: {error}"));
        Value::Null
    });
    json!({
        "type": "tool_use", "id": text(call, "id"),
        "name": call.pointer("/function/name"), "input": input,
    })
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn word(reason: &ModelStop) -> String {
    match reason {
        ModelStop::EndTurn | ModelStop::StopSequence | ModelStop::PauseTurn => "stop",
        ModelStop::ToolUse => "tool_calls",
        ModelStop::MaxTokens => "length",
        ModelStop::ContextFull => "model_length",
        ModelStop::Refusal => "content_filter",
        ModelStop::Other(word) => word,
    }
    .to_owned()
}
