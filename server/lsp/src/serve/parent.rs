//! The parent watch: notices that the process which started the server is gone, also when another process
//! still holds the pipe open, so that no server is left behind. It ends nothing itself.

use std::future;
use std::time::Duration;

use serde_json::Value;

/// The process to watch: `processId` of the params of `initialize`, when it is a process id.
///
/// `null`, absent, zero, negative and overflowing ids mean that there is nothing to watch.
pub(super) fn process_id(initialize: &Value) -> Option<i32> {
    let id = initialize.get("processId")?.as_i64()?;
    i32::try_from(id).ok().filter(|&id| id > 0)
}

/// Resolves when the process `id` is gone, at once when it is gone already ("if the parent process is not
/// alive then the server should exit", LSP, `InitializeParams.processId`).
///
/// On Linux the kernel tells; elsewhere, and where it can't, the process is looked for every `interval`. Never
/// resolves when the server's own parent lies outside its pid namespace (a container): `id` is then a number
/// from another namespace and means nothing here. Nor on Windows, where the end of input has to do.
pub async fn parent_gone(id: i32, interval: Duration) {
    #[cfg(unix)]
    match unix::process(id) {
        Some(pid) => unix::gone(pid, interval).await,
        None => future::pending().await,
    }
    #[cfg(not(unix))]
    {
        let _ = (id, interval);
        future::pending().await
    }
}

#[cfg(unix)]
mod unix {
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::process::{Pid, getppid, test_kill_process};

    /// The process to watch, or `None` when the number means nothing here.
    pub(super) fn process(id: i32) -> Option<Pid> {
        getppid().and_then(|_| Pid::from_raw(id))
    }

    pub(super) async fn gone(pid: Pid, interval: Duration) {
        #[cfg(target_os = "linux")]
        match told_by_kernel(pid).await {
            Ok(()) => return,
            Err(error) => tracing::debug!("no pidfd for {pid:?}, looking for it instead: {error}"),
        }
        looked_for(pid, interval).await;
    }

    /// Resolves when the process has ended, a zombie included.
    #[cfg(target_os = "linux")]
    async fn told_by_kernel(pid: Pid) -> std::io::Result<()> {
        use rustix::process::{PidfdFlags, pidfd_open};
        use tokio::io::{Interest, unix::AsyncFd};

        let process = match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Err(Errno::SRCH) => return Ok(()),
            process => process?,
        };
        #[expect(
            deprecated,
            reason = "unsound for types that lie about their descriptor; `OwnedFd` does not"
        )]
        let process = AsyncFd::with_interest(process, Interest::READABLE)?;
        process.readable().await.map(drop)
    }

    pub(super) async fn looked_for(pid: Pid, interval: Duration) {
        // Any other error (EPERM: it runs as another user) means that it is there.
        while test_kill_process(pid) != Err(Errno::SRCH) {
            tokio::time::sleep(interval).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_process_ids_are_process_ids() {
        assert_eq!(process_id(&json!({"processId": 17})), Some(17));
        for nothing in
            [json!(null), json!(0), json!(-1), json!("17"), json!(1.5), json!(1i64 << 40)]
        {
            assert_eq!(process_id(&json!({"processId": nothing})), None);
        }
        assert_eq!(process_id(&json!({})), None);
        assert_eq!(process_id(&json!([17])), None);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn both_ways_notice_the_end_of_a_process() {
        use std::process::{Command, Stdio};
        const OFTEN: Duration = Duration::from_millis(5);
        const GUARD: Duration = Duration::from_secs(10);

        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let id = i32::try_from(child.id()).unwrap();
        let pid = unix::process(id).unwrap();
        let watches = async { tokio::join!(parent_gone(id, OFTEN), unix::looked_for(pid, OFTEN)) };
        tokio::pin!(watches);
        assert!(futures::poll!(&mut watches).is_pending(), "the process lives");
        child.kill().unwrap();
        child.wait().unwrap();
        tokio::time::timeout(GUARD, watches).await.unwrap();
        tokio::time::timeout(GUARD, parent_gone(id, OFTEN))
            .await
            .expect("gone before the watch began");
    }
}
