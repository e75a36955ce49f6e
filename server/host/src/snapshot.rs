//! A session as it stands, for front ends to show.

use ropewalk_agent::{ReviewSnapshot, Session};
use ropewalk_protocol::{Approval, Mode, SessionId, TodoList};
use ropewalk_workspace::{Hunk, HunkId, HunkState};
use std::collections::HashSet;

/// See the module. Empty if there is no session.
#[derive(Clone, Debug, Default)]
pub struct SessionSnapshot {
    /// Its id.
    pub session: Option<SessionId>,
    /// Its mode.
    pub mode: Mode,
    /// Its turns, the oldest first.
    pub turns: Vec<u64>,
    /// The hunks that are pending, in the order of files and lines, and the turn that was published last.
    pub review: ReviewSnapshot,
    /// Hunks among them that the user has accepted or rejected, where that is not done yet.
    pub reviewing: HashSet<HunkId>,
    /// The approvals that wait, the oldest first.
    pub approvals: Vec<Approval>,
    /// Its todos.
    pub todos: TodoList,
}

impl SessionSnapshot {
    /// The hunks that wait for the user: all but those that are on their way, or decided on.
    pub fn waiting(&self) -> impl Iterator<Item = &Hunk> + Clone {
        let waits =
            |hunk: &&Hunk| hunk.state == HunkState::Pending && !self.reviewing.contains(&hunk.id);
        self.review.hunks().filter(waits)
    }

    /// The session now, with its hunks as they were shown last.
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            session: Some(session.id().clone().into()),
            mode: session.mode(),
            turns: session.turns().iter().map(|mark| mark.turn).collect(),
            review: session.review(),
            reviewing: HashSet::new(),
            approvals: session.waiting_approvals(),
            todos: session.todos(),
        }
    }
}
