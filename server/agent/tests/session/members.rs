//! Seams for members of a team: mail, tools that end a turn or ask, and who the model is among others.

use crate::bench::*;
use futures::future::BoxFuture;
use ropewalk_agent::StepHook;
use ropewalk_model::{ModelStop, Protocol};
use ropewalk_protocol::{Content, Event, Op, Prompt, StopReason, Verdict};
use ropewalk_tools::{Call, Context, Effect, Subject, Tool, ToolOutput, ToolSpec};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Ends the turn, or asks before it does anything.
struct Idle {
    asks: Option<&'static str>,
}

impl Tool for Idle {
    fn spec(&self) -> ToolSpec {
        let schema = json!({"type": "object", "properties": {}});
        ToolSpec { name: "idle".into(), description: "Ends the work".into(), schema }
    }

    fn parse(&self, input: Value) -> Result<Call, String> {
        let asks = self.asks.map(str::to_owned);
        let subject = Subject { title: "rest".into(), asks, ..Subject::default() };
        let (tool, effect, conversions) = ("idle".into(), Effect::Session, Vec::new());
        Ok(Call { tool, effect, subject, conversions, input })
    }

    fn run(&self, _: Call, _: Context) -> BoxFuture<'static, ToolOutput> {
        let output = ToolOutput { ends_turn: true, ..ToolOutput::text("Entering idle phase.") };
        Box::pin(async move { output })
    }
}

fn start_idle(
    replies: impl IntoIterator<Item = ScriptedReply>,
    asks: Option<&'static str>,
) -> Bench {
    start_with_tool(Protocol::Anthropic, replies, Idle { asks }, |_| {})
}

#[tokio::test]
async fn a_tool_ends_the_turn_once_all_calls_have_results() {
    let both = calls("idle", json!({})).call("list_dir", json!({}));
    let mut bench = start_idle([both, says("Back.").expect_text("wake up")], None);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(bench.model.requests().len(), 1, "the model is not asked again");
    let results = bench.results();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0], ("Entering idle phase.".to_owned(), false));
    // The model checks that the history is valid: each call has one result.
    assert_eq!(bench.run("wake up").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_stop_during_a_step_that_ends_the_turn_is_a_stop() {
    let both = calls("idle", json!({})).call("bash", json!({"command": "echo"}));
    let mut bench = start_idle([both], None);
    bench.session.prompt(Prompt::new("go"));
    bench.approval().await;
    bench.session.send(Op::Interrupt(None));
    assert_eq!(bench.end().await.1, StopReason::Interrupted);
}

#[tokio::test]
async fn words_said_during_a_step_that_ends_the_turn_begin_another() {
    let replies = [calls("idle", json!({})).gate(ReplyPlace::Answer, "steered"), says("Yes.")];
    let mut bench = start_idle(replies, None);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("steered").await;
    bench.session.send(Op::Steer(vec![Content::text("and this")]));
    bench.model.open_gate("steered");
    assert_eq!(bench.end().await, (1, StopReason::EndTurn, None));
    assert_eq!(bench.end().await, (2, StopReason::EndTurn, None));
    assert!(last_message(&bench.model.requests()[1]).contains("and this"));
}

#[tokio::test]
async fn a_tool_that_asks_says_why_and_a_rule_answers() {
    let call = || calls("idle", json!({}));
    let mut bench = start_idle([call(), says("I see."), call(), call()], Some("it costs money"));
    bench.session.prompt(Prompt::new("go"));
    let reason = bench.until(|event| match event {
        Event::ApprovalRequested { approval, .. } => Some((approval.id, approval.reason.clone())),
        _ => None,
    });
    let (id, reason) = reason.await;
    assert!(reason.contains("it costs money"), "{reason}");
    bench.approve(id, Verdict::Refuse(None));
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert_eq!(bench.model.requests().len(), 2, "a refusal ends no turn");
    bench.session.prompt(Prompt::new("again"));
    let id = bench.approval().await;
    bench.approve(id, Verdict::Session);
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert_eq!(bench.run("once more").await, StopReason::EndTurn, "it is allowed by now");
}

/// A post box of which the journal is looked at when a message counts as kept.
struct Post {
    waiting: Mutex<Vec<&'static str>>,
    journal: Mutex<Option<PathBuf>>,
    kept: Mutex<Vec<bool>>,
}

impl StepHook for Post {
    fn mail(&self) -> BoxFuture<'_, Vec<Content>> {
        let first = self.waiting.lock().unwrap().first().map(|text| Content::text(*text));
        Box::pin(async move { first.into_iter().collect() })
    }

    fn mail_kept(&self) -> BoxFuture<'_, ()> {
        let text = self.waiting.lock().unwrap().remove(0);
        let path = self.journal.lock().unwrap().clone().unwrap();
        let is_there = std::fs::read_to_string(path).unwrap().contains(text);
        self.kept.lock().unwrap().push(is_there);
        Box::pin(async {})
    }
}

