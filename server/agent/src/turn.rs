//! The turn: from the user's prompt to the stop.
//!
//! [`Turn::steps`] is the loop: ask the model, run the tool calls it asks for, give it the results, again.
//! What comes later (todos, compaction, hooks) attaches to the steps it calls and leaves it unchanged.

use crate::ask::Said;
use crate::budget;
use crate::conversation::Conversation;
use crate::ends::{CUT_OFF, cut_off};
use crate::hooks::{Ended, StepHook};
use crate::inbox::Item;
use crate::opening::open;
use crate::prompt::{mode_text, news_text, open_files, user_text};
use crate::reads::changed;
use crate::session::parts::Parts;
use futures::FutureExt;
use ropewalk_model::{Block, Role, StopReason as ModelStop};
use ropewalk_protocol::content::briefly;
use ropewalk_protocol::{Event, MessageId, Prompt, Spent, StopReason};
use ropewalk_workspace::{Note, View};
use std::borrow::Cow;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;

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
    pub(crate) parts: Arc<Parts>,
    pub(crate) hooks: Arc<[Arc<dyn StepHook>]>,
    pub(crate) number: u64,
    pub(crate) interrupt: Interrupt,
    pub(crate) conversation: Conversation,
    /// What the session had used when the turn began.
    pub(crate) before: Spent,
    /// The number of the step that is under way.
    step: u32,
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

impl Turn {
    pub(crate) fn new(
        (parts, hooks): (Arc<Parts>, Arc<[Arc<dyn StepHook>]>),
        number: u64,
        interrupt: Interrupt,
        conversation: Conversation,
    ) -> Self {
        Self {
            before: conversation.spent,
            parts,
            hooks,
            number,
            interrupt,
            conversation,
            step: 0,
            failing: (String::new(), 0),
            printed: 0,
            cuts: 0,
            asked_again: false,
            looking: None,
        }
    }

    /// Runs the turn and gives the conversation back. However it ends, the history is valid and whole afterwards.
    pub(crate) async fn run(mut self, prompt: Prompt) -> (Conversation, Ended) {
        let ran = AssertUnwindSafe(self.begin_and_go(&prompt)).catch_unwind().await;
        let ended = ran.unwrap_or_else(|_| {
            tracing::error!(session = %self.parts.id, "a turn panicked");
            self.conversation.close(Some("the turn was cut off by an internal error"));
            let message = "Ropewalk has a bug: the turn was cut off. The log has the details.";
            (StopReason::Error, Some(message.to_owned()))
        });
        (self.conversation, ended)
    }

    async fn begin_and_go(&mut self, prompt: &Prompt) -> Ended {
        if let Err(sentence) = &self.parts.settings.get().model {
            return (StopReason::Error, Some(sentence.clone()));
        }
        self.look_for_context();
        self.begin(prompt).await;
        let (stop, message) = self.steps().await;
        self.context_is_found().await;
        self.tell_of_context();
        let why = match stop {
            StopReason::EndTurn | StopReason::Refusal => None,
            StopReason::MaxTokens => Some(CUT_OFF),
            StopReason::MaxSteps => Some("stopped at the bound for steps of a turn"),
            StopReason::Budget => Some("stopped because its budget is used up"),
            StopReason::Interrupted => Some("interrupted by the user"),
            StopReason::Error => Some("the turn was cut off by an error"),
        };
        self.conversation.close(why);
        (stop, message)
    }

    /// The loop.
    async fn steps(&mut self) -> Ended {
        loop {
            if let Some(ended) = self.bound() {
                return ended;
            }
            self.begin_step();
            let said = match self.ask().await {
                Ok(said) => said,
                Err(ended) => return ended,
            };
            if !said.calls.is_empty() {
                if let Some(ended) = self.answer_calls(said).await {
                    return ended;
                }
            } else if !self.goes_on(&said).await {
                return said.ended();
            }
        }
    }

    fn most_steps(&self) -> u32 {
        self.parts.settings.get().limits.steps.max(1)
    }

    /// The turn's end where it may go no further.
    fn bound(&mut self) -> Option<Ended> {
        let step = self.step;
        if self.is_interrupted() {
            return Some((StopReason::Interrupted, None));
        }
        if step >= self.most_steps() {
            let message = format!("Stopped after {step} steps. Prompt \"continue\" to go on.");
            return Some((StopReason::MaxSteps, Some(message)));
        }
        self.over_budget().map(|message| (StopReason::Budget, Some(message)))
    }

    fn begin_step(&mut self) {
        self.step += 1;
        let (turn, step, message) = (self.number, self.step, self.message());
        self.parts.events.tell(Event::StepStarted { turn, step, message });
        self.join_words();
    }

    /// The id of the message that this step's reply is.
    pub(crate) fn message(&self) -> MessageId {
        format!("{}.{}", self.number, self.step).into()
    }

