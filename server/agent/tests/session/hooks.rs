//! Hooks: what attaches to the steps of a turn is heard, and what breaks down in one loses nothing that was said.

use crate::bench::*;
use futures::future::BoxFuture;
use ropewalk_agent::hooks::TurnOutcome;
use ropewalk_agent::{Conversation, ModelCall, StepHook};
use ropewalk_model::{Block, ModelReply, ModelStop};
use ropewalk_protocol::{Content, Event, Op, Prompt, StopReason};
use ropewalk_tools::ToolOutput;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Has none but empty methods.
struct Silent;

impl StepHook for Silent {}

/// Does at each place what a test says, given how often it was there before.
struct Hook {
    before_step: fn(&mut Conversation, bool, usize) -> Result<(), TurnOutcome>,
    after_call: fn(&ModelCall, &mut ToolOutput, usize),
    at_stop: fn(&Conversation, &ModelReply, usize) -> Option<&'static str>,
    steps: AtomicUsize,
    calls: AtomicUsize,
    stops: AtomicUsize,
    refused: Mutex<Vec<bool>>,
}

fn hook() -> Hook {
    Hook {
        before_step: |_, _, _| Ok(()),
        after_call: |_, _, _| {},
        at_stop: |_, _, _| None,
        steps: AtomicUsize::new(0),
        calls: AtomicUsize::new(0),
        stops: AtomicUsize::new(0),
        refused: Mutex::default(),
    }
}

impl StepHook for Hook {
    fn before_step<'a>(
        &'a self,
        conversation: &'a mut Conversation,
        refused: bool,
    ) -> BoxFuture<'a, Result<(), TurnOutcome>> {
        Box::pin(async move {
            self.refused.lock().unwrap().push(refused);
            let before = self.steps.fetch_add(1, Ordering::Relaxed);
            (self.before_step)(conversation, refused, before)
        })
    }

    fn after_call<'a>(
        &'a self,
        call: &'a ModelCall,
        output: &'a mut ToolOutput,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            (self.after_call)(call, output, self.calls.fetch_add(1, Ordering::Relaxed));
        })
    }

    fn at_stop<'a>(
        &'a self,
        conversation: &'a Conversation,
        reply: &'a ModelReply,
    ) -> BoxFuture<'a, Option<Vec<Content>>> {
        Box::pin(async move {
            let before = self.stops.fetch_add(1, Ordering::Relaxed);
            (self.at_stop)(conversation, reply, before).map(|words| vec![Content::text(words)])
        })
    }
}

fn story() -> Vec<ScriptedReply> {
    vec![calls("list_dir", json!({})), says("Looked."), says("Again.")]
}

async fn requests(hooks: Vec<Arc<dyn StepHook>>) -> (Vec<Value>, Vec<String>) {
    let mut bench = start_hooked(story(), hooks);
    bench.file("a.txt", "one\n");
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    let root = bench.dir.path().display().to_string();
    let plain = |text: String| text.replace(&root, "ROOT");
    let requests = bench.model.requests().into_iter();
    let requests = requests.map(|one| serde_json::from_str(&plain(one.to_string())).unwrap());
    let events = bench.seen.iter().map(|event| plain(serde_json::to_string(event).unwrap()));
    (requests.collect(), events.collect())
}

#[tokio::test]
async fn a_hook_that_does_nothing_changes_no_request_and_no_event() {
    assert_eq!(requests(Vec::new()).await, requests(vec![Arc::new(Silent)]).await);
}

