//! Bytes of the team's tools in a request: all members pay for them at each step.

use crate::bench::*;
use ropewalk_model::{Http, Model, Protocol, ServerConfig, ServerModel, ToolDeclaration};
use ropewalk_team::Lead;
use serde_json::Value;

/// The most for all together.
const MOST: usize = 4_096;

#[tokio::test]
async fn tools_of_a_lead_and_of_a_member_take_four_kilobytes_at_most() {
    let replies = [calls("spawn_teammate", spawn("alice")), says("It waits.")];
    let mut bench = start(replies.into_iter().chain(all_of("alice", [says("Nothing to do.")])));
    bench.ask("Spawn alice").await;
    bench.ended("alice", 1).await;
    let requests = bench.model.requests();
    let is_of_member = |request: &&Value| request.to_string().contains("You are 'alice'");
    let lead = requests.iter().find(|one| !is_of_member(one)).unwrap();
    let member = requests.iter().find(is_of_member).unwrap();
    let (_, of_others) = parted(lead);
    for (whose, request, count) in [("the lead", lead, 14), ("a member", member, 12)] {
        let (of_team, rest) = parted(request);
        assert_eq!(of_team.len(), count, "{whose}");
        assert_eq!(rest.len(), of_others.len(), "{whose}");
        for protocol in Protocol::ALL {
            let bytes = written(*protocol, &of_team);
            println!("{whose}, {}: {bytes} bytes", protocol.name());
            assert!(bytes <= MOST, "{whose}, {}: {bytes} bytes", protocol.name());
        }
    }
}

/// The tools of a request: the team's, and all others.
fn parted(request: &Value) -> (Vec<ToolDeclaration>, Vec<ToolDeclaration>) {
    let names = Lead::tool_names();
    let tools = request["tools"].as_array().unwrap().iter().map(|tool| ToolDeclaration {
        name: tool["name"].as_str().unwrap().to_owned(),
        description: tool["description"].as_str().unwrap().to_owned(),
        input_schema: tool["input_schema"].clone(),
    });
    tools.partition(|tool| names.contains(&tool.name))
}

/// Bytes that they add to a request that has another tool.
fn written(protocol: Protocol, tools: &[ToolDeclaration]) -> usize {
    let model = ServerModel::new(ServerConfig::new(protocol, "m"), Http::new()).unwrap();
    let other = ToolDeclaration {
        name: "bash".to_owned(),
        description: "Runs a command.".to_owned(),
        input_schema: serde_json::json!({ "type": "object" }),
    };
    let size = |tools: &[ToolDeclaration]| model.encode_prelude("", tools).as_str().len();
    let all: Vec<ToolDeclaration> = tools.iter().chain([&other]).cloned().collect();
    size(&all) - size(&[other])
}
