//! Compacting a long history, apart from the model.

use crate::answers::{Answer, AnsweringModel, asks_for_summary};
use crate::harness::{Bar, Report};
use crate::session::{Bench, folder, write_files};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use ropewalk_protocol::Event;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A context that is full when the history has 1 MB, at four bytes a token.
const CONTEXT: u32 = 315_000;

/// Steps of the turn: so many that it is compacted a few times.
const STEPS: usize = 4_000;

/// Times between a reply of the model, which calls a tool, and its next request.
#[derive(Default)]
struct Steps {
    read: usize,
    replied: Option<(Instant, Duration)>,
    /// True if a summary was asked for since.
    is_compacted: bool,
    /// By the clock and by the processors, of steps with a compaction and of others.
    with: Vec<(Duration, Duration)>,
    without: Vec<(Duration, Duration)>,
}

impl Steps {
    /// The model is asked to go on.
    fn answer(&mut self) -> Answer {
        let (now, used) = (Instant::now(), own_time());
        if let Some((then, before)) = self.replied {
            let all = if self.is_compacted { &mut self.with } else { &mut self.without };
            all.push((now - then, used.saturating_sub(before)));
        }
        self.is_compacted = false;
        self.read += 1;
        if self.read > STEPS {
            return Answer::Says("All read.");
        }
        let input = json!({ "path": format!("{}.rs", self.read - 1) });
        self.replied = Some((Instant::now(), own_time()));
        Answer::Calls(vec![("read_file", input)])
    }
}

/// A step with a compaction, from the model's reply to its next request, with the call in between. The model sums up at once.
pub(crate) fn without_the_model(report: &mut Report) {
    let name = "compacting 1 MB of history";
    if !report.wants(name) {
        return;
    }
    let dir = folder();
    write_files(&dir, STEPS, 2_048);
    let steps = Arc::new(Mutex::new(Steps::default()));
    let own = steps.clone();
    let model = AnsweringModel::new(Some(CONTEXT), move |request| {
        let mut steps = own.lock().expect("whole");
        if asks_for_summary(request) {
            steps.is_compacted = true;
            return Answer::Says("**Goal**: read all.\n**Done**: some.\n**Next**: the next file.");
        }
        steps.answer()
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut sizes = Vec::new();
    runtime.block_on(async {
        let mut bench = Bench::start(dir, model, |settings| settings.limits.steps = 10_000);
        let mut look = |event: &Event| {
            if let Event::Compacted { before, .. } = event {
                sizes.push(*before as f64 * 4.0 / 1e6);
            }
        };
        bench.run("Read all of them.", |event| look(&event.event)).await;
    });
    let size = sizes.iter().copied().fold(f64::MAX, f64::min);
    assert!(size > 1.0, "{sizes:?}");
    let steps = steps.lock().expect("whole");
    assert_eq!(steps.with.len(), sizes.len(), "each compaction asks once for a summary");
    let least = |of: fn(&(Duration, Duration)) -> Duration| {
        steps.with.iter().map(of).min().unwrap_or_default().as_secs_f64() * 1e3
    };
    report.row(name, least(|times| times.0), "ms", Bar::AtMost(20.0));
    report.row("compacting 1 MB, the processors", least(|times| times.1), "ms", Bar::Shown);
    let usual = steps.without.iter().map(|times| times.0).min().unwrap_or_default();
    report.row("compacting 1 MB, a step without", usual.as_secs_f64() * 1e3, "ms", Bar::Shown);
    report.row("compacting 1 MB, what there was", size, "MB", Bar::Shown);
    report.row("compacting 1 MB, how often", sizes.len() as f64, "times", Bar::Shown);
}

/// The time of the processors that this process has used.
fn own_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the usage");
    let microseconds = (usage.user_time() + usage.system_time()).num_microseconds();
    Duration::from_micros(microseconds.unsigned_abs())
}
