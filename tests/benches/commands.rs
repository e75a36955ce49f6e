//! Commands through the whole server, in each tier: how soon an interrupted one is dead, and what a step with one
//! costs. Bars are in the README.
//!
//! A sandbox's own cost is measured in its own room.

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
use client::{Client, processor_time, request, server};
use harness::{Bar, Report};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::fs;
use std::time::Instant;

/// How many turns are interrupted.
const ROUNDS: usize = 30;

/// Turns that are counted, and steps with a command in each.
const TURNS: usize = 10;
const STEPS: usize = 20;

fn main() {
    harness::main(&[], |report| {
        interrupt(report);
        steps(report);
    });
}

/// A session whose commands run so, in front of which the client stands.
fn session(
    tier: &str,
    replies: impl IntoIterator<Item = ScriptedReply>,
) -> (Agent, tempfile::TempDir, Client) {
    let agent = Agent::new("review", replies);
    agent.allow("bash(*)");
    let config = agent.folder("config").join("ropewalk/config.toml");
    let text = fs::read_to_string(&config).expect("the configuration");
    agent.configure(&text.replace("over_fork = \"off\"", &format!("over_fork = \"{tier}\"")));
    let folder = tempfile::tempdir().expect("a folder");
    let client = Client::initialized(server(agent.environment()), folder.path());
    (agent, folder, client)
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
    let (_agent, _folder, mut client) = session(tier, (0..ROUNDS).map(|_| reply()));
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

/// The processors' time of 20 steps with a command that does nothing: the server's own, that of the process that holds
/// its sandbox, and that of the commands with what is laid for each. Other load doesn't count, but makes caches colder.
fn steps(report: &mut Report) {
    let names = ["the server's", "the sandbox's holder's", "the commands'"];
    let names = names.map(|whose| format!("20 `bash` steps over the fork, CPU, {whose}"));
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let step = || ScriptedReply::new().call("bash", json!({ "command": "true" }));
    let turn = || (0..STEPS).map(|_| step()).chain([ScriptedReply::new().text("Done.")]);
    // The first one starts the sandbox.
    let (_agent, _folder, mut client) = session("auto", (0..=TURNS).flat_map(|_| turn()));
    client.prompt("Try");
    client.until("turn_ended");
    let holder = child_of(client.pid()).expect("the holder");
    let now = |pid| processor_time(pid).expect("its status");
    let before = (now(client.pid()), now(holder));
    for _ in 0..TURNS {
        client.prompt("Try");
        client.until("turn_ended");
    }
    let after = (now(client.pid()), now(holder));
    client.end();
    let each = |before: f64, after: f64| (after - before) * 1e3 / TURNS as f64;
    let [server, own, commands] = &names;
    report.row(server, each(before.0.own, after.0.own), "ms", Bar::AtMost(50.0));
    report.row(own, each(before.1.own, after.1.own), "ms", Bar::Shown);
    report.row(commands, each(before.1.children, after.1.children), "ms", Bar::Shown);
}

/// The first child of a process, whichever of its threads has started it.
fn child_of(pid: u32) -> Option<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    threads.flatten().find_map(|thread| {
        let children = fs::read_to_string(thread.path().join("children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    })
}
