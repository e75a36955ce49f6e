//! Requests: a plan that waits for approval, and a member that is asked to shut down.

use crate::bench::*;
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
    bench.turn_of(Some("alice")).await;
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
