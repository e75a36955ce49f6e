//! A client that does not read.

use std::io::Write;
use std::time::Duration;

use ropewalk_lsp::serve::{Reason, ServeOptions};
use serde_json::json;
use tower_lsp::lsp_types::notification::{LogMessage, Notification};

use crate::editor::{GUARD, start};
use crate::messages::{did_open, execute, frame, request};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_late_gets_everything() {
    let (mut editor, output) = start(ServeOptions::default());
    editor.send(&request("initialize", "initialize", json!({"capabilities": {}})));
    // More than a pipe holds: the toy waits in the midst of sending.
    editor.send(&execute("say", "say", json!(20_000)));
    editor.send(&execute("long", "long", json!(1_000_000)));
    // Reading goes on all the same: this wait is reached and cancelled.
    editor.send(&execute("wait", "wait", json!(0)));
    editor.until_waiting("wait").await;
    editor.send(&did_open("read"));
    let opened = async {
        while editor.shared.text.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(GUARD, opened).await.expect("the server stopped reading");
    let said = *editor.shared.said.lock().unwrap();
    assert!(said < 20_000, "sending waits for the client, after {said} messages");

    editor.read(output);
    let mut seen = 0;
    while seen < 20_000 {
        let message = editor.next().await;
        if message["method"] == LogMessage::METHOD {
            assert_eq!(message["params"]["message"], seen.to_string());
            seen += 1;
        }
    }
    editor.lives().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_only_asks_and_never_reads_is_left() {
    let options = ServeOptions {
        max_unread: 1_000_000,
        last_words: Duration::from_millis(1),
        ..ServeOptions::default()
    };
    let (mut editor, _output) = start(options);
    editor.send(&request("initialize", "initialize", json!({"capabilities": {}})));
    let mut to_server = editor.to_server.take().unwrap();
    let asking = std::thread::spawn(move || {
        let ask = frame(&execute("1", "echo", json!("x".repeat(10_000))));
        // The pipe breaks when the server stops reading.
        while to_server.write_all(&ask).is_ok() {}
    });
    assert_eq!(editor.end().await, (Reason::OutputUnread, 1));
    asking.join().unwrap();
}
