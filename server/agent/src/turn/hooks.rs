//! The session's hooks at the steps of a turn, in their order.

use super::Turn;
use crate::calls::Call;
use crate::hooks::Ended;
use crate::interrupt::Interrupted;
use futures::FutureExt;
use ropewalk_model::{Block, Reply};
use ropewalk_protocol::StopReason;
use ropewalk_tools::ToolOutput;
use std::panic::AssertUnwindSafe;

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

    /// True if this is not the end: a hook has said something, or the user interrupts.
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
                Err(Interrupted) => return true,
            }
        }
        false
    }
}
