//! Hooks: what attaches to the steps of a turn. The loop runs them in their order and knows none by name.

use crate::calls::Call;
use crate::conversation::Conversation;
use futures::future::BoxFuture;
use ropewalk_model::Reply;
use ropewalk_protocol::{Content, StopReason};
use ropewalk_tools::ToolOutput;

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

    /// After a call has its result, which is bounded and redacted afterwards.
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
