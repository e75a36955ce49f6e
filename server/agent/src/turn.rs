//! The turn: from the user's prompt to the stop.
//!
//! [`Turn::steps`] is the loop: ask the model, run the tool calls it asks for, give it the results, again.
//! What comes later (todos, compaction, hooks) attaches to the steps it calls and leaves it unchanged.

use crate::budget;
use crate::calls::{Call, read_loosely};
use crate::context;
use crate::ends::{CUT_OFF, cut_off, says_nothing, take_cut_call};
use crate::journal::record::Record;
use crate::printed::PrintedTool;
use crate::prompt::{mode_text, news_text, open_files, user_text};
use crate::reads::changed;
use crate::session::shared::{Shared, lock};
use futures::StreamExt;
use ropewalk_model::{Block, Delta, Reply, ReplyBuilder, Request, Role, StopReason as ModelStop};
use ropewalk_protocol::content::briefly;
use ropewalk_protocol::{Event, Price, Prompt, Spent, StopReason};
use ropewalk_tools::{Effect, Tier};
use ropewalk_workspace::{Note, View};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How the loop ended, and what to say of it.
pub(crate) type Ended = (StopReason, Option<String>);

/// The user has stopped the turn.
#[derive(Debug)]
pub(crate) struct Interrupted;

/// The user's word to stop a turn; None where nobody can say it.
#[derive(Clone)]
pub(crate) struct Interrupt(pub(crate) Option<watch::Receiver<bool>>);

impl Interrupt {
    /// Waits for `future`, unless the user interrupts first.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T, Interrupted> {
        let Some(mut interrupted) = self.0.clone() else { return Ok(future.await) };
        tokio::select! {
            biased;
            // An error means that the session is gone, which stops the turn too.
            _ = interrupted.wait_for(|stop| *stop) => Err(Interrupted),
            value = future => Ok(value),
        }
    }

    pub(crate) fn is_said(&self) -> bool {
        self.0.as_ref().is_some_and(|interrupted| *interrupted.borrow())
    }
}

/// A running turn.
pub(crate) struct Turn {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u64,
    pub(crate) interrupt: Interrupt,
    /// What the session had used when the turn began.
    before: Spent,
    /// The last failing call, and in how many steps in a row it failed.
    pub(crate) failing: (String, u32),
    /// How often the model has printed a call as text.
    pub(crate) printed: u32,
    /// How many replies in a row were cut at the bound for output tokens.
    pub(crate) cuts: u32,
    /// True if the model was just asked again, because its reply said nothing.
    pub(crate) asked_again: bool,
    /// Finds out how much context the model has, beside everything else.
    pub(crate) looking: Option<JoinHandle<()>>,
}

/// What the model said in a step.
pub(crate) struct Said {
    pub(crate) stop: ModelStop,
    pub(crate) calls: Vec<Call>,
    /// The tool of a call that was printed as text.
    printed: Option<PrintedTool>,
    /// The tool of a call that was cut, and so is none.
    pub(crate) cut: Option<String>,
    /// True if there is neither a word nor a call.
    pub(crate) is_empty: bool,
}

impl Turn {
    pub(crate) fn new(shared: Arc<Shared>, number: u64, interrupt: Interrupt) -> Self {
        let before = *lock(&shared.spent);
        Self {
            shared,
            number,
            interrupt,
            before,
            failing: (String::new(), 0),
            printed: 0,
            cuts: 0,
            asked_again: false,
            looking: None,
        }
    }

    /// Runs the turn. However it ends, the history is valid afterwards.
    pub(crate) async fn run(mut self, prompt: Prompt) -> Ended {
        if let Err(sentence) = &self.shared.settings.get().model {
            return (StopReason::Error, Some(sentence.clone()));
        }
        self.look_for_context();
        self.begin(&prompt).await;
        let (stop, message) = self.steps().await;
        self.context_is_found().await;
        let why = match stop {
            StopReason::EndTurn | StopReason::Refusal => None,
            StopReason::MaxTokens => Some(CUT_OFF),
            StopReason::MaxSteps => Some("stopped at the bound for steps of a turn"),
            StopReason::Budget => Some("stopped because its budget is used up"),
            StopReason::Interrupted => Some("interrupted by the user"),
            StopReason::Error => Some("the turn was cut off by an error"),
        };
        lock(&self.shared.history).close(why);
        (stop, message)
    }

