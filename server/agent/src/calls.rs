//! Tool calls of one step: prepared, judged by policy, run on a frozen view, merged into the fork.
//!
//! Calls that only read run in parallel on one view; others run in order, each on a view of its own. Every
//! call gets a result, also when the user interrupts or the tool breaks down.

mod hidden;
mod judge;
mod printed;

use crate::held::{Split, split};
use crate::journal::outputs;
use crate::reads::shown;
use crate::session::shared::{in_words, lock};
use crate::turn::{Interrupted, Turn};
use futures::FutureExt;
use printed::Printed;
use ropewalk_model::{Block, ToolInput};
use ropewalk_protocol::{Content, Event, Level, Mode};
use ropewalk_text::plain::plain;
use ropewalk_tools::bounds::{NOTE_CHARS, PREVIEW_CHARS, bound, preview};
use ropewalk_tools::input::{loose, overlooked};
use ropewalk_tools::policy::Reach;
use ropewalk_tools::private::{private_file, private_folder};
use ropewalk_tools::registry::CallError;
use ropewalk_tools::{Bounds, Context, Effect, Grant, Progress, Registry, Tool, ToolOutput, tool};
use ropewalk_workspace::disk::FileError;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::{merge, synced};
use ropewalk_workspace::publish::publish;
use ropewalk_workspace::{DiskLook, DocId, HunkId, MergeReport, Place, Proposal, Selection, View};
use serde_json::Value;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// A call as the model made it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    id: Arc<str>,
    name: String,
    input: ToolInput,
    /// Faults of its input that were overlooked to read it, in words.
    overlooked: Option<String>,
}

/// A call that was understood, and its tool.
type Parsed = (Arc<dyn Tool>, tool::Call);

/// A call that can be run, or the result that says why not.
type Ready = (Call, Result<Parsed, ToolOutput>);

