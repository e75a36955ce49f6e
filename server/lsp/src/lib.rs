//! The language server: serve loop, requests, and the agent's events shown to an editor.
//!
//! Reading order: [`serve`](mod@serve) (frames in and out), `backend` (LSP's methods), `commands` and
//! `actions` (from the client to the host), `show`, `hunks`, `placed`, `home`, `anchors`, `teammates` and `trust` (from
//! events to the client), `chat` (the conversation document), `greet`, `editor` (the client as the workspace's editor), `client` and `state`. LSP's types stop here: `convert` is the door.

mod actions;
mod anchors;
mod backend;
mod chat;
mod client;
mod commands;
mod convert;
mod editor;
mod greet;
mod home;
mod hunks;
mod placed;
mod requests;
pub mod serve;
mod show;
mod spelled;
mod state;
mod teammates;
mod trust;

pub use backend::{Backend, service};
pub use client::client_keys;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
