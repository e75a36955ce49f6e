//! Replies as Anthropic's Messages protocol streams them.
//!
//! Writes what the real server writes: a ping after the start, empty starts of blocks, deltas, the
//! stop reason near the end. Faults are put in at their places; nothing is sent here.

use super::script::{Act, Place, ScriptBlock, ScriptedReply};
use ropewalk_model::StopReason;
use serde_json::{Value, json};

/// What to do next when answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Send(Vec<u8>),
    Gate(String),
    Drop,
}

/// A reply's body as steps, cut into the pieces the script asks for. `request` counts from 0 and
/// makes ids unique. Acts at [`Place::Answer`] are not among them.
pub(super) fn steps(reply: &ScriptedReply, request: usize) -> Vec<Step> {
    let body = Body::write(reply, request);
    let mut acts: Vec<(usize, &Act)> =
        reply.acts.iter().filter_map(|(place, act)| Some((body.position(*place)?, act))).collect();
    acts.sort_by_key(|(at, _)| *at);

    let (mut steps, mut sent) = (Vec::new(), 0);
    for (at, act) in acts {
        body.send(sent, at, reply.chunk, &mut steps);
        sent = at;
        match act {
            Act::Gate(name) => steps.push(Step::Gate(name.clone())),
            Act::Event(data) => {
                let bytes = format!("data: {data}\n\n").into_bytes();
                let size = reply.chunk.unwrap_or(bytes.len());
                steps.extend(bytes.chunks(size).map(|piece| Step::Send(piece.to_vec())));
            }
            Act::Drop => {
                steps.push(Step::Drop);
                return steps;
            }
            Act::Finish => return steps,
        }
    }
    body.send(sent, body.bytes.len(), reply.chunk, &mut steps);
    steps
}

#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    /// Where each event begins.
    events: Vec<usize>,
    /// Where each block begins.
    blocks: Vec<usize>,
    end: usize,
}

impl Body {
    fn write(reply: &ScriptedReply, request: usize) -> Body {
        let mut body = Body::default();
        let usage = reply.usage;
        body.event(json!({"type": "message_start", "message": {
            "id": format!("msg_{request}"), "type": "message", "role": "assistant",
            "model": "scripted", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {
                "input_tokens": usage.input, "output_tokens": 1,
                "cache_read_input_tokens": usage.cache_read,
                "cache_creation_input_tokens": usage.cache_write,
            },
        }}));
        body.event(json!({"type": "ping"}));
        for (index, block) in reply.blocks.iter().enumerate() {
            body.blocks.push(body.bytes.len());
            let (start, deltas) = parts(block, reply.delta, &format!("call_{request}_{index}"));
            body.event(
                json!({"type": "content_block_start", "index": index, "content_block": start}),
            );
            for delta in deltas {
                body.event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            body.event(json!({"type": "content_block_stop", "index": index}));
        }
        body.end = body.bytes.len();
        let reason = reply.stop_reason.as_ref().map_or_else(|| by_content(reply), word);
        body.event(json!({"type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": usage.output}}));
        body.event(json!({"type": "message_stop"}));
        body
    }

    fn event(&mut self, data: Value) {
        self.events.push(self.bytes.len());
        let name = data.get("type").and_then(Value::as_str).unwrap_or_default();
        self.bytes.extend_from_slice(format!("event: {name}\ndata: {data}\n\n").as_bytes());
    }

    fn position(&self, place: Place) -> Option<usize> {
        match place {
            Place::Answer => None,
            Place::Byte(at) => Some(at.min(self.bytes.len())),
            Place::Block(number) => Some(self.blocks.get(number).copied().unwrap_or(self.end)),
            Place::End => Some(self.end),
        }
    }

    /// Sends the bytes from `from` to `to`, in pieces of `size` or event by event.
    fn send(&self, from: usize, to: usize, size: Option<usize>, steps: &mut Vec<Step>) {
        let part = self.bytes.get(from..to).unwrap_or_default();
        match size {
            Some(size) => steps.extend(part.chunks(size).map(|piece| Step::Send(piece.to_vec()))),
            None => {
                let mut at = from;
                let inner = self.events.iter().copied().filter(|cut| *cut > from && *cut < to);
                for cut in inner.chain([to]) {
                    let piece = self.bytes.get(at..cut).unwrap_or_default();
                    if !piece.is_empty() {
                        steps.push(Step::Send(piece.to_vec()));
                    }
                    at = cut;
                }
            }
        }
    }
}

/// The start of a block and its deltas.
fn parts(block: &ScriptBlock, size: usize, id: &str) -> (Value, Vec<Value>) {
    let cut = |text: &str, delta: &dyn Fn(String) -> Value| -> Vec<Value> {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(size).map(|piece| delta(piece.iter().collect())).collect()
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
        ScriptBlock::Call { name, json } => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            cut(json, &|part| json!({"type": "input_json_delta", "partial_json": part})),
        ),
    }
}

fn by_content(reply: &ScriptedReply) -> String {
    let calls = reply.blocks.iter().any(|block| matches!(block, ScriptBlock::Call { .. }));
    if calls { "tool_use" } else { "end_turn" }.to_owned()
}

fn word(reason: &StopReason) -> String {
    match reason {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::PauseTurn => "pause_turn",
        StopReason::Refusal => "refusal",
        StopReason::Other(word) => word,
    }
    .to_owned()
}
