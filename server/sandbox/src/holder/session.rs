//! State that the holder keeps for its life.

use super::keys::ToolchainKeys;
use super::root::HolderRoot;
use crate::plan::Plan;
use rustix::fs::Mode;
use std::os::fd::OwnedFd;

/// See the module.
pub(super) struct Holder {
    pub(super) plan: Plan,
    pub(super) root: HolderRoot,
    /// Keys found in toolchains.
    pub(super) keys: ToolchainKeys,
    /// The network namespace of commands without the machine's network.
    pub(super) loopback: OwnedFd,
    /// The mode mask that the server was started with.
    pub(super) umask: Mode,
    /// The layer of the first command, which is the session's own.
    pub(super) first_layer: Option<String>,
}
