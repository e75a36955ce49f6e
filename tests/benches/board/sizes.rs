//! Team tools as they stand in a request of the server, the lead's and a teammate's.

use crate::client::{Client, initialize, notification, server};
use crate::harness::{Bar, Report};
use crate::support::agent::Agent;
use ropewalk_model::Protocol;
use ropewalk_team::Lead;
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};
use ropewalk_testkit::planted;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The largest of all protocols.
pub(crate) fn tools(report: &mut Report) {
    let names = ["team tools in a lead's request", "team tools in a member's request"];
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let sizes: Vec<[Size; 2]> = Protocol::ALL.iter().map(|protocol| sent(*protocol)).collect();
    for (index, name) in names.into_iter().enumerate() {
        let most = sizes.iter().map(|both| both[index]).max().expect("a protocol");
        report.row(name, most.bytes as f64 / 1024.0, "KB", Bar::AtMost(4.0));
        report.row(&format!("{name}, offered"), most.tools as f64, "tools", Bar::Shown);
    }
}

/// Size of the tools in one request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    bytes: usize,
    tools: usize,
}

/// Sizes of the team's tools in a request of the lead's, and in one of its teammate's.
fn sent(protocol: Protocol) -> [Size; 2] {
    let spawned = json!({ "name": "alice", "role": "coder", "prompt": "Wait." });
    let replies = [
        ScriptedReply::new().call("spawn_teammate", spawned),
        ScriptedReply::new().text("It waits."),
        ScriptedReply::new()
            .text("I wait.")
            .gate(ReplyPlace::Answer, "asked")
            .when("You are 'alice'")
            .conversation("alice"),
    ];
    let model = ScriptedModel::start_over(protocol, replies).expect("a port");
    let agent = Agent::new("review", []);
    agent.configure(&format!(
        "model = \"scripted/scripted\"\ncommands.over_fork = \"off\"\n[provider.scripted]\nprotocol = {:?}\n\
         base_url = {:?}\napi_key_env = {:?}\nparallel = 2\n[team]\nenabled = true\n",
        protocol.name(),
        model.base_url(),
        planted::VARIABLE
    ));
    agent.allow("spawn_teammate(*)");
    let root = tempfile::tempdir().expect("a folder");
    let mut client = Client::start(server(agent.environment()));
    client.send(&initialize(root.path()));
    client.next();
    client.send(&notification("initialized", json!({})));
    client.prompt("Spawn alice.");
    client.until("turn_ended");
    model.wait_until_reached_blocking("asked");
    model.open_gate("asked");
    client.end();
    let requests = model.requests();
    let is_of = |request: &&Value| request.to_string().contains("You are 'alice'");
    let lead = requests.iter().find(|one| !is_of(one)).expect("a request of the lead's");
    let member = requests.iter().find(is_of).expect("a request of the teammate's");
    [size(lead), size(member)]
}

/// Size of a request's tools that are the team's, with what parts them.
fn size(request: &Value) -> Size {
    let names: BTreeSet<String> = Lead::tool_names().into_iter().collect();
    let offered = request["tools"].as_array().expect("tools").iter();
    let name = |tool: &Value| {
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
        name.map(str::to_owned).unwrap_or_default()
    };
    let spelled: Vec<String> =
        offered.filter(|tool| names.contains(&name(tool))).map(Value::to_string).collect();
    Size { bytes: spelled.iter().map(|tool| tool.len() + 1).sum(), tools: spelled.len() }
}
