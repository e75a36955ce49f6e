//! Tool calls of one step: prepared, judged by policy, run on a frozen view, merged into the fork.
//!
//! Calls that only read run in parallel on one view; others run in order, each on a view of its own. Every
//! call gets a result, also when the user interrupts or the tool breaks down.

pub(crate) mod bounded;
mod call;
mod enter;
mod judge;
mod printed;
mod repeats;
mod stage;

use crate::changes::CallOrigin;
use crate::journal::outputs;
use crate::journal::record::Record;
use crate::reads::{SeenText, shown as shown_texts};
use crate::tools::check_background::CheckBackground;
use crate::tools::task::TaskTool;
use crate::turn::{FailingCall, Turn};
pub use call::ModelCall;
use call::ParsedCall;
pub(crate) use call::{commands, first_line, read_loosely};
pub(crate) use enter::drop_changes;
use futures::FutureExt;
pub(crate) use printed::Printed;
use printed::PrintedEnd;
use repeats::CountedCall;
pub(crate) use repeats::Repeats;
use ropewalk_model::{Block, ToolInput};
use ropewalk_protocol::{CommandPlace, Content, Event, Mode};
use ropewalk_text::plain::plain;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::policy::Access;
use ropewalk_tools::runner::{BackgroundInfo, BackgroundState};
use ropewalk_tools::{Bounds, Context, Effect, Grant, Progress, ToolOutput, TypedTool as _};
use ropewalk_workspace::{DiskLook, View};
use serde_json::Value;
pub(crate) use stage::{CallStage, CallStages};
use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Facts of a call that is over, beside its result.
#[derive(Default)]
struct Facts {
    is_refused: bool,
    /// The name in the call that may hold secrets, if it ran.
    secret: Option<String>,
    /// Where its command ran, if it ran one.
    ran: Option<CommandPlace>,
    /// The texts that the model has seen by it.
    reads: Vec<SeenText>,
}

/// A call that is over, with its result.
struct DoneCall {
    call: ModelCall,
    output: ToolOutput,
    /// The texts that the model has seen by it.
    reads: Vec<SeenText>,
}

/// A call that can be run, or the result that says why not.
type Ready = (ModelCall, Result<ParsedCall, ToolOutput>);

impl Turn {
    /// Runs the calls and gives their results, in the order of the calls.
    pub(crate) async fn run_calls(&mut self, calls: Vec<ModelCall>) -> Vec<Block> {
        let registry = self.parts.registry();
        let opening = self.conversation.prelude.opening().cloned();
        let is_told = |name: &str| opening.as_ref().is_none_or(|opening| opening.has_tool(name));
        let parsed = calls.into_iter().map(|mut call| {
            let parsed = call.parse(&registry, is_told);
            parsed.iter().for_each(|(_, parsed)| call.keep_files(parsed));
            (call, parsed)
        });
        let mut ready: Vec<Ready> = parsed.collect();
        let count = ready.len();
        let mut done = Vec::with_capacity(ready.len());
        while !ready.is_empty() {
            // As many reading calls as stand together, or subagents, else one of any other kind.
            let reads = ready.iter().take_while(|(_, parsed)| is_read(parsed)).count();
            let tasks = ready.iter().take_while(|(_, parsed)| is_task(parsed)).count();
            let batch: Vec<Ready> = ready.drain(..reads.max(tasks).max(1)).collect();
            if tasks > 0 {
                self.begin_tasks(batch.iter().map(|(call, _)| call.id.clone()).collect());
            }
            let view = if batch.iter().any(|(_, parsed)| parsed.is_ok()) {
                self.or_interrupted(self.parts.view()).await.ok()
            } else {
                None
            };
            let running = batch.into_iter().map(|call| self.run_call(call, view.clone(), count));
            for DoneCall { call, output, reads } in futures::future::join_all(running).await {
                self.conversation.note_reads(reads);
                done.push((call, output));
            }
            self.end_tasks();
        }
        // A panic while the lock was held leaves plain data behind, which stays usable.
        let refusals = self.refusals.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(refusals).into_iter().for_each(|words| self.conversation.hear(words));
        let behind = self.words_behind(&done).await;
        self.share(&mut done, behind.iter().map(|words| bounded::sent(words)).sum()).await;
        self.is_over |= done.iter().any(|(_, output)| output.ends_turn);
        if !self.is_interrupted() {
            self.note_failures(&done);
            let is_running =
                |one: &BackgroundInfo| matches!(one.state, BackgroundState::Running { .. });
            let runs = done.iter().any(|(call, _)| call.sleeps())
                && self.parts.runner.background().iter().any(is_running);
            let era = self.conversation.history.era();
            self.repeats.note(
                era,
                done.iter_mut().map(|(call, output)| CountedCall {
                    waits: call.name == CheckBackground::NAME || (runs && call.sleeps()),
                    call: call.key(),
                    output,
                }),
            );
        }
        for ((_, output), words) in
            done.iter_mut().zip(&behind).filter(|(_, words)| !words.is_empty())
        {
            output.say(words);
        }
        done.into_iter().map(|(call, output)| result(&call, output)).collect()
    }

