//! Messages and questions of a server, shown to somebody who is typing in stock Neovim. They are
//! why nothing may be asked with `window/showMessageRequest`, and why even `window/showMessage`
//! costs keys unless it is an error. Observations; our own server isn't involved.

use crate::support::desk::Desk;
use serde_json::{Value, json};

/// A user in the middle of typing, with `typed` on the only line.
fn typing(typed: &str) -> Desk {
    let desk = Desk::open("");
    desk.nvim.feed("i");
    desk.nvim.wait_for("insert mode", |nvim| (nvim.mode() == "i").then_some(()));
    desk.type_until(typed, &[typed]);
    desk
}

/// Asks while the user types `keys`: the reply, and the lines afterwards.
fn ask_while_typing(before: &str, keys: &str) -> (Value, Vec<String>) {
    let desk = typing(before);
    let question = desk.probe.ask(
        "window/showMessageRequest",
        &json!({
            "type": 2,
            "message": "Run rm -r build?",
            "actions": [{ "title": "Allow" }, { "title": "Deny" }]
        }),
    );
    desk.nvim.wait_for_screen("Run rm -r build?");
    desk.nvim.feed(keys);
    let answer = desk.probe.wait_reply(question).message;
    (answer, desk.nvim.lines())
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_end_of_a_typed_line_allows_what_nobody_was_asked_about_and_is_lost() {
    let (answer, lines) = ask_while_typing("x = ", "1<CR>");
    assert_eq!(answer["result"], json!({ "title": "Allow" }));
    assert_eq!(lines, ["x = "]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_typed_line_that_does_not_begin_with_a_number_refuses_and_is_lost() {
    let (answer, lines) = ask_while_typing("y", "x = 1<CR>");
    assert_eq!(answer["result"], Value::Null);
    assert_eq!(lines, ["y"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_warning_or_information_halts_the_typist_and_takes_keys() {
    for kind in [2, 3, 4] {
        let desk = typing("let ");
        desk.probe.notify("window/showMessage", &json!({ "type": kind, "message": "approve?" }));
        desk.nvim.wait_for("a prompt to press Enter", |nvim| nvim.blocked().then_some(()));
        desk.nvim.wait_for_screen("Press ENTER");
        desk.nvim.feed("k = 1");
        desk.nvim.wait_for_lines(&["let = 1"]);
    }
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_error_message_of_one_line_leaves_the_typist_alone() {
    let desk = typing("let ");
    desk.probe.notify("window/showMessage", &json!({ "type": 1, "message": "approve?" }));
    desk.nvim.wait_for("the message", |nvim| nvim.messages().contains("approve?").then_some(()));
    desk.type_until("k = 1", &["let k = 1"]);
    assert_eq!(desk.nvim.mode(), "i");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_error_message_that_needs_a_second_line_halts_the_typist() {
    for text in ["two\nlines".to_owned(), "wide ".repeat(60)] {
        let desk = typing("let ");
        desk.probe.notify("window/showMessage", &json!({ "type": 1, "message": text }));
        desk.nvim.wait_for("a prompt to press Enter", |nvim| nvim.blocked().then_some(()));
    }
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_logged_message_is_not_shown_at_all() {
    let desk = typing("let ");
    desk.probe.notify("window/logMessage", &json!({ "type": 3, "message": "two\nlines" }));
    desk.probe.request("workspace/workspaceFolders", &Value::Null);
    desk.type_until("k = 1", &["let k = 1"]);
    assert_eq!(desk.nvim.messages(), "");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn progress_and_diagnostics_leave_the_typist_alone() {
    let desk = typing("let ");
    desk.probe.request("window/workDoneProgress/create", &json!({ "token": 1 }));
    let begin = json!({ "kind": "begin", "title": "ropewalk", "message": "fix it" });
    desk.probe.notify("$/progress", &json!({ "token": 1, "value": begin }));
    desk.probe.notify(
        "textDocument/publishDiagnostics",
        &json!({
            "uri": crate::support::probe::uri(&desk.path),
            "diagnostics": [{
                "range": crate::support::probe::edit((0, 0), (0, 3), "")["range"],
                "severity": 3,
                "message": "a pending hunk"
            }]
        }),
    );
    // Answered only after the two before it.
    desk.probe.request("workspace/workspaceFolders", &Value::Null);
    desk.type_until("k = 1", &["let k = 1"]);
    assert_eq!(desk.nvim.mode(), "i");
}
