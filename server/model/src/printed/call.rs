//! A call as it was printed.

use crate::ToolInput;

/// A call that was printed.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedCall {
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: ToolInput,
}
