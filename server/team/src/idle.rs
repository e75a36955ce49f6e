//! Decision of a member that waits: what it does next. Pure.

use std::time::Duration;

/// Circumstances of a waiting member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Circumstances {
    /// The request to shut down that waits for an answer.
    pub(crate) shutdown: Option<i64>,
    /// True if messages wait.
    pub(crate) has_mail: bool,
    /// True if a task is its own and not completed.
    pub(crate) has_task: bool,
    /// Number of turns that have worked on that task.
    pub(crate) tries: u32,
    /// True while its plan waits for an answer.
    pub(crate) waits_for_plan: bool,
    /// True if the user has stopped it: it takes no task until somebody writes.
    pub(crate) is_paused: bool,
    /// Time without anything to do.
    pub(crate) waited: Duration,
    /// Time after which it leaves.
    pub(crate) patience: Duration,
}

/// Next deed of a waiting member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextDeed {
    /// Agrees to shut down.
    ShutDown(i64),
    /// Reads its messages.
    Read,
    /// Goes on with its task.
    Resume,
    /// Returns its task, which was tried often enough.
    GiveBack,
    /// Looks for a task; where there is none it goes on waiting.
    Claim,
    /// Looks for a task once more; where there is none it leaves: there was nothing for too long.
    ClaimOrLeave,
    /// Goes on waiting.
    Wait,
    /// Leaves: there was nothing for too long, and it takes no task.
    Leave,
}

/// Turns on one task after which it is returned.
const TRIES: u32 = 3;

/// Decides the next deed of a member in these circumstances.
pub(crate) fn next(now: &Circumstances) -> NextDeed {
    if let Some(request) = now.shutdown {
        return NextDeed::ShutDown(request);
    }
    if now.has_mail {
        return NextDeed::Read;
    }
    if now.waits_for_plan {
        return NextDeed::Wait;
    }
    if now.has_task {
        return if now.tries >= TRIES { NextDeed::GiveBack } else { NextDeed::Resume };
    }
    match (now.waited >= now.patience, now.is_paused) {
        (true, true) => NextDeed::Leave,
        (true, false) => NextDeed::ClaimOrLeave,
        (false, true) => NextDeed::Wait,
        (false, false) => NextDeed::Claim,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_before_messages_before_own_tasks_before_new_ones() {
        let minute = Duration::from_secs(60);
        let mut now = Circumstances {
            shutdown: Some(4),
            has_mail: true,
            waits_for_plan: true,
            has_task: true,
            patience: minute,
            ..Circumstances::default()
        };
        assert_eq!(next(&now), NextDeed::ShutDown(4));
        now.shutdown = None;
        assert_eq!(next(&now), NextDeed::Read);
        now.has_mail = false;
        assert_eq!(next(&now), NextDeed::Wait);
        now.waits_for_plan = false;
        assert_eq!(next(&now), NextDeed::Resume);
        now.tries = 3;
        assert_eq!(next(&now), NextDeed::GiveBack);
        now.has_task = false;
        assert_eq!(next(&now), NextDeed::Claim);
        now.is_paused = true;
        assert_eq!(next(&now), NextDeed::Wait);
        now.waited = minute;
        assert_eq!(next(&now), NextDeed::Leave);
        now.is_paused = false;
        assert_eq!(next(&now), NextDeed::ClaimOrLeave);
    }
}
