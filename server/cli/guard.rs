//! Keeps other processes out of this one's memory and environment, where the keys are.
//!
//! A command that the agent runs is a child of ours and of the same user: it could read `/proc/PPID/environ`.
//! On Linux that is the system's to refuse. It does not hold against root, nor on other systems; there the keys
//! are still redacted from everything a command prints.

/// Closes the process to others of the same user: no reading of `/proc/PID/environ` and `mem`, no debugger, no
/// core dump. Programs that it starts are as open as ever.
pub(crate) fn close() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "other processes can read this one's environment");
        }
    }
}
