//! Commands that end badly, over the fork, on a copy and in place: by the user, with their sandbox, with the server.
//!
//! Commands that end well are in tests/scenarios.

#![expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]

use crate::support::stage::{QUIET, Stage, bash, say, turn, until};
use ropewalk_testkit::editor::{FakeEditor, Profile};
use ropewalk_testkit::model::ScriptedReply;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The tiers, as the settings call them.
const TIERS: [&str; 3] = ["auto", "copy", "off"];

/// An editor whose server runs commands over the fork and tells events.
fn editor(stage: &Stage) -> FakeEditor {
    editor_on("auto", stage)
}

/// An editor whose server runs commands in this tier, without asking, and tells events.
fn editor_on(tier: &str, stage: &Stage) -> FakeEditor {
    stage.agent.allow("bash(*)");
    let options = json!({ "events": true, "commands": { "overFork": tier } });
    let editor = stage.editor_with(Profile::VSCODE, options);
    editor.ignore(QUIET);
    editor
}

/// Waits until a command has printed these words.
fn printed(editor: &FakeEditor, words: &str) {
    let has = |event: &Value| {
        event["type"] == "tool_output" && event["text"].as_str().unwrap().contains(words)
    };
    editor.wait_for("the output", |seen| seen.events().iter().any(has).then_some(()));
}

/// The processes whose command line has this text: their ids.
fn processes(text: &str) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has = |id: &i32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    ids.filter(has).collect()
}

fn parent_of(id: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
}

/// A command that sleeps in three ways: itself, in a group of its own, and as a daemon that nobody is the parent of.
fn sleeping(sleep: &str) -> String {
    let daemon = format!("setsid sh -c 'setsid nohup sleep {sleep} >/dev/null 2>&1 &'");
    format!("{daemon}; set -m; sleep {sleep} & sleep {sleep}")
}

/// Waits until what [`sleeping`] starts sleeps.
fn all_sleep(sleep: &str) {
    until("all sleep", || processes(&format!("sleep\0{sleep}")).len() == 3);
}

/// A number of seconds that no other test sleeps.
fn long(number: u32) -> String {
    format!("{}.{number}", 100_000 + std::process::id())
}

#[test]
fn what_an_interrupted_command_wrote_is_dropped() {
    let sleep = long(1);
    let stage = Stage::new(
        "auto",
        &[],
        [
            bash(&format!("echo half > half.txt; echo written; sleep {sleep} & wait")),
            bash("cat half.txt").expect_text("go on"),
            say("It is gone.").expect_text("No such file"),
        ],
    );
    let editor = editor(&stage);
    editor.prompt("go");
    printed(&editor, "written");
    until("it sleeps", || !processes(&format!("sleep\0{sleep}")).is_empty());
    editor.execute("ropewalk.interrupt", Value::Null).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "interrupted");
    until("it is killed", || processes(&format!("sleep\0{sleep}")).is_empty());
    assert_eq!(turn(&editor, "go on"), "end_turn");
    assert!(!stage.path("half.txt").exists());
    stage.end(editor);
}

#[test]
fn a_sandbox_that_dies_is_said_and_started_anew() {
    let sleep = long(2);
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            bash(&format!("echo up; sleep {sleep}")),
            bash("cat a.txt").expect_text("Error: the sandbox ended while this command ran"),
            say("Fine.").expect_text("one"),
        ],
    );
    let editor = editor(&stage);
    editor.prompt("go");
    printed(&editor, "up");
    let sleeps = || processes(&format!("sleep\0{sleep}"));
    until("it sleeps", || !sleeps().is_empty());
    let mut id = *sleeps().first().unwrap();
    let is_holder = |id: i32| processes(ropewalk_sandbox::HELPER).contains(&id);
    // The outermost process of the sandbox.
    while let Some(parent) = parent_of(id).filter(|parent| !is_holder(id) || is_holder(*parent)) {
        id = parent;
    }
    assert!(is_holder(id));
    kill_process(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    until("it has ended too", || processes(&format!("sleep\0{sleep}")).is_empty());
    stage.end(editor);
}

