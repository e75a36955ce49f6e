//! Interrupts: the user's word to stop a turn.

use futures::FutureExt;
use futures::future::BoxFuture;
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
    pub(crate) fn or<'a, T: Send + 'a>(
        &self,
        future: impl Future<Output = T> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, Interrupted>> {
        let (interrupt, future) = (self.clone(), future.boxed());
        Box::pin(async move {
            tokio::select! {
                biased;
                () = interrupt.said() => Err(Interrupted),
                value = future => Ok(value),
            }
        })
    }

    /// Waits until the user interrupts, or the session is gone, which stops the turn too.
    async fn said(self) {
        match self.0 {
            Some(mut interrupted) => drop(interrupted.wait_for(|stop| *stop).await),
            None => std::future::pending().await,
        }
    }

    pub(crate) fn is_said(&self) -> bool {
        self.0.as_ref().is_some_and(|interrupted| *interrupted.borrow())
    }
}
