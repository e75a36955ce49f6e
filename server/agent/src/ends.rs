//! How replies end, and what becomes of a turn whose reply ends as none should: cut, empty, or short of the call that it
//! announces.
//!
//! The model is told and asked again, a few times at most; then the turn ends in words. None ends in silence.

use crate::ask::Said;
use crate::hooks::Ended;
use crate::turn::Turn;
use ropewalk_model::{Block, Reply, StopReason as ModelStop, ToolInput};
use ropewalk_protocol::StopReason;

/// How many replies in a row may be cut before the turn ends.
const MOST_CUTS: u32 = 3;

/// Words for the model after a turn that ended because it was cut too often.
pub(crate) const CUT_OFF: &str = "your messages were cut at the bound for output tokens, and what was not complete is \
                                  lost: send long content in several smaller calls";

/// How the turn ends then.
pub(crate) fn cut_off() -> Ended {
    let message = "The answer was cut at the bound for output tokens again and again. Ask for less at a time, or give \
                   it more room: `limits.output_tokens` bounds a reply, `provider.NAME.output` says what the model can \
                   write, and a reply gets a quarter of `provider.NAME.context` at most. Prompt \"continue\" to go on.";
    (StopReason::MaxTokens, Some(message.to_owned()))
}

/// Takes a call that was cut off at the end of a reply out of it, and gives its tool. Such a call is never run.
pub(crate) fn take_cut_call(reply: &mut Reply) -> Option<String> {
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

impl Turn {
    /// True if the model was told to mend how a reply without calls ended.
    pub(crate) fn mends(&mut self, said: &Said) -> bool {
        let words = match self.cut_in_words(said) {
            Ok(None) => self.silence_in_words(said),
            Ok(words) => words,
            Err(TooOften) => None,
        };
        let Some(words) = words else { return false };
        self.conversation.push_user(vec![Block::text(words)]);
        true
    }

    /// Words for the model if its reply was cut at the bound for output tokens.
    pub(crate) fn cut_in_words(&mut self, said: &Said) -> Result<Option<String>, TooOften> {
        self.asked_again &= said.calls.is_empty();
        if said.reply.stop_reason != ModelStop::MaxTokens {
            self.cuts = 0;
            return Ok(None);
        }
        self.cuts += 1;
        if self.is_cut_too_often() {
            return Err(TooOften);
        }
        Ok(Some(match &said.cut {
            Some(tool) => format!(
                "(Your message was cut at the bound for output tokens, in the midst of a call of {tool}, which was not \
                 run. Do it in smaller pieces: send long content in several smaller calls.)"
            ),
            None => "(Your message was cut at the bound for output tokens. Go on where it ended; send long content in \
                     several smaller calls.)"
                .to_owned(),
        }))
    }

    /// True if more replies in a row were cut than the model is told of.
    pub(crate) fn is_cut_too_often(&self) -> bool {
        self.cuts > MOST_CUTS
    }

    /// Words for the model, once, if its reply says nothing, or announces a call that is not in it.
    fn silence_in_words(&mut self, said: &Said) -> Option<String> {
        let words = match said.reply.stop_reason {
            ModelStop::Refusal | ModelStop::ContextFull => return None,
            _ if said.is_empty => {
                "(Your reply was empty. Go on with the task; if it is done, say what you did.)"
            }
            ModelStop::ToolUse => {
                "(Your reply ended as if a tool call followed, but none came. Make the call again, or say that you are \
                 done.)"
            }
            _ => return None,
        };
        (!std::mem::replace(&mut self.asked_again, true)).then(|| words.to_owned())
    }
}

/// See [`Turn::is_cut_too_often`].
#[derive(Debug)]
pub(crate) struct TooOften;

impl Said {
    /// How a turn ends with these words.
    pub(crate) fn ended(self) -> Ended {
        let message = match self.reply.stop_reason {
            ModelStop::MaxTokens => return cut_off(),
            ModelStop::ContextFull => {
                let message = "The model's context is full, and its answer ends there. Start another session \
                               (ropewalk.new), or give the model more context.";
                return (StopReason::MaxTokens, Some(message.to_owned()));
            }
            ModelStop::Refusal => {
                return (StopReason::Refusal, Some("The model declined to answer.".to_owned()));
            }
            ModelStop::Other(word) => {
                format!("The model stopped: {word}. Prompt \"continue\" to go on.")
            }
            _ if self.is_empty => {
                "The model ended its turn without a word, also when it was asked again. Prompt \
                                   \"continue\" to go on, or choose another model."
                    .to_owned()
            }
            ModelStop::ToolUse => {
                "The model announced a tool call that never came, also when it was asked again. \
                                   Prompt \"continue\" to go on."
                    .to_owned()
            }
            _ => return (StopReason::EndTurn, None),
        };
        (StopReason::EndTurn, Some(message))
    }
}
