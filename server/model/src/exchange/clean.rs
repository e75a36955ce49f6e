//! The deltas of a reply without keys: a model may repeat one that it was shown.
//!
//! A key may be cut anywhere between the deltas of a block, so what may begin one waits for the block's next
//! delta or its end. Arguments of calls are not looked at here: they are shown when they are whole.

use crate::{Delta, Striker};
use std::collections::VecDeque;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Clean {
    /// What may go on.
    pub(super) ready: VecDeque<Delta>,
    fresh: Striker,
    open: Option<Open>,
}

/// The block that grows, and what waits of it.
#[derive(Debug)]
struct Open {
    index: u32,
    is_thinking: bool,
    striker: Striker,
    /// A signature is for the words as they were.
    is_changed: bool,
}

impl Clean {
    /// With a striker at the start of a stream.
    pub(super) fn new(fresh: Striker) -> Clean {
        Clean { ready: VecDeque::new(), fresh, open: None }
    }

    /// Takes the next delta; what can go on is in `ready` then.
    pub(super) fn take(&mut self, delta: Delta) {
        if self.fresh.is_idle() {
            self.ready.push_back(delta);
            return;
        }
        match delta {
            Delta::Text { index, text } => self.grow(index, false, text),
            Delta::Thinking { index, text } => self.grow(index, true, text),
            Delta::Retrying { .. } => {
                self.open = None;
                self.ready.push_back(delta);
            }
            Delta::Signature { index, ref signature } => {
                self.flush();
                let is_changed =
                    self.open.as_ref().is_some_and(|open| open.index == index && open.is_changed);
                // A seal may hold the words themselves; without it nothing is sent back.
                if !is_changed && !self.fresh.keys().are_in(signature.as_bytes()) {
                    self.ready.push_back(delta);
                }
            }
            Delta::Usage(_) | Delta::Waiting { .. } => self.ready.push_back(delta),
            _ => {
                self.close();
                self.ready.push_back(delta);
            }
        }
    }

    /// What waits goes on: no more deltas come.
    pub(super) fn close(&mut self) {
        self.flush();
        self.open = None;
    }

    fn grow(&mut self, index: u32, is_thinking: bool, text: String) {
        let is_same =
            self.open.as_ref().is_some_and(|o| o.index == index && o.is_thinking == is_thinking);
        if !is_same {
            self.close();
        }
        let fresh = &self.fresh;
        let open = self.open.get_or_insert_with(|| Open {
            index,
            is_thinking,
            striker: fresh.clone(),
            is_changed: false,
        });
        let (text, is_changed) = open.striker.strike_text(text, false);
        open.is_changed |= is_changed;
        self.say(index, is_thinking, text);
    }

    fn flush(&mut self) {
        let Some(open) = &mut self.open else { return };
        let (index, is_thinking) = (open.index, open.is_thinking);
        let (text, is_changed) = open.striker.strike_text(String::new(), true);
        open.is_changed |= is_changed;
        self.say(index, is_thinking, text);
    }

    fn say(&mut self, index: u32, is_thinking: bool, text: String) {
        if text.is_empty() {
            return;
        }
        self.ready.push_back(match is_thinking {
            true => Delta::Thinking { index, text },
            false => Delta::Text { index, text },
        });
    }
}
