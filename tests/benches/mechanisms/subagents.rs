//! Subagents: several at once, and what one takes of time and memory beside its model.

use crate::answers::{Answer, AnsweringModel, ends_with};
use crate::harness::{Bar, Report};
use crate::session::{Bench, folder, write_files};
use ropewalk_model::{Http, ModelRequest, Protocol, ServerModel};
use ropewalk_protocol::{Event, Prompt, SessionEvent, ThreadState};
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The time of one reply of the model.
const REPLY: Duration = Duration::from_millis(200);

/// The prompt of a subagent; none stands in another.
fn prompt(number: usize) -> String {
    format!("Look into part {number}.")
}

/// The input of a call that starts a subagent.
fn task(kind: &str, number: usize) -> Value {
    json!({"agent_type": kind, "description": format!("part {number}"), "prompt": prompt(number)})
}

/// Four explorers that are at work at once, against one; each reads a file and says what it has seen.
pub(crate) fn four_at_once(report: &mut Report) {
    let name = "4 explorers, 200 ms a reply, against one";
    if !report.wants(name) {
        return;
    }
    let time = |count| shortest_of(3, || explore(count));
    let (one, four) = (time(1), time(4));
    report.row("1 explorer, 200 ms a reply", one.as_secs_f64() * 1e3, "ms", Bar::Shown);
    report.row("4 explorers, 200 ms a reply", four.as_secs_f64() * 1e3, "ms", Bar::Shown);
    report.row(name, four.as_secs_f64() / one.as_secs_f64(), "times", Bar::AtMost(1.3));
}

fn shortest_of(runs: u32, work: impl Fn() -> Duration) -> Duration {
    (0..runs).map(|_| work()).min().unwrap_or_default()
}

/// The time of a turn with so many explorers, whose server answers four at a time.
fn explore(count: usize) -> Duration {
    let dir = folder();
    write_files(&dir, count, 2_048);
    let starts = (0..count)
        .fold(ScriptedReply::new(), |reply, number| reply.call("task", task("explore", number)));
    let own = (0..count).flat_map(|number| {
        let read = json!({ "path": format!("{number}.rs") });
        let replies = [
            ScriptedReply::new().call("read_file", read),
            ScriptedReply::new().text("It computes values."),
        ];
        replies.into_iter().zip(0..).map(move |(reply, at)| {
            let reply = reply.when(prompt(number)).conversation(prompt(number));
            reply.gate(ReplyPlace::Answer, gate(number, at))
        })
    });
    let replies = [starts].into_iter().chain(own).chain([ScriptedReply::new().text("Done.")]);
    let server = ScriptedModel::start_over(Protocol::Anthropic, replies).expect("a port");
    let mut config = server.config();
    config.parallel = Some(4);
    let model = Arc::new(ServerModel::new(config, Http::new()).expect("a model"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    thread::scope(|scope| {
        for (number, at) in (0..count).flat_map(|number| [(number, 0), (number, 1)]) {
            let server = &server;
            scope.spawn(move || {
                server.wait_until_reached_blocking(&gate(number, at));
                thread::sleep(REPLY);
                server.open_gate(&gate(number, at));
            });
        }
        runtime.block_on(async {
            let mut bench = Bench::start(dir, model, |_| {});
            let start = Instant::now();
            bench.run("Look around.", |_| {}).await;
            start.elapsed()
        })
    })
}

/// The gate before a reply to a subagent.
fn gate(number: usize, reply: usize) -> String {
    format!("{number}, {reply}")
}

/// A subagent whose model answers at once; and the memory of many that are at work.
pub(crate) fn one_alone(report: &mut Report) {
    for kind in ["explore", "code"] {
        let name = format!("a subagent of type {kind}");
        if report.wants(&name) {
            let time = one(kind).as_secs_f64() * 1e3;
            report.row(&name, time, "ms", Bar::AtMost(5.0));
        }
    }
    let name = "memory of a subagent";
    if report.wants(name) {
        let this = std::env::current_exe().expect("this program's path");
        let measure = || {
            let mut command = Command::new(&this);
            command.args(["--work", ALIVE, &MANY.to_string()]);
            let output = command.output().expect("this program starts");
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8_lossy(&output.stdout);
            text.trim().parse::<f64>().expect("kilobytes")
        };
        let least = (0..3).map(|_| measure()).fold(f64::MAX, f64::min);
        report.row(name, least, "KB", Bar::AtMost(300.0));
    }
}

/// From the reply that calls `task` to the next request, which has its result: the shortest of the turn's.
fn one(kind: &'static str) -> Duration {
    const COUNT: usize = 12;
    let dir = folder();
    write_files(&dir, 10, 2_048);
    let steps = Arc::new(Mutex::new((0, Instant::now(), Duration::MAX)));
    let own = steps.clone();
    let model = AnsweringModel::new(None, move |request| {
        if is_of_subagent(request) {
            return Answer::Says("It computes values.");
        }
        let (started, replied, best) = &mut *own.lock().expect("whole");
        if *started > 0 {
            let result = format!("({kind}: 1 step, ");
            assert!(ends_with(request, &result), "{:?}", request.pieces.last());
            *best = replied.elapsed().min(*best);
        }
        if *started == COUNT {
            return Answer::Says("Done.");
        }
        *started += 1;
        *replied = Instant::now();
        Answer::Calls(vec![("task", task(kind, *started))])
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        Bench::start(dir, model, |_| {}).run("Look around.", |_| {}).await;
    });
    let (started, _, best) = *steps.lock().expect("whole");
    assert_eq!(started, COUNT);
    best
}

fn is_of_subagent(request: &ModelRequest) -> bool {
    request.prelude.as_str().contains(" subagent. ")
}

/// Name of the work that tells the memory of subagents.
pub(crate) const ALIVE: &str = "subagents at work";

/// So many are at work while memory is measured.
const MANY: usize = 60;

/// Prints the kilobytes that each of so many subagents takes, all of them waiting for their model after three calls.
pub(crate) fn print_alive(count: u64) {
    let count = usize::try_from(count).expect("a few");
    let dir = folder();
    write_files(&dir, 3 * count, 2_048);
    let read = Arc::new(AtomicUsize::new(0));
    let asked = read.clone();
    let model = AnsweringModel::new(None, move |request| {
        if !is_of_subagent(request) {
            return match ends_with(request, "Look around") {
                true => Answer::Calls((0..count).map(|at| ("task", task("explore", at))).collect()),
                false => Answer::Says("Done."),
            };
        }
        match request.pieces.len() {
            7.. => Answer::Never,
            _ => {
                let at = asked.fetch_add(1, Ordering::Relaxed);
                Answer::Calls(vec![("read_file", json!({ "path": format!("{at}.rs") }))])
            }
        }
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut bench = Bench::start(dir, model, |settings| {
            let limits = &mut settings.limits.mechanisms;
            limits.subagents_parallel = u32::try_from(count).expect("a few");
            limits.subagents_per_turn = limits.subagents_parallel;
        });
        let before = memory();
        bench.session.prompt(Prompt::new("Look around."));
        let (mut started, mut steps) = (0, 0);
        while started < count || steps < 4 * count {
            let SessionEvent { thread, event, .. } = bench.next().await;
            match event {
                Event::Thread { state: ThreadState::Started, .. } => started += 1,
                Event::StepStarted { .. } if thread.is_some() => steps += 1,
                _ => {}
            }
        }
        println!("{}", (memory() - before) / count as f64);
    });
    assert_eq!(read.load(Ordering::Relaxed), 3 * count);
}

/// Kilobytes of this process that are in memory.
fn memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).expect("a number")
}
