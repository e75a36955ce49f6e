//! `bash`: a command of the user's shell. Where it runs is its [`CommandRunner`]'s.

use crate::blocking::on_thread;
use crate::private::{private_folder, whole_output};
use crate::runner::{Command, CommandMode, CommandRunner, DEFAULT_TIMEOUT};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use ropewalk_workspace::View;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// See the module.
pub struct Bash {
    runner: Arc<dyn CommandRunner>,
}

impl Bash {
    /// The tool whose commands this runner runs.
    pub fn new(runner: Arc<dyn CommandRunner>) -> Self {
        Self { runner }
    }
}

/// The longest time a call may ask for, unless commands have more by the configuration.
const LONGEST: Duration = Duration::from_secs(600);

/// The longest time a command in the background may take.
const LONGEST_IN_BACKGROUND: Duration = Duration::from_secs(24 * 60 * 60);

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct BashInput {
    /// The command.
    command: String,
    /// The folder to run in; the first root if left out.
    cwd: Option<String>,
    /// Seconds until it is killed; 120 if left out, none in the background.
    timeout: Option<u32>,
    /// True if it needs the network, or the host's localhost; the user is asked.
    network: Option<bool>,
    /// True if it runs on beside the calls that follow, as a server or a long build does. Its end is told to you.
    background: Option<bool>,
}

impl TypedTool for Bash {
    type Input = BashInput;
    const NAME: &'static str = "bash";
    const DESCRIPTION: &'static str = "Runs a shell command on the files as they are on disk: unsaved text and your pending changes are not there. No input, no terminal. Each call is a new shell; processes it leaves running are ended.";
    const EFFECT: Effect = Effect::Execute;

    fn description(&self) -> String {
        let words = match self.runner.info().mode {
            CommandMode::OverFork => {
                "Runs a shell command in your private copy of the project: it sees unsaved text and your pending changes under the real paths, and what it writes is reviewed like your edits. No network unless you ask for it, nothing outside the open folders but the system and toolchains. No input, no terminal. Each call is a new shell; processes it leaves running are ended."
            }
            CommandMode::Copy => {
                "Runs a shell command on a copy of the open folders with unsaved text and your pending changes in it; what it writes there is reviewed like your edits. Paths differ: the copy is elsewhere. No input, no terminal. Each call is a new shell; processes it leaves running are ended."
            }
            CommandMode::InPlace => Self::DESCRIPTION,
        };
        words.to_owned()
    }

    fn subject(&self, input: &BashInput) -> Subject {
        Subject {
            title: input.command.clone(),
            command: Some(input.command.clone()),
            paths: input.cwd.iter().cloned().collect(),
            network: input.network.unwrap_or_default(),
            ..Subject::default()
        }
    }

    fn run(&self, input: BashInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        let runner = self.runner.clone();
        Box::pin(
            async move { bash(&*runner, input, context).await.unwrap_or_else(|failure| failure) },
        )
    }
}

async fn bash(
    runner: &dyn CommandRunner,
    input: BashInput,
    context: Context,
) -> Result<ToolOutput, ToolOutput> {
    let view = context.view.clone();
    let cwd = on_thread(move |_| folder(&view, input.cwd.as_deref())).await?;
    let in_background = input.background.unwrap_or_default();
    let asked = input.timeout.map(|seconds| Duration::from_secs(seconds.max(1).into()));
    let (usual, longest) = match in_background {
        true => (LONGEST_IN_BACKGROUND, LONGEST_IN_BACKGROUND),
        false => (context.command_time, LONGEST.max(context.command_time)),
    };
    let output_file = match &context.outputs {
        Some(folder) => output_file(folder, &context.call).await,
        None => None,
    };
    let timeout = asked.unwrap_or(usual).min(longest);
    let command = Command { command: input.command, cwd, timeout, output_file };
    let mut output = match in_background {
        true => runner.start(command, context).await,
        false => runner.run(command, context).await,
    };
    if asked.is_some_and(|asked| asked > longest) {
        output.say(&format!("\n(a command may take {} seconds at most)", longest.as_secs()));
    }
    Ok(output)
}

/// The folder to run in: inside the roots, the first of them if none is named.
fn folder(view: &View, cwd: Option<&str>) -> Result<PathBuf, ToolOutput> {
    match (cwd, view.roots().first()) {
        (Some(cwd), _) => view.contain(cwd).map(|place| place.path).map_err(ToolOutput::error),
        (None, Some(root)) => Ok(root.path().to_owned()),
        (None, None) => {
            Err(ToolOutput::error("no folder is open, so there is nowhere to run a command"))
        }
    }
}

/// Where a call's whole output goes; None when its folder can't be made.
async fn output_file(folder: &Path, call: &str) -> Option<PathBuf> {
    if let Err(error) = private_folder(folder).await {
        tracing::warn!(%error, "whole outputs can't be kept");
        return None;
    }
    Some(whole_output(folder, call))
}

/// The shown names of files whose text a command on the disk won't see: unsaved in the editor, or with
/// changes that are not published. Sorted.
pub fn unseen_files(view: &View) -> Vec<String> {
    let unsaved = view.buffers().iter().filter(|(_, seen)| seen.dirty).map(|(id, _)| id);
    let mut names: Vec<String> = unsaved
        .chain(view.entries().keys())
        .filter_map(|id| view.roots().place_of(&id.path()?).ok())
        .map(|place| place.shown)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The default is said in the schema.
const _: () = assert!(DEFAULT_TIMEOUT.as_secs() == 120, "the schema says 120");
