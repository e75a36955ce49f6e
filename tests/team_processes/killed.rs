//! A worker is killed (SIGKILL) at any moment of a task, and another does it: once, with nothing that was said lost.
//!
//! The moments are spread over the time that a task takes; what the worker is doing then is up to the machine, so the rounds
//! differ from run to run.

use crate::crew::{Crew, kill};
use crate::story;
use ropewalk_board::{MemberState, TaskStatus};
use std::time::{Duration, Instant};

/// Words of a worker that has joined, and of one that begins its task.
const JOINED: &str = "has joined the team";
const BEGUN: &str = "Task #";

/// The time from the moment of these words until the task is seen to be completed.
fn time_from(words: &str) -> Duration {
    let crew = Crew::new(1, [story::workers()]);
    let editor = crew.lead();
    crew.board.add("Line 0", "", &[]);
    let mut worker = crew.worker_at("w", "", words);
    let begin = Instant::now();
    crew.board.wait_completed(1);
    let time = begin.elapsed();
    kill(&mut worker);
    crew.check(editor, 1);
    time
}

/// Kills workers at so many moments, each at another task; each is done by a second one then, if it was not done yet.
fn kills(moments: usize) {
    let times = [JOINED, BEGUN].map(|words| (words, time_from(words)));
    let crew = Crew::new(moments, [story::workers()]);
    let editor = crew.lead();
    let (mut killed_at_work, mut done_before) = (0, 0);
    for moment in 0..moments {
        let (first, second) = (format!("w{moment}a"), format!("w{moment}b"));
        let role = format!("r{moment}");
        let number = crew.board.add(&format!("Line {moment}"), &role, &[]);
        // A message that waits for it: the name is known, and free.
        let before = crew.board.join(&first, &role);
        crew.board.ask(before.set_state(MemberState::Shutdown));
        let words = format!("Message {moment}.");
        crew.board.ask(crew.board.team().post("lead", &first, "message", &words));

        // One of four moments may lie before the task.
        let (since, time) = times[usize::from(moment % 4 > 0)];
        let mut worker = crew.worker_at(&first, &role, since);
        let part = u32::try_from(moment).unwrap() * time / u32::try_from(moments).unwrap();
        std::thread::sleep(part);
        kill(&mut worker);
        crew.board.end_lease(&first);
        let task = crew.board.task(number);
        killed_at_work += usize::from(task.status == TaskStatus::InProgress);
        if task.status == TaskStatus::Completed {
            done_before += 1;
        } else {
            let mut other = crew.worker(&second, &role);
            crew.board.wait_completed(number);
            kill(&mut other);
        }
        let told = format!("killed at {moment} of {moments}");
        let story = crew.board.story(number);
        println!("{told}: {story:?}");
        let completed = story.iter().filter(|line| line.starts_with("completed ")).count();
        assert_eq!(completed, 1, "{told}: {story:?}");
        assert!(crew.board.task(number).failures <= 1, "{told}: {story:?}");
        assert!(is_known(&crew, &first, &words), "{told}: a message is lost");
        let written = format!("message: Line {moment} is written.");
        assert!(crew.board.unread("lead").contains(&written), "{told}: the lead was not told");
    }
    println!("{killed_at_work} of {moments} at work, {done_before} done before");
    assert!(killed_at_work > 0, "all moments miss the task");
    crew.check(editor, moments);
}

/// True if a message waits for its receiver, was given to its model, or is in the journal of its session.
fn is_known(crew: &Crew, name: &str, words: &str) -> bool {
    let waits = crew.board.unread(name).iter().any(|one| one.contains(words));
    let was_read = || crew.stage.agent.model.recorded().iter().any(|one| one.raw.contains(words));
    waits || was_read() || crew.is_in_journals(words)
}

#[test]
fn a_worker_that_is_killed_at_any_moment_has_its_task_done_once() {
    kills(20);
}

#[test]
#[ignore = "200 moments take a minute"]
fn long_a_worker_that_is_killed_at_any_moment_has_its_task_done_once() {
    kills(200);
}
