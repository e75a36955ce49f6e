//! All that waits for a member, read in one transaction: each one more costs several ways to the database and back.

use crate::board::transaction;
use crate::error::BoardFuture;
use crate::member::Membership;
use crate::message::{BoardMessage, unread};
use crate::request::{TeamRequest, open_to};
use crate::task::Task;

/// Everything that waits for a member at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agenda {
    /// Unread messages, the oldest first.
    pub unread: Vec<BoardMessage>,
    /// Open requests to it, the oldest first.
    pub requests: Vec<TeamRequest>,
    /// Tasks that it holds, by their numbers.
    pub held: Vec<Task>,
}

impl Membership {
    /// All that waits for this member, with at most `limit` messages.
    ///
    /// # Errors
    ///
    /// A membership that is over, failures of the database.
    pub fn agenda(&self, limit: i64) -> BoardFuture<'_, Agenda> {
        Box::pin(async move {
            transaction!(self.board(), work => {
                self.fence(work).await?;
                let (team, name) = (self.team().id, self.name());
                // Messages come first: a request or an answer that is among them is found below.
                Ok(Agenda {
                    unread: unread(work, team, name, limit).await?,
                    requests: open_to(work, team, name).await?,
                    held: self.held_in(work).await?,
                })
            })
        })
    }
}
