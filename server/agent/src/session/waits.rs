//! Futures that a session's actor waits for: each is never ready while there is nothing to wait for.

use crate::conversation::Conversation;
use crate::hooks::TurnOutcome;
use futures::future::BoxFuture;
use ropewalk_model::ModelError;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// The question for the key that texts must not hold.
pub(super) type KeyQuestion = BoxFuture<'static, Result<(), ModelError>>;

/// A turn that runs, until its task ends.
pub(super) struct RunningTurn {
    pub(super) turn: u64,
    pub(super) interrupt: watch::Sender<bool>,
    pub(super) task: JoinHandle<(Conversation, TurnOutcome)>,
}

/// The conversation that comes back from a rewind; never, while none is under way.
pub(super) async fn back(
    rewinding: &mut Option<oneshot::Receiver<Box<Conversation>>>,
) -> Conversation {
    match rewinding {
        // A rewind gives it back also when it breaks down.
        Some(back) => match back.await {
            Ok(conversation) => *conversation,
            Err(_) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// The end of an undo; never, while none is under way.
pub(super) async fn undone(undoing: &mut Option<oneshot::Receiver<()>>) {
    match undoing {
        // An error means that it broke down, which has been told.
        Some(done) => drop(done.await),
        None => std::future::pending().await,
    }
}

/// The answer to the question for the key; never, while there is none.
pub(super) async fn known(asking: &mut Option<KeyQuestion>) -> Result<(), ModelError> {
    match asking {
        Some(asking) => asking.await,
        None => std::future::pending().await,
    }
}

/// The end of the running turn; never, while none is running.
pub(super) async fn ended(running: &mut Option<RunningTurn>) -> (Conversation, TurnOutcome) {
    match running {
        // A turn gives it back also when it breaks down: else the runtime is going down.
        Some(running) => match (&mut running.task).await {
            Ok(ended) => ended,
            Err(_) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}
