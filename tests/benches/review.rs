//! Costs of accepting: many new files at once, one edit late in a session, and a call while much is
//! pending. Bars are in the README.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench that can't run may say so bluntly"
)]

#[path = "../support/agent.rs"]
#[expect(dead_code, unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod agent;
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod client;
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod harness;
#[path = "../support/home.rs"]
#[expect(unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod home;

use agent::Agent;
use client::{Client, did_open, processor_time, request, server, uri};
use harness::{Bar, Report, Work};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use ropewalk_agent::journal::record::{JournalHead, Record, VERSION};
use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::Settings;
use ropewalk_agent::{Session, SessionConfig, Sessions};
use ropewalk_model::{Http, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::{self as protocol, Event, Mode, Op, SessionLimits, StopReason};
use ropewalk_text::{ChangeSet, Text};
use ropewalk_tools::{NoCommands, Registry, Rules};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::{MergeOrigin, merge, synced};
use ropewalk_workspace::publish::{PublishBounds, publish};
use ropewalk_workspace::state::{SavedState, StateRecord};
use ropewalk_workspace::{
    DocId, Fork, ForkOwner, HunkSelection, LockedFork, NoEditor, Proposal, ProposedChange, Roots,
    Workspace,
};
use serde_json::json;
use std::fs::{self, File};
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::mpsc;

const WORKS: &[Work] = &[
    Work { name: "accept", run: |files| println!("{:?}", accept(files as usize)) },
    Work { name: "call", run: |files| call(files as usize) },
];

fn main() {
    harness::main(WORKS, |report| {
        for files in [250, 500, 1_000, 2_000, 5_000] {
            let name = format!("accept {files} new files");
            let bar = if files == 5_000 { Bar::AtMost(1_000.0) } else { Bar::Shown };
            if report.wants(&name) {
                report.row(&name, accept(files).as_secs_f64() * 1e3, "ms", bar);
            }
        }
        calls_by_size(report);
        actions_meanwhile(report);
        late_edit(report);
        let name = "file reads of a call with 1,000 pending";
        if report.wants(name)
            && let Some(lines) = traced("call", 1_000)
        {
            let is_read = |line: &&String| line.contains("read(") || line.contains("pread64(");
            report.row(
                name,
                lines.iter().filter(is_read).count() as f64,
                "reads",
                Bar::AtMost(0.0),
            );
        }
    });
}

/// System calls for each of 500 and of 5,000 files, from the op to its end.
fn calls_by_size(report: &mut Report) {
    let name = "calls per file of 5,000, against 500";
    if !report.wants(name) {
        return;
    }
    let each = |files: u64| Some(traced("accept", files)?.len() as f64 / files as f64);
    let (Some(few), Some(many)) = (each(500), each(5_000)) else { return };
    report.row("system calls per file of 500", few, "calls", Bar::Shown);
    report.row(name, many / few, "times", Bar::AtMost(1.1));
}

/// A path that is looked at where counting begins and ends.
const MARK: &str = "/ropewalk-bench-mark";

/// The system calls of a piece of work between its marks; None, which is said, without `strace`.
fn traced(work: &str, times: u64) -> Option<Vec<String>> {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let traced = Command::new("strace")
        .args(["-f", "-q", "-o"])
        .arg(log.path())
        .arg(std::env::current_exe().expect("this program's path"))
        .args(["--work", work, &times.to_string()])
        .stdout(Stdio::null())
        .status();
    let Ok(status) = traced else {
        println!("{work:<44} skipped: strace is not installed");
        return None;
    };
    assert!(status.success(), "{work} under strace: {status}");
    let lines = fs::read_to_string(log.path()).expect("strace's words");
    let between = lines.lines().skip_while(|line| !line.contains(MARK)).skip(1);
    Some(between.take_while(|line| !line.contains(MARK)).map(str::to_owned).collect())
}

/// Accepts so many new files in a session that goes on with them pending. Gives how long that took.
fn accept(files: usize) -> Duration {
    let (state, root) = (folder(), folder());
    let sessions = Sessions::new(state.path());
    write_journal(state.path(), root.path(), files);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let (journal, past) = sessions.open("bench").expect("a good journal");
    let model = ServerModel::new(ServerConfig::new(Protocol::Anthropic, "bench"), Http::new());
    let settings = Settings {
        configured_model: None,
        model_choice: None,
        model: Ok(Arc::new(model.expect("a model"))),
        tools: None,
        mode: Mode::Review,
        rules: Rules::default(),
        always: None,
        limits: SessionLimits::default(),
        mechanisms: ropewalk_protocol::Mechanisms::default(),
        verify: None,
        check_self: false,
        models: None,
        user_folders: Arc::default(),
        facts: PromptFacts::default(),
        interactive: false,
        secrets: Arc::default(),
    };
    let config = SessionConfig {
        id: "bench".into(),
        settings,
        tools: Registry::new(),
        runner: Arc::new(NoCommands),
        outputs: None,
        publish: Default::default(),
        journal,
        past: Some(past),
        approvals: Arc::default(),
    };
    let (sender, mut events) = mpsc::unbounded_channel();
    let session = Session::start(config, workspace(root.path()), Arc::new(NoEditor), sender);
    runtime.block_on(async {
        while let Some(event) = events.recv().await {
            if matches!(&event.event, Event::Hunks { hunks } if hunks.len() == files) {
                break;
            }
        }
        let _ = fs::metadata(MARK);
        let start = Instant::now();
        session.send(Op::Accept(protocol::Selection::All));
        let done = loop {
            match events.recv().await.expect("the review ends").event {
                Event::Reviewed { done, failed, .. } if failed.is_empty() => break done,
                Event::Reviewed { failed, .. } => panic!("{failed:?}"),
                _ => {}
            }
        };
        let time = start.elapsed();
        let _ = fs::metadata(MARK);
        assert_eq!(done, files);
        time
    })
}

/// The time of a code action while the server accepts 5,000 new files: from the request to its answer, over pipes.
fn actions_meanwhile(report: &mut Report) {
    const FILES: usize = 5_000;
    let names =
        ["a code action with 5,000 pending, the processors", "a code action meanwhile, 99 of 100"];
    if !names.iter().any(|name| report.wants(name)) {
        return;
    }
    let (agent, root) = (Agent::new("review", []), folder());
    write_journal(&agent.folder("state/ropewalk"), root.path(), FILES);
    let open = root.path().join("open.rs");
    let text = harness::code(100_000, "\n");
    fs::write(&open, &text).expect("written");
    let mut client = Client::initialized(server(agent.environment()), root.path());
    client.send(&did_open(&open, &text));
    // The session goes on by itself, because something waits in it.
    while client.until("hunks")["params"]["hunks"].as_array().map(Vec::len) != Some(FILES) {}
    let at = json!({"line": 9, "character": 0});
    let params = json!({
        "textDocument": {"uri": uri(&open)},
        "range": {"start": at, "end": at},
        "context": {"diagnostics": []},
    });
    let action = request(9, "textDocument/codeAction", params);
    let used = |client: &Client| processor_time(client.pid()).expect("its time").own;
    let (before, mut alone) = (used(&client), Vec::new());
    for _ in 0..400 {
        let start = Instant::now();
        client.send(&action);
        while client.next()["id"] != 9 {}
        alone.push(start.elapsed().as_secs_f64() * 1e3);
    }
    alone.sort_by(f64::total_cmp);
    let each = (used(&client) - before) * 1e3 / alone.len() as f64;
    let command = json!({"command": "ropewalk.accept", "arguments": [{"all": true}]});
    client.send(&request(1, "workspace/executeCommand", command));
    let (mut times, mut is_done) = (Vec::new(), false);
    while !is_done {
        let start = Instant::now();
        client.send(&action);
        loop {
            let message = client.next();
            is_done |= message["params"]["type"] == "reviewed";
            if message["id"] == 9 {
                break;
            }
        }
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    client.end();
    times.sort_by(f64::total_cmp);
    report.row(names[0], each, "ms", Bar::AtMost(5.0));
    // On a busy machine this is not the server's.
    report.row("a code action before, 99 of 100", alone[396], "ms", Bar::Shown);
    report.row("code actions during an accept", times.len() as f64, "answers", Bar::Shown);
    report.row("a code action meanwhile, half of them", times[times.len() / 2], "ms", Bar::Shown);
    report.row(names[1], times[times.len() * 99 / 100], "ms", Bar::AtMost(5.0));
    report.row("a code action meanwhile, the slowest", times[times.len() - 1], "ms", Bar::Shown);
}

/// A folder in memory where the system has that: a file system that has just deleted many files is slow to make others.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

fn workspace(root: &Path) -> Arc<Workspace> {
    Arc::new(Workspace::new(Roots::new(vec![(String::new(), root.to_owned())])))
}

/// A journal of a session with so many new files pending.
fn write_journal(state: &Path, root: &Path, files: usize) {
    let workspace = workspace(root);
    let mut fork = Fork::new("bench".into());
    let view = fork.view(workspace.snapshot());
    let one = |file: usize| {
        let name = format!("made/in_{}/file_{file}.rs", file % 20);
        let text = format!("//! File {file}.\n\npub fn number() -> usize {{\n    {file}\n}}\n");
        let place = view.contain(&name).expect("a place");
        Proposal { place, change: ProposedChange::Write(Text::from(text.as_str())) }
    };
    let maker = Maker::Call("call".into());
    fork.merge(&workspace, &view, 1, &maker, (0..files).map(one).collect());
    let roots = vec![root.display().to_string()];
    let head =
        JournalHead { version: VERSION, session: "bench".into(), at: 0, roots, member: None };
    let turn = Record::Turn { turn: 1, at: 1, prompt: "Make them".into() };
    let ended = Record::Ended { turn: 1, at: 1, stop_reason: StopReason::EndTurn };
    let states =
        SavedState::default().record(&fork, &workspace, None).into_iter().map(Record::State);
    let all = [Record::Journal(head), turn].into_iter().chain(states).chain([ended]);
    let line = |record| serde_json::to_string(&record).expect("a record") + "\n";
    let lines: String = all.map(line).collect();
    let folder = state.join("sessions");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("bench.jsonl"), lines).expect("written");
}

/// Writes the state into a file, as a journal does.
struct Lines(Mutex<(SavedState, File)>, Arc<Workspace>);

impl Lines {
    fn keep(&self, record: impl FnOnce(&mut SavedState) -> Vec<StateRecord>) {
        let (kept, file) = &mut *self.0.lock().expect("whole");
        for record in record(kept) {
            let line = serde_json::to_string(&record).expect("a record") + "\n";
            file.write_all(line.as_bytes()).expect("written");
        }
    }
}

/// A locked fork, and what is done with it right before each side effect.
struct Watched<'a, F: FnMut(&Fork, &[DocId])>(MutexGuard<'a, Fork>, F);

