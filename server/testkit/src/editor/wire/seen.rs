//! Messages that the editor has seen of its server, and the answers it gives at once.
//!
//! Everything the server sends is kept, by kind, and marked as claimed when a test reads it. What is asked of
//! the user waits in `dialogs`. No thread and no pipe is here.

use super::frames;
use crate::editor::client::{Client, Handling, RequestId, ServerRequest};
use crate::editor::profile::{Flush, Profile};
use crate::planted::{self, KeyWatch};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::mpsc;

/// Kind of message from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `$/progress`.
    Progress,
    /// `textDocument/publishDiagnostics`.
    Diagnostics,
    /// `window/showMessage`.
    Message,
    /// `window/logMessage`.
    Log,
    /// `ropewalk/event`.
    Event,
    /// `window/showMessageRequest`.
    Dialog,
    /// `workspace/applyEdit`: handled by the client's habits, and never left over.
    Edit,
    /// Requests that an editor or its plugin answers by itself: refreshes, capabilities, settings,
    /// saves.
    Technical,
    /// Anything else.
    Other,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// JSON-RPC's code; 0 when there was no answer at all.
    pub code: i64,
    /// The words.
    pub message: String,
}

/// A part of a turn's progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressReport {
    /// Whose.
    pub token: String,
    /// `begin`, `report` or `end`.
    pub kind: String,
    /// Its title, where it begins; else empty.
    pub title: String,
    /// Words of the report, empty if there are none.
    pub message: String,
}

/// A message shown to the user or logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownMessage {
    /// 1 error, 2 warning, 3 info, 4 log.
    pub level: u64,
    /// Its words.
    pub text: String,
    /// True if it only went to the log.
    pub logged: bool,
}

/// A message with buttons that nobody has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    pub(super) id: Value,
    /// Its words.
    pub message: String,
    /// Its buttons, in order.
    pub actions: Vec<String>,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnd {
    /// The stop reason, as the server says it.
    pub stop_reason: String,
    /// Words of the server on the end; clients without events get them as a message instead.
    pub message: Option<String>,
}

#[derive(Debug)]
struct Received {
    kind: Kind,
    method: String,
    params: Value,
    claimed: bool,
}

/// See the module.
#[derive(Debug)]
pub struct EditorMemory {
    pub(super) client: Client,
    pub(super) to_server: Option<mpsc::Sender<Vec<u8>>>,
    pub(super) log: Vec<String>,
    pub(super) faults: Vec<String>,
    /// How edits are handled; None lets them wait.
    pub(super) handling: Option<Handling>,
    /// True if an edit of the server's ends the pause in typing that a debounce waits for.
    pub(super) settles: bool,
    pub(super) ended: bool,
    pub(super) plugin_diagnostics: Value,
    /// Answers of this client's plugin to other requests of ours, by their methods.
    pub(super) plugin_answers: HashMap<String, Value>,
    pub(super) settings: Value,
    answers: HashMap<u64, Result<Value, RpcError>>,
    received: Vec<Received>,
    asked: HashMap<RequestId, (Value, bool)>,
    dialogs: Vec<Dialog>,
    tokens: HashSet<String>,
    ignored: HashSet<Kind>,
    ends_taken: usize,
    next_id: u64,
    /// Ends of streams of words, searched for keys where their pieces meet.
    streams: HashMap<String, KeyWatch>,
    /// Sentence on the first planted key that the server has shown: nothing goes on after that.
    pub(super) leak: Option<String>,
}

/// How much of a message the log keeps.
const LOGGED: usize = 600;

