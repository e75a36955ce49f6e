//! The fake editor over any pair of pipes, and what fails a test: messages nobody looked at, requests the
//! client has not agreed to. The server is a toy on a thread.

#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

use ropewalk_testkit::editor::{FakeEditor, Kind, Profile};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn read(from: &mut BufReader<PipeReader>) -> Option<Value> {
    let (mut length, mut line) = (0, String::new());
    while from.read_line(&mut line).ok()? > 0 && line != "\r\n" {
        length = line.trim().rsplit(' ').next()?.parse().ok()?;
        line.clear();
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn write(to: &mut PipeWriter, message: &Value) {
    let body = message.to_string();
    // The editor may be gone already.
    let _ = write!(to, "Content-Length: {}\r\n\r\n{body}", body.len());
}

/// An editor whose server answers every request with null, and on `say` sends these messages first.
fn editor(profile: Profile, says: Vec<Value>) -> FakeEditor {
    let (input, to_server) = io::pipe().unwrap();
    let (from_server, mut output) = io::pipe().unwrap();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Some(message) = read(&mut input) {
            let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else {
                continue;
            };
            if message["method"] == "say" {
                says.iter().for_each(|said| write(&mut output, said));
            }
            let result = if message["method"] == "initialize" {
                json!({ "capabilities": {} })
            } else {
                Value::Null
            };
            write(&mut output, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
    });
    FakeEditor::connect(from_server, to_server, profile, &[], Value::Null).unwrap()
}

fn note(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// Words with which a test that ends like this fails; None if it passes.
fn failure(test: impl FnOnce()) -> Option<String> {
    let failed = catch_unwind(AssertUnwindSafe(test)).err()?;
    Some(failed.downcast_ref::<String>().cloned().unwrap_or_default())
}

#[test]
fn a_message_nobody_looked_at_fails_the_test_and_one_that_was_read_does_not() {
    let said = vec![note("window/showMessage", &json!({ "type": 1, "message": "surprise" }))];
    let unread = editor(Profile::VSCODE, said.clone());
    unread.request("say", &Value::Null).unwrap();
    assert!(failure(|| unread.shutdown()).unwrap().contains("surprise"));
    let read = editor(Profile::VSCODE, said.clone());
    read.request("say", &Value::Null).unwrap();
    assert_eq!(read.messages()[0].text, "surprise");
    assert_eq!(failure(|| read.shutdown()), None);
    let ignored = editor(Profile::VSCODE, said);
    ignored.ignore(&[Kind::Message]);
    ignored.request("say", &Value::Null).unwrap();
    assert_eq!(failure(|| ignored.shutdown()), None);
}

#[test]
fn a_request_the_client_has_not_agreed_to_fails_the_test() {
    let create = json!({
        "jsonrpc": "2.0", "id": 1, "method": "window/workDoneProgress/create",
        "params": { "token": "t" },
    });
    let agreed = editor(Profile::VSCODE, vec![create.clone()]);
    agreed.request("say", &Value::Null).unwrap();
    assert_eq!(failure(|| agreed.shutdown()), None);
    let not = editor(Profile::EMACS, vec![create]);
    not.request("say", &Value::Null).unwrap();
    assert!(failure(|| not.shutdown()).unwrap().contains("has not agreed"));
}

#[test]
fn a_wait_ends_with_the_server_and_tells_the_conversation() {
    let (input, to_server) = io::pipe().unwrap();
    let (from_server, mut output) = io::pipe().unwrap();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        let asked = read(&mut input).unwrap();
        let result = json!({ "capabilities": {} });
        write(&mut output, &json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
        read(&mut input).unwrap();
    });
    let editor = FakeEditor::connect(from_server, to_server, Profile::HELIX, &[], Value::Null);
    let words = editor.unwrap().try_wait_for("rain", |_| None::<()>).unwrap_err();
    assert!(words.contains("rain: the server has ended"), "{words}");
    assert!(words.contains("initialized"), "{words}");
}
