//! A model that counts: a token is four bytes of what is sent, and a context holds so many.
//!
//! A longer prompt is refused, in the words of a server of the protocol, or its front is silently cut off, as local servers
//! do. A refused request takes no reply of the script.

use super::{
    script::{ScriptBlock, ScriptedReply},
    speech::SentPrefix,
};
use ropewalk_model::Protocol;
use ropewalk_protocol::Usage;

/// The bytes of one token.
const BYTES: usize = 4;

/// How much a model takes, in tokens, and what becomes of more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedContext {
    /// The longest prompt.
    pub tokens: u64,
    /// Fate of a longer one.
    pub overflow: Overflow,
}

/// Ways of a server with a prompt that is longer than its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// It says so.
    Refuse,
    /// It drops the front and answers the rest, without a word.
    CutFront,
}

/// One request as the counting model saw it, in bytes of system prompt, tools and messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountedRequest {
    /// All of it.
    pub bytes: usize,
    /// Its longest start that an answered request before it had too: what a cache holds.
    pub repeated: usize,
    /// True if it was longer than the context.
    pub is_over: bool,
    /// Tokens of the reply.
    pub output: u64,
}

/// Counts requests.
#[derive(Debug)]
pub(super) struct Counter {
    context: CountedContext,
    answered: Vec<Vec<u8>>,
    requests: Vec<CountedRequest>,
}

impl Counter {
    pub(super) fn new(context: CountedContext) -> Self {
        Self { context, answered: Vec::new(), requests: Vec::new() }
    }

    pub(super) fn requests(&self) -> &[CountedRequest] {
        &self.requests
    }

    /// Counts a request. The error is the refusal's status, kind and words.
    pub(super) fn take(
        &mut self,
        protocol: Protocol,
        sent: &SentPrefix,
    ) -> Result<(), (u16, &'static str, String)> {
        let whole = [&sent.tools, &sent.system].into_iter().chain(&sent.messages);
        let bytes: Vec<u8> = whole.flat_map(|part| part.bytes()).collect();
        let common = |other: &Vec<u8>| other.iter().zip(&bytes).take_while(|(a, b)| a == b).count();
        let repeated = self.answered.iter().map(common).max().unwrap_or_default();
        let tokens = (bytes.len() / BYTES) as u64;
        let is_over = tokens > self.context.tokens;
        self.requests.push(CountedRequest { bytes: bytes.len(), repeated, is_over, output: 0 });
        if is_over && self.context.overflow == Overflow::Refuse {
            return Err(refusal(protocol, tokens, self.context.tokens));
        }
        // Earlier ones that this one repeats whole can't have more in common with a later one.
        self.answered.retain(|other| !bytes.starts_with(other));
        self.answered.push(bytes);
        Ok(())
    }

    /// Sets what the reply to the request of this number used.
    pub(super) fn count(&mut self, request: usize, reply: &mut ScriptedReply) {
        let blocks = reply.blocks.iter().map(|block| match block {
            ScriptBlock::Text(text) => text.len(),
            ScriptBlock::Thinking { thinking, .. } => thinking.len(),
            ScriptBlock::Call { name, json, .. } => name.len().saturating_add(json.len()),
        });
        let output = (blocks.sum::<usize>() / BYTES).max(1) as u64;
        let Some(counted) = self.requests.get_mut(request) else { return };
        counted.output = output;
        let most = self.context.tokens;
        let prompt = ((counted.bytes / BYTES) as u64).min(most);
        let cached = if counted.is_over { 0 } else { (counted.repeated / BYTES) as u64 };
        let input = prompt.saturating_sub(cached);
        reply.usage = Usage { input, output, cache_read: cached, ..Usage::default() };
    }
}

/// How servers of this protocol refuse a prompt of so many tokens, where so many are taken.
fn refusal(protocol: Protocol, tokens: u64, most: u64) -> (u16, &'static str, String) {
    match protocol {
        Protocol::Anthropic => {
            let words = format!("prompt is too long: {tokens} tokens > {most} maximum");
            (400, "invalid_request_error", words)
        }
        Protocol::Chat => {
            let words = format!(
                "This model's maximum context length is {most} tokens. However, your messages resulted in {tokens} \
                 tokens. Please reduce the length of the messages."
            );
            (400, "invalid_request_error", words)
        }
        Protocol::Responses => {
            let words = "Your input exceeds the context window of this model. Please adjust your input and try \
                         again.";
            (400, "invalid_request_error", words.to_owned())
        }
    }
}
