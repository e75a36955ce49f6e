//! Commands through the whole server, in each tier: how soon an interrupted one is dead. Bars are in the README.
//!
//! What a sandbox costs by itself is measured in its own room.

#![expect(clippy::indexing_slicing, reason = "a bench of known shapes may be blunt")]
#![expect(clippy::expect_used, reason = "a bench that can't run may say so bluntly")]

#[path = "../support/agent.rs"]
#[expect(dead_code, unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod agent;
#[expect(dead_code, reason = "the server bench uses the rest of it")]
mod client;
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod harness;
#[path = "../support/home.rs"]
#[expect(unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod home;

use agent::Agent;
use client::{Client, request, server};
use harness::{Bar, Report};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::fs;
use std::time::Instant;

/// How many turns are interrupted.
const ROUNDS: usize = 30;

fn main() {
    harness::main(&[], interrupt);
}

/// From `ropewalk.interrupt` to the end of the turn, which is told when all that the command started is dead.
fn interrupt(report: &mut Report) {
    for (tier, words) in [("auto", "over the fork"), ("copy", "on a copy"), ("off", "in place")] {
        let names = ["worst", "median"]
            .map(|which| format!("interrupt to the turn's end, {words}, {which}"));
        if names.iter().any(|name| report.wants(name)) {
            let times = interrupted(tier);
            report.row(&names[0], times[ROUNDS - 1], "ms", Bar::AtMost(100.0));
            report.row(&names[1], times[ROUNDS / 2], "ms", Bar::Shown);
        }
    }
}

/// The times in milliseconds, sorted.
fn interrupted(tier: &str) -> Vec<f64> {
    let command = "for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'trap \"\" TERM INT; sleep 1000; sleep 1000' & done; echo up; wait";
    let reply = || ScriptedReply::new().call("bash", json!({ "command": command }));
    let agent = Agent::new("review", (0..ROUNDS).map(|_| reply()));
    agent.allow("bash(*)");
    let config = agent.folder("config").join("ropewalk/config.toml");
    let text = fs::read_to_string(&config).expect("the configuration");
    agent.configure(&text.replace("over_fork = \"off\"", &format!("over_fork = \"{tier}\"")));
    let folder = tempfile::tempdir().expect("a folder");
    let mut client = Client::initialized(server(agent.environment()), folder.path());
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            client.prompt("Try");
            client.until("tool_output");
            let start = Instant::now();
            let stop = json!({ "command": "ropewalk.interrupt", "arguments": [] });
            client.send(&request(4, "workspace/executeCommand", stop));
            client.until("turn_ended");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    client.end();
    times.sort_by(f64::total_cmp);
    times
}
