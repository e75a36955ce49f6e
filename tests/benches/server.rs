//! Costs of the whole server: start, a keystroke, a turn, an edit on its way to the editor. Bars
//! are in the README.
//!
//! The model is scripted and answers over real HTTP on loopback, from a thread of this process, so that its
//! time counts nowhere but where a row says so.

#![expect(clippy::indexing_slicing, reason = "a bench of known shapes may be blunt")]
#![expect(clippy::expect_used, reason = "a bench that can't run may say so bluntly")]

#[path = "../support/agent.rs"]
#[expect(dead_code, unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod agent;
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod client;
#[expect(dead_code, reason = "the text bench uses the rest of it")]
mod harness;
#[path = "../support/home.rs"]
#[expect(unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod home;

use agent::Agent;
use client::{Client, did_open, initialize, memory, notification, server, uri};
use futures::future::BoxFuture;
use harness::{Bar, MEGABYTE, Places, Report, Work, callgrind, code, shortest};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use ropewalk_text::{Change, ChangeSet, Position, Text};
use ropewalk_tools::{Context, NoCommands, Registry};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::ledger::Published;
use ropewalk_workspace::publish::publish;
use ropewalk_workspace::{
    ContentChange, DocId, DocumentEdit, Editor, EditorError, Fork, Habits, HunkId, HunkSelection,
    NoEditor, Roots, Workspace,
};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

fn main() {
    harness::main(WORKS, |report| {
        start(report);
        keystroke(report);
        keys_and_bursts(report);
        publish_in_process(report);
        publish_over_pipes(report);
        twenty_steps(report);
        text_delta(report);
        long_history(report);
    });
}

/// From the start of the process to the reply to `initialize`, and the memory then.
fn start(report: &mut Report) {
    let names = ["start to `initialize`", "memory then, VmRSS", "memory then, VmHWM"];
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let agent = Agent::new("review", []);
    let folder = tempfile::tempdir().expect("a folder");
    let mut times = Vec::new();
    let mut sizes = (f64::MAX, f64::MAX);
    for _ in 0..40 {
        let start = Instant::now();
        let mut client = Client::start(server(agent.environment()));
        client.send(&initialize(folder.path()));
        client.next();
        times.push(start.elapsed());
        let size = |field| memory(client.pid(), field).expect("its status");
        sizes = (sizes.0.min(size("VmRSS")), sizes.1.min(size("VmHWM")));
    }
    times.sort();
    report.row(names[0], milliseconds(times[0]), "ms", Bar::AtMost(5.0));
    report.row("start to `initialize`, median", milliseconds(times[20]), "ms", Bar::Shown);
    report.row(names[1], sizes.0, "MB", Bar::AtMost(12.0));
    report.row(names[2], sizes.1, "MB", Bar::AtMost(12.0));
}

/// One change of 100 bytes in a document of 1 MB, through the whole server.
fn keystroke(report: &mut Report) {
    /// How often the client waits until the server has nothing left to do.
    const PAUSES: usize = 60;
    let agent = Agent::new("review", []);
    let folder = tempfile::tempdir().expect("a folder");
    let (path, text) = document(folder.path(), 1);
    let lines = text.lines().count();
    let mut places = Places(7);
    let changes: Vec<Vec<u8>> = (0..20_000)
        .map(|number| {
            let at = json!({"line": places.next(lines), "character": places.next(4)});
            let change = json!({"range": {"start": at, "end": at}, "rangeLength": 0, "text": "x".repeat(99) + "\n"});
            let document = json!({"uri": uri(&path), "version": number + 2});
            let params = json!({"textDocument": document, "contentChanges": [change]});
            notification("textDocument/didChange", params)
        })
        .collect();
    let opened = |command: Command| {
        let mut client = Client::initialized(command, folder.path());
        client.send(&did_open(&path, &text));
        client.barrier();
        client
    };

    // As many pauses for many changes as for few, so that their cost doesn't count. Without them the thread
    // that reads runs ahead as it pleases, and the allocator pays for what lies between it and the handlers.
    report.counted("didChange of 100 bytes in 1 MB", 3000, Bar::AtMost(45_000.0), |times| {
        callgrind(&server(agent.environment()), |counted| {
            let mut client = opened(counted);
            for some in changes[..times as usize].chunks(times as usize / PAUSES) {
                client.send(&some.concat());
                client.barrier();
            }
            client.end();
        })
    });

    let name = "didChange of 100 bytes in 1 MB, time";
    if report.wants(name) {
        let many = changes.concat();
        let time = shortest(3, || {
            let mut client = opened(server(agent.environment()));
            let start = Instant::now();
            client.send(&many);
            client.barrier();
            start.elapsed()
        });
        report.row(name, time.as_secs_f64() * 1e6 / changes.len() as f64, "µs", Bar::Shown);
    }
}

