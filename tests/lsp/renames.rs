//! Accepted renames of files that are open: where the client has the resource operation, its buffer follows; others
//! are told that it has the old name. Over the real binary, the model scripted.

use crate::support::stage::{QUIET, Stage, edit, edit_input, say, turn, until, wait_for_reviews};
use ropewalk_testkit::editor::{FakeEditor, Handling, Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";
const CHANGED: &str = "ONE\ntwo\nthree\nfour\nFIVE\n";

/// The name that `a.txt` gets.
const NEW: &str = "dö/b c.txt";

fn rename() -> ScriptedReply {
    ScriptedReply::new().call("move_file", json!({ "path": "a.txt", "to": NEW }))
}

/// A rename of `a.txt` with two changes of its text.
fn renamed() -> Stage {
    let replies = [
        rename()
            .call("edit_file", edit_input(NEW, "one", "ONE"))
            .call("edit_file", edit_input(NEW, "five", "FIVE")),
        say("Moved."),
        say("I see.").expect_text("And now?"),
    ];
    Stage::new("review", &[("a.txt", TEXT)], replies)
}

fn is_open(editor: &FakeEditor, name: &str) -> bool {
    let uri = editor.uri(name);
    editor.wait_for("the documents", |seen| Some(seen.client().open_uris().contains(&uri)))
}

/// The kinds of all changes that the server has asked for so far; `edit` for those of texts.
fn asked(editor: &FakeEditor) -> Vec<String> {
    let edits = editor.wait_for("the edits", |seen| Some(seen.take("workspace/applyEdit")));
    let kind = |edit: &Value| {
        let kind = edit["edit"]["documentChanges"][0]["kind"].as_str().unwrap_or("edit");
        kind.to_owned()
    };
    edits.iter().map(kind).collect()
}

fn hunks(editor: &FakeEditor) -> u64 {
    editor.execute("ropewalk.status", Value::Null).unwrap()["hunks"].as_u64().unwrap()
}

#[test]
fn the_buffer_follows_where_the_client_renames_and_comes_back_when_that_is_undone() {
    for profile in [Profile::VSCODE, Profile::HELIX] {
        let stage = renamed();
        let editor = stage.quiet_editor(profile);
        editor.open("a.txt");
        assert_eq!(turn(&editor, "Move it"), "end_turn");
        editor.execute("ropewalk.accept", Value::Null).unwrap();
        editor.wait_for("the file under its new name", |seen| {
            let uris = seen.client().open_uris();
            (uris.len() == 1 && uris[0].ends_with("b%20c.txt")).then_some(())
        });
        editor.wait_for_text(NEW, CHANGED);
        assert_eq!(asked(&editor), ["rename", "edit"], "{}", profile.name);
        // The disk has the name; the text is the editor's.
        assert_eq!(stage.disk(NEW), TEXT);
        assert!(!stage.path("a.txt").exists());
        until("all is accepted", || hunks(&editor) == 0);
        // Typed text follows the accepted change.
        editor.type_at(NEW, 2, 0, "typed ");
        editor.execute("ropewalk.undo", Value::Null).unwrap();
        // The text was taken back, and the file can't go with what the user has typed.
        editor.wait_for_text(NEW, "one\ntwo\ntyped three\nfour\nfive\n");
        assert!(!stage.path("a.txt").exists());
        editor.save(NEW);
        editor.execute("ropewalk.undo", Value::Null).unwrap();
        until("the file has its old name", || stage.path("a.txt").exists());
        editor.wait_for("the buffer", |seen| {
            let uris = seen.client().open_uris();
            (uris.len() == 1 && uris[0].ends_with("a.txt")).then_some(())
        });
        editor.wait_for_text("a.txt", "one\ntwo\ntyped three\nfour\nfive\n");
        assert!(!stage.path(NEW).exists());
        until("the folder that came with the new name is gone", || !stage.path("dö").exists());
        assert_eq!(asked(&editor), ["rename", "edit", "edit", "rename"]);
        assert_eq!(turn(&editor, "And now?"), "end_turn");
        stage.end(editor);
    }
}

#[test]
fn what_was_accepted_before_a_rename_is_undone_after_it() {
    for profile in [Profile::VSCODE, Profile::NEOVIM] {
        let follows = profile == Profile::VSCODE;
        for all in [false, true] {
            let replies = [
                edit("a.txt", "one", "ONE"),
                say("Louder."),
                rename(),
                say("Moved."),
                say("I see.").expect_text("undid a change of yours"),
            ];
            let stage = Stage::new("review", &[("a.txt", TEXT)], replies);
            let editor = stage.editor_with(profile, json!({ "events": true }));
            editor.ignore(QUIET);
            editor.open("a.txt");
            let louder = TEXT.replace("one", "ONE");
            assert_eq!(turn(&editor, "Louder"), "end_turn");
            editor.execute("ropewalk.accept", Value::Null).unwrap();
            editor.wait_for_text("a.txt", &louder);
            editor.save("a.txt");
            assert_eq!(turn(&editor, "Move it"), "end_turn");
            editor.execute("ropewalk.accept", Value::Null).unwrap();
            until("the file is renamed", || stage.path(NEW).exists());
            until("all is accepted", || hunks(&editor) == 0);
            if all {
                editor.execute("ropewalk.undo", json!({ "all": true })).unwrap();
                until("the file has its old name", || stage.path("a.txt").exists());
                editor.wait_for_text("a.txt", TEXT);
                assert!(!stage.path(NEW).exists());
            } else {
                editor.execute("ropewalk.undo", json!({ "turn": 1 })).unwrap();
                if follows {
                    editor.wait_for_text(NEW, TEXT);
                } else {
                    until("the text is undone on the disk", || stage.disk(NEW) == TEXT);
                }
                assert!(!stage.path("a.txt").exists());
            }
            wait_for_reviews(&editor, 3);
            assert_eq!(turn(&editor, "And?"), "end_turn");
            stage.end(editor);
        }
    }
}

#[test]
fn clients_that_don_t_rename_are_told_that_the_buffer_has_the_old_name() {
    for profile in [Profile::NEOVIM, Profile::EMACS, Profile::UNKNOWN] {
        let replies = [
            rename(),
            say("Moved."),
            say("I see.")
                .expect_text("a.txt is dö/b c.txt now, but the user's editor still has it open"),
        ];
        let stage = Stage::new("review", &[("a.txt", TEXT)], replies);
        let editor = stage.editor(profile);
        editor.ignore(&[Kind::Progress, Kind::Diagnostics, Kind::Message]);
        editor.open("a.txt");
        editor.prompt("Move it");
        editor.wait_for_message("Moved.");
        editor.execute("ropewalk.accept", Value::Null).unwrap();
        let told = editor.wait_for("the words", |seen| {
            let all = seen.messages().into_iter();
            all.map(|message| message.text).find(|text| text.contains("close that and open"))
        });
        assert!(told.contains("a.txt is dö/b c.txt now, but your editor"), "{told}");
        assert!(is_open(&editor, "a.txt") && !is_open(&editor, NEW));
        assert_eq!(stage.disk(NEW), TEXT);
        assert_eq!(asked(&editor), Vec::<String>::new(), "{}", profile.name);
        editor.prompt("And?");
        editor.wait_for_message("I see.");
        stage.end(editor);
    }
}

#[test]
fn unsaved_text_stays_where_it_is() {
    let stage = renamed();
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Move it"), "end_turn");
    editor.type_at("a.txt", 1, 0, "typed ");
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    editor.wait_for_message("unsaved text");
    assert_eq!((asked(&editor), hunks(&editor)), (vec![], 3));
    assert!(is_open(&editor, "a.txt") && !stage.path(NEW).exists());
    assert_eq!(turn(&editor, "And now?"), "end_turn");
    stage.end(editor);
}

#[test]
fn what_is_typed_while_the_editor_renames_goes_along() {
    let typed = "one\ntwo\ntyped three\nfour\nfive\n";
    // Before the editor takes the request, or right after it has opened the file anew.
    for before in [true, false] {
        let stage = renamed();
        let editor = stage.quiet_editor(Profile::VSCODE);
        editor.open("a.txt");
        assert_eq!(turn(&editor, "Move it"), "end_turn");
        editor.handle_edits(None);
        editor.execute("ropewalk.accept", Value::Null).unwrap();
        editor.wait_for("the request", |seen| seen.client().oldest().map(drop));
        // A look meanwhile takes nothing for gone.
        assert_eq!(hunks(&editor), 3);
        if before {
            editor.type_at("a.txt", 2, 0, "typed ");
        }
        editor.handle_edits(Some(Handling::Usual));
        if !before {
            editor.type_at(NEW, 2, 0, "typed ");
        }
        editor.wait_for_text(NEW, &typed.replace("one", "ONE").replace("five", "FIVE"));
        assert_eq!(turn(&editor, "And now?"), "end_turn");
        until("all is accepted", || hunks(&editor) == 0);
        stage.end(editor);
    }
}

#[test]
fn a_rename_that_the_editor_refuses_waits_on() {
    let stage = renamed();
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Move it"), "end_turn");
    editor.handle_edits(Some(Handling::Refused));
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    editor.wait_for_message("the editor did not make the edit: ␛[1mit is busy, says 日本");
    assert_eq!(hunks(&editor), 3);
    assert_eq!(stage.disk("a.txt"), TEXT);
    editor.handle_edits(Some(Handling::Usual));
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    editor.wait_for("the file under its new name", |seen| {
        seen.client().open_uris()[0].ends_with("b%20c.txt").then_some(())
    });
    editor.wait_for_text(NEW, CHANGED);
    assert_eq!(turn(&editor, "And now?"), "end_turn");
    stage.end(editor);
}

#[test]
fn after_a_crash_right_after_the_rename_it_is_known_and_undone() {
    let replies = [
        rename()
            .call("edit_file", edit_input(NEW, "one", "ONE"))
            .call("edit_file", edit_input(NEW, "five", "FIVE")),
        say("Moved."),
    ];
    let stage = Stage::new("review", &[("a.txt", TEXT)], replies);
    let editor = stage.quiet_editor(Profile::VSCODE);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "Move it"), "end_turn");
    editor.handle_edits(None);
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    editor.handle_next(Handling::MadeInSilence);
    let open = editor.kill_server();
    assert_eq!(open.len(), 1, "{open:?}");
    let editor = stage.editor_again(Profile::VSCODE, &open);
    editor.ignore(QUIET);
    editor.wait_for_message("“Move it”");
    until("the changes of the text wait", || hunks(&editor) == 2);
    editor.execute("ropewalk.undo", json!({ "all": true })).unwrap();
    until("the file has its old name", || stage.path("a.txt").exists());
    assert!(!stage.path(NEW).exists());
    stage.end(editor);
}