    /// The loop.
    async fn steps(&mut self) -> Ended {
        let mut step = 0;
        loop {
            let limit = self.shared.settings.get().limits.steps.max(1);
            if self.is_interrupted() {
                return (StopReason::Interrupted, None);
            }
            if step >= limit {
                let message = format!("Stopped after {step} steps. Prompt \"continue\" to go on.");
                return (StopReason::MaxSteps, Some(message));
            }
            if let Some(message) = self.over_budget() {
                return (StopReason::Budget, Some(message));
            }
            step += 1;
            self.shared.events.tell(Event::StepStarted { turn: self.number, step });
            self.join_words();
            let said = match self.ask().await {
                Ok(said) => said,
                Err(ended) => return ended,
            };
            if said.calls.is_empty() {
                if said.printed.as_ref().is_some_and(|call| self.tell_of_printed(call)) {
                    continue;
                }
                // What the stop reason says matters only when there is nothing to run.
                let is_steered = step < limit && !lock(&self.shared.steers).is_empty();
                if said.stop == ModelStop::PauseTurn || self.goes_on(&said) || is_steered {
                    continue;
                }
                return said.ended();
            }
            let told = self.cut_in_words(&said);
            let mut results = self.run_calls(said.calls).await;
            results.extend(told.ok().flatten().map(Block::text));
            lock(&self.shared.history).push_user(results);
            if let Some(message) = self.stuck() {
                return (StopReason::Error, Some(message));
            }
            if self.is_cut_too_often() {
                return cut_off();
            }
        }
    }

    /// The user's message opens the turn.
    async fn begin(&self, prompt: &Prompt) {
        // Interrupted here, the words enter the history all the same.
        let view = self.or_interrupted(self.shared.changes.view()).await;
        let files = match view {
            Ok(view) => {
                let view = Arc::new(view);
                if self.runs_commands() {
                    let (commands, hides) = (&self.shared.commands, self.shared.settings.hides());
                    // Interrupted, the next turn chooses.
                    let _ = self.or_interrupted(commands.turn_begins(&view, &hides)).await;
                }
                self.compare_reads(&view).await;
                open_files(&self.shared.workspace, view.buffers())
            }
            Err(Interrupted) => Vec::new(),
        };
        let news = self.shared.workspace.take_news(&self.shared.id);
        let mode = self.shared.settings.get().mode;
        let mut history = lock(&self.shared.history);
        let texts = history.messages().rev().filter(|message| message.role == Role::User);
        let texts =
            texts.flat_map(|message| message.content.iter().rev()).filter_map(Block::as_text);
        let mode = mode_text(mode, texts);
        let text = user_text(prompt, &files, &news, mode);
        let shown = prompt.content.iter().filter(|part| !part.is_text());
        let shown = shown.cloned().map(Block::Content);
        history.push_user([Block::text(text)].into_iter().chain(shown).collect());
    }

    /// Whether there is a tool that runs commands.
    fn runs_commands(&self) -> bool {
        let infos = self.shared.settings.get().registry.infos(Tier::default());
        infos.iter().any(|info| info.effect == Effect::Execute)
    }

    /// When a session goes on, the model is told which of the files it knows are another text now.
    async fn compare_reads(&self, view: &Arc<View>) {
        if !self.shared.goes_on.swap(false, Ordering::Relaxed) {
            return;
        }
        let (reads, view) = (lock(&self.shared.reads).clone(), view.clone());
        let compared = tokio::task::spawn_blocking(move || changed(&reads, &view)).await;
        let files = compared.unwrap_or_else(|error| {
            tracing::error!(%error, "what the model has read could not be compared");
            Vec::new()
        });
        if !files.is_empty() {
            let note = Note::ChangedMeanwhile { files };
            self.shared.workspace.tell(Some(self.shared.id.clone()), note);
        }
    }

    /// News, and what the user has said meanwhile, stand behind the results of the last step.
    fn join_words(&self) {
        let steers = std::mem::take(&mut *lock(&self.shared.steers));
        let mut history = lock(&self.shared.history);
        if steers.is_empty() && history.last_role() == Some(Role::Assistant) {
            // The model paused: it goes on from its own words.
            return;
        }
        let news = self.shared.workspace.take_news(&self.shared.id);
        let mut content: Vec<Block> = news_text(&news).map(Block::text).into_iter().collect();
        content.extend(steers.iter().flatten().cloned().map(Block::Content));
        if !content.is_empty() {
            history.push_user(content);
        }
        drop(history);
        for steer in steers {
            let text = briefly(&steer);
            self.shared.events.tell(Event::Steered { turn: self.number, text });
        }
    }

