//! Hooks: what attaches to the steps of a turn. The loop runs them in their order and knows none by name.

use crate::calls::ModelCall;
use crate::conversation::Conversation;
use futures::future::BoxFuture;
use ropewalk_model::ModelReply;
use ropewalk_protocol::{Content, StopReason};
use ropewalk_tools::ToolOutput;

/// How a turn ends, and what the user is told of it.
pub type Ended = (StopReason, Option<String>);

/// Bytes for words behind the results of a step, as they go over the wire.
#[derive(Clone, Copy, Debug)]
pub struct RoomBehind {
    /// Bytes for all its results.
    pub whole: usize,
    /// Bytes that are not used.
    pub left: usize,
}

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

    /// Material that joins the next request, behind the results of the last step and before words of the user.
    fn mail(&self) -> BoxFuture<'_, Vec<Content>> {
        Box::pin(async { Vec::new() })
    }

    /// The mail that it gave last is in the journal: cut off before this, it is given once more.
    fn mail_kept(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// After a call has its result, which is bounded and redacted afterwards.
    fn after_call<'a>(
        &'a self,
        call: &'a ModelCall,
        output: &'a mut ToolOutput,
    ) -> BoxFuture<'a, ()> {
        let _ = (call, output);
        Box::pin(async {})
    }

    /// Words that stand behind the result of a call, of no more bytes than `room` has left. Asked for in the order of the
    /// calls, once all of their step have ended, and not cut afterwards.
    fn behind_result<'a>(
        &'a self,
        call: &'a ModelCall,
        output: &'a ToolOutput,
        room: RoomBehind,
    ) -> BoxFuture<'a, String> {
        let _ = (call, output, room);
        Box::pin(async { String::new() })
    }

    /// At a reply without calls, while no words of the user wait. The turn goes on with what it gives.
    fn at_stop<'a>(
        &'a self,
        conversation: &'a Conversation,
        reply: &'a ModelReply,
    ) -> BoxFuture<'a, Option<Vec<Content>>> {
        let _ = (conversation, reply);
        Box::pin(async { None })
    }
}
