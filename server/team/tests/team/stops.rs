//! Stops: of a turn, which holds until somebody writes, and of a member, which returns whatever it has claimed.

use crate::bench::*;
use crate::outages::{IDLE, until_sql};
use ropewalk_protocol::{Event, Op, Prompt, SessionEvent};
use serde_json::{Value, json};

/// Interrupts alice's turn as the user does.
fn interrupt(bench: &Bench) {
    let (_, id) = bench.lead.sessions().remove(0);
    bench.session_of(&id).send(Op::Interrupt(None));
}

fn says_to_alice(bench: &Bench, words: &str) {
    let (_, id) = bench.lead.sessions().remove(0);
    bench.session_of(&id).prompt(Prompt::new(words));
}

fn begins_with(spawned: Value) -> Vec<ScriptedReply> {
    vec![calls("task_create", task("Work", &[])).call("spawn_teammate", spawned), says("It works.")]
}

/// Checks that the task waits as if nobody had claimed it.
async fn is_untouched(bench: &Bench) {
    let tasks = bench.tasks().await;
    let first = tasks.first().unwrap();
    let state = (first.status.word(), &first.owner, first.failures);
    assert_eq!(state, ("pending", &None, 0), "{}", first.notes);
}

#[tokio::test]
async fn a_stop_holds_without_a_task_too_until_the_user_writes() {
    let mut replies = begins_with(spawn("alice"));
    let alice = [
        says("…").gate(Gate::Answer, "first"),
        says("I shall.").expect_text("Mind the tests"),
        done(1).expect_text("Task #1: Work"),
    ];
    replies.extend(all_of("alice", alice));
    replies.push(says("Fine.").expect_text("1 completed"));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.model.wait_until_reached("first").await;
    interrupt(&bench);
    bench.ended("alice", 1).await;
    until_sql(&bench, IDLE, |count| count == 1).await;
    bench.advance(5);
    is_untouched(&bench).await;
    says_to_alice(&bench, "Mind the tests");
    bench.turn().await;
    bench.task_is(1, "completed").await;
}

/// A call that asks the user, who is not going to answer.
fn asks(reply: ScriptedReply) -> ScriptedReply {
    reply.call("bash", json!({ "command": "echo" }))
}

async fn asked(bench: &mut Bench) {
    let asked =
        |one: &SessionEvent| matches!(one.event, Event::ApprovalRequested { .. }).then_some(());
    bench.until("that alice asks", asked).await;
}

#[tokio::test]
async fn a_task_claimed_in_a_turn_that_the_user_stops_is_not_begun() {
    let mut replies = begins_with(spawn("alice"));
    let claim = calls("claim_task", json!({ "task_id": 1 }));
    let alice = [
        asks(claim),
        says("I shall.").expect_text("Mind the tests"),
        done(1).expect_text("Task #1: Work"),
    ];
    replies.extend(all_of("alice", alice));
    replies.push(says("Fine.").expect_text("1 completed"));
    let mut bench = start(replies);
    bench.ask("Go").await;
    asked(&mut bench).await;
    interrupt(&bench);
    bench.ended("alice", 1).await;
    until_sql(&bench, IDLE, |count| count == 1).await;
    is_untouched(&bench).await;
    says_to_alice(&bench, "Mind the tests");
    bench.turn().await;
    bench.task_is(1, "completed").await;
}

#[tokio::test]
async fn a_member_that_is_stopped_while_its_plan_waits_returns_its_task() {
    let mut input = spawn("alice");
    input["plan"] = true.into();
    let mut replies = begins_with(input);
    replies.push(says("I shall look at it.").expect_text("kind=\"plan\""));
    let submit = calls("plan_approval", json!({ "plan": "Change one line" }));
    replies.extend(all_of("alice", [says("Ready."), submit.expect_text("Task #1")]));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.turn().await;
    let waits =
        "select count(*) from members, requests where name = 'alice' and members.state = 'idle'";
    until_sql(&bench, waits, |count| count == 1).await;
    assert_eq!(bench.tasks().await[0].owner.as_deref(), Some("alice"));
    bench.lead.stop("alice").unwrap();
    bench.member_is("alice", "shutdown").await;
    is_untouched(&bench).await;
}

#[tokio::test]
async fn a_member_that_claims_a_task_and_agrees_to_leave_in_one_turn_returns_it() {
    let mut replies = begins_with(spawn("alice"));
    replies.push(calls("shutdown_request", json!({ "teammate": "alice" })));
    replies.push(says("Asked."));
    let agree = json!({ "request_id": 1, "approve": true });
    let both = calls("claim_task", json!({ "task_id": 1 })).call("shutdown_response", agree);
    let look = calls("list_dir", json!({})).gate(Gate::Answer, "looks");
    replies.extend(all_of("alice", [look, both]));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.model.wait_until_reached("looks").await;
    bench.ask("Shut it down").await;
    bench.model.open_gate("looks");
    bench.member_is("alice", "shutdown").await;
    is_untouched(&bench).await;
    let members = bench.lead.roster().await.unwrap().members;
    assert!(members.iter().all(|one| one.task.is_none()), "{members:?}");
}
