//! A tool call as the model made it: what it is, and how its input is read.

use crate::history::History;
use ropewalk_model::{Block, ToolInput};
use ropewalk_text::plain::plain_line;
use ropewalk_tools::bash::Bash;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::danger::readable_commands;
use ropewalk_tools::input::{loose, overlooked};
use ropewalk_tools::registry::CallError;
use ropewalk_tools::{Effect, Registry, Tool, ToolOutput, TypedTool as _, tool};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// See the module.
#[derive(Debug, Clone)]
pub struct ModelCall {
    pub(super) id: Arc<str>,
    pub(super) name: String,
    pub(super) input: ToolInput,
    /// Faults of its input that were overlooked to read it, in words.
    overlooked: Option<String>,
    /// Files that it reads or writes, once it was understood.
    files: Vec<String>,
}

/// A call that was understood, and its tool.
pub(crate) type ParsedCall = (Arc<dyn Tool>, tool::Call);

impl ModelCall {
    /// The call's id, unique in its session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The input as the model gave it.
    pub fn input(&self) -> &ToolInput {
        &self.input
    }

    /// The files that it reads or writes, as the model named them.
    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    /// Keeps the files of the call as it was understood.
    pub(super) fn keep_files(&mut self, understood: &tool::Call) {
        if matches!(understood.effect, Effect::Read | Effect::Write) {
            self.files.clone_from(&understood.subject.paths);
        }
    }

    /// The call that a block of a reply is, if it is one.
    pub(crate) fn of(block: &Block) -> Option<ModelCall> {
        let Block::ToolUse { id, name, input } = block else { return None };
        let (name, input) = (name.clone(), input.clone());
        Some(ModelCall { id: id.as_str().into(), name, input, overlooked: None, files: Vec::new() })
    }

    /// The same, whose input was read as [`read_loosely`] has said.
    pub(crate) fn overlooking(self, overlooked: Option<String>) -> ModelCall {
        ModelCall { overlooked, ..self }
    }

    /// Key that is equal for equal calls.
    pub(crate) fn key(&self) -> String {
        match &self.input {
            ToolInput::Json(input) => format!("{}\n{input}", self.name),
            ToolInput::Broken(text) => format!("{}\n{text}", self.name),
        }
    }

    /// Key that is equal for the same failure, if it failed: the call, and for a command that failed by its own
    /// account the command, its end and its output.
    pub(super) fn failure(&self, output: &ToolOutput) -> Option<String> {
        match (output.is_error, output.failure, &self.input) {
            (true, ..) => Some(self.key()),
            (false, Some(how), ToolInput::Json(input)) => {
                Some(format!("{}\n{:?}\n{how}", self.name, input.get("command")))
            }
            _ => None,
        }
    }

    /// True if it runs a command with the program `sleep` in it.
    pub(super) fn sleeps(&self) -> bool {
        let ToolInput::Json(input) = &self.input else { return false };
        let command =
            input.get("command").and_then(Value::as_str).filter(|_| self.name == Bash::NAME);
        command.is_some_and(|command| {
            readable_commands(command).0.iter().any(|one| one.program() == Some("sleep"))
        })
    }

    /// The first line of its command, if it runs one.
    pub(super) fn command_line(&self) -> Option<String> {
        let ToolInput::Json(input) = &self.input else { return None };
        if self.name != Bash::NAME {
            return None;
        }
        Some(first_line(input.get("command")?.as_str()?))
    }

    pub(super) fn parse(
        &self,
        registry: &Registry,
        is_told: impl Fn(&str) -> bool,
    ) -> Result<ParsedCall, ToolOutput> {
        let refused = |error: CallError| match error {
            CallError::Unknown { name, .. } => {
                let known = registry.names().filter(|name| is_told(name)).collect::<Vec<_>>();
                let known = known.join(", ");
                ToolOutput::failed(CallError::Unknown { name, known }.to_string())
            }
            CallError::Input(_) => ToolOutput::failed(error.to_string()),
        };
        let text = match &self.input {
            ToolInput::Json(input) => {
                let (tool, mut call) =
                    registry.parse(&self.name, input.clone()).map_err(refused)?;
                call.conversions.extend(self.overlooked.clone());
                return Ok((tool, call));
            }
            ToolInput::Broken(text) => text,
        };
        let schema = registry.tool(&self.name).map_err(refused)?.spec().schema;
        let why = serde_json::from_str::<Value>(text).err().map(|error| error.to_string());
        Err(ToolOutput::error(format_args!(
            "Invalid input for {}: it is not valid JSON ({}): {}. Send the call again with an input by its schema \
             {schema}",
            self.name,
            why.unwrap_or_default(),
            preview(text, PREVIEW_CHARS),
        )))
    }
}

/// How much of a command is shown with what it changed, in characters.
const LONGEST_COMMAND: usize = 80;

/// The first line of a command, as it is shown with what it changed.
pub(crate) fn first_line(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    plain_line(&preview(line, LONGEST_COMMAND))
}

/// The first lines of all commands of a history, by the ids of their calls.
pub(crate) fn commands(history: &History) -> HashMap<Arc<str>, String> {
    let blocks = history.messages().flat_map(|message| &message.content);
    let calls = blocks.filter_map(ModelCall::of);
    calls.filter_map(|call| Some((call.id.clone(), call.command_line()?))).collect()
}

/// Reads the inputs of calls that are JSON but for what models write around it; for each call what was overlooked.
pub(crate) fn read_loosely(blocks: &mut [Block]) -> Vec<Option<String>> {
    let inputs = blocks.iter_mut().filter_map(|block| match block {
        Block::ToolUse { input, .. } => Some(input),
        _ => None,
    });
    let read = |input: &mut ToolInput| {
        let ToolInput::Broken(text) = input else { return None };
        let (value, what) = loose::read(text)?;
        *input = ToolInput::Json(value);
        Some(overlooked(&what))
    };
    inputs.map(read).collect()
}
