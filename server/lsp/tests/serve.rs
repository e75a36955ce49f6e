//! The serve loop against everything a client, or what pretends to be one, can do to it: over operating
//! system pipes, with a toy server. Nothing here depends on time; the timeouts only end a test that hangs.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ropewalk_lsp::serve::{End, Reason, ServeOptions, serve};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::notification::{LogMessage, Notification};
use tower_lsp::lsp_types::request::WorkspaceConfiguration;
use tower_lsp::lsp_types::*;
use tower_lsp::{Client, LanguageServer, LspService};

/// Only ever reached by a test that hangs.
const GUARD: Duration = Duration::from_secs(60);

/// Params that can't be read without a panic.
struct Bomb;

impl<'de> serde::Deserialize<'de> for Bomb {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
        panic!("reading params panics, as the test wants");
    }
}

/// What a test sees and steers of the toy.
#[derive(Default)]
struct Shared {
    /// The one document, ASCII in one line but where a test says otherwise.
    text: Mutex<Vec<u16>>,
    /// Progress tokens the client has cancelled.
    cancelled: Mutex<Vec<ProgressToken>>,
    /// How many log messages were sent, or are on their way.
    said: Mutex<usize>,
}

struct Toy {
    client: Client,
    shared: Arc<Shared>,
    /// Gets the command of each handler that begins to wait.
    waiting: mpsc::UnboundedSender<String>,
    /// A waiting handler goes on when there is a permit.
    gate: Arc<Semaphore>,
}

impl Toy {
    async fn pass_gate(&self, command: &str) {
        self.waiting.send(command.to_owned()).unwrap();
        self.gate.acquire().await.unwrap().forget();
    }

    async fn say(&self, text: impl Into<String>) {
        *self.shared.said.lock().unwrap() += 1;
        self.client.log_message(MessageType::LOG, text.into()).await;
    }

    async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        self.shared.cancelled.lock().unwrap().push(params.token);
    }

    async fn explode(&self, _: Bomb) -> Result<()> {
        Ok(())
    }

    async fn panic_notified(&self, _: Value) {
        panic!("a notification's handler panics, as the test wants");
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Toy {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        if params.initialization_options == Some(json!("wait")) {
            self.pass_gate("initialize").await;
        }
        Ok(InitializeResult::default())
    }

    async fn initialized(&self, _: InitializedParams) {
        self.say("initialized").await;
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        *self.shared.text.lock().unwrap() = params.text_document.text.encode_utf16().collect();
        tokio::task::yield_now().await;
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        for change in params.content_changes {
            let range = change.range.unwrap();
            let range = range.start.character as usize..range.end.character as usize;
            self.shared.text.lock().unwrap().splice(range, change.text.encode_utf16());
        }
        tokio::task::yield_now().await;
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let number = params.arguments.first().and_then(Value::as_u64).unwrap_or(0);
        match params.command.as_str() {
            "text" => {
                Ok(Some(json!(String::from_utf16(&self.shared.text.lock().unwrap()).unwrap())))
            }
            "wait" => {
                self.pass_gate("wait").await;
                Ok(Some(json!(number)))
            }
            "ask" => {
                let items =
                    vec![ConfigurationItem { scope_uri: None, section: Some(number.to_string()) }];
                self.waiting.send("ask".into()).unwrap();
                let params = ConfigurationParams { items };
                let answers = self.client.send_request::<WorkspaceConfiguration>(params).await?;
                Ok(answers.into_iter().next())
            }
            "say" => {
                for count in 0..number {
                    self.say(count.to_string()).await;
                }
                Ok(None)
            }
            "long" => {
                tokio::task::yield_now().await;
                Ok(Some(json!("é".repeat(number as usize))))
            }
            "panic" => panic!("a handler panics, as the test wants"),
            "panic later" => {
                tokio::task::yield_now().await;
                panic!("a handler panics later, as the test wants");
            }
            "echo" => Ok(params.arguments.into_iter().next()),
            other => panic!("the toy knows no command {other}"),
        }
    }
}

/// The test's end of the pipes.
struct Editor {
    to_server: Option<PipeWriter>,
    from_server: mpsc::UnboundedReceiver<Value>,
    serving: JoinHandle<io::Result<End>>,
    shared: Arc<Shared>,
    waiting: mpsc::UnboundedReceiver<String>,
    gate: Arc<Semaphore>,
}

fn start(options: ServeOptions) -> (Editor, io::PipeReader) {
    let shared = Arc::<Shared>::default();
    let gate = Arc::new(Semaphore::new(0));
    let (waits, waiting) = mpsc::unbounded_channel();
    let (service, socket) = LspService::build(|client| Toy {
        client,
        shared: shared.clone(),
        waiting: waits,
        gate: gate.clone(),
    })
    .custom_method("window/workDoneProgress/cancel", Toy::cancel_progress)
    .custom_method("test/panic", Toy::panic_notified)
    .custom_method("test/explode", Toy::explode)
    .finish();
    let (input, to_server) = io::pipe().unwrap();
    let (output, from_toy) = io::pipe().unwrap();
    let serving = tokio::spawn(serve(service, socket, input, from_toy, options));
    let (_, from_server) = mpsc::unbounded_channel();
    (Editor { to_server: Some(to_server), from_server, serving, shared, waiting, gate }, output)
}