impl<F: FnMut(&Fork, &[DocId])> Deref for Watched<'_, F> {
    type Target = Fork;

    fn deref(&self) -> &Fork {
        &self.0
    }
}

impl<F: FnMut(&Fork, &[DocId])> DerefMut for Watched<'_, F> {
    fn deref_mut(&mut self) -> &mut Fork {
        &mut self.0
    }
}

impl<F: FnMut(&Fork, &[DocId])> LockedFork for Watched<'_, F> {
    fn journal_first(&mut self, files: &[DocId]) {
        (self.1)(&self.0, files);
    }
}

/// A fork whose lines are written ahead.
struct Journalled<'a>(&'a Mutex<Fork>, &'a Lines);

impl ForkOwner for Journalled<'_> {
    fn lock(&self) -> Box<dyn LockedFork + '_> {
        let fork = self.0.lock().expect("whole");
        Box::new(Watched(fork, |fork, files| {
            self.1.keep(|kept| kept.record_at_hand(files, fork, &self.1.1, None));
        }))
    }
}

/// The time of the processors that this process has used.
fn own_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the usage");
    let microseconds = (usage.user_time() + usage.system_time()).num_microseconds();
    Duration::from_micros(microseconds.unsigned_abs())
}

/// So many files with a pending change each, written an hour ago, in a folder.
fn pending(root: &Path, files: usize) -> (Arc<Workspace>, Mutex<Fork>) {
    let workspace = workspace(root);
    let fork = Mutex::new(Fork::new("bench".into()));
    for file in 0..files {
        let path = root.join(format!("file_{file}.rs"));
        fs::write(&path, harness::code(2_000, "\n")).expect("written");
        let aged = SystemTime::now() - Duration::from_secs(3600);
        let file = File::options().write(true).open(&path).expect("open");
        file.set_modified(aged).expect("aged");
    }
    (workspace, fork)
}

