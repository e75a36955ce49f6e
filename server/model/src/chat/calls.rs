//! The calls of one reply, put together from deltas whose writers disagree on what names a call.
//!
//! A delta may have an index, an id, both or neither; the index may always be 0, the id may come with
//! every delta, or be another in each. What decides is said at [`Calls::take`]. Arguments are handed on
//! as they come, and kept: the end of a call may come twice.

use crate::{Delta, ModelError, blocks::Blocks, surrogates::Surrogates};
use std::collections::VecDeque;

/// See the module.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<ChatCall>,
}

/// One delta of a call.
pub(super) struct CallDelta<'a> {
    pub(super) index: Option<u32>,
    pub(super) id: String,
    pub(super) name: String,
    /// JSON: a string with the next piece of the arguments, or an object with all of them; or nothing.
    pub(super) arguments: &'a str,
}

struct ChatCall {
    index: Option<u32>,
    /// The server's id for it, which may be empty or another's.
    named: String,
    /// Our id for it; empty until it begins.
    id: String,
    block: u32,
    name: String,
    /// The arguments so far; before the name has come, none of them was handed on.
    said: String,
    shape: Shape,
    surrogates: Surrogates,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The number of the call that has this index or this id; of the last one without either. None if there is none.
    pub(super) fn number_of(&self, index: Option<u32>, id: &str) -> Option<usize> {
        let of_id = self.calls.iter().rposition(|call| !id.is_empty() && call.named == id);
        let of_index =
            || self.calls.iter().rposition(|call| index.is_some() && call.index == index);
        let last = || self.calls.len().checked_sub(1).filter(|_| index.is_none() && id.is_empty());
        of_id.or_else(of_index).or_else(last)
    }

    /// True if the arguments of one are not whole.
    pub(super) fn are_half(&self) -> bool {
        self.calls.iter().any(|call| call.shape.is_half())
    }

    /// Takes a delta; `blocks` gives the block of a call that begins. It belongs to the latest call with its index;
    /// without an index to that with its id; with neither, or with an id that is new and no name, to the last
    /// one. But a delta with a name begins another
    /// call when its id is another, unless that call has the same name and half of its arguments (some
    /// give every delta a new id); and without ids, when its name is another or that call's arguments are
    /// whole and it brings others. Gives the call's number, from 0.
    ///
    /// # Errors
    /// [`ModelError::TooLarge`] for blocks without number.
    pub(super) fn take(
        &mut self,
        part: CallDelta<'_>,
        blocks: &mut Blocks,
        out: &mut VecDeque<Delta>,
    ) -> Result<usize, ModelError> {
        let last = self.calls.len().checked_sub(1);
        let found = match part.index {
            Some(_) => self.calls.iter().rposition(|call| call.index == part.index),
            None if part.id.is_empty() => last,
            None => {
                let named = self.calls.iter().rposition(|call| call.named == part.id);
                named.or(last.filter(|_| part.name.is_empty()))
            }
        };
        let found = found.filter(|at| !self.calls.get(*at).is_some_and(|call| call.is_over(&part)));
        let at = match found {
            Some(at) => at,
            None => {
                self.calls.push(ChatCall::new(part.index, blocks.begin()?));
                self.calls.len().saturating_sub(1)
            }
        };
        let taken: bool = self.calls.iter().any(|call| call.id == part.id);
        let Some(call) = self.calls.get_mut(at) else { return Ok(at) };
        if call.named.is_empty() {
            call.named = part.id;
        }
        if call.id.is_empty() && !part.name.is_empty() {
            call.name = part.name;
            call.begin(taken, out);
        }
        call.argue(part.arguments, out);
        Ok(at)
    }

    /// No more deltas come: what has no name begins without one, and all calls end.
    pub(super) fn end(&mut self, out: &mut VecDeque<Delta>) {
        for call in &mut self.calls {
            if call.id.is_empty() {
                call.begin(true, out);
            }
            out.push_back(Delta::BlockEnd { index: call.block });
        }
    }
}

impl ChatCall {
    fn new(index: Option<u32>, block: u32) -> ChatCall {
        ChatCall {
            index,
            named: String::new(),
            id: String::new(),
            block,
            name: String::new(),
            said: String::new(),
            shape: Shape::default(),
            surrogates: Surrogates::default(),
        }
    }

    /// True if this delta begins another call.
    fn is_over(&self, part: &CallDelta<'_>) -> bool {
        let other_name = part.name != self.name;
        if part.name.is_empty() || self.name.is_empty() {
            false
        } else if part.id.is_empty() || self.named.is_empty() {
            let brings = || {
                let text = text_of(part.arguments, &mut Surrogates::default());
                !self.said.ends_with(&text)
            };
            other_name || self.shape.is_whole() && brings()
        } else {
            part.id != self.named && (other_name || !self.shape.is_half())
        }
    }

    /// An id that another call of the reply has, and none at all, are replaced by one that is made here:
    /// results are told apart by it.
    fn begin(&mut self, taken: bool, out: &mut VecDeque<Delta>) {
        let own = !self.named.is_empty() && !taken;
        self.id = if own { self.named.clone() } else { format!("call_{}_made_here", self.block) };
        let (index, id, name) = (self.block, self.id.clone(), self.name.clone());
        out.push_back(Delta::ToolUse { index, id, name });
        if !self.said.is_empty() {
            out.push_back(Delta::ToolInput { index, partial_json: self.said.clone() });
        }
    }

    fn argue(&mut self, arguments: &str, out: &mut VecDeque<Delta>) {
        let text = text_of(arguments, &mut self.surrogates);
        // Nothing can follow whole arguments: it is their end again, or all of them.
        let is_again = self.shape.is_whole() && self.said.ends_with(&text);
        if text.is_empty() || is_again {
            return;
        }
        self.shape.take(&text);
        self.said.push_str(&text);
        if !self.id.is_empty() {
            out.push_back(Delta::ToolInput { index: self.block, partial_json: text });
        }
    }
}

/// Arguments as text, whichever way a server writes them.
fn text_of(arguments: &str, surrogates: &mut Surrogates) -> String {
    match arguments.as_bytes().first() {
        Some(b'"') => surrogates.read(arguments).unwrap_or_default(),
        Some(b'{' | b'[') => arguments.to_owned(),
        _ => String::new(),
    }
}

/// How deep in JSON a text ends. Linear in the text, however it is cut.
#[derive(Default)]
struct Shape {
    depth: u32,
    is_begun: bool,
    in_string: bool,
    after_backslash: bool,
}

impl Shape {
    fn take(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.in_string {
                self.in_string = self.after_backslash || byte != b'"';
                self.after_backslash = !self.after_backslash && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.is_begun |= !byte.is_ascii_whitespace();
        }
    }

    fn is_whole(&self) -> bool {
        self.is_begun && !self.is_half()
    }

    fn is_half(&self) -> bool {
        self.depth > 0 || self.in_string
    }
}
