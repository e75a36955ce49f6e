//! A process group that is killed whole when its owner lets go of it.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Child;
use tokio::task::JoinHandle;

/// The process group that a child leads; dropping it kills every process in it.
///
/// Our own graceful end drops the futures that run commands, and so their groups.
#[derive(Debug)]
pub(super) struct Group(Option<Pid>);

impl Group {
    /// The group of a child that was started with one of its own.
    pub(super) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    /// Kills every process in the group; none left is no error.
    pub(super) fn kill(&self) {
        if let Some(pid) = self.0 {
            // The group lives on as long as one process is in it, so its number can't be another's.
            let _gone = kill_process_group(pid, Signal::KILL);
        }
    }

    /// Whether the last process ends within `grace`: those that only waited for the pipe to close
    /// need a moment.
    pub(super) async fn is_gone_within(&self, grace: Duration) -> bool {
        let gone = async {
            while self.is_alive() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(grace, gone).await.is_ok()
    }

    /// Whether a process is left in the group.
    pub(super) fn is_alive(&self) -> bool {
        self.0.is_some_and(|pid| test_kill_process_group(pid).is_ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Processes that a command left in the background; dropping it kills them.
///
/// While it is held, what they print is read on into the output file, so that a full pipe doesn't
/// stop them.
#[derive(Debug)]
pub struct LeftRunning {
    group: Group,
    reading: JoinHandle<()>,
}

impl LeftRunning {
    pub(super) fn new(group: Group, read: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { group, reading: tokio::spawn(read) }
    }

    /// Whether a process is still running.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.group.is_alive()
    }
}

impl Drop for LeftRunning {
    fn drop(&mut self) {
        self.reading.abort();
    }
}
