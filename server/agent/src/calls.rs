//! Tool calls of one step: prepared, judged by policy, run on a frozen view, merged into the fork.
//!
//! Calls that only read run in parallel on one view; others run in order, each on a view of its own. Every
//! call gets a result, also when the user interrupts or the tool breaks down.

mod enter;
mod judge;
mod printed;
mod repeats;

use crate::changes::Origin;
use crate::history::History;
use crate::journal::outputs;
use crate::reads::{Read, shown as shown_texts};
use crate::turn::Turn;
use futures::FutureExt;
pub(crate) use printed::Printed;
pub(crate) use repeats::Repeats;
use ropewalk_model::{Block, ToolInput};
use ropewalk_protocol::{Content, Event};
use ropewalk_text::plain::{plain, plain_line};
use ropewalk_tools::bash::Bash;
use ropewalk_tools::bounds::{NOTE_CHARS, PREVIEW_CHARS, bound, preview};
use ropewalk_tools::input::{loose, overlooked};
use ropewalk_tools::policy::Reach;
use ropewalk_tools::private::{private_file, private_folder};
use ropewalk_tools::registry::CallError;
use ropewalk_tools::{
    Bounds, Context, Effect, Grant, Progress, Registry, Tool, ToolOutput, TypedTool as _, tool,
};
use ropewalk_workspace::{DiskLook, DocId, View};
use serde_json::Value;
use std::collections::HashMap;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// A call as the model made it.
#[derive(Debug, Clone)]
pub struct Call {
    id: Arc<str>,
    name: String,
    input: ToolInput,
    /// Faults of its input that were overlooked to read it, in words.
    overlooked: Option<String>,
}

/// Facts of a call that is over, beside its result.
#[derive(Default)]
struct Facts {
    is_refused: bool,
    /// The name in the call that may hold secrets, if it ran.
    secret: Option<String>,
    /// The texts that the model has seen by it.
    reads: Vec<Read>,
}

/// A call that was understood, and its tool.
type Parsed = (Arc<dyn Tool>, tool::Call);

/// A call that can be run, or the result that says why not.
type Ready = (Call, Result<Parsed, ToolOutput>);

impl Call {
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

    /// The call that a block of a reply is, if it is one.
    pub(crate) fn of(block: &Block) -> Option<Call> {
        let Block::ToolUse { id, name, input } = block else { return None };
        let (name, input) = (name.clone(), input.clone());
        Some(Call { id: id.as_str().into(), name, input, overlooked: None })
    }

    /// The same, whose input was read as [`read_loosely`] has said.
    pub(crate) fn overlooking(self, overlooked: Option<String>) -> Call {
        Call { overlooked, ..self }
    }

    /// What tells calls apart that are made again.
    fn key(&self) -> String {
        match &self.input {
            ToolInput::Json(input) => format!("{}\n{input}", self.name),
            ToolInput::Broken(text) => format!("{}\n{text}", self.name),
        }
    }

    /// Key that is equal for the same failure, if it failed: the call, and for a command that failed by its own
    /// account the command, its end and its output.
    fn failure(&self, output: &ToolOutput) -> Option<String> {
        match (output.is_error, output.failure, &self.input) {
            (true, ..) => Some(self.key()),
            (false, Some(how), ToolInput::Json(input)) => {
                Some(format!("{}\n{:?}\n{how}", self.name, input.get("command")))
            }
            _ => None,
        }
    }

    /// The first line of its command, if it runs one.
    fn command_line(&self) -> Option<String> {
        let ToolInput::Json(input) = &self.input else { return None };
        if self.name != Bash::NAME {
            return None;
        }
        Some(first_line(input.get("command")?.as_str()?))
    }