impl EditorMemory {
    pub(super) fn new(profile: Profile, to_server: mpsc::Sender<Vec<u8>>) -> Self {
        Self {
            client: Client::new(profile),
            to_server: Some(to_server),
            log: Vec::new(),
            faults: Vec::new(),
            handling: Some(Handling::Usual),
            settles: true,
            ended: false,
            plugin_diagnostics: json!([]),
            plugin_answers: HashMap::new(),
            settings: Value::Null,
            answers: HashMap::new(),
            received: Vec::new(),
            asked: HashMap::new(),
            dialogs: Vec::new(),
            tokens: HashSet::new(),
            ignored: HashSet::new(),
            ends_taken: 0,
            next_id: 0,
            streams: HashMap::new(),
            leak: None,
        }
    }

    /// The text of an open document.
    pub fn text(&self, uri: &str) -> Option<String> {
        self.client.buffer(uri).map(crate::editor::Buffer::text)
    }

    /// The client: its buffers, and what was applied to them.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// All progress so far, which is claimed.
    pub fn progress(&mut self) -> Vec<ProgressReport> {
        self.claim(Kind::Progress, |params| {
            let value = params.get("value")?;
            let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
            Some(ProgressReport {
                token: token_of(params),
                kind: text("kind").to_owned(),
                title: text("title").to_owned(),
                message: text("message").to_owned(),
            })
        })
    }

    /// Progress so far of the session itself, without that of its teammates, which has their names as titles. All is
    /// claimed.
    pub fn own_progress(&mut self) -> Vec<ProgressReport> {
        let mut all = self.progress();
        let is_of_other = |it: &ProgressReport| it.kind == "begin" && it.title != "Ropewalk";
        let others: HashSet<String> =
            all.iter().filter(|it| is_of_other(it)).map(|it| it.token.clone()).collect();
        all.retain(|it| !others.contains(&it.token));
        all
    }

    /// All messages so far, shown and logged, in order, which are claimed.
    pub fn messages(&mut self) -> Vec<ShownMessage> {
        let mut all = Vec::new();
        for received in &mut self.received {
            if !matches!(received.kind, Kind::Message | Kind::Log) {
                continue;
            }
            received.claimed = true;
            let text = received.params.get("message").and_then(Value::as_str).unwrap_or_default();
            all.push(ShownMessage {
                level: received.params.get("type").and_then(Value::as_u64).unwrap_or(0),
                text: text.to_owned(),
                logged: received.kind == Kind::Log,
            });
        }
        all
    }

    /// All `ropewalk/event` so far, which are claimed.
    pub fn events(&mut self) -> Vec<Value> {
        self.claim(Kind::Event, |params| Some(params.clone()))
    }

