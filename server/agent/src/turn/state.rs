//! State of a running turn, from its prompt to its end.

use crate::calls::{CallStages, Repeats};
use crate::conversation::Conversation;
use crate::hooks::StepHook;
use crate::interrupt::{Interrupt, Interrupted};
use crate::journal::reduction::Reduction;
use crate::session::parts::SessionParts;
use crate::subagent::group::TurnSubagents;
use futures::future::BoxFuture;
use ropewalk_protocol::MessageId;
use std::future::Future;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;

/// The last call that failed.
#[derive(Default)]
pub(crate) struct FailingCall {
    /// Equal for calls that fail in the same way; empty if the last call has not failed.
    pub(crate) key: String,
    /// In how many steps in a row it failed.
    pub(crate) steps: u32,
}

/// See the module.
pub(crate) struct Turn {
    pub(crate) parts: Arc<SessionParts>,
    pub(super) hooks: Arc<[Arc<dyn StepHook>]>,
    pub(crate) number: u64,
    pub(crate) interrupt: Interrupt,
    pub(crate) conversation: Conversation,
    /// The number of the step that is under way.
    pub(crate) step: u32,
    pub(crate) failing: FailingCall,
    pub(crate) repeats: Repeats,
    /// Set once a call has ended the turn.
    pub(crate) is_over: bool,
    /// How often the model has printed a call as text.
    pub(crate) printed: u32,
    /// How many replies in a row were cut at the limit of output tokens.
    pub(crate) cuts: u32,
    /// True if the model was just asked again, because its reply said nothing.
    pub(crate) asked_again: bool,
    /// The reduction of the history that the model is just asked with.
    pub(super) reducing: Option<Reduction>,
    /// Reasons that the user has given for refusing calls, until the conversation has them.
    pub(crate) refusals: Mutex<Vec<String>>,
    /// How far the calls of the step have come.
    pub(crate) stages: Mutex<CallStages>,
    /// The subagents that its calls have started.
    pub(crate) subagents: TurnSubagents,
    /// Finds out how much context the model has, beside everything else.
    pub(crate) looking: Option<JoinHandle<()>>,
}

impl Turn {
    pub(crate) fn new(
        (parts, hooks): (Arc<SessionParts>, Arc<[Arc<dyn StepHook>]>),
        number: u64,
        interrupt: Interrupt,
        conversation: Conversation,
    ) -> Self {
        Self {
            parts,
            hooks,
            number,
            interrupt,
            conversation,
            step: 0,
            failing: FailingCall::default(),
            repeats: Repeats::default(),
            is_over: false,
            printed: 0,
            refusals: Mutex::default(),
            stages: Mutex::default(),
            cuts: 0,
            asked_again: false,
            reducing: None,
            subagents: TurnSubagents::default(),
            looking: None,
        }
    }

    /// The id of the message that this step's reply is.
    pub(crate) fn message(&self) -> MessageId {
        match &self.parts.thread {
            Some(thread) => format!("{}.{}", thread.id, self.step).into(),
            None => format!("{}.{}", self.number, self.step).into(),
        }
    }

    /// Waits for `future`, unless the user interrupts first.
    pub(crate) fn or_interrupted<'a, T: Send + 'a>(
        &self,
        future: impl Future<Output = T> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, Interrupted>> {
        self.interrupt.or(future)
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_said()
    }

    pub(crate) fn warn(&self, message: String) {
        self.parts.events.warn(message);
    }
}
