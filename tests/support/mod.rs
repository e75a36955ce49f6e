//! Support of the tests with real editors: Neovim driven over its own protocol, VS Code, a language
//! server that does only as the test tells it, and our own with a scripted model behind it.
//!
//! Every wait has a bound and names what it waited for; nothing sleeps to decide anything.

#![allow(
    clippy::allow_attributes,
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test file uses a part"
)]

pub mod agent;
pub mod desk;
pub mod home;
#[cfg(unix)]
pub mod hostile;
pub mod nvim;
pub mod picture;
#[cfg(unix)]
pub mod plugin;
pub mod probe;
pub mod recipe;
mod schema;
pub mod screen;
mod skip;
pub mod stage;
pub mod vscode;
pub mod vscode_plugin;
#[cfg(unix)]
pub mod wire;

pub(crate) use skip::skip;
use std::path::PathBuf;
use std::time::Duration;

/// The longest any single wait may take before the test fails. Far above what is ever needed
/// (milliseconds), because two cores may be busy with other tests.
pub const BOUND: Duration = Duration::from_secs(60);

/// The folder `tests/run` puts editors in: `$ROPEWALK_EDITORS`, else `target/editors` of this
/// repository.
pub fn editors() -> PathBuf {
    std::env::var_os("ROPEWALK_EDITORS").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/editors")),
        PathBuf::from,
    )
}