    /// The diagnostics of a document as they are shown now; all that came so far is claimed.
    pub fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        let of_uri = self.claim(Kind::Diagnostics, |params| {
            (params.get("uri").and_then(Value::as_str) == Some(uri))
                .then(|| params.get("diagnostics").and_then(Value::as_array).cloned())
        });
        of_uri.into_iter().next_back().flatten().unwrap_or_default()
    }

    /// The dialogs that wait, oldest first; they are claimed when they are answered.
    pub fn dialogs(&self) -> &[Dialog] {
        &self.dialogs
    }

    /// Params of everything of one method so far, which is claimed.
    pub fn take(&mut self, method: &str) -> Vec<Value> {
        let of_method = self.received.iter_mut().filter(|received| received.method == method);
        of_method
            .map(|received| {
                received.claimed = true;
                received.params.clone()
            })
            .collect()
    }

    /// Params of the oldest message of one method that nobody has looked at yet, which is claimed.
    pub fn take_next(&mut self, method: &str) -> Option<Value> {
        let is_next = |received: &&mut Received| received.method == method && !received.claimed;
        let received = self.received.iter_mut().find(is_next)?;
        received.claimed = true;
        Some(received.params.clone())
    }

    /// The next end of a turn of the session itself that nobody has taken yet.
    pub fn take_turn_end(&mut self) -> Option<TurnEnd> {
        let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
        let by_event = self.received.iter().any(|received| received.kind == Kind::Event);
        let ends: Vec<TurnEnd> = if by_event {
            let events = self.events().into_iter();
            events
                .filter(|event| text(event, "type").as_deref() == Some("turn_ended"))
                .filter(|event| text(event, "member").is_none())
                .map(|event| TurnEnd {
                    stop_reason: text(&event, "stopReason").unwrap_or_default(),
                    message: text(&event, "message"),
                })
                .collect()
        } else {
            let progress = self.own_progress().into_iter().filter(|it| it.kind == "end");
            progress
                .map(|progress| TurnEnd {
                    stop_reason: stop_reason(&progress.message).to_owned(),
                    message: None,
                })
                .collect()
        };
        let end = ends.get(self.ends_taken).cloned()?;
        self.ends_taken += 1;
        Some(end)
    }

    pub(super) fn take_answer(&mut self, id: u64) -> Option<Result<Value, RpcError>> {
        self.answers.remove(&id)
    }

    pub(super) fn take_dialog(&mut self, title: Option<&str>) -> Option<Dialog> {
        let has = |dialog: &Dialog| {
            title.is_none_or(|title| dialog.actions.iter().any(|action| action == title))
        };
        let at = self.dialogs.iter().position(has)?;
        let dialog = self.dialogs.remove(at);
        let unclaimed =
            |received: &&mut Received| received.kind == Kind::Dialog && !received.claimed;
        if let Some(received) = self.received.iter_mut().find(unclaimed) {
            received.claimed = true;
        }
        Some(dialog)
    }

    pub(super) fn ignore(&mut self, kinds: &[Kind]) {
        self.ignored.extend(kinds);
    }

    /// Messages that no test has looked at, in words.
    pub(super) fn left_over(&self) -> Vec<String> {
        let left = self.received.iter().filter(|received| {
            !received.claimed
                && !matches!(received.kind, Kind::Edit | Kind::Technical)
                && !self.ignored.contains(&received.kind)
        });
        let left =
            left.map(|received| format!("unclaimed: {} {}", received.method, received.params));
        self.faults.iter().cloned().chain(left).collect()
    }

    fn claim<T>(&mut self, kind: Kind, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let of_kind = self.received.iter_mut().filter(|received| received.kind == kind);
        of_kind
            .filter_map(|received| {
                received.claimed = true;
                read(&received.params)
            })
            .collect()
    }

    /// Sends a request and gives its id.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        // Editors send what they hold back before any request, or the positions in it would be wrong.
        self.flush_all();
        self.next_id += 1;
        self.send(&frames::message(method, params, Some(self.next_id)));
        self.next_id
    }

    pub(super) fn flush_all(&mut self) {
        self.client.flush_all();
        self.pump();
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.note("→", message);
        self.write(frames::framed(message));
    }

    /// Writes bytes as they are. A server that is gone takes none.
    pub(super) fn write(&mut self, bytes: Vec<u8>) {
        if let Some(pipe) = &self.to_server {
            let _ = pipe.send(bytes);
        }
    }

    fn note(&mut self, arrow: &str, message: &Value) {
        let text = message.to_string();
        let short: String = text.chars().take(LOGGED).collect();
        let more = if short.len() < text.len() { "…" } else { "" };
        self.log.push(format!("{arrow} {short}{more}"));
    }

    /// Writes what the client has to say, in order.
    pub(super) fn pump(&mut self) {
        while let Some(out) = self.client.next_outgoing() {
            if let Some(message) = frames::outgoing(out, &mut self.asked) {
                self.send(&message);
            }
        }
    }

    /// Handles the oldest edit that waits, as told.
    pub(super) fn handle(&mut self, how: Handling) -> bool {
        let handled = self.client.handle(how);
        self.pump();
        if handled && self.settles && self.debounced() {
            self.flush_all();
        }
        handled
    }

    /// Looks for the planted keys in a message: in its text, and, for the words of an event, also where they
    /// meet those of the event of the same type before.
    fn search(&mut self, message: &Value) {
        let mut found = planted::find(message.to_string().as_bytes());
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
        if let (Some(kind), Some(words)) = (text("/params/type"), text("/params/text")) {
            let stream = self.streams.entry(kind.to_owned()).or_default();
            found = found.or_else(|| stream.find(words));
        }
        self.leaked("a message", found);
    }

    pub(super) fn search_errors(&mut self, line: &str) {
        self.leaked("standard error", planted::find(line.as_bytes()));
    }

    fn leaked(&mut self, place: &str, found: Option<String>) {
        if let Some(words) = found {
            let words = format!("{place} shows {words}");
            self.faults.push(words.clone());
            self.leak.get_or_insert(words);
        }
    }

    /// Takes a message of the server's.
    pub(super) fn take_in(&mut self, message: Value) {
        self.search(&message);
        self.note("←", &message);
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            self.faults.push(format!("a message without \"jsonrpc\": \"2.0\": {message}"));
        }
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let params = message.get("params").cloned().unwrap_or_default();
        match (method, id) {
            (Some(method), id) => {
                let kind = kind_of(&method);
                self.hold_to_capabilities(&method, &params);
                self.received.push(Received {
                    kind,
                    method: method.clone(),
                    params: params.clone(),
                    claimed: false,
                });
                if let Some(id) = id {
                    self.request(id, &method, &params);
                }
            }
            (None, Some(id)) => {
                let answer = match message.get("error") {
                    Some(error) => Err(RpcError {
                        code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
                        message: error
                            .get("message")
                            .and_then(Value::as_str)
                            .unwrap_or_default()
                            .to_owned(),
                    }),
                    None => Ok(message.get("result").cloned().unwrap_or_default()),
                };
                match id.as_u64() {
                    Some(id) => drop(self.answers.insert(id, answer)),
                    None => self.received.push(Received {
                        kind: Kind::Other,
                        method: "(an answer to nothing)".to_owned(),
                        params: message,
                        claimed: false,
                    }),
                }
            }
            (None, None) => self.faults.push(format!("a message that is nothing: {message}")),
        }
    }

    fn request(&mut self, id: Value, method: &str, params: &Value) {
        let result = match method {
            "workspace/applyEdit" => {
                match frames::file_ops(params) {
                    Ok(ops) => {
                        let request = self.client.receive(ServerRequest::Apply(ops));
                        self.asked.insert(request, (id, true));
                        if let Some(how) = self.handling {
                            self.handle(how);
                        }
                    }
                    Err(words) => {
                        self.faults.push(words.clone());
                        self.send(&frames::answer(&id, Err((-32602, words))));
                    }
                }
                return;
            }
            "workspace/semanticTokens/refresh" => {
                let request = self.client.receive(ServerRequest::Barrier);
                self.asked.insert(request, (id, false));
                self.client.handle(Handling::Usual);
                self.pump();
                return;
            }
            "window/showMessageRequest" if self.client.profile.window => {
                let actions = params.get("actions").and_then(Value::as_array);
                let title = |action: &Value| action.get("title")?.as_str().map(str::to_owned);
                self.dialogs.push(Dialog {
                    id,
                    message: params
                        .get("message")
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned(),
                    actions: actions.into_iter().flatten().filter_map(title).collect(),
                });
                return;
            }
            "window/workDoneProgress/create" => {
                self.tokens.insert(token_of(params));
                Ok(Value::Null)
            }
            "workspace/configuration" => {
                let items = params.get("items").and_then(Value::as_array).map_or(0, Vec::len);
                Ok(Value::Array(vec![self.settings.clone(); items]))
            }
            "workspace/codeLens/refresh" | "client/registerCapability" => Ok(Value::Null),
            "window/showDocument" => Ok(json!({ "success": true })),
            "ropewalk/save" => Ok(self.save(params)),
            "ropewalk/diagnostics" => Ok(self.plugin_diagnostics.clone()),
            method if self.plugin_answers.contains_key(method) => {
                Ok(self.plugin_answers.get(method).cloned().unwrap_or_default())
            }
            _ => Err((-32601, format!("{method} is not known to this editor"))),
        };
        self.send(&frames::answer(&id, result));
    }

    fn save(&mut self, params: &Value) -> Value {
        let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.save_to_disk(&uri);
        Value::Null
    }

    /// Writes a document to the disk, then tells. False when it is not open or has no place there.
    pub(super) fn save_to_disk(&mut self, uri: &str) -> bool {
        let path = ropewalk_workspace::DocId::from_uri(uri).path();
        let (Some(path), Some(text)) = (path, self.client.save(uri)) else {
            return false;
        };
        let written = std::fs::write(path, text).is_ok();
        self.pump();
        written
    }

    /// A server may use only what the client said it knows.
    fn hold_to_capabilities(&mut self, method: &str, params: &Value) {
        let profile = self.client.profile;
        let known = match method {
            "window/workDoneProgress/create" | "window/showDocument" => profile.window,
            "$/progress" => self.tokens.contains(&token_of(params)),
            "workspace/semanticTokens/refresh" => profile.barrier,
            "workspace/codeLens/refresh" => profile.lenses,
            "workspace/applyEdit" => {
                let has = |path: &str| params.pointer(path).is_some();
                let changes = params.pointer("/edit/documentChanges").and_then(Value::as_array);
                let kinds = changes.into_iter().flatten().filter_map(|change| change.get("kind"));
                profile.apply_edit == Some(true)
                    && (profile.takes_versions || !has("/edit/documentChanges"))
                    && kinds
                        .filter_map(Value::as_str)
                        .all(|kind| profile.operations.contains(&kind) && !profile.rename_writes)
            }
            _ => true,
        };
        if !known {
            self.faults.push(format!("{method} goes to a client that has not agreed to it"));
        }
    }

    /// True if the profile holds changes back.
    pub(super) fn debounced(&self) -> bool {
        self.client.profile.flush == Flush::Debounced
    }
}

