//! Reading the event stream of a reply, tolerantly.
//!
//! Unknown events, blocks and members are passed over, members of another type than they should have count as
//! absent, and an event that is no JSON at all is logged. But one of a block, or of the reason of the end, that can't
//! be read leaves a hole in the reply, which is cut then. Nothing is checked against a schema.

use crate::{
    Delta, ModelError, ModelStop,
    blocks::Blocks,
    call_ids::UniqueCallIds,
    lenient::{Raw, maybe, place, string, tokens},
    log,
    reader::{Decode, hole},
    refusal::in_stream,
    surrogates::Surrogates,
};
use ropewalk_protocol::Usage;
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

/// Words of the events that bring what a reply is made of.
const BRINGING: [&str; 2] = ["\"content_block_", "\"message_delta\""];

#[derive(Deserialize)]
struct AnthropicEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, deserialize_with = "index")]
    index: u32,
    // Large parts lie elsewhere: reading moves an event more than once.
    #[serde(borrow)]
    delta: Option<Box<EventDelta<'a>>>,
    #[serde(borrow)]
    content_block: Option<Box<StartBlock<'a>>>,
    #[serde(default, deserialize_with = "maybe")]
    message: Option<Box<BlockStart>>,
    #[serde(default, deserialize_with = "maybe")]
    usage: Option<Box<AnthropicUsage>>,
}

#[derive(Deserialize)]
struct EventDelta<'a> {
    // The delta of `message_delta` has no type.
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
    #[serde(borrow)]
    signature: Raw<'a>,
    #[serde(borrow)]
    partial_json: Raw<'a>,
    #[serde(borrow)]
    stop_reason: Raw<'a>,
}

#[derive(Deserialize)]
struct StartBlock<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    thinking: Raw<'a>,
    #[serde(borrow)]
    signature: Raw<'a>,
    #[serde(borrow)]
    data: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    input: Raw<'a>,
}

#[derive(Deserialize)]
struct BlockStart {
    #[serde(default, deserialize_with = "maybe")]
    id: Option<String>,
    #[serde(default, deserialize_with = "maybe")]
    usage: Option<Box<AnthropicUsage>>,
}

#[derive(Deserialize)]
struct AnthropicUsage {
    #[serde(default, deserialize_with = "tokens")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "tokens")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "tokens")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "tokens")]
    cache_creation_input_tokens: Option<u64>,
}

/// Decodes one reply.
pub(super) struct AnthropicDecoder {
    model: String,
    usage: Usage,
    stop_reason: Option<ModelStop>,
    calls: UniqueCallIds,
    blocks: Blocks,
    /// Blocks that have begun, by place and start: the same start again begins nothing.
    started: BTreeSet<(u32, String)>,
    /// The latest block of each index.
    places: BTreeMap<u32, OpenBlock>,
    begun: bool,
}

/// A block that has begun.
struct OpenBlock {
    kind: BlockKind,
    /// True if it has ended, and has not gone on since.
    has_ended: bool,
    /// Arguments that came whole with the start of a call; they count if no others follow.
    whole_input: Option<String>,
    surrogates: Surrogates,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Text,
    Thinking,
    Redacted,
    Call,
    /// Known to be there, and left out.
    Other,
}

impl OpenBlock {
    fn new(kind: BlockKind) -> OpenBlock {
        OpenBlock { kind, has_ended: false, whole_input: None, surrogates: Surrogates::default() }
    }

    /// No more arguments come.
    fn settle(&mut self, index: u32, out: &mut VecDeque<Delta>) {
        if let Some(partial_json) = self.whole_input.take() {
            out.push_back(Delta::ToolInput { index, partial_json });
        }
    }

    /// Says the words of a member, if it has any.
    fn say(
        &mut self,
        words: Raw<'_>,
        out: &mut VecDeque<Delta>,
        say: impl FnOnce(String) -> Delta,
    ) {
        let text = words.and_then(|words| self.surrogates.read(words.get()));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            out.push_back(say(text));
        }
    }
}

impl AnthropicDecoder {
    pub(super) fn new(model: &str) -> AnthropicDecoder {
        AnthropicDecoder {
            model: model.to_owned(),
            usage: Usage::default(),
            stop_reason: None,
            calls: UniqueCallIds::default(),
            blocks: Blocks::default(),
            started: BTreeSet::new(),
            places: BTreeMap::new(),
            begun: false,
        }
    }

