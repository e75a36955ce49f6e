//! `idle`: a member has no more work, and waits for some.

use super::{ending, titled};
use crate::owner::ToolOwner;
use futures::future::{BoxFuture, ready};
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub(crate) struct Idle(pub(crate) ToolOwner);

/// Nothing is given.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct IdleInput {}

impl TypedTool for Idle {
    type Input = IdleInput;
    const NAME: &'static str = "idle";
    const DESCRIPTION: &'static str = "Ends your turn: you wait for messages and tasks.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, _: &IdleInput) -> Subject {
        titled("")
    }

    fn run(&self, _: IdleInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let output = if self.0.is_lead() {
            ToolOutput::text("Lead does not idle.")
        } else {
            ending("Entering idle phase. Will poll for new tasks.")
        };
        Box::pin(ready(output))
    }
}
