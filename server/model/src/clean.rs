//! The deltas of a reply without keys: a model may repeat one that it was shown.
//!
//! A key may be cut anywhere between the deltas of a block, so what may begin one waits for the block's next
//! delta or its end, whatever comes of other blocks meanwhile. Blocks begin in the order in which they came. Ids,
//! sealed thoughts and reasons are not looked at: they are whole wherever they stand.

use crate::{Delta, Keys, Redactor};
use std::collections::VecDeque;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Clean {
    /// Deltas that may go on.
    pub(crate) ready: VecDeque<Delta>,
    fresh: Redactor,
    /// The blocks that grow.
    open: Vec<OpenDelta>,
}

/// A block, and what waits of it.
#[derive(Debug)]
struct OpenDelta {
    index: u32,
    kind: DeltaKind,
    redactor: Redactor,
    /// A signature is for the words as they were.
    is_changed: bool,
    /// True if anything of it has gone on.
    has_begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaKind {
    Text,
    Thinking,
    Input,
}

impl Clean {
    /// Redacts these.
    pub(crate) fn of(keys: &Keys) -> Clean {
        Clean { ready: VecDeque::new(), fresh: keys.redactor(), open: Vec::new() }
    }

    /// Takes the next delta; what can go on is in `ready` then.
    pub(crate) fn take(&mut self, delta: Delta) {
        if self.fresh.is_idle() {
            self.ready.push_back(delta);
            return;
        }
        match delta {
            Delta::Text { index, text } => self.grow(index, DeltaKind::Text, text),
            Delta::Thinking { index, text } => self.grow(index, DeltaKind::Thinking, text),
            Delta::ToolInput { index, partial_json } => {
                self.grow(index, DeltaKind::Input, partial_json);
            }
            Delta::Signature { index, ref signature } => {
                let open = self.open.iter_mut().find(|open| open.index == index);
                let is_changed = open.is_some_and(|open| {
                    open.flush(&mut self.ready);
                    open.is_changed
                });
                // A seal may hold the words themselves; without it nothing is sent back.
                if !is_changed && !self.fresh.keys().are_in(signature.as_bytes()) {
                    self.begin_all();
                    self.ready.push_back(delta);
                }
            }
            Delta::ToolUse { index, .. }
            | Delta::RedactedThinking { index, .. }
            | Delta::BlockEnd { index } => {
                self.close_one(index);
                self.begin_all();
                self.ready.push_back(delta);
            }
            Delta::Stop(_) => {
                self.close();
                self.ready.push_back(delta);
            }
            Delta::Retrying { .. } => {
                self.open.clear();
                self.ready.push_back(delta);
            }
            Delta::Usage(_) | Delta::Waiting { .. } => self.ready.push_back(delta),
        }
    }

    /// Lets waiting deltas go on: no more come.
    pub(crate) fn close(&mut self) {
        for mut open in std::mem::take(&mut self.open) {
            open.flush(&mut self.ready);
        }
    }

    fn close_one(&mut self, index: u32) {
        if let Some(at) = self.open.iter().position(|open| open.index == index) {
            self.open.remove(at).flush(&mut self.ready);
        }
    }

    fn grow(&mut self, index: u32, kind: DeltaKind, text: String) {
        let found = self.open.iter().position(|open| open.index == index && open.kind == kind);
        let at = found.unwrap_or_else(|| {
            self.close_one(index);
            self.begin_all();
            let redactor = self.fresh.clone();
            // A call begins before its arguments.
            let has_begun = kind == DeltaKind::Input;
            self.open.push(OpenDelta { index, kind, redactor, is_changed: false, has_begun });
            self.open.len().saturating_sub(1)
        });
        if let Some(open) = self.open.get_mut(at) {
            if text.is_empty() {
                open.has_begun = true;
                self.ready.push_back(open.delta(text));
                return;
            }
            let (text, is_changed) = open.redactor.redact_text(text, false);
            open.is_changed |= is_changed;
            open.say(text, &mut self.ready);
        }
    }

    /// Another block begins: those before it, of which all waits so far, begin first.
    fn begin_all(&mut self) {
        for open in self.open.iter_mut().filter(|open| !open.has_begun) {
            open.has_begun = true;
            self.ready.push_back(open.delta(String::new()));
        }
    }
}

impl OpenDelta {
    fn flush(&mut self, ready: &mut VecDeque<Delta>) {
        let (text, is_changed) = self.redactor.redact_text(String::new(), true);
        self.is_changed |= is_changed;
        self.say(text, ready);
    }

    fn say(&mut self, text: String, ready: &mut VecDeque<Delta>) {
        if !text.is_empty() {
            self.has_begun = true;
            ready.push_back(self.delta(text));
        }
    }

    fn delta(&self, text: String) -> Delta {
        let index = self.index;
        match self.kind {
            DeltaKind::Text => Delta::Text { index, text },
            DeltaKind::Thinking => Delta::Thinking { index, text },
            DeltaKind::Input => Delta::ToolInput { index, partial_json: text },
        }
    }
}
