//! A session as it stands, for front ends to show.

use ropewalk_agent::Session;
use ropewalk_protocol::{Approval, Mode, SessionId};
use ropewalk_workspace::Hunk;

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
}

impl Snapshot {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            session: Some(session.id().clone().into()),
            mode: session.mode(),
            turns: session.turns().iter().map(|mark| mark.turn).collect(),
            hunks: session.hunks(),
            approvals: session.waiting_approvals(),
        }
    }
}
