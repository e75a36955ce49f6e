//! Costs of a journal: while a session runs, and when one goes on. Bars are in the README.

#![expect(clippy::expect_used, reason = "a bench that can't run may say so bluntly")]

#[path = "../support/agent.rs"]
#[expect(dead_code, unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod agent;
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod harness;
#[path = "../support/home.rs"]
#[expect(unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod home;

use agent::Agent;
use harness::{Bar, Report, callgrind, code};
use ropewalk_agent::journal::record::{JournalHead, Record, VERSION};
use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::Settings;
use ropewalk_agent::{Journal, Past, Session, SessionConfig, Sessions};
use ropewalk_model::{Block, Http, Protocol, Role, ServerConfig, ServerModel, ToolInput};
use ropewalk_protocol::{Event, Mechanisms, Mode, SessionLimits, StopReason};
use ropewalk_testkit::model::ScriptedReply;
use ropewalk_text::{ChangeSet, Text};
use ropewalk_tools::{NoCommands, Registry, Rules};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::state::SavedState;
use ropewalk_workspace::{Fork, NoEditor, Proposal, ProposedChange, Roots, Workspace};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

fn main() {
    harness::main(&[], |report| {
        twenty_steps(report);
        going_on(report);
    });
}

/// Twenty steps of `ropewalk run` that read, run commands and edit: with a journal, and where no state folder
/// is to be had, so without one. Commands and the model are processes and threads of their own and not counted.
fn twenty_steps(report: &mut Report) {
    let name = "journal of 20 steps, of the run's instructions";
    if !report.wants(name) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let main = folder.path().join("main.rs");
    let count = |with_journal: bool| {
        fs::write(&main, code(40_000, "\n")).expect("written");
        let steps = (0..20).map(|step| {
            let reply = ScriptedReply::new().text("I look.");
            match step % 3 {
                0 => {
                    let input = json!({"path": "main.rs", "offset": step * 20 + 1, "limit": 40});
                    reply.call("read_file", input)
                }
                1 => reply.call("bash", json!({"command": format!("sed -n {step}p main.rs")})),
                _ => {
                    let old = format!("let value_{} =", step * 5 + 2);
                    let new = format!("let worth_{step} =");
                    reply.call(
                        "edit_file",
                        json!({"path": "main.rs", "old_text": old, "new_text": new}),
                    )
                }
            }
        });
        let agent = Agent::new("auto", steps.chain([ScriptedReply::new().text("Done.")]));
        let mut run = Command::new(env!("CARGO_BIN_EXE_ropewalk"));
        run.args(["run", "--mode", "auto", "--allow", "bash(*)", "Look around."]);
        run.envs(agent.environment());
        if !with_journal {
            run.env("XDG_STATE_HOME", "/dev/null/none");
        }
        let counted = callgrind(&run, |mut counted| {
            let done = counted
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .expect("valgrind starts");
            assert!(done.success(), "{done}");
        });
        assert_eq!(agent.model.requests().len(), 21, "the run ended early");
        counted
    };
    // Turn about: threads take turns otherwise in each run.
    let rounds: Vec<_> = (0..3).map(|_| (count(true), count(false))).collect();
    let with = rounds.iter().filter_map(|(with, _)| *with).min();
    let without = rounds.iter().filter_map(|(_, without)| *without).min();
    match (with, without) {
        (Some(with), Some(without)) => {
            let more = with.saturating_sub(without) as f64;
            report.row(name, more / without as f64 * 100.0, "%", Bar::AtMost(5.0));
            report.row("journal of 20 steps", more / 1e3, "k instructions", Bar::Shown);
        }
        _ => println!("{name:<44} skipped: valgrind is not installed"),
    }
}

/// From a journal of 10 MB to a session that has shown its pending hunks.
fn going_on(report: &mut Report) {
    let name = "going on from a journal of 10 MB";
    if !report.wants(name) {
        return;
    }
    let state = tempfile::tempdir().expect("a folder");
    let root = tempfile::tempdir().expect("a folder");
    let sessions = Sessions::new(state.path());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    let workspace =
        || Arc::new(Workspace::new(Roots::new(vec![(String::new(), root.path().to_owned())])));
    let megabytes = write_journal(state.path(), root.path(), &workspace());
    let round = || {
        let workspace = workspace();
        let start = Instant::now();
        let (journal, past) = sessions.open("bench").expect("a good journal");
        assert!(past.problems.is_empty(), "{:?}", past.problems);
        let (sender, mut events) = mpsc::unbounded_channel();
        let session = Session::start(config(journal, past), workspace, Arc::new(NoEditor), sender);
        let hunks = runtime.block_on(async {
            while let Some(event) = events.recv().await {
                if let Event::Hunks { hunks } = event.event {
                    return hunks.len();
                }
            }
            0
        });
        let time = start.elapsed();
        assert_eq!(hunks, FILES, "every file has a pending hunk");
        drop(session);
        // Until the last of it is gone, and with it the lock.
        runtime.block_on(async { while events.recv().await.is_some() {} });
        time
    };
    let time = (0..7).map(|_| round()).min().unwrap_or_default();
    report.row(name, time.as_secs_f64() * 1e3, "ms", Bar::AtMost(200.0));
    report.row("its size", megabytes, "MB", Bar::Shown);
}

