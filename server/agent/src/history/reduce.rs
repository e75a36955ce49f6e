//! Reductions of a history that a model's server refuses: more and more of it is replaced by words.

use super::{History, HistoryMark, NO_ANSWER, is_thinking};
use crate::journal::reduction::Reduction;
use ropewalk_model::{Block, Role, ToolInput};
use ropewalk_protocol::Content;
use ropewalk_protocol::content::in_words;
use std::sync::Arc;

/// In the place of prompts that were never answered.
const LEFT_OUT: &str = "(Words of the user that the model's server refused are left out.)";

/// Before a prompt when all else is left out.
const ALL_LEFT_OUT: &str = "(The model's server refused the conversation until now, so that it is left out, with what was done in \
                            this turn. Look at the files before you go on.)";

impl History {
    /// A copy of this history without the parts that `how` takes away; None if it takes nothing away. The running turn's prompt
    /// begins at the mark `prompt`. The caller journals the reduction.
    pub(crate) fn reduced(&self, how: Reduction, prompt: &HistoryMark) -> Option<History> {
        let mut reduced = self.clone();
        reduced.drop_thoughts();
        if how >= Reduction::Prompts {
            reduced.leave_out_unanswered(prompt);
        }
        match how {
            Reduction::Thoughts | Reduction::Prompts => {}
            Reduction::Media => reduced.reword(media_in_words),
            Reduction::Calls => reduced.reword(all_in_words),
            Reduction::All => {
                reduced.reword(all_in_words);
                reduced.leave_out_all(prompt);
            }
        }
        (!reduced.messages().eq(self.messages())).then_some(reduced)
    }

    /// Replaces each block by another.
    fn reword(&mut self, block: fn(&Block) -> Option<Block>) {
        for entry in &mut self.entries {
            if entry.message.content.iter().all(|one| block(one).is_none()) {
                continue;
            }
            let message = Arc::make_mut(&mut entry.message);
            for one in &mut message.content {
                if let Some(other) = block(one) {
                    *one = other;
                }
            }
            entry.piece = self.ids.encoded(self.model.as_deref(), &entry.message);
        }
    }

    /// Replaces what the user's side said since the model's last words, and before the prompt.
    fn leave_out_unanswered(&mut self, prompt: &HistoryMark) {
        if !self.has(prompt) {
            return;
        }
        // Both sides take turns, so all of it is in one message: the prompt's.
        let has_prompt = prompt.blocks > 0
            && self.entries.get(prompt.messages.saturating_sub(1)).is_some_and(|entry| {
                entry.message.role == Role::User && entry.message.content.len() > prompt.blocks
            });
        if !has_prompt {
            return;
        }
        let at = prompt.messages.saturating_sub(1);
        // The summary of all before may stand in the same message.
        let summary = if at == 0 { self.summary } else { 0 };
        if let Some(entry) = self.entries.get_mut(at) {
            let message = Arc::make_mut(&mut entry.message);
            // Results stay: the calls before them need them.
            let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
            for block in message.content.iter_mut().take(prompt.blocks).skip(summary) {
                if !is_result(block) {
                    *block = Block::text(LEFT_OUT);
                }
            }
            entry.piece = self.ids.encoded(self.model.as_deref(), &entry.message);
        }
    }

    /// Leaves the prompt alone.
    fn leave_out_all(&mut self, prompt: &HistoryMark) {
        let at = match self.has(prompt) {
            true => prompt.messages,
            false => 0,
        };
        let joined = at.checked_sub(1).and_then(|at| self.entries.get(at)).filter(|entry| {
            entry.message.role == Role::User && entry.message.content.len() > prompt.blocks
        });
        let (entry, skipped) = match (joined, self.entries.get(at)) {
            (Some(entry), _) => (entry.clone(), prompt.blocks),
            (None, Some(entry)) if entry.message.role == Role::User => (entry.clone(), 0),
            _ => return,
        };
        if self.entries.len() == 1 && skipped == 0 {
            return;
        }
        let mut entry = entry;
        let message = Arc::make_mut(&mut entry.message);
        message.content.drain(..skipped.min(message.content.len()));
        message.content.insert(0, Block::text(ALL_LEFT_OUT));
        entry.piece = self.ids.encoded(self.model.as_deref(), &entry.message);
        self.entries = vec![entry];
        self.era += 1;
        self.summary = 0;
    }
}

/// Words in the place of an image or a document; None for all else.
fn media_in_words(block: &Block) -> Option<Block> {
    let is_media = |part: &Content| !part.is_text();
    match block {
        Block::Content(part) if is_media(part) => Some(Block::text(part.in_words().into_owned())),
        Block::ToolResult { tool_use_id, content, is_error } if content.iter().any(is_media) => {
            let content = vec![Content::text(in_words(content))];
            Some(Block::ToolResult {
                tool_use_id: tool_use_id.clone(),
                content,
                is_error: *is_error,
            })
        }
        _ => None,
    }
}

/// Words in the place of whatever is no text.
fn all_in_words(block: &Block) -> Option<Block> {
    match block {
        Block::ToolUse { name, input, .. } => {
            let input = match input {
                ToolInput::Json(input) => input.to_string(),
                ToolInput::Broken(text) => text.clone(),
            };
            Some(Block::text(format!("(You called {name} with {input}.)")))
        }
        Block::ToolResult { content, is_error, .. } => {
            let what = if *is_error { "Error" } else { "Result" };
            Some(Block::text(format!("({what} of the call: {})", in_words(content))))
        }
        block if is_thinking(block) => Some(Block::text(NO_ANSWER)),
        block => media_in_words(block),
    }
}
