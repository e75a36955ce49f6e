//! Changes that can't be read: the file is left alone and the user is told how it is known again, in every client.

use crate::support::stage::{QUIET, Stage, edit, read, say, turn};
use ropewalk_testkit::editor::{FakeEditor, Profile};
use serde_json::{Value, json};

const WORDS: &str = "a change of a.txt could not be read";

/// didChange with one content change.
fn tell(editor: &FakeEditor, version: &Value, range: &Value, text: &Value) {
    let document = json!({ "uri": editor.uri("a.txt"), "version": version });
    let changes = json!([{ "range": range, "text": text }]);
    let params = json!({ "textDocument": document, "contentChanges": changes });
    editor.notify("textDocument/didChange", &params);
}

fn range(start: (i64, i64), end: (i64, i64)) -> Value {
    let place = |(line, character)| json!({ "line": line, "character": character });
    json!({ "start": place(start), "end": place(end) })
}

#[test]
fn a_file_is_left_alone_until_it_is_saved() {
    let bad = [
        (json!(5), range((-1, 0), (0, 0)), json!("x")),
        (json!(5), json!("0:0-0:1"), json!("x")),
        (json!(5), range((0, 0), (0, 0)), Value::Null),
        (json!("5"), range((0, 0), (0, 0)), json!("x")),
        (json!(5), range((1, 0), (0, 0)), json!("reversed")),
    ];
    for (profile, (version, at, text)) in
        [Profile::VSCODE, Profile::NEOVIM, Profile::NEOVIM_PLUGIN, Profile::HELIX, Profile::UNKNOWN]
            .into_iter()
            .zip(bad)
    {
        let stage = Stage::new(
            "auto",
            &[("a.txt", "one\ntwo\n")],
            [
                read("a.txt").expect_text("first"),
                edit("a.txt", "one", "1").expect_text("could not be read"),
                say("So be it.").expect_text("could not be read"),
                read("a.txt").expect_text("second"),
                say("I see.").expect_text("what was lost"),
            ],
        );
        let editor = stage.quiet_editor(profile);
        editor.open("a.txt");
        tell(&editor, &version, &at, &text);
        let said = editor.wait_for_message(WORDS).text;
        assert!(said.contains("Save it, or close it and open it again"), "{said}");
        assert_eq!(turn(&editor, "first"), "end_turn");
        assert_eq!(editor.text("a.txt"), "one\ntwo\n", "nothing was made on it");
        // The editor shows what nobody could read, and writes it.
        stage.write("a.txt", "one\nwhat was lost\ntwo\n");
        editor.notify(
            "textDocument/didSave",
            &json!({ "textDocument": { "uri": editor.uri("a.txt") } }),
        );
        assert_eq!(turn(&editor, "second"), "end_turn");
        let status = editor.execute("ropewalk.status", Value::Null).unwrap();
        assert_eq!(status["desyncAlarms"], 1, "{status}");
        stage.end(editor);
    }
}

#[test]
fn what_waits_for_review_is_not_accepted_into_it_until_it_is_opened_anew() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\ntwo\n")],
        [edit("a.txt", "one", "1"), say("Proposed.")],
    );
    let editor = stage.editor(Profile::VSCODE);
    editor.ignore(QUIET);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "edit"), "end_turn");
    tell(&editor, &json!(9), &json!([]), &json!("x"));
    editor.wait_for_message(WORDS);
    editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
    editor.wait_for_message("save it, or close it and open it again, then accept again");
    assert_eq!(editor.text("a.txt"), "one\ntwo\n");
    editor.close("a.txt");
    editor.open("a.txt");
    editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
    editor.wait_for_text("a.txt", "1\ntwo\n");
    stage.end(editor);
}
