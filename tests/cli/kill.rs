//! The server is killed at any moment of a session (SIGKILL), and another goes on with it: everything the agent
//! has made is in the text exactly once or pending, the user's text is untouched, and the history is valid.
//!
//! Each round kills at another event, counted from the start; what the server is doing then is up to the
//! machine, so the rounds differ from run to run. The scripted model makes the next call of its list whatever has
//! happened, and it checks that each request only adds to the one before, across the restart too.

#![expect(clippy::indexing_slicing, reason = "tests and their helpers may be blunt")]

use crate::support::stage::{Stage, edit_input, say};
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};

const A: &str = "one\ntwo 😀\nthree\nfour\nfive\nsix\nseven\n";
const FILES: &[(&str, &str)] = &[("a.txt", A), ("b.txt", "b one\nb two\n"), ("d.txt", "gone\n")];

/// The calls of the story, in order.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("edit_file", edit_input("a.txt", "one", "ONE")),
        ("read_file", json!({"path": "b.txt"})),
        ("edit_file", edit_input("b.txt", "b two", "b TWO")),
        ("write_file", json!({"path": "new/c.txt", "content": "ünïcode 🦀\n"})),
        ("edit_file", edit_input("a.txt", "five", "FIVE")),
        ("delete_file", json!({"path": "d.txt"})),
        ("edit_file", edit_input("a.txt", "seven", "SEVEN")),
    ]
}

/// The next call that has no result yet but one that says it was not run, or lost; then words.
fn next(body: &Value) -> ScriptedReply {
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
    let results = blocks.filter(|block| block["type"] == "tool_result").map(|block| {
        let content = &block["content"];
        content.as_str().or(content[0]["text"].as_str()).unwrap_or_default().to_owned()
    });
    let unknown = ["Not run", "interrupted", "The result of this call was lost"];
    let not_run = |text: &String| unknown.iter().any(|words| text.contains(words));
    let done = results.filter(|text| !not_run(text)).count();
    match calls().into_iter().nth(done) {
        Some((tool, input)) => ScriptedReply::new().call(tool, input),
        None => say("Done."),
    }
}

/// Survivor of a kill of the server.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Survivor {
    /// The editor, with its unsaved text.
    Buffers,
    /// The disk alone: the editor died too.
    Disk,
}

/// Plays the story in `mode` and kills the server when it has sent so many events. False when the story was over
/// before.
fn round(mode: &str, survivor: Survivor, events: usize) -> bool {
    let told = format!("{mode}, {survivor:?} survive, killed at event {events}");
    let stage = Stage::new(mode, FILES, [ScriptedReply::from_fn(next).forever()]);
    let editor = stage.editor_with(Profile::VSCODE, json!({"events": true}));
    editor.ignore(&[Kind::Progress, Kind::Diagnostics, Kind::Message, Kind::Log, Kind::Event]);
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "x😀");
    editor.prompt("go");
    let Some(accepted) = reaches(&editor, mode, events) else {
        editor.shutdown();
        return false;
    };
    let open = editor.kill_server();
    let before = open.into_iter().find(|(uri, _)| uri.ends_with("a.txt")).unwrap().1;
    assert!(before.starts_with("x😀"), "{told}: {before}");

    let editor = stage.editor_with(Profile::VSCODE, json!({"events": true}));
    editor.ignore(&[Kind::Progress, Kind::Diagnostics, Kind::Message, Kind::Log, Kind::Event]);
    match survivor {
        Survivor::Buffers => editor.open_with("a.txt", &before),
        Survivor::Disk => editor.open("a.txt"),
    }
    let opened = editor.text("a.txt");
    // It may be the current session already.
    let _ = editor.execute("ropewalk.resume", json!({}));
    assert_eq!(editor.text("a.txt"), opened, "{told}: going on changes no text");
    editor.prompt("go on");
    editor.wait_for_turn_end();
    review(&editor, "ropewalk.accept", &told);
    let user = if survivor == Survivor::Buffers { "x😀" } else { "" };
    let made =
        |text: &str| text.replace("one", "ONE").replace("five", "FIVE").replace("seven", "SEVEN");
    assert_eq!(editor.text("a.txt"), format!("{user}{}", made(A)), "{told}, accepted: {accepted}");
    assert_eq!(stage.disk("b.txt"), "b one\nb TWO\n", "{told}");
    assert_eq!(stage.disk("new/c.txt"), "ünïcode 🦀\n", "{told}");
    assert!(!stage.path("d.txt").exists(), "{told}");
    // Changes published before and after can be taken back.
    review(&editor, "ropewalk.undo", &told);
    assert_eq!(editor.text("a.txt"), format!("{user}{A}"), "{told}");
    assert_eq!(stage.disk("b.txt"), "b one\nb two\n", "{told}");
    assert!(!stage.path("new/c.txt").exists() && stage.path("d.txt").exists(), "{told}");
    editor.shutdown();
    true
}

/// Waits until so many events were sent: true if the user has accepted by then, None if the story was over before.
///
/// In review the user accepts at the turn's end; the moment may come before, in its midst or after.
fn reaches(editor: &FakeEditor, mode: &str, events: usize) -> Option<bool> {
    let reached = editor.wait_for("the moment, or the end", |seen| {
        let told = seen.events();
        if told.len() >= events {
            return Some(true);
        }
        told.iter().any(|event| event["type"] == "turn_ended").then_some(false)
    });
    if reached {
        return Some(false);
    }
    if mode != "review" {
        return None;
    }
    let _ = editor.execute("ropewalk.accept", json!({"all": true}));
    let reached = editor.wait_for("the moment, or the review", |seen| {
        let told = seen.events();
        if told.len() >= events {
            return Some(true);
        }
        told.iter().any(|event| event["type"] == "reviewed").then_some(false)
    });
    reached.then_some(true)
}

/// Accepts or undoes everything, and waits for it.
fn review(editor: &FakeEditor, command: &str, told: &str) {
    let reviews = |seen: &[Value]| seen.iter().filter(|e| e["type"] == "reviewed").count();
    let before = reviews(&editor.events());
    editor.execute(command, json!({"all": true})).unwrap();
    let failed = editor.wait_for("the review", |seen| {
        let events = seen.events();
        (reviews(&events) > before).then(|| {
            let last = events.iter().rev().find(|event| event["type"] == "reviewed");
            last.unwrap()["failed"].clone()
        })
    });
    assert_eq!(failed, json!([]), "{told}: {command}");
}

/// The moments of a run: a few at random, all of them when ROPEWALK_ALL_KILLS is set.
fn kills(mode: &str, survivor: Survivor) {
    let all = std::env::var_os("ROPEWALK_ALL_KILLS").is_some();
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut random = clock.as_nanos() as u64 | 1;
    let mut events = 0;
    loop {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        events += if all { 1 } else { 1 + (random % 6) as usize };
        if !round(mode, survivor, events) {
            break;
        }
    }
    assert!(events > 20, "the story is too short: {events}");
}

#[test]
fn killed_in_review_while_the_editor_lives() {
    kills("review", Survivor::Buffers);
}

#[test]
fn killed_in_review_together_with_the_editor() {
    kills("review", Survivor::Disk);
}

#[test]
fn killed_in_auto_mode_while_the_editor_lives() {
    kills("auto", Survivor::Buffers);
}

#[test]
fn killed_in_auto_mode_together_with_the_editor() {
    kills("auto", Survivor::Disk);
}
