//! A language server that the test controls message by message, reached over a loopback socket.
//!
//! It keeps everything the editor sends in order of arrival, answers the editor's own requests
//! at once (`initialize` with the given capabilities, all others with `null`), and keeps the text
//! of every open document as `didOpen`, `didChange` and `didClose` tell it. It has no opinion on
//! what is right: versions are recorded, never checked. Positions are in UTF-8 bytes.

use super::BOUND;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

/// The server's end of one connection with one editor.
pub struct Probe {
    port: u16,
    shared: Arc<Shared>,
}

/// One message from the editor, and when it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// When the message had been read whole.
    pub at: Instant,
    /// The JSON-RPC message as sent.
    pub message: Value,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    log: Vec<Received>,
    documents: HashMap<String, Document>,
    socket: Option<TcpStream>,
    next_id: u64,
}

/// An open document as the editor's notifications describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The version of the last notification that carried one.
    pub version: i64,
    /// The whole text.
    pub text: String,
}

impl Probe {
    /// Listens on a free port; `capabilities` are the ones `initialize` is answered with, to which
    /// incremental synchronisation and the position encoding UTF-8 are added unless they say
    /// otherwise.
    pub fn listen(capabilities: &Value) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut all = json!({
            "positionEncoding": "utf-8",
            "textDocumentSync": { "openClose": true, "change": 2, "save": {} }
        });
        for (name, value) in capabilities.as_object().into_iter().flatten() {
            all[name] = value.clone();
        }
        let shared = Arc::new(Shared::default());
        let reader = Arc::clone(&shared);
        std::thread::spawn(move || {
            let (socket, _) = listener.accept().unwrap();
            reader.read_all(socket, &all);
        });
        Self { port, shared }
    }

    /// The port the editor connects to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Everything received so far, oldest first.
    pub fn log(&self) -> Vec<Received> {
        self.shared.lock().log.clone()
    }

    /// How many messages have been received: a mark to look from.
    pub fn mark(&self) -> usize {
        self.shared.lock().log.len()
    }

    /// The document at `path`, if it is open.
    pub fn document(&self, path: &Path) -> Option<Document> {
        self.shared.lock().documents.get(&uri(path)).cloned()
    }

    /// Waits until the document at `path` is open.
    pub fn wait_open(&self, path: &Path) -> Document {
        self.wait(&format!("{} to be opened", path.display()), |state| {
            state.documents.get(&uri(path)).cloned()
        })
    }

    /// Waits until the document at `path` has this text.
    pub fn wait_text(&self, path: &Path, text: &str) -> Document {
        self.wait(&format!("{} to become {text:?}", path.display()), |state| {
            state.documents.get(&uri(path)).filter(|document| document.text == text).cloned()
        })
    }

    /// Waits for a message of this method at or after `mark`.
    pub fn wait_message(&self, mark: usize, method: &str) -> Received {
        self.wait(&format!("{method} after message {mark}"), |state| {
            state
                .log
                .iter()
                .skip(mark)
                .find(|received| received.message["method"] == method)
                .cloned()
        })
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Value) {
        self.shared.lock().send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and gives its id, for [`Probe::wait_reply`].
    pub fn ask(&self, method: &str, params: &Value) -> u64 {
        let mut state = self.shared.lock();
        state.next_id += 1;
        let id = state.next_id;
        state.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for the reply to a request: the whole message, with when it came.
    pub fn wait_reply(&self, id: u64) -> Received {
        self.wait(&format!("the reply to request {id}"), |state| state.reply(id))
    }

    /// The reply to a request, if it has come.
    pub fn reply(&self, id: u64) -> Option<Received> {
        self.shared.lock().reply(id)
    }

    /// Sends a request and waits for its reply: the whole message.
    pub fn request(&self, method: &str, params: &Value) -> Value {
        self.wait_reply(self.ask(method, params)).message
    }

    /// Sends `workspace/applyEdit` and waits for the result object.
    pub fn apply(&self, edit: &Value) -> Value {
        self.request("workspace/applyEdit", &json!({ "edit": edit }))["result"].clone()
    }

    fn wait<T>(&self, what: &str, mut find: impl FnMut(&mut State) -> Option<T>) -> T {
        let end = Instant::now() + BOUND;
        let mut state = self.shared.lock();
        loop {
            if let Some(found) = find(&mut state) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let log: Vec<_> = state.log.iter().map(|r| r.message.to_string()).collect();
                drop(state);
                panic!("waited in vain for {what}; received:\n{}", log.join("\n"));
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn read_all(&self, socket: TcpStream, capabilities: &Value) {
        socket.set_nodelay(true).unwrap();
        let mut from_editor = BufReader::new(socket.try_clone().unwrap());
        self.lock().socket = Some(socket);
        while let Some(message) = read_message(&mut from_editor) {
            let mut state = self.lock();
            state.track(&message);
            let asked = message.get("method").and_then(Value::as_str);
            if let (Some(method), Some(id)) = (asked, message.get("id")) {
                let result = match method {
                    "initialize" => json!({ "capabilities": capabilities }),
                    _ => Value::Null,
                };
                state.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            state.log.push(Received { at: Instant::now(), message });
            drop(state);
            self.changed.notify_all();
        }
    }
}

impl State {
    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let socket = self.socket.as_mut().expect("the editor has not connected yet");
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        socket.write_all(framed.as_bytes()).unwrap();
    }

    fn reply(&self, id: u64) -> Option<Received> {
        let is_it = |r: &&Received| r.message.get("method").is_none() && r.message["id"] == id;
        self.log.iter().find(is_it).cloned()
    }

    fn track(&mut self, message: &Value) {
        let document = &message["params"]["textDocument"];
        let Some(uri) = document["uri"].as_str() else { return };
        match message["method"].as_str() {
            Some("textDocument/didOpen") => {
                let text = document["text"].as_str().unwrap().to_owned();
                let version = document["version"].as_i64().unwrap();
                self.documents.insert(uri.to_owned(), Document { version, text });
            }
            Some("textDocument/didChange") => {
                // A change of a document that isn't open is in the log, and changes nothing.
                let Some(open) = self.documents.get_mut(uri) else { return };
                open.version = document["version"].as_i64().unwrap();
                for change in message["params"]["contentChanges"].as_array().unwrap() {
                    open.text = changed(&open.text, change);
                }
            }
            Some("textDocument/didClose") => {
                self.documents.remove(uri);
            }
            _ => {}
        }
    }
}

/// The file URI of a path, which may only have characters that a URI takes as they are.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A text edit from one position to another, each (line, column).
pub fn edit(from: (u32, u32), to: (u32, u32), text: &str) -> Value {
    json!({
        "range": {
            "start": { "line": from.0, "character": from.1 },
            "end": { "line": to.0, "character": to.1 }
        },
        "newText": text
    })
}

/// One entry of `documentChanges`: these edits of the file at `path`, made for `version`.
pub fn document_edits(path: &Path, version: impl Into<Value>, edits: &[Value]) -> Value {
    json!({ "textDocument": { "uri": uri(path), "version": version.into() }, "edits": edits })
}

/// The text after one content change; what a range covers is found line by line, with `\n` alone
/// as the end of a line, as Neovim counts.
fn changed(text: &str, change: &Value) -> String {
    let new = change["text"].as_str().unwrap();
    if change.get("range").is_none() {
        return new.to_owned();
    }
    let offset = |end: &str| {
        let position = &change["range"][end];
        let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
        let column = usize::try_from(position["character"].as_u64().unwrap()).unwrap();
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        (start + column).min(text.len())
    };
    let (head, _) = text.split_at(offset("start"));
    let (_, tail) = text.split_at(offset("end"));
    format!("{head}{new}{tail}")
}

fn read_message(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut header = String::new();
        if from.read_line(&mut header).ok()? == 0 {
            return None;
        }
        let header = header.trim_end();
        if header.is_empty() {
            break;
        }
        if let Some(number) = header.strip_prefix("Content-Length: ") {
            length = number.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}
