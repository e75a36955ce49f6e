//! Members that are stopped, cut off, or have a clock of their own: their claims hold for a lease by the database's clock.

use crate::ground::{CutLink, FAR, Ground};
use crate::process::{Process, Role, program};
use ropewalk_board::{NewTask, TaskStatus};
use ropewalk_testkit::namespaces::on_host;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds of a lease that is waited out.
const LEASE: u64 = 1000;
const LOST: &str = "refused: Task #1 is no longer yours: its lease ran out, or it was taken back.";

/// Makes a task for members of the role `coder`.
fn task(ground: &Ground) {
    let new = NewTask { role: "coder".to_owned(), ..NewTask::default() };
    ground.team(async |team| team.create("test", &new).await.unwrap());
}

fn status(ground: &Ground, number: i64) -> TaskStatus {
    ground.team(async |team| team.task(number).await.unwrap().status)
}

/// Has somebody of another role look for work until the lease of a task is over.
fn return_expired(ground: &Ground, number: i64) {
    let mut looker = Role { role: "tester", ..Role::new(&ground.place, "looker") }.join();
    while status(ground, number) == TaskStatus::InProgress {
        assert_eq!(looker.ask("claim"), "nothing");
    }
}

pub(crate) fn stopped_past_the_lease(ground: &Ground) {
    let coder = |name| Role { role: "coder", ..Role::new(&ground.place, name) };
    let mut alice = Role { lease: LEASE, ..coder("alice") }.join();
    let mut bob = coder("bob").join();
    task(ground);
    assert_eq!(alice.ask("claim"), "claimed 1 1");
    alice.stop();
    // Waits in its pipe until it goes on.
    alice.tell("complete 1 1");
    bob.ask_until("claim", "claimed 1 2");
    alice.go_on();
    assert_eq!(alice.answer(), LOST);
    assert_eq!(bob.ask("complete 1 2"), "completed");

    task(ground);
    assert_eq!(alice.ask("claim"), "claimed 2 1");
    alice.stop();
    alice.tell("complete 2 1");
    return_expired(ground, 2);
    alice.go_on();
    assert_eq!(alice.answer(), "completed");
    assert_eq!(status(ground, 2), TaskStatus::Completed);
}

pub(crate) fn cut_link(ground: &Ground) {
    let coder = |name| Role { role: "coder", ..Role::new(&ground.place, name) };
    let far = Role { lease: LEASE, patience: 1500, ..coder("alice") };
    let mut alice = far.join_by(on_host(FAR, &program()));
    let mut bob = coder("bob").join();
    task(ground);
    assert_eq!(alice.ask("claim"), "claimed 1 1");
    let cut = CutLink::new();
    bob.ask_until("claim", "claimed 1 2");
    let answer = alice.ask("complete 1 1");
    assert!(answer.starts_with("refused: The team's board can't be reached"), "{answer}");
    drop(cut);
    alice.ask_until("complete 1 1", LOST);
    assert_eq!(bob.ask("complete 1 2"), "completed");

    task(ground);
    assert_eq!(alice.ask("claim"), "claimed 2 1");
    let cut = CutLink::new();
    return_expired(ground, 2);
    let answer = alice.ask("renew");
    assert!(answer.starts_with("refused: The team's board can't be reached"), "{answer}");
    drop(cut);
    alice.ask_until("complete 2 1", "completed");
    assert_eq!(status(ground, 2), TaskStatus::Completed);
}

pub(crate) fn clocks_an_hour_off(ground: &Ground) {
    let coder = |name| Role { role: "coder", ..Role::new(&ground.place, name) };
    let mut slow = coder("slow").join_by(shifted("-3600s"));
    let mut fast = Role { lease: LEASE, ..coder("fast") }.join_by(shifted("+3600s"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let clock = |process: &mut Process| process.ask("clock").parse::<u64>().unwrap();
    assert!(clock(&mut slow) < now - 3000 && clock(&mut fast) > now + 3000);

    task(ground);
    assert_eq!(slow.ask("claim"), "claimed 1 1");
    assert_eq!(fast.ask("claim"), "nothing", "the lease runs, whatever the fast clock says");
    assert_eq!(slow.ask("renew"), "renewed 1");
    assert_eq!(fast.ask("claim"), "nothing");
    assert_eq!(slow.ask("complete 1 1"), "completed");

    task(ground);
    assert_eq!(fast.ask("claim"), "claimed 2 1");
    slow.ask_until("claim", "claimed 2 2");
    assert_eq!(fast.ask("complete 2 1"), LOST.replace("#1", "#2"));
    let entries = ground.team(async |team| team.log(0, 100).await.unwrap());
    assert!(
        entries.iter().all(|entry| u64::try_from(entry.at / 1000).unwrap().abs_diff(now) < 600)
    );
}

/// This program with a clock that is off by `shift`. Its monotonic clock runs as ever.
fn shifted(shift: &str) -> Command {
    let mut command = Command::new("faketime");
    command.args(["-m", "--exclude-monotonic", "-f", shift]).arg(program());
    command
}
