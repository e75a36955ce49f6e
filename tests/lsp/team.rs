//! Commands about a team where there is none, and what they take.

use crate::support::stage::{Stage, say};
use ropewalk_testkit::editor::Profile;
use serde_json::{Value, json};

const NONE: &str = "There is no team here yet: ask for teammates or tasks first";

#[test]
fn without_a_team_every_command_about_one_says_so() {
    let stage = Stage::new("review", &[("a.txt", "one\n")], [say("Here.")]);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    let plan = json!({ "request": 1, "approve": true });
    for (command, argument) in [
        ("ropewalk.tasks", Value::Null),
        ("ropewalk.tasks", json!({ "page": 2 })),
        ("ropewalk.team", Value::Null),
        ("ropewalk.team", json!({ "stop": "alice" })),
        ("ropewalk.team", json!({ "plan": plan })),
        ("ropewalk.inbox", Value::Null),
        ("ropewalk.prompt", json!({ "prompt": "go on", "member": "alice" })),
        ("ropewalk.steer", json!({ "text": "go on", "member": "alice" })),
        ("ropewalk.interrupt", json!({ "member": "alice" })),
        ("ropewalk.approve", json!({ "member": "alice" })),
        ("ropewalk.status", json!({ "member": "alice" })),
        ("ropewalk.export", json!({ "member": "alice" })),
    ] {
        let error = editor.execute(command, argument.clone()).expect_err(command);
        assert_eq!((error.code, &*error.message), (-32602, NONE), "{command} {argument}");
    }
    for (command, argument, words) in [
        ("ropewalk.team", json!({ "stop": "alice", "adopt": "ship" }), "give one of"),
        ("ropewalk.team", json!({ "plan": { "request": 1 } }), "approve"),
        ("ropewalk.team", json!({ "dismiss": "alice" }), "wanted is one of"),
        ("ropewalk.tasks", json!({ "page": -1 }), "wanted is { page? }"),
        ("ropewalk.inbox", json!({ "all": true }), "takes no argument"),
        ("ropewalk.prompt", json!({ "prompt": "/stop", "member": "alice" }), "takes no commands"),
    ] {
        let error = editor.execute(command, argument.clone()).expect_err(command);
        assert_eq!(error.code, -32602, "{command} {argument}: {error}");
        assert!(error.message.contains(words), "{command} {argument}: {error}");
    }
    // The same as prompts, without the model, which has one answer only.
    for prompt in ["/tasks", "/team", "/team stop alice", "/inbox"] {
        let said = editor.execute("ropewalk.prompt", json!(prompt)).unwrap();
        assert_eq!((&said["said"], &said["turn"]), (&json!(NONE), &Value::Null), "{prompt}");
    }
    editor.prompt("Are you there?");
    editor.wait_for_turn_end();
    stage.end(editor);
}
