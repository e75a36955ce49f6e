//! Reading the event stream of a reply, tolerantly.
//!
//! Items may come interleaved, and are told apart by their place or, where a server sends none, by
//! their id. Unknown events and items are passed over, and so is an event that is no JSON at all:
//! it is logged, and if it mattered the reply lacks its end or disagrees with it.

mod items;
mod wire;

use super::encode::PHASE_SEAL;
use crate::{
    Delta, ModelError, ModelStop, blocks::Blocks, call_ids::UniqueCallIds, log, reader::Decode,
    refusal,
};
use items::{ItemKind, OpenItem, ReplyItems};
use ropewalk_protocol::Usage;
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use std::collections::VecDeque;
use wire::{InputDetails, ItemPart, Response, ResponsesEvent, ResponsesUsage, WireItem};

/// Decodes one reply.
pub(super) struct ResponsesDecoder {
    model: String,
    items: ReplyItems,
    blocks: Blocks,
    calls: UniqueCallIds,
    begun: bool,
    refused: bool,
}

impl ResponsesDecoder {
    pub(super) fn new(model: &str) -> ResponsesDecoder {
        ResponsesDecoder {
            model: model.to_owned(),
            items: ReplyItems::default(),
            blocks: Blocks::default(),
            calls: UniqueCallIds::default(),
            begun: false,
            refused: false,
        }
    }

