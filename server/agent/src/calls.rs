//! Tool calls of one step: prepared, judged by policy, run on a frozen view, merged into the fork.
//!
//! Calls that only read run in parallel on one view; others run in order, each on a view of its own. Every
//! call gets a result, also when the user interrupts.

use crate::approval::Verdict;
use crate::event::Event;
use crate::session::{in_words, lock};
use crate::turn::{Interrupted, Turn};
use ropewalk_model::{Block, ToolInput};
use ropewalk_tools::bash::unseen_files;
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::{Bounds, Context, Decision, Effect, Mode, Output, Prepared, Rule, decide};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::publish;
use ropewalk_workspace::{DiskLook, Selection, View};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// A call as the model made it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    id: Arc<str>,
    name: String,
    input: ToolInput,
}

impl From<(&str, &str, &ToolInput)> for Call {
    fn from((id, name, input): (&str, &str, &ToolInput)) -> Self {
        Self { id: id.into(), name: name.to_owned(), input: input.clone() }
    }
}

/// A call that can be run, or the result that says why not.
type Ready = (Call, Result<Prepared, Output>);

const INTERRUPTED: &str = "(interrupted by the user)";

impl Turn {
    /// Runs the calls and gives their results, in the order of the calls.
    pub(crate) async fn run_calls(&mut self, calls: Vec<Call>) -> Vec<Block> {
        let mut ready: Vec<Ready> = calls.into_iter().map(|call| self.prepare(call)).collect();
        let mut results = Vec::with_capacity(ready.len());
        while !ready.is_empty() {
            // As many reading calls as stand together, else one of any other kind.
            let reads = ready.iter().take_while(|(_, prepared)| is_read(prepared)).count();
            let batch: Vec<Ready> = ready.drain(..reads.max(1)).collect();
            let view = Arc::new(self.view().await);
            let running = batch
                .into_iter()
                .map(|(call, prepared)| self.run_call(call, prepared, view.clone()));
            for (call, output) in futures::future::join_all(running).await {
                self.note_failure(&call, &output);
                results.push(Block::result(&*call.id, output.text, output.is_error));
            }
        }
        results
    }

    fn prepare(&self, call: Call) -> Ready {
        let prepared = match &call.input {
            ToolInput::Json(input) => {
                self.shared.settings().registry.prepare(&call.name, input.clone()).map_err(
                    |error| Output {
                        text: error.to_string(),
                        is_error: true,
                        proposals: Vec::new(),
                    },
                )
            }
            ToolInput::Broken(text) => Err(Output::error(format!(
                "the input of {} is not valid JSON: {}. Send the call again with a valid input",
                call.name,
                preview(text, PREVIEW_CHARS)
            ))),
        };
        (call, prepared)
    }