/// A document of `megabytes` on the disk, written an hour ago: one written just now is read again at each look.
fn document(folder: &Path, megabytes: usize) -> (PathBuf, String) {
    let path = folder.join("main.rs");
    let text = code(megabytes * MEGABYTE, "\n");
    fs::write(&path, &text).expect("written");
    let file = fs::File::options().write(true).open(&path).expect("opened");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("aged");
    (path, text)
}

/// An edit of a line near the end of a text from [`code`], for `edit_file`.
fn edit_near_the_end(text: &str) -> serde_json::Value {
    let line = text.lines().rev().find(|line| line.contains("let value_")).expect("such a line");
    json!({"path": "main.rs", "old_text": line, "new_text": format!("{line} // seen")})
}

/// An editor that makes every edit, and notes when it was first asked to.
struct Notes {
    workspace: Arc<Workspace>,
    asked: Mutex<Option<Instant>>,
}

impl Editor for Notes {
    fn habits(&self) -> Habits {
        Habits::of(Some("Visual Studio Code"))
    }

    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        self.asked.lock().expect("unspoilt").get_or_insert_with(Instant::now);
        let changes = edit.edits.into_iter().rev();
        let changes: Vec<_> = changes
            .map(|(start, end, text)| ContentChange { range: Some((start, end)), text })
            .collect();
        self.workspace.change(&edit.uri, edit.version + 1, &changes);
        Box::pin(async { Ok(()) })
    }

    fn barrier(&self) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }

    fn save(&self, doc: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        NoEditor.save(doc)
    }

    fn diagnostics(&self, doc: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        NoEditor.diagnostics(doc)
    }
}

/// Work in the workspace alone, counted.
const WORKS: &[Work] = &[
    Work { name: "a key beside 0 published edits", run: |keys| typed(0, keys) },
    Work { name: "a key beside 1,000 published edits", run: |keys| typed(1_000, keys) },
    Work { name: "a burst of 16,000 changes", run: |bursts| burst(bursts, false) },
    Work { name: "a burst beside an edit under way", run: |bursts| burst(bursts, true) },
];

/// A key costs the same whatever was published before, and a burst is compared with an edit under way once.
fn keys_and_bursts(report: &mut Report) {
    for (pair, times, bar) in [([0, 1], 200, 1.3), ([2, 3], 1, 5.0)] {
        let [alone, beside] = pair.map(|work| WORKS[work].name);
        let alone = report.instructions(alone, times, Bar::Shown);
        let both = alone.zip(report.instructions(beside, times, Bar::Shown));
        if let Some((alone, beside_it)) = both {
            report.row(&format!("{beside}: times"), beside_it / alone, "times", Bar::AtMost(bar));
        }
    }
}

/// The user's keys in one place in the middle of a document of 1 MB in which so many edits of the agent's were accepted.
fn typed(published: usize, keys: u64) {
    let before = Text::from(code(MEGABYTE, "\n").as_str());
    let every = before.line_feeds() / published.max(1);
    let places = (0..published).map(|number| before.line_feed_start(number * every));
    let changes = places.map(|at| Change::new(at..at, "// seen\n")).collect();
    let set = ChangeSet::new(before.len(), changes).expect("sorted");
    let after = set.apply(&before).expect("of this text");
    let workspace = Workspace::new(Roots::default());
    let uri = "file:///main.rs";
    let id = workspace.open(uri, "rust", 1, &after.to_string());
    let about = Published::about("bench".into(), id, "main.rs".to_owned());
    let hunks: Vec<_> = (0..published as u64).map(|number| (HunkId(number), 1)).collect();
    workspace.ledger().record(&about, &before, &set, &after, &hunks);
    let line = u32::try_from(after.line_feeds() / 2).expect("few");
    for key in 0..u32::try_from(keys).expect("few") {
        let at = Position::new(line, key);
        let change = ContentChange { range: Some((at, at)), text: "x".to_owned() };
        workspace.change(uri, 2 + key.cast_signed(), &[change]);
    }
}

