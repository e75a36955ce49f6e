//! The board as one look finds it, and what of it concerns a lead at rest.

use crate::error::TeamError;
use crate::lead_turns::LeadTurns;
use crate::station::Station;
use ropewalk_board::{BOARD, BoardMessage, LEAD, Member, MemberState, TaskCounts};

/// See the module.
pub(super) struct Outlook {
    /// Members beside the lead that live.
    others: Vec<Member>,
    /// True if messages wait for one of them.
    has_mail: bool,
    counts: TaskCounts,
    has_bundles: bool,
    /// Messages that the lead's model has not read.
    unread: Vec<BoardMessage>,
}

/// Reasons for which a lead is woken.
pub(super) struct WakeReasons {
    /// Messages that can't wait.
    pub(super) urgent: Vec<i64>,
    /// True if all tasks have ended, of which it does not know.
    pub(super) all_have_ended: bool,
}

impl WakeReasons {
    pub(super) fn is_none(&self) -> bool {
        self.urgent.is_empty() && !self.all_have_ended
    }
}

/// Outlook of a team whose lead does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prospect {
    /// Somebody works, or is about to.
    Busy,
    /// Somebody might find something yet.
    Open,
    /// Nothing happens by itself.
    Nothing,
}

impl Outlook {
    /// Looks at the board. The order matters: a member that is idle at the first look and has worked since is seen by what
    /// it has left.
    pub(super) async fn of(station: &Station) -> Result<Self, TeamError> {
        let team = station.team();
        let is_there =
            |one: &Member| one.name != LEAD && one.is_alive && one.state != MemberState::Shutdown;
        let others: Vec<Member> = team.members().await?.into_iter().filter(is_there).collect();
        let mut has_mail = false;
        for member in &others {
            has_mail |= !team.unread(&member.name, 1).await?.is_empty();
        }
        let counts = team.counts().await?;
        // A bundle that is not taken in yet may come back.
        let has_bundles = !team.waiting_bundles(1).await?.is_empty();
        // The model has these, and they are being marked: some before the messages are read, some while they are.
        let mut given = station.given();
        let mut unread = station.membership.inbox(100).await?;
        given.extend(station.given());
        unread.retain(|one| !given.contains(&one.number));
        Ok(Self { others, has_mail, counts, has_bundles, unread })
    }

    fn open(&self) -> i64 {
        self.counts.pending + self.counts.in_progress
    }

    /// True if there were tasks, and all have come to their end, their changes too.
    pub(super) fn all_have_ended(&self) -> bool {
        let TaskCounts { completed, failed, cancelled, .. } = self.counts;
        completed + failed + cancelled > 0 && self.open() == 0 && !self.has_bundles
    }

    /// The reasons to wake a lead that has had these turns.
    pub(super) fn reasons(&self, turns: &LeadTurns) -> WakeReasons {
        let urgent = |one: &&BoardMessage| is_urgent(one) && !turns.woken_by.contains(&one.number);
        WakeReasons {
            urgent: self.unread.iter().filter(urgent).map(|one| one.number).collect(),
            all_have_ended: self.all_have_ended() && !turns.knows_end,
        }
    }

    pub(super) fn end_in_words(&self) -> String {
        format!(
            "All tasks of the team have ended: {} completed, {} failed, {} cancelled.",
            self.counts.completed, self.counts.failed, self.counts.cancelled
        )
    }

    /// The prospect, apart from what the lead does.
    pub(super) fn prospect(&self) -> Prospect {
        let works = |one: &Member| one.state == MemberState::Working || one.task.is_some();
        // A task that waits for one that failed waits in vain.
        let waits = self.has_mail || self.counts.ready + self.counts.in_progress > 0;
        if self.has_bundles || self.others.iter().any(works) {
            Prospect::Busy
        } else if waits && !self.others.is_empty() {
            Prospect::Open
        } else {
            Prospect::Nothing
        }
    }
}

/// True of messages for which a lead at rest is woken: a plan that waits, a task that has failed.
fn is_urgent(message: &BoardMessage) -> bool {
    message.kind == "plan" || (message.from == BOARD && message.kind == "task_failed")
}
