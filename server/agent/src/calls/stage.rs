//! Stages of the calls of a step, so that a step that is cut off tells of each of them how far it came.

use ropewalk_model::Block;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far a call has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStage {
    /// It runs.
    Begun,
    /// The work of its subagent is on its way into the session's changes.
    Merging,
    /// It has ended with this result.
    Ended(Block),
}

/// The stages of the calls whose results have not entered the history, by their ids.
#[derive(Debug, Default)]
pub(crate) struct CallStages(BTreeMap<String, CallStage>);

impl CallStages {
    pub(crate) fn note(&mut self, call: &str, stage: CallStage) {
        self.0.insert(call.to_owned(), stage);
    }

    /// Forgets all: their results are in the history.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The result of a call whose step was cut off for this reason; None if it had not begun.
    pub(crate) fn result(&self, call: &str, why: &str) -> Option<Block> {
        Some(match self.0.get(call)? {
            CallStage::Ended(result) => result.clone(),
            CallStage::Begun | CallStage::Merging => Block::result(
                call,
                format!(
                    "Error: The result of this call was lost: {why}. Look at what it did before you make it again."
                ),
                true,
            ),
        })
    }
}
