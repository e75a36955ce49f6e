//! Waiting for something to do: a member's signals.

use crate::board::Board;
use futures::future::BoxFuture;
use tokio::sync::watch;

/// Signals for one member of a team: a message, a request, or a task it might claim.
///
/// A signal says nothing and may be lost; look at the board when it comes, and every few seconds without one.
#[derive(Debug)]
pub struct MemberWatch {
    board: Board,
    signals: watch::Receiver<u64>,
}

impl MemberWatch {
    pub(crate) fn new(board: &Board, channel: &str) -> Self {
        let signals = board.parts.wakes.subscribe(channel);
        Self { board: board.clone(), signals }
    }

    /// Ends when something may have happened since the last end. Dropping it halfway loses nothing.
    pub fn changed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let _waiting = self.board.parts.wakes.waiting();
            if self.signals.changed().await.is_err() {
                // The board is closed: nothing will come.
                std::future::pending::<()>().await;
            }
        })
    }
}

/// Channel of a member's signals. PostgreSQL takes at most 63 bytes for its name.
pub(crate) fn channel(team: i64, member: &str) -> String {
    format!("ropewalk {team} {member}")
}