    /// Runs the calls of a reply and gives the model their results. The turn's end, if this is it.
    async fn answer_calls(&mut self, mut said: Said) -> Option<Ended> {
        let told = self.cut_in_words(&said);
        let mut results = self.run_calls(std::mem::take(&mut said.calls)).await;
        results.extend(told.ok().flatten().map(Block::text));
        self.conversation.push_user(results);
        if let Some(message) = self.stuck() {
            return Some((StopReason::Error, Some(message)));
        }
        self.is_cut_too_often().then(cut_off)
    }

    /// True if the turn goes on after a reply without calls. What its stop reason says matters only here.
    async fn goes_on(&mut self, said: &Said) -> bool {
        if said.printed.as_ref().is_some_and(|call| self.tell_of_printed(call)) {
            return true;
        }
        let may_go_on = self.step < self.most_steps();
        said.reply.stop_reason == ModelStop::PauseTurn
            || self.mends(said)
            || may_go_on && self.parts.inbox.has_words()
            || may_go_on && self.goes_on_at_stop(&said.reply).await
    }

    /// The user's message opens the turn.
    async fn begin(&mut self, prompt: &Prompt) {
        // Interrupted here, the words enter the history all the same.
        let view = self.or_interrupted(self.parts.changes.view()).await;
        let (mut prompt, mut words) = (Cow::Borrowed(prompt), String::new());
        let files = match view {
            Ok(view) => {
                let view = Arc::new(view);
                if self.parts.registry().has_commands() {
                    let (runner, hides) = (&self.parts.runner, self.parts.settings.hides());
                    // Interrupted, the next turn chooses.
                    let _ = self.or_interrupted(runner.begin(&view, &hides)).await;
                }
                self.compare_reads(&view).await;
                let opening = open(&self.parts, &self.conversation, &view, &prompt);
                if let Ok(opening) = self.or_interrupted(opening).await {
                    (prompt, words) = (Cow::Owned(opening.prompt), opening.words);
                }
                open_files(&self.parts.workspace, view.buffers())
            }
            Err(Interrupted) => Vec::new(),
        };
        let mode = self.parts.settings.get().mode;
        let texts = self.conversation.messages().rev().filter(|message| message.role == Role::User);
        let texts =
            texts.flat_map(|message| message.content.iter().rev()).filter_map(Block::as_text);
        let words = words + mode_text(mode, texts);
        let shown = prompt.content.iter().filter(|part| !part.is_text());
        let shown: Vec<Block> = shown.cloned().map(Block::Content).collect();
        let parts = self.parts.clone();
        parts.inbox.take_news(|more| {
            let mut news = parts.workspace.take_news(&parts.id);
            news.extend(more);
            let text = Block::text(user_text(&prompt, &files, &news, &words));
            self.conversation.push_user([text].into_iter().chain(shown).collect());
        });
    }

    /// When a session goes on, the model is told which of the files it knows are another text now.
    async fn compare_reads(&mut self, view: &Arc<View>) {
        if !std::mem::take(&mut self.conversation.goes_on) {
            return;
        }
        let (reads, view) = (self.conversation.reads.clone(), view.clone());
        let compared = tokio::task::spawn_blocking(move || changed(&reads, &view)).await;
        let files = compared.unwrap_or_else(|error| {
            tracing::error!(%error, "what the model has read could not be compared");
            Vec::new()
        });
        if !files.is_empty() {
            self.parts.inbox.put(Item::Note(Note::ChangedMeanwhile { files }));
        }
    }

    /// News, and what the user has said meanwhile, stand behind the results of the last step.
    fn join_words(&mut self) {
        let words = self.parts.inbox.take_words();
        if words.is_empty() && self.conversation.history.last_role() == Some(Role::Assistant) {
            // The model paused: it goes on from its own words.
            return;
        }
        let parts = self.parts.clone();
        parts.inbox.take_news(|more| {
            let mut news = parts.workspace.take_news(&parts.id);
            news.extend(more);
            let mut content: Vec<Block> = news_text(&news).map(Block::text).into_iter().collect();
            content.extend(words.iter().flatten().cloned().map(Block::Content));
            if !content.is_empty() {
                self.conversation.push_user(content);
            }
        });
        for steer in words {
            let text = briefly(&steer);
            parts.events.tell(Event::Steered { turn: self.number, text });
        }
    }

    /// What to say if the turn's or the session's budget is used up.
    fn over_budget(&mut self) -> Option<String> {
        let settings = self.parts.settings.get();
        if let Ok(model) = &settings.model
            && model.price().is_none()
            && let Some(words) = budget::unkept(&settings.limits, model.name())
            && !std::mem::replace(&mut self.conversation.told_unkept, true)
        {
            self.warn(words);
        }
        budget::exceeded(&settings.limits, self.before, self.conversation.spent)
    }

    /// Whether the model keeps making the same failing call.
    fn stuck(&self) -> Option<String> {
        let limit = self.parts.settings.get().limits.identical_failures.max(1);
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
        self.parts.events.warn(message);
    }
}
