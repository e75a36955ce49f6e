//! The tools about the session itself, by the same trait as all others.

pub mod check_background;
pub(crate) mod compact;
pub(crate) mod task;

use crate::compaction::wish::CompactionWish;
use ropewalk_tools::{CommandRunner, NoCommands, Registry};
use ropewalk_workspace::{Editor, NoEditor};
use std::sync::Arc;

/// Tools of a session with this runner and editor, in the order in which the model is told of them.
pub fn registry(runner: Arc<dyn CommandRunner>, editor: Arc<dyn Editor>) -> Registry {
    let background = check_background::CheckBackground::new(runner.clone());
    Registry::standard(runner, editor).with(background)
}

/// The names of the tools that every session has.
pub fn names() -> Vec<String> {
    let all = registry(Arc::new(NoCommands), Arc::new(NoEditor));
    let all = all.with(compact::Compact::new(CompactionWish::default()));
    let all = all.with(task::Task::default());
    all.names().map(str::to_owned).collect()
}
