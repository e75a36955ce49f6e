//! A session as it stands, for front ends to show.

use crate::lock;
use ropewalk_agent::Session;
use ropewalk_protocol::{Approval, Mode, SessionId, TodoList};
use ropewalk_workspace::Hunk;
use std::sync::Mutex;

/// See the module. Empty if there is no session.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Its id.
    pub session: Option<SessionId>,
    /// Its mode.
    pub mode: Mode,
    /// Its turns, the oldest first.
    pub turns: Vec<u64>,
    /// The hunks that are pending, in the order of files and lines.
    pub hunks: Vec<Hunk>,
    /// The approvals that wait, the oldest first.
    pub approvals: Vec<Approval>,
    /// Its todos.
    pub todos: TodoList,
}

impl Snapshot {
    /// The session now. While something else is at its changes, they are `last`, as they were shown last.
    pub(crate) fn of(session: &Session, last: &Mutex<Vec<Hunk>>) -> Self {
        let mut last = lock(last);
        if let Some(hunks) = session.try_hunks() {
            *last = hunks;
        }
        Self {
            session: Some(session.id().clone().into()),
            mode: session.mode(),
            turns: session.turns().iter().map(|mark| mark.turn).collect(),
            hunks: last.clone(),
            approvals: session.waiting_approvals(),
            todos: session.todos(),
        }
    }
}
