//! The session actor: ops in, events out, one turn at a time.
//!
//! Review goes on while a turn runs; prompts that come meanwhile wait their turn. What the loop does is in
//! `turn`.

use crate::approval::{Approvals, Verdict};
use crate::event::{Event, HunkInfo, Level, StopReason};
use crate::history::History;
use crate::op::{Op, Prompt};
use crate::prompt::{PromptFacts, system_prompt};
use crate::turn::Turn;
use ropewalk_model::{Model, Prelude, ToolSpec, Usage};
use ropewalk_tools::{Mode, Registry, Rule};
use ropewalk_workspace::publish::{Bounds, PublishReport, publish};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::{Editor, Fork, HunkId, Selection, Workspace};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::{mpsc, watch};

/// Where a turn, a step or an output must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most steps of a turn.
    pub steps: u32,
    /// Most output tokens of a step.
    pub output_tokens: u32,
    /// Most characters of a tool result.
    pub tool_output: usize,
    /// Most seconds of a command.
    pub command_seconds: u64,
    /// Most identical failing calls in a row.
    pub identical_failures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 50,
            output_tokens: 8_000,
            tool_output: 50_000,
            command_seconds: 120,
            identical_failures: 3,
        }
    }
}

/// What of a session may change while it lives.
#[derive(Clone)]
pub struct Settings {
    /// The model, or a sentence that says what to set up.
    pub model: Result<Arc<dyn Model>, String>,
    /// The tools.
    pub registry: Registry,
    /// When changes reach the editor.
    pub mode: Mode,
    /// What runs without being asked for.
    pub allow: Vec<Rule>,
    /// The bounds.
    pub limits: Limits,
    /// What the system prompt is made of, apart from tools and roots.
    pub facts: PromptFacts,
    /// Whether somebody is there to be asked.
    pub interactive: bool,
}

/// What a session starts with.
pub struct SessionConfig {
    /// Its id.
    pub id: Arc<str>,
    /// What may change later.
    pub settings: Settings,
    /// Where whole outputs of calls are kept.
    pub outputs: Option<PathBuf>,
    /// The bounds of a publish.
    pub publish: Bounds,
}

/// What the parts of a session share.
pub(crate) struct Shared {
    pub(crate) id: Arc<str>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) editor: Arc<dyn Editor>,
    pub(crate) fork: Mutex<Fork>,
    pub(crate) history: Mutex<History>,
    pub(crate) steers: Mutex<Vec<String>>,
    pub(crate) approvals: Approvals,
    pub(crate) saves: watch::Sender<u64>,
    pub(crate) usage: Mutex<Usage>,
    pub(crate) outputs: Option<PathBuf>,
    pub(crate) publish: Bounds,
    settings: RwLock<Arc<Settings>>,
    prelude: Mutex<Option<Prelude>>,
    events: mpsc::UnboundedSender<Event>,
    shown: Mutex<Vec<HunkInfo>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind, which stays usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn settings(&self) -> Arc<Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        let mut new = Settings::clone(&settings);
        change(&mut new);
        *settings = Arc::new(new);
        drop(settings);
        *lock(&self.prelude) = None;
    }

    /// Tells the front end. One that has gone away hears nothing; the session ends by its ops.
    pub(crate) fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    pub(crate) fn notice(&self, level: Level, message: impl Into<String>) {
        self.tell(Event::Notice { level, message: message.into() });
    }

    /// System prompt and tools, serialised once and kept until something in them changes.
    pub(crate) fn prelude(&self, model: &dyn Model) -> Prelude {
        let mut kept = lock(&self.prelude);
        if let Some(prelude) = kept.as_ref() {
            return prelude.clone();
        }
        let settings = self.settings();
        let infos = settings.registry.infos();
        let facts = PromptFacts {
            tools: infos.iter().map(|info| info.name).collect(),
            ..settings.facts.clone()
        };
        let specs: Vec<ToolSpec> = infos
            .into_iter()
            .map(|info| ToolSpec {
                name: info.name.to_owned(),
                description: info.description.to_owned(),
                input_schema: info.schema,
            })
            .collect();
        let prelude = model.encode_prelude(&system_prompt(&facts, &self.workspace.roots()), &specs);
        *kept = Some(prelude.clone());
        prelude
    }

    /// Shows the pending hunks if they are not as they were shown last.
    pub(crate) fn show_hunks(&self) {
        let hunks: Vec<HunkInfo> = {
            let mut fork = lock(&self.fork);
            fork.sync(&self.workspace);
            fork.hunks().iter().map(HunkInfo::from).collect()
        };
        let mut shown = lock(&self.shown);
        if *shown != hunks {
            (*shown).clone_from(&hunks);
            self.tell(Event::Hunks { hunks });
        }
    }
}

/// A running session. Dropping it interrupts its turn and ends it.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
    ops: mpsc::UnboundedSender<Op>,
    turns: Arc<AtomicU64>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