/// Notifications of 16,000 changes each, at random places, with or without an edit of ours that has no echo yet.
fn burst(bursts: u64, is_expecting: bool) {
    let workspace = Workspace::new(Roots::default());
    let uri = "file:///main.rs";
    let id = workspace.open(uri, "rust", 1, &code(MEGABYTE, "\n"));
    let mut places = Places(7);
    for number in 0..bursts {
        let version = 10 + i32::try_from(number).expect("few");
        let lines = workspace.with_document(&id, |document| {
            let text = document.text().clone();
            if is_expecting {
                let middle = text.line_feed_start(text.line_feeds() / 2);
                let set = ChangeSet::single(text.len(), middle..middle, "// seen\n");
                let _ = document.expect(workspace.publish_id(), set);
            }
            text.line_feeds()
        });
        let lines = lines.expect("it is open");
        let change = |_| {
            let at = Position::new(u32::try_from(places.next(lines)).expect("few"), 0);
            ContentChange { range: Some((at, at)), text: "x".to_owned() }
        };
        let changes: Vec<ContentChange> = (0..16_000).map(change).collect();
        workspace.change(uri, version, &changes);
    }
}

/// `edit_file` in an open document of 10 MB: its search, the merge into the fork, the edit handed to the editor.
fn publish_in_process(report: &mut Report) {
    let name = "publish in 10 MB, edit_file to applyEdit";
    if !report.wants(name) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (path, text) = document(folder.path(), 10);
    let input = edit_near_the_end(&text);
    let registry = Registry::standard(Arc::new(NoCommands), Arc::new(NoEditor));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let round = || {
        let roots = Roots::new(vec![(String::new(), folder.path().to_owned())]);
        let workspace = Arc::new(Workspace::new(roots));
        let id = workspace.open(&uri(&path), "rust", 1, &text);
        workspace.look_at_disk(&id);
        let editor = Arc::new(Notes { workspace: workspace.clone(), asked: Mutex::default() });
        let fork = Mutex::new(Fork::new("bench".into()));
        let view = Arc::new(fork.lock().expect("unspoilt").view(workspace.snapshot()));
        let context = Context::new("call", 1, view.clone());
        let start = Instant::now();
        runtime.block_on(async {
            let (tool, call) = registry.parse("edit_file", input.clone()).expect("a good call");
            let output = tool.run_and_tell(call, context).await;
            let maker = Maker::Call("call".into());
            let merged = fork.lock().expect("unspoilt").merge(
                &workspace,
                &view,
                1,
                &maker,
                output.proposals,
            );
            let selection = HunkSelection::Hunks(merged.hunks);
            let bounds = Default::default();
            let done = publish(&workspace, &*editor, &fork, &selection, bounds).await;
            assert_eq!((done.done.len(), done.failed.len()), (1, 0), "{done:?}");
        });
        let asked = editor.asked.lock().expect("unspoilt").expect("an edit");
        asked - start
    };
    let time = (0..9).map(|_| round()).min().unwrap_or_default();
    report.row(name, milliseconds(time), "ms", Bar::AtMost(5.0));
}

/// The same through the whole server: from the last bytes of the model's reply to `workspace/applyEdit`.
fn publish_over_pipes(report: &mut Report) {
    let name = "publish in 10 MB, model to applyEdit";
    if !report.wants(name) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (path, text) = document(folder.path(), 10);
    let input = edit_near_the_end(&text);
    let round = || {
        let call =
            ScriptedReply::new().call("edit_file", input.clone()).gate(ReplyPlace::End, "last");
        let agent = Agent::new("auto", [call, ScriptedReply::new().text("Done.")]);
        let mut client = Client::initialized(server(agent.environment()), folder.path());
        client.send(&did_open(&path, &text));
        client.prompt("Say that you have seen it.");
        agent.model.wait_until_reached_blocking("last");
        client.until("step_started");
        let start = Instant::now();
        agent.model.open_gate("last");
        let asked = client.until("workspace/applyEdit");
        let time = start.elapsed();
        client.make(&asked);
        client.until("turn_ended");
        time
    };
    let time = (0..7).map(|_| round()).min().unwrap_or_default();
    report.row(name, milliseconds(time), "ms", Bar::AtMost(5.0));
}

/// `ropewalk run` with twenty steps, each reading a file or running a command.
fn twenty_steps(report: &mut Report) {
    let names = ["20 steps, CPU with children", "20 steps, peak memory", "20 steps, time"];
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("main.rs"), code(40_000, "\n")).expect("written");
    let mut best = (f64::MAX, f64::MAX, f64::MAX);
    for _ in 0..5 {
        let steps = (0..20).map(|step| {
            if step % 2 == 0 {
                let input = json!({"path": "main.rs", "offset": step * 20 + 1, "limit": 40});
                ScriptedReply::new().text("I look.").call("read_file", input)
            } else {
                let input = json!({"command": format!("sed -n {step}p main.rs")});
                ScriptedReply::new().text("I look.").call("bash", input)
            }
        });
        let agent = Agent::new("auto", steps.chain([ScriptedReply::new().text("Done.")]));
        let (before, start) = (cpu_of_children(), Instant::now());
        let mut run = Command::new(env!("CARGO_BIN_EXE_ropewalk"))
            .args(["run", "--mode", "auto", "--allow", "bash(*)", "Look around."])
            .current_dir(folder.path())
            .envs(agent.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("ropewalk runs");
        // Its own high-water mark, asked for until it is gone: the commands are smaller.
        let mut peak = 0.0;
        while run.try_wait().expect("waited for").is_none() {
            peak = memory(run.id(), "VmHWM").unwrap_or(peak);
            std::thread::sleep(Duration::from_millis(1));
        }
        let time = start.elapsed().as_secs_f64();
        assert_eq!(agent.model.requests().len(), 21, "the run ended early");
        best = (best.0.min(cpu_of_children() - before), best.1.min(peak), best.2.min(time));
    }
    report.row(names[0], best.0 * 1e3, "ms", Bar::AtMost(150.0));
    report.row(names[1], best.1, "MB", Bar::AtMost(30.0));
    report.row(names[2], best.2 * 1e3, "ms", Bar::Shown);
}

