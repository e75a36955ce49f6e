//! Ids of calls: ours, which every protocol takes, and those of the servers, which go back to them alone.

use ropewalk_model::{Block, Message, Model, Piece};
use std::collections::{HashMap, HashSet};

/// The ids of all calls of a history.
#[derive(Clone, Default)]
pub(super) struct CallIds {
    /// Ours and the servers': no two of a history may be the same, and some servers count from 0 in each reply.
    taken: HashSet<String>,
    /// By our id of a call, the other one that its server gave it.
    given: HashMap<String, Given>,
    /// Stands before each id of ours, where other histories are kept beside this one.
    prefix: String,
}

/// An id as a server gave it, which may hold more than a name: it goes back to that server unchanged, and to no other.
#[derive(Clone, Debug)]
struct Given {
    /// The model's whole name.
    by: String,
    id: String,
}

impl CallIds {
    /// From now on each new id of ours begins so.
    pub(super) fn begin_with(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// Takes in what ids the server of this model gave to calls, by ours.
    pub(super) fn restore(&mut self, by: &str, ids: Vec<(String, String)>) {
        for (ours, id) in ids {
            self.taken.insert(id.clone());
            self.given.insert(ours, Given { by: by.to_owned(), id });
        }
    }

    /// The id that its server gave to the call of this id, where that is another.
    pub(super) fn given(&self, ours: &str) -> Option<&str> {
        self.given.get(ours).map(|given| &*given.id)
    }

    /// Gives a call a name and an id that every protocol takes; if the id is another than the one that the server of
    /// this model gave it, both are given back, the server's first.
    pub(super) fn admit(&mut self, block: &mut Block, by: &str) -> Option<(String, String)> {
        let Block::ToolUse { id, name, .. } = block else { return None };
        *name = plain(name, LONGEST_NAME);
        let base = match &*self.prefix {
            "" => plain(id, LONGEST_ID),
            prefix => plain(&format!("{prefix}{id}"), LONGEST_ID),
        };
        if base == *id && self.taken.insert(base.clone()) {
            return None;
        }
        // One that came before would not be told from the other.
        let is_kept = !id.is_empty() && id.len() <= LONGEST_GIVEN && self.taken.insert(id.clone());
        let (mut unique, mut number) = (base.clone(), self.taken.len());
        while !self.taken.insert(unique.clone()) {
            let end = format!("-{number}");
            unique =
                base.chars().take(LONGEST_ID.saturating_sub(end.len())).collect::<String>() + &end;
            number += 1;
        }
        let theirs = std::mem::replace(id, unique.clone());
        if is_kept {
            let given = Given { by: by.to_owned(), id: theirs.clone() };
            self.given.insert(unique.clone(), given);
        }
        Some((theirs, unique))
    }

    /// Writes a message as it goes over the wire: the server of `model` gets its own ids back.
    pub(super) fn encoded(&self, model: Option<&dyn Model>, message: &Message) -> Piece {
        let Some(model) = model else { return Piece::from("") };
        let theirs = |id: &str| self.given.get(id).filter(|given| given.by == model.name());
        let has_other = |block: &Block| match block {
            Block::ToolUse { id, .. } => theirs(id).is_some(),
            Block::ToolResult { tool_use_id, .. } => theirs(tool_use_id).is_some(),
            _ => false,
        };
        if self.given.is_empty() || !message.content.iter().any(has_other) {
            return model.encode(message);
        }
        let mut message = message.clone();
        for block in &mut message.content {
            let (Block::ToolUse { id, .. } | Block::ToolResult { tool_use_id: id, .. }) = block
            else {
                continue;
            };
            if let Some(given) = theirs(id) {
                *id = given.id.clone();
            }
        }
        model.encode(&message)
    }
}

/// The most characters of a name; each protocol allows as many.
const LONGEST_NAME: usize = 64;

/// The most characters of an id of ours; each server takes as many.
const LONGEST_ID: usize = 40;

/// The most bytes of a server's id that is kept. What gateways put into ids is a few thousand bytes long.
const LONGEST_GIVEN: usize = 64 << 10;

/// A name or an id in so many of the characters that every protocol takes.
fn plain(word: &str, most: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let word: String = word.trim().chars().take(most).map(plain).collect();
    if word.is_empty() { "unnamed".to_owned() } else { word }
}