impl Editor {
    /// An editor that reads all that comes.
    fn new(options: ServeOptions) -> Self {
        let (mut editor, output) = start(options);
        editor.read(output);
        editor
    }

    async fn initialized() -> Self {
        Self::new(ServeOptions::default()).initialize(json!({"capabilities": {}})).await
    }

    async fn initialize(mut self, params: Value) -> Self {
        self.send(&request("initialize", "initialize", params));
        assert!(self.answer(json!("initialize")).await["result"].is_object());
        self
    }

    fn read(&mut self, output: io::PipeReader) {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.from_server = receiver;
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut header = String::new();
                if output.read_line(&mut header).unwrap() == 0 {
                    return;
                }
                let length = header.strip_prefix("Content-Length: ").expect("a whole frame");
                let mut body = vec![0; length.trim().parse::<usize>().unwrap() + 2];
                output.read_exact(&mut body).unwrap();
                assert_eq!(&body[..2], b"\r\n");
                if sender.send(serde_json::from_slice(&body[2..]).unwrap()).is_err() {
                    return;
                }
            }
        });
    }

    fn send(&mut self, message: &Value) {
        self.send_bytes(frame(message));
    }

    fn send_bytes(&mut self, bytes: impl AsRef<[u8]>) {
        self.to_server.as_mut().unwrap().write_all(bytes.as_ref()).unwrap();
    }

    async fn next(&mut self) -> Value {
        let next = tokio::time::timeout(GUARD, self.from_server.recv()).await;
        next.expect("no message came").expect("the output has ended")
    }

    /// The answer to `id`; what comes before it is dropped.
    async fn answer(&mut self, id: Value) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    async fn command(&mut self, id: &str, command: &str, argument: Value) -> Value {
        self.send(&execute(id, command, argument));
        self.answer(json!(id)).await
    }

    /// Still serving: an echo comes back.
    async fn lives(&mut self) {
        assert_eq!(self.command("lives", "echo", json!("é")).await["result"], "é");
    }

    async fn until_waiting(&mut self, command: &str) {
        let waits = tokio::time::timeout(GUARD, self.waiting.recv()).await;
        assert_eq!(waits.unwrap().as_deref(), Some(command));
    }

    async fn end(self) -> (Reason, u8) {
        let Self { serving, .. } = self;
        let end = tokio::time::timeout(GUARD, serving).await.expect("still serving");
        let end = end.unwrap().unwrap();
        (end.reason, end.exit_code())
    }
}

fn frame(message: &Value) -> Vec<u8> {
    frame_of(message.to_string())
}

fn frame_of(body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.as_ref().len()).into_bytes();
    frame.extend(body.as_ref());
    frame
}

fn request(id: &str, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn execute(id: &str, command: &str, argument: Value) -> Value {
    request(id, "workspace/executeCommand", json!({"command": command, "arguments": [argument]}))
}

fn did_open(text: &str) -> Value {
    let document = json!({"uri": "file:///a", "languageId": "x", "version": 0, "text": text});
    notification("textDocument/didOpen", json!({"textDocument": document}))
}

/// Replaces `length` units at `at` by `text`.
fn did_change(version: usize, at: usize, length: usize, text: &str) -> Value {
    let (start, end) =
        (json!({"line": 0, "character": at}), json!({"line": 0, "character": at + length}));
    let change = json!({"range": {"start": start, "end": end}, "text": text});
    let document = json!({"uri": "file:///a", "version": version});
    notification(
        "textDocument/didChange",
        json!({"textDocument": document, "contentChanges": [change]}),
    )
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer} is no error"))
}

fn shutdown() -> Value {
    json!({"jsonrpc": "2.0", "id": "shutdown", "method": "shutdown"})
}

fn exit() -> Value {
    json!({"jsonrpc": "2.0", "method": "exit"})
}

