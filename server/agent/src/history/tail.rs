//! The end of a history that stays when its beginning is compacted.

use ropewalk_model::Block;
use serde::{Deserialize, Serialize};

/// The end of a history that is compacted: its last messages, and those of them that change, by their number among
/// them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactedTail {
    /// How many messages stay.
    pub kept: usize,
    /// Other contents, with the same calls and results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<(usize, Vec<Block>)>,
}

/// The ids of calls and results, in order.
pub(super) fn call_ids(content: &[Block]) -> impl Iterator<Item = &str> {
    content.iter().filter_map(|block| match block {
        Block::ToolUse { id, .. } | Block::ToolResult { tool_use_id: id, .. } => Some(id.as_str()),
        _ => None,
    })
}
