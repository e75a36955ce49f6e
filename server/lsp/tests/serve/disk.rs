//! No command reads the configuration on the message loop: what comes behind it is answered while the disk hangs.

use futures::FutureExt;
use ropewalk_host::{Environment, HostOptions};
use ropewalk_lsp::service;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use tower::{Service, ServiceExt};
use tower_lsp::jsonrpc::Request;

/// A disk that gives nothing until its sender is gone; on the message loop it says no at once, and remembers that.
struct Hanging {
    message_loop: ThreadId,
    was_read_there: AtomicBool,
    until: Mutex<Receiver<()>>,
}

impl Hanging {
    fn new() -> (Arc<Self>, Sender<()>) {
        let (sender, until) = channel();
        let (message_loop, until) = (thread::current().id(), Mutex::new(until));
        let hanging = Self { message_loop, was_read_there: AtomicBool::new(false), until };
        (Arc::new(hanging), sender)
    }
}

impl Environment for Hanging {
    fn home(&self) -> Option<PathBuf> {
        None
    }
    fn var(&self, _: &str) -> Option<String> {
        None
    }
    fn read(&self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        if thread::current().id() == self.message_loop {
            self.was_read_there.store(true, Ordering::SeqCst);
        } else {
            // The sender is never used.
            let _ = self.until.lock().unwrap().recv();
        }
        Err(io::ErrorKind::NotFound.into())
    }
}

fn request(id: i64, method: &'static str, params: Value) -> Request {
    Request::build(method).id(id).params(params).finish()
}

/// One thread, as the message loop is one: what it does is seen to be done beside it.
#[tokio::test]
async fn what_comes_behind_a_command_is_answered_while_the_disk_hangs() {
    for (command, argument) in [
        ("ropewalk.prompt", json!("hello")),
        ("ropewalk.mode", json!("plan")),
        ("ropewalk.model", json!("anthropic/x")),
        ("ropewalk.status", json!({})),
    ] {
        let (disk, hold) = Hanging::new();
        let (mut service, _socket) = service(HostOptions::new(
            Arc::new(|_| Err("there is no model here".to_owned())),
            disk.clone(),
        ));
        // It is always ready.
        let mut call = |id, method, params| {
            service.ready().now_or_never().unwrap().unwrap().call(request(id, method, params))
        };
        call(1, "initialize", json!({ "capabilities": {} })).await.unwrap();
        let params = json!({ "command": command, "arguments": [argument] });
        let mut commanded = call(2, "workspace/executeCommand", params);
        assert!(futures::poll!(&mut commanded).is_pending(), "{command}");
        let start = json!({ "line": 0, "character": 0 });
        let params = json!({
            "textDocument": { "uri": "file:///a" },
            "range": { "start": start, "end": start },
            "context": { "diagnostics": [] },
        });
        let behind = call(3, "textDocument/codeAction", params).await.unwrap().unwrap();
        assert!(behind.is_ok(), "{command}: {behind:?}");
        assert!(futures::poll!(&mut commanded).is_pending(), "{command}");
        drop(hold);
        commanded.await.unwrap();
        assert!(!disk.was_read_there.load(Ordering::SeqCst), "{command}");
    }
}
