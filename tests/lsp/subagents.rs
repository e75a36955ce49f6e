//! Subagents through the protocol: progress for any client, their own events for those that ask for them.

use crate::support::stage::{Stage, say};
use ropewalk_testkit::editor::{Kind, Profile};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

fn replies() -> [ScriptedReply; 4] {
    let task =
        json!({ "agent_type": "explore", "description": "find auth", "prompt": "Find auth" });
    let own = |reply: ScriptedReply| reply.when("Find auth").conversation("explore");
    [
        ScriptedReply::new().call("task", task),
        own(ScriptedReply::new().call("grep", json!({ "pattern": "auth" }))),
        own(say("It is in a.txt.")),
        say("Found.").expect_text("It is in a.txt."),
    ]
}

#[test]
fn what_a_subagent_calls_is_progress_and_no_answer() {
    let stage = Stage::new("review", &[("a.txt", "auth\n")], replies());
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(&[Kind::Diagnostics]);
    editor.open("a.txt");
    editor.prompt("Where is auth?");
    editor.wait_for_turn_end();
    let progress = editor.progress();
    let shown: Vec<_> = progress.iter().map(|part| part.message.as_str()).collect();
    assert_eq!(
        shown,
        [
            "Where is auth?",
            "task explore: find auth",
            "explore: grep auth",
            "Done · 400 tokens in, 40 out"
        ]
    );
    assert_eq!(editor.wait_for_message("Found.").text, "Found.");
    stage.end(editor);
}

#[test]
fn a_plugin_gets_their_events_if_it_takes_them() {
    for threads in [true, false] {
        let stage = Stage::new("review", &[("a.txt", "auth\n")], replies());
        let options = json!({ "events": true, "drawsHunks": true, "threads": threads });
        let editor = stage.editor_with(Profile::VSCODE, options);
        editor.ignore(&[Kind::Progress, Kind::Event]);
        editor.open("a.txt");
        editor.prompt("Where is auth?");
        editor.wait_for_turn_end();
        let events = editor.events();
        let of_thread = |event: &&Value| event["thread"].is_string();
        let own: Vec<&Value> = events.iter().filter(of_thread).collect();
        assert!(own.iter().all(|event| event["thread"] == "1.1"), "{own:#?}");
        let is_told = |kind: &str| own.iter().any(|event| event["type"] == kind);
        assert!(is_told("thread"));
        assert_eq!(is_told("tool_call"), threads);
        let states: Vec<&Value> =
            own.iter().filter(|e| e["type"] == "thread").map(|e| &e["state"]).collect();
        assert_eq!(states, ["started", "ended"]);
        stage.end(editor);
    }
}

#[test]
fn one_is_stopped_by_its_id() {
    let [task, look, found, _] = replies();
    let found = found.gate(ReplyPlace::Answer, "looking");
    let replies = [task, look, found, say("Well.").expect_text("The subagent was stopped")];
    let stage = Stage::new("review", &[("a.txt", "auth\n")], replies);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    editor.prompt("Where is auth?");
    stage.agent.model.wait_until_reached_blocking("looking");
    editor.execute("ropewalk.interrupt", json!({ "thread": "1.1" })).unwrap();
    editor.wait_for_turn_end();
    stage.end(editor);
}
