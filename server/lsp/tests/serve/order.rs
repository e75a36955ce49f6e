//! Order: what came first happens first, and what was sent first is written first.

use ropewalk_lsp::serve::ServeOptions;
use serde_json::json;
use tower_lsp::lsp_types::notification::{LogMessage, Notification};

use crate::editor::Editor;
use crate::messages::{did_change, did_open, execute, frame, notification, request};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_edits_is_applied_in_order() {
    let mut editor = Editor::initialized().await;
    let mut expected = "0123456789".to_owned();
    let mut burst = frame(&did_open(&expected));
    for version in 1..=10_000 {
        // Positions and texts that give another text in any other order.
        let at = version * 7 % expected.len();
        let length = version % 3 % (expected.len() - at);
        let text = (version * 31).to_string();
        expected.replace_range(at..at + length, &text);
        burst.extend(frame(&did_change(version, at, length, &text)));
    }
    burst.extend(frame(&execute("text", "text", json!(null))));
    editor.send_bytes(burst);
    assert_eq!(editor.answer(json!("text")).await["result"], expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_start_in_one_write_works() {
    let mut editor = Editor::new(ServeOptions::default());
    let mut start = Vec::new();
    for message in [
        request("initialize", "initialize", json!({"capabilities": {}, "processId": null})),
        notification("initialized", json!({})),
        did_open("all at once"),
        execute("text", "text", json!(null)),
    ] {
        start.extend(frame(&message));
    }
    editor.send_bytes(start);
    // Messages from `initialized` may not come before the answer to `initialize`.
    assert!(editor.next().await["result"]["capabilities"].is_object());
    assert_eq!(editor.answer(json!("text")).await["result"], "all at once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_handler_sends_comes_before_its_answer() {
    let mut editor = Editor::initialized().await;
    for round in 0..200 {
        editor.send(&execute("say", "say", json!(3)));
        for said in 0..3 {
            let message = editor.next().await;
            assert_eq!(message["method"], LogMessage::METHOD, "round {round}");
            assert_eq!(message["params"]["message"], said.to_string());
        }
        assert_eq!(editor.next().await["id"], "say");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_are_written_whole() {
    let mut editor = Editor::initialized().await;
    for id in 0..200 {
        editor.send(&execute(&id.to_string(), "long", json!(id * 100)));
        editor.send(&execute(&format!("say {id}"), "say", json!(2)));
    }
    // The reading thread of the test fails at a frame inside another.
    let mut left = 200 * 4;
    while left > 0 {
        let message = editor.next().await;
        if let Some(text) = message["result"].as_str() {
            let id: usize = message["id"].as_str().unwrap().parse().unwrap();
            assert_eq!(text.chars().count(), id * 100);
        }
        left -= 1;
    }
}