    fn take(
        &mut self,
        event: AnthropicEvent<'_>,
        data: &str,
        out: &mut VecDeque<Delta>,
    ) -> Result<bool, ModelError> {
        let index = event.index;
        match &*event.kind {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.begun = true;
                    self.more(index, &delta, out)?;
                }
            }
            "content_block_start" => {
                self.begun = true;
                let number = self.blocks.begin()?;
                if let Some(block) = event.content_block {
                    self.start(index, number, &block, out);
                }
            }
            "content_block_stop" => {
                if let Some(place) = self.places.get_mut(&index) {
                    place.settle(index, out);
                    if !std::mem::replace(&mut place.has_ended, true) {
                        out.push_back(Delta::BlockEnd { index });
                    }
                }
            }
            "message_start" => {
                if let Some(start) = event.message {
                    self.calls.of_reply(&start.id.unwrap_or_default());
                    self.count(start.usage, out);
                }
            }
            "message_delta" => {
                let word = event.delta.and_then(|delta| delta.stop_reason.and_then(string));
                if let Some(word) = word {
                    self.stop_reason = Some(stop_reason(word));
                }
                self.count(event.usage, out);
            }
            "message_stop" => {
                // Some servers end no blocks.
                for (index, place) in &mut self.places {
                    place.settle(*index, out);
                }
                let by_content =
                    if self.calls.is_empty() { ModelStop::EndTurn } else { ModelStop::ToolUse };
                out.push_back(Delta::Stop(self.stop_reason.take().unwrap_or(by_content)));
                return Ok(true);
            }
            "error" => return Err(in_stream(data, &self.model)),
            "ping" => {}
            other => log::unknown("event", other),
        }
        Ok(false)
    }

    /// True if this very block has begun already: a server may tell it twice, and a call runs once at most. A
    /// start that brings nothing is not worth the question.
    fn has_started(&mut self, index: u32, block: &StartBlock<'_>) -> bool {
        let brings = [block.id, block.data, block.text, block.thinking];
        let brings = brings.into_iter().flatten().map(RawValue::get).find(|json| *json != "\"\"");
        brings.is_some_and(|json| !self.started.insert((index, json.to_owned())))
    }

    /// A block begins at an index; the one that was there gets no more.
    fn begin(&mut self, index: u32, kind: BlockKind, out: &mut VecDeque<Delta>) -> &mut OpenBlock {
        let place = self.places.entry(index).or_insert_with(|| OpenBlock::new(kind));
        place.settle(index, out);
        *place = OpenBlock::new(kind);
        place
    }

    fn start(
        &mut self,
        index: u32,
        number: u32,
        block: &StartBlock<'_>,
        out: &mut VecDeque<Delta>,
    ) {
        if self.has_started(index, block) {
            return;
        }
        match &*block.kind {
            "text" => {
                let place = self.begin(index, BlockKind::Text, out);
                place.say(block.text, out, |text| Delta::Text { index, text });
            }
            "thinking" => {
                let place = self.begin(index, BlockKind::Thinking, out);
                place.say(block.thinking, out, |text| Delta::Thinking { index, text });
                place.say(block.signature, out, |signature| Delta::Signature { index, signature });
            }
            "redacted_thinking" => {
                let place = self.begin(index, BlockKind::Redacted, out);
                place.say(block.data, out, |data| Delta::RedactedThinking { index, data });
            }
            "tool_use" => {
                let id = self.calls.unique(block.id.and_then(string).unwrap_or_default(), number);
                let name = block.name.and_then(string).unwrap_or_default();
                let place = self.begin(index, BlockKind::Call, out);
                let input = block.input.map(RawValue::get).unwrap_or_default();
                let placeholder = matches!(input, "" | "{}" | "null" | "\"\"");
                place.whole_input = (!placeholder).then(|| input.to_owned());
                out.push_back(Delta::ToolUse { index, id, name });
            }
            other => {
                log::unknown("block", other);
                self.begin(index, BlockKind::Other, out);
            }
        }
    }

    /// A delta for a block, which it begins if the start was lost.
    fn more(
        &mut self,
        index: u32,
        delta: &EventDelta<'_>,
        out: &mut VecDeque<Delta>,
    ) -> Result<(), ModelError> {
        let (kind, words, say): (BlockKind, Raw<'_>, fn(u32, String) -> Delta) = match &*delta.kind
        {
            "text_delta" => {
                (BlockKind::Text, delta.text, |index, text| Delta::Text { index, text })
            }
            "input_json_delta" => (BlockKind::Call, delta.partial_json, |index, partial_json| {
                Delta::ToolInput { index, partial_json }
            }),
            "thinking_delta" => {
                (BlockKind::Thinking, delta.thinking, |index, text| Delta::Thinking { index, text })
            }
            "signature_delta" => (BlockKind::Thinking, delta.signature, |index, signature| {
                Delta::Signature { index, signature }
            }),
            other => {
                log::unknown("delta", other);
                return Ok(());
            }
        };
        if words.is_none_or(|words| matches!(words.get(), "\"\"")) {
            return Ok(());
        }
        let place = match self.places.get_mut(&index) {
            Some(place) if place.kind == kind => place,
            // A known block that is left out may have an input too.
            Some(place) if kind == BlockKind::Call && place.kind == BlockKind::Other => {
                return Ok(());
            }
            // A call without a start has no name, and so cannot begin: its start was lost.
            _ if kind == BlockKind::Call => return Err(hole()),
            _ => {
                self.blocks.begin()?;
                self.begin(index, kind, out)
            }
        };
        place.has_ended = false;
        place.whole_input = None;
        place.say(words, out, |text| say(index, text));
        Ok(())
    }

    /// Each report replaces what an earlier one said of the same number.
    fn count(&mut self, report: Option<Box<AnthropicUsage>>, out: &mut VecDeque<Delta>) {
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

impl Decode for AnthropicDecoder {
    fn event(&mut self, data: &str, out: &mut VecDeque<Delta>) -> Result<bool, ModelError> {
        match serde_json::from_str::<AnthropicEvent<'_>>(data) {
            Ok(event) => self.take(event, data, out),
            Err(error) => {
                log::garbage(&error, data);
                match BRINGING.iter().any(|word| data.contains(word)) {
                    true => Err(hole()),
                    false => Ok(false),
                }
            }
        }
    }

    fn begun(&self) -> bool {
        self.begun
    }
}

/// The index of a block. One that can't be read makes its event unreadable: what comes with it belongs nobody
/// knows where.
fn index<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    place(deserializer)?.ok_or_else(|| D::Error::custom("no index"))
}

fn stop_reason(word: String) -> ModelStop {
    match word.as_str() {
        "end_turn" => ModelStop::EndTurn,
        "tool_use" => ModelStop::ToolUse,
        "max_tokens" => ModelStop::MaxTokens,
        "stop_sequence" => ModelStop::StopSequence,
        "pause_turn" => ModelStop::PauseTurn,
        "refusal" => ModelStop::Refusal,
        word => ModelStop::named(word),
    }
}
