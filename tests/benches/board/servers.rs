//! Real servers: a lead with teammates that wait for work, beside one without, and a server in which teams are on and none
//! is used.

use crate::client::{Client, frame, initialize, memory, notification, processor_time, server};
use crate::harness::{Bar, Report};
use crate::support::agent::Agent;
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Teammates that wait.
const TEAMMATES: usize = 7;
/// Time over which the processors' time is counted: two renewals of each lease, and six looks.
const WAITING: Duration = Duration::from_secs(32);

/// Costs of each teammate that waits, in a server of seven.
pub(crate) fn idle_teammates(report: &mut Report) {
    let names = ["idle teammate: memory", "idle teammate: share of a core"];
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let mut alone = LeadServer::start(false);
    let mut leads = LeadServer::start(true);
    let before = leads.memory();
    leads.spawn_all();
    let each = (leads.memory() - before) * 1024.0 / TEAMMATES as f64;
    report.row(names[0], each, "KB", Bar::AtMost(300.0));
    report.row("seven idle teammates: memory of the server", leads.memory(), "MB", Bar::Shown);

    let begin = [alone.time(), leads.time()];
    let start = Instant::now();
    std::thread::sleep(WAITING);
    let took = start.elapsed().as_secs_f64();
    let share = |used: f64| used / took * 100.0;
    let [without, with] = [alone.time() - begin[0], leads.time() - begin[1]].map(share);
    report.row(names[1], (with - without) / TEAMMATES as f64, "%", Bar::AtMost(0.1));
    report.row("lead without teammates: share of a core", without, "%", Bar::Shown);
    alone.client.barrier();
    leads.client.barrier();
}

/// A server whose lead has opened its board.
struct LeadServer {
    client: Client,
    agent: Agent,
    _folder: tempfile::TempDir,
}

impl LeadServer {
    fn start(spawns: bool) -> Self {
        let mut replies = vec![
            ScriptedReply::new().call("task_list", json!({})),
            ScriptedReply::new().text("There is nothing to do."),
        ];
        if spawns {
            replies.push((0..TEAMMATES).fold(ScriptedReply::new(), |reply, number| {
                let name = format!("t{number}");
                let input = json!({ "name": name, "role": "coder", "prompt": "Wait." });
                reply.call("spawn_teammate", input)
            }));
            replies.push(ScriptedReply::new().text("They wait."));
            let waits = ScriptedReply::new().text("I wait.");
            replies.push(waits.when("You are 't").by_beginning().forever());
        }
        let agent = Agent::new("review", replies);
        agent.reconfigure(|config| {
            format!(
                "{config}parallel = 8\n[team]\nenabled = true\nteammates = {TEAMMATES}\nidle = 3600\n"
            )
        });
        agent.allow("spawn_teammate(*)");
        let folder = tempfile::tempdir().expect("a folder");
        let mut client = introduced(&agent, folder.path());
        client.prompt("Look at the board.");
        client.until("turn_ended");
        Self { client, agent, _folder: folder }
    }

    /// Spawns the teammates and waits until all wait.
    fn spawn_all(&mut self) {
        self.client.prompt("Spawn all.");
        loop {
            let told = self.client.until("team");
            let members = told["params"]["members"].as_array().expect("members");
            let idle = members.iter().filter(|one| one["name"] != "lead" && one["state"] == "idle");
            if idle.count() == TEAMMATES {
                break;
            }
        }
        let asked = self.agent.model.requests().len();
        assert!(asked >= TEAMMATES + 4, "each had a turn: {asked}");
    }

    fn memory(&self) -> f64 {
        memory(self.client.pid(), "VmRSS").expect("its status")
    }

    fn time(&self) -> f64 {
        processor_time(self.client.pid()).expect("its times").own
    }
}

/// A server that has been introduced to a client that takes a team's events.
fn introduced(agent: &Agent, folder: &Path) -> Client {
    let mut client = Client::start(server(agent.environment()));
    client.send(&with_team(&initialize(folder)));
    client.next();
    client.send(&notification("initialized", json!({})));
    client
}

/// The request `initialize` of a client that takes a team's events too.
fn with_team(told: &[u8]) -> Vec<u8> {
    let body = told.splitn(2, |byte| *byte == b'{').nth(1).expect("a body");
    let mut message: Value = serde_json::from_slice(&[b"{", body].concat()).expect("JSON");
    message["params"]["initializationOptions"]["team"] = json!(true);
    frame(&message)
}

/// Costs of a server that has no team when teams are on, against one where they are off.
pub(crate) fn without_team(report: &mut Report) {
    let names = [
        "no team, teams on: start to `initialize`",
        "no team, teams on: memory then",
        "no team, teams on: a turn, memory more",
        "no team, teams off: memory after a turn",
    ];
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let (mut on, mut off) = (Quiet::WORST, Quiet::WORST);
    for _ in 0..20 {
        off = off.least(Quiet::measured(false));
        on = on.least(Quiet::measured(true));
    }
    report.row(names[0], on.start, "ms", Bar::AtMost(5.0));
    report.row(names[1], on.at_start, "MB", Bar::AtMost(12.0));
    report.row(names[2], on.after_turn - off.after_turn, "MB", Bar::AtMost(0.5));
    report.row(names[3], off.after_turn, "MB", Bar::Shown);
}

/// Costs of a server without a team.
#[derive(Clone, Copy)]
struct Quiet {
    /// Milliseconds from the start of the process to the answer to `initialize`.
    start: f64,
    /// Megabytes then.
    at_start: f64,
    /// Megabytes after a turn.
    after_turn: f64,
}

impl Quiet {
    const WORST: Quiet = Quiet { start: f64::MAX, at_start: f64::MAX, after_turn: f64::MAX };

    fn least(self, other: Quiet) -> Quiet {
        Quiet {
            start: self.start.min(other.start),
            at_start: self.at_start.min(other.at_start),
            after_turn: self.after_turn.min(other.after_turn),
        }
    }

    fn measured(enabled: bool) -> Quiet {
        let agent = Agent::new("review", [ScriptedReply::new().text("Hello.")]);
        agent.reconfigure(|config| format!("{config}[team]\nenabled = {enabled}\n"));
        let folder = tempfile::tempdir().expect("a folder");
        let start = Instant::now();
        let mut client = Client::start(server(agent.environment()));
        client.send(&initialize(folder.path()));
        client.next();
        let start = start.elapsed().as_secs_f64() * 1e3;
        let size = |client: &Client| memory(client.pid(), "VmRSS").expect("its status");
        let at_start = size(&client);
        client.send(&notification("initialized", json!({})));
        client.prompt("Hello.");
        client.until("turn_ended");
        let after_turn = size(&client);
        client.end();
        assert!(!agent.folder("state/ropewalk/boards").exists(), "a board for nobody");
        Quiet { start, at_start, after_turn }
    }
}
