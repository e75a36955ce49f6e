//! The document notifications, which go past tower-lsp: heeded when it would heed them, in order, however they
//! are spelled, and never answered.

use ropewalk_lsp::serve::{Reason, ServeOptions};
use serde_json::{Value, json};

use crate::editor::Editor;
use crate::messages::{
    code, did_change, did_open, execute, exit, frame, frame_of, notification, request, shutdown,
};

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_request_sees_the_edits_before_it_and_none_behind() {
    let mut editor = Editor::initialized().await;
    let mut burst = frame(&did_open(""));
    for round in 0..1000 {
        burst.extend(frame(&did_change(round, round, 0, "x")));
        burst.extend(frame(&execute(&round.to_string(), "text", json!(null))));
    }
    editor.send_bytes(burst);
    for round in 0..1000 {
        let answer = editor.answer(json!(round.to_string())).await;
        assert_eq!(answer["result"], "x".repeat(round + 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_four_arrive() {
    let mut editor = Editor::initialized().await;
    let document = json!({"textDocument": {"uri": "file:///a"}});
    editor.send(&did_open("one"));
    editor.send(&notification("textDocument/didSave", document.clone()));
    editor.send(&did_change(1, 3, 0, " two"));
    editor.send(&notification("textDocument/didSave", document.clone()));
    assert_eq!(editor.text().await, "one two");
    editor.send(&notification("textDocument/didClose", document));
    assert_eq!(editor.text().await, "");
    assert_eq!(*editor.shared.saved.lock().unwrap(), [units("one"), units("one two")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_initialize_they_are_dropped() {
    let mut editor = Editor::new(ServeOptions::default());
    editor.send(&did_open("before all"));
    editor.send(&shutdown());
    // The first message back: the notification got none.
    assert_eq!(code(&editor.next().await), -32002);
    editor.send(&notification("shutdown", json!(null)));
    editor.send(&request("bad", "initialize", json!({"capabilities": 5})));
    assert_eq!(code(&editor.answer(json!("bad")).await), -32602);
    editor.send(&did_open("behind an `initialize` that failed"));

    let mut editor = editor.initialize(json!({"capabilities": {}})).await;
    assert_eq!(editor.text().await, "");
    // Neither `shutdown` was one.
    editor.send(&did_open("in the session"));
    assert_eq!(editor.text().await, "in the session");
    editor.send(&exit());
    assert_eq!(editor.end().await, (Reason::Exit, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_shutdown_they_are_dropped() {
    let mut editor = Editor::initialized().await;
    let changes = [did_open("kept"), shutdown(), did_open("late"), did_change(1, 0, 4, "late")];
    editor.send_bytes(changes.iter().flat_map(frame).collect::<Vec<u8>>());
    assert_eq!(editor.next().await["result"], json!(null));
    editor.send(&execute("refused", "echo", json!(null)));
    assert_eq!(code(&editor.next().await), -32600);
    assert_eq!(*editor.shared.text.lock().unwrap(), units("kept"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_params_are_dropped_without_an_answer() {
    let mut editor = Editor::initialized().await;
    editor.send(&did_open("kept"));
    let good = did_change(1, 0, 4, "lost");
    let with = |path: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(path).unwrap() = value;
        bad.to_string()
    };
    let mut cases = vec![
        with("/params", json!(null)),
        with("/params", json!([])),
        with("/params", json!({})),
        with("/params", json!("é")),
        with("/params/textDocument/uri", json!("no uri")),
        with("/params/textDocument/uri", json!(null)),
        with("/params/textDocument/version", json!("1")),
        with("/params/textDocument/version", json!(1_i64 << 40)),
        with("/params/contentChanges", json!({})),
        with("/params/contentChanges/0/text", json!(null)),
        with("/params/contentChanges/0/range/start/line", json!(-1)),
        with("/params/contentChanges/0/range/end/character", json!(1.5)),
        good.to_string().replacen(r#""version""#, r#""version":7,"version""#, 1),
        r#"{"jsonrpc":"2.0","method":"textDocument/didChange"}"#.to_owned(),
    ];
    for other in ["didOpen", "didSave", "didClose"] {
        cases.push(notification(&format!("textDocument/{other}"), json!({})).to_string());
    }
    // A save that can't be read takes nothing of a text with it.
    let count = cases.len() - 1;
    for bad in cases {
        editor.send_bytes(frame_of(&bad));
        editor.send(&execute("after", "text", json!(null)));
        let answer = editor.next().await;
        assert_eq!((&answer["id"], &answer["result"]), (&json!("after"), &json!("kept")), "{bad}");
    }
    assert!(editor.shared.saved.lock().unwrap().is_empty());
    // Of each the server is told that something is lost, and of what if that can be read.
    let known = |at: usize| (!matches!(at, 0..=3 | 5 | 13..)).then_some(at == 4);
    let told: Vec<_> = editor.shared.unread.lock().unwrap().drain(..).collect();
    for (at, uri) in told.iter().enumerate() {
        let expected = known(at).map(|odd| if odd { "no uri" } else { "file:///a" });
        assert_eq!(uri.as_deref(), expected, "{at}");
    }
    assert_eq!(told.len(), count);
    // A message that is no JSON is refused like any other that is none.
    let deep = good.to_string().replace(r#""lost""#, &"[".repeat(100_000));
    for broken in [deep, good.to_string().replace("lost", r"\ux"), "{}{}".to_owned()] {
        editor.send_bytes(frame_of(&broken));
        assert_eq!(code(&editor.next().await), -32700);
    }
    let garbled = [Some("file:///a".to_owned()), Some("file:///a".to_owned())];
    assert_eq!(*editor.shared.unread.lock().unwrap(), garbled);
    editor.send(&good);
    assert_eq!(editor.text().await, "lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_spelling_of_the_message_will_do() {
    let mut editor = Editor::initialized().await;
    let params =
        r#"{"contentChanges":[{"text":"TEXT"}],"textDocument":{"version":1,"uri":"file:///a"}}"#;
    let of = |pattern: &str| pattern.replace("PARAMS", params);
    for (number, message) in [
        of(r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":PARAMS}"#),
        of(r#"{"params":PARAMS,"method":"textDocument/didChange","jsonrpc":"2.0"}"#),
        of(r#"{"jsonrpc":"2.0","method":"text\u0044ocument\/didChange","params":PARAMS}"#),
        of(r#"{"jsonrpc":"2.0","more":[{"method":"x"}],"method":"textDocument/didChange","params":PARAMS}"#),
        of(r#" { "jsonrpc" : "2.0" , "p\u0061rams" : PARAMS , "method" : "textDocument/didChange" } "#)
            .replace(r#""text":"#, "\n\t\"t\\u0065xt\" : "),
        of(r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":PARAMS,"result":1,"error":null}"#)
            .replace(r#""version""#, r#""more":{"version":[]},"version""#),
    ]
    .iter()
    .enumerate()
    {
        let text = format!("é\\u00e9\\\"\\\\\\ud83d\\ude00 {number}");
        editor.send_bytes(frame_of(message.replace("TEXT", &text)));
        assert_eq!(editor.text().await, format!("éé\"\\😀 {number}"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_an_id_it_is_a_request_that_nobody_serves() {
    let mut editor = Editor::initialized().await;
    for id in [json!("1"), json!(1), json!(null)] {
        let mut change = did_change(1, 0, 0, "lost");
        change["id"] = id.clone();
        editor.send(&change);
        let answer = editor.next().await;
        assert_eq!((&answer["id"], code(&answer)), (&id, -32600));
    }
    assert_eq!(editor.text().await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_costs_one_notification() {
    let mut editor = Editor::initialized().await;
    let mut bad = did_open("lost");
    bad["params"]["textDocument"]["languageId"] = json!("panic");
    for text in ["one", "two"] {
        editor.send(&bad);
        editor.send(&did_open(text));
        editor.send(&execute("after", "text", json!(null)));
        // The next message: the panic was not answered.
        assert_eq!(editor.next().await["result"], text);
    }
    assert_eq!(*editor.shared.unread.lock().unwrap(), vec![Some("file:///a".to_owned()); 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lone_surrogates_and_foreign_bytes_keep_their_place_in_edits() {
    let mut editor = Editor::initialized().await;
    editor.send(&did_open("0123"));
    let change = did_change(1, 1, 1, "PLACE").to_string();
    editor.send_bytes(frame_of(change.replace("PLACE", r"\udc00\\ud800\ud83d")));
    // Two units further on for each text that was one: the rest is where the client has it.
    editor.send(&did_change(2, 9, 1, "|"));
    assert_eq!(editor.text().await, "0\u{fffd}\\ud800\u{fffd}|3");

    let (before, after) = change.split_once("PLACE").unwrap();
    editor.send_bytes(frame_of([before.as_bytes(), b"\xff\0x", after.as_bytes()].concat()));
    // A control character must be escaped: that is no JSON.
    assert_eq!(code(&editor.next().await), -32700);
    editor.send_bytes(frame_of([before.as_bytes(), b"\xffx", after.as_bytes()].concat()));
    assert_eq!(editor.text().await, "0\u{fffd}x\\ud800\u{fffd}|3");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_edits_than_may_wait_get_through() {
    let options = ServeOptions { max_unhandled: 1000, max_body: 30_000, ..ServeOptions::default() };
    let mut editor = Editor::new(options).initialize(json!({"capabilities": {}})).await;
    let text = "é".repeat(10_000);
    for round in 0..50 {
        editor.send(&did_change(round, 0, 0, &text));
    }
    assert_eq!(editor.command("long", "length", json!(null)).await["result"], 500_000);
    // One above the bound of a message is refused, and counts as never made.
    editor.send(&did_change(50, 0, 0, &text.repeat(2)));
    assert_eq!(code(&editor.next().await), -32600);
    assert_eq!(editor.command("long", "length", json!(null)).await["result"], 500_000);
}
