//! The session's hooks at the steps of a turn, in their order.

use super::Turn;
use crate::calls::ModelCall;
use crate::calls::bounded::sent;
use crate::hooks::{RoomBehind, TurnOutcome};
use crate::interrupt::Interrupted;
use futures::FutureExt;
use ropewalk_model::{Block, ModelReply, Role};
use ropewalk_protocol::StopReason;
use ropewalk_tools::ToolOutput;
use std::panic::AssertUnwindSafe;

impl Turn {
    /// Mail of the hooks, news, and what the user has said meanwhile stand behind the results of the last step.
    pub(super) async fn join_all(&mut self) {
        if self.conversation.history.last_role() == Some(Role::Assistant)
            && !self.parts.inbox.has_words()
        {
            // The model paused: it goes on from its own words, and what hooks have for it waits.
            return;
        }
        let mut mail = Vec::new();
        let mut givers = Vec::new();
        for hook in self.hooks.clone().iter() {
            // Interrupted here, it is given again.
            let given = self.interrupt.or(hook.mail()).await.unwrap_or_default();
            if !given.is_empty() {
                mail.extend(given);
                givers.push(hook.clone());
            }
        }
        self.join_words(mail).await;
        for hook in givers {
            let _ = self.interrupt.or(hook.mail_kept()).await;
        }
    }

    pub(crate) async fn before_step(&mut self, refused: bool) -> Result<(), TurnOutcome> {
        for hook in self.hooks.clone().iter() {
            let done = self.interrupt.or(hook.before_step(&mut self.conversation, refused));
            done.await.unwrap_or(Err(TurnOutcome::silent(StopReason::Interrupted)))?;
        }
        Ok(())
    }

    pub(crate) async fn after_call(&self, call: &ModelCall, output: &mut ToolOutput) {
        for hook in self.hooks.clone().iter() {
            let done = AssertUnwindSafe(hook.after_call(call, output)).catch_unwind();
            match self.interrupt.or(done).await {
                Ok(Ok(())) => {}
                // The result stands as it is, and so do those of the calls beside it.
                Ok(Err(_)) => tracing::error!(tool = call.name(), "a hook panicked"),
                Err(Interrupted) => return,
            }
        }
    }

    /// Words of the hooks behind each of these results, of so many bytes together at most.
    pub(crate) async fn behind_results(
        &self,
        done: &[(ModelCall, ToolOutput)],
        most: usize,
    ) -> Vec<String> {
        let keys = self.parts.settings.keys();
        let mut room = RoomBehind { whole: most, left: most };
        let mut all = Vec::with_capacity(done.len());
        for (call, output) in done {
            let mut words = String::new();
            for hook in self.hooks.clone().iter() {
                let said = AssertUnwindSafe(hook.behind_result(call, output, room)).catch_unwind();
                match self.interrupt.or(said).await {
                    Ok(Ok(said)) => {
                        room.left = room.left.saturating_sub(sent(&said));
                        words.push_str(&said);
                    }
                    Ok(Err(_)) => tracing::error!(tool = call.name(), "a hook panicked"),
                    Err(Interrupted) => {}
                }
            }
            keys.redact_in(&mut words);
            all.push(words);
        }
        all
    }

    /// True if this is not the end: a hook or the user has said something, or the user interrupts.
    pub(crate) async fn goes_on_at_stop(&mut self, reply: &ModelReply) -> bool {
        for hook in self.hooks.clone().iter() {
            let words = self.interrupt.or(hook.at_stop(&self.conversation, reply)).await;
            match words {
                Ok(None) => {}
                Ok(Some(words)) => {
                    self.conversation.push_user(words.into_iter().map(Block::Content).collect());
                    return true;
                }
                // The loop looks for that first.
                Err(Interrupted) => {
                    self.parts.runner.settled().await;
                    return true;
                }
            }
        }
        // They may have come meanwhile.
        self.parts.inbox.has_words()
    }
}
