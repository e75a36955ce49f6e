//! Handlers that wait for the client, and handlers that panic.

use serde_json::json;
use tower_lsp::lsp_types::ProgressToken;

use crate::editor::Editor;
use crate::messages::{code, did_change, did_open, execute, frame, notification, request};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_that_wait_for_the_client_stop_nothing() {
    let mut editor = Editor::initialized().await;
    let mut asked = Vec::new();
    for id in 0..8 {
        editor.send(&execute(&format!("ask {id}"), "ask", json!(id)));
        editor.until_waiting("ask").await;
        asked.push(editor.next().await);
    }
    let mut queued = frame(&did_open(""));
    for version in 0..300 {
        queued.extend(frame(&did_change(version, version, 0, "x")));
    }
    queued.extend(frame(&notification("$/cancelRequest", json!({"id": "ask 3"}))));
    editor.send_bytes(queued);
    // The cancellation gets through, and so has all that came before it.
    assert_eq!(code(&editor.answer(json!("ask 3")).await), -32800);
    assert_eq!(editor.text().await, "x".repeat(300));
    // The answers come in another order than the questions; that to the cancelled one comes too.
    for question in asked.iter().rev() {
        assert_eq!(question["method"], "workspace/configuration");
        let section = question["params"]["items"][0]["section"].clone();
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": [section]});
        editor.send(&answer);
        if section != "3" {
            let id = format!("ask {}", section.as_str().unwrap());
            assert_eq!(editor.answer(json!(id)).await["result"], section);
        }
    }
    editor.lives().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_nobody_waits_for_are_dropped() {
    let mut editor = Editor::initialized().await;
    for (id, result) in [(json!(77), json!([])), (json!("x"), json!(null)), (json!(null), json!(1))]
    {
        editor.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }
    editor.send(&execute("ask", "ask", json!(1)));
    let question = editor.next().await;
    editor.send(&notification("$/cancelRequest", json!({"id": "ask"})));
    assert_eq!(code(&editor.answer(json!("ask")).await), -32800);
    for _ in 0..2 {
        editor.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": [1]}));
    }
    editor.lives().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_the_client_reaches_the_handler() {
    let mut editor = Editor::initialized().await;
    editor.send(&execute("ask", "ask", json!(1)));
    let id = editor.next().await["id"].clone();
    editor.send(&json!({"jsonrpc": "2.0", "id": id, "result": null, "error": {"code": -5, "message": "no"}}));
    assert_eq!(code(&editor.answer(json!("ask")).await), -5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_cancelled_through_a_custom_method() {
    let mut editor = Editor::initialized().await;
    editor.send(&notification("window/workDoneProgress/cancel", json!({"token": "turn 1"})));
    editor.lives().await;
    let cancelled = editor.shared.cancelled.lock().unwrap();
    assert_eq!(*cancelled, [ProgressToken::String("turn 1".into())]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_an_error_reply() {
    let mut editor = Editor::initialized().await;
    for command in ["panic", "panic later", "panic", "panic later"] {
        // The same id each time: a panic leaves none behind as taken.
        assert_eq!(code(&editor.command("7", command, json!(null)).await), -32603, "{command}");
    }
    editor.send(&request("7", "test/explode", json!({})));
    assert_eq!(code(&editor.answer(json!("7")).await), -32603);
    editor.send(&notification("test/panic", json!({})));
    assert_eq!(editor.command("7", "echo", json!(1)).await["result"], 1);
}