#[tokio::test]
async fn the_turn_goes_on_with_what_is_said_at_its_stop() {
    let hook = Arc::new(Hook {
        at_stop: |conversation, reply, before| {
            assert_eq!(reply.stop_reason, ModelStop::EndTurn);
            let last = conversation.messages().next_back().unwrap();
            assert!(matches!(&last.content[..], [text] if text.as_text() == Some(&*reply.text())));
            (before == 0).then_some("Is the test written?")
        },
        ..hook()
    });
    let replies = [says("Done."), says("It is now.").expect_text("Is the test written?")];
    let mut bench = start_hooked(replies, vec![hook.clone()]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(hook.stops.load(Ordering::Relaxed), 2, "each stop is one");
    assert_eq!(*hook.refused.lock().unwrap(), [false, false]);
}

#[tokio::test]
async fn words_of_the_user_that_wait_come_before_a_stop() {
    let hook =
        Arc::new(Hook { at_stop: |_, _, before| (before == 0).then_some("checked"), ..hook() });
    let replies = [
        says("Done.").gate(ReplyPlace::End, "here"),
        says("So too.").expect_text("wait").expect_no_text("checked"),
        says("Yes.").expect_text("checked"),
    ];
    let mut bench = start_hooked(replies, vec![hook]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.session.send(Op::Steer(vec![Content::text("wait")]));
    bench.session.send(Op::Rename("taken in order".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    bench.model.open_gate("here");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn what_is_made_of_a_result_is_what_the_model_sees() {
    let hook = Hook {
        after_call: |call, output, _| {
            assert_eq!(call.name(), "list_dir");
            output.say("\n(see AGENTS.md)");
        },
        ..hook()
    };
    let replies = [calls("list_dir", json!({})), says("ok").expect_text("(see AGENTS.md)")];
    let mut bench = start_hooked(replies, vec![Arc::new(hook)]);
    bench.file("a.txt", "one\n");
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert!(bench.results()[0].0.contains("(see AGENTS.md)"), "{:?}", bench.results());
}

fn too_long() -> ScriptedReply {
    ScriptedReply::refusal(
        400,
        "invalid_request_error",
        "prompt is too long: 9000 tokens > 8000 maximum",
    )
}

#[tokio::test]
async fn a_request_that_is_refused_as_too_long_is_mended_and_made_once_more() {
    let hook = Arc::new(Hook {
        before_step: |conversation, refused, _| {
            if refused {
                conversation.push_user(vec![Block::text("(in short)")]);
            }
            Ok(())
        },
        ..hook()
    });
    let replies = [too_long(), says("ok").expect_text("(in short)"), too_long(), too_long()];
    // Compaction would mend it too.
    let mut bench = start_hooked_with(replies, vec![hook.clone()], without_compaction);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(*hook.refused.lock().unwrap(), [false, true]);
    assert_eq!(bench.run("again").await, StopReason::Error, "no more than once in a step");
    assert_eq!(bench.model.requests().len(), 4);
}

#[tokio::test]
async fn a_request_that_nobody_mends_is_not_made_again() {
    let hook = Arc::new(hook());
    let mut bench = start_hooked_with([too_long()], vec![hook.clone()], without_compaction);
    assert_eq!(bench.run("go").await, StopReason::Error);
    assert_eq!(*hook.refused.lock().unwrap(), [false, true]);
    assert_eq!(bench.model.requests().len(), 1);
}

#[tokio::test]
async fn a_hook_can_end_the_turn_before_the_model_is_asked() {
    let ends = |_: &mut Conversation, _, before| match before {
        0 => Err(TurnOutcome::told(StopReason::Budget, "Enough.")),
        _ => Ok(()),
    };
    let mut bench =
        start_hooked([says("ok")], vec![Arc::new(Hook { before_step: ends, ..hook() })]);
    bench.session.prompt(Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    assert_eq!((stop, message.as_deref()), (StopReason::Budget, Some("Enough.")));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

/// A turn that breaks down in its second step, or at its stop, and the next one, also in another process.
async fn nothing_is_lost_by(broken: Hook, step: Vec<ScriptedReply>) {
    let kept = |bench: &Bench| {
        let request = bench.model.requests().pop().unwrap().to_string();
        for words in ["first words", "the file a.txt", "internal error", "second words"] {
            assert!(request.contains(words), "{words}: {request}");
        }
    };
    let mut replies = step;
    replies.push(says("Going on."));
    let mut bench = start_hooked(replies, vec![Arc::new(broken)]);
    bench.file("the file a.txt", "one\n");
    bench.session.prompt(Prompt::new("first words"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Error);
    assert!(message.unwrap().contains("Ropewalk has a bug"));
    assert_eq!(bench.run("second words").await, StopReason::EndTurn);
    kept(&bench);
    let said = bench.session.messages();
    let mut again = resume(bench.dies().await, [says("Still here.")]);
    assert_eq!(again.session.messages(), said, "the journal has it all");
    assert_eq!(again.run("third words").await, StopReason::EndTurn);
    kept(&again);
}

#[tokio::test]
async fn a_panic_before_a_step_loses_nothing_that_was_said() {
    let broken = |_: &mut Conversation, _, before| match before {
        1 => panic!("broken on purpose"),
        _ => Ok(()),
    };
    let broken = Hook { before_step: broken, ..hook() };
    nothing_is_lost_by(broken, vec![calls("list_dir", json!({}))]).await;
}

#[tokio::test]
async fn a_panic_at_the_stop_loses_nothing_that_was_said() {
    let broken = |_: &Conversation, _: &ModelReply, before| match before {
        0 => panic!("broken on purpose"),
        _ => None,
    };
    let broken = Hook { at_stop: broken, ..hook() };
    nothing_is_lost_by(broken, vec![calls("list_dir", json!({})), says("Looked.")]).await;
}

#[tokio::test]
async fn a_panic_after_a_call_leaves_its_result_and_those_of_others() {
    let broken =
        |_: &ModelCall, _: &mut ToolOutput, before| assert_ne!(before, 1, "broken on purpose");
    let replies = [
        calls("write_file", json!({"path": "b.txt", "content": "new\n"}))
            .call("list_dir", json!({})),
        says("ok").expect_text("b.txt").expect_no_text("Not run"),
    ];
    let broken = Hook { after_call: broken, ..hook() };
    let mut bench = start_hooked(replies, vec![Arc::new(broken)]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let failed: Vec<bool> = bench.results().into_iter().map(|(_, is_error)| is_error).collect();
    assert_eq!(failed, [false, false]);
}

/// Never comes to an end: before a step, or at a stop.
struct Endless {
    at_stop: bool,
    is_there: Notify,
}

impl Endless {
    async fn stays(&self, here: bool) {
        if here {
            self.is_there.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

impl StepHook for Endless {
    fn before_step<'a>(
        &'a self,
        _: &'a mut Conversation,
        _: bool,
    ) -> BoxFuture<'a, Result<(), TurnOutcome>> {
        Box::pin(async {
            self.stays(!self.at_stop).await;
            Ok(())
        })
    }

    fn at_stop<'a>(
        &'a self,
        _: &'a Conversation,
        _: &'a ModelReply,
    ) -> BoxFuture<'a, Option<Vec<Content>>> {
        Box::pin(async {
            self.stays(self.at_stop).await;
            None
        })
    }
}

#[tokio::test]
async fn an_interrupt_waits_for_no_hook() {
    for at_stop in [false, true] {
        let hook = Arc::new(Endless { at_stop, is_there: Notify::new() });
        let mut bench = start_hooked(at_stop.then(|| says("ok")), vec![hook.clone()]);
        bench.session.prompt(Prompt::new("go"));
        hook.is_there.notified().await;
        bench.session.send(Op::Interrupt(None));
        assert_eq!(bench.end().await.1, StopReason::Interrupted, "{at_stop}");
    }
}