    /// Notes how far a call has come, so that it is known if the step is cut off.
    pub(crate) fn reaches(&self, call: &str, stage: CallStage) {
        let record = Record::Call { id: call.into(), stage: Cow::Borrowed(&stage) };
        self.parts.journal.write(&record);
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.stages.lock().unwrap_or_else(PoisonError::into_inner).note(call, stage);
    }

    /// Runs one of so many calls of a step.
    async fn run_call(
        &self,
        (call, parsed): Ready,
        view: Option<Arc<View>>,
        count: usize,
    ) -> DoneCall {
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
            _ if self.is_interrupted() => not_run(),
            (Err(output), _) => output,
            (Ok(_), None) => not_run(),
            (Ok(parsed), Some(view)) => {
                self.judge_and_execute(&call, parsed, view, &mut facts).await
            }
        };
        if let Some(thread) = &self.parts.thread {
            thread.files.say_lost(&mut output);
        }
        self.after_call(&call, &mut output).await;
        let keys = self.parts.settings.keys();
        let texts = output.content.iter_mut().flat_map(Content::texts_mut);
        texts.for_each(|text| keys.redact_in(text));
        let output = self.bounded(&call, output).await;
        if let Some(folder) = self.parts.outputs.clone() {
            // Nobody waits for it.
            spawn_blocking(move || outputs::keep_within(&folder, outputs::MOST));
        }
        // The result of a call that is alone enters the history at once.
        if count > 1 {
            let kept = self.even_share(&call, output.clone(), count).await;
            self.reaches(&call.id, CallStage::Ended(result(&call, kept)));
        }
        // A refused call may be run later: its words are copied from the screen, so they are there
        // whole.
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
            ran: facts.ran,
        });
        self.subagents.passes(&call.id);
        DoneCall { call, output, reads: facts.reads }
    }

    async fn judge_and_execute(
        &self,
        call: &ModelCall,
        parsed: ParsedCall,
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
        call: &ModelCall,
        (tool, parsed): ParsedCall,
        view: Arc<View>,
        reach: Access,
        facts: &mut Facts,
    ) -> ToolOutput {
        self.reaches(&call.id, CallStage::Begun);
        if parsed.tool == TaskTool::NAME {
            return self.run_task(call, parsed, view).await;
        }
        let (effect, paths) = (parsed.effect, parsed.subject.paths.clone());
        let is_command = parsed.subject.command.is_some();
        facts.ran = is_command.then(|| reach.mode.place());
        let (shown, printed) = (self.shown_output(call), Arc::new(PrintedEnd::default()));
        let (showing, printing) = (shown.clone(), printed.clone());
        let progress = Progress::new(move |text| {
            printing.push(text);
            showing.push(text);
        });
        let context = self.context(call, view.clone(), reach, progress);
        let drops = context.grant.drops;
        let ran = self.or_interrupted(tool.run_and_tell(parsed, context)).await;
        shown.flush();
        let Ok(mut output) = ran else {
            return self.interrupted_call(is_command, &printed).await;
        };
        if effect == Effect::Execute {
            self.notice_disk(&mut output).await;
            drop_changes(drops, &mut output);
        }
        let proposals = output.proposals.clone();
        if !output.proposals.is_empty() {
            let origin = CallOrigin {
                turn: self.number,
                call: call.id.clone(),
                command: call.command_line(),
            };
            self.parts.take_changes(origin, &view, &mut output, &self.interrupt).await;
        }
        let is_known = !output.is_error && matches!(effect, Effect::Read | Effect::Write);
        if is_known && self.parts.journal.is_kept() {
            let looking = spawn_blocking(move || shown_texts(&view, &paths, &proposals));
            facts.reads = looking.await.unwrap_or_default();
        }
        output
    }

    /// The output of a call, on its way to the front end.
    fn shown_output(&self, call: &ModelCall) -> Arc<Printed> {
        let (turn, id) = (self.number, call.id.clone());
        // A command in the background must not keep alive the session that ends it.
        let parts = Arc::downgrade(&self.parts);
        Arc::new(Printed::new(move |text| {
            if let Some(parts) = parts.upgrade() {
                parts.events.tell(Event::ToolOutput { turn, call: id.clone().into(), text });
            }
        }))
    }

    fn context(
        &self,
        call: &ModelCall,
        view: Arc<View>,
        reach: Access,
        progress: Progress,
    ) -> Context {
        let (parts, settings) = (&self.parts, self.parts.settings.get());
        let (hides, secrets) = (parts.settings.hides(), parts.settings.secrets());
        Context {
            call: call.id.clone().into(),
            turn: self.number,
            view,
            bounds: Bounds { max_chars: self.tool_output() },
            command_time: Duration::from_secs(settings.limits.command_seconds.into()),
            outputs: parts.outputs.clone(),
            grant: Grant { reach, hides, secrets, drops: settings.mode == Mode::Plan },
            progress,
        }
    }

    /// The result of a call that was interrupted, once all that it started is dead.
    async fn interrupted_call(&self, is_command: bool, printed: &PrintedEnd) -> ToolOutput {
        if is_command {
            self.parts.runner.settled().await;
        }
        let (mut output, printed) = (interrupted(), printed.text());
        if is_command && self.parts.runner.info().mode.sees_fork() {
            output.say("\nThe command was killed, and what it had changed was dropped.");
        }
        if !printed.is_empty() {
            output.say(&format!("\nThe last of what it had printed:\n{printed}"));
        }
        output
    }

    /// Notices changes that a command made to files that are open in the editor.
    async fn notice_disk(&self, output: &mut ToolOutput) {
        let parts = self.parts.clone();
        let moved = spawn_blocking(move || {
            let mut looks = parts.workspace.look_at_disks();
            looks.retain(|(_, look)| matches!(look, DiskLook::Moved | DiskLook::Conflict));
            looks.iter().map(|(id, _)| parts.workspace.shown(id)).collect::<Vec<_>>()
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

    /// Counts in how many steps in a row the same call failed in the same way. The same call made twice in one
    /// message counts once: the model had not seen its result.
    fn note_failures(&mut self, done: &[(ModelCall, ToolOutput)]) {
        let mut before = None;
        for (call, output) in done {
            let failure = call.failure(output);
            match &failure {
                None => self.failing = FailingCall::default(),
                Some(key) if self.failing.key != *key => {
                    self.failing = FailingCall { key: key.clone(), steps: 1 };
                }
                Some(_) if before != failure => self.failing.steps += 1,
                Some(_) => {}
            }
            before = failure;
        }
    }
}

fn is_read(parsed: &Result<ParsedCall, ToolOutput>) -> bool {
    parsed.as_ref().map_or(true, |(_, call)| call.effect == Effect::Read)
}

fn is_task(parsed: &Result<ParsedCall, ToolOutput>) -> bool {
    parsed.as_ref().is_ok_and(|(_, call)| call.tool == TaskTool::NAME)
}

/// The result of a call as it enters the history.
fn result(call: &ModelCall, mut output: ToolOutput) -> Block {
    if let [] | [Content::Text { .. }] = *output.content {
        return Block::result(&*call.id, output.words(), output.is_error);
    }
    output.content.retain(|part| !part.is_blank());
    Block::results(&*call.id, output.content, output.is_error)
}

/// The result of a call that an interrupt has kept from beginning.
fn not_run() -> ToolOutput {
    ToolOutput::error("Not run: interrupted by the user")
}

fn interrupted() -> ToolOutput {
    ToolOutput::failed("(interrupted by the user)")
}
