//! The client's life: `initialize`, `shutdown`, `exit`, and ends that nobody announced.

use ropewalk_lsp::serve::{Reason, ServeOptions};
use serde_json::json;

use crate::editor::{Editor, start};
use crate::messages::{code, did_open, execute, exit, frame, request, shutdown};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_and_during_initialize_requests_are_refused() {
    let mut editor = Editor::new(ServeOptions::default());
    assert_eq!(code(&editor.command("early", "echo", json!(1)).await), -32002);
    editor.send(&shutdown());
    assert_eq!(code(&editor.answer(json!("shutdown")).await), -32002);

    let params = json!({"capabilities": {}, "initializationOptions": "wait"});
    editor.send(&request("initialize", "initialize", params));
    editor.until_waiting("initialize").await;
    editor.send(&did_open("lost: `initialize` waits, which it must not"));
    assert_eq!(code(&editor.command("early", "echo", json!(1)).await), -32002);
    editor.gate.add_permits(1);
    assert!(editor.answer(json!("initialize")).await["result"].is_object());
    assert_eq!(editor.text().await, "");
    editor.send(&did_open("heeded"));
    assert_eq!(editor.text().await, "heeded");

    editor.send(&request("again", "initialize", json!({"capabilities": {}})));
    assert_eq!(code(&editor.answer(json!("again")).await), -32600);
    editor.send(&request("unknown", "test/unknown", json!({})));
    assert_eq!(code(&editor.answer(json!("unknown")).await), -32601);
    editor.lives().await;
    editor.send(&exit());
    // The refused `shutdown` was none.
    assert_eq!(editor.end().await, (Reason::Exit, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_ends_it_at_once() {
    let mut editor = Editor::initialized().await;
    editor.send(&execute("wait", "wait", json!(0)));
    editor.until_waiting("wait").await;
    editor.send(&exit());
    assert_eq!(editor.end().await, (Reason::Exit, 1));

    let mut editor = Editor::new(ServeOptions::default());
    editor.send(&exit());
    assert_eq!(editor.end().await, (Reason::Exit, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_after_shutdown_is_zero() {
    for params in [None, Some(json!(null)), Some(json!({}))] {
        let mut editor = Editor::initialized().await;
        let mut shutdown = shutdown();
        if let Some(params) = params {
            shutdown["params"] = params;
        }
        editor.send_bytes([frame(&shutdown), frame(&exit())].concat());
        // The answer is written though the end follows at once.
        assert_eq!(editor.answer(json!("shutdown")).await["result"], json!(null));
        assert_eq!(editor.end().await, (Reason::Exit, 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_input_ends_it_whoever_waits() {
    for (after_shutdown, expected) in [(false, 1), (true, 0)] {
        let mut editor = Editor::initialized().await;
        editor.send(&execute("ask", "ask", json!(0)));
        editor.send(&execute("wait", "wait", json!(0)));
        editor.until_waiting("ask").await;
        editor.until_waiting("wait").await;
        if after_shutdown {
            editor.send(&shutdown());
            assert_eq!(editor.answer(json!("shutdown")).await["result"], json!(null));
        }
        editor.to_server = None;
        // The senders of the handlers are gone: they were dropped.
        assert_eq!(editor.waiting.recv().await, None);
        assert_eq!(editor.end().await, (Reason::InputEnded, expected));
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_clients_process_ends_it() {
    use std::process::{Command, Stdio};
    let mut process = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let params = json!({"capabilities": {}, "processId": process.id()});
    let mut editor = Editor::new(ServeOptions::default()).initialize(params).await;
    editor.lives().await;
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(editor.end().await, (Reason::ParentGone, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_ids_that_are_none_are_not_watched() {
    for id in [json!(null), json!(0), json!(-1), json!(std::process::id())] {
        let params = json!({"capabilities": {}, "processId": id});
        let mut editor = Editor::new(ServeOptions::default());
        editor.send(&request("initialize", "initialize", params));
        // A negative id is refused by the types of `initialize`; the server lives.
        editor.answer(json!("initialize")).await;
        editor.send(&exit());
        assert_eq!(editor.end().await, (Reason::Exit, 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_closes_its_ear_ends_it() {
    let (mut editor, output) = start(ServeOptions::default());
    drop(output);
    editor.send(&request("initialize", "initialize", json!({"capabilities": {}})));
    assert_eq!(editor.end().await, (Reason::OutputClosed, 1));
}
