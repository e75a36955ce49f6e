//! The language server: serve loop, requests, and the agent's events shown to an editor.
//!
//! Reading order: [`serve`](mod@serve) (frames in and out), `backend` (LSP's methods), `commands` and
//! `actions` (from the client to ops), `show`, `hunks` and `home` (from events to the client), `sessions` and `trust`,
//! `editor` (the client as the workspace's editor), `state` and [`settings`]. LSP's types stop here: `convert` is
//! the door.

mod actions;
mod backend;
mod commands;
mod convert;
mod editor;
mod home;
mod hunks;
pub mod serve;
mod sessions;
pub mod settings;
mod show;
mod spelled;
mod state;
mod trust;

pub use backend::{Backend, service};
pub use editor::{DiagnosticLine, DocumentParams};
pub use state::ServerOptions;

/// The names that a configuration may use: tools, mechanisms, protocols, and the keys of the client's own options.
pub fn known() -> ropewalk_config::Known {
    ropewalk_config::Known {
        tools: ropewalk_agent::tools::names(),
        mechanisms: vec!["instructions".to_owned()],
        protocols: ropewalk_model::Protocol::ALL.iter().map(|p| p.name().to_owned()).collect(),
        client_keys: state::CLIENT_KEYS.iter().map(|key| (*key).to_owned()).collect(),
    }
}
