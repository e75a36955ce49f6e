//! The part of a conversation that the model has not seen, where that does not fit: two texts that are cut in their middles.

use super::cut::last_of_model;
use super::message::transcript;
use crate::calls::bounded::{cut_to, level, sent};
use ropewalk_model::{Block, Message, Role};
use std::path::Path;

/// Messages of a conversation from the model's last calls on, as two texts.
#[derive(Debug, Default)]
pub(super) struct Unseen {
    /// The model's last calls and their results.
    steps: String,
    /// The user's words after those results, with the news and notes in the same messages.
    words: String,
}

impl Unseen {
    pub(super) fn of(messages: &[&Message]) -> Self {
        let last = last_of_model(messages);
        let has_call = |message: &&&Message| {
            message.content.iter().any(|block| matches!(block, Block::ToolUse { .. }))
        };
        let calls = last.and_then(|at| messages.get(at)).filter(has_call);
        let (mut results, mut words) = (Vec::new(), Vec::new());
        for block in
            messages.iter().skip(last.map_or(0, |at| at + 1)).flat_map(|message| &message.content)
        {
            match block {
                Block::Content(content) => words.push(content.in_words().into_owned()),
                block => results.push(block.clone()),
            }
        }
        let results = Message { role: Role::User, content: results };
        let steps = calls.map(|calls| transcript([calls, &results].into_iter()));
        Self { steps: steps.unwrap_or_default(), words: words.join("\n") }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.words.is_empty()
    }

    /// All of it.
    pub(super) fn whole(&self) -> String {
        format!("{}{}", self.steps, self.words)
    }

    /// The beginnings and the ends that take about `most` bytes on the wire, and say that `whole` has all of it.
    pub(super) fn cut(&self, most: usize, whole: Option<&Path>) -> String {
        let lengths = [&self.steps, &self.words].map(|text| sent(text));
        let level = level(&lengths, most).unwrap_or(usize::MAX);
        cut_to(&self.steps, level, whole) + &cut_to(&self.words, level, whole)
    }
}