impl Session {
    /// Starts a session on the current tokio runtime. Its events go to `events`, in order.
    pub fn start(
        config: SessionConfig,
        workspace: Arc<Workspace>,
        editor: Arc<dyn Editor>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Session {
        let (ops, receiver) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            fork: Mutex::new(Fork::new(config.id.clone())),
            id: config.id,
            workspace,
            editor,
            history: Mutex::default(),
            steers: Mutex::default(),
            approvals: Approvals::default(),
            saves: watch::Sender::new(0),
            usage: Mutex::default(),
            outputs: config.outputs,
            publish: config.publish,
            settings: RwLock::new(Arc::new(config.settings)),
            prelude: Mutex::default(),
            events,
            shown: Mutex::default(),
        });
        tokio::spawn(
            Actor { shared: shared.clone(), queue: VecDeque::new(), running: None }.run(receiver),
        );
        Session { shared, ops, turns: Arc::default() }
    }

    /// Its id.
    pub fn id(&self) -> &Arc<str> {
        &self.shared.id
    }

    /// Sends an op. Ops take effect in order.
    pub fn send(&self, op: Op) {
        // The actor lives as long as a handle does.
        let _ = self.ops.send(op);
    }

    /// Sends a prompt and gives the turn it will be.
    pub fn prompt(&self, prompt: Prompt) -> u64 {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        self.send(Op::Prompt(turn, prompt));
        turn
    }

    /// The mode now.
    pub fn mode(&self) -> Mode {
        self.shared.settings().mode
    }

    /// The name of the model now, or what to set up.
    pub fn model(&self) -> Result<String, String> {
        self.shared
            .settings()
            .model
            .as_ref()
            .map(|model| model.name().to_owned())
            .map_err(Clone::clone)
    }

    /// The pending hunks, in sync with the user's text as it is now.
    pub fn hunks(&self) -> Vec<ropewalk_workspace::Hunk> {
        let mut fork = lock(&self.shared.fork);
        fork.sync(&self.shared.workspace);
        fork.hunks()
    }

    /// The net change that is pending, as a unified diff.
    pub fn diff(&self) -> String {
        let mut fork = lock(&self.shared.fork);
        fork.sync(&self.shared.workspace);
        fork.diff()
    }

    /// The approvals that wait, oldest first.
    pub fn waiting_approvals(&self) -> Vec<u64> {
        self.shared.approvals.waiting()
    }

    /// Everything said so far.
    pub fn messages(&self) -> Vec<ropewalk_model::Message> {
        lock(&self.shared.history).messages().cloned().collect()
    }

    /// Tokens used so far.
    pub fn usage(&self) -> Usage {
        *lock(&self.shared.usage)
    }
}

struct Actor {
    shared: Arc<Shared>,
    queue: VecDeque<(u64, Prompt)>,
    running: Option<Running>,
}

struct Running {
    turn: u64,
    interrupt: watch::Sender<bool>,
    task: tokio::task::JoinHandle<(StopReason, Option<String>)>,
}

impl Actor {
    async fn run(mut self, mut ops: mpsc::UnboundedReceiver<Op>) {
        loop {
            tokio::select! {
                biased;
                ended = ended(&mut self.running) => self.turn_ended(ended),
                op = ops.recv() => match op {
                    Some(op) => self.take(op),
                    None => break,
                },
            }
        }
        if let Some(running) = self.running {
            // Nobody listens any more: the turn stops where it is.
            let _ = running.interrupt.send(true);
            let _ = running.task.await;
        }
    }

    fn take(&mut self, op: Op) {
        tracing::debug!(?op, session = %self.shared.id, "op");
        match op {
            Op::Prompt(turn, prompt) => {
                if self.running.is_some() {
                    self.shared.tell(Event::Queued { turn, prompt: prompt.text.clone() });
                }
                self.queue.push_back((turn, prompt));
                self.start_next();
            }
            Op::Steer(text) => lock(&self.shared.steers).push(text),
            Op::Interrupt => match &self.running {
                Some(running) => {
                    let _ = running.interrupt.send(true);
                }
                None => self.shared.notice(Level::Info, "No turn is running."),
            },
            Op::Accept(selection) => self.review("accept", selection),
            Op::Undo(selection) => self.review("undo", selection),
            Op::Reject(selection, reason) => {
                let done = lock(&self.shared.fork).reject(
                    &self.shared.workspace,
                    &selection,
                    reason.as_deref(),
                );
                let failed = if done == 0 {
                    vec!["no pending hunk was meant".to_owned()]
                } else {
                    Vec::new()
                };
                self.reviewed("reject", done, failed);
            }
            Op::Edit(hunk, text) => self.edit(hunk, &text),
            Op::Approve(id, verdict) => self.approve(id, verdict),
            Op::Mode(mode) => {
                self.shared.change_settings(|settings| settings.mode = mode);
                self.shared.tell(Event::ModeChanged { mode: mode.to_string() });
            }
            Op::Model(model) => {
                let name = model.name().to_owned();
                lock(&self.shared.history).encode_anew(&*model);
                self.shared.change_settings(|settings| settings.model = Ok(model));
                self.shared.tell(Event::ModelChanged { model: name });
            }
            Op::Configure(new) => self.configure(*new),
            Op::Saved => self.shared.saves.send_modify(|count| *count += 1),
            Op::Moved => self.shared.show_hunks(),
        }
    }

