//! Compaction: when a conversation fills the context, its beginning is replaced by a summary and the turn goes on.
//!
//! [`room`] measures, [`cut`] says what stays, [`ask`] has the model sum up the rest, [`message`] words the new beginning,
//! [`unseen`] cuts what the model has not read where that alone is too long, [`skills`] keeps the loaded ones, [`guard`] ends what makes no progress. Nothing else changes what was sent.

pub(crate) mod ask;
pub(crate) mod cut;
pub(crate) mod guard;
pub(crate) mod message;
pub(crate) mod pass;
pub(crate) mod room;
mod skills;
mod unseen;
pub(crate) mod wish;

use crate::calls::ModelCall;
use crate::conversation::Conversation;
use crate::hooks::{StepHook, TurnOutcome};
use crate::session::parts::SessionParts;
use futures::future::BoxFuture;
use guard::Guard;
use pass::{Occasion, compact};
use room::Load;
use ropewalk_protocol::CompactionCause;
use ropewalk_tools::ToolOutput;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
pub(crate) struct Compaction {
    parts: Arc<SessionParts>,
    guard: Mutex<Guard>,
}

impl Compaction {
    pub(crate) fn new(parts: Arc<SessionParts>) -> Self {
        Self { parts, guard: Mutex::default() }
    }

    fn guard(&self) -> MutexGuard<'_, Guard> {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.guard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compacts what fills the context, what the server has refused, and what somebody wants compacted.
    async fn look(
        &self,
        conversation: &mut Conversation,
        refused: bool,
    ) -> Result<(), TurnOutcome> {
        let settings = self.parts.settings.get();
        if !settings.mechanisms.compaction {
            return Ok(());
        }
        let Ok(model) = &settings.model else { return Ok(()) };
        conversation.follow(&settings);
        self.guard().begin(conversation.turns.last().map_or(0, |mark| mark.turn));
        let Some(load) = Load::of(&self.parts, conversation) else { return Ok(()) };
        if refused {
            conversation.context.learn(&**model, load.request.saturating_mul(9) / 10);
        }
        let wish = self.parts.wish.take();
        let why = match &wish {
            _ if refused => CompactionCause::Refused,
            Some(_) => CompactionCause::Asked,
            None if load.is_full(settings.limits.mechanisms.compaction_percent) => {
                CompactionCause::Full
            }
            None => return Ok(()),
        };
        if why != CompactionCause::Asked {
            self.guard().compacts()?;
        }
        compact(&self.parts, conversation, Occasion { why, focus: wish.flatten(), is_idle: false })
            .await
    }
}

impl StepHook for Compaction {
    fn before_step<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        refused: bool,
    ) -> BoxFuture<'a, Result<(), TurnOutcome>> {
        Box::pin(self.look(conversation, refused))
    }

    fn after_call<'a>(&'a self, call: &'a ModelCall, _: &'a mut ToolOutput) -> BoxFuture<'a, ()> {
        self.guard().saw(&call.key());
        Box::pin(async {})
    }
}
