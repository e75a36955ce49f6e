//! Real processes on one board, killed at random: each task is done once, none before those it waits for, none is lost.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    unreachable_pub,
    reason = "tests and their helpers may be blunt"
)]

mod swarm;

use libtest_mimic::{Arguments, Failed, Trial};
use ropewalk_testkit::postgres::Postgres;
use std::path::Path;
use std::time::Duration;
use swarm::Swarm;

fn main() {
    if swarm::work_if_told() {
        return;
    }
    let trials = vec![
        Trial::test("sqlite", on_sqlite),
        Trial::test("postgres", || on_postgres(false)),
        Trial::test("postgres_restarted_in_the_middle", || on_postgres(true)),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn on_sqlite() -> Result<(), Failed> {
    let folder = tempfile::TempDir::new()?;
    let place = folder.path().join("board.db").display().to_string();
    run(place, || Ok(()))
}

fn on_postgres(is_restarted: bool) -> Result<(), Failed> {
    let process = std::process::id();
    let folder = format!("{}/postgres-swarm-{process}-{is_restarted}", env!("CARGO_TARGET_TMPDIR"));
    match Postgres::start(Path::new(&folder), false) {
        Ok(cluster) => run(cluster.database()?, || match is_restarted {
            true => cluster.kill().and_then(|()| cluster.serve()),
            false => Ok(()),
        }),
        Err(why) if std::env::var_os("CI").is_some_and(|ci| ci == "true") => Err(why.into()),
        Err(why) => {
            eprintln!("skipped: {why}");
            Ok(())
        }
    }
}

fn run(place: String, halfway: impl FnOnce() -> Result<(), String>) -> Result<(), Failed> {
    let work = Duration::from_millis(40);
    let kills = Duration::from_millis(150);
    let stagger = Duration::ZERO;
    let swarm = Swarm { place, processes: 6, tasks: 200, work, kills, stagger, hosts: Vec::new() };
    let outcome = swarm.run(halfway)?;
    if outcome.killed == 0 || outcome.completions.is_empty() {
        return Err("nobody was killed, or nobody has worked".into());
    }
    println!(
        "{} killed, done in {:?}, claims within {} ms",
        outcome.killed,
        outcome.took,
        swarm::Outcome::share(&outcome.claims, 99)
    );
    Ok(())
}
