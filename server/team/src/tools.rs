//! The team's tools. The lead has some that members have not, and the other way round; where both have one of a name, it
//! does for each what its side of the matter is.

mod idle;
mod list_teammates;
mod messages;
mod plan_approval;
mod shutdown;
mod spawn_teammate;
mod task_claim;
mod task_create;
mod task_list;
mod task_update;

use crate::error::TeamError;
use crate::owner::ToolOwner;
use crate::station::Station;
use futures::future::BoxFuture;
use ropewalk_tools::{Registry, Subject, ToolOutput};
use std::sync::Arc;

/// Tools of both sides.
fn of_all(registry: Registry, owner: &ToolOwner) -> Registry {
    registry
        .with(task_create::TaskCreate(owner.clone()))
        .with(task_list::TaskList(owner.clone()))
        .with(task_list::TaskGet(owner.clone()))
        .with(task_update::TaskUpdate(owner.clone()))
        .with(task_claim::ClaimTask(owner.clone()))
        .with(list_teammates::ListTeammates(owner.clone()))
        .with(messages::SendMessage(owner.clone()))
        .with(messages::Broadcast(owner.clone()))
        .with(messages::ReadInbox(owner.clone()))
        .with(idle::Idle(owner.clone()))
}

/// Adds the lead's tools.
pub(crate) fn of_lead(registry: Registry, owner: ToolOwner) -> Registry {
    of_all(registry.with(spawn_teammate::SpawnTeammate(owner.clone())), &owner)
        .with(shutdown::ShutdownRequest(owner.clone()))
        .with(shutdown::RequestQuery(owner.clone()))
        .with(plan_approval::ApprovePlan(owner))
}

/// Adds a teammate's tools.
pub(crate) fn of_member(registry: Registry, station: Arc<Station>) -> Registry {
    let owner = ToolOwner::Member(station);
    of_all(registry, &owner)
        .with(shutdown::AnswerShutdown(owner.clone()))
        .with(plan_approval::SubmitPlan(owner))
}

/// A call's work, whose failure is a result for the model.
fn told<F>(work: F) -> BoxFuture<'static, ToolOutput>
where
    F: Future<Output = Result<ToolOutput, TeamError>> + Send + 'static,
{
    Box::pin(async { work.await.unwrap_or_else(ToolOutput::error) })
}

/// A subject with this title alone.
fn titled(title: impl Into<String>) -> Subject {
    Subject { title: title.into(), ..Subject::default() }
}

/// A result that ends the turn.
fn ending(text: impl Into<String>) -> ToolOutput {
    ToolOutput { ends_turn: true, ..ToolOutput::text(text) }
}
