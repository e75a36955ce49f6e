//! The wire protocols by name, and what a protocol is to the rest of this room.
//!
//! A protocol turns messages into JSON and events into deltas. It sends nothing, waits for nothing and
//! knows no key but how it is presented: all that is in [`crate::server`] and the exchange.

use crate::{
    ApiKey, Message, Piece, Prelude, Request, ServerConfig, ToolSpec, anthropic::Anthropic,
    chat::Chat, reader::Decode, responses::Responses,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;

/// The protocols that are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions, and what others make of it.
    Chat,
    /// OpenAI's Responses.
    Responses,
}

impl Protocol {
    /// All of them.
    pub const ALL: &[Protocol] = &[Protocol::Anthropic, Protocol::Chat, Protocol::Responses];

    /// The word for it in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Anthropic => "anthropic",
            Protocol::Chat => "chat",
            Protocol::Responses => "responses",
        }
    }

    /// The protocol of that name; names are lower case.
    pub fn from_name(name: &str) -> Option<Protocol> {
        Protocol::ALL.iter().copied().find(|protocol| protocol.name() == name)
    }

    /// Provider, base URL and key variable of the server that the protocol was made for.
    pub(crate) fn home(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Protocol::Anthropic => ("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
            Protocol::Chat => ("openai", "https://api.openai.com", "OPENAI_API_KEY"),
            Protocol::Responses => ("openai", "https://api.openai.com", "OPENAI_API_KEY"),
        }
    }

    /// The protocol as `config` wants it spoken.
    pub(crate) fn wire(self, config: &ServerConfig) -> Arc<dyn Wire> {
        match self {
            Protocol::Anthropic => Arc::new(Anthropic::new(config)),
            Protocol::Chat => Arc::new(Chat::new(config)),
            Protocol::Responses => Arc::new(Responses::new(config)),
        }
    }
}

/// One protocol, set up for one model. Pure: the same arguments give the same bytes.
pub(crate) trait Wire: Send + Sync {
    /// Where requests are posted, behind the version in the base URL (`/messages`).
    fn path(&self) -> &'static str;

    /// How the key is presented; none when no header can carry it.
    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)>;

    /// Headers of every request besides content type, accept and key.
    fn headers(&self) -> HeaderMap {
        HeaderMap::new()
    }

    /// As [`crate::Model::encode`].
    fn encode(&self, message: &Message) -> Piece;

    /// As [`crate::Model::encode_prelude`].
    fn encode_prelude(&self, system: &str, tools: &[ToolSpec]) -> Prelude;

    /// The whole body. `request.max_tokens` is within the model's limits already.
    fn body(&self, request: &Request) -> Vec<u8>;

    /// True if requests ask the model to think.
    fn asks_to_think(&self) -> bool;

    /// A decoder at the start of a reply.
    fn decoder(&self) -> Box<dyn Decode>;
}