/// How a turn ended, by the words that its progress ends with: the protocol's name of the reason. Behind them stands what
/// was used and what waits. Words that are none of these are given as they are.
fn stop_reason(words: &str) -> &str {
    let first = words.split(" · ").next().unwrap_or_default();
    let known = ENDS.iter().find(|(words, _)| *words == first);
    known.map_or(first, |(_, reason)| reason)
}

/// Words that a user reads at the end of a turn, and the end's name elsewhere.
const ENDS: &[(&str, &str)] = &[
    ("Done", "end_turn"),
    ("The answer was cut off", "max_tokens"),
    ("Stopped at the limit of steps", "max_steps"),
    ("Stopped: the budget is used up", "budget"),
    ("The model declined", "refusal"),
    ("Stopped", "interrupted"),
    ("Failed", "error"),
];

fn token_of(params: &Value) -> String {
    match params.get("token") {
        Some(Value::String(token)) => token.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn kind_of(method: &str) -> Kind {
    match method {
        "$/progress" => Kind::Progress,
        "textDocument/publishDiagnostics" => Kind::Diagnostics,
        "window/showMessage" => Kind::Message,
        "window/logMessage" => Kind::Log,
        "ropewalk/event" => Kind::Event,
        "window/showMessageRequest" => Kind::Dialog,
        "workspace/applyEdit" => Kind::Edit,
        "window/workDoneProgress/create"
        | "workspace/semanticTokens/refresh"
        | "workspace/codeLens/refresh"
        | "workspace/configuration"
        | "client/registerCapability"
        | "ropewalk/save"
        | "ropewalk/diagnostics"
        | "ropewalk/symbols"
        | "ropewalk/definition"
        | "ropewalk/references" => Kind::Technical,
        _ => Kind::Other,
    }
}
