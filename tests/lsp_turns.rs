//! Turns through the protocol, going well and going wrong: progress and its cancel button, approvals in each
//! client's way, events, models that can't be reached or die, clients that don't answer or go away, big texts.

#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests may be blunt"
)]

#[cfg(test)]
#[allow(
    clippy::allow_attributes,
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part"
)]
mod support;

use ropewalk_testkit::editor::{Dialog, FakeEditor, Handling, Kind, Profile};
use ropewalk_testkit::model::{Place, ScriptedReply};
use serde_json::{Value, json};
use support::stage::{Stage, edit, say};

const QUIET: &[Kind] = &[Kind::Progress, Kind::Diagnostics, Kind::Message, Kind::Log, Kind::Event];

fn bash(command: &str) -> ScriptedReply {
    ScriptedReply::new().call("bash", json!({ "command": command }))
}

/// A change of the user's configuration file.
fn configure(stage: &Stage, change: impl Fn(&str) -> String) {
    let variables = stage.agent.environment();
    let (_, folder) = variables.iter().find(|(name, _)| *name == "XDG_CONFIG_HOME").unwrap();
    let file = std::path::Path::new(folder).join("ropewalk/config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, change(&text)).unwrap();
}

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
    assert_eq!(shown, [("begin", "Change it"), ("report", "edit_file a.txt"), ("end", "end_turn")]);
    assert!(progress.iter().all(|part| part.token == progress[0].token));
    assert_eq!(editor.wait_for_message("Done.").level, 3);
    editor.shutdown();
    stage.agent.model.finish().unwrap();
}

#[test]
fn the_cancel_button_stops_the_turn_and_the_next_prompt_works() {
    let stage = Stage::new(
        "review",
        &[],
        [
            ScriptedReply::new().text("I think about").gate(Place::End, "never").expect_text("go"),
            say("Again."),
        ],
    );
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    editor.prompt("go");
    stage.agent.model.wait_until_reached_blocking("never");
    let token =
        editor.wait_for("the progress", |seen| seen.progress().first().map(|p| p.token.clone()));
    editor.notify("window/workDoneProgress/cancel", &json!({ "token": "somebody's" }));
    editor.notify("window/workDoneProgress/cancel", &json!({ "token": 7 }));
    editor.notify("window/workDoneProgress/cancel", &json!({ "token": token }));
    assert_eq!(editor.wait_for_turn_end().stop_reason, "interrupted");
    editor.prompt("once more");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    editor.shutdown();
    stage.agent.model.finish().unwrap();
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
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "unsaved ");
    editor.prompt("run it");
    let Dialog { message, actions, .. } = editor.answer_dialog("Refuse");
    assert_eq!(actions[..2], ["Refuse", "Allow once"]);
    assert!(
        actions[2].starts_with("Allow ") && actions[2].ends_with(" for this session"),
        "{actions:?}"
    );
    assert!(message.contains("echo ran > ran.txt") && message.contains("a.txt"), "{message}");
    // Closing the dialog answers nothing; the command does.
    editor.dismiss_dialog();
    assert!(!stage.path("ran.txt").exists());
    editor.execute("ropewalk.approve", json!("once")).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(stage.disk("ran.txt"), "ran\n");
    editor.shutdown();
    stage.agent.model.finish().unwrap();
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
        let asked = editor.wait_for_message("waits");
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
        editor.shutdown();
        stage.agent.model.finish().unwrap();
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
    assert_eq!(types.first(), Some(&"turn_started"));
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
    editor.shutdown();
    stage.agent.model.finish().unwrap();
}

#[test]
fn two_clients_on_one_root_see_what_the_other_published_and_saved() {
    let stage = Stage::new(
        "auto",
        &[("a.txt", "one\n"), ("b.txt", "bee\n")],
        [
            edit("b.txt", "bee", "BEE"),
            say("written"),
            ScriptedReply::new()
                .call("read_file", json!({ "path": "b.txt" }))
                .conversation("other"),
            say("seen").expect_text("BEE").conversation("other"),
        ],
    );
    let one = stage.editor(Profile::VSCODE);
    let other = stage.editor(Profile::NEOVIM);
    one.ignore(QUIET);
    other.ignore(QUIET);
    other.open("b.txt");
    one.prompt("Change b");
    one.wait_for_turn_end();
    assert_eq!(stage.disk("b.txt"), "BEE\n", "a file that is not open here is written");
    // Its buffer there is clean and old: the disk's newer text is what is read.
    other.prompt("Read b");
    other.wait_for_turn_end();
    one.shutdown();
    other.shutdown();
    stage.agent.model.finish().unwrap();
}

