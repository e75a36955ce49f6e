//! The test's end of the pipes: an editor that sends what it is told to, and reads when it is told to.

use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use ropewalk_lsp::serve::{Reason, ServeEnd, ServeOptions, serve};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tower_lsp::LspService;

use crate::messages::{execute, frame, request};
use crate::toy::{Shared, Toy};

/// Only ever reached by a test that hangs.
pub(crate) const GUARD: Duration = Duration::from_secs(60);

/// The test's end of the pipes.
pub(crate) struct Editor {
    pub(crate) to_server: Option<PipeWriter>,
    from_server: mpsc::UnboundedReceiver<Value>,
    serving: JoinHandle<io::Result<ServeEnd>>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) waiting: mpsc::UnboundedReceiver<String>,
    pub(crate) gate: Arc<Semaphore>,
}

pub(crate) fn start(options: ServeOptions) -> (Editor, io::PipeReader) {
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
    pub(crate) fn new(options: ServeOptions) -> Self {
        let (mut editor, output) = start(options);
        editor.read(output);
        editor
    }

    pub(crate) async fn initialized() -> Self {
        Self::new(ServeOptions::default()).initialize(json!({"capabilities": {}})).await
    }

    pub(crate) async fn initialize(mut self, params: Value) -> Self {
        self.send(&request("initialize", "initialize", params));
        assert!(self.answer(json!("initialize")).await["result"].is_object());
        self
    }

    pub(crate) fn read(&mut self, output: io::PipeReader) {
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

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(frame(message));
    }

    pub(crate) fn send_bytes(&mut self, bytes: impl AsRef<[u8]>) {
        self.to_server.as_mut().unwrap().write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) async fn next(&mut self) -> Value {
        let next = tokio::time::timeout(GUARD, self.from_server.recv()).await;
        next.expect("no message came").expect("the output has ended")
    }

    /// The answer to `id`; what comes before it is dropped.
    pub(crate) async fn answer(&mut self, id: Value) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn command(&mut self, id: &str, command: &str, argument: Value) -> Value {
        self.send(&execute(id, command, argument));
        self.answer(json!(id)).await
    }

    /// The text that the toy has once all that was sent has been handled.
    pub(crate) async fn text(&mut self) -> Value {
        self.command("text", "text", json!(null)).await["result"].clone()
    }

    /// Still serving: an echo comes back.
    pub(crate) async fn lives(&mut self) {
        assert_eq!(self.command("lives", "echo", json!("é")).await["result"], "é");
    }

    pub(crate) async fn until_waiting(&mut self, command: &str) {
        let waits = tokio::time::timeout(GUARD, self.waiting.recv()).await;
        assert_eq!(waits.unwrap().as_deref(), Some(command));
    }

    pub(crate) async fn end(self) -> (Reason, u8) {
        let Self { serving, .. } = self;
        let end = tokio::time::timeout(GUARD, serving).await.expect("still serving");
        let end = end.unwrap().unwrap();
        (end.reason, end.exit_code())
    }
}
