//! Reading the event stream of a reply, tolerantly.
//!
//! Unknown events, blocks and members are passed over, and so is an event that is no JSON at all:
//! it is logged, and if it mattered the reply lacks its end. Nothing is checked against a schema.

use crate::{
    Delta, ModelError, StopReason, Usage,
    call_ids::CallIds,
    log,
    reader::{Decode, MOST_BLOCKS},
    refusal::in_stream,
    surrogates::Surrogates,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    collections::{BTreeSet, VecDeque},
};

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u32,
    // What is large lies elsewhere: reading moves an event more than once.
    #[serde(borrow)]
    delta: Option<Box<EventDelta<'a>>>,
    #[serde(borrow)]
    content_block: Option<Box<StartBlock<'a>>>,
    message: Option<Box<Start>>,
    usage: Option<Box<WireUsage>>,
}

#[derive(Deserialize)]
struct EventDelta<'a> {
    // The delta of `message_delta` has no type.
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct StartBlock<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Start {
    id: Option<String>,
    usage: Option<Box<WireUsage>>,
}

#[derive(Deserialize)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

/// Decodes one reply.
pub(super) struct Decoder {
    model: String,
    usage: Usage,
    stop_reason: Option<StopReason>,
    calls: CallIds,
    blocks: usize,
    /// What has begun where, as the start said: the same start again begins nothing.
    started: BTreeSet<(u32, String)>,
    /// The blocks that have ended, and have not gone on since.
    ended: BTreeSet<u32>,
    begun: bool,
    /// Arguments that came whole with the start of a call; they count if no others follow.
    whole_input: Option<(u32, String)>,
    surrogates: Surrogates,
}

impl Decoder {
    pub(super) fn new(model: &str) -> Decoder {
        Decoder {
            model: model.to_owned(),
            usage: Usage::default(),
            stop_reason: None,
            calls: CallIds::default(),
            blocks: 0,
            started: BTreeSet::new(),
            ended: BTreeSet::new(),
            begun: false,
            whole_input: None,
            surrogates: Surrogates::default(),
        }
    }

    fn take(
        &mut self,
        event: Event<'_>,
        data: &str,
        out: &mut VecDeque<Delta>,
    ) -> Result<bool, ModelError> {
        let index = event.index;
        match &*event.kind {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.begun = true;
                    self.ended.remove(&index);
                    self.more(index, *delta, out);
                }
            }
            "content_block_start" => {
                self.begun = true;
                self.blocks = self.blocks.saturating_add(1);
                if self.blocks > MOST_BLOCKS {
                    let what = format!("the reply has more than {MOST_BLOCKS} blocks");
                    return Err(ModelError::TooLarge { what });
                }
                if let Some(block) = event.content_block
                    && !self.has_started(index, &block)
                {
                    self.ended.remove(&index);
                    self.start(index, *block, out);
                }
            }
            "content_block_stop" => {
                if let Some((_, partial_json)) = self.whole_input.take_if(|(at, _)| *at == index) {
                    out.push_back(Delta::ToolInput { index, partial_json });
                }
                if self.ended.insert(index) {
                    out.push_back(Delta::BlockEnd { index });
                }
            }
            "message_start" => {
                if let Some(start) = event.message {
                    self.calls.of_reply(&start.id.unwrap_or_default());
                    self.count(start.usage, out);
                }
            }
            "message_delta" => {
                if let Some(word) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.stop_reason = Some(stop_reason(word));
                }
                self.count(event.usage, out);
            }
            "message_stop" => {
                let by_content =
                    if self.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
                out.push_back(Delta::Stop(self.stop_reason.take().unwrap_or(by_content)));
                return Ok(true);
            }
            "error" => return Err(in_stream(data, &self.model)),
            "ping" => {}
            other => log::unknown("event", other),
        }
        Ok(false)
    }

    /// Whether this very block has begun already: a server may tell it twice, and a call runs once at most. A
    /// start that brings nothing is not worth the question.
    fn has_started(&mut self, index: u32, block: &StartBlock<'_>) -> bool {
        let brings = [&block.id, &block.data, &block.text, &block.thinking];
        let brings = brings.into_iter().flatten().find(|text| !text.is_empty());
        brings.is_some_and(|text| !self.started.insert((index, text.clone())))
    }

    fn start(&mut self, index: u32, block: StartBlock<'_>, out: &mut VecDeque<Delta>) {
        match &*block.kind {
            "text" => push_some(block.text, out, |text| Delta::Text { index, text }),
            "thinking" => {
                push_some(block.thinking, out, |text| Delta::Thinking { index, text });
                push_some(block.signature, out, |signature| Delta::Signature { index, signature });
            }
            "redacted_thinking" => {
                push_some(block.data, out, |data| Delta::RedactedThinking { index, data });
            }
            "tool_use" => {
                let id = self.calls.unique(block.id.unwrap_or_default(), self.blocks);
                let name = block.name.unwrap_or_default();
                let input = block.input.map(RawValue::get).unwrap_or_default();
                let placeholder = matches!(input, "" | "{}" | "null" | "\"\"");
                self.whole_input = (!placeholder).then(|| (index, input.to_owned()));
                out.push_back(Delta::ToolUse { index, id, name });
            }
            other => log::unknown("block", other),
        }
    }

    fn more(&mut self, index: u32, delta: EventDelta<'_>, out: &mut VecDeque<Delta>) {
        match &*delta.kind {
            "text_delta" => push_some(delta.text, out, |text| Delta::Text { index, text }),
            "input_json_delta" => {
                if let Some(partial_json) = delta.partial_json.filter(|json| !json.is_empty()) {
                    self.whole_input.take_if(|(at, _)| *at == index);
                    out.push_back(Delta::ToolInput { index, partial_json });
                }
            }
            "thinking_delta" => {
                push_some(delta.thinking, out, |text| Delta::Thinking { index, text });
            }
            "signature_delta" => {
                push_some(delta.signature, out, |signature| Delta::Signature { index, signature });
            }
            other => log::unknown("delta", other),
        }
    }

    /// Each report replaces what an earlier one said of the same number.
    fn count(&mut self, report: Option<Box<WireUsage>>, out: &mut VecDeque<Delta>) {
        let Some(report) = report else { return };
        let numbers = [
            (&mut self.usage.input, report.input_tokens),
            (&mut self.usage.output, report.output_tokens),
            (&mut self.usage.cache_read, report.cache_read_input_tokens),
            (&mut self.usage.cache_write, report.cache_creation_input_tokens),
        ];
        for (held, said) in numbers {
            *held = said.unwrap_or(*held);
        }
        out.push_back(Delta::Usage(self.usage));
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &str, out: &mut VecDeque<Delta>) -> Result<bool, ModelError> {
        let mut mended = String::new();
        match self.surrogates.event::<Event<'_>>(data, &mut mended) {
            Ok((event, data)) => self.take(event, data, out),
            Err(error) => {
                log::garbage(&error, data);
                Ok(false)
            }
        }
    }

    fn begun(&self) -> bool {
        self.begun
    }
}

fn push_some(text: Option<String>, out: &mut VecDeque<Delta>, delta: impl FnOnce(String) -> Delta) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.push_back(delta(text));
    }
}

fn stop_reason(word: String) -> StopReason {
    match word.as_str() {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "pause_turn" => StopReason::PauseTurn,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other(word),
    }
}
