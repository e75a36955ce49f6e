//! The check: what is found before a turn ends goes back to the model, a few times at most, and to the user.

use crate::bench::*;
use futures::future::BoxFuture;
use ropewalk_agent::session::Settings;
use ropewalk_protocol::{CheckReport, Event, Level, Mode, Op, Prompt, StopReason};
use ropewalk_tools::runner::{BackgroundEnd, BackgroundInfo, Command, Stop};
use ropewalk_tools::tool::ReadFilter;
use ropewalk_tools::{CommandMode, CommandRunner, Context, NoCommands, RunnerInfo, ToolOutput};
use ropewalk_workspace::fork::ProposedChange;
use ropewalk_workspace::{FileState, Proposal, View};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A runner over the fork with results from a list; each command is told what `a.txt` holds.
struct Scripted {
    mode: CommandMode,
    results: Mutex<VecDeque<ToolOutput>>,
    /// The commands, each with the text that it saw.
    ran: Mutex<Vec<(String, String)>>,
    /// Holds commands until it is told.
    gate: Option<Notify>,
    begun: Notify,
}

fn ended(code: i32, printed: &str) -> ToolOutput {
    let failure = (code != 0).then_some(7);
    ToolOutput { exit_code: Some(code), failure, ..ToolOutput::text(printed) }
}

fn green() -> ToolOutput {
    ended(0, "all is well\n")
}

fn red() -> ToolOutput {
    ended(1, "a.txt is wrong\n(exit code 1)")
}

fn runner(results: impl IntoIterator<Item = ToolOutput>) -> Scripted {
    Scripted {
        mode: CommandMode::OverFork,
        results: Mutex::new(results.into_iter().collect()),
        ran: Mutex::default(),
        gate: None,
        begun: Notify::new(),
    }
}

impl Scripted {
    fn runs(&self) -> usize {
        self.ran.lock().unwrap().len()
    }
}

impl CommandRunner for Scripted {
    fn begin<'a>(&'a self, view: &'a Arc<View>, hides: &'a Arc<ReadFilter>) -> BoxFuture<'a, ()> {
        NoCommands.begin(view, hides)
    }
    fn info(&self) -> RunnerInfo {
        RunnerInfo { mode: self.mode, ..RunnerInfo::default() }
    }
    fn run(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput> {
        let place = context.view.contain("a.txt").unwrap();
        let text = match context.view.read(&place) {
            Ok(FileState::Text { text, .. }) => text.to_string(),
            other => format!("{other:?}"),
        };
        self.ran.lock().unwrap().push((command.command, text));
        let result = self.results.lock().unwrap().pop_front().expect("a run too many");
        Box::pin(async {
            self.begun.notify_one();
            if let Some(gate) = &self.gate {
                gate.notified().await;
            }
            result
        })
    }
    fn start(&self, command: Command, context: Context) -> BoxFuture<'_, ToolOutput> {
        NoCommands.start(command, context)
    }
    fn background(&self) -> Vec<BackgroundInfo> {
        NoCommands.background()
    }
    fn look(&self, id: u64) -> Option<BackgroundInfo> {
        NoCommands.look(id)
    }
    fn stop(&self, which: Stop) -> usize {
        NoCommands.stop(which)
    }
    fn finished(&self) -> BoxFuture<'_, BackgroundEnd> {
        Box::pin(std::future::pending())
    }
    fn settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

fn verifying(settings: &mut Settings) {
    settings.verify = Some("make test".to_owned());
}

fn start_verifying(
    replies: impl IntoIterator<Item = ScriptedReply>,
    runner: Scripted,
) -> (Bench, Arc<Scripted>) {
    let runner = Arc::new(runner);
    let bench = start_running(replies, runner.clone(), verifying);
    bench.file("a.txt", "one\n");
    (bench, runner)
}

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

fn checks(bench: &Bench) -> Vec<CheckReport> {
    let report = |event: &Event| match event {
        Event::Check { report, .. } => Some(report.clone()),
        _ => None,
    };
    bench.seen.iter().filter_map(report).collect()
}