#[test]
fn what_is_wrong_with_the_model_is_one_clear_sentence_and_the_next_prompt_works() {
    let cases = [
        (401, "authentication_error", "invalid x-api-key", "refuses the API key"),
        (404, "not_found_error", "model: scripted", "knows no model"),
        (403, "permission_error", "no credit", "no credit"),
    ];
    for profile in [Profile::VSCODE, Profile::NEOVIM] {
        for (code, kind, message, words) in cases {
            let replies = [ScriptedReply::refusal(code, kind, message), say("Better.")];
            let stage = Stage::new("review", &[], replies);
            let editor = stage.editor(profile);
            editor.ignore(QUIET);
            editor.prompt("hello");
            assert_eq!(editor.wait_for_turn_end().stop_reason, "error");
            let said = editor.wait_for_message(words);
            assert!(!said.text.contains('\n') && !said.text.contains("scripted-key"), "{said:?}");
            editor.prompt("and now?");
            assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
            editor.wait_for_message("Better.");
            editor.shutdown();
            stage.agent.model.finish().unwrap();
        }
    }
}

#[test]
fn a_reply_that_breaks_off_is_asked_for_again_and_not_shown_twice() {
    let broken = ScriptedReply::new().text("I was about").drop_at(Place::End);
    let stage = Stage::new("review", &[], [broken, say("Better."), say("Still there.")]);
    let editor = stage.editor(Profile::VSCODE);
    editor.prompt("hello");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    let reports = editor.progress();
    assert!(
        reports.iter().any(|p| p.message.contains("cut off") && p.message.contains("try 2")),
        "{reports:?}"
    );
    assert_eq!(editor.wait_for_message("Better.").text, "Better.");
    editor.prompt("and now?");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    editor.wait_for_message("Still there.");
    editor.shutdown();
    stage.agent.model.finish().unwrap();
}

#[test]
fn a_model_server_that_dies_mid_stream_is_said_and_can_be_waited_for_or_stopped() {
    let stage =
        Stage::new("review", &[], [ScriptedReply::new().text("I was").gate(Place::End, "never")]);
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    editor.prompt("hello");
    stage.agent.model.wait_until_reached_blocking("never");
    let host = stage.agent.model.base_url().replace("http://", "");
    let Stage { agent, folder } = stage;
    let support::agent::Agent { model, .. } = agent;
    drop(model);
    let said = editor.wait_for("the failure", |seen| {
        seen.progress()
            .into_iter()
            .find(|p| p.message.contains(&format!("{host} cannot be reached")))
    });
    assert!(said.message.contains("try "), "{said:?}");
    editor.execute("ropewalk.interrupt", Value::Null).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "interrupted");
    editor.shutdown();
    drop(folder);
}

#[test]
fn a_missing_key_and_no_model_at_all_are_said_in_the_editor() {
    let stage = Stage::new("review", &[], []);
    let no_key = [("ROPEWALK_TEST_KEY", String::new())];
    let editor = stage.editor_in(Profile::VSCODE, &[stage.folder.path()], Value::Null, &no_key);
    editor.ignore(QUIET);
    editor.prompt("hello");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "error");
    editor.wait_for_message("ROPEWALK_TEST_KEY");
    editor.shutdown();
    // The server of the test minds a missing key, as it must.
    stage.agent.model.finish().unwrap_err();
    configure(&stage, |_| String::new());
    let editor = stage.editor(Profile::NEOVIM);
    editor.ignore(QUIET);
    editor.prompt("hello");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "error");
    editor.wait_for_message("No model is set up");
    editor.shutdown();
}

#[test]
fn an_edit_that_is_made_in_silence_or_refused_is_told_as_it_was() {
    let stage = Stage::new(
        "auto",
        &[("a.txt", "one\n")],
        [
            edit("a.txt", "one", "two"),
            say("first").expect_no_text("Not in the user's text"),
            edit("a.txt", "two", "three"),
            say("second").expect_text("did not make the edit"),
        ],
    );
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    editor.open("a.txt");
    // The echo is the proof; the answer never comes.
    editor.handle_edits(Some(Handling::MadeInSilence));
    editor.prompt("go");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(editor.text("a.txt"), "two\n");
    editor.handle_edits(Some(Handling::Refused));
    editor.prompt("go on");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(editor.text("a.txt"), "two\n");
    editor.shutdown();
    stage.agent.model.finish().unwrap();
}