// ---- order ----

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_edits_is_applied_in_order() {
    let mut editor = Editor::initialized().await;
    let mut expected = "0123456789".to_owned();
    let mut burst = frame(&did_open(&expected));
    for version in 1..=10_000 {
        // Positions and texts that give another text in any other order.
        let at = version * 7 % expected.len();
        let length = version % 3 % (expected.len() - at);
        let text = (version * 31).to_string();
        expected.replace_range(at..at + length, &text);
        burst.extend(frame(&did_change(version, at, length, &text)));
    }
    burst.extend(frame(&execute("text", "text", json!(null))));
    editor.send_bytes(burst);
    assert_eq!(editor.answer(json!("text")).await["result"], expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_start_in_one_write_works() {
    let mut editor = Editor::new(ServeOptions::default());
    let mut start = Vec::new();
    for message in [
        request("initialize", "initialize", json!({"capabilities": {}, "processId": null})),
        notification("initialized", json!({})),
        did_open("all at once"),
        execute("text", "text", json!(null)),
    ] {
        start.extend(frame(&message));
    }
    editor.send_bytes(start);
    // What `initialized` sends may not come before the answer to `initialize`.
    assert!(editor.next().await["result"]["capabilities"].is_object());
    assert_eq!(editor.answer(json!("text")).await["result"], "all at once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_handler_sends_comes_before_its_answer() {
    let mut editor = Editor::initialized().await;
    for round in 0..200 {
        editor.send(&execute("say", "say", json!(3)));
        for said in 0..3 {
            let message = editor.next().await;
            assert_eq!(message["method"], LogMessage::METHOD, "round {round}");
            assert_eq!(message["params"]["message"], said.to_string());
        }
        assert_eq!(editor.next().await["id"], "say");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_are_written_whole() {
    let mut editor = Editor::initialized().await;
    for id in 0..200 {
        editor.send(&execute(&id.to_string(), "long", json!(id * 100)));
        editor.send(&execute(&format!("say {id}"), "say", json!(2)));
    }
    // The reading thread of the test fails at a frame inside another.
    let mut left = 200 * 4;
    while left > 0 {
        let message = editor.next().await;
        if let Some(text) = message["result"].as_str() {
            let id: usize = message["id"].as_str().unwrap().parse().unwrap();
            assert_eq!(text.chars().count(), id * 100);
        }
        left -= 1;
    }
}

// ---- waiting handlers ----

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_that_wait_for_the_client_stop_nothing() {
    let mut editor = Editor::initialized().await;
    let mut asked = Vec::new();
    for id in 0..8 {
        editor.send(&execute(&format!("ask {id}"), "ask", json!(id)));
        editor.until_waiting("ask").await;
        asked.push(editor.next().await);
    }
    let mut queued = frame(&did_open(""));
    for version in 0..300 {
        queued.extend(frame(&did_change(version, version, 0, "x")));
    }
    queued.extend(frame(&notification("$/cancelRequest", json!({"id": "ask 3"}))));
    editor.send_bytes(queued);
    // The cancellation gets through, and so has all that came before it.
    assert_eq!(code(&editor.answer(json!("ask 3")).await), -32800);
    assert_eq!(editor.command("text", "text", json!(null)).await["result"], "x".repeat(300));
    // The answers come in another order than the questions; that to the cancelled one comes too.
    for question in asked.iter().rev() {
        assert_eq!(question["method"], "workspace/configuration");
        let section = question["params"]["items"][0]["section"].clone();
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": [section]});
        editor.send(&answer);
        if section != "3" {
            let id = format!("ask {}", section.as_str().unwrap());
            assert_eq!(editor.answer(json!(id)).await["result"], section);
        }
    }
    editor.lives().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_nobody_waits_for_are_dropped() {
    let mut editor = Editor::initialized().await;
    for (id, result) in [(json!(77), json!([])), (json!("x"), json!(null)), (json!(null), json!(1))]
    {
        editor.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }
    editor.send(&execute("ask", "ask", json!(1)));
    let question = editor.next().await;
    editor.send(&notification("$/cancelRequest", json!({"id": "ask"})));
    assert_eq!(code(&editor.answer(json!("ask")).await), -32800);
    for _ in 0..2 {
        editor.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": [1]}));
    }
    editor.lives().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_of_the_client_reaches_the_handler() {
    let mut editor = Editor::initialized().await;
    editor.send(&execute("ask", "ask", json!(1)));
    let id = editor.next().await["id"].clone();
    editor.send(&json!({"jsonrpc": "2.0", "id": id, "result": null, "error": {"code": -5, "message": "no"}}));
    assert_eq!(code(&editor.answer(json!("ask")).await), -5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_cancelled_through_a_custom_method() {
    let mut editor = Editor::initialized().await;
    editor.send(&notification("window/workDoneProgress/cancel", json!({"token": "turn 1"})));
    editor.lives().await;
    let cancelled = editor.shared.cancelled.lock().unwrap();
    assert_eq!(*cancelled, [ProgressToken::String("turn 1".into())]);
}

// ---- panics ----

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_an_error_reply() {
    let mut editor = Editor::initialized().await;
    for command in ["panic", "panic later", "panic", "panic later"] {
        // The same id each time: a panic leaves none behind as taken.
        assert_eq!(code(&editor.command("7", command, json!(null)).await), -32603, "{command}");
    }
    editor.send(&request("7", "test/explode", json!({})));
    assert_eq!(code(&editor.answer(json!("7")).await), -32603);
    editor.send(&notification("test/panic", json!({})));
    assert_eq!(editor.command("7", "echo", json!(1)).await["result"], 1);
}

// ---- bad input ----

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
    let text = editor.command("text", "text", json!(null)).await["result"].clone();
    assert_eq!(text, "a\u{fffd}B\\ud800😀\u{fffd}");

    let (before, after) = open.split_once("PLACE").unwrap();
    editor.send_bytes(frame_of([before.as_bytes(), b"x\xffy", after.as_bytes()].concat()));
    let text = editor.command("text", "text", json!(null)).await["result"].clone();
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

// ---- the client's life ----

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
    assert_eq!(editor.command("text", "text", json!(null)).await["result"], "");

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

// ---- a client that does not read ----

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
