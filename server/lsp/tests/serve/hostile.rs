//! Bad input: frames and messages that are none, and sizes out of all proportion.

use ropewalk_lsp::serve::ServeOptions;
use serde_json::json;

use crate::editor::Editor;
use crate::messages::{code, did_change, did_open, execute, frame, frame_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_bad_frame_ends_it() {
    let options = ServeOptions { max_body: 1_000_000, ..ServeOptions::default() };
    let mut editor = Editor::new(options).initialize(json!({"capabilities": {}})).await;
    let call = execute("1", "echo", json!(null)).to_string();
    let long = format!("\"{}\"", "x".repeat(3_000_000));
    let cases: Vec<(&str, Vec<u8>, i64)> = vec![
        ("malformed", frame_of("{\"jsonrpc\":"), -32700),
        ("empty", frame_of(""), -32700),
        ("no message", frame_of("{}"), -32600),
        ("a number", frame_of("5"), -32600),
        ("a batch", frame_of(format!("[{call},{call}]")), -32600),
        ("an empty batch", frame_of("[]"), -32600),
        ("bytes", frame_of([0xff, 0xfe, 0]), -32700),
        ("nesting", frame_of("[".repeat(900_000)), -32700),
        ("nested params", frame_of(format!("{{\"params\":{}", "[".repeat(900_000))), -32700),
        ("no length", b"Content-Type: x\r\n\r\n{}".to_vec(), -32700),
        ("negative", b"Content-Length: -7\r\n\r\n{}".to_vec(), -32700),
        ("overflow", b"Content-Length: 99999999999999999999999\r\n\r\n{}".to_vec(), -32700),
        ("words", b"Content-Length: two\r\n\r\n{}".to_vec(), -32700),
        ("too long to be true", b"Content-Length: 8589934592\r\n\r\n{}".to_vec(), -32600),
        ("too long", frame_of(long), -32600),
        ("an endless header", "x".repeat(1_000_000).into_bytes(), -32700),
        ("too short a length", [b"Content-Length: 9\r\n\r\n", call.as_bytes()].concat(), -32700),
        ("too long a length", [b"Content-Length: 150\r\n\r\n", call.as_bytes()].concat(), -32700),
    ];
    for (case, bytes, expected) in cases {
        editor.send_bytes(bytes);
        editor.send(&execute("after", "echo", json!(case)));
        let refusal = editor.answer(json!(null)).await;
        assert_eq!(code(&refusal), expected, "{case}: {refusal}");
        assert!(!refusal["error"]["message"].as_str().unwrap().is_empty(), "{case}");
        assert_eq!(editor.answer(json!("after")).await["result"], case);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lone_surrogates_and_foreign_bytes_keep_their_place() {
    let mut editor = Editor::initialized().await;
    let open = did_open("PLACE").to_string();
    editor.send_bytes(frame_of(open.replace("PLACE", r"a\ud800b\\ud800😀\udc00")));
    // a, U+FFFD, b, \ud800 as seven characters after its backslash, a pair: each as long as it was.
    editor.send(&did_change(1, 2, 1, "B"));
    let text = editor.text().await;
    assert_eq!(text, "a\u{fffd}B\\ud800😀\u{fffd}");

    let (before, after) = open.split_once("PLACE").unwrap();
    editor.send_bytes(frame_of([before.as_bytes(), b"x\xffy", after.as_bytes()].concat()));
    let text = editor.text().await;
    assert_eq!(text, "x\u{fffd}y");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_split_into_single_bytes_arrives() {
    let mut editor = Editor::initialized().await;
    for byte in frame(&execute("1", "echo", json!("é😀"))) {
        editor.send_bytes([byte]);
    }
    assert_eq!(editor.answer(json!("1")).await["result"], "é😀");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_input_than_may_wait_gets_through() {
    let options = ServeOptions { max_unhandled: 1000, ..ServeOptions::default() };
    let mut editor = Editor::new(options).initialize(json!({"capabilities": {}})).await;
    let text = "é".repeat(10_000);
    for id in 0..50 {
        editor.send(&execute(&id.to_string(), "echo", json!(text)));
    }
    for id in 0..50 {
        assert_eq!(editor.answer(json!(id.to_string())).await["result"], text);
    }
}