    fn parse(&self, registry: &Registry) -> Result<Parsed, ToolOutput> {
        let refused = |error: CallError| ToolOutput::failed(error.to_string());
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
    let calls = blocks.filter_map(Call::of);
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

impl Turn {
    /// Runs the calls and gives their results, in the order of the calls.
    pub(crate) async fn run_calls(&mut self, calls: Vec<Call>) -> Vec<Block> {
        let registry = self.parts.registry();
        let parsed = calls.into_iter().map(|call| {
            let parsed = call.parse(&registry);
            (call, parsed)
        });
        let mut ready: Vec<Ready> = parsed.collect();
        let mut done = Vec::with_capacity(ready.len());
        while !ready.is_empty() {
            // As many reading calls as stand together, else one of any other kind.
            let reads = ready.iter().take_while(|(_, parsed)| is_read(parsed)).count();
            let batch: Vec<Ready> = ready.drain(..reads.max(1)).collect();
            let view = if batch.iter().any(|(_, parsed)| parsed.is_ok()) {
                self.or_interrupted(self.parts.changes.view()).await.ok().map(Arc::new)
            } else {
                None
            };
            let running =
                batch.into_iter().map(|(call, parsed)| self.run_call(call, parsed, view.clone()));
            for (call, output, reads) in futures::future::join_all(running).await {
                self.conversation.note_reads(reads);
                done.push((call, output));
            }
        }
        if !self.is_interrupted() {
            self.note_failures(&done);
            let counted = done.iter_mut();
            self.repeats.note(counted.map(|(call, output)| (&*call.name, call.key(), output)));
        }
        let result = |(call, mut output): (Call, ToolOutput)| {
            if let [] | [Content::Text { .. }] = *output.content {
                return Block::result(&*call.id, output.words(), output.is_error);
            }
            output.content.retain(|part| !part.is_blank());
            Block::results(&*call.id, output.content, output.is_error)
        };
        done.into_iter().map(result).collect()
    }

    async fn run_call(
        &self,
        call: Call,
        parsed: Result<Parsed, ToolOutput>,
        view: Option<Arc<View>>,
    ) -> (Call, ToolOutput, Vec<Read>) {
        let title = parsed.as_ref().map(|(_, call)| plain(&call.subject.title)).unwrap_or_default();
        let input = match &call.input {
            ToolInput::Json(input) => input.clone(),
            ToolInput::Broken(text) => Value::String(text.clone()),
        };
        self.parts.events.tell(Event::ToolCall {
            turn: self.number,
            call: call.id.clone().into(),
            tool: call.name.clone(),
            title,
            input,
        });
        let mut facts = Facts::default();
        let mut output = match (parsed, view) {
            _ if self.is_interrupted() => interrupted(),
            (Err(output), _) => output,
            (Ok(_), None) => interrupted(),
            (Ok(parsed), Some(view)) => {
                self.judge_and_execute(&call, parsed, view, &mut facts).await
            }
        };
        self.after_call(&call, &mut output).await;
        let keys = self.parts.settings.keys();
        let texts = output.content.iter_mut().flat_map(Content::texts_mut);
        texts.for_each(|text| keys.strike_in(text));
        let output = self.bounded(&call, output).await;
        if let Some(folder) = self.parts.outputs.clone() {
            // Nobody waits for it.
            tokio::task::spawn_blocking(move || outputs::keep_within(&folder, outputs::MOST));
        }
        // What lets it run is copied from the screen, so it is there whole.
        let shown = match !facts.is_refused || self.parts.settings.get().interactive {
            true => preview(output.words(), PREVIEW_CHARS),
            false => plain(output.words()),
        };
        self.parts.events.tell(Event::ToolResult {
            turn: self.number,
            call: call.id.clone().into(),
            is_error: output.is_error,
            preview: shown,
            secret: facts.secret,
        });
        (call, output, facts.reads)
    }

    async fn judge_and_execute(
        &self,
        call: &Call,
        parsed: Parsed,
        view: Arc<View>,
        facts: &mut Facts,
    ) -> ToolOutput {
        let running = async {
            match self.judge(call, &parsed.1, &view).await {
                Ok((reach, secret)) => {
                    let output = self.execute(call, parsed, view, reach, facts).await;
                    facts.secret = secret;
                    output
                }
                Err(output) => {
                    facts.is_refused = true;
                    output
                }
            }
        };
        // A tool that breaks down takes neither the turn nor the calls beside it along.
        AssertUnwindSafe(running).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(tool = call.name, "a tool panicked");
            ToolOutput::error(
                "the tool broke down inside, and what it did until then is not known. Look, then try another way",
            )
        })
    }

    async fn execute(
        &self,
        call: &Call,
        (tool, parsed): Parsed,
        view: Arc<View>,
        reach: Reach,
        facts: &mut Facts,
    ) -> ToolOutput {
        let (effect, paths) = (parsed.effect, parsed.subject.paths.clone());
        let is_command = parsed.subject.command.is_some();
        let (shown, printed) = (self.shown_output(call), Arc::new(Mutex::new(String::new())));
        let (showing, printing) = (shown.clone(), printed.clone());
        let progress = Progress::new(move |text| {
            keep_end(&mut lock(&printing), text);
            showing.push(text);
        });
        let context = self.context(call, view.clone(), reach, progress);
        let ran = self.or_interrupted(tool.run_and_tell(parsed, context)).await;
        shown.flush();
        let Ok(mut output) = ran else {
            return self.interrupted_call(is_command, &printed).await;
        };
        if effect == Effect::Execute {
            self.notice_disk(&mut output).await;
        }
        let proposals = output.proposals.clone();
        if !output.proposals.is_empty() {
            let origin =
                Origin { turn: self.number, call: call.id.clone(), command: call.command_line() };
            self.parts.take_changes(origin, &view, &mut output, &self.interrupt).await;
        }
        let is_known = !output.is_error && matches!(effect, Effect::Read | Effect::Write);
        if is_known && self.parts.journal.is_kept() {
            let looking =
                tokio::task::spawn_blocking(move || shown_texts(&view, &paths, &proposals));
            facts.reads = looking.await.unwrap_or_default();
        }
        output
    }

