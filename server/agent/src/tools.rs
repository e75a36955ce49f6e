//! The tools about the session itself, by the same trait as all others.

pub mod check_background;
pub(crate) mod compact;
pub(crate) mod load_skill;
pub(crate) mod task;
pub(crate) mod todo_write;

use crate::compaction::wish::CompactionWish;
use load_skill::LoadSkill;
use ropewalk_tools::{CommandRunner, NoCommands, Registry, TypedTool as _};
use ropewalk_workspace::{Editor, NoEditor};
use std::sync::Arc;
use todo_write::TodoWrite;

/// Tools of a session with this runner and editor, in the order in which the model is told of them. The session adds those
/// that are about what it keeps itself.
pub fn registry(runner: Arc<dyn CommandRunner>, editor: Arc<dyn Editor>) -> Registry {
    let background = check_background::CheckBackground::new(runner.clone());
    Registry::standard(runner, editor).with(background)
}

/// The names of the tools that a session may have.
pub fn names() -> Vec<String> {
    let all = registry(Arc::new(NoCommands), Arc::new(NoEditor));
    let all = all.with(compact::Compact::new(CompactionWish::default()));
    let all = all.with(task::TaskTool::default());
    all.names().chain([TodoWrite::NAME, LoadSkill::NAME]).map(str::to_owned).collect()
}
