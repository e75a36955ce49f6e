//! The model's reply in a step, and the end that a turn comes to with it.

use super::printed::UnrunCall;
use crate::calls::ModelCall;
use crate::hooks::TurnOutcome;
use ropewalk_model::{Block, ModelReply, ModelStop, ToolInput};
use ropewalk_protocol::StopReason;

/// See the module.
pub(crate) struct StepReply {
    pub(crate) reply: ModelReply,
    pub(crate) calls: Vec<ModelCall>,
    /// A call that was printed as text, and not run.
    pub(crate) printed: Option<UnrunCall>,
    /// The tool of a call that was cut, and so is none.
    pub(crate) cut: Option<String>,
    /// True if there is neither a word nor a call.
    pub(crate) is_empty: bool,
}

impl StepReply {
    /// How a turn ends with these words.
    pub(crate) fn outcome(self) -> TurnOutcome {
        let message = match self.reply.stop_reason {
            ModelStop::MaxTokens => return cut_off(),
            ModelStop::ContextFull => {
                let message = "The model's context is full, and its answer ends there. Begin another session \
                               (/new), or give the model more context.";
                return TurnOutcome::told(StopReason::MaxTokens, message);
            }
            ModelStop::Refusal => {
                return TurnOutcome::told(StopReason::Refusal, "The model declined to answer.");
            }
            ModelStop::Other(word) => {
                format!("The model stopped: {word}. Say \"continue\" to go on.")
            }
            _ if self.is_empty => {
                "The model ended its turn without a word, also when it was asked again. Say \
                                   \"continue\" to go on, or choose another model."
                    .to_owned()
            }
            ModelStop::ToolUse => {
                "The model announced a tool call that never came, also when it was asked again. \
                                   Say \"continue\" to go on."
                    .to_owned()
            }
            _ => return TurnOutcome::silent(StopReason::EndTurn),
        };
        TurnOutcome::told(StopReason::EndTurn, message)
    }
}

/// The end of a turn whose replies were cut too often.
pub(crate) fn cut_off() -> TurnOutcome {
    let message = "The answer was cut at the limit of output tokens again and again. Ask for less at a time, or give \
                   it more room: `limits.output_tokens` limits a reply, `provider.NAME.output` says what the model can \
                   write, and a reply gets a quarter of `provider.NAME.context` at most. Say \"continue\" to go on.";
    TurnOutcome::told(StopReason::MaxTokens, message)
}

/// Takes a call that was cut off at the end of a reply out of it, and gives its tool. Such a call is never run.
pub(crate) fn take_cut_call(reply: &mut ModelReply) -> Option<String> {
    let cuts = [ModelStop::MaxTokens, ModelStop::ContextFull, ModelStop::Refusal];
    if !cuts.contains(&reply.stop_reason) {
        return None;
    }
    match reply.blocks.pop_if(|last| is_cut_call(last)) {
        Some(Block::ToolUse { name, .. }) => Some(name),
        _ => None,
    }
}

/// True if a call that ends a reply was cut off: its input is no JSON, or nothing of it has come.
fn is_cut_call(block: &Block) -> bool {
    match block {
        Block::ToolUse { input: ToolInput::Broken(_), .. } => true,
        Block::ToolUse { input: ToolInput::Json(input), .. } => {
            input.as_object().is_some_and(serde_json::Map::is_empty)
        }
        _ => false,
    }
}

/// True if there is neither a word nor a call: thoughts alone are no answer.
pub(crate) fn says_nothing(blocks: &[Block]) -> bool {
    !blocks.iter().any(|block| matches!(block, Block::Content(_) | Block::ToolUse { .. }))
}
