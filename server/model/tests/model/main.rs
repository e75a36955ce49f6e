//! This binary tests what is sent to a model's server, what the answers are read as, and what faults lead to.
#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod chat;
mod chat_request;
mod content;
mod context;
mod corpus;
mod faults;
mod listing;
mod log;
mod loopback;
mod network;
mod printed;
mod recorded;
mod redact;
mod request;
mod responses;
mod retry;
mod sealed;
mod sse;
mod tape;
mod wire;
