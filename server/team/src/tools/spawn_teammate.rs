//! `spawn_teammate`: another agent works beside the lead, and finds its own work.

use super::told;
use crate::owner::{ENDED, NewTeammate, ToolOwner};
use futures::future::BoxFuture;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub(crate) struct SpawnTeammate(pub(crate) ToolOwner);

/// A teammate.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct SpawnTeammateInput {
    name: String,
    /// Such as `coder`; tasks may name it.
    role: String,
    /// It knows nothing of this conversation.
    prompt: String,
    /// Changes nothing before you approve its plan.
    #[serde(default)]
    plan: bool,
    /// As `provider/name`.
    #[serde(default)]
    model: Option<String>,
}

impl TypedTool for SpawnTeammate {
    type Input = SpawnTeammateInput;
    const NAME: &'static str = "spawn_teammate";
    const DESCRIPTION: &'static str = "Starts an agent beside you, on its own copy: it claims tasks by itself; its changes come to your review, its news to you.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &SpawnTeammateInput) -> Subject {
        Subject {
            title: format!("{} ({})", input.name, input.role),
            asks: Some("it starts another agent, which uses the model beside this one".to_owned()),
            ..Subject::default()
        }
    }

    fn run(&self, input: SpawnTeammateInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let lead = owner.lead().ok_or(ENDED)?;
            let SpawnTeammateInput { name, role, prompt, plan, model } = input;
            let text = format!("Spawned '{name}' (role: {role})");
            lead.spawn(NewTeammate { name, role, prompt, plans: plan, model }).await?;
            Ok(ToolOutput::text(text))
        })
    }
}
