//! Turns through the protocol: progress and its cancel button, approvals in each client's way, events, two
//! clients on one root.

use crate::support::stage::{Stage, bash, edit, read, say, turn};
use ropewalk_testkit::editor::{Dialog, Kind, Profile};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

#[test]
fn progress_begins_reports_each_call_and_ends_with_the_stop_reason() {
    let stage =
        Stage::new("review", &[("a.txt", "one\n")], [edit("a.txt", "one", "two"), say("Done.")]);
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(&[Kind::Diagnostics]);
    editor.open("a.txt");
    editor.prompt("Change it\nto two");
    editor.wait_for_turn_end();
    let progress = editor.progress();
    let shown: Vec<_> = progress.iter().map(|p| (p.kind.as_str(), p.message.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("begin", "Change it"),
            ("report", "edit_file a.txt"),
            ("end", "Done · 200 tokens in, 20 out · 1 change waits for review")
        ]
    );
    assert!(progress.iter().all(|part| part.token == progress[0].token));
    let message = editor.wait_for_message("Done.");
    assert_eq!((message.level, &*message.text), (3, "Done.\n\n1 change waits for review."));
    stage.end(editor);
}

/// Before the first words and between two, which may be minutes at a slow model.
#[test]
fn progress_tells_how_long_the_model_is_waited_for() {
    let slow = say("Half, and the rest.")
        .gate(ReplyPlace::Answer, "late")
        .gate(ReplyPlace::End, "later still");
    let stage = Stage::new("review", &[], [slow]);
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(&[Kind::Message]);
    editor.prompt("go");
    let waited = |least: usize| {
        editor.wait_for("the wait", |seen| {
            let progress = seen.progress();
            let reports = progress.iter().filter(|p| p.kind == "report");
            let told = reports.map(|p| p.message.clone()).collect::<Vec<_>>();
            let begun =
                told.iter().filter(|told| *told == "waits for the model, 5 s so far").count();
            (begun >= least).then_some(told)
        })
    };
    waited(1);
    stage.agent.model.open_gate("late");
    let told = waited(2);
    assert!(told.iter().all(|told| told.starts_with("waits for the model, ")), "{told:?}");
    stage.agent.model.open_gate("later still");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    stage.end(editor);
}

