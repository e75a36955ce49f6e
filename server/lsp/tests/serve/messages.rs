//! Messages of a client, and their frames.

use serde_json::{Value, json};

pub(crate) fn frame(message: &Value) -> Vec<u8> {
    frame_of(message.to_string())
}

pub(crate) fn frame_of(body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.as_ref().len()).into_bytes();
    frame.extend(body.as_ref());
    frame
}

pub(crate) fn request(id: &str, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn execute(id: &str, command: &str, argument: Value) -> Value {
    request(id, "workspace/executeCommand", json!({"command": command, "arguments": [argument]}))
}

pub(crate) fn did_open(text: &str) -> Value {
    let document = json!({"uri": "file:///a", "languageId": "x", "version": 0, "text": text});
    notification("textDocument/didOpen", json!({"textDocument": document}))
}

/// Replaces `length` units at `at` by `text`.
pub(crate) fn did_change(version: usize, at: usize, length: usize, text: &str) -> Value {
    let (start, end) =
        (json!({"line": 0, "character": at}), json!({"line": 0, "character": at + length}));
    let change = json!({"range": {"start": start, "end": end}, "text": text});
    let document = json!({"uri": "file:///a", "version": version});
    notification(
        "textDocument/didChange",
        json!({"textDocument": document, "contentChanges": [change]}),
    )
}

pub(crate) fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer} is no error"))
}

pub(crate) fn shutdown() -> Value {
    json!({"jsonrpc": "2.0", "id": "shutdown", "method": "shutdown"})
}

pub(crate) fn exit() -> Value {
    json!({"jsonrpc": "2.0", "method": "exit"})
}
