//! Interface of a wire protocol to the rest of this room.
//!
//! A protocol turns messages into JSON and events into deltas. It sends nothing, waits for nothing and
//! knows no key but how it is presented: all that is in [`crate::server`] and the exchange.

use crate::{ApiKey, Message, ModelRequest, Piece, Prelude, ToolDeclaration, reader::Decode};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

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
    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude;

    /// The whole body. `request.max_tokens` is within the model's limits already.
    fn body(&self, request: &ModelRequest) -> Vec<u8>;

    /// True if requests ask the model to think.
    fn asks_to_think(&self) -> bool;

    /// A decoder at the start of a reply.
    fn decoder(&self) -> Box<dyn Decode>;
}
