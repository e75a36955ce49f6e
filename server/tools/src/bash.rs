//! `bash`: a command of the user's shell, run in place on the disk.
//!
//! It sees what is saved and published, nothing else: [`unseen_files`] names what it won't see.

use crate::blocking::on_thread;
use crate::command::{
    CommandSpec, DEFAULT_TIMEOUT, Exit, LeftRunning, private_folder, result_text, run,
    strip_escapes,
};
use crate::tool::{Context, Effect, Output, Subject, Tool};
use futures::future::BoxFuture;
use ropewalk_workspace::View;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// See the module. What commands leave running in the background ends with it.
#[derive(Clone, Debug, Default)]
pub struct Bash {
    left_running: Arc<Mutex<Vec<LeftRunning>>>,
}

/// The longest time a call may ask for, unless commands have more by the configuration.
const LONGEST: Duration = Duration::from_secs(600);

/// What the model gives.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct Input {
    /// The command.
    command: String,
    /// The folder to run in; the first root if left out.
    cwd: Option<String>,
    /// Seconds until it is killed; 120 if left out.
    timeout: Option<u32>,
}

impl Tool for Bash {
    type Input = Input;
    const NAME: &'static str = "bash";
    const DESCRIPTION: &'static str = "Runs a shell command on the files as they are on disk: unsaved text and unpublished changes are not there. No input, no terminal. Each call is a new shell.";
    const EFFECT: Effect = Effect::Execute;

    fn subject(&self, input: &Input) -> Subject {
        Subject {
            title: input.command.clone(),
            command: Some(input.command.clone()),
            paths: input.cwd.iter().cloned().collect(),
        }
    }

    fn run(&self, input: Input, context: Context) -> BoxFuture<'static, Output> {
        let left_running = self.left_running.clone();
        Box::pin(async move {
            bash(input, context, &left_running).await.unwrap_or_else(|failure| failure)
        })
    }
}

async fn bash(
    input: Input,
    context: Context,
    left_running: &Mutex<Vec<LeftRunning>>,
) -> Result<Output, Output> {
    let view = context.view.clone();
    let cwd = on_thread(move |_| folder(&view, input.cwd.as_deref())).await?;
    let asked = input.timeout.map(|seconds| Duration::from_secs(seconds.max(1).into()));
    let longest = LONGEST.max(context.command_time);
    let timeout = asked.unwrap_or(context.command_time).min(longest);
    let output_file = match &context.outputs {
        Some(folder) => output_file(folder, &context.call).await,
        None => None,
    };
    let spec = CommandSpec {
        command: input.command,
        cwd,
        env: context.secrets.environment(std::env::vars_os()),
        timeout,
        output_file: output_file.clone(),
        secrets: context.secrets.clone(),
    };
    let sink = context.sink.clone();
    let ran = run(spec, Some(Box::new(move |text| sink(text))), std::future::pending()).await;
    let cut = ran.as_ref().is_ok_and(|outcome| {
        let output = &outcome.output;
        let whole = [output.head.as_slice(), output.tail.as_slice()].concat();
        let shown = strip_escapes(&String::from_utf8_lossy(&whole));
        output.left_out > 0 || shown.chars().count() > context.bounds.max_chars
    });
    if let (Some(file), false) = (&output_file, cut)
        && let Err(error) = tokio::fs::remove_file(file).await
    {
        tracing::debug!(%error, "an output file that nobody needs stays");
    }
    // These errors bring the word with them.
    let mut outcome = ran.map_err(|error| Output {
        text: error.to_string(),
        is_error: true,
        proposals: Vec::new(),
    })?;
    let mut text = result_text(&outcome, context.bounds);
    if asked.is_some_and(|asked| asked > longest) {
        text.push_str(&format!("\n(a command may take {} seconds at most)", longest.as_secs()));
    }
    if let Some(left) = outcome.left_running.take() {
        let mut all = left_running.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(LeftRunning::is_alive);
        all.push(left);
    }
    let is_error = matches!(outcome.exit, Exit::TimedOut(_) | Exit::Interrupted);
    Ok(Output { text, is_error, proposals: Vec::new() })
}

/// The folder to run in: inside the roots, the first of them if none is named.
fn folder(view: &View, cwd: Option<&str>) -> Result<PathBuf, Output> {
    match (cwd, view.roots().first()) {
        (Some(cwd), _) => view.contain(cwd).map(|place| place.path).map_err(Output::error),
        (None, Some(root)) => Ok(root.path().to_owned()),
        (None, None) => {
            Err(Output::error("no folder is open, so there is nowhere to run a command"))
        }
    }
}

/// Where a call's whole output goes; None when its folder can't be made.
async fn output_file(folder: &Path, call: &str) -> Option<PathBuf> {
    if let Err(error) = private_folder(folder).await {
        tracing::warn!(%error, "whole outputs can't be kept");
        return None;
    }
    // The id is the model's, and a file's name is ours.
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    let name: String = call.chars().map(plain).take(80).collect();
    Some(folder.join(format!("bash-{name}.txt")))
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
