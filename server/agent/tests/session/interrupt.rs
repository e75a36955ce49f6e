//! An interrupt may come at any moment. Each leaves a valid history, which one more prompt proves, and loses
//! nothing of what the user has typed.

use crate::bench::*;
use futures::FutureExt;
use ropewalk_protocol::{Content, Event, Op, Prompt, Resolution, StopReason};
use serde_json::json;
use std::io::Read;

/// Interrupts now, and proves that the session goes on.
async fn interrupted_then_goes_on(bench: &mut Bench) {
    bench.session.send(Op::Interrupt(None));
    let (_, stop, message) = bench.end().await;
    assert_eq!((stop, message), (StopReason::Interrupted, None));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn in_the_stream() {
    let long = || {
        reply()
            .thinking("a thought of some length, in several pieces", "sealed")
            .text("a text of some length, in several pieces")
            .call("list_dir", json!({"path": "."}))
            .call("write_file", json!({"path": "a", "content": "long enough for several pieces"}))
    };
    let whole = long();
    let places = (0..2_400).step_by(60).map(ReplyPlace::Byte);
    for place in [
        ReplyPlace::Answer,
        ReplyPlace::Block(1),
        ReplyPlace::Block(2),
        ReplyPlace::Block(3),
        ReplyPlace::End,
    ]
    .into_iter()
    .chain(places)
    {
        let mut bench = start([
            whole.clone().gate(place, "here"),
            says("ok").expect_text("interrupted by the user").expect_text("again"),
        ]);
        bench.session.prompt(Prompt::new("go"));
        bench.model.wait_until_reached("here").await;
        interrupted_then_goes_on(&mut bench).await;
        bench.model.wait_until_abandoned(1).await;
        let ran = bench.seen.iter().any(|event| matches!(event, Event::ToolCall { .. }));
        assert!(!ran, "no call of a reply that never ended may run ({place:?})");
        for (text, is_error) in bench.results() {
            assert!(is_error && text.contains("Not run"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_text_cut_by_an_interrupt_stays() {
    let mut bench = start([
        says("I was about to say something").gate(ReplyPlace::End, "here"),
        says("ok").expect(|body| {
            let said = body["messages"][1].to_string();
            if said.contains("I was about to say") { Ok(()) } else { Err(said) }
        }),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench
        .until(|event| {
            matches!(event, Event::TextDelta { text, .. } if text.contains("thing")).then_some(())
        })
        .await;
    interrupted_then_goes_on(&mut bench).await;
}

/// A fifo that a command holds open for writing as long as one of its processes lives.
struct Held(std::path::PathBuf);

impl Held {
    fn new(bench: &Bench) -> Self {
        let path = bench.path("held");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        Self(path)
    }

    /// Until the command has opened it; then what it writes until nobody holds it any more.
    async fn watched(
        self,
    ) -> (tokio::sync::oneshot::Receiver<()>, tokio::task::JoinHandle<String>) {
        let (opened, is_open) = tokio::sync::oneshot::channel();
        let reading = tokio::task::spawn_blocking(move || {
            let mut fifo = std::fs::File::open(&self.0).unwrap();
            let mut first = [0; 1];
            fifo.read_exact(&mut first).unwrap();
            opened.send(()).unwrap();
            let mut rest = String::new();
            fifo.read_to_string(&mut rest).unwrap();
            rest
        });
        (is_open, reading)
    }
}

/// A command whose child and grandchild outlive it unless the whole group is killed.
const HOLDS: &str =
    "exec 3>held; echo r >&3; (sleep 1000; echo survived >&3) & sleep 1000; echo survived >&3";

#[tokio::test]
async fn in_a_command_whose_process_group_is_gone_then() {
    let mut bench = start_allowing([
        bash(HOLDS).call("bash", json!({"command": "touch never"})),
        says("ok").expect_text("interrupted by the user"),
    ]);
    let (open, reading) = Held::new(&bench).watched().await;
    bench.session.prompt(Prompt::new("go"));
    open.await.unwrap();
    interrupted_then_goes_on(&mut bench).await;
    assert_eq!(reading.await.unwrap(), "\n", "nobody holds the fifo any more");
    assert!(!bench.path("never").exists(), "the call after it never ran");
    assert_eq!(bench.results().len(), 2);
}

#[tokio::test]
async fn the_model_is_told_the_end_of_what_a_command_had_printed() {
    let mut bench = start_allowing([
        bash("echo lost; printf 'é%.0s' $(seq 3000); echo kept; sleep 1000"),
        says("ok").expect_text("it had printed:\né").expect_text("kept").expect_no_text("lost"),
    ]);
    bench.session.prompt(Prompt::new("go"));
    let kept = |event: &Event| {
        matches!(event, Event::ToolOutput { text, .. } if text.contains("kept")).then_some(())
    };
    bench.until(kept).await;
    interrupted_then_goes_on(&mut bench).await;
}

#[tokio::test]
async fn a_dropped_session_ends_its_turn_and_its_command() {
    let bench = start_allowing([bash(HOLDS)]);
    let (open, reading) = Held::new(&bench).watched().await;
    bench.session.prompt(Prompt::new("go"));
    open.await.unwrap();
    let Bench { session, mut events, .. } = bench;
    drop(session);
    let mut last = None;
    while let Some(event) = events.recv().await {
        last = Some(event.event);
    }
    assert!(
        matches!(last, Some(Event::TurnEnded { stop_reason: StopReason::Interrupted, .. })),
        "{last:?}"
    );
    assert_eq!(reading.await.unwrap(), "\n");
}

/// Takes one of the runtime's threads for blocking work until it is dropped.
fn occupied() -> std::sync::mpsc::Sender<()> {
    let (free, wait) = std::sync::mpsc::channel::<()>();
    tokio::task::spawn_blocking(move || wait.recv().unwrap_err());
    free
}

/// One thread does all blocking work, in the order in which it was asked for. The test takes it between the call's
/// view and its judgement, so that the judgement has not even begun when its interrupted call has a result.
#[test]
fn while_a_command_is_read_that_is_hard_to_read() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.max_blocking_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let hard = format!("{}true", "a=(".repeat(16_000));
        let mut bench = start_allowing([
            bash(&hard).gate(ReplyPlace::End, "here"),
            says("ok").expect_text("interrupted by the user").expect_text("again"),
        ]);
        bench.session.prompt(Prompt::new("go"));
        bench.model.wait_until_reached("here").await;
        let _ = bench.editor.synced.notified().now_or_never();
        let before_the_view = occupied();
        bench.model.open_gate("here");
        bench.editor.synced.notified().await;
        let after_the_view = occupied();
        drop(before_the_view);
        bench.until(|event| matches!(event, Event::ToolCall { .. }).then_some(())).await;
        bench.session.send(Op::Interrupt(None));
        let result = |event: &Event| match event {
            Event::ToolResult { preview, .. } => Some(preview.clone()),
            _ => None,
        };
        let result = bench.until(result).await;
        assert!(result.contains("interrupted by the user"), "{result}");
        drop(after_the_view);
        let (_, stop, message) = bench.end().await;
        assert_eq!((stop, message), (StopReason::Interrupted, None));
        assert_eq!(bench.run("again").await, StopReason::EndTurn);
    });
}

#[tokio::test]
async fn in_an_approval_and_in_two() {
    let mut bench =
        start([bash("true"), says("ok").expect_text("Error: Not run: interrupted by the user")]);
    bench.session.prompt(Prompt::new("go"));
    bench.approval().await;
    interrupted_then_goes_on(&mut bench).await;
    assert!(bench.session.waiting_approvals().is_empty());

    let mut bench = start([
        calls("read_file", json!({"path": ".env"})).call("read_file", json!({"path": "key.pem"})),
        says("ok").expect_text("interrupted by the user"),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench.approval().await;
    bench.approval().await;
    interrupted_then_goes_on(&mut bench).await;
    let resolved = |event: &&Event| {
        matches!(event, Event::ApprovalResolved { how: Resolution::Interrupted, .. })
    };
    assert_eq!(bench.seen.iter().filter(resolved).count(), 2);
}

#[tokio::test]
async fn in_the_wait_before_another_try() {
    let overloaded =
        ScriptedReply::refusal(529, "overloaded_error", "busy").header("retry-after", "200");
    let mut bench = start([overloaded, says("ok")]);
    bench.session.prompt(Prompt::new("go"));
    let wait = bench.until(|event| match event {
        Event::Retrying { wait_ms, .. } => Some(*wait_ms),
        _ => None,
    });
    assert_eq!(wait.await, 200_000);
    interrupted_then_goes_on(&mut bench).await;
}

#[tokio::test]
async fn while_prompts_wait_and_they_run_then() {
    let mut bench = start([
        says("one").gate(ReplyPlace::Block(0), "here"),
        says("two").expect_text("second").expect_text("interrupted by the user"),
        says("three").expect_text("third"),
    ]);
    bench.session.prompt(Prompt::new("first"));
    bench.model.wait_until_reached("here").await;
    bench.session.prompt(Prompt::new("second"));
    bench.session.prompt(Prompt::new("third"));
    // Twice, both at the running turn.
    bench.session.send(Op::Interrupt(None));
    bench.session.send(Op::Interrupt(None));
    let ends = [bench.end().await, bench.end().await, bench.end().await];
    let stops: Vec<_> = ends.iter().map(|(turn, stop, _)| (*turn, *stop)).collect();
    use StopReason::{EndTurn, Interrupted};
    assert_eq!(stops[0], (1, Interrupted));
    assert_eq!(stops[1..], [(2, EndTurn), (3, EndTurn)]);
}

#[tokio::test]
async fn words_that_had_not_joined_start_a_turn_of_their_own() {
    let mut bench = start_allowing([
        bash("exec 3>held; echo r >&3; sleep 1000"),
        says("as you say").expect_text("not that, this"),
        says("and this").expect_text("later"),
    ]);
    let (open, _reading) = Held::new(&bench).watched().await;
    bench.session.prompt(Prompt::new("first"));
    open.await.unwrap();
    bench.session.send(Op::Steer(vec![Content::text("not that, this")]));
    let queued = bench.session.prompt(Prompt::new("later"));
    bench.session.send(Op::Interrupt(None));
    let (first, stop, _) = bench.end().await;
    assert_eq!((first, stop), (1, StopReason::Interrupted));
    let (steered, stop, _) = bench.end().await;
    assert_eq!(stop, StopReason::EndTurn);
    assert!(steered != first && steered != queued, "a turn of its own number: {steered}");
    assert_eq!(bench.end().await.0, queued);
    let steer = bench.session.messages()[2].content.len();
    assert_eq!(steer, 3, "result, interrupted, the words: once");
}

#[tokio::test]
async fn before_the_turn_has_begun_its_words_are_kept() {
    let mut bench = start([says("ok").expect_text("first").expect_text("again")]);
    bench.session.prompt(Prompt::new("first"));
    interrupted_then_goes_on(&mut bench).await;
}

#[tokio::test]
async fn with_no_turn_running_it_says_so() {
    let mut bench = start([says("ok")]);
    bench.session.send(Op::Interrupt(None));
    let said = bench.until(|event| match event {
        Event::Notice { message, .. } => Some(message.clone()),
        _ => None,
    });
    assert_eq!(said.await, "Nothing is running.");
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
}

#[tokio::test]
async fn while_an_edit_is_on_its_way_to_the_editor() {
    use std::sync::atomic::Ordering::SeqCst;
    let edit = json!({"path": "a.txt", "old_text": "one", "new_text": "1"});
    let mut bench =
        start_with([calls("edit_file", edit), says("ok").expect_text("on its way")], |settings| {
            settings.mode = ropewalk_protocol::Mode::Auto
        });
    bench.file("a.txt", "one\n");
    let uri = bench.open("a.txt", "one\n");
    bench.editor.holds.store(true, SeqCst);
    bench.session.prompt(Prompt::new("go"));
    bench.editor.held.notified().await;
    bench.editor.holds.store(false, SeqCst);
    interrupted_then_goes_on(&mut bench).await;
    // The editor makes it at last: it is in the text once, and nothing is pending.
    bench.editor.go.notify_one();
    bench
        .until(|event| matches!(event, Event::Hunks { hunks } if hunks.is_empty()).then_some(()))
        .await;
    assert_eq!(bench.buffer(&uri), "1\n");
}

#[tokio::test]
async fn killed_in_a_step_calls_before_the_cut_keep_their_results() {
    let edit = json!({"path": "b.txt", "old_text": "one", "new_text": "two"});
    let replies = [reply()
        .call("edit_file", edit)
        .call("bash", json!({"command": "echo begun; sleep 60"}))
        .call("read_file", json!({"path": "b.txt"}))];
    let mut bench = start_kept(replies);
    bench.file("b.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.until(|event| matches!(event, Event::ToolOutput { .. }).then_some(())).await;
    let left = bench.killed();
    let after = resume(left, []);
    bench.session.send(Op::Interrupt(None));
    bench.end().await;
    let results = after.results();
    assert!(!results[0].1 && results[0].0.contains("b.txt"), "{results:#?}");
    assert!(results[1].0.contains("The result of this call was lost"), "{results:#?}");
    assert!(results[2].0.starts_with("Error: Not run"), "{results:#?}");
}