#[test]
fn the_cancel_button_stops_the_turn_and_the_next_prompt_works() {
    let stage = Stage::new(
        "review",
        &[],
        [
            ScriptedReply::new()
                .text("I think about")
                .gate(ReplyPlace::End, "never")
                .expect_text("go"),
            say("Again."),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.prompt("go");
    stage.agent.model.wait_until_reached_blocking("never");
    let token =
        editor.wait_for("the progress", |seen| seen.progress().first().map(|p| p.token.clone()));
    editor.notify("window/workDoneProgress/cancel", &json!({ "token": "somebody's" }));
    editor.notify("window/workDoneProgress/cancel", &json!({ "token": 7 }));
    editor.notify("window/workDoneProgress/cancel", &json!({ "token": token }));
    assert_eq!(editor.wait_for_turn_end().stop_reason, "interrupted");
    assert_eq!(turn(&editor, "once more"), "end_turn");
    stage.end(editor);
}

#[test]
fn vs_code_asks_in_a_dialog_with_the_refusal_first() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            bash("echo ran > ran.txt"),
            bash("echo ran > ran.txt").expect_text("refused"),
            say("Ran.").expect_no_text("refused"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "unsaved ");
    editor.prompt("run it");
    let Dialog { message, actions, .. } = editor.answer_dialog("Refuse");
    let wanted = ["Refuse", "Allow once", "Allow this session", "Always allow", "Run after saving"];
    assert_eq!(actions, wanted);
    assert!(message.contains("\"Always\" allows exactly this command."), "{message}");
    assert!(message.contains("echo ran > ran.txt") && message.contains("a.txt"), "{message}");
    // Closing the dialog answers nothing; the command does.
    editor.dismiss_dialog();
    assert!(!stage.path("ran.txt").exists());
    editor.execute("ropewalk.approve", json!("once")).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(stage.disk("ran.txt"), "ran\n");
    stage.end(editor);
}

#[test]
fn other_clients_are_asked_by_message_and_answer_by_code_action() {
    for profile in [Profile::NEOVIM, Profile::EMACS, Profile::HELIX, Profile::UNKNOWN] {
        let stage = Stage::new(
            "review",
            &[("a.txt", "one\n")],
            [bash("echo ran > ran.txt"), say("All is done.")],
        );
        let editor = stage.editor(profile);
        editor.ignore(&[Kind::Progress, Kind::Diagnostics, Kind::Log]);
        editor.open("a.txt");
        editor.prompt("run it");
        let asked = editor.wait_for_message("Ropewalk asks to run bash: echo ran > ran.txt");
        assert!(
            profile.name == "neovim" || asked.text.contains("echo ran > ran.txt"),
            "{}",
            asked.text
        );
        let actions = editor.code_actions("a.txt", (0, 0), (0, 0));
        let titles: Vec<&str> = actions.iter().map(|action| action.title.as_str()).collect();
        assert!(titles[0].starts_with("Ropewalk: allow once"), "{titles:?}");
        assert!(titles.iter().any(|title| title.starts_with("Ropewalk: refuse")), "{titles:?}");
        editor.run(&actions[0]).unwrap();
        editor.wait_for_message("All is done.");
        assert_eq!(stage.disk("ran.txt"), "ran\n");
        // Too late, and said so.
        editor.run(&actions[0]).unwrap();
        editor.wait_for_message("Nothing waits");
        // Where it is logged and shown, the second may come at any time.
        editor.ignore(&[Kind::Message]);
        assert!(editor.code_actions("a.txt", (0, 0), (0, 0)).is_empty());
        stage.end(editor);
    }
}

#[test]
fn always_is_kept_in_the_file_of_rules_and_holds_for_later_sessions() {
    let stage = Stage::new(
        "review",
        &[],
        [
            bash("echo one"),
            say("Ran."),
            bash("echo two").conversation("later"),
            say("Ran again.").conversation("later"),
        ],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.ignore(&[Kind::Other]);
    editor.prompt("run it");
    let title = "Always allow";
    let Dialog { message, actions, .. } = editor.answer_dialog(title);
    assert!(message.contains("\"Always\" allows `echo` with any arguments."), "{message}");
    assert_eq!(actions.len(), 4, "{actions:?}");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    let answer = editor.execute("ropewalk.rules", json!(null)).unwrap();
    let file = std::path::Path::new(answer["path"].as_str().unwrap());
    let kept = std::fs::read_to_string(file).unwrap();
    assert!(kept.contains("\"bash(echo *)\""), "{kept}");
    editor.shutdown();
    let later = stage.quiet_editor(Profile::VSCODE);
    assert_eq!(turn(&later, "run it again"), "end_turn");
    stage.end(later);
}

#[test]
fn the_file_of_rules_is_made_and_opened_or_its_path_is_said() {
    for profile in [Profile::VSCODE, Profile { window: false, ..Profile::UNKNOWN }] {
        let stage = Stage::new("review", &[], []);
        let editor = stage.editor(profile);
        // It opens the document; where it can't, a message must be looked at.
        editor.ignore(if profile.window { &[Kind::Other] } else { &[] });
        let answer = editor.execute("ropewalk.rules", json!(null)).unwrap();
        let path = answer["path"].as_str().unwrap();
        let text = editor.wait_for("the file", |_| {
            std::fs::read_to_string(path).ok().filter(|text| text.contains("allow"))
        });
        assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
        if !profile.window {
            editor.wait_for_message(path);
        }
        stage.end(editor);
    }
}

#[test]
fn a_client_without_windows_is_asked_and_answers_all_the_same() {
    for profile in [Profile::VSCODE, Profile::UNKNOWN] {
        let profile = Profile { window: false, ..profile };
        let stage = Stage::new(
            "review",
            &[("a.txt", "one\n")],
            [bash("echo one"), bash("echo two"), bash("touch three"), say("Done.")],
        );
        let editor = stage.editor(profile);
        // A request that it knows nothing of is answered with an error.
        editor.ignore(&[Kind::Diagnostics, Kind::Dialog]);
        editor.open("a.txt");
        editor.prompt("run it");
        editor.wait_for_message("Ropewalk asks to run bash: echo one");
        let titles = editor.code_actions("a.txt", (0, 0), (0, 0));
        let titles: Vec<&str> = titles.iter().map(|action| action.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "Ropewalk: allow once",
                "Ropewalk: allow this session",
                "Ropewalk: always allow",
                "Ropewalk: refuse",
            ]
        );
        editor.execute("ropewalk.approve", json!({ "answer": "session" })).unwrap();
        editor.wait_for_message("Ropewalk asks to run bash: touch three");
        let actions = editor.code_actions("a.txt", (0, 0), (0, 0));
        assert_eq!(actions[0].title, "Ropewalk: allow once");
        editor.run(&actions[0]).unwrap();
        editor.wait_for_message("Done.");
        assert!(stage.path("three").exists());
        stage.end(editor);
    }
}

#[test]
fn a_plugin_gets_events_saves_and_shows_its_diagnostics() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            ScriptedReply::new().call("diagnostics", json!({})),
            edit("a.txt", "one", "two").expect_text("a.txt:1: error: it is one [lint]"),
            say("Done."),
        ],
    );
    let options = json!({ "events": true, "drawsHunks": true, "approvals": true, "plugin": true });
    let editor = stage.editor_with(Profile::VSCODE, options);
    editor.ignore(&[Kind::Progress]);
    editor.open("a.txt");
    let line = json!({ "uri": editor.uri("a.txt"), "line": 0, "severity": "error", "message": "it is one", "source": "lint" });
    editor.set_plugin_diagnostics(json!([line]));
    editor.prompt("Look and change");
    let end = editor.wait_for_turn_end();
    assert_eq!((end.stop_reason.as_str(), end.message), ("end_turn", None));
    let events = editor.events();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types.first(), Some(&"session_started"));
    assert_eq!(types.last(), Some(&"turn_ended"));
    let session = &events[0]["session"];
    assert!(session.is_string() && events.iter().all(|event| event["session"] == *session));
    let said: String = events
        .iter()
        .filter(|e| e["type"] == "text_delta")
        .map(|e| e["text"].as_str().unwrap())
        .collect();
    assert_eq!(said, "Done.");
    let hunks = events.iter().rfind(|event| event["type"] == "hunks").unwrap();
    assert_eq!(
        (&hunks["hunks"][0]["old"], &hunks["hunks"][0]["new"]),
        (&json!("one\n"), &json!("two\n"))
    );
    editor.ignore(&[Kind::Event]);
    stage.end(editor);
}

