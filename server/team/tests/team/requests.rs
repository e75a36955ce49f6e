//! Requests: a plan that waits for approval, and a member that is asked to shut down.

use crate::bench::*;
use ropewalk_protocol::{Event, Mode};
use serde_json::json;

#[tokio::test]
async fn a_plan_is_sent_back_and_approved_and_nothing_is_written_before() {
    let submit = |plan: &str| calls("plan_approval", json!({ "plan": plan }));
    let answer = |id: i64, approve: bool, words: &str| {
        let input = json!({ "request_id": id, "approve": approve, "feedback": words });
        calls("plan_approval", input)
    };
    let mut input = spawn("alice");
    input["plan"] = true.into();
    let mut replies = vec![
        calls("spawn_teammate", input),
        says("It plans."),
        answer(1, false, "Smaller steps.").expect_text("kind=\"plan\"").expect_text("Rewrite all"),
        says("Sent back.").expect_text("Plan rejected for 'alice'"),
        answer(2, true, "").expect_text("Change one line"),
        says("Approved.").expect_text("Plan approved for 'alice'"),
    ];
    let alice = [
        edit("one", "ONE"),
        submit("Rewrite all").expect_text("Refused in plan mode"),
        submit("Change one line").expect_text("Smaller steps."),
        edit("one", "ONE").expect_text("approved"),
        says("Changed.").expect_text("Edited a.txt"),
    ];
    replies.extend(all_of("alice", alice));
    let mut bench = start(replies);
    bench.ask("Spawn alice with a plan").await;
    bench.hunks(1).await;
    assert_eq!(bench.requests_of("alice").len(), 5);
}

/// A lead that has alice plan, and replies of hers: the first submits a plan.
fn planned(
    lead: impl IntoIterator<Item = ScriptedReply>,
    alice: impl IntoIterator<Item = ScriptedReply>,
) -> Vec<ScriptedReply> {
    let input = json!({ "name": "alice", "role": "coder", "prompt": "Look.", "plan": true });
    let submit = calls("plan_approval", json!({ "plan": "Change one line" }));
    let mut replies = vec![calls("spawn_teammate", input), says("It plans.")];
    replies.extend(lead);
    replies.push(of("alice", submit.gate(Gate::Answer, "plan")));
    replies.extend(alice.into_iter().map(|reply| of("alice", reply)));
    replies
}

#[tokio::test]
async fn a_plan_that_is_approved_amid_a_turn_can_be_carried_out_from_the_next_step_on() {
    let tell = json!({ "to": "alice", "content": "The user reads it." });
    let lead = [calls("send_message", tell).expect_text("Change one line"), says("She waits.")];
    let alice = [
        calls("list_dir", json!({})).expect_text("The user reads it.").gate(Gate::Answer, "looks"),
        edit("one", "ONE").expect_text("approved"),
        says("Changed.").expect_text("Edited a.txt"),
    ];
    let mut bench = start(planned(lead, alice));
    bench.ask("Spawn alice with a plan").await;
    bench.model.open_gate("plan");
    bench.model.wait_until_reached("looks").await;
    bench.lead.answer_plan(1, true, "").await.unwrap();
    bench.model.open_gate("looks");
    bench.hunks(1).await;
}

#[tokio::test]
async fn a_member_that_plans_changes_nothing_after_a_restart_either() {
    let lead = [says("I look at it.").gate(Gate::Answer, "lead")];
    let mut bench = start(planned(lead, []));
    bench.ask("Spawn alice with a plan").await;
    bench.model.open_gate("plan");
    bench
        .until("that alice's turn has ended", |one| {
            let is_hers = one.member.is_some() && matches!(one.event, Event::TurnEnded { .. });
            is_hers.then_some(())
        })
        .await;
    bench.model.open_gate("lead");
    bench.turn().await;

    let alice = [edit("one", "ONE").expect_text("approved"), says("Changed.")];
    let mut bench = bench.restarts(all_of("alice", alice)).await;
    let (_, id) = bench.lead.sessions().pop().unwrap();
    assert_eq!(bench.session_of(&id).mode(), Mode::Plan);
    bench.lead.answer_plan(1, true, "").await.unwrap();
    bench.hunks(1).await;
}

#[tokio::test]
async fn a_waiting_member_agrees_to_shut_down_at_once() {
    let ask = calls("shutdown_request", json!({ "teammate": "alice" }));
    let state = calls("shutdown_response", json!({ "request_id": 1 }));
    let mut replies = vec![
        calls("spawn_teammate", spawn("alice")),
        says("It waits."),
        ask,
        says("Asked.").expect_text("Shutdown request 1 sent to 'alice' (status: pending)"),
        state,
        says("It is gone.").expect_text("approved"),
    ];
    replies.extend(all_of("alice", [says("Nothing to do.")]));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    bench.ended("alice", 1).await;
    bench.ask("Shut it down").await;
    bench.member_is("alice", "shutdown").await;
    bench.ask("Is it gone?").await;
    assert_eq!(bench.requests_of("alice").len(), 1, "its model is not asked");
}

#[tokio::test]
async fn a_working_member_refuses_with_a_reason_and_unanswered_it_agrees() {
    let ask = || calls("shutdown_request", json!({ "teammate": "alice" }));
    let refuse = json!({ "request_id": 1, "approve": false, "reason": "I am nearly done." });
    let mut replies = vec![
        calls("spawn_teammate", spawn("alice")),
        says("It works."),
        ask(),
        says("Asked."),
        ask().expect_text("refused: I am nearly done."),
        says("Asked again."),
    ];
    let alice = [
        calls("list_dir", json!({})).gate(Gate::Answer, "first"),
        calls("shutdown_response", refuse).expect_text("request_id=\"1\""),
        calls("list_dir", json!({})).gate(Gate::Answer, "second").expect_text("Shutdown rejected"),
        says("I am done."),
    ];
    replies.extend(all_of("alice", alice));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    bench.model.wait_until_reached("first").await;
    bench.ask("Shut it down").await;
    bench.model.open_gate("first");
    bench.model.wait_until_reached("second").await;
    bench.ask("Ask again").await;
    bench.model.open_gate("second");
    bench.member_is("alice", "shutdown").await;
}
