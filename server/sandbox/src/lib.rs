//! Runs commands in namespaces of their own: each root of the workspace stands at its own path as an overlay,
//! so that what a command writes lands in a **layer** and nothing outside is touched.
//!
//! One **holder** process per session, which is this same executable started again ([`helper`]), makes the
//! namespaces and a root of its own in which only what the [`Plan`] names is to be seen. For each command it
//! forks: a process of a new PID and mount namespace lays the overlays, gives up its rights and starts the
//! command. The holder lives as long as the socket to the server does, and everything in it as long as the
//! holder: a server that is killed leaves no process and no mount.
//!
//! A command that runs on the machine itself instead is [`KeptCommand`]: a **keeper** process of its own, this executable
//! again, ends all that it has started when it ends, or when the server does.
//!
//! This room knows nothing of forks, views or tools. What stands in a layer before a command, and what becomes
//! of it after, is the caller's; so is the decision what a command may see.

#[cfg(target_os = "linux")]
mod holder;
mod keeper;
mod kept;
#[cfg(target_os = "linux")]
mod orphans;
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
mod wire_text;

pub use kept::{KeptCommand, Outside};
#[cfg(not(target_os = "linux"))]
pub use other::{Running, Sandbox};
pub use plan::{End, LayerRoom, Limits, Plan, SandboxError, Spec};
#[cfg(target_os = "linux")]
pub use server::{Running, Sandbox};
pub use support::{Support, Unsupported, Upper, probe};
pub use toolchains::{is_of_a_toolchain, is_of_the_system};

/// The first argument with which this executable is started as the holder. Not for people.
pub const HELPER: &str = "--ropewalk-sandbox-holder";

/// The first argument with which this executable is started as a keeper. Not for people.
pub const KEEPER: &str = "--ropewalk-command-keeper";

/// To be called first of all in `main`: `Some` when this process was started as the holder or as a keeper, and has
/// done its work. It must be called before there is another thread, and before anything reads standard input.
pub fn helper() -> Option<std::process::ExitCode> {
    let done = keeper::helper();
    #[cfg(target_os = "linux")]
    let done = done.or_else(holder::helper);
    done
}
