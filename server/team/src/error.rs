//! Failures of a team, in words for people and models alike.

use ropewalk_board::BoardError;

/// See the module.
#[derive(Debug)]
pub enum TeamError {
    /// The board refused, or can't be reached.
    Board(BoardError),
    /// Something else, in a sentence.
    Other(String),
}

impl std::fmt::Display for TeamError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Board(error) => error.fmt(f),
            Self::Other(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for TeamError {}

impl From<BoardError> for TeamError {
    fn from(error: BoardError) -> Self {
        Self::Board(error)
    }
}

impl From<String> for TeamError {
    fn from(words: String) -> Self {
        Self::Other(words)
    }
}

impl From<&str> for TeamError {
    fn from(words: &str) -> Self {
        Self::Other(words.to_owned())
    }
}