#[test]
fn two_clients_on_one_root_see_what_the_other_published_and_saved() {
    let stage = Stage::new(
        "auto",
        &[("a.txt", "one\n"), ("b.txt", "bee\n")],
        [
            read("b.txt").conversation("other"),
            say("seen").expect_text("bee").conversation("other"),
            edit("b.txt", "bee", "BEE"),
            say("written"),
            read("b.txt").conversation("other"),
            say("seen").expect_text("BEE").conversation("other"),
        ],
    );
    let one = stage.quiet_editor(Profile::VSCODE);
    let other = stage.quiet_editor(Profile::NEOVIM);
    other.open("b.txt");
    // A turn looks at the disk: what was opened only after the change would be unsaved text.
    assert_eq!(turn(&other, "Read b"), "end_turn");
    assert_eq!(turn(&one, "Change b"), "end_turn");
    assert_eq!(stage.disk("b.txt"), "BEE\n", "a file that is not open here is written");
    // Its buffer there is clean and old: the disk's newer text is what is read.
    assert_eq!(turn(&other, "Read b again"), "end_turn");
    one.shutdown();
    stage.end(other);
}

#[test]
fn a_prompt_brings_an_image_and_what_is_none_is_refused_in_words() {
    let is_shown = |body: &Value| {
        let shown = &body["messages"][0]["content"][1];
        let words = &body["messages"][0]["content"][2]["text"];
        match (shown["source"]["data"].as_str(), words.as_str()) {
            (Some("iVBORw0KGgo="), Some("the page: https://example.org")) => Ok(()),
            _ => Err(body["messages"].to_string()),
        }
    };
    let stage = Stage::new("review", &[], [say("A dot.").expect(is_shown)]);
    let file = stage.agent.folder("config").join("ropewalk/config.toml");
    let config = std::fs::read_to_string(&file).unwrap() + "images = true\n";
    std::fs::write(&file, config).unwrap();
    let editor = stage.quiet_editor(Profile::VSCODE);
    let image = json!({ "type": "image", "mime": "image/png", "data": "iVBORw0KGgo=" });
    let link = json!({ "type": "link", "uri": "https://example.org", "name": "the page" });
    for wrong in [json!("x"), json!([{ "type": "smell" }]), json!([{ "type": "image" }])] {
        let argument = json!({ "prompt": "What is it?", "content": wrong });
        let error = editor.execute("ropewalk.prompt", argument).unwrap_err();
        assert!(error.message.contains("wanted is { prompt, content?"), "{error}");
    }
    let argument = json!({ "prompt": "What is it?", "content": [image, link] });
    editor.execute("ropewalk.prompt", argument).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    stage.end(editor);
}
