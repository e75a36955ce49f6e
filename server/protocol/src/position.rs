//! Positions in a document as its client counts them: lines from zero, and within a line the units of the encoding that
//! both have agreed on.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place between two characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TextPosition {
    /// The line, from zero.
    pub line: u32,
    /// The units before it in the line.
    pub character: u32,
}

/// A stretch of text from a position up to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct TextRange {
    /// Its first position.
    pub start: TextPosition,
    /// The position behind it.
    pub end: TextPosition,
}
