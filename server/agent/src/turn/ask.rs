//! One step's question to the model: the request, the reply as it comes, and its way into the history.

use super::Turn;
use super::reply::{StepReply, says_nothing, take_cut_call};
use crate::calls::{ModelCall, read_loosely};
use crate::context;
use crate::conversation::Conversation;
use crate::hooks::TurnOutcome;
use crate::interrupt::Interrupted;
use crate::journal::record::Record;
use crate::journal::reduction::Reduction;
use crate::settings::Settings;
use futures::StreamExt;
use ropewalk_model::{Delta, Model, ModelError, ModelReply, ModelRequest, Prelude, ReplyBuilder};
use ropewalk_protocol::{Event, Price, Spent, StopReason, Usage};
use std::sync::Arc;

/// Why the model has not answered.
enum AskFailure {
    /// Its server has refused the request as too long.
    TooLong(ModelError),
    /// Its server has refused the request for another reason, and would refuse it again.
    Refused(ModelError),
    Ended(TurnOutcome),
}

impl From<TurnOutcome> for AskFailure {
    fn from(outcome: TurnOutcome) -> Self {
        Self::Ended(outcome)
    }
}

impl Turn {
    /// Asks the model. If its server refuses the request as too long, and a hook has mended that, it is asked once more; if
    /// it refuses the request for another reason, it is asked with more and more of the history in words.
    pub(crate) async fn ask(&mut self) -> Result<StepReply, TurnOutcome> {
        self.know_context().await;
        self.before_step(false).await?;
        let mut asked = self.ask_once().await;
        if let Err(AskFailure::TooLong(error) | AskFailure::Refused(error)) = &asked
            && self.learn_told(error)
            && error.is_of_reply()
        {
            // A shorter reply may be all that is wanted.
            self.before_step(false).await?;
            asked = self.ask_once().await;
            if let Err(AskFailure::Refused(_)) = &asked {
                // With it the request was refused all the same.
                if let Some(model) = self.conversation.history.model() {
                    model.learn_output(None);
                }
            }
        }
        let asked = match asked {
            Err(AskFailure::TooLong(error)) => {
                let before = self.conversation.history.pieces();
                self.before_step(true).await?;
                match self.conversation.history.pieces() == before {
                    true => Err(AskFailure::TooLong(error)),
                    false => self.ask_once().await,
                }
            }
            asked => asked,
        };
        let asked = match asked {
            Err(AskFailure::Refused(error)) => self.ask_with_less(error).await,
            asked => asked,
        };
        asked.map_err(|unanswered| match unanswered {
            AskFailure::TooLong(error) | AskFailure::Refused(error) => {
                TurnOutcome::told(StopReason::Error, error.to_string())
            }
            AskFailure::Ended(outcome) => outcome,
        })
    }

    /// Waits a little for the context of a model that is not known: by it goes which opening and how much room there is.
    async fn know_context(&mut self) {
        let settings = self.parts.settings.get();
        if settings.model.as_ref().is_ok_and(|model| model.limits().context.is_none()) {
            self.wait_for_context().await;
        }
    }

    /// Learns the model's limits that a refusal names; true if that changes what is known.
    fn learn_told(&mut self, error: &ModelError) -> bool {
        let Some(model) = self.conversation.history.model().cloned() else { return false };
        self.conversation.context.learn_told(&*model, error)
    }

    /// Asks with the history reduced, more each time, until the server answers. The history stays reduced then; if no
    /// reduction helps it is as before, since the fault lies elsewhere: in the prompt, the tools, or a setting.
    async fn ask_with_less(&mut self, error: ModelError) -> Result<StepReply, AskFailure> {
        let prompt = self.conversation.turns.last().map(|mark| mark.history.clone());
        let prompt = prompt.unwrap_or_default();
        let mut sent = self.conversation.history.pieces();
        for how in Reduction::ALL {
            let Some(reduced) = self.conversation.history.reduced(how, &prompt) else { continue };
            if reduced.pieces() == sent {
                continue;
            }
            sent = reduced.pieces();
            let whole = std::mem::replace(&mut self.conversation.history, reduced);
            self.reducing = Some(how);
            let asked = self.ask_once().await;
            if self.reducing.take().is_none() {
                return asked;
            }
            // Nothing of a reply has come.
            self.conversation.history = whole;
            match asked {
                Err(AskFailure::Refused(_) | AskFailure::TooLong(_)) => {}
                asked => return asked,
            }
        }
        Err(AskFailure::Refused(error))
    }

    /// The server answers a history that was reduced: so it stays.
    fn keep_reduced(&mut self) {
        let Some(how) = self.reducing.take() else { return };
        self.conversation.journal.write(&Record::Reduced(how));
        self.conversation.publish();
        let words = how.in_words();
        tracing::warn!(reduction = words, "the model's server refused the conversation as it was");
        if how != Reduction::Thoughts {
            self.warn(format!(
                "The model's server refused the conversation as it was; it goes on {words}."
            ));
        }
    }

