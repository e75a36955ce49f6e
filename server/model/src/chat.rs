//! OpenAI's Chat Completions protocol, as its own servers and many others speak it.
//!
//! A request is model, options, tools, messages (the system prompt is the first), always in this order,
//! and the same bytes from step to step: caches here need no markers. What servers do differently is a
//! [`Dialect`], a row of a table, and is decided nowhere else. Only streaming is spoken.

mod calls;
mod decode;
mod dialect;
mod encode;
mod sealed;

pub use dialect::{DIALECTS, Dialect, Thoughts};

use crate::{
    ApiKey, Message, ModelRequest, Piece, Prelude, ServerConfig, ToolDeclaration,
    reader::Decode,
    thinking::{effort, never_reasons},
    wire::Wire,
};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

/// The protocol, for one model.
pub(crate) struct Chat {
    model: String,
    dialect: Dialect,
    /// The word for how much it is asked to think.
    effort: Option<&'static str>,
    asks_to_think: bool,
}

impl Chat {
    pub(crate) fn new(config: &ServerConfig) -> Chat {
        let mut dialect = Dialect::of(&config.provider, &config.base_url, &config.model);
        dialect.keep_for(config.cache);
        let takes_effort = dialect.effort && !never_reasons(&config.base_url, &config.model);
        let level = config.thinking.filter(|_| takes_effort);
        let effort = level.and_then(|level| effort(&config.base_url, &config.model, level));
        let asks_to_think = takes_effort && config.wanted_thinking().is_some();
        Chat { model: config.model.clone(), dialect, effort, asks_to_think }
    }
}

impl Wire for Chat {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn key(&self, key: &ApiKey) -> Option<(HeaderName, HeaderValue)> {
        Some((AUTHORIZATION, key.header("Bearer ")?))
    }

    fn encode(&self, message: &Message) -> Piece {
        encode::message(&self.dialect, message)
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        encode::prelude(&self.dialect, system, tools)
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        encode::request(&self.dialect, &self.model, self.effort, request)
    }

    fn asks_to_think(&self) -> bool {
        self.asks_to_think
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(decode::ChatDecoder::new(&self.model))
    }
}
