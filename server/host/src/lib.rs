//! The host: what a process has one of. Its sessions, their settings, trust in folders, and the sessions that are kept.
//!
//! A front end makes one [`Host`], hands it [`Request`](ropewalk_protocol::Request)s and shows the
//! [`SessionEvent`](ropewalk_protocol::SessionEvent)s it subscribes to; nothing else joins it to the agent.
//! Reading order: `host` (what front ends hold), `map` and `sessions` (which are open, and which is current), `seat` and
//! `serve` (the way to one of them), `reviews` (what was decided and is not done yet), [`settings`] with `configuration` and
//! `watch` (from the configuration to settings), `trust` with `questions`, `resume` and `store` (those that are kept), `team` and
//! `team_end`, [`slash`], [`words`] and [`team_words`].

mod complete;
mod configuration;
mod host;
mod map;
mod models;
mod questions;
mod resume;
mod reviews;
mod seat;
mod serve;
mod sessions;
pub mod settings;
pub mod slash;
mod snapshot;
#[cfg(test)]
mod start_tests;
mod store;
mod team;
mod team_end;
pub mod team_words;
mod teams;
mod trust;
mod watch;
pub mod words;

pub use configuration::{ModelFactory, known};
pub use host::{Host, HostOptions};
pub use models::{OfferedModel, network};
pub use resume::EarlierSessions;
pub use ropewalk_agent::prompt::is_named;
pub use ropewalk_agent::{ReviewSnapshot, Sessions, time};
pub use ropewalk_config::Environment;
pub use snapshot::SessionSnapshot;
pub use team::{JoinTeam, team_options};
pub use team_end::LeftWork;

use ropewalk_protocol::Refusal;
use ropewalk_tools::blocking::spawn_blocking;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what touches the disk where it blocks nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "work on the disk panicked");
        "Ropewalk has a bug; the log has the details".into()
    })
}
