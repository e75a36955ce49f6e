//! Hooks: what attaches to the steps of a turn. The loop runs them in their order and knows none by name.

use crate::calls::ModelCall;
use crate::conversation::Conversation;
use futures::future::BoxFuture;
use ropewalk_model::ModelReply;
use ropewalk_protocol::{Content, StopReason};
use ropewalk_tools::ToolOutput;

/// How a turn ends, and what the user is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnOutcome {
    /// The reason of the end.
    pub stop_reason: StopReason,
    /// Words for the user; None where the reason says all.
    pub message: Option<String>,
}

impl TurnOutcome {
    /// An end of which the reason says all.
    pub fn silent(stop_reason: StopReason) -> Self {
        Self { stop_reason, message: None }
    }

    /// An end with words for the user.
    pub fn told(stop_reason: StopReason, message: impl Into<String>) -> Self {
        Self { stop_reason, message: Some(message.into()) }
    }
}

/// Room for words behind the results of a step, in bytes as they go over the wire.
#[derive(Clone, Copy, Debug)]
pub struct RoomBehind {
    /// Bytes for all its results.
    pub whole: usize,
    /// Bytes that are not used.
    pub left: usize,
}

/// Attaches to the steps of a turn. An interrupt drops the future that is under way.
pub trait StepHook: Send + Sync {
    /// Runs before the model is asked, after mail and news have joined the request. `refused` is true if the server has
    /// refused this step's request as too long: the model is asked once more if the hook changes the conversation.
    ///
    /// # Errors
    /// How the turn ends, if it can't go on.
    fn before_step<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        refused: bool,
    ) -> BoxFuture<'a, Result<(), TurnOutcome>> {
        let _ = (conversation, refused);
        Box::pin(async { Ok(()) })
    }

    /// Mail for the next request. It stands behind the results of the last step and before words of the user.
    fn mail(&self) -> BoxFuture<'_, Vec<Content>> {
        Box::pin(async { Vec::new() })
    }

    /// Learns that its last mail is in the journal. A crash before this gives the mail once more.
    fn mail_kept(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Runs once a call has its result. Bounds and redaction come after it.
    fn after_call<'a>(
        &'a self,
        call: &'a ModelCall,
        output: &'a mut ToolOutput,
    ) -> BoxFuture<'a, ()> {
        let _ = (call, output);
        Box::pin(async {})
    }

    /// Words behind the result of a call, at most as many bytes as `room` has left: nobody cuts them afterwards. Asked
    /// for in the order of the calls, once all calls of the step have ended.
    fn behind_result<'a>(
        &'a self,
        call: &'a ModelCall,
        output: &'a ToolOutput,
        room: RoomBehind,
    ) -> BoxFuture<'a, String> {
        let _ = (call, output, room);
        Box::pin(async { String::new() })
    }

    /// Runs at a reply without calls, while no words of the user wait. The turn goes on with the content that it gives.
    fn at_stop<'a>(
        &'a self,
        conversation: &'a Conversation,
        reply: &'a ModelReply,
    ) -> BoxFuture<'a, Option<Vec<Content>>> {
        let _ = (conversation, reply);
        Box::pin(async { None })
    }
}
