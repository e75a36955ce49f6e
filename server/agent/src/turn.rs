//! The turn: from the user's prompt to the stop.
//!
//! [`Turn::steps`] is the loop: ask the model, run the tool calls it asks for, give it the results, again.
//! What comes later (todos, compaction, hooks) attaches to the steps it calls and leaves it unchanged.

use crate::budget;
use crate::calls::Call;
use crate::context;
use crate::event::{Event, Level, StopReason};
use crate::journal::record::Record;
use crate::op::Prompt;
use crate::prompt::{news_text, open_files, user_text};
use crate::reads::changed;
use crate::session::shared::{Shared, lock};
use futures::StreamExt;
use ropewalk_model::{
    Block, Delta, Price, Reply, ReplyBuilder, Request, Role, Spent, StopReason as ModelStop,
    ToolInput,
};
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

/// A running turn.
pub(crate) struct Turn {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: u64,
    interrupted: watch::Receiver<bool>,
    /// What the session had used when the turn began.
    before: Spent,
    /// The last failing call, and in how many steps in a row it failed.
    pub(crate) failing: (String, u32),
    /// How often the model has printed a call as text.
    pub(crate) printed: u32,
    /// Finds out how much context the model has, beside everything else.
    pub(crate) looking: Option<JoinHandle<()>>,
}

/// What the model said in a step.
struct Said {
    stop: ModelStop,
    calls: Vec<Call>,
    /// The tool of a call that was printed as text.
    printed: Option<String>,
    is_empty: bool,
}

impl Turn {
    pub(crate) fn new(
        shared: Arc<Shared>,
        number: u64,
        interrupted: watch::Receiver<bool>,
    ) -> Self {
        let before = *lock(&shared.spent);
        Self {
            shared,
            number,
            interrupted,
            before,
            failing: (String::new(), 0),
            printed: 0,
            looking: None,
        }
    }

    /// Runs the turn. However it ends, the history is valid afterwards.
    pub(crate) async fn run(mut self, prompt: Prompt) -> Ended {
        if let Err(sentence) = &self.shared.settings().model {
            return (StopReason::Error, Some(sentence.clone()));
        }
        self.look_for_context();
        self.begin(&prompt).await;
        let (stop, message) = self.steps().await;
        self.context_is_found().await;
        let why = match stop {
            StopReason::EndTurn | StopReason::Refusal => None,
            StopReason::MaxTokens => Some(CUT),
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
            let limit = self.shared.settings().limits.steps.max(1);
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
            self.shared.tell(Event::StepStarted { turn: self.number, step });
            self.join_words();
            let said = match self.ask().await {
                Ok(said) => said,
                Err(ended) => return ended,
            };
            if said.calls.is_empty() {
                if said.printed.as_ref().is_some_and(|tool| self.tell_of_printed(tool)) {
                    continue;
                }
                // What the stop reason says matters only when there is nothing to run.
                let is_steered = step < limit && !lock(&self.shared.steers).is_empty();
                if said.stop == ModelStop::PauseTurn || is_steered {
                    continue;
                }
                return said.ended();
            }
            let mut results = self.run_calls(said.calls).await;
            if said.stop == ModelStop::MaxTokens {
                results.push(Block::text(format!("({CUT})")));
            }
            lock(&self.shared.history).push_user(results);
            if let Some(message) = self.stuck() {
                return (StopReason::Error, Some(message));
            }
        }
    }

    /// The user's message opens the turn.
    async fn begin(&self, prompt: &Prompt) {
        // Interrupted here, the words enter the history all the same.
        let view = self.or_interrupted(self.view()).await;
        let files = match view {
            Ok(view) => {
                let view = Arc::new(view);
                if self.runs_commands() {
                    let (commands, hides) = (&self.shared.commands, self.shared.hides());
                    // Interrupted, the next turn chooses.
                    let _ = self.or_interrupted(commands.turn_begins(&view, &hides)).await;
                }
                self.compare_reads(&view).await;
                open_files(&self.shared.workspace, view.buffers())
            }
            Err(Interrupted) => Vec::new(),
        };
        let news = self.shared.workspace.take_news(&self.shared.id);
        let text = user_text(prompt, &files, &news);
        lock(&self.shared.history).push_user(vec![Block::text(text)]);
    }

