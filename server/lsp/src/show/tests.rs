//! Events of teammates at the wire, in clients that take them and in others.

use super::show_events;
use crate::service;
use crate::state::State;
use futures::{SinkExt, StreamExt};
use ropewalk_host::{Environment, HostOptions};
use ropewalk_protocol::{Approval, Event, Resolution, SessionEvent, StopReason};
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;
use tower::{Service, ServiceExt};
use tower_lsp::jsonrpc::{Request, Response};
use tower_lsp::{ClientSocket, LspService, lsp_types as lsp};

/// No home, no variables, no files.
struct Bare;

impl Environment for Bare {
    fn home(&self) -> Option<PathBuf> {
        None
    }
    fn var(&self, _: &str) -> Option<String> {
        None
    }
    fn read(&self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// A client with these options, and a team that events are told of.
struct Desk {
    service: LspService<crate::Backend>,
    socket: ClientSocket,
    events: mpsc::UnboundedSender<SessionEvent>,
}

impl Desk {
    async fn new(options: Value) -> Desk {
        let models = Arc::new(|_: &_| Err("there is no model here".to_owned()));
        let (mut service, socket) = service(HostOptions::new(models, Arc::new(Bare)));
        let capabilities = json!({ "window": { "workDoneProgress": true } });
        let params = json!({ "capabilities": capabilities, "initializationOptions": options });
        let request = Request::build("initialize").id(1).params(params).finish();
        service.ready().await.unwrap().call(request).await.unwrap();
        let (events, told) = mpsc::unbounded_channel();
        tokio::spawn(show_events(service.inner().state.clone(), told));
        Desk { service, socket, events }
    }

    fn state(&self) -> &Arc<State> {
        &self.service.inner().state
    }

    /// Something that alice, or a subagent of hers, does.
    fn tell(&self, thread: Option<&str>, event: Event) {
        let told = SessionEvent {
            session: Some("s2".into()),
            thread: thread.map(str::to_owned),
            member: Some("alice".to_owned()),
            event,
        };
        self.events.send(told).unwrap();
    }

    /// The next thing that the client is sent, as the method and what is to be read of it.
    async fn next(&mut self) -> (String, Value) {
        let request = self.socket.next().await.unwrap();
        if let Some(id) = request.id() {
            let response = Response::from_ok(id.clone(), Value::Null);
            self.socket.send(response).await.unwrap();
        }
        let params = request.params().cloned().unwrap_or_default();
        let what = match request.method() {
            "$/progress" => {
                let part = &params["value"];
                json!([part["kind"], part["title"], part["message"]])
            }
            "window/showMessage" => params["message"].clone(),
            "ropewalk/event" => json!([params["type"], params["member"], params["thread"]]),
            _ => Value::Null,
        };
        (request.method().to_owned(), what)
    }

    async fn expect(&mut self, method: &str, what: Value) {
        assert_eq!(self.next().await, (method.to_owned(), what));
    }
}

fn approval() -> Approval {
    Approval {
        id: 7,
        tool: "bash".to_owned(),
        detail: "touch x".to_owned(),
        reason: "it is not allowed yet".to_owned(),
        ..Approval::default()
    }
}

fn call(tool: &str, title: &str) -> Event {
    let (call, tool, title) = ("1".into(), tool.to_owned(), title.to_owned());
    Event::ToolCall { turn: 1, call, tool, title, input: Value::Null }
}

/// A turn of alice's up to her question.
fn tell_turn(desk: &Desk) {
    desk.tell(None, Event::TurnStarted { turn: 1, prompt: "Greet\nthem".to_owned() });
    let text = "I greet.".to_owned();
    desk.tell(None, Event::TextDelta { turn: 1, message: "m".into(), text });
    desk.tell(None, call("edit_file", "greet.py"));
    desk.tell(Some("1.1"), call("grep", "hello"));
    desk.tell(None, Event::ApprovalRequested { turn: 1, approval: approval() });
}

fn tell_end(desk: &Desk) {
    desk.tell(None, Event::ApprovalResolved { turn: 1, approval: 7, how: Resolution::Allowed });
    let stop_reason = StopReason::EndTurn;
    desk.tell(None, Event::TurnEnded { turn: 1, stop_reason, message: None });
}

/// The answers that code actions offer, with whom they are for.
fn answers(desk: &Desk) -> Vec<(String, Value)> {
    let params = json!({
        "textDocument": { "uri": "file:///a.txt" },
        "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } },
        "context": { "diagnostics": [] },
    });
    let params: lsp::CodeActionParams = serde_json::from_value(params).unwrap();
    let actions = desk.state().actions(&params).into_iter();
    let answers = actions.map(|action| {
        let argument = action.command.unwrap().arguments.unwrap().remove(0);
        (action.title, argument["session"].clone())
    });
    answers.collect()
}

#[tokio::test]
async fn a_client_without_the_option_sees_progress_and_questions_under_the_name_and_nothing_else() {
    for options in [json!({}), json!({ "events": true, "approvals": true, "threads": true })] {
        let mut desk = Desk::new(options).await;
        tell_turn(&desk);
        desk.expect("window/workDoneProgress/create", Value::Null).await;
        desk.expect("$/progress", json!(["begin", "alice", "Greet"])).await;
        desk.expect("$/progress", json!(["report", null, "edit_file greet.py"])).await;
        desk.expect("$/progress", json!(["report", null, "grep hello"])).await;
        let asks =
            "alice asks to run bash: touch x\n(it is not allowed yet)\nAnswer with code actions.";
        desk.expect("window/showMessage", json!(asks)).await;
        desk.expect("$/progress", json!(["report", null, "waits for your approval"])).await;
        let offered = [
            ("Ropewalk: allow once: alice".to_owned(), json!("s2")),
            ("Ropewalk: refuse: alice".to_owned(), json!("s2")),
        ];
        assert_eq!(answers(&desk), offered);
        assert_eq!(desk.state().teammates.session_of_token("ropewalk/s2/1").as_deref(), Some("s2"));
        tell_end(&desk);
        desk.expect("$/progress", json!(["end", null, "Done"])).await;
        assert_eq!(answers(&desk), []);
        assert_eq!(desk.state().teammates.session_of_token("ropewalk/s2/1"), None);
    }
}

#[tokio::test]
async fn a_client_with_the_option_gets_the_events_and_shows_them_itself() {
    let options = json!({ "events": true, "approvals": true, "team": true });
    let mut desk = Desk::new(options).await;
    tell_turn(&desk);
    tell_end(&desk);
    for kind in [
        "turn_started",
        "text_delta",
        "tool_call",
        "approval_requested",
        "approval_resolved",
        "turn_ended",
    ] {
        desk.expect("ropewalk/event", json!([kind, "alice", null])).await;
    }
}
