//! When stock Neovim tells a server about changes, which versions it checks, and what makes it
//! tell. Observations that publishing rests on; our own server isn't involved.

use crate::support::desk::Desk;
use crate::support::probe::edit;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A desk whose probe offers semantic tokens. Neovim asks for them 200 ms after a change, which
/// flushes too; here it waits an hour, so that only the server's request counts.
fn with_tokens(text: &str) -> Desk {
    let tokens = json!({ "semanticTokensProvider": {
        "legend": { "tokenTypes": [], "tokenModifiers": [] }, "full": true
    } });
    let desk = Desk::open_debounced(text, &tokens);
    desk.probe.wait_message(0, "textDocument/semanticTokens/full");
    desk.nvim.lua::<()>(
        "local client = vim.lsp.get_clients()[1] \
         vim.lsp.semantic_tokens.start(0, client.id, { debounce = 3600000 })",
        json!([]),
    );
    desk
}

/// Asks Neovim to refresh its tokens; the id of the request.
fn barrier(desk: &Desk) -> u64 {
    desk.probe.ask("workspace/semanticTokens/refresh", &Value::Null)
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_empty_insert_moves_a_document_off_version_0_and_marks_it_modified() {
    let desk = Desk::open("one\n");
    assert_eq!(desk.document().version, 0);
    assert!(!desk.nvim.modified(&desk.path));

    let mark = desk.probe.mark();
    let result = desk.apply(0, &[edit((0, 0), (0, 0), "")]);
    assert_eq!(result["applied"], true);
    let change = desk.probe.wait_message(mark, "textDocument/didChange");
    // It names another place than the edit did, and changes nothing there.
    assert_eq!(change.message["params"]["contentChanges"][0]["text"], "");
    assert!(desk.document().version > 0);
    assert_eq!(desk.document().text, "one\n");
    assert!(desk.nvim.modified(&desk.path));
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn at_version_0_an_edit_inside_the_debounce_destroys_the_users_line() {
    let desk = Desk::open_debounced("one\ntwo\n", &json!({}));
    desk.type_until("Omine<Esc>", &["mine", "one", "two"]);
    assert_eq!(desk.document().text, "one\ntwo\n", "nothing was told to the server");

    let result = desk.apply(0, &[edit((0, 0), (0, 3), "ONE")]);
    assert_eq!(result, json!({ "applied": true }));
    desk.nvim.wait_for_lines(&["ONEe", "one", "two"]);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn past_version_0_an_edit_inside_the_debounce_is_skipped_and_called_applied() {
    let desk = Desk::open_debounced("one\ntwo\n", &json!({}));
    let version = desk.prime();
    desk.type_until("Omine<Esc>", &["mine", "one", "two"]);
    assert_eq!(desk.document().text, "one\ntwo\n", "nothing more was told to the server");

    let result = desk.apply(version, &[edit((0, 0), (0, 3), "ONE")]);
    assert_eq!(result, json!({ "applied": true }));
    assert_eq!(desk.nvim.lines(), ["mine", "one", "two"]);
    assert!(desk.nvim.messages().contains("newer than edits"), "{}", desk.nvim.messages());
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_semantic_tokens_refresh_is_answered_after_what_was_queued_has_been_sent() {
    let desk = with_tokens("one\n");
    let mut longest = Duration::ZERO;
    let mut typed = String::new();
    desk.nvim.feed("O");
    for letter in "abcdefghijklmnopqrst".chars() {
        typed.push(letter);
        desk.type_until(&letter.to_string(), &[typed.as_str(), "one"]);
        let sent = Instant::now();
        let answer = desk.probe.wait_reply(barrier(&desk));
        longest = longest.max(answer.at - sent);
        assert_eq!(desk.document().text, format!("{typed}\none\n"));
    }
    // A millisecond in fact, and 40 more where TCP delays an acknowledgement; this bound only
    // says that it is no debounce.
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_semantic_tokens_refresh_does_not_reach_a_buffer_without_a_window() {
    let desk = with_tokens("one\n");
    let other = desk.write("other.txt", "other\n");
    desk.type_until("x", &["ne"]);
    desk.nvim.edit(&other);
    desk.nvim.wait_for_lines(&["other"]);
    desk.probe.wait_reply(barrier(&desk));
    assert_eq!(desk.document().text, "one\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn where_tokens_are_offered_leaving_insert_mode_flushes_too() {
    let desk = with_tokens("one\n");
    desk.type_until("Omine<Esc>", &["mine", "one"]);
    desk.probe.wait_text(&desk.path, "mine\none\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn other_refreshes_flush_nothing() {
    let capabilities = json!({
        "inlayHintProvider": true,
        "codeLensProvider": {},
        "diagnosticProvider": { "interFileDependencies": false, "workspaceDiagnostics": false }
    });
    let desk = Desk::open_debounced("one\n", &capabilities);
    desk.type_until("Omine<Esc>", &["mine", "one"]);
    let mark = desk.probe.mark();
    let answers = ["inlayHint", "codeLens", "diagnostic"].map(|what| {
        let method = format!("workspace/{what}/refresh");
        desk.probe.request(&method, &Value::Null)["error"]["code"].clone()
    });
    assert_eq!(answers, [Value::Null, json!(-32601), json!(-32601)]);
    // Whatever they lead to has been sent by the time a later request is answered.
    desk.probe.request("workspace/workspaceFolders", &Value::Null);
    let changes = |m: &Value| m["method"] == "textDocument/didChange";
    assert!(!desk.probe.log().iter().skip(mark).any(|r| changes(&r.message)));
    assert_eq!(desk.document().text, "one\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn an_inlay_hint_refresh_flushes_once_the_user_has_switched_hints_on() {
    let desk = Desk::open_debounced("one\n", &json!({ "inlayHintProvider": true }));
    desk.nvim.lua::<()>("vim.lsp.inlay_hint.enable(true)", json!([]));
    desk.probe.wait_message(0, "textDocument/inlayHint");
    desk.type_until("Omine<Esc>", &["mine", "one"]);
    desk.probe.request("workspace/inlayHint/refresh", &Value::Null);
    desk.probe.wait_text(&desk.path, "mine\none\n");
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_steady_typist_is_never_heard_before_the_first_flush() {
    let debounce = Duration::from_millis(800);
    let flags = json!({ "flags": { "debounce_text_changes": debounce.as_millis() } });
    let desk = Desk::open_with("one\n", &json!({}), flags);
    let start = Instant::now();
    let mut last = start;
    desk.nvim.feed("O");
    while start.elapsed() < 3 * debounce {
        std::thread::sleep(Duration::from_millis(100));
        desk.nvim.feed("x");
        if desk.document().version > 0 {
            // Only a pause as long as the debounce itself lets a change through.
            assert!(last.elapsed() >= debounce, "told while typing");
            return;
        }
        last = Instant::now();
    }
    // The typist pauses, and all of it arrives at once.
    desk.probe.wait_message(0, "textDocument/didChange");
    assert_eq!(desk.document().text, format!("{}\none\n", desk.nvim.lines()[0]));
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn after_the_first_flush_a_steady_typist_is_heard_at_every_debounce() {
    let desk = Desk::open("one\n");
    desk.prime();
    desk.nvim.feed("O");
    let mark = desk.probe.mark();
    let typed = Instant::now();
    let heard = |desk: &Desk| {
        let log = desk.probe.log();
        log.iter().skip(mark).filter(|r| r.message["method"] == "textDocument/didChange").count()
    };
    while heard(&desk) < 5 {
        assert!(typed.elapsed() < crate::support::BOUND, "not heard while typing");
        std::thread::sleep(Duration::from_millis(20));
        desk.nvim.feed("x");
    }
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_answer_comes_before_the_echo() {
    let desk = Desk::open("one\n");
    let mut version = desk.prime();
    for round in 0..5 {
        let text = format!("round {round}");
        let end = u32::try_from(desk.document().text.len() - 1).unwrap();
        let id = {
            let changes = [crate::support::probe::document_edits(
                &desk.path,
                version,
                &[edit((0, 0), (0, end), &text)],
            )];
            desk.probe
                .ask("workspace/applyEdit", &json!({ "edit": { "documentChanges": changes } }))
        };
        let answer = desk.probe.wait_reply(id);
        desk.probe.wait_text(&desk.path, &format!("{text}\n"));
        let echo =
            desk.probe.log().into_iter().rfind(|r| r.message["method"] == "textDocument/didChange");
        let echo = echo.unwrap();
        assert!(answer.at <= echo.at);
        version = desk.document().version;
    }
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn without_a_debounce_every_edit_lands_at_the_first_try_under_typing() {
    let flags = json!({ "flags": { "debounce_text_changes": 0 } });
    let desk = Desk::open_with("top\nbottom\n", &json!({}), flags);
    desk.prime();
    desk.nvim.feed("O");
    for round in 0..25 {
        desk.nvim.feed("x");
        let typed = "x".repeat(round + 1);
        desk.nvim.wait_for_lines(&[
            typed,
            "top".to_owned(),
            format!("bottom{}", "!".repeat(round)),
        ]);
        let document = desk.probe.wait_text(
            &desk.path,
            &format!("{}\ntop\nbottom{}\n", "x".repeat(round + 1), "!".repeat(round)),
        );
        let end = u32::try_from(6 + round).unwrap();
        desk.apply(document.version, &[edit((2, end), (2, end), "!")]);
        desk.probe.wait_text(
            &desk.path,
            &format!("{}\ntop\nbottom{}\n", "x".repeat(round + 1), "!".repeat(round + 1)),
        );
    }
}