    /// What the next call sees: the user's text as it is now, under the fork.
    async fn view(&self) -> View {
        self.shared.editor.barrier().await;
        let shared = self.shared.clone();
        let view = tokio::task::spawn_blocking(move || {
            shared.workspace.look_at_disks();
            let mut fork = lock(&shared.fork);
            fork.sync(&shared.workspace);
            fork.view(shared.workspace.snapshot())
        });
        // It can only fail by a panic, which then goes on here and ends the turn in words.
        match view.await {
            Ok(view) => view,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    async fn run_call(
        &self,
        call: Call,
        prepared: Result<Prepared, Output>,
        view: Arc<View>,
    ) -> (Call, Output) {
        let title =
            prepared.as_ref().map(|prepared| prepared.subject.title.clone()).unwrap_or_default();
        let input = match &call.input {
            ToolInput::Json(input) => input.clone(),
            ToolInput::Broken(text) => Value::String(text.clone()),
        };
        self.shared.tell(Event::ToolCall {
            turn: self.number,
            call: call.id.clone(),
            tool: call.name.clone(),
            title,
            input,
        });
        let output = match prepared {
            _ if self.is_interrupted() => interrupted(),
            Err(output) => output,
            Ok(prepared) => match self.judge(&call, &prepared, &view).await {
                Err(output) => output,
                Ok(()) => self.execute(&call, prepared, view).await,
            },
        };
        self.shared.tell(Event::ToolResult {
            turn: self.number,
            call: call.id.clone(),
            is_error: output.is_error,
            preview: preview(&output.text, PREVIEW_CHARS),
        });
        (call, output)
    }

    /// Policy, and the user's word where it is wanted.
    async fn judge(&self, call: &Call, prepared: &Prepared, view: &View) -> Result<(), Output> {
        let settings = self.shared.settings();
        let reason = match decide(prepared, settings.mode, &settings.allow) {
            Decision::Allow => return Ok(()),
            Decision::Deny(text) => {
                return Err(Output { text, is_error: true, proposals: Vec::new() });
            }
            Decision::Ask(reason) => reason,
        };
        if !settings.interactive {
            return Err(Output::error(format!(
                "Refused: {reason}, and nobody is there to be asked. The user can allow it with --allow '{}'",
                Rule::generalised(prepared)
            )));
        }
        let unseen =
            if prepared.effect == Effect::Execute { unseen_files(view) } else { Vec::new() };
        let rule = Rule::generalised(prepared);
        let (id, verdict) = self.shared.approvals.ask();
        self.shared.tell(Event::ApprovalRequested {
            turn: self.number,
            approval: id,
            call: call.id.clone(),
            tool: call.name.clone(),
            detail: prepared
                .subject
                .command
                .clone()
                .unwrap_or_else(|| prepared.subject.title.clone()),
            reason,
            rule: rule.to_string(),
            unseen,
        });
        let resolved = |how| {
            self.shared.tell(Event::ApprovalResolved { turn: self.number, approval: id, how })
        };
        match self.or_interrupted(verdict).await {
            Err(Interrupted) => {
                self.shared.approvals.withdraw(id);
                resolved("interrupted");
                Err(interrupted())
            }
            Ok(Ok(Verdict::Once)) => {
                resolved("allowed");
                Ok(())
            }
            Ok(Ok(Verdict::Session)) => {
                self.shared.change_settings(|settings| settings.allow.push(rule));
                resolved("allowed");
                Ok(())
            }
            Ok(Ok(Verdict::AfterSave)) => {
                resolved("waiting for save");
                self.or_interrupted(self.all_saved()).await.map_err(|Interrupted| interrupted())
            }
            Ok(Ok(Verdict::Refuse(words))) => {
                resolved("refused");
                let words = words.map(|words| format!(": {words}")).unwrap_or_default();
                Err(Output::error(format!("The user refused this call{words}")))
            }
            Ok(Err(_)) => Err(interrupted()),
        }
    }

    /// Until no open document has unsaved text.
    async fn all_saved(&self) {
        let mut saves = self.shared.saves.subscribe();
        loop {
            let shared = self.shared.clone();
            let unsaved = tokio::task::spawn_blocking(move || {
                shared.workspace.look_at_disks();
                shared.workspace.snapshot().buffers.values().any(|seen| seen.dirty)
            });
            if !unsaved.await.unwrap_or(false) || saves.changed().await.is_err() {
                return;
            }
        }
    }

    async fn execute(&self, call: &Call, prepared: Prepared, view: Arc<View>) -> Output {
        let settings = self.shared.settings();
        let effect = prepared.effect;
        let (shared, turn, id) = (self.shared.clone(), self.number, call.id.clone());
        let context = Context {
            view: view.clone(),
            call: call.id.clone(),
            bounds: Bounds { max_chars: settings.limits.tool_output },
            command_time: Duration::from_secs(settings.limits.command_seconds),
            outputs: self.shared.outputs.clone(),
            sink: Arc::new(move |text: &str| {
                shared.tell(Event::ToolOutput { turn, call: id.clone(), text: text.to_owned() });
            }),
            editor: self.shared.editor.clone(),
        };
        let Ok(mut output) = self.or_interrupted(prepared.run(context)).await else {
            return interrupted();
        };
        if effect == Effect::Execute {
            self.notice_disk(&mut output).await;
        }
        if !output.proposals.is_empty() {
            self.merge(call, &view, &mut output, settings.mode).await;
        }
        output
    }

    /// What a command did to the files that are open in the editor.
    async fn notice_disk(&self, output: &mut Output) {
        let shared = self.shared.clone();
        let moved = tokio::task::spawn_blocking(move || {
            let moved = |id: &ropewalk_workspace::DocId| {
                matches!(shared.workspace.look_at_disk(id), DiskLook::Moved | DiskLook::Conflict)
            };
            let ids = shared.workspace.open_documents().into_iter().filter(moved);
            ids.map(|id| shared.workspace.shown(&id)).collect::<Vec<_>>()
        });
        let moved = moved.await.unwrap_or_default();
        if !moved.is_empty() {
            output.text.push_str(&format!(
                "\n(Changed on the disk, while open in the editor: {}. What you read next is the disk's text where the \
                 editor had nothing unsaved.)",
                moved.join(", ")
            ));
        }
    }

    /// What the call proposes enters the fork, and in auto mode the user's text.
    async fn merge(&self, call: &Call, view: &View, output: &mut Output, mode: Mode) {
        let proposals = std::mem::take(&mut output.proposals);
        let maker = Maker::Call(call.id.clone());
        let merged = lock(&self.shared.fork).merge(
            &self.shared.workspace,
            view,
            self.number,
            &maker,
            proposals,
        );
        let report = match merged {
            Ok(report) => report,
            Err(error) => {
                *output = Output::error(error);
                return;
            }
        };
        if !report.conflicts.is_empty() {
            output.is_error = true;
            output.text = format!(
                "Error: The user changed the same text in {} while this call ran; that part was left out. Read it \
                 again before you go on.\n{}",
                report.conflicts.join(", "),
                output.text
            );
        }
        if mode == Mode::Auto && !report.hunks.is_empty() {
            let selection = Selection::Hunks(report.hunks);
            let shared = &self.shared;
            let published = publish(
                &shared.workspace,
                &*shared.editor,
                &shared.fork,
                &selection,
                shared.publish,
            )
            .await;
            let (_, failed) = in_words(&published);
            if !failed.is_empty() {
                self.warn(format!("Not in your text yet: {}", failed.join("; ")));
                output
                    .text
                    .push_str(&format!("\n(Not in the user's text yet: {})", failed.join("; ")));
            }
        }
        self.shared.show_hunks();
    }

    fn note_failure(&mut self, call: &Call, output: &Output) {
        if !output.is_error {
            self.failing = (String::new(), 0);
            return;
        }
        let input = match &call.input {
            ToolInput::Json(input) => input.to_string(),
            ToolInput::Broken(text) => text.clone(),
        };
        let key = format!("{}\n{input}", call.name);
        if self.failing.0 == key {
            self.failing.1 += 1;
        } else {
            self.failing = (key, 1);
        }
    }
}

fn is_read(prepared: &Result<Prepared, Output>) -> bool {
    prepared.as_ref().map_or(true, |prepared| prepared.effect == Effect::Read)
}

fn interrupted() -> Output {
    Output { text: INTERRUPTED.to_owned(), is_error: true, proposals: Vec::new() }
}
