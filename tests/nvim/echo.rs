//! How changes look when stock Neovim tells a server about them: our own edits, the user's undo,
//! filters and reloads, and a carriage return inside a line. Observations; our own server isn't
//! involved.

use crate::support::desk::Desk;
use crate::support::nvim::Server;
use crate::support::probe::{Document, Probe, edit};
use serde_json::json;

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_echo_of_an_edit_is_made_small() {
    let desk = Desk::open_debounced("let foo = 1\n", &json!({}));
    desk.apply(0, &[edit((0, 4), (0, 7), "foX")]);
    assert_eq!(desk.flushed_changes(), [edit((0, 6), (0, 7), "X")]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn one_notification_carries_the_users_key_our_edit_and_the_users_undo() {
    let desk = Desk::open_debounced("one\ntwo\n", &json!({}));
    desk.type_until("Ax<Esc>", &["onex", "two"]);
    desk.apply(0, &[edit((1, 0), (1, 3), "TWO")]);
    desk.type_until("u", &["onex", "two"]);
    assert_eq!(
        desk.flushed_changes(),
        [edit((0, 3), (0, 3), "x"), edit((1, 0), (1, 3), "TWO"), edit((1, 0), (1, 3), "two")]
    );
    assert_eq!(desk.document().text, "onex\ntwo\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_filter_over_the_buffer_arrives_as_new_lines_and_then_deleted_old_ones() {
    let desk = Desk::open_debounced("b\na\nc\n", &json!({}));
    desk.type_until(":%!sort<CR>", &["a", "b", "c"]);
    let changes = desk.flushed_changes();
    assert_eq!(changes, [edit((2, 1), (3, 0), "\na\nb\nc\n"), edit((0, 0), (3, 0), "")]);
    assert_eq!(desk.document().text, "a\nb\nc\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_reload_after_the_disk_changed_closes_the_document_and_opens_it_at_the_version_it_had() {
    let desk = Desk::open_debounced("b\na\nc\n", &json!({}));
    desk.prime();
    desk.nvim.command("write");
    let version = desk.document().version;
    let mark = desk.probe.mark();
    desk.write("notes.txt", "b\nchanged\nc\n");
    desk.type_until(":checktime<CR>", &["b", "changed", "c"]);
    let closed = desk.probe.wait_message(mark, "textDocument/didClose");
    let opened = desk.probe.wait_message(mark, "textDocument/didOpen");
    assert!(closed.at <= opened.at);
    let text = "b\nchanged\nc\n".to_owned();
    assert_eq!(desk.document(), Document { version, text });
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn editing_anew_takes_the_document_from_a_client_that_was_started_by_hand() {
    let desk = Desk::open_debounced("b\na\nc\n", &json!({}));
    let mark = desk.probe.mark();
    desk.write("notes.txt", "b\nchanged\nc\n");
    desk.type_until(":e!<CR>", &["b", "changed", "c"]);
    desk.probe.wait_message(mark, "textDocument/didClose");
    desk.type_until("x", &["", "changed", "c"]);
    desk.flush();
    assert_eq!(desk.probe.document(&desk.path), None, "not opened again");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn editing_anew_closes_and_opens_for_an_enabled_client() {
    let desk = Desk::open("b\na\nc\n");
    let probe = Probe::listen(&json!({}));
    desk.nvim.enable_client("second", &Server::Port(probe.port()), desk.folder.path(), json!({}));
    probe.wait_open(&desk.path);
    let mark = probe.mark();
    desk.write("notes.txt", "b\nchanged\nc\n");
    desk.type_until(":e!<CR>", &["b", "changed", "c"]);
    let closed = probe.wait_message(mark, "textDocument/didClose");
    let opened = probe.wait_message(mark, "textDocument/didOpen");
    assert!(closed.at <= opened.at);
    assert_eq!(opened.message["params"]["textDocument"]["version"], 0);
    assert_eq!(opened.message["params"]["textDocument"]["text"], "b\nchanged\nc\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_carriage_return_at_the_end_of_a_line_stays_in_the_line() {
    // One line without a carriage return makes Neovim take the file as unix.
    let desk = Desk::open_debounced("one\r\ntwo\n", &json!({}));
    assert_eq!(desk.document().text, "one\r\ntwo\n");
    assert_eq!(desk.nvim.lines(), ["one\r", "two"]);
    desk.type_until("Ax<Esc>", &["one\rx", "two"]);
    // Column 4 of line 0: by LSP's rule the line ends at column 3.
    assert_eq!(desk.flushed_changes(), [edit((0, 4), (0, 4), "x")]);
    assert_eq!(desk.document().text, "one\rx\ntwo\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn after_joining_lines_over_a_lone_carriage_return_the_line_counts_differ() {
    let desk = Desk::open_debounced("one\r\ntwo\nthree\n", &json!({}));
    desk.type_until("J", &["one\r two", "three"]);
    assert_eq!(desk.flushed_changes(), [edit((0, 4), (0, 4), " two"), edit((1, 0), (2, 0), "")]);
    assert_eq!(desk.document().text, "one\r two\nthree\n");
    // Two lines for Neovim, three by LSP's rule, under which a lone CR ends a line: an edit of
    // line 1 is an edit of "three".
    desk.apply(0, &[edit((1, 0), (1, 5), "3")]);
    assert_eq!(desk.nvim.lines(), ["one\r two", "3"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_file_of_carriage_returns_and_newlines_is_sent_with_them() {
    let desk = Desk::open("one\r\ntwo\r\n");
    assert_eq!(desk.nvim.lines(), ["one", "two"]);
    assert_eq!(desk.document().text, "one\r\ntwo\r\n");
    desk.type_until("onew<Esc>", &["one", "new", "two"]);
    desk.probe.wait_text(&desk.path, "one\r\nnew\r\ntwo\r\n");
}
