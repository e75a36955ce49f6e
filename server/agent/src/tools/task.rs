//! `task`: a subagent does a part of the work in a conversation of its own.
//!
//! Here is what the model is told and gives. A turn runs the calls, several at a time: see [`crate::subagent`].

use futures::future::BoxFuture;
use ropewalk_guidance::section::list;
use ropewalk_guidance::type_files::FoundTypes;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub(crate) struct TaskTool {
    /// Names and purposes of the types that the model is told of.
    types: Vec<(String, String)>,
}

impl Default for TaskTool {
    fn default() -> Self {
        Self::offering(offers(&FoundTypes::default()))
    }
}

impl TaskTool {
    /// The tool with these types in its description.
    pub(crate) fn offering(types: Vec<(String, String)>) -> Self {
        Self { types }
    }
}

/// Names and purposes of types.
pub(crate) fn offers(found: &FoundTypes) -> Vec<(String, String)> {
    found.types.iter().map(|one| (one.name.clone(), one.purpose.clone())).collect()
}

/// Input that the model gives.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct TaskInput {
    /// The task in three to five words, for the user.
    pub(crate) description: String,
    /// The whole task: the subagent knows nothing of this conversation.
    pub(crate) prompt: String,
    /// The type of subagent.
    pub(crate) agent_type: String,
}

impl TypedTool for TaskTool {
    type Input = TaskInput;
    const NAME: &'static str = "task";
    const DESCRIPTION: &'static str = "Gives a part of the work to a subagent, which has a fresh context and returns a summary: for wide searches, and for parts that stand by themselves. Calls made together in one reply run in parallel.";
    const EFFECT: Effect = Effect::Session;

    fn description(&self) -> String {
        let types: Vec<(&str, &str)> =
            self.types.iter().map(|(name, purpose)| (&**name, &**purpose)).collect();
        format!("{} Types:\n{}", Self::DESCRIPTION, list(&types).trim_end())
    }

    fn subject(&self, input: &TaskInput) -> Subject {
        let title = format!("{}: {}", input.agent_type, input.description);
        Subject { title, ..Subject::default() }
    }

    fn run(&self, _: TaskInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        // The turn runs these calls: a tool has not what they need of it.
        Box::pin(std::future::ready(ToolOutput::error("only a turn can start a subagent")))
    }
}
