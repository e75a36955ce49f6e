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

#[tokio::test]
async fn a_key_that_is_refused_is_asked_for_again_and_the_request_goes_out_once_more_with_another()
{
    // The answers of the command, one for each question, and how the turn ends.
    for (keys, code, stop, asked) in [
        (&["old-token-0123456789", "new-token-0123456789"][..], 401, StopReason::EndTurn, 2),
        (&["old-token-0123456789", "new-token-0123456789"], 403, StopReason::EndTurn, 2),
        (&["old-token-0123456789", "old-token-0123456789"], 401, StopReason::Error, 2),
    ] {
        let refused = ScriptedReply::refusal(code, "authentication_error", "the token has expired");
        let mut bench = start([refused, says("ok").each_alone().forever()]);
        let times = Arc::new(AtomicUsize::new(0));
        let counted = times.clone();
        let lazy = LazyKey::new(move || {
            let at = counted.fetch_add(1, Ordering::SeqCst);
            async move { ApiKey::new(keys[at.min(1)], "KEY") }.boxed()
        });
        let config = ServerConfig { key: None, ..bench.model.config() };
        bench.session.speak_to(Arc::new(AskedModel::new(config, lazy, Http::new()).unwrap()));
        bench.session.prompt(Prompt::new("Is old-token-0123456789 or new-token-0123456789 in it?"));
        let (_, ended, message) = bench.end().await;
        assert_eq!(ended, stop, "{keys:?} {code}: {message:?}");
        assert_eq!(times.load(Ordering::SeqCst), asked, "{keys:?}");
        let requests = if stop == StopReason::EndTurn { 2 } else { 1 };
        assert_eq!(bench.model.requests().len(), requests, "{keys:?}");
        bench.run("old-token-0123456789 new-token-0123456789").await;
        let last = bench.model.recorded().pop().unwrap().raw;
        // The first prompt came before the second key was known.
        let (old, new) = ("old-token-0123456789", "new-token-0123456789");
        assert!(!last.contains(old) && last.matches(new).count() <= 2, "{last}");
        assert_eq!(last.contains(&format!("[key] {new}")), stop == StopReason::Error, "{last}");
    }
}
