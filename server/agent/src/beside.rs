//! Work that waits for the client and for the disk by turns, and for the disk where it is polled.
//!
//! A disk that hangs would hold the thread that polls it, and with it every session whose tasks wait for that thread.

use std::future::poll_fn;
use std::pin::pin;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Polls work that touches the disk so that other tasks go on meanwhile. On a runtime of one thread they wait all the same.
pub(crate) async fn beside_others<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work.as_mut().poll(context),
        _ => block_in_place(|| work.as_mut().poll(context)),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    /// Bound on a wait that should end at once.
    const BOUND: Duration = Duration::from_secs(60);

    #[test]
    fn other_tasks_go_on_while_a_disk_hangs() -> Result<(), RecvTimeoutError> {
        // None of its threads is left for others when the only one hangs.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let Ok(runtime) = runtime else { return Err(RecvTimeoutError::Disconnected) };
        let (hangs, has_hung) = channel();
        let (answer, disk) = channel();
        let (done, is_done) = channel();
        runtime.spawn(beside_others(async move {
            let _ = hangs.send(());
            let _ = done.send(disk.recv_timeout(BOUND));
        }));
        has_hung.recv_timeout(BOUND)?;
        runtime.spawn(async move { answer.send(()) });
        is_done.recv_timeout(BOUND)?
    }

    #[tokio::test]
    async fn one_thread_is_enough() {
        assert_eq!(beside_others(async { 1 }).await, 1);
    }
}
