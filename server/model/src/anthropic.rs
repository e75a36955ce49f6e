//! Anthropic's Messages protocol, as its own servers and others (llama.cpp's) speak it.
//!
//! A request is model, bounds, system, tools, messages, always in this order, and the same
//! bytes from step to step but for the cache markers, which are spliced in when sending. Only
//! streaming is spoken.

mod decode;
mod encode;

use crate::{
    ApiKey, Message, ModelRequest, Piece, Prelude, ServerConfig, ToolDeclaration, markers::marker,
    reader::Decode, thinking::never_reasons, wire::Wire,
};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use ropewalk_protocol::Thinking;

const VERSION: &str = "2023-06-01";

/// Ends of the names of servers that speak the protocol and want the key as others do: Bedrock's.
const BEARER_HOSTS: &[&str] = &[".amazonaws.com", ".api.aws"];

/// The protocol, for one model.
pub(crate) struct Anthropic {
    model: String,
    base_url: String,
    thinking: Option<Thinking>,
    /// True if a request that speaks of thinking would be refused.
    never_thinks: bool,
    /// True if the key goes into the header that other protocols have for it.
    is_bearer: bool,
    /// Behind whatever the server is to keep in its cache.
    marker: &'static str,
}

impl Anthropic {
    pub(crate) fn new(config: &ServerConfig) -> Anthropic {
        Anthropic {
            model: config.model.clone(),
            base_url: config.base_url.clone(),
            thinking: config.thinking,
            never_thinks: never_reasons(&config.base_url, &config.model),
            is_bearer: is_bearer(&config.base_url),
            marker: marker(config.cache),
        }
    }
}

fn is_bearer(base_url: &str) -> bool {
    let url = Url::parse(base_url.trim()).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    BEARER_HOSTS.iter().any(|end| host.ends_with(end))
}

impl Wire for Anthropic {
    fn path(&self) -> &'static str {
        "/messages"
    }

    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)> {
        Some(match self.is_bearer {
            true => (AUTHORIZATION, key.header("Bearer ")?),
            false => (HeaderName::from_static("x-api-key"), key.header("")?),
        })
    }

    fn headers(&self) -> HeaderMap {
        let version = HeaderName::from_static("anthropic-version");
        HeaderMap::from_iter([(version, HeaderValue::from_static(VERSION))])
    }

    fn encode(&self, message: &Message) -> Piece {
        encode::message(message, self.model.starts_with("claude-"))
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        encode::prelude(self.marker, system, tools)
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        encode::request(self, request)
    }

    fn asks_to_think(&self) -> bool {
        !self.never_thinks && self.thinking.is_some_and(|level| level != Thinking::Off)
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(decode::AnthropicDecoder::new(&self.model))
    }
}
