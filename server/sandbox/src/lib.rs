//! Runs commands in namespaces of their own: each root of the workspace stands at its own path as an overlay,
//! so that what a command writes lands in a **layer** and nothing outside is touched.
//!
//! One **holder** process per session, which is this same executable started again ([`helper`]), makes the
//! namespaces and a root of its own in which only what the [`Plan`] names is to be seen. For each command it
//! forks: a process of a new PID and mount namespace lays the overlays, gives up its rights and starts the
//! command. The holder lives as long as the socket to the server does, and everything in it as long as the
//! holder: a server that is killed leaves no process and no mount.
//!
//! This room knows nothing of forks, views or tools. What stands in a layer before a command, and what becomes
//! of it after, is the caller's; so is the decision what a command may see.

#[cfg(target_os = "linux")]
mod holder;
#[cfg(not(target_os = "linux"))]
mod other;
mod plan;
#[cfg(target_os = "linux")]
mod server;
mod support;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing is shown there"))]
mod toolchains;
#[cfg(target_os = "linux")]
mod wire;

#[cfg(target_os = "linux")]
pub use holder::helper;
#[cfg(not(target_os = "linux"))]
pub use other::{Running, Sandbox, helper};
pub use plan::{End, Limits, Plan, Room, SandboxError, Spec};
#[cfg(target_os = "linux")]
pub use server::{Running, Sandbox};
pub use support::{Support, Unsupported, Upper, probe};
pub use toolchains::{is_of_a_toolchain, is_of_the_system};

/// The first argument with which this executable is started as the holder. Not for people.
pub const HELPER: &str = "--ropewalk-sandbox-holder";
