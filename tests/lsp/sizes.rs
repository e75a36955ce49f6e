//! More than anyone types: ten thousand changes at once, a text of 64 megabytes.

use crate::support::stage::{Stage, edit, read, say, turn};
use ropewalk_testkit::editor::{FakeEditor, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};

/// Opens a document as the wire has it: the fake editor keeps no text of its own.
fn open_raw(editor: &FakeEditor, name: &str, text: &str) {
    let document =
        json!({ "uri": editor.uri(name), "languageId": "text", "version": 0, "text": text });
    editor.notify("textDocument/didOpen", &json!({ "textDocument": document }));
}

#[test]
fn ten_thousand_changes_in_one_write_end_in_the_right_text() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "")],
        [read("a.txt"), say("read").expect_text("9999 😀").expect_text("    10\t")],
    );
    let editor = stage.quiet_editor(Profile::VSCODE);
    let uri = editor.uri("a.txt");
    open_raw(&editor, "a.txt", "");
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
    assert_eq!(turn(&editor, "read"), "end_turn");
    let status = editor.execute("ropewalk.status", Value::Null).unwrap();
    assert_eq!(status["desyncAlarms"], 0);
    stage.end(editor);
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
    let editor = stage.quiet_editor(Profile::VSCODE);
    open_raw(&editor, "big.txt", &text);
    let at = |character: u32| json!({ "line": last, "character": character });
    let change = json!({ "range": { "start": at(4), "end": at(10) }, "text": "NEEDLE" });
    editor.notify("textDocument/didChange", &json!({ "textDocument": { "uri": editor.uri("big.txt"), "version": 1 }, "contentChanges": [change] }));
    editor.execute("ropewalk.prompt", json!("Find it")).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    let shown = editor.diagnostics("big.txt");
    assert_eq!(shown[0]["range"]["start"]["line"], last, "{shown:?}");
    stage.end(editor);
}
