//! `check_background`: what runs in the background, what one has printed so far, and its end.

use futures::future::BoxFuture;
use ropewalk_tools::{Context, Effect, Output, Subject, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckBackground;

/// What the model gives.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct Input {
    /// The number of one command; all are listed if left out.
    id: Option<String>,
    /// Whether to end it.
    stop: Option<bool>,
}

impl Tool for CheckBackground {
    type Input = Input;
    const NAME: &'static str = "check_background";
    const DESCRIPTION: &'static str = "Lists the commands that run in the background; with an id, shows what one has printed so far, or ends it. You are told of its end without asking.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &Input) -> Subject {
        Subject { title: input.id.clone().unwrap_or_default(), ..Subject::default() }
    }

    fn run(&self, input: Input, context: Context) -> BoxFuture<'static, Output> {
        let commands = context.commands;
        let said = match (&input.id, input.stop.unwrap_or_default()) {
            (None, false) => Ok(commands.background_in_words()),
            (None, true) => Err("say which by its id".to_owned()),
            (Some(id), false) => commands.background_output(id),
            (Some(id), true) => commands.stop_background(id),
        };
        Box::pin(async { said.map_or_else(Output::error, Output::text) })
    }
}
