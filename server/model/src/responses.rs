//! OpenAI's Responses protocol, as its own servers and others (llama.cpp's) speak it.
//!
//! Stateless: nothing is stored at the server, and the model's reasoning comes back to it sealed,
//! item by item, as long as the conversation is with the same model. A request is model, bounds,
//! instructions, tools, input, always in this order, and the same bytes from step to step. Only
//! streaming is spoken.

mod decode;
mod encode;

use crate::{
    ApiKey, Message, ModelRequest, Piece, Prelude, ServerConfig, ToolDeclaration,
    model::takes_cache_key, reader::Decode, thinking::never_reasons, wire::Wire,
};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use ropewalk_protocol::Thinking;

/// The protocol, for one model.
pub(crate) struct Responses {
    model: String,
    base_url: String,
    thinking: Option<Thinking>,
    takes_cache_key: bool,
}

impl Responses {
    pub(crate) fn new(config: &ServerConfig) -> Responses {
        let (base_url, model) = (config.base_url.clone(), config.model.clone());
        let thinking = config.wanted_thinking().filter(|_| !never_reasons(&base_url, &model));
        Responses { takes_cache_key: takes_cache_key(&base_url), model, base_url, thinking }
    }
}

impl Wire for Responses {
    fn path(&self) -> &'static str {
        "/responses"
    }

    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)> {
        Some((AUTHORIZATION, key.header("Bearer ")?))
    }

    fn encode(&self, message: &Message) -> Piece {
        encode::message(message)
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        encode::prelude(system, tools)
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        encode::request((&self.base_url, &self.model), self.thinking, self.takes_cache_key, request)
    }

    fn asks_to_think(&self) -> bool {
        self.thinking.is_some()
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(decode::ResponsesDecoder::new(&self.model))
    }
}
