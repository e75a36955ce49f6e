//! The reminder of todos that the model seems to have forgotten: it stands behind all else that joins a step.

use crate::session::parts::SessionParts;
use crate::tools::todo_write::TodoWrite;
use crate::turn::Turn;
use ropewalk_model::{Block, Role};

impl Turn {
    /// Puts a reminder behind the results of the last step, if one is due.
    pub(crate) fn remind_of_todos(&mut self) {
        let settings = self.parts.settings.get();
        let has_results = self.conversation.messages().next_back().is_some_and(|last| {
            let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
            last.role == Role::User && last.content.iter().any(is_result)
        });
        if !has_results || !self.parts.offers_todos() {
            return;
        }
        let remind_after = settings.limits.mechanisms.remind_after;
        if let Some(words) = self.parts.todos.step_begins(remind_after) {
            self.conversation.push_user(vec![Block::text(words)]);
        }
    }
}

impl SessionParts {
    /// True if the model is told of the tool.
    fn offers_todos(&self) -> bool {
        let registry = self.registry();
        let is_lean = self.settings.get().model.as_ref().is_ok_and(|model| model.is_lean());
        let offered = if is_lean { registry.lean() } else { registry };
        offered.names().any(|name| name == TodoWrite::NAME)
    }
}
