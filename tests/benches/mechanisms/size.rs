//! System prompt and tools as they stand in a request of the server.

use crate::agent::Agent;
use crate::client::{Client, initialize, notification, server};
use crate::harness::{Bar, Report};
use ropewalk_model::Protocol;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_testkit::planted;
use serde_json::{Value, json};
use std::fs;

/// The largest of all protocols, wherever commands run; with every tool there is, and as a model with little context gets them.
pub(crate) fn preludes(report: &mut Report) {
    for (name, is_lean, most) in
        [("all tools and prompt", false, 12.0), ("the lean set", true, 4.0)]
    {
        if !report.wants(name) {
            continue;
        }
        let mut largest = (0, 0);
        for protocol in Protocol::ALL {
            for over_fork in ["auto", "copy", "off"] {
                largest = largest.max(sent(*protocol, over_fork, is_lean));
            }
        }
        report.row(name, largest.0 as f64 / 1024.0, "KB", Bar::AtMost(most));
        report.row(&format!("{name}, offered"), largest.1 as f64, "tools", Bar::Shown);
    }
}

/// Bytes of a request but for its conversation, and the number of tools in it.
fn sent(protocol: Protocol, over_fork: &str, is_lean: bool) -> (usize, usize) {
    let reply = ScriptedReply::new().text("Hello.");
    let model = ScriptedModel::start_over(protocol, [reply]).expect("a port");
    let agent = Agent::new("review", []);
    agent.configure(&format!(
        "model = \"scripted/scripted\"\ncommands.over_fork = {over_fork:?}\n[provider.scripted]\nprotocol = {:?}\n\
         base_url = {:?}\napi_key_env = {:?}\nlean = {is_lean}\n",
        protocol.name(),
        model.base_url(),
        planted::VARIABLE
    ));
    let root = tempfile::tempdir().expect("a folder");
    let skill = root.path().join(".agents/skills/pdf");
    fs::create_dir_all(&skill).expect("a folder");
    let text = "---\nname: pdf\ndescription: Fills in forms.\n---\nDo it.\n";
    fs::write(skill.join("SKILL.md"), text).expect("a file");
    let mut client = Client::start(server(agent.environment()));
    client.send(&with_plugin(&initialize(root.path())));
    client.next();
    client.send(&notification("initialized", json!({})));
    client.prompt("Hello.");
    loop {
        let message = client.next();
        if message["method"] == "ropewalk/diagnostics" {
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": []});
            client.send(&crate::client::frame(&answer));
        }
        if message["params"]["type"] == "turn_ended" {
            break;
        }
    }
    client.end();
    let mut body = model.requests().remove(0);
    let tools = body["tools"].as_array().map_or(0, Vec::len);
    without_conversation(&mut body);
    (body.to_string().len(), tools)
}

/// The request `initialize` of a client that shows diagnostics too.
fn with_plugin(frame: &[u8]) -> Vec<u8> {
    let body = frame.splitn(2, |byte| *byte == b'{').nth(1).expect("a body");
    let mut message: Value = serde_json::from_slice(&[b"{", body].concat()).expect("JSON");
    message["params"]["initializationOptions"]["plugin"] = json!(true);
    crate::client::frame(&message)
}

/// Takes what was said out of a request; the system prompt stays, wherever it stands.
fn without_conversation(body: &mut Value) {
    for member in ["messages", "input"] {
        if let Some(messages) = body[member].as_array_mut() {
            messages
                .retain(|message| message["role"] == "system" || message["role"] == "developer");
        }
    }
}
