//! Replies that end as none should: cut, empty, or short of the call that they announce.
//!
//! The model is told and asked again, a few times at most; then the turn ends in words. None ends in silence.

use super::Turn;
use super::reply::StepReply;
use ropewalk_model::{Block, ModelStop};

/// How many replies in a row may be cut before the turn ends.
const MOST_CUTS: u32 = 3;

/// Words for the model after a turn that ended because it was cut too often.
pub(crate) const CUT_OFF: &str = "your messages were cut at the limit of output tokens, and what was not complete is \
                                  lost: send long content in several smaller calls";

impl Turn {
    /// True if the model was told to mend how a reply without calls ended.
    pub(crate) fn mends(&mut self, said: &StepReply) -> bool {
        let words = match self.count_cut(said) {
            Ok(None) => self.silence_in_words(said),
            Ok(words) => words,
            Err(TooOften) => None,
        };
        let Some(words) = words else { return false };
        self.conversation.push_user(vec![Block::text(words)]);
        true
    }

    /// Compacts the conversation if the context was full in the midst of a reply, and asks the model to go on. False if the turn
    /// ends with the reply.
    pub(crate) async fn makes_room(&mut self, said: &StepReply) -> bool {
        if said.reply.stop_reason != ModelStop::ContextFull || self.is_cut_too_often() {
            return false;
        }
        // A short conversation is not what fills the context, and to learn by it would be wrong.
        let fill = self.parts.wish.fill();
        let is_long = match fill.context {
            0 => fill.used.saturating_sub(fill.prelude) > fill.prelude,
            context => fill.used >= context / 2,
        };
        if !is_long {
            return false;
        }
        let cuts = self.cuts + 1;
        let before = self.conversation.history.pieces();
        // A turn that can't go on ends with the words of the reply.
        let made = self.before_step(true).await.is_ok();
        if self.is_interrupted() {
            // The turn's next step ends it as such.
            return true;
        }
        if !made || self.conversation.history.pieces() == before {
            return false;
        }
        self.cuts = cuts;
        let words = "(Your message was cut because the context was full. A summary stands in the place of the conversation's \
                     beginning now, so that there is room: go on where your message ended.)";
        self.conversation.push_user(vec![Block::text(words)]);
        true
    }

    /// Counts replies in a row that were cut at the limit of output tokens. Gives words for the model if this one was.
    pub(crate) fn count_cut(&mut self, said: &StepReply) -> Result<Option<String>, TooOften> {
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
                "(Your message was cut at the limit of output tokens, in the midst of a call of {tool}, which was not \
                 run. Do it in smaller pieces: send long content in several smaller calls.)"
            ),
            None => "(Your message was cut at the limit of output tokens. Go on where it ended; send long content in \
                     several smaller calls.)"
                .to_owned(),
        }))
    }

    /// True if more replies in a row were cut than the model is told of.
    pub(crate) fn is_cut_too_often(&self) -> bool {
        self.cuts > MOST_CUTS
    }

    /// Words for the model, once, if its reply says nothing, or announces a call that is not in it.
    fn silence_in_words(&mut self, said: &StepReply) -> Option<String> {
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
