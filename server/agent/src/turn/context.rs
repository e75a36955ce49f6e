//! The model's context during a turn: found out beside the steps, and the bound of what they send.

use super::Turn;
use futures::FutureExt;
use ropewalk_model::ENOUGH_CONTEXT;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long is waited for a context that is being found out.
const PATIENCE: Duration = Duration::from_millis(500);

/// The least characters of a result that a model is given, however small its context is.
const LEAST_OUTPUT: usize = 1_000;

impl Turn {
    /// Finds out how much context the model has, beside what else is done.
    pub(crate) fn look_for_context(&mut self) {
        let settings = self.parts.settings.get();
        let Ok(model) = &settings.model else { return };
        if self.looking.as_ref().is_none_or(JoinHandle::is_finished) {
            self.looking = Some(tokio::spawn(model.find_context().boxed()));
        }
    }

    /// Waits a little until the context is known, if somebody is finding it out.
    pub(crate) async fn wait_for_context(&mut self) {
        if let Some(looking) = self.looking.take() {
            // An error means that it takes long, or broke down, and nothing depends on it.
            let _ = self.or_interrupted(tokio::time::timeout(PATIENCE, looking)).await;
        }
    }

    /// Tells the user of the context that was found.
    pub(crate) fn tell_of_context(&mut self) {
        if let Ok(model) = &self.parts.settings.get().model {
            self.conversation.context.tell(&self.parts.events, &**model);
        }
    }

    /// The most characters of a result: no more than all results of a step have together. Without compaction, with a small
    /// context as many as it has tokens, which is about a quarter of it.
    pub(crate) fn tool_output(&self) -> usize {
        let settings = self.parts.settings.get();
        let most = settings.limits.tool_output as usize;
        let Ok(model) = &settings.model else { return most };
        let step = self.conversation.context.step_bytes(&**model);
        if let Some(bytes) = step.filter(|_| settings.mechanisms.compaction) {
            return most.min(LEAST_OUTPUT.max(bytes));
        }
        let small = model.limits().context.filter(|tokens| *tokens < ENOUGH_CONTEXT);
        small.map_or(most, |tokens| most.min(LEAST_OUTPUT.max(tokens as usize)))
    }
}