    /// One call of the model: its reply, shown as it comes and kept in the history.
    async fn ask(&mut self) -> Result<Said, Ended> {
        let settings = self.shared.settings.get();
        if let Err(sentence) = &settings.model {
            return Err((StopReason::Error, Some(sentence.clone())));
        }
        let (request, images) = {
            let history = lock(&self.shared.history);
            (history.request(), history.images())
        };
        let Some((model, pieces)) = request else {
            return Err((StopReason::Error, Some("No model is set up.".to_owned())));
        };
        if model.limits().context.is_none() {
            self.context_is_found().await;
        }
        self.shared.tell_of_context(&*model);
        let prelude = self.shared.prelude(&settings, &*model);
        let sent = context::bytes(&prelude, &pieces, images);
        let wanted = settings.limits.wanted_output();
        let max_tokens = self.shared.longest_reply(&*model, wanted, sent);
        let request = Request { prelude, pieces, max_tokens };
        let mut stream = model.stream(request);
        let mut builder = ReplyBuilder::new();
        let ended = loop {
            match self.or_interrupted(stream.next()).await {
                Ok(Some(Ok(delta))) => {
                    self.show(&delta);
                    builder.push(&delta);
                }
                Ok(None) => {
                    let mut reply = builder.finish();
                    let printed = self.look_for_printed(&mut reply, &*model);
                    self.shared.tell_of_cut(&*model, sent, reply.usage);
                    self.shared.measure(&*model, sent, reply.usage);
                    let said = self.take_in(reply, model.name(), model.price());
                    // Some servers know it when they have loaded the model.
                    self.look_for_context();
                    return Ok(Said { printed, ..said });
                }
                Ok(Some(Err(error))) => break (StopReason::Error, Some(error.to_string())),
                Err(Interrupted) => break (StopReason::Interrupted, None),
            }
        };
        // The stream ended early: what is whole of the reply stays.
        self.take_in(builder.finish_partial(), model.name(), model.price());
        Err(ended)
    }

    fn show(&self, delta: &Delta) {
        let turn = self.number;
        match delta {
            Delta::Text { text, .. } => {
                self.shared.events.tell(Event::TextDelta { turn, text: text.clone() })
            }
            Delta::Thinking { text, .. } => {
                self.shared.events.tell(Event::ThinkingDelta { turn, text: text.clone() })
            }
            Delta::Retrying { attempt, wait, reason } => self.shared.events.tell(Event::Retrying {
                turn,
                attempt: *attempt,
                wait_ms: milliseconds(*wait),
                reason: reason.clone(),
            }),
            Delta::Waiting { waited, is_queued } => self.shared.events.tell(Event::Waiting {
                turn,
                waited_ms: milliseconds(*waited),
                is_queued: *is_queued,
            }),
            _ => {}
        }
    }

    /// A reply enters the history.
    fn take_in(&self, mut reply: Reply, by: &str, price: Option<Price>) -> Said {
        let step = Spent::of(reply.usage, price);
        let total = {
            let mut spent = lock(&self.shared.spent);
            *spent += step;
            *spent
        };
        self.shared.journal.write(&Record::Usage(total));
        let in_turn = total.since(self.before);
        self.shared.events.tell(Event::Usage {
            turn: self.number,
            step: step.into(),
            in_turn: in_turn.into(),
            total: total.into(),
        });
        let cut = take_cut_call(&mut reply);
        let (stop, is_empty) = (reply.stop_reason, says_nothing(&reply.blocks));
        let nothing = Said { stop, calls: Vec::new(), printed: None, cut, is_empty };
        if reply.blocks.is_empty() {
            return nothing;
        }
        let overlooked = read_loosely(&mut reply.blocks);
        let mut history = lock(&self.shared.history);
        let blocks = history.push_assistant(reply.blocks, by);
        let calls = blocks.iter().filter_map(Call::of).zip(overlooked);
        let calls = calls.map(|(call, overlooked)| call.overlooking(overlooked)).collect();
        Said { calls, ..nothing }
    }

    /// What to say if the turn's or the session's budget is used up.
    fn over_budget(&self) -> Option<String> {
        let settings = self.shared.settings.get();
        if let Ok(model) = &settings.model
            && model.price().is_none()
            && let Some(words) = budget::unkept(&settings.limits, model.name())
            && !self.shared.told_unkept.swap(true, Ordering::Relaxed)
        {
            self.warn(words);
        }
        budget::exceeded(&settings.limits, self.before, *lock(&self.shared.spent))
    }

    /// Whether the model keeps making the same failing call.
    fn stuck(&self) -> Option<String> {
        let limit = self.shared.settings.get().limits.identical_failures.max(1);
        (self.failing.1 >= limit).then(|| {
            format!(
                "Stopped: the model made the same failing call {} times in a row. Tell it another way, or prompt \
                 \"continue\" to go on.",
                self.failing.1
            )
        })
    }

    /// Waits for `future`, unless the user interrupts first.
    pub(crate) async fn or_interrupted<T>(
        &self,
        future: impl Future<Output = T>,
    ) -> Result<T, Interrupted> {
        self.interrupt.or(future).await
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_said()
    }

    pub(crate) fn warn(&self, message: String) {
        self.shared.events.warn(message);
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
