//! The team in the words of front ends, and what they were told of it.

use ropewalk_board::{BoardMessage, Member, MemberState, Task, TaskStatus};
use ropewalk_protocol::{
    BoardTask, BoardTaskStatus, SessionId, TeamMember, TeamMessage, TeamState,
};

/// Report that front ends were given last.
#[derive(Debug, Default)]
pub(crate) struct TeamReport {
    pub(crate) members: Vec<TeamMember>,
    /// The number of the last line of the log that they know.
    pub(crate) log: i64,
    /// The number of the last message that was shown.
    pub(crate) message: i64,
    /// True while they know that nobody is left to do what is to be done.
    pub(crate) knows_want: bool,
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A member, and its session if that is open here.
pub(crate) fn member(member: &Member, session: Option<SessionId>) -> TeamMember {
    let state = match (member.state, member.is_alive) {
        (MemberState::Shutdown, _) => TeamState::Shutdown,
        (_, false) => TeamState::Gone,
        (MemberState::Working, true) => TeamState::Working,
        (MemberState::Idle, true) => TeamState::Idle,
    };
    TeamMember {
        name: member.name.clone(),
        role: member.role.clone(),
        state,
        task: member.task.map(count),
        session,
        tokens: count(member.tokens),
        cents: count(member.cents),
    }
}

pub(crate) fn task(task: &Task) -> BoardTask {
    let status = match task.status {
        TaskStatus::Pending => BoardTaskStatus::Pending,
        TaskStatus::InProgress => BoardTaskStatus::InProgress,
        TaskStatus::Completed => BoardTaskStatus::Completed,
        TaskStatus::Failed => BoardTaskStatus::Failed,
        TaskStatus::Cancelled => BoardTaskStatus::Cancelled,
    };
    BoardTask {
        number: count(task.number),
        subject: task.subject.clone(),
        status,
        owner: task.owner.clone(),
        blocked_by: task.blocked_by.iter().copied().map(count).collect(),
        attempt: count(task.attempt),
    }
}

pub(crate) fn message(message: BoardMessage) -> TeamMessage {
    let BoardMessage { number, from, kind, body, request } = message;
    TeamMessage { number: count(number), from, kind, request: request.map(count), body }
}
