//! Load of a conversation on the model's context.

use crate::context::{self, ContextRoom};
use crate::conversation::Conversation;
use crate::session::parts::SessionParts;
use ropewalk_model::Model;
use ropewalk_protocol::ContextFill;
use std::sync::Arc;

/// Tokens of a context that nobody knows.
const USUAL: u64 = 128_000;

/// See the module. Tokens are estimates.
pub(super) struct Load {
    pub(super) model: Arc<dyn Model>,
    /// The prelude's bytes.
    prelude: usize,
    /// Tokens of the request as it stands.
    pub(super) request: u64,
    /// Room of the context; none if nobody knows how much it is.
    known: Option<ContextRoom>,
}

impl Load {
    /// The load of a conversation as it stands; none without a model.
    pub(super) fn of(parts: &SessionParts, conversation: &mut Conversation) -> Option<Self> {
        let settings = parts.settings.get();
        let (model, prelude) = parts.open(conversation)?;
        let Conversation { context, history, .. } = conversation;
        let pieces = history.pieces();
        let bytes = context::bytes(&prelude, &pieces, history.images());
        let prelude = prelude.as_str().len();
        let known = context.room(&*model, settings.limits.wanted_output(), prelude);
        let request = context.tokens(&*model, bytes);
        let fill = ContextFill {
            used: request,
            prelude: context.tokens(&*model, prelude),
            context: known.map_or(0, |room| room.context),
        };
        parts.wish.measure(fill);
        Some(Self { model, prelude, request, known })
    }

    /// True if a request may not be so long.
    pub(super) fn is_full(&self, percent: u32) -> bool {
        self.known.is_some_and(|room| {
            let conversation = self.request.saturating_sub(room.prelude);
            conversation > room.conversation
                || self.request.saturating_mul(100) > room.context.saturating_mul(percent.into())
        })
    }

    /// The room that a compacted conversation is made for.
    pub(super) fn room(&self) -> ContextRoom {
        self.known.unwrap_or(ContextRoom { context: USUAL, prelude: 0, conversation: USUAL / 2 })
    }

    /// True if somebody knows how much context there is.
    pub(super) fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// Tokens of a request whose messages have so many bytes.
    pub(super) fn with(&self, conversation: &Conversation, bytes: usize) -> u64 {
        conversation.context.tokens(&*self.model, self.prelude.saturating_add(bytes))
    }
}
