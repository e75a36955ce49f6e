//! Hooks: what attaches to the steps of a turn. The loop runs them in their order and knows none by name.

use crate::calls::Call;
use crate::conversation::Conversation;
use crate::turn::{Interrupted, Turn};
use futures::FutureExt;
use futures::future::BoxFuture;
use ropewalk_model::{Block, Reply};
use ropewalk_protocol::{Content, StopReason};
use ropewalk_tools::ToolOutput;
use std::panic::AssertUnwindSafe;

/// How a turn ends, and what the user is told of it.
pub type Ended = (StopReason, Option<String>);

/// Something that attaches to the steps of a turn. An interrupt drops the future that is under way.
pub trait StepHook: Send + Sync {
    /// Before the model is asked, what has come for it having joined. `refused`: its server has refused this step's
    /// request as too long; the model is asked again, once, if the conversation is another then.
    fn before_step<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        refused: bool,
    ) -> BoxFuture<'a, Result<(), Ended>> {
        let _ = (conversation, refused);
        Box::pin(async { Ok(()) })
    }

    /// After a call has its result, which is bounded and struck of keys afterwards.
    fn after_call<'a>(&'a self, call: &'a Call, output: &'a mut ToolOutput) -> BoxFuture<'a, ()> {
        let _ = (call, output);
        Box::pin(async {})
    }

    /// At a reply without calls, while no words of the user wait. The turn goes on with what it gives.
    fn at_stop<'a>(
        &'a self,
        conversation: &'a Conversation,
        reply: &'a Reply,
    ) -> BoxFuture<'a, Option<Vec<Content>>> {
        let _ = (conversation, reply);
        Box::pin(async { None })
    }
}

impl Turn {
    pub(crate) async fn before_step(&mut self, refused: bool) -> Result<(), Ended> {
        for hook in self.hooks.clone().iter() {
            let done = self.interrupt.or(hook.before_step(&mut self.conversation, refused));
            done.await.unwrap_or(Err((StopReason::Interrupted, None)))?;
        }
        Ok(())
    }

    pub(crate) async fn after_call(&self, call: &Call, output: &mut ToolOutput) {
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

    /// True if this is not the end: a hook or the user has said something, or the user interrupts.
    pub(crate) async fn goes_on_at_stop(&mut self, reply: &Reply) -> bool {
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
