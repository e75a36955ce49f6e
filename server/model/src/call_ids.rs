//! The ids of the calls of one reply.

use std::collections::HashSet;

/// Sees to it that no two calls have the same id: results are told apart by it.
#[derive(Default)]
pub(crate) struct UniqueCallIds {
    taken: HashSet<String>,
    reply: String,
}

impl UniqueCallIds {
    /// The reply that the calls are of, by the server's id, which makes ids unlike those of other replies.
    pub(crate) fn of_reply(&mut self, id: &str) {
        self.reply = id.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    }

    /// True if there was no call yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// The server's id of a call; for a call without one, or with another's, an id is made that no other call of
    /// the history has. `block` is the number of blocks so far.
    pub(crate) fn unique(&mut self, id: String, block: u32) -> String {
        let (mut unique, mut number) = (id, self.taken.len());
        while unique.is_empty() || !self.taken.insert(unique.clone()) {
            unique = format!("call_{}_{block}_{number}", self.reply);
            // A server may have guessed it.
            number = number.wrapping_add(1);
        }
        unique
    }
}
