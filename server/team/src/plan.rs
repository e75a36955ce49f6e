//! The plan of a member that changes nothing before it is approved. The answer is looked up while the member waits, and before
//! each step of a turn that runs meanwhile: from then on it can write.

use crate::session_host::SessionLink;
use crate::station::Station;
use futures::future::BoxFuture;
use ropewalk_agent::hooks::TurnOutcome;
use ropewalk_agent::{Conversation, Session, StepHook};
use ropewalk_board::{BoardError, RequestState};
use ropewalk_protocol::Mode;
use std::sync::Arc;
use std::time::Duration;

/// How long a step may wait for the board's answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// True while the member's plan waits. Once it is approved, changes can be made.
///
/// # Errors
/// When the board can't be reached.
pub(crate) async fn waits(station: &Station, session: &Session) -> Result<bool, BoardError> {
    let Some(id) = station.plan() else { return Ok(false) };
    match station.team().request(id).await?.state {
        RequestState::Open => return Ok(true),
        RequestState::Approved => session.set_mode(Mode::Review),
        RequestState::Refused => {}
    }
    station.forget_plan(id);
    Ok(false)
}

/// The hook of a member whose plan may be answered amid a turn.
pub(crate) struct PlanWatch {
    pub(crate) station: Arc<Station>,
    pub(crate) session: SessionLink,
}

impl StepHook for PlanWatch {
    fn before_step<'a>(
        &'a self,
        _: &'a mut Conversation,
        _: bool,
    ) -> BoxFuture<'a, Result<(), TurnOutcome>> {
        Box::pin(async {
            if self.station.plan().is_none() {
                return Ok(());
            }
            let Some(session) = self.session.get() else { return Ok(()) };
            let looked = tokio::time::timeout(PATIENCE, waits(&self.station, &session)).await;
            if !matches!(looked, Ok(Ok(_))) {
                tracing::info!("the board does not say what became of a plan");
            }
            Ok(())
        })
    }
}
