//! A key that has to be asked for: nothing that the user says is kept or shown before it is known.

use crate::bench::*;
use futures::FutureExt;
use ropewalk_model::{ApiKey, AskedModel, Http, LazyKey, ModelError, ServerConfig};
use ropewalk_protocol::{Event, Op, Prompt, StopReason};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

const KEY: &str = "sk-asked-for-0123456789";

/// Whoever is asked for the key.
#[derive(Default)]
struct Keeper {
    /// How often the question came.
    times: AtomicUsize,
    asked: Notify,
    /// Lets it answer.
    go: Notify,
    /// How often the question was taken back.
    dropped: AtomicUsize,
}

struct Question(Arc<Keeper>);

impl Drop for Question {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// A kept session whose model has to ask for its key; `answer` is what comes of that.
fn start_asking(
    replies: impl IntoIterator<Item = ScriptedReply>,
    answer: fn() -> Result<ApiKey, ModelError>,
) -> (Bench, Arc<Keeper>) {
    let (bench, keeper) = (start_kept(replies), Arc::new(Keeper::default()));
    let asked = keeper.clone();
    let lazy = LazyKey::new(move || {
        let keeper = asked.clone();
        async move {
            keeper.times.fetch_add(1, Ordering::SeqCst);
            let question = Question(keeper.clone());
            keeper.asked.notify_one();
            keeper.go.notified().await;
            std::mem::forget(question);
            answer()
        }
        .boxed()
    });
    let config = ServerConfig { key: None, ..bench.model.config() };
    let model = AskedModel::new(config, lazy, Http::new()).unwrap();
    bench.session.speak_to(Arc::new(model));
    (bench, keeper)
}

fn known() -> Result<ApiKey, ModelError> {
    ApiKey::new(KEY, "KEY")
}

fn journal(bench: &Bench) -> String {
    std::fs::read_to_string(bench.dir.path().join("state/sessions/s.jsonl")).unwrap()
}

#[tokio::test]
async fn what_is_said_waits_for_the_key() {
    let replies = [
        says("ok").expect_text("one [key]").gate(ReplyPlace::End, "here"),
        says("ok").expect_text("two [key]"),
    ];
    let (mut bench, keeper) = start_asking(replies, known);
    bench.session.prompt(Prompt::new(format!("one {KEY}")));
    bench.session.send(Op::Rename(format!("named {KEY}")));
    bench.session.prompt(Prompt::new(format!("two {KEY}")));
    keeper.asked.notified().await;
    keeper.go.notify_one();
    bench.model.wait_until_reached("here").await;
    bench.model.open_gate("here");
    assert_eq!(bench.end().await, (1, StopReason::EndTurn, None));
    assert_eq!(bench.end().await, (2, StopReason::EndTurn, None));
    assert_eq!(bench.session.title(), "named [key]");
    assert_eq!(keeper.times.load(Ordering::SeqCst), 1);
    let events = format!("{:?}", bench.seen);
    assert!(events.contains("one [key]") && !events.contains(KEY), "{events}");
    let journal = journal(&bench);
    assert!(journal.contains("two [key]") && !journal.contains(KEY), "{journal}");
}

#[tokio::test]
async fn an_interrupt_takes_the_question_back() {
    let (mut bench, keeper) = start_asking(
        [says("ok").expect_text("first").expect_text("interrupted by the user")],
        known,
    );
    bench.session.prompt(Prompt::new("first"));
    keeper.asked.notified().await;
    bench.session.send(Op::Interrupt(None));
    assert_eq!(bench.end().await, (1, StopReason::Interrupted, None));
    assert_eq!(keeper.dropped.load(Ordering::SeqCst), 1);
    keeper.go.notify_one();
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    assert_eq!(keeper.times.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn no_key_is_said_at_once_and_asked_for_with_the_next_prompt() {
    let (mut bench, keeper) =
        start_asking([], || Err(ModelError::KeyCommand { why: "it is locked".into() }));
    for times in 1..3 {
        keeper.go.notify_one();
        bench.session.prompt(Prompt::new("go"));
        let (_, stop, message) = bench.end().await;
        assert_eq!(stop, StopReason::Error);
        assert!(message.unwrap().contains("it is locked"));
        assert_eq!(keeper.times.load(Ordering::SeqCst), times);
    }
    assert!(bench.seen.iter().any(|event| matches!(event, Event::TurnStarted { .. })));
}
