//! The language server: serve loop, requests, and the agent's events shown to an editor.
//!
//! Reading order: [`serve`](mod@serve) (frames in and out), `backend` (LSP's methods), `commands` and
//! `actions` (from the client to the host), `show`, `hunks`, `home` and `trust` (from events to the client), `greet`,
//! `editor` (the client as the workspace's editor) and `state`. LSP's types stop here: `convert` is the door.

mod actions;
mod backend;
mod commands;
mod convert;
mod editor;
mod greet;
mod home;
mod hunks;
pub mod serve;
mod show;
mod spelled;
mod state;
mod trust;

pub use backend::{Backend, service};
pub use editor::{DiagnosticLine, DocumentParams};
pub use state::CLIENT_KEYS;
