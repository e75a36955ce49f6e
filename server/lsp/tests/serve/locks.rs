//! Locked keys at run time: the commands that change them refuse in words, whatever the client says.

use ropewalk_host::{Environment, HostOptions};
use ropewalk_lsp::{Backend, service};
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tower::{Service, ServiceExt};
use tower_lsp::LspService;
use tower_lsp::jsonrpc::Request;

/// A world with one file: the system's.
struct System(&'static str);

impl Environment for System {
    fn home(&self) -> Option<PathBuf> {
        None
    }
    fn var(&self, _: &str) -> Option<String> {
        None
    }
    fn read(&self, path: &Path, _: u64) -> io::Result<Vec<u8>> {
        match path.ends_with("etc/ropewalk/config.toml") {
            true => Ok(self.0.into()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

async fn ask(service: &mut LspService<Backend>, method: &'static str, params: Value) -> Value {
    let request = Request::build(method).id(1).params(params).finish();
    let response = service.ready().await.unwrap().call(request).await.unwrap().unwrap();
    serde_json::to_value(response).unwrap()
}

/// The answer to a command on a server with this text as the system's file.
async fn command(system: &'static str, command: &str, argument: Value) -> Value {
    let (mut service, _socket) = service(HostOptions::new(
        Arc::new(|_| Err("there is no model here".to_owned())),
        Arc::new(System(system)),
    ));
    ask(&mut service, "initialize", json!({ "capabilities": {} })).await;
    let params = json!({ "command": command, "arguments": [argument] });
    ask(&mut service, "workspace/executeCommand", params).await
}

#[cfg(unix)]
#[tokio::test]
async fn mode_and_model_are_not_changed_while_they_are_locked() {
    let locked = "mode = \"plan\"\nlocked = [\"mode\", \"model\"]";
    let lock = "it is locked by /etc/ropewalk/config.toml:2";
    let refused = command(locked, "ropewalk.mode", json!({ "mode": "auto" })).await;
    assert_eq!(refused["error"]["message"], format!("The mode can't be changed: {lock}"));
    let refused = command(locked, "ropewalk.model", json!({ "model": "anthropic/x" })).await;
    assert_eq!(refused["error"]["message"], format!("The model can't be changed: {lock}"));
    // Looking is free, and so is changing what is not locked.
    let mode = command(locked, "ropewalk.mode", json!({})).await;
    assert_eq!(mode["result"]["mode"], "plan");
    let free = command("locked = [\"model\"]", "ropewalk.mode", json!("auto")).await;
    assert_eq!(free["result"]["mode"], "auto");
    let free = command("locked = [\"mode\"]", "ropewalk.model", json!("anthropic/x")).await;
    assert_eq!(free["error"]["message"], "there is no model here");
    // And what is locked is said.
    let status = command(locked, "ropewalk.status", json!({})).await;
    let by = "/etc/ropewalk/config.toml:2";
    let locks = json!([{ "key": "mode", "by": by }, { "key": "model", "by": by }]);
    assert_eq!(status["result"]["locks"], locks);
}
