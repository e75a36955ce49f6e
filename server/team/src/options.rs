//! Options of a team, as the user has configured them.

use ropewalk_board::{BoardOptions, BoardPlace};
use std::time::Duration;

/// See the module.
#[derive(Clone, Debug)]
pub struct TeamOptions {
    /// The board's place.
    pub board: BoardPlace,
    /// The most teammates that live at once in this process.
    pub teammates: usize,
    /// Time for which a claim holds without being renewed.
    pub lease: Duration,
    /// Time between two looks at the board.
    pub poll: Duration,
    /// Time after which a member with nothing to do leaves.
    pub idle: Duration,
    /// Failures after which a task is failed for good.
    pub attempts: u32,
    /// Turns that the lead begins by itself, until the user asks for something.
    pub wakes: u32,
    /// Tokens of all members together; None is no bound.
    pub tokens: Option<u64>,
    /// US cents of all members together; None is no bound.
    pub cents: Option<u64>,
}

impl TeamOptions {
    /// The defaults, with the board at this place.
    pub fn at(board: BoardPlace) -> Self {
        Self {
            board,
            teammates: 4,
            lease: Duration::from_secs(60),
            poll: Duration::from_secs(5),
            idle: Duration::from_secs(60),
            attempts: 3,
            wakes: 10,
            tokens: None,
            cents: None,
        }
    }

    /// True if all members together may use so much and no more.
    pub(crate) fn has_budget(&self) -> bool {
        self.tokens.is_some() || self.cents.is_some()
    }

    pub(crate) fn of_board(&self) -> BoardOptions {
        BoardOptions { lease: self.lease, attempts: self.attempts, ..BoardOptions::default() }
    }
}