    fn take(
        &mut self,
        event: ResponsesEvent<'_>,
        data: &str,
        out: &mut VecDeque<Delta>,
    ) -> Result<bool, ModelError> {
        match &*event.kind {
            "response.output_text.delta" => self.more(ItemKind::Text, event, out)?,
            "response.function_call_arguments.delta" => self.more(ItemKind::Call, event, out)?,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.more(ItemKind::Reasoning, event, out)?;
            }
            "response.refusal.delta" => {
                self.refused = true;
                self.more(ItemKind::Text, event, out)?;
            }
            "response.output_item.added" => {
                if let Some(item) = event.item.and_then(parse::<WireItem<'_>>)
                    && self.items.known(event.output_index, &item).is_none()
                {
                    self.open(event.output_index, &item, out)?;
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item.and_then(parse::<WireItem<'_>>) {
                    self.done(event.output_index, item, out)?;
                }
            }
            "response.created" => {
                if let Some(response) = event.response.and_then(parse::<Response<'_>>) {
                    self.calls.of_reply(&response.id.unwrap_or_default());
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.done"
            | "response.cancelled" => {
                let response = event.response.and_then(parse::<Response<'_>>);
                return self.end(response, &event.kind, out);
            }
            "response.failed" => {
                let response = event.response.and_then(parse::<Response<'_>>);
                count(response.and_then(|response| response.usage).as_ref(), out);
                let complaint = event.response.map(RawValue::get).unwrap_or_default();
                return Err(refusal::in_stream(complaint, &self.model));
            }
            "error" => return Err(refusal::in_stream(data, &self.model)),
            // Their words have come as deltas, or come with the whole item.
            kind if kind.starts_with("response.") => {}
            other => log::unknown("event", other),
        }
        Ok(false)
    }

    /// A delta for an item, which it begins if the start was lost.
    fn more(
        &mut self,
        kind: ItemKind,
        event: ResponsesEvent<'_>,
        out: &mut VecDeque<Delta>,
    ) -> Result<(), ModelError> {
        let id = event.item_id.as_deref().unwrap_or_default();
        let says = |raw: &&RawValue| raw.get().starts_with('"') && raw.get() != "\"\"";
        let Some(delta) = event.delta.filter(says) else { return Ok(()) };
        let at = match self.items.find(event.output_index, id, kind) {
            Some(at) => at,
            // A call without a name cannot begin; it comes whole at its end.
            None if kind == ItemKind::Call => return Ok(()),
            None => self.push(event.output_index, (id, ""), kind)?,
        };
        let part = event.summary_index.or(event.content_index).unwrap_or(0);
        self.begun = true;
        let text = self.items.get_mut(at).and_then(|item| item.hear(part, delta.get()));
        match text.filter(|text| !text.is_empty()) {
            Some(text) => self.grow(at, kind, part, text, out),
            None => Ok(()),
        }
    }

    fn grow(
        &mut self,
        at: usize,
        kind: ItemKind,
        part: u32,
        text: String,
        out: &mut VecDeque<Delta>,
    ) -> Result<(), ModelError> {
        let item = self.items.get_mut(at).filter(|item| item.kind == kind);
        let Some(item) = item else { return Ok(()) };
        let next = item.part != part && !item.said.is_empty();
        item.part = part;
        match item.kind {
            ItemKind::Text => {
                if next {
                    out.push_back(Delta::BlockEnd { index: item.block });
                    item.block = self.blocks.begin()?;
                }
                out.push_back(Delta::Text { index: item.block, text });
            }
            ItemKind::Reasoning => {
                let text = if next { format!("\n\n{text}") } else { text };
                out.push_back(Delta::Thinking { index: item.block, text });
            }
            ItemKind::Call => {
                item.said.push_str(&text);
                out.push_back(Delta::ToolInput { index: item.block, partial_json: text });
                return Ok(());
            }
            ItemKind::Other => return Ok(()),
        }
        if item.said.is_empty() {
            item.said.push('.');
        }
        Ok(())
    }

    fn push(
        &mut self,
        place: Option<u32>,
        ids: (&str, &str),
        kind: ItemKind,
    ) -> Result<usize, ModelError> {
        let block = self.blocks.begin()?;
        Ok(self.items.push(place, ids, kind, block))
    }

    fn open(
        &mut self,
        place: Option<u32>,
        item: &WireItem<'_>,
        out: &mut VecDeque<Delta>,
    ) -> Result<usize, ModelError> {
        let kind = ItemKind::of(item);
        if kind == ItemKind::Other {
            log::unknown("item", &item.kind);
        }
        let at = self.push(place, (item.id(), item.call_id()), kind)?;
        if kind == ItemKind::Call {
            self.begun = true;
            let said = item.call_id.clone().or_else(|| item.id.clone()).unwrap_or_default();
            let index = self.items.get_mut(at).map_or(0, |item| item.block);
            let (id, name) =
                (self.calls.unique(said, index), item.name.clone().unwrap_or_default());
            out.push_back(Delta::ToolUse { index, id, name });
        }
        Ok(at)
    }

    /// An item is whole: what has not come of it in parts comes now.
    fn done(
        &mut self,
        place: Option<u32>,
        item: WireItem<'_>,
        out: &mut VecDeque<Delta>,
    ) -> Result<(), ModelError> {
        let known = self.items.known(place, &item);
        if known.is_some_and(|at| !self.items.is_open(at)) {
            return Ok(());
        }
        let found = known.or_else(|| self.items.find(place, item.id(), ItemKind::of(&item)));
        let at = match found.filter(|at| self.items.is_open(*at)) {
            Some(at) => at,
            None => self.open(place, &item, out)?,
        };
        let Some(open) = self.items.get_mut(at) else { return Ok(()) };
        open.name(&item);
        let (block, is_silent) = (open.block, open.said.is_empty());
        match open.kind {
            ItemKind::Call => {
                let whole = item.arguments();
                match whole.strip_prefix(open.said.as_str()) {
                    Some("") => {}
                    Some(rest) => {
                        let partial_json = rest.to_owned();
                        out.push_back(Delta::ToolInput { index: block, partial_json });
                    }
                    // Some servers send no arguments with the end.
                    None if whole.is_empty() => {}
                    None => {
                        let why = "a part of a tool call's arguments was lost".to_owned();
                        return Err(ModelError::Cut { why });
                    }
                }
            }
            kind @ (ItemKind::Text | ItemKind::Reasoning) if is_silent => {
                let parts =
                    WireItem::parts(item.summary).into_iter().chain(WireItem::parts(item.content));
                for (part, ItemPart { kind: word, text, refusal }) in (0..).zip(parts) {
                    self.refused |= word == "refusal";
                    let text = text.or(refusal).filter(|text| !text.is_empty());
                    if let Some(text) = text {
                        self.grow(at, kind, part, text, out)?;
                    }
                }
            }
            _ => {}
        }
        self.begun = true;
        if item.kind == "reasoning"
            && let Some(signature) = seal(&item)
        {
            out.push_back(Delta::Signature { index: block, signature });
        }
        let is_text = self.items.get_mut(at).is_some_and(|item| item.kind == ItemKind::Text);
        self.close(at, out);
        // Models answer worse whose words come back without it.
        let phase = item.phase.filter(|phase| is_text && phase.bytes().all(is_of_word));
        if let Some(phase) = phase.filter(|phase| !phase.is_empty()) {
            let index = self.blocks.begin()?;
            out.push_back(Delta::Signature {
                index,
                signature: format!("{PHASE_SEAL}{phase}\"}}"),
            });
            out.push_back(Delta::BlockEnd { index });
        }
        Ok(())
    }

    fn close(&mut self, at: usize, out: &mut VecDeque<Delta>) {
        let Some(item) = self.items.get_mut(at) else { return };
        if !std::mem::replace(&mut item.is_done, true) && item.kind != ItemKind::Other {
            out.push_back(Delta::BlockEnd { index: item.block });
        }
    }

    /// The reply is complete, or as complete as it gets.
    fn end(
        &mut self,
        response: Option<Response<'_>>,
        kind: &str,
        out: &mut VecDeque<Delta>,
    ) -> Result<bool, ModelError> {
        let reason = response.as_ref().and_then(|response| response.incomplete_details.as_ref());
        let reason = reason.and_then(|details| details.reason.clone());
        // The event's own word counts where the response has none.
        let status = response.as_ref().and_then(|response| response.status.clone());
        let status = status.or_else(|| kind.strip_prefix("response.").map(str::to_owned));
        if let Some(response) = response {
            // A server that streams no items sends them here.
            if self.items.is_empty() {
                let output = response.output.unwrap_or_default();
                for item in output.into_iter().filter_map(parse::<WireItem<'_>>) {
                    self.done(None, item, out)?;
                }
            }
            count(response.usage.as_ref(), out);
        }
        for at in 0..self.items.len() {
            self.close(at, out);
        }
        let by_content = if !self.calls.is_empty() {
            ModelStop::ToolUse
        } else if self.refused {
            ModelStop::Refusal
        } else {
            ModelStop::EndTurn
        };
        out.push_back(Delta::Stop(match reason.as_deref() {
            Some("max_output_tokens") => ModelStop::MaxTokens,
            Some("content_filter") => ModelStop::Refusal,
            Some(word) => ModelStop::named(word),
            None => match status.as_deref() {
                Some(word @ ("incomplete" | "cancelled")) => ModelStop::Other(word.to_owned()),
                _ => by_content,
            },
        }));
        Ok(true)
    }
}

impl Decode for ResponsesDecoder {
    fn event(&mut self, data: &str, out: &mut VecDeque<Delta>) -> Result<bool, ModelError> {
        match serde_json::from_str::<ResponsesEvent<'_>>(data) {
            Ok(event) => self.take(event, data, out),
            Err(error) => {
                log::garbage(&error, data);
                Ok(false)
            }
        }
    }

    /// Not while the model reasons without a word, which may take as long as a first answer.
    fn begun(&self) -> bool {
        let is_silent = |item: &OpenItem| {
            item.kind == ItemKind::Reasoning && !item.is_done && item.said.is_empty()
        };
        self.begun && !self.items.last().is_some_and(is_silent)
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'_'
}

fn parse<'a, T: serde::Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).inspect_err(|error| log::garbage(error, raw.get())).ok()
}

/// Reasoning that the server wants back: the item as it came, without its state. None when
/// the server gave nothing but words for the user.
fn seal(item: &WireItem<'_>) -> Option<String> {
    #[derive(Serialize)]
    struct Seal<'a> {
        // First: the encoder knows a seal by it.
        r#type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        summary: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<&'a str>,
    }
    let content = item.content.filter(|content| !matches!(content.get(), "null" | "[]"));
    let encrypted_content = item.encrypted_content.as_deref().filter(|text| !text.is_empty());
    if content.is_none() && encrypted_content.is_none() {
        return None;
    }
    let summary = item.summary.and_then(parse::<Value>).filter(Value::is_array);
    let seal = Seal {
        r#type: "reasoning",
        id: item.id.as_deref(),
        summary: summary.unwrap_or_else(|| Value::Array(Vec::new())),
        content,
        encrypted_content,
    };
    serde_json::to_string(&seal).ok()
}

fn count(report: Option<&ResponsesUsage>, out: &mut VecDeque<Delta>) {
    let Some(report) = report else { return };
    if report.input_tokens.is_none() && report.output_tokens.is_none() {
        return;
    }
    let said = |tokens: fn(&InputDetails) -> Option<u64>| {
        report.input_tokens_details.as_ref().and_then(tokens).unwrap_or(0)
    };
    let cache_read = said(|details| details.cached_tokens);
    let cache_write = said(|details| details.cache_write_tokens);
    let input = report.input_tokens.unwrap_or(0);
    out.push_back(Delta::Usage(Usage {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        output: report.output_tokens.unwrap_or(0),
        cache_read,
        cache_write,
    }));
}
