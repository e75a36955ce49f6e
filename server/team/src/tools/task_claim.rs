//! `claim_task`: a member takes a task that it names.

use super::{ending, titled, told};
use crate::owner::ToolOwner;
use crate::station::TaskStep;
use futures::future::BoxFuture;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub(crate) struct ClaimTask(pub(crate) ToolOwner);

/// A task's number.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct TaskClaimInput {
    task_id: i64,
}

impl TypedTool for ClaimTask {
    type Input = TaskClaimInput;
    const NAME: &'static str = "claim_task";
    const DESCRIPTION: &'static str = "Makes a task of the board yours.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &TaskClaimInput) -> Subject {
        titled(format!("#{}", input.task_id))
    }

    fn run(&self, input: TaskClaimInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let number = input.task_id;
            let other = station.task().map(|task| task.number).filter(|other| *other != number);
            if let Some(other) = other {
                return Err(format!("task #{other} is yours: complete or return it first").into());
            }
            if station.claim_of(number).is_some() || station.has_step() {
                return Err(format!(
                    "task #{number} is yours already, or another step comes first"
                )
                .into());
            }
            let task = station.membership.claim_number(number).await?;
            let text = format!("Claimed task #{number} for {}", station.name());
            if owner.is_lead() {
                station.set_task(Some(task));
                return Ok(ToolOutput::text(text));
            }
            station.note_step(TaskStep::Begin(Box::new(task)));
            Ok(ending(text))
        })
    }
}
