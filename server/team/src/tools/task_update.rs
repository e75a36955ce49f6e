//! `task_update`: a task is completed, returned, cancelled or begun anew, gets a note, or waits for another.

use super::{ending, titled, told};
use crate::error::TeamError;
use crate::owner::ToolOwner;
use crate::station::{Station, TaskStep};
use crate::words::shown_task;
use futures::future::BoxFuture;
use ropewalk_board::{BoardError, ReturnReason, Task, TaskStatus};
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub(crate) struct TaskUpdate(pub(crate) ToolOwner);

// Status that can be asked for. Comments of documentation would go along in each request.
#[derive(Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WantedStatus {
    // Given back uncounted, or begun anew.
    Pending,
    // Claimed by you: `claim_task` does that.
    InProgress,
    // Done.
    Completed,
    // Given back as failed, with the note as the reason.
    Failed,
    // Needed no more.
    #[serde(alias = "deleted")]
    Cancelled,
}

/// A change of a task.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct TaskUpdateInput {
    task_id: i64,
    #[serde(default)]
    #[schemars(with = "WantedStatus")]
    status: Option<WantedStatus>,
    #[serde(default, rename = "addBlockedBy")]
    add_blocked_by: Vec<i64>,
    #[serde(default, rename = "addBlocks")]
    add_blocks: Vec<i64>,
    /// For its next reader; a summary if completed.
    #[serde(default)]
    note: Option<String>,
}

impl TypedTool for TaskUpdate {
    type Input = TaskUpdateInput;
    const NAME: &'static str = "task_update";
    const DESCRIPTION: &'static str = "Changes a task. `completed` hands over all you changed for it and ends your turn; the next task comes by itself. `pending` gives it back, `failed` too, with the note as reason.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &TaskUpdateInput) -> Subject {
        titled(format!("#{}", input.task_id))
    }

    fn run(&self, input: TaskUpdateInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            update(&station, owner.is_lead(), input).await
        })
    }
}

async fn update(
    station: &Station,
    is_lead: bool,
    input: TaskUpdateInput,
) -> Result<ToolOutput, TeamError> {
    let (team, name, number) = (station.team(), station.name(), input.task_id);
    for other in &input.add_blocked_by {
        team.add_edge(name, number, *other).await?;
    }
    for other in &input.add_blocks {
        team.add_edge(name, *other, number).await?;
    }
    let note = input.note.unwrap_or_default();
    let ends = match (input.status, station.claim_of(number)) {
        (Some(WantedStatus::Completed), Some(_)) if !is_lead => {
            return complete_at_end(station, number, note).await;
        }
        (Some(WantedStatus::Completed), Some(claim)) => {
            station.membership.complete(claim, &note, None).await?;
            station.set_task(None);
            false
        }
        (Some(WantedStatus::Failed | WantedStatus::Pending), Some(claim)) => {
            let failed = input.status == Some(WantedStatus::Failed);
            if failed && note.trim().is_empty() {
                return Err("say in note why it failed, for whoever tries it next".into());
            }
            let reason = if failed { ReturnReason::Failed(note) } else { ReturnReason::Leaving };
            station.membership.give_back(claim, &reason).await?;
            station.set_task(None);
            !is_lead
        }
        (Some(WantedStatus::InProgress), None) => {
            return Err("claim_task claims a task; nobody can claim one for another".into());
        }
        (Some(WantedStatus::Completed | WantedStatus::Failed), None) => {
            return Err(not_yours(&team.task(number).await?).into());
        }
        (Some(WantedStatus::Pending), None) => {
            team.restart(name, number).await?;
            add_note(station, number, &note).await?;
            false
        }
        (Some(WantedStatus::Cancelled), claim) => {
            team.cancel(name, number).await?;
            if claim.is_some() {
                station.set_task(None);
            }
            add_note(station, number, &note).await?;
            false
        }
        (Some(WantedStatus::InProgress) | None, _) => {
            add_note(station, number, &note).await?;
            false
        }
    };
    let text = shown_task(&team.task(number).await?);
    Ok(if ends { ending(text) } else { ToolOutput::text(text) })
}

/// Plans the completion of a teammate's own task: it is completed together with its changes, which are taken as the turn ends.
async fn complete_at_end(
    station: &Station,
    number: i64,
    note: String,
) -> Result<ToolOutput, TeamError> {
    let waits_for = station.team().task(number).await?.blocked_by;
    if !waits_for.is_empty() {
        return Err(BoardError::Blocked { number, waits_for }.into());
    }
    station.note_step(TaskStep::Complete(note));
    Ok(ending(format!("Task #{number} is completed as this turn ends.")))
}

/// Why a task can't be ended by somebody who has not claimed it.
fn not_yours(task: &Task) -> String {
    let whose = match (&task.owner, task.status) {
        (Some(owner), TaskStatus::InProgress) => format!("it is {owner}'s"),
        (_, status) => format!("it is {}: claim it first", status.word()),
    };
    format!("task #{} is not yours: {whose}", task.number)
}

async fn add_note(station: &Station, number: i64, note: &str) -> Result<(), TeamError> {
    if !note.trim().is_empty() {
        station.team().note(station.name(), number, note).await?;
    }
    Ok(())
}
