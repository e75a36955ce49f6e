//! A team's board as a test sees it from outside: made by itself or by a lead, looked at, and the leases of members that
//! were killed ended before their time.

#![allow(
    clippy::allow_attributes,
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part"
)]

use ropewalk_board::{
    Board, BoardOptions, LogEntry, MemberState, Membership, NewMember, NewTask, Task, TaskStatus,
    Team,
};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The longest that anything may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Failures of one task until it counts as failed. Tests kill members at moments of their own, and one task may be at work in
/// each of them. It is the most that configuration allows.
pub const ATTEMPTS: u32 = 20;

/// A team on a board, as a test sees and prepares it.
pub struct TeamBoard {
    runtime: Runtime,
    team: Team,
    /// The team as somebody sees it whose leases are over at once.
    fleeting: Team,
}

impl TeamBoard {
    /// The team at a place as the configuration names it, made with its board if it is not there. `roots` are the names of
    /// the lead's folders, one a line.
    pub fn new(place: &str, team: &str, roots: &str) -> Self {
        let builder = &mut tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let open = |lease| {
            let options = BoardOptions { lease, attempts: ATTEMPTS, ..BoardOptions::default() };
            runtime.block_on(async {
                let board = Board::open(place.parse().unwrap(), options).await.unwrap();
                board.team(team, "a test", roots).await.unwrap()
            })
        };
        let (team, fleeting) = (open(Duration::from_secs(60)), open(Duration::ZERO));
        Self { runtime, team, fleeting }
    }

    /// The team, for what nothing here does.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// Waits for an answer of the board's.
    pub fn ask<T>(&self, answer: impl Future<Output = ropewalk_board::Result<T>>) -> T {
        self.runtime.block_on(answer).unwrap()
    }

    /// Joins as a member, which renews nothing.
    pub fn join(&self, name: &str, role: &str) -> Membership {
        let (name, role) = (name.to_owned(), role.to_owned());
        self.ask(self.team.join(&NewMember { name, role, ..NewMember::default() }))
    }

    /// Waits until a board that was away can be reached.
    #[track_caller]
    pub fn wait_reached(&self) {
        let end = Instant::now() + PATIENCE;
        while let Err(error) = self.runtime.block_on(self.team.counts()) {
            assert!(Instant::now() < end, "the board has not come back: {error}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Puts a task on it, and gives its number.
    pub fn add(&self, subject: &str, role: &str, blocked_by: &[i64]) -> i64 {
        let new = NewTask {
            subject: subject.to_owned(),
            role: role.to_owned(),
            blocked_by: blocked_by.to_vec(),
            ..NewTask::default()
        };
        self.ask(self.team.create("test", &new)).number
    }

    /// A task as it is now.
    pub fn task(&self, number: i64) -> Task {
        self.ask(self.team.task(number))
    }

    /// The messages to a member that it has not read, as `KIND: BODY`.
    pub fn unread(&self, name: &str) -> Vec<String> {
        let unread = self.ask(self.team.unread(name, 1_000));
        unread.into_iter().map(|one| format!("{}: {}", one.kind, one.body)).collect()
    }

    /// The lines of the log about a task, as `EVENT MEMBER`.
    pub fn story(&self, number: i64) -> Vec<String> {
        let log: Vec<LogEntry> = self.ask(self.team.log(0, 100_000));
        let own = log.into_iter().filter(|line| line.task == Some(number));
        own.map(|line| format!("{} {}", line.event, line.member)).collect()
    }

    /// Waits until it is so on the board.
    #[track_caller]
    pub fn wait(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < end, "waited in vain for {what}: {:#?}", self.all());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a task is completed.
    #[track_caller]
    pub fn wait_completed(&self, number: i64) {
        self.wait(&format!("task #{number}"), |board| {
            board.task(number).status == TaskStatus::Completed
        });
    }

    /// Ends the lease of a member whose process has been killed, and so what it had claimed, as time would.
    pub fn end_lease(&self, name: &str) {
        let members = self.ask(self.team.members());
        let Some(member) = members.into_iter().find(|member| member.name == name) else { return };
        if member.state != MemberState::Shutdown {
            self.ask(self.fleeting.rejoin(name, member.epoch, "killed"));
        }
    }

    /// Everything, for who has waited in vain.
    fn all(&self) -> (Vec<Task>, Vec<LogEntry>) {
        (self.ask(self.team.tasks(0, 100)), self.ask(self.team.log(0, 100_000)))
    }
}
