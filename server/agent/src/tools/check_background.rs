//! `check_background`: what runs in the background, what one has printed since the last look, and its end.

use futures::future::BoxFuture;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::runner::{BackgroundInfo, BackgroundState, CommandRunner, Stop};
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// See the module.
pub struct CheckBackground {
    runner: Arc<dyn CommandRunner>,
}

impl CheckBackground {
    /// The tool that looks after the commands of this runner.
    pub fn new(runner: Arc<dyn CommandRunner>) -> Self {
        Self { runner }
    }
}

/// Input that the model gives.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct CheckBackgroundInput {
    /// The number of one command; all are listed if left out.
    id: Option<String>,
    /// True if it is to be ended.
    stop: Option<bool>,
}

impl TypedTool for CheckBackground {
    type Input = CheckBackgroundInput;
    const NAME: &'static str = "check_background";
    const DESCRIPTION: &'static str = "Lists the commands that run in the background; with an id, shows what one has printed since the last look, or ends it. You are told of its end without asking.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &CheckBackgroundInput) -> Subject {
        Subject { title: input.id.clone().unwrap_or_default(), ..Subject::default() }
    }

    fn run(&self, input: CheckBackgroundInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let all = self.runner.background();
        let said = match (&input.id, input.stop.unwrap_or_default()) {
            (None, false) => Ok(list(&all)),
            (None, true) => Err("say which by its id".to_owned()),
            (Some(id), false) => find(&all, id).map(|one| {
                let now = self.runner.look(one.id);
                state(now.as_ref().unwrap_or(one))
            }),
            (Some(id), true) => {
                find(&all, id).map(|one| match self.runner.stop(Stop::One(one.id)) {
                    0 => "It had ended already.".to_owned(),
                    _ => format!("Number {} is being stopped; its end will be told.", one.id),
                })
            }
        };
        Box::pin(async { said.map_or_else(ToolOutput::error, ToolOutput::text) })
    }
}

/// All of them, a line for each.
fn list(all: &[BackgroundInfo]) -> String {
    let line = |one: &BackgroundInfo| {
        let command = preview(&one.command, PREVIEW_CHARS);
        match one.state {
            BackgroundState::Running { seconds, .. } => {
                format!("{}: runs for {seconds} s: {command}", one.id)
            }
            BackgroundState::Ended(_) => format!("{}: has ended: {command}", one.id),
        }
    };
    match all {
        [] => "(no commands in the background)".to_owned(),
        all => all.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

/// The one of this id.
fn find<'a>(all: &'a [BackgroundInfo], id: &str) -> Result<&'a BackgroundInfo, String> {
    let number = id.trim().parse::<u64>().ok();
    number.and_then(|number| all.iter().find(|one| one.id == number)).ok_or_else(|| {
        let id = preview(id, 40);
        format!("{id:?} is no command in the background: leave the id out to list them")
    })
}

/// How far one is.
fn state(one: &BackgroundInfo) -> String {
    match &one.state {
        BackgroundState::Ended(text) => format!("It has ended. {text}"),
        BackgroundState::Running { seconds, printed, is_cut, file } => {
            let whole = file.as_ref().map(|file| format!(" (the whole is in {})", file.display()));
            let whole = whole.unwrap_or_default();
            match (printed.trim().is_empty(), is_cut) {
                (true, _) => {
                    format!(
                        "It runs for {seconds} s, and has printed nothing since the last look{whole}."
                    )
                }
                (false, true) => format!(
                    "It runs for {seconds} s. The end of what it has printed since the last look{whole}:\n{printed}"
                ),
                (false, false) => format!(
                    "It runs for {seconds} s. Printed since the last look{whole}:\n{printed}"
                ),
            }
        }
    }
}
