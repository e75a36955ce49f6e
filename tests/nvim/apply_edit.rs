//! Stock Neovim under each kind of `workspace/applyEdit`, one test for each row of the table of
//! client habits. Observations; our own server isn't involved.

use crate::support::desk::{Desk, disk};
use crate::support::nvim::Server;
use crate::support::probe::{Document, Probe, document_edits, edit, uri};
use serde_json::{Value, json};

fn applied() -> Value {
    json!({ "applied": true })
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_stale_edit_is_skipped_and_called_applied() {
    let desk = Desk::open("one\n");
    let version = desk.prime();
    desk.type_until("Omine<Esc>", &["mine", "one"]);
    assert_eq!(desk.apply(version, &[edit((0, 0), (0, 3), "ONE")]), applied());
    assert_eq!(desk.nvim.lines(), ["mine", "one"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_edit_without_a_version_is_applied() {
    let desk = Desk::open("one\n");
    desk.prime();
    desk.type_until("Omine<Esc>", &["mine", "one"]);
    assert_eq!(desk.apply(Value::Null, &[edit((1, 0), (1, 3), "ONE")]), applied());
    assert_eq!(desk.nvim.lines(), ["mine", "ONE"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_edit_for_a_version_yet_to_come_is_applied() {
    let desk = Desk::open("one\n");
    let version = desk.prime();
    assert_eq!(desk.apply(version + 1000, &[edit((0, 0), (0, 3), "ONE")]), applied());
    assert_eq!(desk.nvim.lines(), ["ONE"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn only_the_first_entry_is_checked_and_a_stale_later_one_is_applied() {
    let desk = Desk::open("one\n");
    let version = desk.prime();
    desk.type_until("Omine<Esc>", &["mine", "one"]);
    let other = desk.write("other.txt", "other\n");
    let result = desk.apply_changes(&[
        document_edits(&other, Value::Null, &[edit((0, 0), (0, 5), "OTHER")]),
        document_edits(&desk.path, version, &[edit((0, 0), (0, 3), "ONE")]),
    ]);
    assert_eq!(result, applied());
    assert_eq!(desk.nvim.lines(), ["ONEe", "one"], "the user's line is hit");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_stale_first_entry_does_not_hold_back_the_others() {
    let desk = Desk::open("one\n");
    let version = desk.prime();
    desk.type_until("Omine<Esc>", &["mine", "one"]);
    let other = desk.write("other.txt", "other\n");
    let result = desk.apply_changes(&[
        document_edits(&desk.path, version, &[edit((0, 0), (0, 3), "ONE")]),
        document_edits(&other, Value::Null, &[edit((0, 0), (0, 5), "OTHER")]),
    ]);
    assert_eq!(result, applied());
    assert_eq!(desk.nvim.lines(), ["mine", "one"]);
    assert_eq!(desk.nvim.lines_of(&other).unwrap(), ["OTHER"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_request_for_confirmation_is_ignored() {
    let desk = Desk::open("one\n");
    let mut annotated = edit((0, 0), (0, 3), "ONE");
    annotated["annotationId"] = json!("ask");
    let result = desk.probe.apply(&json!({
        "documentChanges": [document_edits(&desk.path, 0, &[annotated])],
        "changeAnnotations": { "ask": { "label": "Ask first", "needsConfirmation": true } }
    }));
    assert_eq!(result, applied());
    assert_eq!(desk.nvim.lines(), ["ONE"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_file_that_is_not_open_becomes_a_modified_hidden_buffer() {
    let desk = Desk::open("one\n");
    let other = desk.write("other.txt", "other\n");
    let mark = desk.probe.mark();
    let result = desk.apply_changes(&[document_edits(
        &other,
        Value::Null,
        &[edit((0, 0), (0, 5), "OTHER")],
    )]);
    assert_eq!(result, applied());
    assert_eq!(desk.nvim.lines_of(&other).unwrap(), ["OTHER"]);
    assert!(desk.nvim.modified(&other));
    assert_eq!(disk(&other), "other\n");
    let hidden: bool = desk.nvim.lua(
        "return vim.fn.getbufinfo(vim.fn.bufnr(...))[1].hidden == 1 \
         or #vim.fn.win_findbuf(vim.fn.bufnr(...)) == 0",
        json!([other]),
    );
    assert!(hidden);
    // A client started for one buffer says nothing of the new one, not even later.
    desk.probe.request("workspace/workspaceFolders", &Value::Null);
    let opened = |m: &Value| m["method"] == "textDocument/didOpen";
    assert!(!desk.probe.log().iter().skip(mark).any(|r| opened(&r.message)));
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_enabled_client_is_told_of_a_file_that_an_edit_opens() {
    let desk = Desk::open("one\n");
    let other = desk.write("other.txt", "other\n");
    let probe = Probe::listen(&json!({}));
    desk.nvim.enable_client("second", &Server::Port(probe.port()), desk.folder.path(), json!({}));
    probe.wait_open(&desk.path);
    let edits = [document_edits(&other, Value::Null, &[edit((0, 0), (0, 5), "OTHER")])];
    assert_eq!(probe.apply(&json!({ "documentChanges": edits })), applied());
    probe.wait_text(&other, "OTHER\n");
    assert_eq!(disk(&other), "other\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn creating_a_file_that_exists_truncates_it() {
    let desk = Desk::open("one\n");
    let other = desk.write("other.txt", "other\n");
    let result = desk.apply_changes(&[json!({ "kind": "create", "uri": uri(&other) })]);
    assert_eq!(result, applied());
    assert_eq!(disk(&other), "");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn creating_with_ignore_if_exists_creates_nothing_on_disk() {
    let desk = Desk::open("one\n");
    let other = desk.file("other.txt");
    let result = desk.apply_changes(&[json!({
        "kind": "create", "uri": uri(&other), "options": { "ignoreIfExists": true }
    })]);
    assert_eq!(result, applied());
    assert!(!other.exists());
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn renaming_an_open_modified_file_writes_it_and_closes_and_opens() {
    let desk = Desk::open_debounced("one\n", &json!({}));
    desk.type_until("Omine<Esc>", &["mine", "one"]);
    let mark = desk.probe.mark();
    let other = desk.file("other.txt");
    let result = desk.apply_changes(&[json!({
        "kind": "rename", "oldUri": uri(&desk.path), "newUri": uri(&other)
    })]);
    assert_eq!(result, applied());
    assert!(!desk.path.exists());
    assert_eq!(disk(&other), "mine\none\n", "what the user had not saved is on disk");
    assert_eq!(desk.probe.wait_open(&other), Document { version: 0, text: "mine\none\n".into() });
    let log = desk.probe.log();
    let told: Vec<_> = log[mark..]
        .iter()
        .filter(|r| r.message.get("method").is_some())
        .map(|r| (&r.message["method"], &r.message["params"]["textDocument"]["uri"]))
        .map(|(method, uri)| (method.as_str().unwrap(), uri.as_str().unwrap().to_owned()))
        .collect();
    // The user's queued line comes first, under the new name, which is not open yet.
    assert_eq!(
        told,
        [
            ("textDocument/didChange", uri(&other)),
            ("textDocument/didClose", uri(&desk.path)),
            ("textDocument/didOpen", uri(&other)),
            ("textDocument/didSave", uri(&other)),
        ]
    );
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_edit_before_a_failing_delete_stays() {
    let desk = Desk::open("one\n");
    let missing = desk.file("missing.txt");
    let result = desk.apply_changes(&[
        document_edits(&desk.path, 0, &[edit((0, 0), (0, 3), "ONE")]),
        json!({ "kind": "delete", "uri": uri(&missing) }),
    ]);
    assert_eq!(result["applied"], false);
    assert!(result["failureReason"].is_string(), "{result}");
    assert_eq!(desk.nvim.lines(), ["ONE"]);
}
