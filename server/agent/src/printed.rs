//! Tool calls that the model has printed as text: run where the provider is set up so, else said to user
//! and model.
//!
//! What such a call looks like is known in the model's room. Nothing is run here.

use crate::session::shared::lock;
use crate::turn::Turn;
use ropewalk_model::{Block, Model, Reply, printed_calls, take_printed_calls};

/// How often in a turn the model is told; then its text stands as its answer.
const MOST: u32 = 2;

impl Turn {
    /// The tool of the first call that a reply without calls has printed. With the provider's
    /// `printed_calls` set, the reply has the calls instead, and nothing is left to tell.
    pub(crate) fn look_for_printed(&self, reply: &mut Reply, model: &dyn Model) -> Option<String> {
        if reply.tool_calls().next().is_some() {
            return None;
        }
        let settings = self.shared.settings();
        let is_tool = |name: &str| settings.registry.names().any(|tool| tool == name);
        if model.takes_printed_calls() {
            take_printed_calls(&mut reply.blocks, is_tool);
            return None;
        }
        let mut texts = reply.blocks.iter().filter_map(|block| match block {
            Block::Text { text } => printed_calls(text, is_tool).0.into_iter().next(),
            _ => None,
        });
        texts.next().map(|call| call.name)
    }

    /// Tells user and model of a printed call of this tool. False when the model was told often enough.
    pub(crate) fn tell_of_printed(&mut self, tool: &str) -> bool {
        if self.printed == 0 {
            self.warn(format!(
                "The model did not use the tool interface: it wrote a call of {tool} as text, which is not run. \
                 If it keeps doing so, set printed_calls = true for its provider, or choose another model."
            ));
        }
        self.printed += 1;
        if self.printed > MOST {
            return false;
        }
        let words = format!(
            "(You wrote a call of {tool} as text, so it was not run. Call tools through the tool interface, not in \
             your words.)"
        );
        lock(&self.shared.history).push_user(vec![Block::text(words)]);
        true
    }
}
