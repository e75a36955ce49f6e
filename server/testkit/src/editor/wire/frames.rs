//! Frames over a pipe, and the protocol's JSON to and from what the client knows. It decides nothing.

use crate::editor::client::{FileOp, Outgoing};
use ropewalk_text::Position;
use ropewalk_workspace::DocId;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, BufRead};

/// The reason of a client that does not make an edit: text from outside, as hostile as it may be.
const DECLINED: &str = "\u{1b}[1mit is busy,\nsays 日本";

/// A message with its header.
pub(super) fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body.as_bytes());
    frame
}

/// The next message. None at the end of the input.
///
/// # Errors
/// When what comes is no frame, or no JSON: a server must never send such.
pub(super) fn read_message(from: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut header = String::new();
        if from.read_line(&mut header)? == 0 {
            return Ok(None);
        }
        let header = header.trim_end();
        if header.is_empty() {
            break;
        }
        if let Some(number) = header.strip_prefix("Content-Length: ") {
            length = number.parse::<usize>().ok();
        }
    }
    let length = length.ok_or_else(|| io::Error::other("a header without Content-Length"))?;
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    serde_json::from_slice(&body).map(Some).map_err(io::Error::other)
}

/// A notification or, with an id, a request.
pub(super) fn message(method: &str, params: &Value, id: Option<u64>) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(object) = message.as_object_mut() {
        if let Some(id) = id {
            object.insert("id".to_owned(), json!(id));
        }
        if !params.is_null() {
            object.insert("params".to_owned(), params.clone());
        }
    }
    message
}

/// The answer to a request of the server's.
pub(super) fn answer(id: &Value, result: Result<Value, (i64, String)>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, words)) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": words } })
        }
    }
}

/// Makes the message that the client writes. An answer is looked up among the edits that were
/// `asked` for; None when nobody asked.
pub(super) fn outgoing(
    out: Outgoing,
    asked: &mut HashMap<crate::editor::RequestId, (Value, bool)>,
) -> Option<Value> {
    Some(match out {
        Outgoing::Open { uri, version, text, .. } => {
            let language = language_of(&uri);
            let document =
                json!({ "uri": uri, "languageId": language, "version": version, "text": text });
            message("textDocument/didOpen", &json!({ "textDocument": document }), None)
        }
        Outgoing::Change { uri, version, changes, .. } => {
            let changes: Vec<Value> = changes
                .into_iter()
                .map(|change| match change.range {
                    Some((start, end)) => json!({
                        "range": { "start": position(start), "end": position(end) },
                        "text": change.text,
                    }),
                    None => json!({ "text": change.text }),
                })
                .collect();
            let document = json!({ "uri": uri, "version": version });
            let params = json!({ "textDocument": document, "contentChanges": changes });
            message("textDocument/didChange", &params, None)
        }
        Outgoing::Save { uri } => {
            message("textDocument/didSave", &json!({ "textDocument": { "uri": uri } }), None)
        }
        Outgoing::Close { uri } => {
            message("textDocument/didClose", &json!({ "textDocument": { "uri": uri } }), None)
        }
        Outgoing::Answer(request, result) => {
            let (id, is_edit) = asked.remove(&request)?;
            let result = match result {
                Ok(true) if is_edit => Ok(json!({ "applied": true })),
                Ok(false) if is_edit => Ok(json!({ "applied": false, "failureReason": DECLINED })),
                Ok(_) => Ok(Value::Null),
                Err(words) => Err((-32803, words)),
            };
            answer(&id, result)
        }
    })
}

/// A position as the protocol has it.
pub(super) fn position(at: Position) -> Value {
    json!({ "line": at.line, "character": at.character })
}

/// A position of the protocol's; None when it is none.
pub(super) fn position_of(value: &Value) -> Option<Position> {
    let number = |key: &str| value.get(key)?.as_u64().and_then(|n| u32::try_from(n).ok());
    Some(Position::new(number("line")?, number("character")?))
}