fn passed(bench: &Bench) -> Vec<bool> {
    checks(bench).iter().map(|report| report.passed).collect()
}

/// How often the model was sent back.
fn sent_back(bench: &Bench) -> usize {
    let is_check = |request: &&serde_json::Value| last_message(request).contains("<check>");
    bench.model.requests().iter().filter(is_check).count()
}

#[tokio::test]
async fn what_passes_is_told_to_the_user_alone() {
    let (mut bench, runner) =
        start_verifying([edit("one", "two"), says("Done.")], runner([green()]));
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(*runner.ran.lock().unwrap(), [("make test".to_owned(), "two\n".to_owned())]);
    let report = CheckReport { round: 1, passed: true, ..CheckReport::default() };
    assert_eq!((checks(&bench), sent_back(&bench)), (vec![report], 0));
    let shown = bench.seen.iter().any(|event| {
        matches!(event, Event::ToolCall { tool, title, .. } if tool == "verify" && title == "make test")
    });
    assert!(shown, "it is seen while it runs");
}

#[tokio::test]
async fn what_fails_goes_back_to_the_model_which_mends_it() {
    let mends = edit("two", "three")
        .expect_text("<check>\n`make test` fails:\na.txt is wrong\n(exit code 1)\n\nFix it, or say why not.\n</check>");
    let replies = [edit("one", "two"), says("Done."), mends, says("Now it is.")];
    let (mut bench, runner) = start_verifying(replies, runner([red(), green()]));
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!((runner.runs(), passed(&bench), sent_back(&bench)), (2, vec![false, true], 1));
}

#[tokio::test]
async fn a_stop_without_a_change_ends_the_turn() {
    let replies = [
        edit("one", "two"),
        says("Done."),
        calls("list_dir", json!({})).expect_text("<check>"),
        says("It was wrong before."),
    ];
    let (mut bench, runner) = start_verifying(replies, runner([red()]));
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!((runner.runs(), passed(&bench)), (1, vec![false]));
    assert_eq!(checks(&bench)[0].verify.as_deref(), Some("a.txt is wrong\n(exit code 1)"));
}

#[tokio::test]
async fn the_model_is_sent_back_twice_at_most() {
    let replies = [
        edit("one", "two"),
        says("Done."),
        edit("two", "three"),
        says("Done."),
        edit("three", "four"),
        says("Done."),
    ];
    let (mut bench, runner) = start_verifying(replies, runner([red(), red(), red()]));
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(runner.runs(), 3, "how it ends is looked at all the same");
    assert_eq!((passed(&bench), sent_back(&bench)), (vec![false; 3], 2));
}

#[tokio::test]
async fn only_what_changed_is_verified_and_what_failed_before_is_said() {
    let replies = [
        says("Hello."),
        edit("one", "two"),
        says("Done."),
        says("I leave it."),
        says("Nothing is to be done."),
        edit("two", "three"),
        says("Done."),
        says("So be it.").expect_text("`make test` fails, as it did before this turn:"),
    ];
    let (mut bench, runner) = start_verifying(replies, runner([red(), red()]));
    bench.run("hello").await;
    assert_eq!((runner.runs(), checks(&bench)), (0, vec![]));
    bench.run("go").await;
    assert_eq!(runner.runs(), 1);
    bench.run("and now?").await;
    assert_eq!((runner.runs(), passed(&bench)), (1, vec![false]));
    bench.run("again").await;
    assert_eq!((runner.runs(), passed(&bench)), (2, vec![false, false]));
}

#[tokio::test]
async fn what_can_t_tell_is_told_to_the_user_alone_and_once() {
    let timeout = || ToolOutput::failed("Error: Timeout (600s). The command was killed");
    for (result, words) in [
        (ended(127, "make: not found\n(exit code 127)"), "its program was not found"),
        (timeout(), "Timeout (600s)"),
    ] {
        let replies = [edit("one", "two"), says("Done."), edit("two", "three"), says("Done.")];
        let (mut bench, runner) = start_verifying(replies, runner([result.clone(), result]));
        assert_eq!(bench.run("go").await, StopReason::EndTurn);
        assert_eq!(bench.run("again").await, StopReason::EndTurn);
        assert_eq!((runner.runs(), sent_back(&bench), checks(&bench)), (2, 0, vec![]));
        let told = bench.seen.iter().filter(|event| {
            matches!(event, Event::Notice { level: Level::Warning, message } if message.contains(words))
        });
        assert_eq!(told.count(), 1, "{words}");
    }
}

