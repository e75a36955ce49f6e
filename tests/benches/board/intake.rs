//! A bundle of many files on its way from the board into the lead's review.

use crate::harness::{Bar, Report, code};
use crate::lead_process::{self, Bench, says};
use crate::swarm::Outcome;
use ropewalk_board::NewMember;
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::fs::{self, File};
use std::time::{Duration, Instant, SystemTime};

/// The files that it changes.
const FILES: usize = 100;

/// From the call that puts it on the board until the lead's front end has been told of all its changes.
pub(crate) fn bundle(report: &mut Report) {
    let name = "a bundle of 100 files taken in";
    let half = format!("{name}, half of them");
    if !report.wants(name) && !report.wants(&half) {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let content = runtime.block_on(made());
    let mut times: Vec<u64> = (0..9).map(|_| runtime.block_on(taken(&content))).collect();
    times.sort_unstable();
    report.row(name, Outcome::share(&times, 0), "ms", Bar::AtMost(50.0));
    report.row(&half, Outcome::share(&times, 50), "ms", Bar::Shown);
    report.row("a bundle of 100 files, its bytes", content.len() as f64 / 1024.0, "KB", Bar::Shown);
}

/// A process whose folder has the files, written an hour ago: those that were just written are read again.
fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    let bench = lead_process::start(replies);
    let text = code(2_048, "\n");
    for number in 0..FILES {
        let path = bench.path(&format!("{number}.rs"));
        fs::write(&path, format!("// File {number}.\n{text}")).expect("a file");
        let file = File::options().write(true).open(path).expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(3_600)).expect("a time");
    }
    bench
}

/// The bundle's bytes, made by a session of its own.
async fn made() -> Vec<u8> {
    let edit = |number: usize| {
        let (old, new) = (format!("// File {number}."), format!("// The file {number}."));
        json!({ "path": format!("{number}.rs"), "old_text": old, "new_text": new })
    };
    let all = (0..FILES)
        .fold(ScriptedReply::new(), |reply, number| reply.call("edit_file", edit(number)));
    let mut bench = start([all, says("Changed.")]);
    bench.ask("Change all").await;
    let (bundle, left_out) = bench.session.bundle().await.expect("a bundle");
    assert_eq!((bundle.paths().len(), left_out.len()), (FILES, 0));
    bundle.write().expect("a bundle of some KB")
}

/// Microseconds until it is taken in.
async fn taken(content: &[u8]) -> u64 {
    let mut bench = start([says("Hello.")]);
    bench.ask("Hello").await;
    let team = bench.lead.station().await.expect("a board").team().clone();
    let bob = NewMember { name: "bob".to_owned(), ..NewMember::default() };
    let bob = team.join(&bob).await.expect("a member");
    let start = Instant::now();
    bob.hand_over("All files.", content).await.expect("handed over");
    bench.hunks(FILES).await;
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}
