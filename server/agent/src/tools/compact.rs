//! `compact`: the model has the conversation summed up before its next step, and goes on.

use crate::compaction::wish::CompactionWish;
use futures::future::BoxFuture;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub(crate) struct Compact {
    wish: CompactionWish,
}

impl Compact {
    /// The tool that wishes for a compaction.
    pub(crate) fn new(wish: CompactionWish) -> Self {
        Self { wish }
    }
}

/// Input that the model gives.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct CompactInput {
    /// Points that the summary must keep in view.
    focus: Option<String>,
}

/// Below this part of the context there is nothing to win: one of so many.
const LEAST_PART: u64 = 5;

impl TypedTool for Compact {
    type Input = CompactInput;
    const NAME: &'static str = "compact";
    const DESCRIPTION: &'static str = "Replaces the older part of this conversation by a summary before your next step, for a long task whose beginning you no longer need. It happens by itself when the context is full.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &CompactInput) -> Subject {
        Subject { title: input.focus.clone().unwrap_or_default(), ..Subject::default() }
    }

    fn run(&self, input: CompactInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let fill = self.wish.fill();
        let is_empty = fill.context > 0 && fill.used.saturating_mul(LEAST_PART) < fill.context;
        let output = if is_empty {
            ToolOutput::error(format_args!(
                "only {} of {} tokens of your context are in use, so there is nothing to gain. Go on",
                fill.used, fill.context
            ))
        } else {
            self.wish.want(input.focus);
            ToolOutput::text("Compressing...")
        };
        Box::pin(async { output })
    }
}