#[tokio::test]
async fn what_it_writes_is_nowhere() {
    let replies =
        [edit("one", "two"), says("Done."), says("ok").expect_text("(what it wrote is dropped)")];
    let runner = Arc::new(runner([red()]));
    let mut bench = start_running(replies, runner.clone(), verifying);
    bench.file("a.txt", "one\n");
    bench.file("b.txt", "one\n");
    let place = bench.workspace.roots().contain("b.txt").unwrap();
    let proposals = vec![Proposal { place, change: ProposedChange::Delete }];
    runner.results.lock().unwrap()[0].proposals = proposals;
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let hunks = bench.session.hunks();
    assert!(matches!(&hunks[..], [hunk] if hunk.new == "two\n"), "{hunks:?}");
}

#[tokio::test]
async fn nothing_is_verified_in_place_nor_where_the_check_is_off() {
    let replies = || [edit("one", "two"), says("Done.")];
    let in_place = Scripted { mode: CommandMode::InPlace, ..runner([]) };
    let (mut bench, _) = start_verifying(replies(), in_place);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(checks(&bench), vec![]);
    let mut bench = start_running(replies(), Arc::new(runner([])), |settings| {
        verifying(settings);
        settings.check_self = true;
        settings.mechanisms.check = false;
    });
    bench.file("a.txt", "one\n");
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!((checks(&bench), bench.model.requests().len()), (vec![], 2));
    assert!(!bench.model.requests()[1].to_string().contains("<check>"), "no word of it");
}

#[tokio::test]
async fn the_user_may_type_while_it_runs() {
    let slow = Scripted { gate: Some(Notify::new()), ..runner([green()]) };
    let (mut bench, runner) = start_verifying([edit("two", "2"), says("Done.")], slow);
    bench.file("a.txt", "one\ntwo\nthree\n");
    let uri = bench.open("a.txt", "one\ntwo\nthree\n");
    bench.session.prompt(Prompt::new("go"));
    runner.begun.notified().await;
    bench.types(&uri, "zero\none\ntwo\nthree\n");
    runner.gate.as_ref().unwrap().notify_one();
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert_eq!(passed(&bench), [true]);
    bench.session.send(Op::Accept(ropewalk_protocol::Selection::All));
    bench.reviewed().await;
    assert_eq!(bench.buffer(&uri), "zero\none\n2\nthree\n");
}

#[tokio::test]
async fn an_interrupt_ends_it() {
    let slow = Scripted { gate: Some(Notify::new()), ..runner([green()]) };
    let replies = [edit("one", "two"), says("Done."), says("Still here.")];
    let (mut bench, runner) = start_verifying(replies, slow);
    bench.session.prompt(Prompt::new("go"));
    runner.begun.notified().await;
    bench.session.send(Op::Interrupt(None));
    assert_eq!(bench.end().await.1, StopReason::Interrupted);
    assert_eq!(bench.run("and now?").await, StopReason::EndTurn);
    assert_eq!(checks(&bench), vec![]);
}