impl Call {
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
        let registry = self.shared.registry();
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
                self.or_interrupted(self.view()).await.ok().map(Arc::new)
            } else {
                None
            };
            let running =
                batch.into_iter().map(|(call, parsed)| self.run_call(call, parsed, view.clone()));
            done.extend(futures::future::join_all(running).await);
        }
        if !self.is_interrupted() {
            self.note_failures(&done);
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

    /// What the next call sees: the user's text as it is now, under the fork.
    pub(crate) async fn view(&self) -> View {
        self.shared.editor.barrier().await;
        let shared = self.shared.clone();
        let view = tokio::task::spawn_blocking(move || {
            shared.workspace.look_at_disks();
            synced(&shared.workspace, &shared.fork, |fork, _| {
                fork.view(shared.workspace.snapshot())
            })
        });
        match view.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(view) => view,
            // A panic goes on here and ends the turn in words.
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            // The runtime is going down, and this task with it.
            Err(Err(_)) => std::future::pending().await,
        }
    }

    async fn run_call(
        &self,
        call: Call,
        parsed: Result<Parsed, ToolOutput>,
        view: Option<Arc<View>>,
    ) -> (Call, ToolOutput) {
        let title = parsed.as_ref().map(|(_, call)| plain(&call.subject.title)).unwrap_or_default();
        let input = match &call.input {
            ToolInput::Json(input) => input.clone(),
            ToolInput::Broken(text) => Value::String(text.clone()),
        };
        self.shared.tell(Event::ToolCall {
            turn: self.number,
            call: call.id.clone().into(),
            tool: call.name.clone(),
            title,
            input,
        });
        let mut may_run = true;
        let (mut output, secret) = match (parsed, view) {
            _ if self.is_interrupted() => (interrupted(), None),
            (Err(output), _) => (output, None),
            (Ok(_), None) => (interrupted(), None),
            (Ok(parsed), Some(view)) => {
                self.judge_and_execute(&call, parsed, view, &mut may_run).await
            }
        };
        let keys = self.shared.keys();
        let texts = output.content.iter_mut().flat_map(Content::texts_mut);
        texts.for_each(|text| keys.strike_in(text));
        let output = self.bounded(&call, output).await;
        if let Some(folder) = self.shared.outputs.clone() {
            // Nobody waits for it.
            tokio::task::spawn_blocking(move || outputs::keep_within(&folder, outputs::MOST));
        }
        // What lets it run is copied from the screen, so it is there whole.
        let shown = match may_run || self.shared.settings().interactive {
            true => preview(output.words(), PREVIEW_CHARS),
            false => plain(output.words()),
        };
        self.shared.tell(Event::ToolResult {
            turn: self.number,
            call: call.id.clone().into(),
            is_error: output.is_error,
            preview: shown,
            secret,
        });
        (call, output)
    }

    /// The result, and the name in the call that may hold secrets if it ran. `may_run` is false then if it was refused.
    async fn judge_and_execute(
        &self,
        call: &Call,
        parsed: Parsed,
        view: Arc<View>,
        may_run: &mut bool,
    ) -> (ToolOutput, Option<String>) {
        let running = async {
            match self.judge(call, &parsed.1, &view).await {
                Ok((reach, secret)) => (self.execute(call, parsed, view, reach).await, secret),
                Err(output) => {
                    *may_run = false;
                    (output, None)
                }
            }
        };
        // A tool that breaks down takes neither the turn nor the calls beside it along.
        AssertUnwindSafe(running).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(tool = call.name, "a tool panicked");
            let output = ToolOutput::error(
                "the tool broke down inside, and what it did until then is not known. Look, then try another way",
            );
            (output, None)
        })
    }

    async fn execute(
        &self,
        call: &Call,
        (tool, parsed): Parsed,
        view: Arc<View>,
        reach: Reach,
    ) -> ToolOutput {
        let settings = self.shared.settings();
        let (effect, paths) = (parsed.effect, parsed.subject.paths.clone());
        let is_command = parsed.subject.command.is_some();
        let (turn, id) = (self.number, call.id.clone());
        // What runs in the background must not keep alive the session that ends it.
        let shared = Arc::downgrade(&self.shared);
        let shown = Arc::new(Printed::new(move |text| {
            if let Some(shared) = shared.upgrade() {
                shared.tell(Event::ToolOutput { turn, call: id.clone().into(), text });
            }
        }));
        let showing = shown.clone();
        let printed = Arc::new(Mutex::new(String::new()));
        let printing = printed.clone();
        let context = Context {
            call: call.id.clone().into(),
            turn,
            view: view.clone(),
            bounds: Bounds { max_chars: self.tool_output() },
            command_time: Duration::from_secs(settings.limits.command_seconds.into()),
            outputs: self.shared.outputs.clone(),
            grant: Grant { reach, hides: self.shared.hides(), secrets: self.shared.secrets() },
            progress: Progress::new(move |text| {
                keep_end(&mut lock(&printing), text);
                showing.push(text);
            }),
        };
        let ran = self.or_interrupted(tool.run_and_tell(parsed, context)).await;
        shown.flush();
        let Ok(mut output) = ran else {
            if is_command {
                self.shared.runner.settled().await;
            }
            let (mut output, printed) = (interrupted(), lock(&printed));
            if is_command && self.shared.runner.info().mode.sees_fork() {
                output.say("\nThe command was killed, and what it had changed was dropped.");
            }
            if !printed.is_empty() {
                output.say(&format!("\nThe last of what it had printed:\n{printed}"));
            }
            return output;
        };
        if effect == Effect::Execute {
            self.notice_disk(&mut output).await;
        }
        let proposals = output.proposals.clone();
        if !output.proposals.is_empty() {
            self.merge(&call.id, &view, &mut output).await;
        }
        if !output.is_error && matches!(effect, Effect::Read | Effect::Write) {
            self.note_reads(&view, paths, proposals).await;
        }
        output
    }

    /// Which texts the model knows now.
    async fn note_reads(&self, view: &Arc<View>, paths: Vec<String>, proposals: Vec<Proposal>) {
        if !self.shared.journal.is_kept() {
            return;
        }
        let view = view.clone();
        let reads = tokio::task::spawn_blocking(move || shown(&view, &paths, &proposals)).await;
        self.shared.note_reads(reads.unwrap_or_default());
    }

    /// What a command did to the files that are open in the editor.
    async fn notice_disk(&self, output: &mut ToolOutput) {
        let shared = self.shared.clone();
        let moved = tokio::task::spawn_blocking(move || {
            let moved = |id: &DocId| {
                matches!(shared.workspace.look_at_disk(id), DiskLook::Moved | DiskLook::Conflict)
            };
            let ids = shared.workspace.open_documents().into_iter().filter(moved);
            ids.map(|id| shared.workspace.shown(&id)).collect::<Vec<_>>()
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

    /// What the call proposes enters the fork, and in auto mode the user's text.
    pub(crate) async fn merge(&self, call: &Arc<str>, view: &Arc<View>, output: &mut ToolOutput) {
        let mut proposals = std::mem::take(&mut output.proposals);
        match self.would_lose_keys(view, &proposals).await {
            Ok(files) if files.is_empty() => {}
            Ok(files) => {
                proposals.retain(|proposal| !files.contains(&proposal.place.shown));
                output.fail(format_args!(
                        "{} holds a key that is not shown: where you read [key], another text stands, and it would be lost. \
                     Nothing was changed there. Change the text around it with edit_file",
                        named(&files)
                    ),
                );
            }
            Err(broken) => {
                *output = broken;
                return;
            }
        }
        let moved =
            |proposal: &Proposal| Some((proposal.place.clone(), proposal.change.to()?.clone()));
        let moves: Vec<(Place, Place)> = proposals.iter().filter_map(moved).collect();
        let maker = Maker::Call(call.clone());
        let by = (self.number, &maker);
        let (workspace, fork) = (&*self.shared.workspace, &self.shared.fork);
        let report = merge(workspace, fork, view, by, proposals);
        say_what_is_left(&report, output);
        if self.shared.settings().mode == Mode::Auto && !report.hunks.is_empty() {
            self.publish_but_held(report.hunks, moves, output).await;
        } else {
            self.shared.show_hunks().await;
        }
    }

    /// Publishes what a call changed, but for files that others run or follow: those wait for the user.
    async fn publish_but_held(
        &self,
        hunks: Vec<HunkId>,
        moves: Vec<(Place, Place)>,
        output: &mut ToolOutput,
    ) {
        let (shared, own) = (self.shared.clone(), hunks.clone());
        let parting = tokio::task::spawn_blocking(move || {
            let roots = shared.workspace.roots();
            let fork = lock(&shared.fork).clone();
            split(&fork, &roots, &own, &moves)
        });
        let parted = match parting.await {
            Ok(parted) => parted,
            Err(error) => {
                // Nothing is published of which that is not known.
                tracing::error!(%error, "what may be published could not be told");
                Split::default()
            }
        };
        match parted.now.is_empty() {
            true => self.shared.show_hunks().await,
            false => self.publish(parted.now, output).await,
        }
        for (file, reader) in parted.waits {
            output.say(&format!(
                "\n(The change of {file} waits for the user's review, although the mode is auto, because {reader}. The \
                 user is told; go on without it.)"
            ));
            let words = format!(
                "A change of {file} waits for your review although the mode is auto: {reader}."
            );
            self.shared.notice_once(Level::Info, &format!("{}", self.number), words);
        }
    }

    /// The files in which a proposal would write `[key]` over a key that the model was not shown.
    async fn would_lose_keys(
        &self,
        view: &Arc<View>,
        proposals: &[Proposal],
    ) -> Result<Vec<String>, ToolOutput> {
        let keys = self.shared.keys();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (view, proposals) = (view.clone(), proposals.to_vec());
        let looked =
            tokio::task::spawn_blocking(move || hidden::overwritten(&keys, &view, &proposals));
        looked.await.map_err(ToolOutput::error)
    }

    async fn publish(&self, hunks: Vec<HunkId>, output: &mut ToolOutput) {
        let shared = self.shared.clone();
        // A task of its own: an edit that is on its way is seen through, also when the user interrupts.
        let mut publishing = tokio::spawn(async move {
            let selection = Selection::Hunks(hunks);
            let (workspace, editor) = (&*shared.workspace, &*shared.editor);
            let (fork, bounds) = (&shared.fork, shared.publish);
            publish(workspace, editor, fork, &selection, bounds, &*shared).await
        });
        let failed = match self.or_interrupted(&mut publishing).await {
            // Said in the result, which makes its notes unneeded.
            Ok(Ok(report)) => {
                self.shared.tell_now(&report);
                report.told.iter().for_each(|told| output.say(&format!("\n({told})")));
                self.shared.tell_others(&report);
                in_words(&report).1
            }
            Ok(Err(error)) => {
                tracing::error!(%error, "a publish panicked");
                vec!["publishing broke down inside".to_owned()]
            }
            Err(Interrupted) => {
                output.say("\n(interrupted by the user while this was on its way into their text)");
                let shared = self.shared.clone();
                tokio::spawn(async move {
                    if let Ok(report) = publishing.await {
                        shared.tell_now(&report);
                        shared.tell_later(report);
                    }
                    shared.show_hunks().await;
                });
                return;
            }
        };
        self.shared.show_hunks().await;
        if !failed.is_empty() {
            self.warn(format!("Not in your text yet: {}", failed.join("; ")));
            output.say(&format!("\n(Not in the user's text yet: {})", failed.join("; ")));
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
        if let Some(folder) = &self.shared.outputs {
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

/// Says in a call's result what of its changes was not taken in, and why.
fn say_what_is_left(report: &MergeReport, output: &mut ToolOutput) {
    if !report.stays.is_empty() {
        let words =
            "the file stays, because the place that its content was moved to was not taken in";
        output.fail(format_args!("{}: {words}", named(&report.stays)));
    }
    let is_of_git = |error: &&FileError| matches!(error, FileError::OfGit { .. });
    let (of_git, unread): (Vec<_>, Vec<_>) = report.refused.iter().partition(is_of_git);
    if !unread.is_empty() {
        let why: Vec<String> = unread.iter().map(ToString::to_string).collect();
        output
            .fail(format_args!("{}: it could not be read, so it was left unchanged", named(&why)));
    }
    if !of_git.is_empty() {
        let why: Vec<String> = of_git.iter().map(ToString::to_string).collect();
        output.fail(named(&why));
    }
    if !report.conflicts.is_empty() {
        output.fail(format_args!(
                "The same text in {} was changed while this call ran, by the user or by another of your calls; \
                 that part was left out. Read it again before you go on.",
                report.conflicts.join(", ")
            ),
        );
    }
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

/// How many names one sentence has.
const NAMED: usize = 10;

/// So many of them, and how many there are besides.
fn named(all: &[String]) -> String {
    let joined = all.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => joined,
        more => format!("{joined} and {more} more"),
    }
}

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
