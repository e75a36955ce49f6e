//! Refusals of a worker, whom nobody can answer: its lead is told of them.

use crate::station::Station;
use futures::future::BoxFuture;
use ropewalk_agent::{ModelCall, StepHook};
use ropewalk_board::LEAD;
use ropewalk_tools::ToolOutput;
use std::sync::Arc;

/// See the module.
pub(crate) struct Refusals(pub(crate) Arc<Station>);

/// Start of the result of a call that policy has refused.
const REFUSED: &str = "Error: Refused: ";

impl StepHook for Refusals {
    fn after_call<'a>(
        &'a self,
        call: &'a ModelCall,
        output: &'a mut ToolOutput,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async {
            let Some(why) = output.words().strip_prefix(REFUSED) else { return };
            let words = format!("A call of {} was refused: {why}", call.name());
            if let Err(error) = self.0.membership.send(LEAD, "refused", &words).await {
                tracing::info!(%error, "a refusal was not told");
            }
        })
    }
}
