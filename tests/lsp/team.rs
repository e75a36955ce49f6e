//! Servers without a team: commands about one say so, and no board is opened.

use crate::support::stage::{Stage, read, say, turn};
use ropewalk_testkit::editor::Profile;
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::TcpListener;

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

#[test]
fn without_a_team_no_board_is_opened_and_no_database_asked() {
    for (is_on, is_database) in [(false, false), (false, true), (true, false), (true, true)] {
        let database = TcpListener::bind("127.0.0.1:0").unwrap();
        database.set_nonblocking(true).unwrap();
        let replies = [read("a.txt"), say("One.")];
        let stage = Stage::new("review", &[("a.txt", "one\n")], replies);
        let port = database.local_addr().unwrap().port();
        let board = format!("board = \"postgres://nobody@127.0.0.1:{port}/board\"\n");
        let board = if is_database { &*board } else { "" };
        stage.agent.reconfigure(|config| format!("{config}[team]\nenabled = {is_on}\n{board}"));
        let editor = stage.quiet_editor(Profile::VSCODE);
        editor.open("a.txt");
        assert_eq!(turn(&editor, "Look."), "end_turn");
        // Questions about a team open none either.
        for command in ["ropewalk.tasks", "ropewalk.team", "ropewalk.inbox"] {
            let error = editor.execute(command, Value::Null).expect_err(command);
            assert_eq!(&*error.message == NONE, is_on, "{command}: {error}");
        }
        editor.shutdown();
        let offered = stage.agent.model.requests()[0]["tools"].to_string();
        assert_eq!(offered.contains("spawn_teammate"), is_on, "{offered}");
        assert!(!stage.agent.folder("state/ropewalk/boards").exists());
        let asked = database.accept().map(|(_, from)| from);
        assert_eq!(asked.expect_err("a connection").kind(), ErrorKind::WouldBlock);
    }
}
