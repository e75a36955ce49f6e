//! Input of a session's actor: requests of the user, and what its front end has to tell it.

use crate::session::bundles::BundleWork;
use crate::settings::Settings;
use ropewalk_model::{Keys, Model};
use ropewalk_protocol::{Content, Op, Prompt, Verdict};
use std::sync::Arc;
use tokio::sync::oneshot;

/// See the module.
pub(crate) enum SessionInput {
    /// A prompt, and the turn of it.
    Prompt(u64, Prompt),
    /// The prompt of this turn waits no more: its words are the answer, or nothing if it does not wait.
    Unqueue(u64, oneshot::Sender<Option<String>>),
    /// Any other request.
    Op(Op),
    /// Another model from the next step on.
    Model(Arc<dyn Model>),
    /// Other limits, rules or tools, from the next step on.
    Configure(Box<Settings>),
    /// A bundle to take in, or to start from.
    Bundle(BundleWork),
    /// A document was saved: a call may be waiting for that.
    Saved,
    /// The user's text has moved: pending hunks may stand elsewhere.
    Moved,
}

impl SessionInput {
    /// True if it brings text of the user's, which is kept: a key may be in it.
    pub(crate) fn brings_text(&self) -> bool {
        match self {
            SessionInput::Prompt(..) | SessionInput::Bundle(_) => true,
            SessionInput::Op(op) => matches!(
                op,
                Op::Prompt(_)
                    | Op::Steer(_)
                    | Op::Reject(_, Some(_))
                    | Op::Edit(..)
                    | Op::Rename(_)
                    | Op::Compact(Some(_))
                    | Op::Approve(_, Verdict::Refuse(Some(_)))
            ),
            _ => false,
        }
    }

    /// Redacts keys from what is said in words. What the user writes into a file stays as it is.
    pub(crate) fn redact(&mut self, keys: &Keys) {
        match self {
            SessionInput::Prompt(_, prompt) | SessionInput::Op(Op::Prompt(prompt)) => {
                redact(&mut prompt.content, keys);
                if let Some(selection) = &mut prompt.selection {
                    keys.redact_in(&mut selection.text);
                }
            }
            SessionInput::Op(Op::Steer(content)) => redact(content, keys),
            SessionInput::Op(
                Op::Reject(_, Some(words))
                | Op::Rename(words)
                | Op::Compact(Some(words))
                | Op::Approve(_, Verdict::Refuse(Some(words))),
            ) => keys.redact_in(words),
            _ => {}
        }
    }

    /// The kind of input, for the log.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            SessionInput::Prompt(..) => "prompt",
            SessionInput::Unqueue(..) => "unqueue",
            SessionInput::Op(op) => op.name(),
            SessionInput::Model(_) => "model",
            SessionInput::Configure(_) => "configure",
            SessionInput::Bundle(_) => "bundle",
            SessionInput::Saved => "saved",
            SessionInput::Moved => "moved",
        }
    }
}

fn redact(content: &mut [Content], keys: &Keys) {
    content.iter_mut().flat_map(Content::texts_mut).for_each(|text| keys.redact_in(text));
}
