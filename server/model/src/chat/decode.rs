//! Reading the event stream of a reply, as any of the servers writes it.
//!
//! Unknown members and events that are no JSON are passed over; words of another type than they should have
//! count as absent. But an event with choices that can't be read leaves a hole in the reply, which is cut then.
//! Which server writes what is not asked. What ends a reply is `[DONE]`, or the end of the bytes after a finish
//! reason.

mod wire;

use super::{
    calls::{CallDelta, Calls},
    sealed::Sealed,
};
use crate::{
    Delta, ModelError, ModelStop,
    blocks::Blocks,
    lenient::{number_in, string},
    log,
    reader::{Decode, hole},
    refusal::in_stream,
    surrogates::Surrogates,
};
use ropewalk_protocol::Usage;
use serde_json::{Value, value::RawValue};
use std::collections::VecDeque;
use wire::{ChatDelta, ChatUsage, Choices, Chunk, Details, Function};

/// Words of servers for the end. An empty word is none.
const FINISHES: &[(&str, ModelStop)] = &[
    ("stop", ModelStop::EndTurn),
    ("eos", ModelStop::EndTurn),
    ("tool_calls", ModelStop::ToolUse),
    ("function_call", ModelStop::ToolUse),
    ("length", ModelStop::MaxTokens),
    ("content_filter", ModelStop::Refusal),
];

/// Decodes one reply.
pub(super) struct ChatDecoder {
    model: String,
    /// The block that grows, and whether it is thinking.
    open: Option<(u32, bool)>,
    blocks: Blocks,
    calls: Calls,
    sealed: Sealed,
    /// True if a call came in the newer of the protocol's two ways; some servers write both.
    has_tool_calls: bool,
    /// Of the words, and of the thoughts.
    surrogates: [Surrogates; 2],
    usage: Usage,
    finish: Option<ModelStop>,
    refused: bool,
    begun: bool,
}

impl ChatDecoder {
    pub(super) fn new(model: &str) -> ChatDecoder {
        ChatDecoder {
            model: model.to_owned(),
            open: None,
            blocks: Blocks::default(),
            calls: Calls::default(),
            sealed: Sealed::default(),
            has_tool_calls: false,
            surrogates: Default::default(),
            usage: Usage::default(),
            finish: None,
            refused: false,
            begun: false,
        }
    }

    fn take(
        &mut self,
        chunk: Chunk<'_>,
        data: &str,
        out: &mut VecDeque<Delta>,
    ) -> Result<(), ModelError> {
        if chunk.error.is_some() {
            return Err(in_stream(data, &self.model));
        }
        let choice = match chunk.choices {
            Choices::First(choice) => choice,
            Choices::Absent if is_complaint(data) => return Err(in_stream(data, &self.model)),
            Choices::Absent => None,
        };
        let mut usage = chunk.usage.or(chunk.x_groq.and_then(|groq| groq.usage));
        if let Some(choice) = choice {
            usage = usage.or(choice.usage);
            if let Some(change) = choice.delta {
                self.change(change, out)?;
            }
            // A server that does not stream sends the whole; one that does may send it once more.
            if let Some(message) = choice.message.filter(|_| !self.begun) {
                self.change(message, out)?;
            }
            if let Some(word) = choice.finish_reason.and_then(string) {
                self.finish(word)?;
            }
        }
        if let Some(usage) = usage {
            self.count(usage, out);
        }
        Ok(())
    }

