//! History: what user and model have said, as messages and as the pieces that go over the wire.
//!
//! It is valid at every moment a request is built, and after every turn however it ended: roles alternate,
//! every tool call has exactly one result, no message is empty. A message is serialised once; what was sent
//! is never changed.

use ropewalk_model::{Block, Message, Model, Piece, Role};

/// See the module.
#[derive(Default)]
pub struct History {
    entries: Vec<(Message, Piece)>,
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|(message, _)| message)).finish()
    }
}

impl History {
    /// The messages, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.entries.iter().map(|(message, _)| message)
    }

    /// The pieces of a request. O(messages), by reference count.
    pub fn pieces(&self) -> Vec<Piece> {
        self.entries.iter().map(|(_, piece)| piece.clone()).collect()
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds what the user's side says: words, or results with words after them. Blank blocks are left out.
    pub fn push_user(&mut self, model: &dyn Model, content: Vec<Block>) {
        self.push(model, Role::User, content);
    }

    /// Adds what the model said. Blank blocks are left out; nothing at all is said in words, because an
    /// empty message is not allowed and the roles must alternate.
    pub fn push_assistant(&mut self, model: &dyn Model, content: Vec<Block>) {
        self.push(model, Role::Assistant, content);
    }

    fn push(&mut self, model: &dyn Model, role: Role, mut content: Vec<Block>) {
        content.retain(|block| !block.is_blank());
        let only_thinking = content
            .iter()
            .all(|b| matches!(b, Block::Thinking { .. } | Block::RedactedThinking { .. }));
        if only_thinking {
            content.push(Block::text("(no answer)"));
        }
        if self.entries.last().is_some_and(|(last, _)| last.role == role) {
            // Two of a kind in a row happen only when a turn was cut off between them.
            let other = if role == Role::User { Role::Assistant } else { Role::User };
            let filler = Message { role: other, content: vec![Block::text("(interrupted)")] };
            let piece = model.encode(&filler);
            self.entries.push((filler, piece));
        }
        let message = Message { role, content };
        let piece = model.encode(&message);
        self.entries.push((message, piece));
    }

    /// The ids of the calls in the last message that have no result yet, in order.
    pub fn open_calls(&self) -> Vec<String> {
        let Some((last, _)) = self.entries.last().filter(|(last, _)| last.role == Role::Assistant)
        else {
            return Vec::new();
        };
        let calls = last.content.iter().filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id.clone()),
            _ => None,
        });
        calls.collect()
    }

    /// Ends a turn that was cut off: open calls get `why` as their result, and the model has the last word,
    /// so that the user's next message can follow.
    pub fn close(&mut self, model: &dyn Model, why: &str) {
        let open = self.open_calls();
        if !open.is_empty() {
            let results = open.iter().map(|id| Block::result(id, why, true)).collect();
            self.push_user(model, results);
        }
        if self.entries.last().is_some_and(|(last, _)| last.role == Role::User) {
            self.push_assistant(model, vec![Block::text(format!("({why})"))]);
        }
    }

    /// Serialises everything anew, for a model with another protocol. Thinking is dropped: only the model
    /// that thought it may read it.
    pub fn encode_anew(&mut self, model: &dyn Model) {
        for (message, piece) in &mut self.entries {
            message.content.retain(|block| {
                !matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. })
            });
            if message.content.is_empty() {
                message.content.push(Block::text("(no answer)"));
            }
            *piece = model.encode(message);
        }
    }
}