    /// The output of a call, on its way to the front end.
    fn shown_output(&self, call: &Call) -> Arc<Printed> {
        let (turn, id) = (self.number, call.id.clone());
        // What runs in the background must not keep alive the session that ends it.
        let parts = Arc::downgrade(&self.parts);
        Arc::new(Printed::new(move |text| {
            if let Some(parts) = parts.upgrade() {
                parts.events.tell(Event::ToolOutput { turn, call: id.clone().into(), text });
            }
        }))
    }

    fn context(&self, call: &Call, view: Arc<View>, reach: Reach, progress: Progress) -> Context {
        let (parts, settings) = (&self.parts, self.parts.settings.get());
        let (hides, secrets) = (parts.settings.hides(), parts.settings.secrets());
        Context {
            call: call.id.clone().into(),
            turn: self.number,
            view,
            bounds: Bounds { max_chars: self.tool_output() },
            command_time: Duration::from_secs(settings.limits.command_seconds.into()),
            outputs: parts.outputs.clone(),
            grant: Grant { reach, hides, secrets },
            progress,
        }
    }

    /// The result of a call that was interrupted, once all that it started is dead.
    async fn interrupted_call(&self, is_command: bool, printed: &Mutex<String>) -> ToolOutput {
        if is_command {
            self.parts.runner.settled().await;
        }
        let (mut output, printed) = (interrupted(), lock(printed));
        if is_command && self.parts.runner.info().mode.sees_fork() {
            output.say("\nThe command was killed, and what it had changed was dropped.");
        }
        if !printed.is_empty() {
            output.say(&format!("\nThe last of what it had printed:\n{printed}"));
        }
        output
    }

    /// What a command did to the files that are open in the editor.
    async fn notice_disk(&self, output: &mut ToolOutput) {
        let parts = self.parts.clone();
        let moved = tokio::task::spawn_blocking(move || {
            let moved = |id: &DocId| {
                matches!(parts.workspace.look_at_disk(id), DiskLook::Moved | DiskLook::Conflict)
            };
            let ids = parts.workspace.open_documents().into_iter().filter(moved);
            ids.map(|id| parts.workspace.shown(&id)).collect::<Vec<_>>()
        });
        let moved = moved.await.unwrap_or_default();
        if !moved.is_empty() {
            output.say(&format!(
                "\n(Changed on the disk, while open in the editor: {}. What you read next is the disk's text where the \
                 editor had nothing unsaved.)",
                moved.join(", ")
            ));
        }
    }

    /// No result is longer than the bound and what tools add to it, whatever a tool does; the whole goes to
    /// a file then.
    async fn bounded(&self, call: &Call, mut output: ToolOutput) -> ToolOutput {
        let bounds = Bounds { max_chars: self.tool_output() };
        let most = bounds.max_chars.saturating_add(2 * NOTE_CHARS);
        let words = output.content.first().is_some_and(Content::is_text);
        let others = output.content.iter_mut().skip(usize::from(words));
        for text in others.flat_map(Content::texts_mut) {
            if text.len() > most {
                *text = bound(text, bounds, None).to_string();
            }
        }
        if output.words().len() <= most || output.words().chars().count() <= most {
            return output;
        }
        let mut whole = None;
        if let Some(folder) = &self.parts.outputs {
            let file = folder.join(format!("{}.txt", call.id));
            match write_whole(folder, &file, output.words()).await {
                Ok(()) => whole = Some(file),
                Err(error) => tracing::warn!(%error, "a whole output can't be kept"),
            }
        }
        output.set_words(bound(output.words(), bounds, whole.as_deref()).to_string());
        output
    }

    /// Counts in how many steps in a row the same call failed in the same way. The same call made twice in one
    /// message counts once: the model had not seen its result.
    fn note_failures(&mut self, done: &[(Call, ToolOutput)]) {
        let mut before = None;
        for (call, output) in done {
            let failure = call.failure(output);
            match &failure {
                None => self.failing = (String::new(), 0),
                Some(key) if self.failing.0 != *key => self.failing = (key.clone(), 1),
                Some(_) if before != failure => self.failing.1 += 1,
                Some(_) => {}
            }
            before = failure;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a whole output, for its owner alone.
async fn write_whole(folder: &Path, file: &Path, text: &str) -> io::Result<()> {
    private_folder(folder).await?;
    let mut file = private_file(file).await?;
    file.write_all(text.as_bytes()).await?;
    file.flush().await
}

/// The most bytes of what an interrupted command had printed that the model is told.
const PRINTED: usize = 2_000;

/// Adds `more` and drops what is too much from the start.
fn keep_end(text: &mut String, more: &str) {
    text.push_str(more);
    let too_much = text.len().saturating_sub(PRINTED);
    let cut = (too_much..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text.drain(..cut);
}

fn is_read(parsed: &Result<Parsed, ToolOutput>) -> bool {
    parsed.as_ref().map_or(true, |(_, call)| call.effect == Effect::Read)
}

fn interrupted() -> ToolOutput {
    ToolOutput::failed("(interrupted by the user)")
}
