//! Words of the user's that hold the key by accident: pasted into a prompt, selected, in a file, in what the
//! model is to be told always.

use crate::support::stage::{QUIET, Stage, edit, read, say, turn};
use ropewalk_testkit::editor::Profile;
use ropewalk_testkit::planted::KEY;
use serde_json::{Value, json};

#[test]
fn a_key_in_a_prompt_goes_no_further() {
    let replies = [say("One.").expect_text("it is [key]."), say("Two."), say("Three.")];
    let stage = Stage::new("review", &[("a.txt", "one\n")], replies);
    let editor = stage.quiet_editor(Profile::VSCODE);
    assert_eq!(turn(&editor, &format!("it is {KEY}.")), "end_turn");
    assert_eq!(turn(&editor, &format!("{KEY}{KEY}")), "end_turn");
    editor.open("a.txt");
    editor.replace("a.txt", (0, 0), (0, 0), &format!("k = {KEY}\n"));
    let range = editor.range("a.txt", (0, 0), (1, 0));
    let argument = json!({
        "prompt": "look",
        "textDocument": { "uri": editor.uri("a.txt") },
        "range": range,
    });
    editor.execute("ropewalk.prompt", argument).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    let request = stage.agent.model.requests().pop().unwrap().to_string();
    assert!(request.contains("k = [key]"), "{request}");
    stage.end(editor);
}

#[test]
fn a_key_in_a_file_is_read_redacted_and_stays_in_the_file() {
    let replies = [
        read("notes.txt"),
        // The model was not shown the text that stands there, so it can't be replaced by mistake.
        edit("notes.txt", "k = [key]", "k = 1").expect_text("k = [key]"),
        say("Done.").expect_text("Error: "),
    ];
    let text = format!("before\nk = {KEY}\nafter\n");
    let stage = Stage::new("auto", &[("notes.txt", &text)], replies);
    let editor = stage.quiet_editor(Profile::VSCODE);
    let ended = turn(&editor, "go");
    stage.agent.model.finish().unwrap();
    assert_eq!(ended, "end_turn");
    assert_eq!(stage.disk("notes.txt"), text);
    stage.write("notes.txt", "");
    stage.end(editor);
}

#[test]
fn an_edit_beside_a_key_is_shown_redacted_and_leaves_the_key_out_of_the_journal() {
    let replies = [edit("notes.txt", "after", "AFTER"), say("Done.")];
    let text = format!("k = {KEY}\nafter\n");
    let stage = Stage::new("review", &[("notes.txt", &text)], replies);
    let editor = stage.editor_with(Profile::VSCODE, json!({"events": true}));
    editor.ignore(QUIET);
    assert_eq!(turn(&editor, "go"), "end_turn");
    let mut hunks = editor.events().into_iter().filter(|event| event["type"] == "hunks");
    let shown = hunks.next_back().unwrap()["hunks"][0]["diff"].to_string();
    assert!(shown.contains("k = [key]") && shown.contains("+AFTER"), "{shown}");
    editor.execute("ropewalk.accept", json!({"all": true})).unwrap();
    editor.wait_for("the review", |seen| {
        seen.events().iter().any(|event| event["type"] == "reviewed").then_some(())
    });
    assert_eq!(stage.disk("notes.txt"), text.replace("after", "AFTER"));
    stage.write("notes.txt", "");
    stage.end(editor);
}

#[test]
fn a_key_typed_between_two_calls_moves_nothing_after_a_crash() {
    let replies = [
        edit("notes.txt", "three", "THREE"),
        say("One."),
        edit("notes.txt", "five", "FIVE"),
        say("Two."),
        edit("notes.txt", "one", "ONE"),
        say("Three."),
    ];
    let stage = Stage::new("review", &[("notes.txt", "one\ntwo\nthree\nfour\nfive\n")], replies);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("notes.txt");
    turn(&editor, "go");
    editor.insert("notes.txt", 0, 0, &format!("k = {KEY}\n"));
    turn(&editor, "and then");
    turn(&editor, "and then");
    let (_, text) = editor.kill_server().remove(0);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open_with("notes.txt", &text);
    // Nothing is in the journal of the file with the key, so nothing is pending; nothing was moved.
    let _ = editor.execute("ropewalk.resume", json!({}));
    let _ = editor.execute("ropewalk.accept", json!({"all": true}));
    editor.execute("ropewalk.status", Value::Null).unwrap();
    assert_eq!(editor.text("notes.txt"), text);
    editor.shutdown();
    stage.agent.model.finish().unwrap();
}

#[test]
fn a_key_in_the_instructions_is_told_to_nobody() {
    let stage = Stage::new("review", &[("AGENTS.md", &format!("Use {KEY}."))], [say("Hello.")]);
    let editor = stage.quiet_editor(Profile::VSCODE);
    assert_eq!(turn(&editor, "go"), "end_turn");
    stage.write("AGENTS.md", "");
    editor.execute("ropewalk.status", Value::Null).unwrap_or_default();
    stage.end(editor);
}
