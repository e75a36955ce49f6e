//! Language models behind one trait, whatever wire protocol they speak.
//!
//! A [`Model`] turns messages into serialised pieces once, sends them, and streams back [`Delta`]s
//! that a [`ReplyBuilder`] folds into a [`ModelReply`]. Every model at a server is a [`ServerModel`]; one
//! file per [`Protocol`] says how it reads and writes. What all of them share is the event stream parser
//! ([`sse`]), the HTTP client ([`http`]), what servers complain of (`refusal`), and the exchange with its
//! limits and retries.
//!
//! This room knows no tools, no history and no sessions: it never decides what is sent, and a
//! reply whose content and stop reason disagree is handed on as it is.

mod anthropic;
mod asked;
mod blocks;
mod call_ids;
pub mod catalogue;
pub mod chat;
mod clean;
mod context_probe;
pub mod error;
mod exchange;
pub mod http;
mod images;
pub mod key;
mod lenient;
pub mod listing;
mod local;
mod log;
mod markers;
mod members;
pub mod message;
pub mod model;
pub mod network;
mod printed;
pub mod protocol;
pub mod reader;
pub mod redact;
mod refusal;
pub mod reply;
mod responses;
pub mod retry;
pub mod server;
mod server_config;
pub mod sse;
mod surrogates;
pub mod tape;
mod thinking;
mod wire;

pub use asked::AskedModel;
pub use error::ModelError;
pub use http::{Http, Patience};
pub use key::{ApiKey, GivenKey, LazyKey};
pub use local::{LOCAL_SERVERS, LocalServer};
pub use members::BodyMembers;
pub use message::{Block, Message, ModelStop, Role, ToolDeclaration, ToolInput};
pub use model::{Delta, ENOUGH_CONTEXT, Model, ModelRequest, Piece, Prelude};
pub use network::Network;
pub use printed::{PrintedCall, printed_calls, printed_tool, take_printed_calls};
pub use protocol::Protocol;
pub use reader::ReplyReader;
pub use redact::{Keys, Redactor};
pub use reply::{ModelReply, ReplyBuilder};
pub use retry::Retry;
pub use server::ServerModel;
pub use server_config::{Header, ServerConfig};
