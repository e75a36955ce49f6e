//! Waiting for a process and taking in what it prints, until it ends, its time is over, or it is interrupted.
//!
//! Which process, and how it is killed, is the caller's.

use super::collect::Collector;
use std::time::Duration;

/// The event that came first.
#[derive(Debug)]
pub(crate) enum Stopped<T> {
    /// It ended by itself.
    Ended(T),
    /// Its time was over; it has to be killed.
    TimedOut,
    /// The caller's interrupt came; it has to be killed.
    Interrupted,
}

/// Waits for the first of them, and says whether the output has come to its end too.
pub(crate) async fn attend<T>(
    collector: &mut Collector,
    timeout: Duration,
    interrupt: impl Future<Output = ()>,
    end: impl Future<Output = T>,
) -> (Stopped<T>, bool) {
    let timeout = tokio::time::sleep(timeout);
    tokio::pin!(timeout, interrupt, end);
    let mut is_read = false;
    let stopped = loop {
        tokio::select! {
            ended = &mut end => break Stopped::Ended(ended),
            () = &mut timeout => break Stopped::TimedOut,
            () = &mut interrupt => break Stopped::Interrupted,
            () = collector.read(), if !is_read => is_read = true,
        }
    };
    (stopped, is_read)
}
