//! The lead's server is killed (SIGKILL) at any moment of a task that a worker does, of its own turns, and of its start: each task
//! is done once and taken in once, no message to the lead is lost, and what is proposed is whole right after it goes on.
//!
//! The moments are spread over the time that these take; what the server is doing then is up to the machine, so the rounds
//! differ from run to run.

use crate::crew::{Crew, hunks_of, kill};
use crate::story;
use ropewalk_testkit::editor::FakeEditor;
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::time::{Duration, Instant};

/// One of so many rounds kills the server as it starts, with changes that wait.
const STARTS: usize = 4;

/// A crew over so many tasks, whose lead has something to say to each request.
fn crew(tasks: usize) -> Crew {
    let lead = ScriptedReply::new().text("Noted.").by_beginning().forever();
    Crew::new(tasks, [story::workers(), lead])
}

/// Another server, which goes on with the session.
fn start_again(crew: &Crew) -> FakeEditor {
    let editor = crew.editor();
    editor.open(story::FILE);
    // It may be the current session already.
    let _ = editor.execute("ropewalk.resume", json!({}));
    editor
}

/// The time from a task's beginning until its changes are taken in, and that from a server's start until it has taken in what
/// waits.
fn times() -> (Duration, Duration) {
    let crew = crew(2);
    let editor = crew.lead();
    let mut worker = crew.worker("w", "");
    let begin = Instant::now();
    let first = crew.board.add("Line 0", "", &[]);
    crew.board.wait_completed(first);
    crew.wait_taken();
    let task = begin.elapsed();
    editor.kill_server();
    let second = crew.board.add("Line 1", "", &[]);
    crew.board.wait_completed(second);
    let begin = Instant::now();
    let editor = start_again(&crew);
    crew.wait_taken();
    let start = begin.elapsed();
    kill(&mut worker);
    crew.check(editor, 2);
    (task, start)
}

/// Has a task done while the server is killed at this part of the time; gives its number.
fn round(crew: &Crew, editor: FakeEditor, moment: usize, time: Duration) -> i64 {
    let add = || crew.board.add(&format!("Line {moment}"), "", &[]);
    if moment % STARTS < STARTS - 1 {
        let number = add();
        // Its turn reads what the workers have told so far.
        editor.prompt("What is new?");
        std::thread::sleep(time);
        editor.kill_server();
        return number;
    }
    editor.kill_server();
    let number = add();
    crew.board.wait_completed(number);
    let editor = crew.editor();
    editor.open(story::FILE);
    std::thread::sleep(time);
    editor.kill_server();
    number
}

/// Checks that a task was done and taken in once.
fn check_round(crew: &Crew, number: i64, told: &str) {
    let story = crew.board.story(number);
    println!("{told}: {story:?}");
    assert_eq!(story, ["created test", "claimed w", "completed w", "taken lead"], "{told}");
}

/// Has the lead read all that it was told, and checks that nothing is missing in its conversation.
fn check_messages(crew: &Crew, editor: &FakeEditor, moments: usize) {
    let is_unread = || crew.board.unread("lead").iter().any(|one| one.contains("is written."));
    loop {
        editor.prompt("What was said?");
        editor.wait_for_turn_end();
        if !is_unread() {
            break;
        }
    }
    // The last request has what came in with the one before it, too.
    editor.prompt("Is that all?");
    editor.wait_for_turn_end();
    let requests = crew.stage.agent.model.recorded();
    let asked = requests.iter().rev().find(|one| one.raw.contains("Is that all?")).unwrap();
    for line in 0..moments {
        let told = format!("Line {line} is written.</inbox>");
        assert!(asked.raw.contains(&told), "the lead does not know {told:?}: {}", asked.raw);
    }
}

/// Kills the lead's server at so many moments, each at another task.
fn kills(moments: usize) {
    let (task, start) = times();
    let crew = crew(moments);
    let mut editor = crew.lead();
    let mut worker = crew.worker("w", "");
    for moment in 0..moments {
        let whole = if moment % STARTS < STARTS - 1 { task } else { start };
        let part = u32::try_from(moment).unwrap() * whole / u32::try_from(moments).unwrap();
        let number = round(&crew, editor, moment, part);
        editor = start_again(&crew);
        let text = story::text(moments);
        assert_eq!(editor.text(story::FILE), text, "nothing was accepted yet");
        crew.board.wait_completed(number);
        crew.wait_taken();
        editor.wait_for("all changes so far", |seen| {
            (hunks_of(&seen.events()).len() == 2 * (moment + 1)).then_some(())
        });
        check_round(&crew, number, &format!("killed at {moment} of {moments}, after {part:?}"));
    }
    check_messages(&crew, &editor, moments);
    kill(&mut worker);
    crew.check(editor, moments);
}

#[test]
fn a_lead_whose_server_is_killed_at_any_moment_has_everything_once() {
    kills(8);
}

#[test]
#[ignore = "200 moments take some minutes"]
fn long_a_lead_whose_server_is_killed_at_any_moment_has_everything_once() {
    kills(200);
}
