//! Commands in the background over rewinds and restarts: what an earlier turn has started goes on.

use crate::bench::*;
use ropewalk_protocol::{Event, Mode, Op};
use serde_json::json;
use std::path::PathBuf;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

/// Gates that commands wait at.
struct Gates(tempfile::TempDir);

impl Gates {
    fn new(names: &[&str]) -> Self {
        let gates = Self(tempfile::tempdir().unwrap());
        for name in names {
            let made = std::process::Command::new("mkfifo").arg(gates.path(name)).status();
            assert!(made.unwrap().success());
        }
        gates
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A reply that starts a command in the background, which waits at a gate first.
    fn start(&self, name: &str, then: &str) -> ScriptedReply {
        let command = format!("cat {} && {then}", self.path(name).display());
        calls("bash", json!({"command": command, "background": true}))
    }

    /// Lets the command go on that waits at a gate, and waits until the session knows its end.
    async fn pass(&self, bench: &mut Bench, name: &str, number: u64) {
        open(self.path(name)).await;
        let words = format!("number {number} has ended");
        bench
            .until(|event| match event {
                Event::Notice { message, .. } => message.contains(&words).then_some(()),
                _ => None,
            })
            .await;
        // It is told right before its changes are shown.
        bench.session.settle().await;
    }
}

/// Opens a gate, once somebody waits there.
async fn open(gate: PathBuf) {
    tokio::task::spawn_blocking(move || std::fs::write(gate, "")).await.unwrap().unwrap();
}

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

async fn rewound(bench: &mut Bench, turn: u64) {
    bench.session.send(Op::Rewind(turn));
    let (action, _, failed) = bench.reviewed().await;
    assert_eq!((action, failed), ("rewind", vec![]));
}

/// The turns of the pending hunks, with what they put there.
fn hunks(bench: &Bench) -> Vec<(u64, String)> {
    bench.session.hunks().into_iter().map(|hunk| (hunk.turn, hunk.new)).collect()
}

fn pairs(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
    expected.iter().map(|(turn, new)| (*turn, (*new).to_owned())).collect()
}

fn last_request(bench: &Bench) -> String {
    last_message(bench.model.requests().last().unwrap())
}

fn change(name: &str) -> String {
    format!("sed -i s/{name}/{}/ a.txt", name.to_uppercase())
}

#[tokio::test]
async fn work_of_an_earlier_turn_stays_when_a_later_one_is_rewound() {
    let gates = Gates::new(&["first", "second"]);
    let mut bench = start_kept_on_a_copy([
        edit("one", "1"),
        gates.start("first", &change("seven")),
        gates.start("second", &format!("{}; echo new >new.txt", change("three"))),
        says("First."),
        edit("five", "5"),
        says("Second."),
        says("Another way.").conversation("rewound"),
        says("And on.").conversation("rewound"),
    ]);
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    bench.run("first").await;
    bench.run("second").await;
    gates.pass(&mut bench, "first", 1).await;
    assert_eq!(hunks(&bench), pairs(&[(1, "1\n"), (2, "5\n"), (1, "SEVEN\n")]));
    rewound(&mut bench, 2).await;
    assert_eq!(hunks(&bench), pairs(&[(1, "1\n"), (1, "SEVEN\n")]));
    bench.run("another").await;
    assert!(last_request(&bench).contains("number 1 has ended"), "{}", last_request(&bench));
    // The other one runs on.
    gates.pass(&mut bench, "second", 2).await;
    let all = pairs(&[(1, "1\n"), (1, "THREE\n"), (1, "SEVEN\n"), (1, "new\n")]);
    assert_eq!(hunks(&bench), all);
    bench.run("and on").await;
    assert!(last_request(&bench).contains("number 2 has ended"), "{}", last_request(&bench));
    rewound(&mut bench, 3).await;
    assert_eq!(hunks(&bench), all);
    rewound(&mut bench, 1).await;
    assert_eq!(hunks(&bench), []);
    assert!(!bench.path("new.txt").exists());
}

#[tokio::test]
async fn the_turn_that_has_started_one_takes_it_along() {
    let gates = Gates::new(&["first", "held"]);
    let held = format!("exec 3>{}; sleep 1000; true", gates.path("held").display());
    let mut bench = start_kept_on_a_copy([
        says("Nothing yet."),
        gates.start("first", &change("seven")),
        calls("bash", json!({"command": held, "background": true})),
        says("Started."),
        says("Later."),
        says("Afresh.").conversation("rewound"),
    ]);
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    let held = gates.path("held");
    let holding = tokio::task::spawn_blocking(move || std::fs::read(held).unwrap());
    bench.run("first").await;
    bench.run("second").await;
    gates.pass(&mut bench, "first", 1).await;
    bench.run("third").await;
    assert_eq!(hunks(&bench), pairs(&[(2, "SEVEN\n")]));
    assert!(!holding.is_finished(), "it still runs");
    rewound(&mut bench, 2).await;
    assert_eq!(hunks(&bench), []);
    assert!(holding.await.unwrap().is_empty(), "it was stopped");
    bench.run("afresh").await;
    assert!(!last_request(&bench).contains("has ended"), "{}", last_request(&bench));
    let bench = resume(bench.dies().await, []);
    bench.open("a.txt", TEXT);
    assert_eq!(hunks(&bench), []);
}

#[tokio::test]
async fn news_that_were_told_in_a_rewound_turn_are_told_again() {
    let gates = Gates::new(&["first"]);
    let mut bench = start_kept_on_a_copy([
        gates.start("first", &change("seven")),
        says("First."),
        says("Second."),
        says("Another way.").conversation("rewound"),
        says("And on.").conversation("rewound"),
    ]);
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    bench.run("first").await;
    gates.pass(&mut bench, "first", 1).await;
    bench.run("second").await;
    assert_eq!(last_request(&bench).matches("number 1 has ended").count(), 1);
    rewound(&mut bench, 2).await;
    bench.run("another").await;
    assert_eq!(last_request(&bench).matches("number 1 has ended").count(), 1);
    bench.run("and on").await;
    assert_eq!(last_request(&bench).matches("number 1 has ended").count(), 0);
    assert_eq!(hunks(&bench), pairs(&[(1, "SEVEN\n")]));
}

#[tokio::test]
async fn all_of_that_holds_over_a_restart() {
    let gates = Gates::new(&["first", "second"]);
    let mut bench = start_kept_on_a_copy([
        gates.start("first", &change("seven")),
        gates.start("second", "echo never"),
        says("First."),
        edit("five", "5"),
        says("Second."),
        says("Third."),
    ]);
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    bench.run("first").await;
    bench.run("second").await;
    gates.pass(&mut bench, "first", 1).await;
    bench.run("third").await;
    // Killed, it is rewound by the process that goes on.
    let mut bench = resume(killed(bench).await, []);
    bench.open("a.txt", TEXT);
    rewound(&mut bench, 2).await;
    assert_eq!(hunks(&bench), pairs(&[(1, "SEVEN\n")]));
    // Killed right behind that, it is as it was.
    let mut bench = resume(killed(bench).await, [says("On."), says("Again.")]);
    bench.open("a.txt", TEXT);
    assert_eq!(hunks(&bench), pairs(&[(1, "SEVEN\n")]));
    let told = |bench: &Bench| {
        let request = last_request(bench);
        let (first, second) = ("number 1 has ended", "number 2 has ended");
        (request.matches(first).count(), request.matches(second).count())
    };
    bench.run("on").await;
    assert_eq!(told(&bench), (1, 1), "{}", last_request(&bench));
    bench.run("again").await;
    assert_eq!(told(&bench), (0, 0), "{}", last_request(&bench));
    rewound(&mut bench, 1).await;
    assert_eq!(hunks(&bench), []);
}

/// Kills the process, so to speak, and gives the folder that it leaves: its end writes nothing.
async fn killed(bench: Bench) -> tempfile::TempDir {
    let journal = bench.dir.path().join("state/sessions/s.jsonl");
    let running = std::fs::read(&journal).unwrap();
    let dir = bench.dies().await;
    std::fs::write(&journal, running).unwrap();
    dir
}

#[tokio::test]
async fn published_work_of_an_earlier_turn_stays_in_the_text() {
    let gates = Gates::new(&["first"]);
    let mut bench = start_on_a_copy(
        [
            gates.start("first", &change("seven")),
            says("First."),
            edit("five", "5"),
            says("Second."),
        ],
        |settings| settings.mode = Mode::Auto,
    );
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("first").await;
    bench.run("second").await;
    gates.pass(&mut bench, "first", 1).await;
    assert_eq!(bench.buffer(&uri), TEXT.replace("five", "5").replace("seven", "SEVEN"));
    rewound(&mut bench, 2).await;
    assert_eq!(bench.buffer(&uri), TEXT.replace("seven", "SEVEN"));
    rewound(&mut bench, 1).await;
    assert_eq!(bench.buffer(&uri), TEXT);
}
