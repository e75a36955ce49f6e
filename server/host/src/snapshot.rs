//! A session as it stands, for front ends to show.

use ropewalk_agent::{ReviewSnapshot, Session};
use ropewalk_protocol::{Approval, Mode, SessionId};

/// See the module. Empty if there is no session.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Its id.
    pub session: Option<SessionId>,
    /// Its mode.
    pub mode: Mode,
    /// Its turns, the oldest first.
    pub turns: Vec<u64>,
    /// The hunks that are pending, in the order of files and lines, and the turn that was published last.
    pub review: ReviewSnapshot,
    /// The approvals that wait, the oldest first.
    pub approvals: Vec<Approval>,
}

impl Snapshot {
    /// The session now, with its hunks as they were shown last.
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            session: Some(session.id().clone().into()),
            mode: session.mode(),
            turns: session.turns().iter().map(|mark| mark.turn).collect(),
            review: session.review(),
            approvals: session.waiting_approvals(),
        }
    }
}
