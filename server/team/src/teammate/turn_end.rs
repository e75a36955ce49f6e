//! The end of a member's turn: its task completed, kept or returned, changes handed over, requests answered.

use super::{Departure, Teammate, TurnWork};
use crate::handover::{complete, give_all_back, give_back, hand_over};
use crate::station::TaskStep;
use crate::turns::Turns;
use crate::words;
use ropewalk_agent::hooks::TurnOutcome;
use ropewalk_board::{LEAD, RequestKind, ReturnReason, Task};
use ropewalk_protocol::StopReason;

impl Teammate {
    /// Does the work of a turn's end. `had`: the task that the turn has begun with.
    pub(super) async fn settle(&mut self, had: Option<Task>) -> Result<(), Departure> {
        let Turns { ended, end, .. } = self.turns.borrow().clone();
        self.settled = ended;
        let outcome = end.unwrap_or(TurnOutcome::silent(StopReason::EndTurn));
        let TurnOutcome { stop_reason: reason, message: words } = outcome;
        self.is_paused |= reason == StopReason::Interrupted;
        if let Err(error) = self.station.spend(self.session.spent()).await {
            tracing::info!(%error, "spending was not told");
        }
        self.agree_to_leave().await;
        let step = self.station.take_step();
        let (lost, held) = (self.station.take_lost(), self.station.task());
        match (held.as_ref().or(lost.as_ref()), &step) {
            // One that was lost may count all the same: the board knows whether somebody has claimed it since.
            (Some(task), Some(TaskStep::Complete(summary))) => {
                let (station, session) = (&self.station, &self.session);
                self.news.extend(complete(station, session, task, summary).await);
            }
            (Some(task), _) if held.is_none() => self.lose(task).await,
            (Some(_), _) => self.keep_or_return(reason, words).await,
            // Its model has returned or cancelled it: what was changed for it stays in the journal.
            (None, _) if had.is_some() => drop(self.start(None).await),
            (None, _) => {
                self.news.extend(hand_over(&self.station, &self.session).await);
                self.tell_failure(reason, words).await;
            }
        }
        if self.station.is_leaving() {
            let is_budget = reason == StopReason::Budget;
            return Err(if is_budget { Departure::Budget } else { Departure::Shutdown });
        }
        match step {
            Some(TaskStep::Begin(_)) if reason == StopReason::Interrupted => {
                give_all_back(&self.station).await;
                Ok(())
            }
            Some(TaskStep::Begin(task)) => Box::pin(self.work(TurnWork::Begin(task))).await,
            _ => Ok(()),
        }
    }

    /// Has the model told that it lost a task. What was changed for it stays in the journal, and is handed over by no
    /// later turn.
    pub(super) async fn lose(&mut self, task: &Task) {
        self.news.push(words::lost(task.number));
        self.start(None).await;
    }

    /// Tells the lead of a turn without a task that could not go on.
    async fn tell_failure(&self, reason: StopReason, words: Option<String>) {
        if !matches!(reason, StopReason::Error | StopReason::Refusal) {
            return;
        }
        let words = words.unwrap_or_else(|| reason.in_words().to_owned());
        let told = self.station.membership.send(LEAD, "turn_failed", &words).await;
        if let Err(error) = told {
            tracing::info!(%error, "a failure was not told");
        }
    }

    /// A task that its turn has not completed.
    async fn keep_or_return(&mut self, reason: StopReason, words: Option<String>) {
        self.tries += 1;
        match reason {
            StopReason::EndTurn | StopReason::MaxSteps | StopReason::MaxTokens => {}
            StopReason::Interrupted => give_back(&self.station, &ReturnReason::Leaving).await,
            StopReason::Budget => {
                self.station.mark_leaving();
                give_back(&self.station, &ReturnReason::Leaving).await;
            }
            StopReason::Error | StopReason::Refusal => {
                let words = words.unwrap_or_else(|| reason.in_words().to_owned());
                give_back(&self.station, &ReturnReason::Failed(words)).await;
            }
        }
    }

    /// Approves the requests to shut down that its model has left unanswered.
    async fn agree_to_leave(&self) {
        let Ok(requests) = self.station.team().open_requests(self.station.name()).await else {
            return;
        };
        for request in requests.iter().filter(|one| one.kind == RequestKind::Shutdown) {
            if self.station.membership.answer(request.id, true, "").await.is_ok() {
                self.station.mark_leaving();
            }
        }
    }
}
