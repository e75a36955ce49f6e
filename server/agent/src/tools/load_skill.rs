//! `load_skill`: gives the model the text of a skill, when a task fits its description.

use crate::skills::Skills;
use futures::future::BoxFuture;
use ropewalk_tools::blocking::on_thread;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// See the module.
pub(crate) struct LoadSkill {
    skills: Arc<Skills>,
}

impl LoadSkill {
    pub(crate) fn new(skills: Arc<Skills>) -> Self {
        Self { skills }
    }
}

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct LoadSkillInput {
    /// The skill's name.
    name: String,
}

impl TypedTool for LoadSkill {
    type Input = LoadSkillInput;
    const NAME: &'static str = "load_skill";
    const DESCRIPTION: &'static str = "Loads a skill of the system prompt's list: its instructions, and where its files are. Do it before you begin a task that it fits.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &LoadSkillInput) -> Subject {
        Subject { title: input.name.clone(), ..Subject::default() }
    }

    fn run(&self, input: LoadSkillInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        let skills = self.skills.clone();
        Box::pin(async move {
            let (reading, view) = (skills.clone(), context.view);
            let read =
                on_thread(move |_| reading.get(&view, &input.name).map_err(ToolOutput::error));
            // Given where nothing is awaited behind it: an interrupted call gives nothing.
            match read.await {
                Ok(loading) => ToolOutput::text(skills.give(loading)),
                Err(failure) => failure,
            }
        })
    }
}