/// A session that goes on with this journal.
fn config(journal: Journal, past: Past) -> SessionConfig {
    let model = ServerModel::new(ServerConfig::new(Protocol::Anthropic, "bench"), Http::new())
        .expect("a model");
    let settings = Settings {
        model: Ok(Arc::new(model)),
        configured_model: None,
        model_choice: None,
        tools: None,
        mode: Mode::Review,
        rules: Rules::default(),
        always: None,
        limits: SessionLimits::default(),
        mechanisms: Mechanisms::default(),
        verify: None,
        check_self: false,
        models: None,
        user_folders: Arc::default(),
        facts: PromptFacts::default(),
        interactive: false,
        secrets: Arc::default(),
    };
    SessionConfig {
        id: "bench".into(),
        settings,
        tools: Registry::new(),
        runner: Arc::new(NoCommands),
        outputs: None,
        publish: Default::default(),
        journal,
        past: Some(past),
        approvals: Arc::default(),
    }
}

const FILES: usize = 20;

/// A journal of 10 MB: turns with calls and long results, and a pending hunk in each of some files. Gives its
/// size.
fn write_journal(state: &Path, root: &Path, workspace: &Arc<Workspace>) -> f64 {
    let mut lines = String::new();
    let mut write = |record: Record<'_>| {
        lines.push_str(&serde_json::to_string(&record).expect("a record"));
        lines.push('\n');
        lines.len()
    };
    let head =
        JournalHead { version: VERSION, session: "bench".into(), at: 0, ..JournalHead::default() };
    write(Record::Journal(head));
    let said = |role, content: Vec<Block>| Record::Said { id: None, role, content: content.into() };
    let mut fork = Fork::new("bench".into());
    let mut kept = SavedState::default();
    let text = code(40_000, "\n");
    for turn in 1.. {
        let prompt = "Look at it, and make it \"better\"\n";
        write(Record::Turn { turn, at: turn, prompt: prompt.into() });
        write(said(Role::User, vec![Block::text(prompt)]));
        let id = format!("call_{turn}");
        let input = ToolInput::Json(json!({"path": "main.rs", "limit": turn}));
        let call = Block::ToolUse { id: id.clone(), name: "read_file".into(), input };
        write(said(Role::Assistant, vec![Block::text("I look."), call]));
        let file = turn as usize;
        if file <= FILES {
            let name = format!("file_{file}.rs");
            fs::write(root.join(&name), &text).expect("written");
            let view = fork.view(workspace.snapshot());
            let place = view.contain(&name).expect("a place");
            let old = Text::from(text.as_str());
            let change = ProposedChange::Edit(ChangeSet::single(old.len(), 0..4, "    \t"));
            let proposals = vec![Proposal { place, change }];
            let maker = Maker::Call(id.as_str().into());
            fork.merge(workspace, &view, turn, &maker, proposals);
            for record in kept.record(&fork, workspace, None) {
                write(Record::State(record));
            }
        }
        write(said(Role::User, vec![Block::result(id, &text, false)]));
        let size = write(said(Role::Assistant, vec![Block::text("It is better now.")]));
        write(Record::Ended { turn, at: turn, stop_reason: StopReason::EndTurn });
        if size > 10_000_000 {
            break;
        }
    }
    let folder = state.join("sessions");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("bench.jsonl"), &lines).expect("written");
    // A file of the disk that was written just now is read again at each look.
    for file in 1..=FILES {
        let file = fs::File::options().write(true).open(root.join(format!("file_{file}.rs")));
        let aged = std::time::SystemTime::now() - Duration::from_secs(3600);
        file.and_then(|file| file.set_modified(aged)).expect("aged");
    }
    lines.len() as f64 / 1e6
}