    /// One call of the model: its reply, shown as it comes and kept in the history.
    async fn ask_once(&mut self) -> Result<StepReply, AskFailure> {
        let settings = self.parts.settings.get();
        if let Err(sentence) = &settings.model {
            return Err(TurnOutcome::told(StopReason::Error, sentence.clone()).into());
        }
        self.conversation.follow(&settings);
        let Some((model, prelude)) = self.parts.open(&mut self.conversation) else {
            return Err(TurnOutcome::told(StopReason::Error, "No model is set up.").into());
        };
        let (request, sent) = self.request(&settings, &*model, prelude);
        let mut stream = model.stream(request);
        let mut builder = ReplyBuilder::new();
        let mut has_begun = false;
        let failure = loop {
            match self.or_interrupted(stream.next()).await {
                Ok(Some(Ok(delta))) => {
                    if !matches!(delta, Delta::Waiting { .. } | Delta::Retrying { .. }) {
                        self.keep_reduced();
                        has_begun = true;
                    }
                    self.show(&delta);
                    builder.push(&delta);
                }
                Ok(None) => {
                    let mut reply = builder.finish();
                    let printed = self.look_for_printed(&mut reply, &*model);
                    let context = &mut self.conversation.context;
                    context.tell_of_cut(&self.parts.events, &*model, sent, reply.usage);
                    context.measure(&*model, sent, reply.usage);
                    let said = self.take_in(reply, model.name(), model.price());
                    // Some servers know it when they have loaded the model.
                    self.look_for_context();
                    return Ok(StepReply { printed, ..said });
                }
                Ok(Some(Err(error @ ModelError::ContextLength { .. }))) => {
                    break AskFailure::TooLong(error);
                }
                Ok(Some(Err(error @ ModelError::InvalidRequest { .. }))) if !has_begun => {
                    break AskFailure::Refused(error);
                }
                Ok(Some(Err(error))) => {
                    break TurnOutcome::told(StopReason::Error, error.to_string()).into();
                }
                Err(Interrupted) => break TurnOutcome::silent(StopReason::Interrupted).into(),
            }
        };
        let partial = builder.finish_partial();
        match failure {
            // The same is asked again: what it has said until then is not to be answered.
            AskFailure::TooLong(_) | AskFailure::Refused(_) => {
                self.count(partial.usage, model.price())
            }
            // The stream ended early: what is whole of the reply stays.
            AskFailure::Ended(_) => drop(self.take_in(partial, model.name(), model.price())),
        }
        Err(failure)
    }

    /// The request of this step, and its length in bytes of text.
    fn request(
        &mut self,
        settings: &Arc<Settings>,
        model: &dyn Model,
        prelude: Prelude,
    ) -> (ModelRequest, usize) {
        let parts = &self.parts;
        let Conversation { context, history, .. } = &mut self.conversation;
        context.tell(&parts.events, model);
        if parts.thread.is_none() {
            context.tell_of_end(&parts.events, model, &settings.facts.date);
        }
        let pieces = history.pieces();
        let wanted = settings.limits.wanted_output();
        let room = context.room(model, wanted, prelude.as_str().len());
        context.keep_room(room);
        let sent = context::bytes(&prelude, &pieces, history.images());
        let max_tokens = context.longest_reply(model, wanted, sent);
        (ModelRequest { prelude, pieces, max_tokens }, sent)
    }

    fn show(&self, delta: &Delta) {
        let (turn, message) = (self.number, self.message());
        match delta {
            Delta::Text { text, .. } => {
                self.parts.events.tell(Event::TextDelta { turn, message, text: text.clone() })
            }
            Delta::Thinking { text, .. } => {
                self.parts.events.tell(Event::ThinkingDelta { turn, message, text: text.clone() })
            }
            delta => self.parts.events.tell_of_wait(turn, delta),
        }
    }

    /// Use of a reply counts, whatever becomes of the reply.
    fn count(&mut self, usage: Usage, price: Option<Price>) {
        let step = Spent::of(usage, price);
        if let Some(words) = self.conversation.spend(step) {
            self.warn(words);
        }
        let total = self.conversation.spent;
        let in_turn = total.since(self.conversation.before);
        self.parts.events.tell(Event::Usage {
            turn: self.number,
            step: step.into(),
            in_turn: in_turn.into(),
            total: total.into(),
            context: self.parts.wish.fill().into(),
        });
    }

    /// A reply enters the history.
    fn take_in(&mut self, mut reply: ModelReply, by: &str, price: Option<Price>) -> StepReply {
        self.count(reply.usage, price);
        let cut = take_cut_call(&mut reply);
        let is_empty = says_nothing(&reply.blocks);
        let mut calls = Vec::new();
        if !reply.blocks.is_empty() {
            let overlooked = read_loosely(&mut reply.blocks);
            // The model may have been replaced while it spoke.
            self.conversation.follow(&self.parts.settings.get());
            let id = self.message();
            let blocks = self.conversation.push_assistant(id, reply.blocks.clone(), by);
            let own = blocks.iter().filter_map(ModelCall::of).zip(overlooked);
            calls.extend(own.map(|(call, overlooked)| call.overlooking(overlooked)));
        }
        StepReply { reply, calls, printed: None, cut, is_empty }
    }
}