/// A range of the protocol's; None when it is none.
pub(super) fn range_of(value: &Value) -> Option<(Position, Position)> {
    Some((position_of(value.get("start")?)?, position_of(value.get("end")?)?))
}

/// The entries of `workspace/applyEdit`.
///
/// # Errors
/// In words, when a part is missing or not as the protocol has it.
pub(super) fn file_ops(params: &Value) -> Result<Vec<FileOp>, String> {
    if let Some(plain) = params.pointer("/edit/changes").and_then(Value::as_object) {
        return plain.iter().map(|(uri, edits)| plain_edit(uri, edits)).collect();
    }
    let changes = params
        .pointer("/edit/documentChanges")
        .and_then(Value::as_array)
        .ok_or("an edit without documentChanges")?;
    changes.iter().map(|change| file_op(params, change)).collect()
}

/// An entry of `changes`, which has no version.
fn plain_edit(uri: &str, edits: &Value) -> Result<FileOp, String> {
    let edits = edits.as_array().into_iter().flatten().map(|edit| {
        let (start, end) = range_of(edit.get("range")?)?;
        Some((start, end, edit.get("newText")?.as_str()?.to_owned()))
    });
    let edits = edits.collect::<Option<Vec<_>>>().ok_or_else(|| format!("no edits of {uri}"))?;
    Ok(FileOp::Edit { uri: uri.to_owned(), version: None, edits, needs_confirmation: false })
}

fn file_op(params: &Value, change: &Value) -> Result<FileOp, String> {
    let uri = |key: &str| {
        let uri = change.get(key).and_then(Value::as_str).map(str::to_owned);
        uri.ok_or_else(|| format!("a file operation without {key}: {change}"))
    };
    let option = |key: &str| change.pointer(&format!("/options/{key}")) == Some(&Value::Bool(true));
    match change.get("kind").and_then(Value::as_str) {
        Some("create") => Ok(FileOp::Create {
            uri: uri("uri")?,
            overwrite: option("overwrite"),
            ignore_if_exists: option("ignoreIfExists"),
        }),
        Some("rename") => Ok(FileOp::Rename { from: uri("oldUri")?, to: uri("newUri")? }),
        Some("delete") => Ok(FileOp::Delete { uri: uri("uri")? }),
        Some(other) => Err(format!("a file operation of the kind {other}")),
        None => {
            let wrong = || format!("no edit of a document: {change}");
            let document = change.get("textDocument").ok_or_else(wrong)?;
            let edits = change.get("edits").and_then(Value::as_array).ok_or_else(wrong)?;
            let mut needs_confirmation = false;
            let edits = edits.iter().map(|edit| {
                let annotation = edit.get("annotationId").and_then(Value::as_str);
                needs_confirmation |= annotation.is_some_and(|name| {
                    let path = format!("/edit/changeAnnotations/{name}/needsConfirmation");
                    params.pointer(&path) == Some(&Value::Bool(true))
                });
                let (start, end) = range_of(edit.get("range")?)?;
                Some((start, end, edit.get("newText")?.as_str()?.to_owned()))
            });
            let edits = edits.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
            let version = document.get("version").and_then(Value::as_i64);
            Ok(FileOp::Edit {
                uri: document.get("uri").and_then(Value::as_str).ok_or_else(wrong)?.to_owned(),
                version: version.and_then(|version| i32::try_from(version).ok()),
                edits,
                needs_confirmation,
            })
        }
    }
}

/// The protocol's name for the language of a file, by its ending.
fn language_of(uri: &str) -> &'static str {
    let path = DocId::from_uri(uri).path().unwrap_or_default();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("rs") => "rust",
        Some("py") => "python",
        Some("md") => "markdown",
        Some("js") => "javascript",
        Some("toml") => "toml",
        _ => "plaintext",
    }
}
