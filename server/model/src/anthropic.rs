//! Anthropic's Messages protocol, as its own servers and others (llama.cpp's) speak it.
//!
//! A request is model, bounds, system, tools, messages, always in this order, and the same
//! bytes from step to step but for the cache markers, which are spliced in when sending. Only
//! streaming is spoken.

mod decode;
mod encode;

use crate::{
    ApiKey, Message, ModelRequest, Piece, Prelude, ServerConfig, ToolDeclaration, reader::Decode,
    thinking::never_reasons, wire::Wire,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use ropewalk_protocol::Thinking;

const VERSION: &str = "2023-06-01";

/// The protocol, for one model.
pub(crate) struct Anthropic {
    model: String,
    base_url: String,
    thinking: Option<Thinking>,
}

impl Anthropic {
    pub(crate) fn new(config: &ServerConfig) -> Anthropic {
        Anthropic {
            model: config.model.clone(),
            base_url: config.base_url.clone(),
            thinking: config
                .wanted_thinking()
                .filter(|_| !never_reasons(&config.base_url, &config.model)),
        }
    }
}

impl Wire for Anthropic {
    fn path(&self) -> &'static str {
        "/messages"
    }

    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)> {
        Some((HeaderName::from_static("x-api-key"), key.header("")?))
    }

    fn headers(&self) -> HeaderMap {
        let version = HeaderName::from_static("anthropic-version");
        HeaderMap::from_iter([(version, HeaderValue::from_static(VERSION))])
    }

    fn encode(&self, message: &Message) -> Piece {
        encode::message(message, self.model.starts_with("claude-"))
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        encode::prelude(system, tools)
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        encode::request((&self.base_url, &self.model), self.thinking, request)
    }

    fn asks_to_think(&self) -> bool {
        self.thinking.is_some()
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(decode::AnthropicDecoder::new(&self.model))
    }
}