#[tokio::test]
async fn words_of_the_user_that_came_while_it_ran_join_the_turn() {
    let slow = Scripted { gate: Some(Notify::new()), ..runner([green()]) };
    let replies = [edit("one", "two"), says("Done."), says("That too.").expect_text("and this")];
    let (mut bench, runner) = start_verifying(replies, slow);
    bench.session.prompt(Prompt::new("go"));
    runner.begun.notified().await;
    bench.session.send(Op::Steer(vec![ropewalk_protocol::Content::text("and this")]));
    bench.session.send(Op::Rename("taken in order".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    runner.gate.as_ref().unwrap().notify_one();
    assert_eq!(bench.end().await.0, 1);
    assert_eq!(bench.model.requests().len(), 3);
}

#[tokio::test]
async fn todos_that_the_turn_has_left_open_are_told_once() {
    let plan = || {
        let todos = json!([{"content": "Read", "status": "completed"}, {"content": "Write", "status": "in_progress"}]);
        calls("todo_write", json!({ "todos": todos }))
    };
    let replies = [
        plan(),
        says("Done."),
        plan().expect_text("<check>\nThese todos are open:\n- Write\n\nFix it, or say why not."),
        edit("one", "two"),
        says("It stays open."),
        says("Hello."),
    ];
    let mut bench = start(replies);
    bench.file("a.txt", "one\n");
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!((passed(&bench), sent_back(&bench)), (vec![false, false], 1));
    assert_eq!(checks(&bench)[1].todos, 1);
    assert_eq!(bench.run("hello").await, StopReason::EndTurn);
    assert_eq!(checks(&bench).len(), 2, "a turn that has not touched them leaves them alone");
}

#[tokio::test]
async fn the_model_is_asked_once_if_all_is_done() {
    let asked = "<check>\nIs all done that was asked for?";
    let replies = [
        says("Hello."),
        calls("list_dir", json!({})),
        says("Done."),
        edit("one", "two").expect_text(asked).expect_no_text("Fix it, or"),
        says("Now it is."),
        edit("two", "three"),
        says("Done."),
        says("It is.")
            .expect_text("a.txt is wrong\n(exit code 1)\n\nIs all done that was asked for?"),
    ];
    let runner = Arc::new(runner([green(), red()]));
    let mut bench = start_running(replies, runner, |settings| {
        verifying(settings);
        settings.check_self = true;
    });
    bench.file("a.txt", "one\n");
    for prompt in ["hello", "go", "again"] {
        assert_eq!(bench.run(prompt).await, StopReason::EndTurn);
    }
    assert_eq!(sent_back(&bench), 2);
}

#[tokio::test]
async fn new_errors_in_what_was_published_go_back() {
    let told = |bench: &Bench, lines: &[(&str, usize, &str)]| {
        let root = bench.path("").canonicalize().unwrap();
        let line = |(name, line, message): &(&str, usize, &str)| {
            let uri = ropewalk_workspace::DocId::from_path(&root.join(name)).to_uri();
            format!("{uri}:{line}: {message}\n")
        };
        let lines: String = lines.iter().map(line).collect();
        *bench.editor.diagnostics.lock().unwrap() = Some(lines);
    };
    let words = "The editor shows errors that were not there before:\na.txt:2: error: no such word\n\nFix it";
    let words = words.replace("error: ", "");
    let replies = [
        edit("one", "two"),
        says("Done.").gate(ReplyPlace::Answer, "told"),
        says("It was meant so.").expect_text(words),
    ];
    let mut bench = start_with(replies, |settings| settings.mode = Mode::Auto);
    bench.file("a.txt", "one\n");
    bench.open("a.txt", "one\n");
    told(&bench, &[("a.txt", 1, "error: old"), ("b.txt", 1, "error: old")]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("told").await;
    told(
        &bench,
        &[
            ("a.txt", 2, "error: no such word"),
            ("a.txt", 3, "error: old"),
            ("a.txt", 3, "warning: long"),
            ("b.txt", 9, "error: elsewhere"),
        ],
    );
    bench.model.open_gate("told");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let reports = checks(&bench);
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0].errors, ["a.txt:2: no such word"]);
}

#[tokio::test]
async fn the_journal_has_what_was_found() {
    let mut bench = start_kept([
        calls("todo_write", json!({ "todos": ["Read"] })),
        says("Done."),
        says("It stays open."),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let dir = bench.dies().await;
    let journal = dir.path().join("state/sessions/s.jsonl");
    let journal = std::fs::read_to_string(journal).unwrap();
    let line = journal.lines().find(|line| line.starts_with("{\"check\"")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let wanted = json!({"check": {"turn": 1, "round": 1, "todos": 1, "errors": [], "verify": null, "passed": false}});
    assert_eq!(line, wanted);
    let bench = resume(dir, []);
    assert_eq!(bench.session.todos().open(), 1);
}
