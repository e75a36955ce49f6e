//! The `Model` trait: serialise messages once, send a request, stream the reply.
//!
//! Object safe, so that front ends choose a model by name at run time. It holds no history; the
//! pieces it makes belong to whoever keeps one.

use crate::{Keys, Message, ModelError, ModelStop, ToolDeclaration, listing::Listing};
use futures::{FutureExt, future::BoxFuture, stream::BoxStream};
use ropewalk_protocol::{ModelLimits, Price, Usage};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// A message serialised for one protocol, without cache markers. Made once, sent as it is in every
/// later request: building a request costs a copy of its bytes. Pieces of one protocol mean nothing
/// to another.
pub type Piece = Arc<str>;

/// System prompt and tools, serialised for one protocol; the same bytes in every request of a
/// session, so that the server's prompt cache hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prelude(Arc<str>);

impl Prelude {
    /// Wraps what a protocol has serialised.
    pub fn new(text: impl Into<Arc<str>>) -> Prelude {
        Prelude(text.into())
    }

    /// The serialised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Key by which a server knows requests that begin alike, so that it sends them where their prefix is cached. It does
    /// not change within a session, and holds none of its words.
    pub(crate) fn cache_key(&self, model: &str) -> String {
        format!("ropewalk-{:016x}", hash(&[model, &self.0]))
    }
}

/// Ends of the names of the hosts that are known to take a `prompt_cache_key`. Others may refuse a request for a member
/// that they don't know, whatever their provider is called.
const TAKE_CACHE_KEY: &[&str] = &["openai.com", "azure.com"];