#[test]
fn a_client_that_never_answers_leaves_the_edit_unconfirmed_and_said() {
    let stage = Stage::new(
        "auto",
        &[("a.txt", "one\n")],
        [edit("a.txt", "one", "two"), say("told").expect_text("not confirmed")],
    );
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(&[Kind::Progress, Kind::Diagnostics]);
    editor.open("a.txt");
    editor.handle_edits(Some(Handling::Ignored));
    editor.prompt("go");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    editor.wait_for_message("not confirmed");
    editor.wait_for_message("told");
    editor.shutdown();
    stage.agent.model.finish().unwrap();
}

#[test]
fn a_client_that_goes_away_mid_turn_ends_the_server() {
    let stage =
        Stage::new("review", &[], [ScriptedReply::new().text("and").gate(Place::End, "never")]);
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    editor.prompt("go");
    stage.agent.model.wait_until_reached_blocking("never");
    assert_eq!(editor.hang_up(), Some(1));
    // And while a command waits for an answer.
    let stage = Stage::new("review", &[], [bash("true")]);
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    editor.ignore(&[Kind::Dialog]);
    editor.prompt("go");
    editor.wait_for("the question", |seen| (!seen.dialogs().is_empty()).then_some(()));
    assert_eq!(editor.hang_up(), Some(1));
}

#[test]
fn ten_thousand_changes_in_one_write_end_in_the_right_text() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "")],
        [
            ScriptedReply::new().call("read_file", json!({ "path": "a.txt" })),
            say("read").expect_text("9999 😀").expect_text("    10\t"),
        ],
    );
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    let uri = editor.uri("a.txt");
    editor.notify(
        "textDocument/didOpen",
        &json!({ "textDocument": { "uri": uri, "languageId": "text", "version": 0, "text": "" } }),
    );
    let changes: Vec<(&str, Value)> = (0..10_000)
        .map(|n| {
            // Ten lines, each replaced a thousand times.
            let (line, column) = (n % 10, if n < 10 { 0 } else { 40 });
            let text = if n < 10 { format!("{n:04} 😀\n") } else { format!("{n:04}") };
            let start = json!({ "line": line, "character": 0 });
            let end = json!({ "line": line, "character": if column == 0 { 0 } else { 4 } });
            let change = json!({ "range": { "start": start, "end": end }, "text": text });
            ("textDocument/didChange", json!({ "textDocument": { "uri": uri, "version": n + 1 }, "contentChanges": [change] }))
        })
        .collect();
    editor.notify_together(&changes);
    editor.prompt("read");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    let status = editor.execute("ropewalk.status", Value::Null).unwrap();
    assert_eq!(status["desyncAlarms"], 0);
    editor.shutdown();
    stage.agent.model.finish().unwrap();
}

fn open_raw(editor: &FakeEditor, name: &str, text: &str) {
    let document =
        json!({ "uri": editor.uri(name), "languageId": "text", "version": 0, "text": text });
    editor.notify("textDocument/didOpen", &json!({ "textDocument": document }));
}

#[test]
fn sixty_four_megabytes_open_are_edited_and_searched() {
    let line = "a line of text that is not very long, like most of them\n";
    let mut text = line.repeat((64 << 20) / line.len());
    text.push_str("the needle at the end\n");
    let last = text.lines().count() - 1;
    let stage = Stage::new(
        "review",
        &[],
        [
            ScriptedReply::new().call("grep", json!({ "pattern": "NEEDLE", "path": "big.txt" })),
            edit("big.txt", "the NEEDLE at the end", "the thread at the end")
                .expect_text(format!("{}", last + 1)),
            say("Done."),
        ],
    );
    stage.write("big.txt", "");
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    open_raw(&editor, "big.txt", &text);
    let at = |character: u32| json!({ "line": last, "character": character });
    let change = json!({ "range": { "start": at(4), "end": at(10) }, "text": "NEEDLE" });
    editor.notify("textDocument/didChange", &json!({ "textDocument": { "uri": editor.uri("big.txt"), "version": 1 }, "contentChanges": [change] }));
    editor.execute("ropewalk.prompt", json!("Find it")).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    let shown = editor.diagnostics("big.txt");
    assert_eq!(shown[0]["range"]["start"]["line"], last, "{shown:?}");
    editor.shutdown();
    stage.agent.model.finish().unwrap();
}
