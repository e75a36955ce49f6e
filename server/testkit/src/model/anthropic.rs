//! Anthropic's Messages protocol from the server's side: replies as it streams them, requests as it
//! takes them.
//!
//! Writes what the real server writes: a ping after the start, empty starts of blocks, deltas, the
//! stop reason near the end. Its requests are in the form that the rules know.

use super::{
    script::{ScriptBlock, ScriptedReply},
    speech::{Heard, ScriptedBody, SentPrefix, Speech, call_id, pieces, without_markers},
};
use ropewalk_model::ModelStop;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// See the module.
pub(super) struct AnthropicSpeech;

#[derive(Deserialize)]
struct RawAnthropicRequest<'a> {
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

impl Speech for AnthropicSpeech {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn key(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", ""), ("content-type", "application/json")]
    }

    fn read(&self, raw: &str, body: &Value) -> Heard {
        let sent = serde_json::from_str::<RawAnthropicRequest<'_>>(raw).ok().map(|request| {
            let text = |value: Option<&RawValue>| without_markers(value.map_or("", RawValue::get));
            SentPrefix {
                system: text(request.system),
                tools: text(request.tools),
                cache_key: String::new(),
                messages: request.messages.iter().map(|m| without_markers(m.get())).collect(),
                grows: ("]}", ","),
            }
        });
        Heard { said: body.clone(), faults: Vec::new(), sent }
    }

    fn write(&self, reply: &ScriptedReply, request: usize) -> ScriptedBody {
        let mut body = ScriptedBody::default();
        let usage = reply.usage;
        event(
            &mut body,
            json!({"type": "message_start", "message": {
                "id": format!("msg_{request}"), "type": "message", "role": "assistant",
                "model": "scripted", "content": [], "stop_reason": null, "stop_sequence": null,
                "usage": {
                    "input_tokens": usage.input, "output_tokens": 1,
                    "cache_read_input_tokens": usage.cache_read,
                    "cache_creation_input_tokens": usage.cache_write,
                },
            }}),
        );
        event(&mut body, json!({"type": "ping"}));
        for (index, block) in reply.blocks.iter().enumerate() {
            body.block();
            let (start, deltas) = parts(block, reply.delta, call_id(None, request, index));
            event(
                &mut body,
                json!({"type": "content_block_start", "index": index, "content_block": start}),
            );
            for delta in deltas {
                event(
                    &mut body,
                    json!({"type": "content_block_delta", "index": index, "delta": delta}),
                );
            }
            event(&mut body, json!({"type": "content_block_stop", "index": index}));
        }
        body.end_of_blocks();
        let reason = reply.stop_reason.as_ref().map_or_else(|| by_content(reply), word);
        event(
            &mut body,
            json!({"type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": usage.output}}),
        );
        event(&mut body, json!({"type": "message_stop"}));
        body
    }

    fn error(&self, kind: &str, message: &str) -> Value {
        json!({"type": "error", "error": {"type": kind, "message": message}})
    }

    fn thought(&self, thinking: &str, seal: &str, _: usize, _: usize) -> Option<Value> {
        Some(json!({"type": "thinking", "thinking": thinking, "signature": seal}))
    }
}

fn event(body: &mut ScriptedBody, data: Value) {
    let name = data.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    body.event(&name, &data.to_string());
}

/// The start of a block and its deltas.
fn parts(block: &ScriptBlock, size: usize, id: String) -> (Value, Vec<Value>) {
    let cut = |text: &str, delta: &dyn Fn(String) -> Value| -> Vec<Value> {
        pieces(text, size).into_iter().map(delta).collect()
    };
    match block {
        ScriptBlock::Text(text) => (
            json!({"type": "text", "text": ""}),
            cut(text, &|text| json!({"type": "text_delta", "text": text})),
        ),
        ScriptBlock::Thinking { thinking, signature } => {
            let delta = |text| json!({"type": "thinking_delta", "thinking": text});
            let mut deltas = cut(thinking, &delta);
            if !signature.is_empty() {
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
            }
            (json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
        }
        ScriptBlock::Call { name, json, id: own } => (
            json!({"type": "tool_use", "id": own.as_ref().unwrap_or(&id), "name": name, "input": {}}),
            cut(json, &|part| json!({"type": "input_json_delta", "partial_json": part})),
        ),
    }
}

fn by_content(reply: &ScriptedReply) -> String {
    let calls = reply.blocks.iter().any(|block| matches!(block, ScriptBlock::Call { .. }));
    if calls { "tool_use" } else { "end_turn" }.to_owned()
}

fn word(reason: &ModelStop) -> String {
    match reason {
        ModelStop::EndTurn => "end_turn",
        ModelStop::ToolUse => "tool_use",
        ModelStop::MaxTokens => "max_tokens",
        ModelStop::StopSequence => "stop_sequence",
        ModelStop::PauseTurn => "pause_turn",
        ModelStop::ContextFull => "model_context_window_exceeded",
        ModelStop::Refusal => "refusal",
        ModelStop::Other(word) => word,
    }
    .to_owned()
}