    /// Other settings: a model of another name reads the history anew. The date stays that of the session's
    /// start, or the prompt's prefix would change at midnight.
    fn configure(&mut self, mut new: Settings) {
        let name =
            |settings: &Settings| settings.model.as_ref().map(|model| model.name().to_owned()).ok();
        let old = self.shared.settings();
        new.facts.date.clone_from(&old.facts.date);
        if let Ok(model) = &new.model
            && name(&old) != name(&new)
        {
            lock(&self.shared.history).encode_anew(&**model);
            self.shared.tell(Event::ModelChanged { model: model.name().to_owned() });
        }
        if old.mode != new.mode {
            self.shared.tell(Event::ModeChanged { mode: new.mode.to_string() });
        }
        self.shared.change_settings(|settings| *settings = new);
    }

    fn edit(&self, hunk: HunkId, text: &str) {
        let edited = lock(&self.shared.fork).edit(&self.shared.workspace, hunk, text);
        let failed = if edited {
            Vec::new()
        } else {
            vec!["there is no such pending hunk of text".to_owned()]
        };
        self.reviewed("edit", usize::from(edited), failed);
    }

    fn approve(&self, id: Option<u64>, verdict: Verdict) {
        if !self.shared.approvals.answer(id, verdict) {
            self.shared.notice(
                Level::Info,
                "Nothing waits for that approval any more; your answer changed nothing.",
            );
        }
    }

    fn reviewed(&self, action: &'static str, done: usize, failed: Vec<String>) {
        self.shared.tell(Event::Reviewed { action, done, failed });
        self.shared.show_hunks();
    }

    /// Accepts or undoes, beside a running turn.
    fn review(&self, action: &'static str, selection: Selection) {
        let shared = self.shared.clone();
        tokio::spawn(async move {
            let (workspace, editor, bounds) = (&*shared.workspace, &*shared.editor, shared.publish);
            let report = if action == "accept" {
                publish(workspace, editor, &shared.fork, &selection, bounds).await
            } else {
                undo(workspace, editor, &shared.id, &selection, bounds).await
            };
            let (done, failed) = in_words(&report);
            shared.tell(Event::Reviewed { action, done, failed });
            shared.show_hunks();
        });
    }

    fn start_next(&mut self) {
        if self.running.is_some() {
            return;
        }
        let Some((number, prompt)) = self.queue.pop_front() else { return };
        let (interrupt, interrupted) = watch::channel(false);
        self.shared.tell(Event::TurnStarted { turn: number, prompt: prompt.text.clone() });
        let turn = Turn::new(self.shared.clone(), number, interrupted);
        let task = tokio::spawn(turn.run(prompt));
        self.running = Some(Running { turn: number, interrupt, task });
    }

    fn turn_ended(&mut self, ended: Result<(StopReason, Option<String>), tokio::task::JoinError>) {
        let Some(running) = self.running.take() else { return };
        let (stop_reason, message) = ended.unwrap_or_else(|error| {
            tracing::error!(%error, "a turn panicked");
            if let Ok(model) = &self.shared.settings().model {
                lock(&self.shared.history)
                    .close(&**model, "the turn was cut off by an internal error");
            }
            (
                StopReason::Error,
                Some(
                    "Ropewalk has a bug: the turn was cut off. The log has the details.".to_owned(),
                ),
            )
        });
        self.shared.show_hunks();
        self.shared.tell(Event::TurnEnded { turn: running.turn, stop_reason, message });
        let late: Vec<String> = std::mem::take(&mut *lock(&self.shared.steers));
        if !late.is_empty() {
            // Steered between the last step and now: it starts a turn of its own, before what was queued.
            self.queue.push_front((running.turn, Prompt::new(late.join("\n"))));
        }
        self.start_next();
    }
}

/// The end of the running turn; never, while none is running.
async fn ended(
    running: &mut Option<Running>,
) -> Result<(StopReason, Option<String>), tokio::task::JoinError> {
    match running {
        Some(running) => (&mut running.task).await,
        None => std::future::pending().await,
    }
}

/// How many hunks a report is about, and what failed.
pub(crate) fn in_words(report: &PublishReport) -> (usize, Vec<String>) {
    let failed = report.failed.iter().map(|(file, why)| format!("{file}: {why}")).collect();
    (report.done.len(), failed)
}
