//! Members as many processes over one board, and `ropewalk worker`s: how long claims take while a random process is killed
//! and replaced four times a second.

use crate::crowd::Crowd;
use crate::harness::{Bar, Report};
use crate::swarm::{Outcome, Swarm};
use ropewalk_testkit::namespaces::{BRIDGE_ADDRESS, Namespaces};
use ropewalk_testkit::postgres::Postgres;
use std::path::Path;
use std::time::Duration;

const KILLS: Duration = Duration::from_millis(250);

/// Workers with a scripted model. Their changes come to one review, whose text must be the right one, or it ends at once.
pub(crate) fn workers(report: &mut Report) {
    let rows = ["workers: killed in the midst of a task", "workers: seconds"];
    if !rows.iter().any(|row| report.wants(row)) {
        return;
    }
    let outcome = Crowd { workers: 8, tasks: 200, kills: 20 }.run();
    let values = [outcome.killed_at_work as f64, outcome.took.as_secs_f64()];
    for ((row, value), unit) in rows.iter().zip(values).zip(["processes", "s"]) {
        report.row(row, value, unit, Bar::Shown);
    }
}

pub(crate) fn sqlite(report: &mut Report) {
    if !is_wanted(report, "sqlite") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let swarm = Swarm {
        place: folder.path().join("board.db").display().to_string(),
        processes: 20,
        tasks: 2000,
        work: Duration::from_millis(100),
        kills: KILLS,
        stagger: Duration::from_millis(20),
        hosts: Vec::new(),
    };
    run(report, "sqlite", &swarm, 10.0);
}

pub(crate) fn postgres(report: &mut Report, moved: Result<(), String>) {
    if !is_wanted(report, "postgres") {
        return;
    }
    let hosts = moved.and_then(|()| Namespaces::new(&["east", "west"]));
    let (address, hosts) = match hosts {
        Ok(hosts) => (BRIDGE_ADDRESS, hosts.names().to_vec()),
        Err(why) => {
            println!("All processes are in the machine's own network. {why}");
            ("127.0.0.1", Vec::new())
        }
    };
    let folder = format!("{}/postgres-bench-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let cluster = match Postgres::start_at(Path::new(&folder), address, true) {
        Ok(cluster) => cluster,
        Err(why) => return println!("postgres: skipped: {why}"),
    };
    let swarm = Swarm {
        place: cluster.database().expect("a database"),
        processes: 100,
        tasks: 10_000,
        work: Duration::from_millis(250),
        kills: KILLS,
        stagger: Duration::from_millis(100),
        hosts,
    };
    run(report, "postgres", &swarm, 50.0);
}

const ROWS: [&str; 7] = [
    "tasks done once, none lost or early",
    "processes killed",
    "seconds, without any wait",
    "seconds",
    "claim, half of them",
    "claim, 99 of 100",
    "completion, 99 of 100",
];

fn is_wanted(report: &Report, engine: &str) -> bool {
    ROWS.iter().any(|row| report.wants(&format!("{engine}: {row}")))
}

fn run(report: &mut Report, engine: &str, swarm: &Swarm, bar: f64) {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let outcome = swarm
        .run(|| Ok(()))
        .expect("each task done once, none lost, none before those it waits for");
    let ideal = swarm.work.as_secs_f64() * swarm.tasks as f64 / swarm.processes as f64;
    let values = [
        (swarm.tasks as f64, "tasks", Bar::Shown),
        (outcome.killed as f64, "processes", Bar::Shown),
        (ideal, "s", Bar::Shown),
        (outcome.took.as_secs_f64(), "s", Bar::Shown),
        (Outcome::share(&outcome.claims, 50), "ms", Bar::Shown),
        (Outcome::share(&outcome.claims, 99), "ms", Bar::AtMost(bar)),
        (Outcome::share(&outcome.completions, 99), "ms", Bar::Shown),
    ];
    for (name, (value, unit, bar)) in ROWS.iter().zip(values) {
        report.row(&format!("{engine}: {name}"), value, unit, bar);
    }
    println!("{engine}: load of the machine before it, over 1, 5 and 15 minutes: {load}");
}