    fn change(
        &mut self,
        change: ChatDelta<'_>,
        out: &mut VecDeque<Delta>,
    ) -> Result<(), ModelError> {
        for thoughts in [change.reasoning_content, change.reasoning] {
            let Some(raw) = thoughts else { continue };
            if let Some(text) = self.words(raw, true, out)? {
                self.say(true, text, out)?;
                // Some write the same thoughts under both names.
                break;
            }
        }
        if let Some(details) = change.reasoning_details {
            self.sealed.add_details(details);
        }
        if let Some(raw) = change.content
            && let Some(text) = self.words(raw, false, out)?
        {
            self.say(false, text, out)?;
        }
        if let Some(raw) = change.refusal
            && let Some(text) = self.words(raw, false, out)?
        {
            self.refused = true;
            self.say(false, text, out)?;
        }
        // Names of calls in this very event: the same once more is another call.
        let mut named: Vec<(Option<u32>, String)> = Vec::new();
        for call in change.tool_calls.into_iter().flatten() {
            self.has_tool_calls = true;
            let index = call.index.and_then(number_in).and_then(|index| u32::try_from(index).ok());
            let mut id = call.id.and_then(string).unwrap_or_default();
            let Some(function) = call.function else {
                // Gemini may give the signature of a call in an event of its own.
                if let (Some(extra), Some(number)) =
                    (call.extra_content, self.calls.number_of(index, &id))
                {
                    self.sealed.add_call(number, extra);
                }
                continue;
            };
            if function.has_name() {
                let name = (index, id.clone());
                match !id.is_empty() && named.contains(&name) {
                    true => id.clear(),
                    false => named.push(name),
                }
            }
            let number = self.call(index, id, function, out)?;
            if let Some(extra) = call.extra_content {
                self.sealed.add_call(number, extra);
            }
        }
        // It says other things of words.
        let extra = change.extra_content.filter(|extra| extra.get().contains("thought_signature"));
        if let (Some(extra), Some(number)) = (extra, self.calls.number_of(None, ""))
            && !self.sealed.has_call(number)
        {
            self.sealed.add_call(number, extra);
        }
        if let Some(function) = change.function_call.filter(|_| !self.has_tool_calls) {
            self.call(None, String::new(), function, out)?;
        }
        Ok(())
    }