/// Proposes one more line in a file, as a call does.
fn propose(workspace: &Workspace, fork: &Mutex<Fork>, file: usize, turn: u64) {
    let view = synced(workspace, fork, |fork, _| fork.view(workspace.snapshot()));
    let place = view.contain(&format!("file_{file}.rs")).expect("a place");
    let Ok(ropewalk_workspace::FileState::Text { text, .. }) = view.read(&place) else {
        panic!("no text")
    };
    let set = ChangeSet::single(text.len(), 0..0, format!("// turn {turn}\n"));
    let proposals = vec![Proposal { place, change: ProposedChange::Edit(set) }];
    merge(
        workspace,
        fork,
        &view,
        MergeOrigin { turn, maker: &Maker::Call("call".into()) },
        proposals,
    );
}

/// Edits of a session that are accepted one by one: the 2,000th against the 100th, each with those around it.
fn late_edit(report: &mut Report) {
    let name = "an accepted edit, the 2,000th against the 100th";
    if !report.wants(name) {
        return;
    }
    let root = folder();
    let (workspace, fork) = pending(root.path(), 100);
    let file = tempfile::tempfile().expect("a file");
    let lines = Lines(Mutex::new((SavedState::default(), file)), workspace.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let mut times = Vec::new();
    for edit in 0..2_050 {
        let start = own_time();
        propose(&workspace, &fork, edit % 100, edit as u64 + 1);
        let bounds = PublishBounds::default();
        let owner = Journalled(&fork, &lines);
        let published = publish(&workspace, &NoEditor, &owner, &HunkSelection::All, bounds);
        assert_eq!(runtime.block_on(published).failed, []);
        let fork = fork.lock().expect("whole");
        lines.keep(|kept| kept.record(&fork, &workspace, None));
        times.push(own_time().saturating_sub(start).as_secs_f64() * 1e6);
    }
    let around = |middle: usize| {
        let mut some = times[middle - 50..middle + 50].to_vec();
        some.sort_by(f64::total_cmp);
        some[some.len() / 2]
    };
    report.row("an accepted edit, the 100th", around(100), "us", Bar::Shown);
    report.row(name, around(2_000) / around(100), "times", Bar::AtMost(1.3));
}

/// Looks as a call does, while so many files have a pending change.
fn call(files: usize) {
    let root = folder();
    let (workspace, fork) = pending(root.path(), files);
    for file in 0..files {
        propose(&workspace, &fork, file, 1);
    }
    let look = || synced(&workspace, &fork, |fork, _| fork.view(workspace.snapshot()));
    look();
    let _ = fs::metadata(MARK);
    assert_eq!(look().entries().len(), files);
    let _ = fs::metadata(MARK);
}
