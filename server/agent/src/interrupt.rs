//! Interrupts: the user's word to stop a turn.

use std::future::Future;
use tokio::sync::watch;

/// The user has stopped the turn.
#[derive(Debug)]
pub(crate) struct Interrupted;

/// The user's word to stop a turn; None where nobody can say it.
#[derive(Clone)]
pub(crate) struct Interrupt(pub(crate) Option<watch::Receiver<bool>>);

impl Interrupt {
    /// Waits for `future`, unless the user interrupts first.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T, Interrupted> {
        let Some(mut interrupted) = self.0.clone() else { return Ok(future.await) };
        tokio::select! {
            biased;
            // An error means that the session is gone, which stops the turn too.
            _ = interrupted.wait_for(|stop| *stop) => Err(Interrupted),
            value = future => Ok(value),
        }
    }

    pub(crate) fn is_said(&self) -> bool {
        self.0.as_ref().is_some_and(|interrupted| *interrupted.borrow())
    }
}
