//! The turn: from the user's prompt to the stop.
//!
//! [`Turn::steps`] is the loop: ask the model, run the tool calls it asks for, give it the results, again.
//! What comes later (todos, compaction, hooks) attaches to the steps it calls and leaves it unchanged.

mod ask;
mod begin;
mod context;
mod ends;
mod hooks;
mod printed;
mod reply;
mod state;
mod thread;

use crate::budget;
use crate::conversation::Conversation;
use crate::hooks::TurnOutcome;
use ends::CUT_OFF;
use futures::FutureExt;
use reply::{StepReply, cut_off};
use ropewalk_model::{Block, ModelStop};
use ropewalk_protocol::content::briefly;
use ropewalk_protocol::{Content, Event, Prompt, StopReason};
pub(crate) use state::{FailingCall, Turn};
use std::panic::AssertUnwindSafe;
use std::sync::PoisonError;
pub(crate) use thread::ThreadEnd;

impl Turn {
    /// Runs the turn and gives the conversation back. However it ends, the history is valid and whole afterwards.
    pub(crate) async fn run(mut self, prompt: Prompt) -> (Conversation, TurnOutcome) {
        let ran = AssertUnwindSafe(self.begin_and_go(&prompt)).catch_unwind().await;
        let outcome = ran.unwrap_or_else(|_| {
            tracing::error!(session = %self.parts.id, "a turn panicked");
            self.close_cut("the turn was cut off by an internal error");
            let message = "Ropewalk has a bug: the turn was cut off. The log has the details.";
            TurnOutcome::told(StopReason::Error, message)
        });
        (self.conversation, outcome)
    }

    /// Closes the history after a panic: calls that had begun are told as such.
    fn close_cut(&mut self, why: &str) {
        let stages = self.stages.get_mut().unwrap_or_else(PoisonError::into_inner);
        let history = &mut self.conversation.history;
        history.close_telling(Some(why), |call| stages.result(call, why));
        self.conversation.publish();
    }

    async fn begin_and_go(&mut self, prompt: &Prompt) -> TurnOutcome {
        if let Err(sentence) = &self.parts.settings.get().model {
            return TurnOutcome::told(StopReason::Error, sentence.clone());
        }
        self.look_for_context();
        self.begin(prompt).await;
        let outcome = self.steps().await;
        self.wait_for_context().await;
        self.tell_of_context();
        let why = match outcome.stop_reason {
            StopReason::EndTurn | StopReason::Refusal => None,
            StopReason::MaxTokens => Some(CUT_OFF),
            StopReason::MaxSteps => Some("stopped at the limit of steps in one turn"),
            StopReason::Budget => Some("stopped because its budget is used up"),
            StopReason::Interrupted => Some("interrupted by the user"),
            StopReason::Error => Some("the turn was cut off by an error"),
        };
        self.conversation.close(why);
        outcome
    }

    /// The loop.
    async fn steps(&mut self) -> TurnOutcome {
        loop {
            if let Some(outcome) = self.bound() {
                return outcome;
            }
            self.begin_step().await;
            let said = match self.ask().await {
                Ok(said) => said,
                Err(outcome) => return outcome,
            };
            if !said.calls.is_empty() {
                if let Some(outcome) = self.answer_calls(said).await {
                    return outcome;
                }
            } else if !self.goes_on(&said).await {
                return said.outcome();
            }
        }
    }

    fn most_steps(&self) -> u32 {
        self.parts.settings.get().limits.steps.max(1)
    }

    /// The turn's end where it may go no further.
    fn bound(&mut self) -> Option<TurnOutcome> {
        let step = self.step;
        if self.is_interrupted() {
            return Some(TurnOutcome::silent(StopReason::Interrupted));
        }
        if step >= self.most_steps() {
            let message = format!("Stopped after {step} steps. Say \"continue\" to go on.");
            return Some(TurnOutcome::told(StopReason::MaxSteps, message));
        }
        self.over_budget().map(|message| TurnOutcome::told(StopReason::Budget, message))
    }

    async fn begin_step(&mut self) {
        self.step += 1;
        let (turn, step, message) = (self.number, self.step, self.message());
        self.parts.events.tell(Event::StepStarted { turn, step, message });
        self.join_all().await;
        self.remind_of_todos();
    }

    /// Runs the calls of a reply and gives the model their results. The turn's end, if this is it.
    async fn answer_calls(&mut self, mut said: StepReply) -> Option<TurnOutcome> {
        let told = self.count_cut(&said);
        let mut results = self.run_calls(std::mem::take(&mut said.calls)).await;
        results.extend(told.ok().flatten().map(Block::text));
        self.conversation.push_user(results);
        self.stages.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        if let Some(message) = self.stuck() {
            return Some(TurnOutcome::told(StopReason::Error, message));
        }
        // One that the user has stopped meanwhile ends as such.
        if self.is_over && !self.is_interrupted() {
            return Some(TurnOutcome::silent(StopReason::EndTurn));
        }
        self.is_cut_too_often().then(cut_off)
    }

    /// True if the turn goes on after a reply without calls. What its stop reason says matters only here.
    async fn goes_on(&mut self, said: &StepReply) -> bool {
        if said.printed.as_ref().is_some_and(|call| self.tell_of_printed(call)) {
            return true;
        }
        let may_go_on = self.step < self.most_steps();
        said.reply.stop_reason == ModelStop::PauseTurn
            || self.makes_room(said).await
            || self.mends(said)
            || may_go_on && self.parts.inbox.has_words()
            || may_go_on && self.goes_on_at_stop(&said.reply).await
    }

    /// News, mail, and the words of the user enter the history.
    async fn join_words(&mut self, mail: Vec<Content>) {
        let words = self.parts.inbox.take_words();
        let steers = words.clone();
        self.take_news(|turn, news| {
            let mut content: Vec<Block> = news.map(Block::text).into_iter().collect();
            content.extend(mail.into_iter().map(Block::Content));
            content.extend(steers.into_iter().flatten().map(Block::Content));
            if !content.is_empty() {
                turn.conversation.push_user(content);
            }
        })
        .await;
        for steer in words {
            let text = briefly(&steer);
            self.conversation.hear(text.clone());
            self.parts.events.tell(Event::Steered { turn: self.number, text });
        }
    }

    /// Gives the words that end the turn if its budget or the session's is used up.
    fn over_budget(&mut self) -> Option<String> {
        let settings = self.parts.settings.get();
        if let Ok(model) = &settings.model
            && model.price().is_none()
            && let Some(words) = budget::unkept(&settings.limits, model.name())
            && !std::mem::replace(&mut self.conversation.told_unkept, true)
        {
            self.warn(words);
        }
        let (before, spent) = self.conversation.in_budget();
        budget::exceeded(&settings.limits, before, spent).or_else(|| self.over_own_tokens())
    }

    /// Words for a model that keeps making the same call in vain.
    fn stuck(&self) -> Option<String> {
        let limit = self.parts.settings.get().limits.identical_failures.max(1);
        let fails = || {
            format!(
                "Stopped: the model made the same failing call {} times in a row. Tell it another way, or prompt \
                 \"continue\" to go on.",
                self.failing.steps
            )
        };
        (self.failing.steps >= limit).then(fails).or_else(|| self.repeats.ended())
    }
}
