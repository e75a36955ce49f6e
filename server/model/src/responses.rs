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
    model::takes_cache_key,
    reader::Decode,
    thinking::{effort, never_reasons},
    wire::Wire,
};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use ropewalk_protocol::CacheLife;

/// The protocol, for one model.
pub(crate) struct Responses {
    model: String,
    /// The word for how much it is asked to think.
    effort: Option<&'static str>,
    asks_to_think: bool,
    never_reasons: bool,
    takes_cache_key: bool,
}

impl Responses {
    pub(crate) fn new(config: &ServerConfig) -> Responses {
        let (base_url, model) = (config.base_url.clone(), config.model.clone());
        let never_reasons = never_reasons(&base_url, &model);
        let level = config.thinking.filter(|_| !never_reasons);
        Responses {
            takes_cache_key: takes_cache_key(&base_url) && config.cache != CacheLife::Off,
            effort: level.and_then(|level| effort(&base_url, &model, level)),
            asks_to_think: !never_reasons && config.wanted_thinking().is_some(),
            never_reasons,
            model,
        }
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
        encode::request(self, request)
    }

    fn asks_to_think(&self) -> bool {
        self.asks_to_think
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(decode::ResponsesDecoder::new(&self.model))
    }
}
