//! Turns that go wrong: models that refuse, can't be reached or die, clients that don't answer or go away.

use crate::support::agent::Agent;
use crate::support::stage::{QUIET, Stage, bash, edit, say, turn};
use ropewalk_testkit::editor::{Handling, Kind, Profile};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use ropewalk_testkit::planted;
use serde_json::Value;

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
            let editor = stage.quiet_editor(profile);
            assert_eq!(turn(&editor, "hello"), "error");
            let said = editor.wait_for_message(words);
            assert!(!said.text.contains('\n') && !said.text.contains(planted::MARK), "{said:?}");
            assert_eq!(turn(&editor, "and now?"), "end_turn");
            editor.wait_for_message("Better.");
            stage.end(editor);
        }
    }
}

#[test]
fn a_reply_that_breaks_off_is_asked_for_again_and_not_shown_twice() {
    let broken = ScriptedReply::new().text("I was about").drop_at(ReplyPlace::End);
    let stage = Stage::new("review", &[], [broken, say("Better."), say("Still there.")]);
    let editor = stage.editor(Profile::VSCODE);
    assert_eq!(turn(&editor, "hello"), "end_turn");
    let reports = editor.progress();
    assert!(
        reports.iter().any(|p| p.message.contains("cut off") && p.message.contains("try 2")),
        "{reports:?}"
    );
    assert_eq!(editor.wait_for_message("Better.").text, "Better.");
    assert_eq!(turn(&editor, "and now?"), "end_turn");
    editor.wait_for_message("Still there.");
    stage.end(editor);
}

#[test]
fn a_model_server_that_dies_mid_stream_is_said_to_be_gone() {
    let stage = Stage::new(
        "review",
        &[],
        [ScriptedReply::new().text("I was").gate(ReplyPlace::End, "never")],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.prompt("hello");
    stage.agent.model.wait_until_reached_blocking("never");
    let host = stage.agent.model.base_url().replace("http://", "");
    let Stage { agent, folder } = stage;
    let Agent { model, .. } = agent;
    drop(model);
    // Its answer is asked for again; that nobody is there any more is said at once.
    assert_eq!(editor.wait_for_turn_end().stop_reason, "error");
    editor.wait_for_message(&format!("{host} cannot be reached, because nothing listens there"));
    editor.shutdown();
    drop(folder);
}

#[test]
fn a_missing_key_and_no_model_at_all_are_said_in_the_editor() {
    let stage = Stage::new("review", &[], []);
    let no_key = [(planted::VARIABLE, String::new())];
    let editor = stage.editor_in(Profile::VSCODE, &[stage.folder.path()], Value::Null, &no_key);
    editor.ignore(QUIET);
    assert_eq!(turn(&editor, "hello"), "error");
    editor.wait_for_message(planted::VARIABLE);
    editor.shutdown();
    // The server of the test minds a missing key, as it must.
    stage.agent.model.finish().unwrap_err();
    stage.agent.configure("");
    let no_key = [("ANTHROPIC_API_KEY", String::new())];
    let editor = stage.editor_in(Profile::NEOVIM, &[stage.folder.path()], Value::Null, &no_key);
    editor.ignore(QUIET);
    assert_eq!(turn(&editor, "hello"), "error");
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
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    // The echo is the proof; the answer never comes.
    editor.handle_edits(Some(Handling::MadeInSilence));
    assert_eq!(turn(&editor, "go"), "end_turn");
    assert_eq!(editor.text("a.txt"), "two\n");
    editor.handle_edits(Some(Handling::Refused));
    assert_eq!(turn(&editor, "go on"), "end_turn");
    assert_eq!(editor.text("a.txt"), "two\n");
    stage.end(editor);
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
    assert_eq!(turn(&editor, "go"), "end_turn");
    editor.wait_for_message("not confirmed");
    editor.wait_for_message("told");
    stage.end(editor);
}

#[test]
fn a_client_that_goes_away_mid_turn_ends_the_server() {
    let stage = Stage::new(
        "review",
        &[],
        [ScriptedReply::new().text("and").gate(ReplyPlace::End, "never")],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.prompt("go");
    stage.agent.model.wait_until_reached_blocking("never");
    assert_eq!(editor.hang_up(), Some(1));
    // And while a command waits for an answer.
    let stage = Stage::new("review", &[], [bash("true")]);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.ignore(&[Kind::Dialog]);
    editor.prompt("go");
    editor.wait_for("the question", |seen| (!seen.dialogs().is_empty()).then_some(()));
    assert_eq!(editor.hang_up(), Some(1));
}
