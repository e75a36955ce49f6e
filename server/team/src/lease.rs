//! The right to go on: before each step, a member whose lease may be over asks the board. A member stops where its team's
//! budget is used up.

use crate::budget::used_up;
use crate::station::Station;
use futures::future::BoxFuture;
use ropewalk_agent::hooks::TurnOutcome;
use ropewalk_agent::{Conversation, StepHook};
use ropewalk_board::BoardError;
use ropewalk_protocol::StopReason;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The hook of a teammate or worker.
pub(crate) struct Lease(pub(crate) Arc<Station>);

/// Parts of a lease after which it is renewed.
const RENEWALS: u32 = 4;

/// How long a step may wait for the board to count what was used.
const PATIENCE: Duration = Duration::from_secs(1);

impl Lease {
    /// Waits until the board has answered, if a whole lease has passed since it did.
    async fn renewed(&self) -> Result<(), TurnOutcome> {
        while self.0.is_stale() {
            match self.0.renew().await {
                Ok(()) => break,
                Err(BoardError::Unreachable { retry_in, .. }) => {
                    self.0.clock.sleep(retry_in.max(Duration::from_secs(1))).await;
                }
                Err(error) => return Err(TurnOutcome::told(StopReason::Error, error.to_string())),
            }
        }
        Ok(())
    }
}

impl Lease {
    /// Counts what the turn has used so far, so that no member runs far past the budget of all.
    async fn count(&self, conversation: &Conversation) {
        let counted = tokio::time::timeout(PATIENCE, self.0.spend(conversation.spent())).await;
        if !matches!(counted, Ok(Ok(()))) {
            tracing::info!("the board does not say what the team has used");
        }
    }
}

impl StepHook for Lease {
    fn before_step<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        _: bool,
    ) -> BoxFuture<'a, Result<(), TurnOutcome>> {
        Box::pin(async move {
            self.renewed().await?;
            // Renewals beside the turn may have found it out before.
            if let Some(task) = self.0.lost() {
                let words = BoardError::ClaimLost(task.number).to_string();
                return Err(TurnOutcome::told(StopReason::Error, words));
            }
            if self.0.options.has_budget() {
                self.count(conversation).await;
            }
            match used_up(&self.0.options, self.0.spent_by_all()) {
                Some(words) => Err(TurnOutcome::told(StopReason::Budget, words)),
                None => Ok(()),
            }
        })
    }
}

/// Renews a member's lease as long as it lives, each quarter of it.
pub(crate) async fn keep(station: Weak<Station>) {
    loop {
        let (clock, quarter) = {
            let Some(station) = station.upgrade() else { return };
            match station.renew().await {
                Err(error @ BoardError::Superseded(_)) => {
                    tracing::warn!(%error, "a membership is over");
                    return;
                }
                Err(error) => tracing::info!(%error, "a lease could not be renewed"),
                Ok(()) => {}
            }
            (station.clock.clone(), station.options.lease / RENEWALS)
        };
        clock.sleep(quarter).await;
    }
}
