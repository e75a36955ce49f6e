//! Costs of the serve loop, measured: from sending a message to its bytes at the editor's end of
//! the pipe, and the throughput of edits. Ignored by default, since a busy machine decides the
//! numbers: `cargo test --release -p ropewalk-lsp --test serve speed -- --ignored --nocapture`.

use std::io::{self, BufRead, BufReader, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ropewalk_lsp::serve::{Documents, ServeOptions, serve};
use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::*;
use tower_lsp::{Client, LanguageServer, LspService};

struct Toy {
    client: Client,
    edited: AtomicUsize,
}

#[tower_lsp::async_trait]
impl LanguageServer for Toy {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        Ok(InitializeResult::default())
    }

    async fn initialized(&self, _: InitializedParams) {
        let client = self.client.clone();
        // A turn that streams a text, a piece every millisecond.
        tokio::spawn(async move {
            let start = Instant::now();
            for piece in 1..=2000u32 {
                tokio::time::sleep_until((start + Duration::from_millis(1) * piece).into()).await;
                let sent = start.elapsed().as_nanos().to_string();
                client.log_message(MessageType::LOG, sent).await;
            }
        });
    }

    async fn execute_command(&self, _: ExecuteCommandParams) -> Result<Option<Value>> {
        Ok(Some(json!(self.edited.load(Ordering::Relaxed))))
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}

impl Documents for Toy {
    fn changed(&self, params: DidChangeTextDocumentParams) {
        self.edited.fetch_add(params.content_changes.len(), Ordering::Relaxed);
    }

    fn opened(&self, _: DidOpenTextDocumentParams, _: &str) {}
    fn saved(&self, _: DidSaveTextDocumentParams) {}
    fn closed(&self, _: DidCloseTextDocumentParams) {}

    fn unread(&self, _: Option<&str>) {}
}

fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn next(output: &mut impl BufRead) -> Value {
    let mut header = String::new();
    output.read_line(&mut header).unwrap();
    let length: usize = header.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let mut body = vec![0; length + 2];
    output.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body[2..]).unwrap()
}

#[test]
#[ignore = "measures time"]
fn a_text_delta_is_at_the_editor_within_a_millisecond() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (service, socket) = LspService::new(|client| Toy { client, edited: AtomicUsize::new(0) });
    let (input, mut to_server) = io::pipe().unwrap();
    let (from_server, output) = io::pipe().unwrap();
    let mut from_server = BufReader::new(from_server);
    let serving = runtime.spawn(serve(service, socket, input, output, ServeOptions::default()));

    let call = |id: usize| {
        frame(&json!({"jsonrpc": "2.0", "id": id, "method": "workspace/executeCommand",
            "params": {"command": "edited"}}))
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"capabilities": {}}});
    to_server.write_all(&frame(&initialize)).unwrap();
    next(&mut from_server);

    let mut trips: Vec<Duration> = (0..2000)
        .map(|id| {
            let start = Instant::now();
            to_server.write_all(&call(id)).unwrap();
            next(&mut from_server);
            start.elapsed()
        })
        .collect();
    trips.sort();
    println!("request and answer: p50 {:?}, p99 {:?}", trips[1000], trips[1980]);

    let edits: Vec<u8> = (0..20_000)
        .flat_map(|version| {
            let at = json!({"line": version, "character": 5});
            frame(&json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
                "textDocument": {"uri": "file:///home/a/project/src/main.rs", "version": version},
                "contentChanges": [{"range": {"start": at, "end": at}, "text": "x".repeat(100)}]}}))
        })
        .collect();
    let start = Instant::now();
    to_server.write_all(&edits).unwrap();
    to_server.write_all(&call(7)).unwrap();
    assert_eq!(next(&mut from_server)["result"], 20_000);
    println!("an edit: {:?}", start.elapsed() / 20_000);

    // The number in the message is the sender's time; the reader's clock starts with the first one.
    to_server
        .write_all(&frame(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}})))
        .unwrap();
    let mut clock = None;
    let mut late: Vec<i128> = (0..2000)
        .map(|_| {
            let message = next(&mut from_server);
            let clock = clock.get_or_insert_with(Instant::now);
            let sent: i128 = message["params"]["message"].as_str().unwrap().parse().unwrap();
            clock.elapsed().as_nanos() as i128 - sent
        })
        .collect();
    late.sort();
    // Both clocks run alike, so that the earliest arrival is the one without delay.
    let delay = |rank: usize| Duration::from_nanos((late[rank] - late[0]) as u64);
    println!("a delta, above the fastest: p50 {:?}, p99 {:?}", delay(1000), delay(1980));
    assert!(delay(1980) <= Duration::from_millis(1), "{:?}", delay(1980));
    drop(to_server);
    runtime.block_on(serving).unwrap().unwrap();
}
