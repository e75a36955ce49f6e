//! Ingredients of a session: settings, tools, a place in the journal, a past.

use crate::journal::Journal;
use crate::journal::past::Past;
use crate::settings::Settings;
use ropewalk_tools::{CommandRunner, Registry};
use ropewalk_workspace::publish::PublishBounds;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Beginning of a session.
pub struct SessionConfig {
    /// Its id.
    pub id: Arc<str>,
    /// Settings that may change later.
    pub settings: Settings,
    /// Its tools, made of what it has.
    pub tools: Registry,
    /// Runs its commands.
    pub runner: Arc<dyn CommandRunner>,
    /// Where whole outputs of calls are kept.
    pub outputs: Option<PathBuf>,
    /// The bounds of a publish.
    pub publish: PublishBounds,
    /// Where it is kept.
    pub journal: Journal,
    /// Past that it goes on from, which that journal has.
    pub past: Option<Past>,
    /// The number of the last approval, of all sessions that number theirs together.
    pub approvals: Arc<AtomicU64>,
}