/// Measures the added cost of a step when the history has 1 MB. Twenty steps after reading that
/// much, against twenty steps after reading next to nothing.
fn long_history(report: &mut Report) {
    let name = "a step with 1 MB of history, CPU more";
    if !report.wants(name) {
        return;
    }
    const READS: usize = 21;
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("long.rs"), code(49_000, "\n")).expect("written");
    fs::write(folder.path().join("short.rs"), code(100, "\n")).expect("written");
    let spent = |first: &str, steps: usize| {
        // Each call is another: one that is made again and again ends the turn.
        let read = |name: &str, number: usize| {
            let input = json!({ "path": name, "limit": 2_000 + number });
            ScriptedReply::new().call("read_file", input)
        };
        let replies = (0..READS).map(|number| read(first, number));
        let replies = replies.chain((0..steps).map(|number| read("short.rs", READS + number)));
        let agent = Agent::new("auto", replies.chain([ScriptedReply::new().text("Done.")]));
        let before = cpu_of_children();
        let status = Command::new(env!("CARGO_BIN_EXE_ropewalk"))
            .args(["run", "Look around."])
            .current_dir(folder.path())
            .envs(agent.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("ropewalk runs");
        assert!(status.success(), "{status}");
        let requests = agent.model.requests();
        assert_eq!(requests.len(), READS + steps + 1, "the run ended early");
        cpu_of_children() - before
    };
    let mut best = [f64::MAX; 4];
    for _ in 0..7 {
        let now = [
            spent("long.rs", 20),
            spent("long.rs", 0),
            spent("short.rs", 20),
            spent("short.rs", 0),
        ];
        best.iter_mut().zip(now).for_each(|(best, now)| *best = best.min(now));
    }
    let each = ((best[0] - best[1]) - (best[2] - best[3])) / 20.0;
    report.row(name, each * 1e3, "ms", Bar::AtMost(1.0));
}

/// The seconds of user and system time of all children that have ended.
fn cpu_of_children() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the usage");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6
}

/// From a text delta's bytes at the model's socket to `ropewalk/event` at the editor.
fn text_delta(report: &mut Report) {
    let name = "text delta to ropewalk/event, p99";
    if !report.wants(name) {
        return;
    }
    const DELTAS: usize = 300;
    let gate = |number: usize| format!("delta {number}");
    let round = || {
        // A block for each delta, with a gate before it.
        let reply = (0..DELTAS).fold(ScriptedReply::new(), |reply, number| {
            reply.gate(ReplyPlace::Block(number), gate(number)).text("a few letters")
        });
        let agent = Agent::new("review", [reply]);
        let folder = tempfile::tempdir().expect("a folder");
        let mut client = Client::initialized(server(agent.environment()), folder.path());
        client.prompt("Say something.");
        let mut times: Vec<Duration> = (0..DELTAS)
            .map(|number| {
                agent.model.wait_until_reached_blocking(&gate(number));
                let start = Instant::now();
                agent.model.open_gate(&gate(number));
                client.until("text_delta");
                start.elapsed()
            })
            .collect();
        client.until("turn_ended");
        times.sort();
        (times[DELTAS / 2], times[DELTAS * 99 / 100])
    };
    let rounds: Vec<_> = (0..5).map(|_| round()).collect();
    let best = |of: fn(&(Duration, Duration)) -> Duration| rounds.iter().map(of).min();
    let (half, p99) = (best(|round| round.0), best(|round| round.1));
    report.row(name, milliseconds(p99.unwrap_or_default()), "ms", Bar::AtMost(1.0));
    let name = "text delta to ropewalk/event, median";
    report.row(name, milliseconds(half.unwrap_or_default()), "ms", Bar::Shown);
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