    /// Whether there is a tool that runs commands.
    fn runs_commands(&self) -> bool {
        let infos = self.shared.settings().registry.infos(Tier::default());
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
        content.extend(steers.iter().map(Block::text));
        if !content.is_empty() {
            history.push_user(content);
        }
        drop(history);
        for text in steers {
            self.shared.tell(Event::Steered { turn: self.number, text });
        }
    }

    /// One call of the model: its reply, shown as it comes and kept in the history.
    async fn ask(&mut self) -> Result<Said, Ended> {
        let settings = self.shared.settings();
        if let Err(sentence) = &settings.model {
            return Err((StopReason::Error, Some(sentence.clone())));
        }
        let Some((model, pieces)) = lock(&self.shared.history).request() else {
            return Err((StopReason::Error, Some("No model is set up.".to_owned())));
        };
        self.shared.tell_of_context(&*model);
        let prelude = self.shared.prelude(&settings, &*model);
        let max_tokens = settings.limits.output_tokens.min(context::longest_reply(model.limits()));
        let sent = context::bytes(&prelude, &pieces);
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
                self.shared.tell(Event::TextDelta { turn, text: text.clone() })
            }
            Delta::Thinking { text, .. } => {
                self.shared.tell(Event::ThinkingDelta { turn, text: text.clone() })
            }
            Delta::Retrying { attempt, wait, reason } => self.shared.tell(Event::Retrying {
                turn,
                attempt: *attempt,
                wait_ms: milliseconds(*wait),
                reason: reason.clone(),
            }),
            Delta::Waiting { waited, is_queued } => self.shared.tell(Event::Waiting {
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
        self.shared.tell(Event::Usage { turn: self.number, step, in_turn, total });
        if matches!(reply.stop_reason, ModelStop::MaxTokens | ModelStop::Refusal) {
            reply.blocks.pop_if(|last| is_cut_call(last));
        }
        let stop = reply.stop_reason;
        if reply.blocks.is_empty() {
            return Said { stop, calls: Vec::new(), printed: None, is_empty: true };
        }
        let mut history = lock(&self.shared.history);
        let blocks = history.push_assistant(reply.blocks, by);
        let calls = blocks.iter().filter_map(Call::of).collect();
        Said { stop, calls, printed: None, is_empty: false }
    }

    /// What to say if the turn's or the session's budget is used up.
    fn over_budget(&self) -> Option<String> {
        let settings = self.shared.settings();
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
        let limit = self.shared.settings().limits.identical_failures.max(1);
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
        let mut interrupted = self.interrupted.clone();
        tokio::select! {
            biased;
            // An error means that the session is gone, which stops the turn too.
            _ = interrupted.wait_for(|stop| *stop) => Err(Interrupted),
            value = future => Ok(value),
        }
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        *self.interrupted.borrow()
    }

    pub(crate) fn warn(&self, message: String) {
        self.shared.notice(Level::Warning, message);
    }
}

/// What the model is told of a message that hit the bound.
const CUT: &str = "your message was cut at the bound for output tokens, and what was not complete is lost: send long \
                   content in several smaller calls";

/// Whether a call that ends a reply was cut off: its input is no JSON, or nothing of it has come.
fn is_cut_call(block: &Block) -> bool {
    match block {
        Block::ToolUse { input: ToolInput::Broken(_), .. } => true,
        Block::ToolUse { input: ToolInput::Json(input), .. } => {
            input.as_object().is_some_and(serde_json::Map::is_empty)
        }
        _ => false,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Said {
    /// How a turn ends with these words.
    fn ended(self) -> Ended {
        match self.stop {
            ModelStop::MaxTokens => (
                StopReason::MaxTokens,
                Some(
                    "The answer was cut at the bound for output tokens. Prompt \"continue\" to go on."
                        .to_owned(),
                ),
            ),
            ModelStop::Refusal => {
                (StopReason::Refusal, Some("The model declined to answer.".to_owned()))
            }
            ModelStop::Other(word) => {
                (StopReason::EndTurn, Some(format!("The model stopped: {word}.")))
            }
            _ if self.is_empty => {
                (StopReason::EndTurn, Some("The model ended its turn without a word.".to_owned()))
            }
            _ => (StopReason::EndTurn, None),
        }
    }
}
