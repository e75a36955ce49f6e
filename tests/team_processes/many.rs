//! A crowd of workers: a small one in the suite, the bench's own in the long run.

use crate::crowd::Crowd;

#[test]
fn many_workers_some_of_whom_are_killed_come_to_one_review() {
    let outcome = Crowd { workers: 4, tasks: 24, kills: 4 }.run();
    println!("{} killed at work, {:?}", outcome.killed_at_work, outcome.took);
}

#[test]
#[ignore = "it takes a while"]
fn long_many_workers_some_of_whom_are_killed_come_to_one_review() {
    let outcome = Crowd { workers: 8, tasks: 200, kills: 20 }.run();
    println!("{} killed at work, {:?}", outcome.killed_at_work, outcome.took);
}
