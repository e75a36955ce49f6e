//! A branch of many files on its way back into the fork of the session.

use crate::answers::{Answer, AnsweringModel};
use crate::harness::{Bar, Report};
use crate::session::{Bench, folder, write_files};
use ropewalk_protocol::{Event, ThreadState};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The files that it has changed.
const FILES: usize = 100;

/// From the last reply to a `code` subagent to its end, with its changes in the fork and the journal.
pub(crate) fn back_into_the_fork(report: &mut Report) {
    let name = "a branch of 100 files back";
    if report.wants(name) {
        let best = (0..7).map(|_| back()).min().unwrap_or_default();
        report.row(name, best.as_secs_f64() * 1e3, "ms", Bar::AtMost(20.0));
    }
}

fn back() -> Duration {
    let dir = folder();
    write_files(&dir, FILES, 2_048);
    let answered = Arc::new(Mutex::new(None));
    let last = answered.clone();
    let model = AnsweringModel::new(None, move |request| {
        let is_of_subagent = request.prelude.as_str().contains(" subagent. ");
        match (is_of_subagent, request.pieces.len()) {
            (false, 1) => {
                let input =
                    json!({"agent_type": "code", "description": "all", "prompt": "Change all."});
                Answer::Calls(vec![("task", input)])
            }
            (true, 1) => Answer::Calls((0..FILES).map(edit).collect()),
            (true, _) => {
                *last.lock().expect("whole") = Some(Instant::now());
                Answer::Says("Changed.")
            }
            _ => Answer::Says("Done."),
        }
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut bench = Bench::start(dir, model, |_| {});
        let mut time = Duration::MAX;
        bench
            .run("Go.", |event| {
                if let Event::Thread { state: ThreadState::Ended, changed, .. } = &event.event {
                    assert_eq!(changed.len(), FILES, "all of it comes back");
                    let from = answered.lock().expect("whole").expect("the last reply");
                    time = from.elapsed();
                }
            })
            .await;
        assert_eq!(bench.session.hunks().len(), FILES);
        time
    })
}

fn edit(file: usize) -> (&'static str, Value) {
    let (old, new) = (format!("// File {file}."), format!("// The file {file}."));
    ("edit_file", json!({"path": format!("{file}.rs"), "old_text": old, "new_text": new}))
}
