//! The name of a bundle: its maker, and the task and attempt that it was made for.

use ropewalk_workspace::entry::Maker;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A bundle's maker, and for what it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleId {
    /// The member's name.
    pub member: Arc<str>,
    /// The task's number; None for work without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// The task's attempt, or the number of a bundle without a task.
    pub attempt: u64,
}

impl BundleId {
    /// The author of its changes, as hunks name it.
    pub fn maker(&self) -> Maker {
        Maker::Member { name: self.member.clone(), task: self.task }
    }
}