#[tokio::test]
async fn mail_stands_behind_the_results_and_before_steers_and_is_journalled_first() {
    let (waiting, kept) = (Mutex::default(), Mutex::default());
    let post = Arc::new(Post { waiting, journal: Mutex::default(), kept });
    let replies = [calls("list_dir", json!({})).gate(ReplyPlace::Answer, "mail"), says("Read.")];
    let mut bench = start_hooked(replies, vec![post.clone()]);
    bench.file("a.txt", "one\n");
    *post.journal.lock().unwrap() = sessions(&bench.dir).begin("s", Vec::new()).path();
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("mail").await;
    post.waiting.lock().unwrap().push("from bob: the parser is done");
    bench.session.send(Op::Steer(vec![Content::text("and be quick")]));
    bench.session.send(Op::Rename("taken in order".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    bench.model.open_gate("mail");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let requests = bench.model.requests();
    let last = requests[1]["messages"].as_array().unwrap().last().unwrap().to_string();
    let at = |text: &str| last.find(text).unwrap_or_else(|| panic!("{text}: {last}"));
    assert!(at("a.txt") < at("from bob"), "{last}");
    assert!(at("from bob") < at("and be quick"), "{last}");
    assert_eq!(*post.kept.lock().unwrap(), [true]);
    // The first request's words stay as they were.
    let (first, second) = (&requests[0]["messages"], &requests[1]["messages"]);
    assert_eq!(first[0], second[0]);
}

/// A post box that gives each message once.
struct OneTimePost(Mutex<Vec<&'static str>>);

impl StepHook for OneTimePost {
    fn mail(&self) -> BoxFuture<'_, Vec<Content>> {
        let all = std::mem::take(&mut *self.0.lock().unwrap());
        Box::pin(async move { all.into_iter().map(Content::text).collect() })
    }
}

#[tokio::test]
async fn mail_is_not_asked_for_while_the_model_goes_on_from_its_own_words() {
    let post = Arc::new(OneTimePost(Mutex::default()));
    let half = says("First half").stop(ModelStop::PauseTurn).gate(ReplyPlace::Answer, "half");
    let mut bench = start_hooked([half, says("and the rest."), says("Read.")], vec![post.clone()]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("half").await;
    post.0.lock().unwrap().push("from bob: the parser is done");
    bench.model.open_gate("half");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    bench.run("and now?").await;
    let requests = bench.model.requests();
    assert!(!requests[1].to_string().contains("from bob"));
    assert!(requests[2].to_string().contains("from bob"), "it is not lost");
}

#[tokio::test]
async fn identity_is_in_the_system_prompt_the_first_message_and_after_compaction() {
    let identity = "<identity>You are 'alice', role: coder, team: T.</identity>";
    let replies = [
        says("Here."),
        says("Still."),
        says("**Goal**: it.").conversation("question"),
        says("On.").conversation("after"),
    ];
    let mut bench = start_hooked_with(replies, Vec::new(), |settings| {
        settings.facts.identity = Some("You are 'alice', role: coder, team: T.".to_owned());
    });
    bench.run("go").await;
    bench.run("and on").await;
    bench.session.send(Op::Compact(None));
    bench.until(|event| matches!(event, Event::Compacted { .. }).then_some(())).await;
    bench.run("again").await;
    let requests = bench.model.requests();
    assert!(requests[0]["system"].to_string().contains(identity), "{}", requests[0]["system"]);
    let said = requests[1]["messages"].to_string();
    assert_eq!(said.matches(identity).count(), 1, "{said}");
    assert!(requests[0]["messages"][0].to_string().contains(identity));
    let compacted = last_message(&requests[3]);
    assert!(compacted.contains("<identity>\nYou are 'alice'"), "{compacted}");
}
