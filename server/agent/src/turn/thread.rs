//! A turn of a subagent: the same loop, from its task to its summary.

use super::Turn;
use crate::conversation::Conversation;
use crate::hooks::TurnOutcome;
use futures::FutureExt;
use futures::future::BoxFuture;
use ropewalk_model::{Block, Role};
use ropewalk_protocol::StopReason;
use std::panic::AssertUnwindSafe;

/// Words for a subagent at a bound.
const SUM_UP: &str = "(You have reached your limit, so this is your last message. Call no tool: write your summary now, of \
                      what you found or did and of what is left.)";

/// End of a subagent's turn.
pub(crate) struct ThreadEnd {
    pub(crate) conversation: Conversation,
    pub(crate) outcome: TurnOutcome,
    pub(crate) steps: u32,
    /// The text of its last message; empty if that has none.
    pub(crate) text: String,
}

impl Turn {
    /// Runs it, however it ends. Not an `async fn`: its future is part of itself, by way of the calls that it makes.
    pub(crate) fn run_thread(mut self, prompt: String) -> BoxFuture<'static, ThreadEnd> {
        Box::pin(async move {
            let ran = AssertUnwindSafe(self.begin_and_sum_up(prompt)).catch_unwind().await;
            let (outcome, steps) = ran.unwrap_or_else(|_| {
                tracing::error!(session = %self.parts.id, "a subagent panicked");
                let message =
                    "Ropewalk has a bug: the subagent was cut off. The log has the details.";
                (TurnOutcome::told(StopReason::Error, message), self.step)
            });
            let text = self.last_text();
            let is_done = matches!(outcome.stop_reason, StopReason::EndTurn);
            self.conversation.close((!is_done).then_some("the subagent was stopped here"));
            ThreadEnd { conversation: self.conversation, outcome, steps, text }
        })
    }

    async fn begin_and_sum_up(&mut self, prompt: String) -> (TurnOutcome, u32) {
        self.look_for_context();
        if self.parts.registry().has_commands()
            && let Ok(view) = self.or_interrupted(self.parts.view()).await
        {
            let (runner, hides) = (&self.parts.runner, self.parts.settings.hides());
            // Interrupted, the loop ends at once.
            let _ = self.or_interrupted(runner.begin(&view, &hides)).await;
        }
        self.conversation.push_user(vec![Block::text(prompt)]);
        let outcome = self.steps().await;
        let steps = self.step;
        if matches!(outcome.stop_reason, StopReason::MaxSteps | StopReason::Budget) {
            self.conversation.push_user(vec![Block::text(SUM_UP)]);
            self.begin_step().await;
            if let Err(stopped) = self.ask().await
                && stopped.stop_reason == StopReason::Interrupted
            {
                return (stopped, steps);
            }
        }
        (outcome, steps)
    }

    /// The bound for the tokens of one subagent, in words for whoever reads why it ended.
    pub(super) fn over_own_tokens(&self) -> Option<String> {
        self.parts.thread.as_ref()?;
        let most = self.parts.settings.get().limits.mechanisms.subagent_tokens;
        let used = self.conversation.spent.usage.total();
        (used >= most.into()).then(|| format!("Stopped: this subagent has used {used} tokens."))
    }

    fn last_text(&self) -> String {
        let last = self.conversation.messages().next_back();
        let last = last.filter(|message| message.role == Role::Assistant);
        let texts = last.into_iter().flat_map(|message| &message.content);
        let texts: Vec<&str> = texts.filter_map(Block::as_text).collect();
        texts.join("\n").trim().to_owned()
    }
}
