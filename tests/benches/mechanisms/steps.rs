//! Long turns in small contexts: they get done, and what compaction takes of all tokens, of the cache too.

use crate::harness::{Bar, Report};
use crate::session::{Bench, folder, write_files};
use ropewalk_model::{Http, Model, Protocol, ServerModel};
use ropewalk_protocol::{Event, SessionEvent};
use ropewalk_testkit::model::{
    CountedContext, CountedRequest, Overflow, ScriptedModel, ScriptedReply,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes of a file that is read.
const FILE: usize = 2_048;

/// A summary as models write them.
const SUMMARY: &str = "\
**Goal**: read every file of the folder, one after the other, and say at the end which of them compute values with the window \
open. The user wants no file changed and no command run.
**Done**: the files up to the last result were read, in order, from the lowest number up; none is left out.
**Decided**: files are read whole, since each is short; names are taken from their numbers, so the folder is not listed again.
**Failed**: nothing.
**Facts**: each file is about 2 KB of code; `compute(input, N)` makes each value; `self.window.len() >= size && !open` guards \
it; totals are added to `self.total`.
**Next**: read the file of the next number, then go on to the last.";

/// A turn of so many steps at a model of so many tokens, as its server counted it.
struct CountedTurn {
    requests: Vec<CountedRequest>,
    /// Numbers of the requests for a summary.
    summaries: Vec<usize>,
    /// True of each compaction that the model has summed up, false of one that has our own list.
    compactions: Vec<bool>,
}

impl CountedTurn {
    fn run(protocol: Protocol, steps: usize, tokens: u64) -> Self {
        let dir = folder();
        write_files(&dir, steps, FILE);
        let context = CountedContext { tokens, overflow: Overflow::Refuse };
        let model = ScriptedModel::start_counting(protocol, [reader(steps)], context);
        let model = model.expect("a port");
        let mut config = model.config();
        config.limits.context = u32::try_from(tokens).ok();
        let client: Arc<dyn Model> = Arc::new(ServerModel::new(config, Http::new()).expect("one"));
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let compactions = runtime.block_on(async {
            let more = u32::try_from(steps).unwrap_or(u32::MAX) + 10;
            let mut bench = Bench::start(dir, client, |settings| settings.limits.steps = more);
            let mut compactions = Vec::new();
            let is_models = |event: &Event| match event {
                Event::Compacted { by, .. } => Some(by != "ropewalk"),
                _ => None,
            };
            let look = |event: &SessionEvent| compactions.extend(is_models(&event.event));
            bench.run("Read all of them.", look).await;
            compactions
        });
        let is_question = |(at, request): (usize, &Value)| is_question(request).then_some(at);
        let said: Vec<Value> = model.recorded().into_iter().map(|request| request.said).collect();
        let summaries = said.iter().enumerate().filter_map(is_question).collect();
        Self { requests: model.counted(), summaries, compactions }
    }

    /// The tokens of all requests, and of those for a summary.
    fn tokens(&self) -> (u64, u64) {
        let of = |request: &CountedRequest| request.bytes as u64 / 4 + request.output;
        let summaries = self.summaries.iter().filter_map(|at| self.requests.get(*at));
        (self.requests.iter().map(of).sum(), summaries.map(of).sum())
    }
}

/// A model that reads so many files, one after the other, and sums up when it is asked to.
fn reader(files: usize) -> ScriptedReply {
    let next = Arc::new(AtomicUsize::new(0));
    let make = move |said: &Value| {
        if is_question(said) {
            return ScriptedReply::new().text(SUMMARY);
        }
        match next.fetch_add(1, Ordering::SeqCst) {
            at if at < files => {
                let input = json!({ "path": format!("{at}.rs") });
                ScriptedReply::new().text("I read the next file.").call("read_file", input)
            }
            _ => ScriptedReply::new().text("All read."),
        }
    };
    ScriptedReply::from_fn(make).by_beginning().forever()
}

/// True if a request asks for a summary.
fn is_question(said: &Value) -> bool {
    let messages = said["messages"].as_array();
    messages
        .and_then(|all| all.last())
        .is_some_and(|last| last.to_string().contains("<compaction>"))
}

/// 200 steps at each context: the worst of the protocols.
pub(crate) fn long_turns(report: &mut Report) {
    for (tokens, most) in [(4_096, 60.0), (8_192, 30.0), (16_384, 25.0)] {
        let name = format!("200 steps at {tokens} tokens, compaction");
        if !report.wants(&name) {
            continue;
        }
        let turns = Protocol::ALL.iter().map(|protocol| {
            let turn = CountedTurn::run(*protocol, 200, tokens);
            let over = turn.requests.iter().filter(|request| request.is_over).count();
            let (all, summaries) = turn.tokens();
            let lists = turn.compactions.iter().filter(|is_models| !**is_models).count();
            let percent = summaries as f64 / all as f64 * 100.0;
            (percent, turn.compactions.len(), over, lists, all as f64 / 1e3)
        });
        let worst = turns.max_by(|a, b| a.0.total_cmp(&b.0)).expect("a protocol");
        report.row(&name, worst.0, "% of tokens", Bar::AtMost(most));
        report.row(&format!("{name}s"), worst.1 as f64, "times", Bar::Shown);
        report.row(&format!("{name}, over"), worst.2 as f64, "requests", Bar::AtMost(0.0));
        report.row(&format!("{name}s by a list"), worst.3 as f64, "times", Bar::AtMost(0.0));
        report.row(&format!("{name}, all"), worst.4, "k tokens", Bar::Shown);
    }
}

/// 100 steps with two compactions: the part of all prompts that a cache holds.
pub(crate) fn repeated_bytes(report: &mut Report) {
    let (name, summary) = ("100 steps, bytes sent before", "100 steps, the summary's request");
    if !report.wants(name) && !report.wants(summary) {
        return;
    }
    let turns: Vec<CountedTurn> =
        Protocol::ALL.iter().map(|protocol| CountedTurn::run(*protocol, 100, 47_000)).collect();
    let mut least = (f64::MAX, f64::MAX);
    for turn in &turns {
        assert_eq!(turn.compactions.len(), 2, "the context is not what two compactions need");
        let sum = |of: fn(&CountedRequest) -> usize| turn.requests.iter().map(of).sum::<usize>();
        let repeated = sum(|request| request.repeated) as f64;
        least.0 = least.0.min(repeated / sum(|request| request.bytes) as f64);
        for request in turn.summaries.iter().filter_map(|at| turn.requests.get(*at)) {
            least.1 = least.1.min(request.repeated as f64 / request.bytes as f64);
        }
    }
    report.row(name, least.0 * 100.0, "%", Bar::AtLeast(90.0));
    report.row(summary, least.1 * 100.0, "%", Bar::AtLeast(95.0));
}
