//! Work that blocks: reading files and walking folders, on a thread of its own.
//!
//! A thread can't be stopped from outside, so long work asks its [`StopSignal`] now and then.

use crate::tool::ToolOutput;
use futures::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinHandle;

/// Says whether anybody still waits for the work.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// True if the call was dropped.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Tells the work that nobody waits for it.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sets the flag when the future that waits is dropped.
struct SetOnDrop(StopSignal);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Starts `work` on a thread for blocking work. Boxed, so that the runtime's code for it is compiled once for each type of
/// result and not for each call.
pub fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
    tokio::task::spawn_blocking(work)
}

/// Runs `work` on a thread for blocking work.
pub async fn on_thread<T: Send + 'static>(
    work: impl FnOnce(&StopSignal) -> Result<T, ToolOutput> + Send + 'static,
) -> Result<T, ToolOutput> {
    let stop = StopSignal::default();
    let _set = SetOnDrop(stop.clone());
    spawn_blocking(move || work(&stop)).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a tool's work was lost");
        Err(ToolOutput::error("the tool broke down inside and did nothing. Try another way"))
    })
}

/// A tool's whole work on such a thread. A failure in it (`Err`) is a result as well as a success is.
pub(crate) fn blocking(
    work: impl FnOnce(&StopSignal) -> Result<ToolOutput, ToolOutput> + Send + 'static,
) -> BoxFuture<'static, ToolOutput> {
    Box::pin(async move { on_thread(work).await.unwrap_or_else(|failure| failure) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn dropped_work_is_told_to_stop_and_a_panic_is_a_result() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (tell, told) = channel();
        let mut call = blocking(move |stop| {
            while !stop.is_set() {
                std::thread::yield_now();
            }
            tell.send(()).unwrap();
            Ok(ToolOutput::text("nobody reads this"))
        });
        runtime.block_on(async { assert!(futures::poll!(&mut call).is_pending()) });
        drop(call);
        assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(()));
        let output = runtime.block_on(blocking(|_| panic!("a fault of ours")));
        assert!(output.is_error && output.words().starts_with("Error: the tool broke down"));
    }
}