/// True if the server at `base_url` takes a [`Prelude::cache_key`].
pub(crate) fn takes_cache_key(base_url: &str) -> bool {
    let url = reqwest::Url::parse(base_url.trim()).ok();
    let host = url.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default();
    TAKE_CACHE_KEY.iter().any(|end| {
        host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// FNV-1a over all parts: the same on every machine and in every version, and no secret.
pub(crate) fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// One request for a reply.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// System prompt and tools, from the same model's [`Model::encode_prelude`].
    pub prelude: Prelude,
    /// The history, each message from the same model's [`Model::encode`].
    pub pieces: Vec<Piece>,
    /// Most tokens the reply may have beside [`Model::thinking_tokens`]; lowered to what the model can do.
    pub max_tokens: u32,
}

/// A step of a streamed reply. A block begins with the first delta of its index; indices are the
/// server's and need not be dense.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// More text.
    Text {
        /// The block.
        index: u32,
        /// The added part.
        text: String,
    },
    /// More thinking.
    Thinking {
        /// The block.
        index: u32,
        /// The added part.
        text: String,
    },
    /// More of the signature of a thinking block.
    Signature {
        /// The block.
        index: u32,
        /// The added part.
        signature: String,
    },
    /// A whole block of redacted thinking.
    RedactedThinking {
        /// The block.
        index: u32,
        /// The server's opaque bytes.
        data: String,
    },
    /// A tool call begins.
    ToolUse {
        /// The block.
        index: u32,
        /// The call's id, unique within the reply.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a tool call's arguments, as JSON text that need not be whole.
    ToolInput {
        /// The block.
        index: u32,
        /// The added part.
        partial_json: String,
    },
    /// The block is complete.
    BlockEnd {
        /// The block.
        index: u32,
    },
    /// The tokens of this exchange so far; replaces what an earlier one said.
    Usage(Usage),
    /// Nothing has come for a while, which may be as it should: a model is loaded, a long prompt is read.
    /// Told a few times while it lasts.
    Waiting {
        /// How long it has been.
        waited: Duration,
        /// Not for the server yet, but for our turn at it: it answers other requests of ours.
        is_queued: bool,
    },
    /// The reply is complete; the last delta.
    Stop(ModelStop),
    /// The exchange failed and will be tried again: all that came before in this reply is void,
    /// and text already shown is to be replaced.
    Retrying {
        /// Which try comes next; 2 for the first retry.
        attempt: u32,
        /// How long it waits before.
        wait: Duration,
        /// The failure, in one sentence.
        reason: String,
    },
}

/// Below so many tokens of context all tools and the whole system prompt leave too little room for the task: a model
/// with less gets the lean set.
pub const ENOUGH_CONTEXT: u32 = 16_384;

/// A language model at a server.
pub trait Model: Send + Sync {
    /// Protocol and model, as `anthropic/claude-sonnet-5-5`.
    fn name(&self) -> &str;

    /// Limits of the model, where known.
    fn limits(&self) -> ModelLimits;

    /// Learns that the server gives no reply of more tokens, thinking included: [`Model::limits`] has it from then on. None
    /// forgets it.
    fn learn_output(&self, most: Option<u32>) {
        let _ = most;
    }

    /// Tokens that thinking may take beside what a request asks for.
    fn thinking_tokens(&self) -> u32 {
        0
    }

    /// Price of its tokens, where known.
    fn price(&self) -> Option<Price> {
        None
    }

    /// True if calls that the model prints as text are to be run, as if they had been made.
    fn takes_printed_calls(&self) -> bool {
        false
    }

    /// Advice that makes the server read the calls that the model writes, in words that follow "or"; none where it is no
    /// server that is known to be started by the user.
    fn reads_calls_when(&self) -> Option<String> {
        None
    }

    /// Why no calls are to be expected, and what the user does about it, once the server has said so: see
    /// [`Model::find_context`]. A sentence.
    fn lacks_tools(&self) -> Option<String> {
        None
    }

    /// The day on which its server ends it, and what the user does about it, where that is near; `today` is `YYYY-MM-DD`. A
    /// sentence.
    fn end_in_words(&self, today: &str) -> Option<String> {
        let _ = today;
        None
    }

    /// True if it gets the lean set, four tools and a short system prompt: where it is configured, else where
    /// its context is known to be below [`ENOUGH_CONTEXT`].
    fn is_lean(&self) -> bool {
        self.limits().context.is_some_and(|tokens| tokens < ENOUGH_CONTEXT)
    }

    /// Asks a server on this machine how much context it gives, if it has not said so; [`Model::limits`] has it
    /// afterwards. A few questions of at most two seconds each. A server elsewhere is asked for its list of models once a day,
    /// beside the caller, who does not wait for it. It never fails: what is not told stays unknown. Must be polled within a
    /// tokio runtime.
    fn find_context(&self) -> BoxFuture<'static, ()> {
        async {}.boxed()
    }

    /// Advice on how to get more context, in words that follow a colon; none where the server has not said
    /// how much it gives.
    fn more_context(&self) -> Option<String> {
        None
    }

    /// The models that the server says it has: its answer now, or the one of this day for a server elsewhere, which is empty
    /// for a server without a list. Must be polled within a tokio runtime.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`], [`ModelError::Unreachable`], [`ModelError::BadKey`], [`ModelError::NotAModelServer`].
    fn list(&self) -> BoxFuture<'static, Result<Arc<Listing>, ModelError>> {
        async { Ok(Arc::default()) }.boxed()
    }

    /// The list that a server elsewhere gave last, on whatever day. None for others.
    fn known_list(&self) -> Option<Arc<Listing>> {
        None
    }

    /// The keys that must be in no text that is shown, kept or sent. What [`Model::stream`] gives is free of them;
    /// other texts from outside are for the caller to redact. Complete once [`Model::ready`] has given `Ok`.
    fn keys(&self) -> Keys {
        Keys::default()
    }

    /// Has [`Model::keys`] know the key that requests are sent with, asking for it if it must be asked for: to be
    /// awaited before a text from outside is kept. Dropping it stops the asking. Must be polled within a tokio
    /// runtime.
    ///
    /// # Errors
    /// Errors of the program that prints the key; a request would fail in the same way.
    fn ready(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }

    /// Serialises a message for this protocol. What the protocol would refuse is left out: blank
    /// blocks, unsigned thinking. A message with nothing left says `(empty)`, since a history with
    /// an empty message could never be sent again.
    fn encode(&self, message: &Message) -> Piece;

    /// Serialises the system prompt (none when blank) and the tools, in the order given.
    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude;

    /// Sends a request and streams the reply: deltas, [`Delta::Stop`] as the last one, or an error
    /// after the last one. Nothing is sent before the first poll; dropping the stream cancels the
    /// exchange, also while it waits to try again. Must be polled within a tokio runtime.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>>;

    /// Asks the server, without spending tokens, whether it is there and takes the key. One try, of at most
    /// ten seconds. Must be polled within a tokio runtime.
    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>>;
}
