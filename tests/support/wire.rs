//! Messages between an editor and our server, recorded byte by byte, and what in them is not as `editors/protocol.json`
//! has it.

use super::schema;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Names of the two directions: messages of the client, and of the server.
const ENDS: [&str; 2] = ["sent", "told"];

/// Writes `program`, a script that runs the server with all that it is sent and tells kept in the folder `records`. It
/// has the process id and the end of the server.
pub fn record(program: &Path, server: &str, records: &Path) {
    std::fs::create_dir_all(records).unwrap();
    let file = |end: &str| format!("'{}'/$$.{end}", records.display());
    let script = format!(
        "#!/usr/bin/env bash\n[[ ${{1:-}} == lsp ]] || exec '{server}' \"$@\"\n\
         exec '{server}' \"$@\" < <(exec tee {}) > >(exec tee {})\n",
        file(ENDS[0]),
        file(ENDS[1])
    );
    std::fs::write(program, script).unwrap();
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// All that is wrong in what was recorded.
pub fn faults(records: &Path) -> Vec<String> {
    Talk::of(records).faults
}

/// The places in `editors/protocol.json` of all messages that were recorded.
pub fn kinds(records: &Path) -> BTreeSet<String> {
    Talk::of(records).kinds
}

/// The messages of one direction. The last one is cut off where its sender was killed.
fn messages(path: &Path) -> Vec<Value> {
    const LENGTH: &[u8] = b"Content-Length: ";
    let bytes = std::fs::read(path).unwrap_or_default();
    let mut rest = bytes.as_slice();
    let mut found = Vec::new();
    while let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") {
        let head = rest[..end].split(|byte| *byte == b'\n');
        let length = head.filter_map(|line| line.strip_prefix(LENGTH)).next().expect("a length");
        let length: usize = std::str::from_utf8(length).unwrap().trim().parse().unwrap();
        let Some(body) = rest.get(end + 4..end + 4 + length) else { break };
        found.push(serde_json::from_slice(body).expect("a message is JSON"));
        rest = &rest[end + 4 + length..];
    }
    found
}

#[derive(Default)]
struct Talk {
    kinds: BTreeSet<String>,
    faults: Vec<String>,
}

impl Talk {
    /// All that was recorded, looked at.
    fn of(records: &Path) -> Self {
        let mut talk = Self::default();
        let entries = std::fs::read_dir(records).into_iter().flatten();
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|end| end == ENDS[0]) {
                let [sent, told] = ENDS.map(|end| messages(&path.with_extension(end)));
                talk.look(&sent, &told);
            }
        }
        talk
    }

    /// Looks at both directions of one server's life.
    fn look(&mut self, sent: &[Value], told: &[Value]) {
        for message in sent {
            match message["method"].as_str() {
                Some("workspace/executeCommand") => self.command(message, told),
                Some("initialize") => {
                    self.judge("options", &message["params"]["initializationOptions"]);
                }
                Some(method) if method.starts_with("ropewalk/") => {
                    self.request("requests", method, message, told);
                }
                _ => {}
            }
        }
        for message in told {
            match message["method"].as_str() {
                Some("ropewalk/event") => self.judge("event", &message["params"]),
                Some(method) if method.starts_with("ropewalk/") => {
                    self.request("clientRequests", method, message, sent);
                }
                Some(method @ ("window/showMessage" | "window/showMessageRequest")) => {
                    self.faults.push(format!("{method} to a client that shows events: {message}"));
                }
                _ => {}
            }
        }
    }

    fn command(&mut self, message: &Value, answers: &[Value]) {
        let name = message["params"]["command"].as_str().unwrap_or_default();
        let nothing = json!({});
        let argument = message["params"]["arguments"].get(0).unwrap_or(&nothing);
        self.judge(&format!("commands/{name}/argument"), argument);
        self.answer(&format!("commands/{name}/answer"), message, answers);
    }

    fn request(&mut self, of: &str, method: &str, message: &Value, answers: &[Value]) {
        let place = format!("{of}/{}", method.replace('/', "~1"));
        self.judge(&format!("{place}/params"), &message["params"]);
        self.answer(&format!("{place}/result"), message, answers);
    }

    /// Looks at the answer to a request, if it has come and is none of failure.
    fn answer(&mut self, place: &str, message: &Value, answers: &[Value]) {
        let is_answer = |one: &&Value| one["id"] == message["id"] && one.get("method").is_none();
        if let Some(result) = answers.iter().find(is_answer).and_then(|one| one.get("result")) {
            self.judge(place, result);
        }
    }

    fn judge(&mut self, place: &str, value: &Value) {
        self.kinds.insert(place.to_owned());
        let words: String = value.to_string().chars().take(300).collect();
        let faults = schema::message_faults(place, value);
        self.faults.extend(faults.into_iter().map(|fault| format!("{place}: {fault}: {words}")));
    }
}