    /// The text of a member, if it says any; parts of a list that are thoughts are said at once.
    fn words(
        &mut self,
        raw: &RawValue,
        thinking: bool,
        out: &mut VecDeque<Delta>,
    ) -> Result<Option<String>, ModelError> {
        let json = raw.get();
        let text = match json.as_bytes().first() {
            Some(b'"') => {
                let [words, thoughts] = &mut self.surrogates;
                let surrogates = if thinking { thoughts } else { words };
                surrogates.read(json).unwrap_or_default()
            }
            Some(b'[') => {
                let parts: Vec<Value> = serde_json::from_str(json).unwrap_or_default();
                let mut text = String::new();
                for part in &parts {
                    let thoughts = part.get("thinking").map(text_in).unwrap_or_default();
                    if !thoughts.is_empty() {
                        self.say(true, thoughts, out)?;
                    }
                    text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
                }
                text
            }
            _ => String::new(),
        };
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn say(
        &mut self,
        thinking: bool,
        text: String,
        out: &mut VecDeque<Delta>,
    ) -> Result<(), ModelError> {
        self.begun = true;
        let index = match self.open {
            Some((index, open)) if open == thinking => index,
            _ => {
                self.close(out);
                let index = self.blocks.begin()?;
                self.open = Some((index, thinking));
                index
            }
        };
        out.push_back(match thinking {
            true => Delta::Thinking { index, text },
            false => Delta::Text { index, text },
        });
        Ok(())
    }

    /// The block that grows is over; a half of a pair at its end is lost.
    fn close(&mut self, out: &mut VecDeque<Delta>) {
        if let Some((index, thinking)) = self.open.take() {
            let [words, thoughts] = &mut self.surrogates;
            *(if thinking { thoughts } else { words }) = Surrogates::default();
            out.push_back(Delta::BlockEnd { index });
        }
    }

    fn call(
        &mut self,
        index: Option<u32>,
        id: String,
        function: Function<'_>,
        out: &mut VecDeque<Delta>,
    ) -> Result<usize, ModelError> {
        self.begun = true;
        self.close(out);
        let name = function.name.and_then(string).unwrap_or_default();
        let arguments = function.arguments.map(RawValue::get).unwrap_or_default();
        self.calls.take(CallDelta { index, id, name, arguments }, &mut self.blocks, out)
    }

    fn finish(&mut self, word: String) -> Result<(), ModelError> {
        match word.as_str() {
            "" => {}
            // The server ran out of something, as DeepSeek says it.
            "insufficient_system_resource" => {
                return Err(ModelError::Overloaded { message: word, retry_after: None });
            }
            "error" => {
                let message = "it stopped with an error it does not name".to_owned();
                return Err(ModelError::Server { message, retry_after: None });
            }
            word => {
                let known = FINISHES.iter().find(|(known, _)| *known == word);
                self.finish = Some(
                    known.map_or_else(|| ModelStop::named(word), |(_, reason)| reason.clone()),
                );
            }
        }
        Ok(())
    }

    /// Each report replaces the one before.
    fn count(&mut self, usage: &RawValue, out: &mut VecDeque<Delta>) {
        let Ok(usage) = serde_json::from_str::<ChatUsage>(usage.get()) else { return };
        if usage.prompt_tokens.is_none() && usage.completion_tokens.is_none() {
            return;
        }
        let details = usage.prompt_tokens_details;
        let said = |part: fn(&Details) -> Option<u64>| details.as_ref().and_then(part);
        let cache_read =
            said(|d| d.cached_tokens).or(usage.prompt_cache_hit_tokens).unwrap_or_default();
        let cache_write = said(|d| d.cache_write_tokens).unwrap_or_default();
        let prompt = usage.prompt_tokens.unwrap_or_default();
        self.usage = Usage {
            input: prompt.saturating_sub(cache_read).saturating_sub(cache_write),
            output: usage.completion_tokens.unwrap_or_default(),
            cache_read,
            cache_write,
        };
        out.push_back(Delta::Usage(self.usage));
    }

    fn stop(&mut self, out: &mut VecDeque<Delta>) {
        self.close(out);
        self.calls.end(out);
        let by_content =
            if self.calls.is_empty() { ModelStop::EndTurn } else { ModelStop::ToolUse };
        let reason = self.finish.take().unwrap_or(by_content);
        let reason = if self.refused { ModelStop::Refusal } else { reason };
        let sealed = std::mem::take(&mut self.sealed);
        // A reasoning that was cut off is not as it was meant.
        if !matches!(reason, ModelStop::MaxTokens | ModelStop::Refusal)
            && let Some(data) = sealed.data()
            && let Ok(index) = self.blocks.begin()
        {
            out.push_back(Delta::RedactedThinking { index, data });
            out.push_back(Delta::BlockEnd { index });
        }
        out.push_back(Delta::Stop(reason));
    }
}

impl Decode for ChatDecoder {
    fn event(&mut self, data: &str, out: &mut VecDeque<Delta>) -> Result<bool, ModelError> {
        if data.trim() == "[DONE]" {
            // Some servers give no reason, but all end what they have begun.
            let missing = match self.begun {
                false => Some("before it began"),
                true => self.calls.are_half().then_some("in the midst of a call"),
            };
            if let Some(missing) = missing.filter(|_| self.finish.is_none()) {
                let why = format!("the server ended the reply {missing}");
                return Err(ModelError::Cut { why });
            }
            self.stop(out);
            return Ok(true);
        }
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) => self.take(chunk, data, out)?,
            Err(error) => {
                log::garbage(&error, data);
                // Data that can't be read may have been words, or a part of a call.
                if data.contains("\"choices\"") {
                    return Err(hole());
                }
            }
        }
        Ok(false)
    }

    fn begun(&self) -> bool {
        self.begun
    }

    fn whole(&self) -> bool {
        self.finish.is_some()
    }

    fn end(&mut self, out: &mut VecDeque<Delta>) -> bool {
        let whole = self.whole();
        if whole {
            self.stop(out);
        }
        whole
    }
}

/// True if an event without choices is an error that is not called one.
fn is_complaint(data: &str) -> bool {
    let value: Value = serde_json::from_str(data).unwrap_or_default();
    let is_error = value.get("object").and_then(Value::as_str) == Some("error");
    is_error || value.get("message").is_some_and(Value::is_string) || value.get("detail").is_some()
}

/// All the text in a value: its own, or that of its parts.
fn text_in(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}
