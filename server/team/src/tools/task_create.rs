//! `task_create`: a task on the board, for whoever claims it.

use super::{titled, told};
use crate::owner::ToolOwner;
use crate::words::shown_task;
use futures::future::BoxFuture;
use ropewalk_board::NewTask;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub(crate) struct TaskCreate(pub(crate) ToolOwner);

/// A new task.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct TaskCreateInput {
    /// One line.
    subject: String,
    /// All one must know to do it.
    #[serde(default)]
    description: Option<String>,
    #[serde(default, rename = "blockedBy")]
    blocked_by: Vec<i64>,
    /// Role it is for; else any.
    #[serde(default)]
    role: Option<String>,
}

impl TypedTool for TaskCreate {
    type Input = TaskCreateInput;
    const NAME: &'static str = "task_create";
    const DESCRIPTION: &'static str = "Puts a task on the team's board. Idle members claim tasks by themselves, lowest number first.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &TaskCreateInput) -> Subject {
        titled(&input.subject)
    }

    fn run(&self, input: TaskCreateInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let TaskCreateInput { subject, description, blocked_by, role } = input;
            if subject.trim().is_empty() {
                return Err("subject is empty: say the task in one line".into());
            }
            let (description, role) = (description.unwrap_or_default(), role.unwrap_or_default());
            let new = NewTask { subject, description, role, blocked_by };
            let task = station.team().create(station.name(), &new).await?;
            Ok(ToolOutput::text(shown_task(&task)))
        })
    }
}
