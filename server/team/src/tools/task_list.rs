//! `task_list` and `task_get`: the board, and one task of it.

use super::{titled, told};
use crate::owner::ToolOwner;
use crate::words::{PAGE, shown_task};
use futures::future::BoxFuture;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Lists tasks.
pub(crate) struct TaskList(pub(crate) ToolOwner);

/// A page, from 1.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct TaskListInput {
    #[serde(default)]
    page: Option<i64>,
}

impl TypedTool for TaskList {
    type Input = TaskListInput;
    const NAME: &'static str = "task_list";
    const DESCRIPTION: &'static str = "Lists the board's tasks: status, owner, what they wait for.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, _: &TaskListInput) -> Subject {
        titled("")
    }

    fn run(&self, input: TaskListInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let page = input.page.unwrap_or(1).max(1);
            // Numbers of a team's tasks have no gaps.
            let after = (page - 1).saturating_mul(PAGE);
            let tasks = station.team().tasks(after, PAGE).await?;
            if tasks.is_empty() {
                return Ok(ToolOutput::text("No tasks."));
            }
            let mut lines: Vec<String> = tasks.iter().map(shown_task).collect();
            if tasks.len() == usize::try_from(PAGE).unwrap_or(usize::MAX) {
                lines.push(format!("... (page {} has more)", page + 1));
            }
            Ok(ToolOutput::text(lines.join("\n")))
        })
    }
}

/// Shows one task.
pub(crate) struct TaskGet(pub(crate) ToolOwner);

/// A task's number.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct TaskNumber {
    task_id: i64,
}

impl TypedTool for TaskGet {
    type Input = TaskNumber;
    const NAME: &'static str = "task_get";
    const DESCRIPTION: &'static str = "Shows a whole task.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &TaskNumber) -> Subject {
        titled(format!("#{}", input.task_id))
    }

    fn run(&self, input: TaskNumber, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let task = station.team().task(input.task_id).await?;
            let whole = json!({
                "id": task.number,
                "subject": task.subject,
                "description": task.description,
                "notes": task.notes,
                "status": task.status.word(),
                "owner": task.owner,
                "role": task.role,
                "blockedBy": task.blocked_by,
                "attempt": task.attempt,
                "failures": task.failures,
            });
            let text = serde_json::to_string_pretty(&whole).unwrap_or_default();
            Ok(ToolOutput::text(text))
        })
    }
}