#[test]
fn nothing_outlives_a_server_that_is_killed() {
    let sleep = long(3);
    for tier in TIERS {
        let stage = Stage::new("review", &[], [bash(&sleeping(&sleep))]);
        let editor = editor_on(tier, &stage);
        editor.prompt("go");
        all_sleep(&sleep);
        editor.kill_server();
        until("its commands have ended", || processes(&sleep).is_empty());
    }
}

#[test]
fn nothing_in_the_background_outlives_a_server_that_is_killed() {
    let sleep = long(5);
    for tier in TIERS {
        let input = json!({ "command": sleeping(&sleep), "background": true });
        let replies = [ScriptedReply::new().call("bash", input), say("It runs.")];
        let stage = Stage::new("review", &[], replies);
        let editor = editor_on(tier, &stage);
        assert_eq!(turn(&editor, "go"), "end_turn");
        all_sleep(&sleep);
        editor.kill_server();
        until("its commands have ended", || processes(&sleep).is_empty());
    }
}

#[test]
fn nothing_is_left_of_a_command_that_is_interrupted_or_of_a_session_that_ends() {
    let sleep = long(6);
    for tier in TIERS {
        let stage = Stage::new("review", &[], [bash(&sleeping(&sleep)), bash(&sleeping(&sleep))]);
        let editor = editor_on(tier, &stage);
        editor.prompt("go");
        all_sleep(&sleep);
        editor.execute("ropewalk.interrupt", Value::Null).unwrap();
        assert_eq!(editor.wait_for_turn_end().stop_reason, "interrupted");
        // The turn's end waits for it: what comes next must not meet what is still being killed.
        assert!(processes(&sleep).is_empty(), "{tier}");
        editor.prompt("again");
        all_sleep(&sleep);
        stage.end(editor);
        until("its commands have ended", || processes(&sleep).is_empty());
    }
}

#[test]
fn a_server_removes_the_copy_of_one_that_was_killed_and_no_other() {
    let stage = Stage::new("review", &[("a.txt", "one\n")], [say("A."), say("B."), say("C.")]);
    let layers = stage.agent.folder("cache").join("ropewalk/layers");
    let copies = || -> BTreeSet<PathBuf> {
        std::fs::read_dir(&layers).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let [dead, living] = [(), ()].map(|()| editor_on("copy", &stage));
    assert_eq!(turn(&dead, "go"), "end_turn");
    let of_dead = copies();
    assert_eq!(turn(&living, "go"), "end_turn");
    let of_living = &copies() - &of_dead;
    assert_eq!((of_dead.len(), of_living.len()), (1, 1));
    dead.kill_server();
    assert_eq!(copies(), &of_dead | &of_living, "nobody could remove it");
    let next = editor_on("copy", &stage);
    assert_eq!(turn(&next, "go"), "end_turn");
    assert!(copies().is_disjoint(&of_dead) && copies().is_superset(&of_living));
    assert_eq!(copies().len(), 2);
    next.shutdown();
    stage.end(living);
}

#[test]
fn a_background_command_can_be_looked_at_and_stopped() {
    let sleep = long(4);
    let check = |input: Value| ScriptedReply::new().call("check_background", input);
    let command = format!("echo up; sleep {sleep}");
    let stage = Stage::new(
        "review",
        &[],
        [
            ScriptedReply::new().call("bash", json!({ "command": command, "background": true })),
            say("It runs.").expect_text("Started in the background as number 1"),
            check(json!({ "id": 1 })),
            check(json!({ "id": 1, "stop": true })).expect_text("up"),
            check(json!({ "id": "x" })).expect_text("is being stopped"),
            say("Stopped.").expect_text("no command in the background"),
        ],
    );
    let editor = editor(&stage);
    assert_eq!(turn(&editor, "go"), "end_turn");
    printed(&editor, "up");
    assert_eq!(turn(&editor, "look"), "end_turn");
    until("it is stopped", || processes(&format!("sleep\0{sleep}")).is_empty());
    stage.end(editor);
}
