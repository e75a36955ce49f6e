//! The turn: from the user's prompt to the stop.
//!
//! [`Turn::steps`] is the loop: ask the model, run the tool calls it asks for, give it the results, again.
//! What comes later (todos, compaction, hooks) attaches to the steps it calls and leaves it unchanged.

use crate::calls::Call;
use crate::event::{Event, Level, StopReason};
use crate::op::Prompt;
use crate::prompt::{news_text, open_files, user_text};
use crate::session::{Shared, lock};
use futures::StreamExt;
use ropewalk_model::{Block, Delta, Model, Reply, ReplyBuilder, Request, StopReason as ModelStop};
use std::future::Future;
use std::sync::Arc;
use tokio::sync::watch;

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
    /// The last failing call, and how often it came in a row.
    pub(crate) failing: (String, u32),
}

impl Turn {
    pub(crate) fn new(
        shared: Arc<Shared>,
        number: u64,
        interrupted: watch::Receiver<bool>,
    ) -> Self {
        Self { shared, number, interrupted, failing: (String::new(), 0) }
    }

    /// Runs the turn. However it ends, the history is valid afterwards.
    pub(crate) async fn run(mut self, prompt: Prompt) -> Ended {
        let model = match &self.shared.settings().model {
            Ok(model) => model.clone(),
            Err(sentence) => return (StopReason::Error, Some(sentence.clone())),
        };
        self.begin(&*model, &prompt).await;
        let (stop, message) = self.steps().await;
        let why = match stop {
            StopReason::Interrupted => "interrupted by the user",
            StopReason::MaxSteps => "stopped at the bound for steps",
            _ => "the turn ended here",
        };
        lock(&self.shared.history).close(&*model, why);
        (stop, message)
    }

    /// The loop.
    async fn steps(&mut self) -> Ended {
        for step in 1..=self.shared.settings().limits.steps {
            self.shared.tell(Event::StepStarted { turn: self.number, step });
            let reply = match self.ask().await {
                Ok(reply) => reply,
                Err(ended) => return ended,
            };
            let stop = reply.stop_reason.clone();
            let calls = self.take_in(reply);
            if calls.is_empty() {
                // What the stop reason says matters only when there is nothing to run.
                if self.add_steers(Vec::new()) || stop == ModelStop::PauseTurn {
                    continue;
                }
                return ended_by(stop);
            }
            let results = self.run_calls(calls).await;
            let stuck = self.stuck();
            self.add_steers(results);
            if *self.interrupted.borrow() {
                return (StopReason::Interrupted, None);
            }
            if let Some(message) = stuck {
                return (StopReason::Error, Some(message));
            }
        }
        let limit = self.shared.settings().limits.steps;
        (
            StopReason::MaxSteps,
            Some(format!("Stopped after {limit} steps. Prompt \"continue\" to go on.")),
        )
    }

    /// The user's message opens the turn.
    async fn begin(&self, model: &dyn Model, prompt: &Prompt) {
        self.shared.editor.barrier().await;
        let files = open_files(&self.shared.workspace, &self.shared.workspace.snapshot());
        lock(&self.shared.fork).sync(&self.shared.workspace);
        let news = self.shared.workspace.take_news(&self.shared.id);
        let text = user_text(prompt, &files, &news);
        lock(&self.shared.history).push_user(model, vec![Block::text(text)]);
    }

    /// One call of the model: its reply, shown as it comes.
    async fn ask(&self) -> Result<Reply, Ended> {
        let settings = self.shared.settings();
        let model =
            settings.model.as_ref().map_err(|why| (StopReason::Error, Some(why.clone())))?;
        let request = Request {
            prelude: self.shared.prelude(&**model),
            pieces: lock(&self.shared.history).pieces(),
            max_tokens: model
                .limits()
                .max_output
                .unwrap_or(u32::MAX)
                .min(settings.limits.output_tokens),
        };
        let mut stream = model.stream(request);
        let mut builder = ReplyBuilder::new();
        loop {
            let delta = match self.or_interrupted(stream.next()).await {
                Ok(Some(Ok(delta))) => delta,
                Ok(Some(Err(error))) => {
                    return Err(self.cut(builder, StopReason::Error, Some(error.to_string())));
                }
                Ok(None) => break,
                Err(Interrupted) => return Err(self.cut(builder, StopReason::Interrupted, None)),
            };
            self.show(&delta);
            builder.push(&delta);
        }
        Ok(builder.finish())
    }

    /// The stream ended early: what is whole of the reply stays in the history.
    fn cut(&self, builder: ReplyBuilder, stop: StopReason, message: Option<String>) -> Ended {
        self.take_in(builder.finish_partial());
        (stop, message)
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
                wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                reason: reason.clone(),
            }),
            _ => {}
        }
    }

    /// A reply enters the history; gives the calls in it.
    fn take_in(&self, reply: Reply) -> Vec<Call> {
        let session = {
            let mut usage = lock(&self.shared.usage);
            *usage += reply.usage;
            *usage
        };
        self.shared.tell(Event::Usage {
            turn: self.number,
            step: reply.usage.into(),
            session: session.into(),
        });
        let calls: Vec<Call> = reply.tool_calls().map(Call::from).collect();
        if !reply.blocks.is_empty()
            && let Ok(model) = &self.shared.settings().model
        {
            lock(&self.shared.history).push_assistant(&**model, reply.blocks);
        }
        calls
    }

    /// Adds results, and after them what the user has said meanwhile and the news. False when there was
    /// nothing to add.
    fn add_steers(&self, mut content: Vec<Block>) -> bool {
        let steers = std::mem::take(&mut *lock(&self.shared.steers));
        if content.is_empty() && steers.is_empty() {
            return false;
        }
        let news = self.shared.workspace.take_news(&self.shared.id);
        content.extend(news_text(&news).map(Block::text));
        content.extend(steers.into_iter().map(Block::text));
        if let Ok(model) = &self.shared.settings().model {
            lock(&self.shared.history).push_user(&**model, content);
        }
        true
    }

    /// Whether the model keeps making the same failing call.
    fn stuck(&self) -> Option<String> {
        let limit = self.shared.settings().limits.identical_failures;
        (self.failing.1 >= limit).then(|| {
            format!(
                "Stopped: the model made the same failing call {} times in a row.",
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

fn ended_by(stop: ModelStop) -> Ended {
    match stop {
        ModelStop::MaxTokens => {
            let message =
                "The answer was cut at the bound for output tokens. Prompt \"continue\" to go on.";
            (StopReason::MaxTokens, Some(message.to_owned()))
        }
        ModelStop::Refusal => {
            (StopReason::Refusal, Some("The model declined to answer.".to_owned()))
        }
        _ => (StopReason::EndTurn, None),
    }
}
