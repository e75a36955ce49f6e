//! Tool calls that the model has printed as text: run where the provider is set up so, else said to user
//! and model.
//!
//! The form of such a call is known in the model's room. Nothing is run here.

use super::Turn;
use ropewalk_model::{Block, Model, ModelReply, printed_tool, take_printed_calls};

/// How often in a turn the model is told; then its text stands as its answer.
const MOST: u32 = 2;

/// A call that was printed as text, and not run.
pub(crate) struct UnrunCall {
    tool: String,
    /// Advice how the server or Ropewalk comes to read such calls; None if Ropewalk reads them already.
    advice: Option<String>,
}

impl Turn {
    /// The first call that a reply without calls has printed. With the provider's `printed_calls` set, the reply has
    /// the calls instead where they can be read, and nothing is left to tell.
    pub(crate) fn look_for_printed(
        &self,
        reply: &mut ModelReply,
        model: &dyn Model,
    ) -> Option<UnrunCall> {
        if reply.tool_calls().next().is_some() {
            return None;
        }
        let registry = self.parts.registry();
        let is_tool = |name: &str| registry.names().any(|tool| tool == name);
        let takes = model.takes_printed_calls();
        if takes && take_printed_calls(&mut reply.blocks, is_tool) {
            return None;
        }
        let texts = reply.blocks.iter().filter_map(Block::as_text);
        let mut tools = texts.filter_map(|text| printed_tool(text, is_tool));
        let advice = (!takes).then(|| advice(model));
        tools.next().map(|tool| UnrunCall { tool, advice })
    }

    /// Tells user and model of a printed call. False when the model was told often enough.
    pub(crate) fn tell_of_printed(&mut self, printed: &UnrunCall) -> bool {
        let UnrunCall { tool, advice } = printed;
        if self.printed == 0 {
            self.warn(match advice {
                Some(advice) => format!(
                    "The model did not use the tool interface: it wrote a call of {tool} as text, which is not run. If it \
                     keeps doing so, {advice}."
                ),
                None => format!(
                    "The model wrote a call of {tool} as text in a form that can't be read, or as part of an answer; it \
                     is not run. If it keeps doing so, choose another model."
                ),
            });
        }
        self.printed += 1;
        if self.printed > MOST {
            return false;
        }
        let how = match advice {
            Some(_) => "Call tools through the tool interface, not in your words.",
            None => {
                "If you meant it, use the tool interface, or end your reply with {\"name\": \"…\", \"arguments\": {…}}."
            }
        };
        let words = format!("(You wrote a call of {tool} as text, so it was not run. {how})");
        self.conversation.push_user(vec![Block::text(words)]);
        true
    }
}

/// Advice about a model that prints its calls, in words that go on in a sentence.
fn advice(model: &dyn Model) -> String {
    let provider = model.name().split('/').next().unwrap_or_default();
    let setting = format!("set `provider.{provider}.printed_calls = true`");
    match model.reads_calls_when() {
        Some(started) => format!("{setting}, or {started}, or choose another model"),
        None => format!("{setting}, or choose another model"),
    }
}
