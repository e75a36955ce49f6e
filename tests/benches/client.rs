//! `ropewalk lsp` behind pipes, and the least of an editor in front of it: it sends what it is told to, and
//! makes the edits that it is asked for. It keeps no text and checks nothing.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running server. Dropping it ends it.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    version: i32,
}

/// The command that starts the server, in an environment of the bench's own.
pub(crate) fn server(environment: Vec<(&str, String)>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropewalk"));
    command.arg("lsp").envs(environment);
    command
}

/// A message as it goes over the wire.
pub(crate) fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A notification as it goes over the wire.
pub(crate) fn notification(method: &str, params: Value) -> Vec<u8> {
    frame(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// A request as it goes over the wire.
pub(crate) fn request(id: u32, method: &str, params: Value) -> Vec<u8> {
    frame(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// The request `initialize`, of a client that takes events and asks to be asked nothing.
pub(crate) fn initialize(root: &Path) -> Vec<u8> {
    let params = json!({
        "processId": null,
        "clientInfo": {"name": "Visual Studio Code"},
        "rootUri": uri(root),
        "capabilities": {
            "workspace": { "applyEdit": true, "workspaceEdit": { "documentChanges": true } },
        },
        "initializationOptions": {"events": true, "drawsHunks": true, "approvals": true, "messages": true},
    });
    request(0, "initialize", params)
}

/// The notification that a document is open.
pub(crate) fn did_open(path: &Path, text: &str) -> Vec<u8> {
    let document = json!({"uri": uri(path), "languageId": "rust", "version": 1, "text": text});
    notification("textDocument/didOpen", json!({"textDocument": document}))
}

/// The URI of a path of plain ASCII.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// Starts the server with `command`, such as [`server`] gives.
    pub(crate) fn start(mut command: Command) -> Client {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Client { child, input, output, version: 1 }
    }

    /// Starts the server and introduces itself.
    pub(crate) fn initialized(command: Command, root: &Path) -> Client {
        let mut client = Client::start(command);
        client.send(&initialize(root));
        client.next();
        client.send(&notification("initialized", json!({})));
        client
    }

    /// Writes what is framed already.
    pub(crate) fn send(&mut self, frames: &[u8]) {
        self.input.write_all(frames).expect("the server reads");
    }

    /// Asks something that is answered when all that was sent before has been handled, and waits for the answer.
    pub(crate) fn barrier(&mut self) {
        self.send(&request(2, "ropewalk/nothing", json!(null)));
        while self.next()["id"] != 2 {}
    }

    /// Ends the server as an editor does, and waits for its end.
    pub(crate) fn end(mut self) {
        self.send(&request(3, "shutdown", json!(null)));
        self.send(&notification("exit", json!(null)));
        let status = self.child.wait().expect("waited for");
        assert!(status.success(), "the server ended with {status}");
    }

    /// The next message of the server.
    pub(crate) fn next(&mut self) -> Value {
        let mut header = String::new();
        self.output.read_line(&mut header).expect("a header");
        let length: usize = header
            .trim()
            .rsplit(' ')
            .next()
            .and_then(|length| length.parse().ok())
            .expect("a length: the server has ended");
        let mut body = vec![0; length + 2];
        self.output.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// The next message that is a `ropewalk/event` of this type, or a request or notification of this method.
    pub(crate) fn until(&mut self, wanted: &str) -> Value {
        loop {
            let message = self.next();
            if message["params"]["type"] == wanted || message["method"] == wanted {
                return message;
            }
        }
    }

    /// Asks for a turn.
    pub(crate) fn prompt(&mut self, text: &str) {
        let params = json!({"command": "ropewalk.prompt", "arguments": [text]});
        self.send(&request(1, "workspace/executeCommand", params));
    }

    /// Makes the edit that was asked for, and says so, as an editor does: the change first.
    pub(crate) fn make(&mut self, asked: &Value) {
        let edit = &asked["params"]["edit"]["documentChanges"][0];
        self.version += 1;
        let changes: Vec<Value> = edit["edits"]
            .as_array()
            .expect("edits")
            .iter()
            .rev()
            .map(|edit| json!({"range": edit["range"], "text": edit["newText"]}))
            .collect();
        let document = json!({"uri": edit["textDocument"]["uri"], "version": self.version});
        let changed = json!({"textDocument": document, "contentChanges": changes});
        self.send(&notification("textDocument/didChange", changed));
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"applied": true}});
        self.send(&frame(&answer));
    }

    /// The server's process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The one process that was started here; that it may have ended is no matter.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A field of a process's status that is in kB, in MB: `VmRSS`, `VmHWM`. None when it is gone.
pub(crate) fn memory(pid: u32, field: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: f64 = line.trim_start_matches(':').trim().split(' ').next()?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Ticks of the clock in a second, as `/proc` counts them on Linux.
const TICKS: f64 = 100.0;

/// User and system time of a process, and of those of its children that it has waited for, in seconds.
pub(crate) struct ProcessorTime {
    pub(crate) own: f64,
    pub(crate) children: f64,
}

/// The time that a process has used. None when it is gone.
pub(crate) fn processor_time(pid: u32) -> Option<ProcessorTime> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may have blanks in it; the state is the first after it.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some(ProcessorTime {
        own: (ticks(11)? + ticks(12)?) / TICKS,
        children: (ticks(13)? + ticks(14)?) / TICKS,
    })
}
