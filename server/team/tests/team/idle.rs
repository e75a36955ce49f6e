//! Waiting: messages before tasks, time that passes, and what ends it.

use crate::bench::*;
use ropewalk_protocol::{Event, Op, Prompt, SessionEvent, StopReason};
use serde_json::json;

#[tokio::test]
async fn a_member_with_nothing_to_do_leaves_after_a_minute_and_its_name_is_free() {
    let mut replies = vec![
        calls("spawn_teammate", spawn("alice")),
        says("It waits."),
        calls("spawn_teammate", spawn("alice")).expect_text("alice has shut down"),
        says("It is back.").expect_text("Spawned 'alice'"),
    ];
    replies.extend(all_of("alice", [says("Nothing to do.")]));
    replies.push(of("alice", says("Nothing again.")).conversation("alice again"));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    bench.ended("alice", 1).await;
    bench.member_is("alice", "idle").await;
    for _ in 0..11 {
        bench.advance(5);
    }
    let members = bench.lead.roster().await.unwrap().members;
    assert_eq!(serde_json::to_value(members[0].state).unwrap(), "idle");
    bench.advance(5);
    bench.member_is("alice", "shutdown").await;
    bench.ask("Spawn it again").await;
    bench.ended("alice", 2).await;
}

#[tokio::test]
async fn a_message_comes_before_a_task() {
    let send = calls("send_message", json!({ "to": "alice", "content": "Use tabs." }));
    let mut replies = vec![
        calls("spawn_teammate", spawn("alice")),
        says("It waits."),
        send.call("task_create", task("Work", &[])),
        says("Told.").expect_text("Sent message to alice"),
    ];
    let alice = [
        says("Nothing to do.").gate(Gate::Answer, "first"),
        says("I shall.")
            .expect_text("<inbox from=\"lead\" kind=\"message\" number=")
            .expect_text("Use tabs."),
        done(1).expect_text("Task #1: Work"),
    ];
    replies.extend(all_of("alice", alice));
    replies.push(says("Fine.").expect_text("1 completed"));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    bench.model.wait_until_reached("first").await;
    bench.ask("Tell it to use tabs, and make a task").await;
    bench.model.open_gate("first");
    bench.turn().await;
    bench.task_is(1, "completed").await;
}

#[tokio::test]
async fn a_message_in_mid_turn_stands_behind_the_results() {
    let send =
        calls("send_message", json!({ "to": "alice", "content": "Mind the </inbox> tests." }));
    let mut replies =
        vec![calls("spawn_teammate", spawn("alice")), says("It works."), send, says("Told.")];
    let look = calls("list_dir", json!({})).gate(Gate::Answer, "looks");
    let alice =
        [look, says("I do.").expect_text("a.txt").expect_text("Mind the &lt;/inbox> tests.")];
    replies.extend(all_of("alice", alice));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    bench.model.wait_until_reached("looks").await;
    bench.ask("Tell it to mind the tests").await;
    bench.model.open_gate("looks");
    bench.ended("alice", 1).await;
    let requests = bench.requests_of("alice");
    let last = &requests[1];
    assert!(last.find("a.txt").unwrap() < last.find("Mind the").unwrap(), "{last}");
    // It is given once.
    assert_eq!(last.matches("Mind the").count(), 1);
}

#[tokio::test]
async fn the_user_stops_a_member_or_its_turn() {
    let mut replies = vec![
        calls("task_create", task("Work", &[])).call("spawn_teammate", spawn("alice")),
        says("It works."),
    ];
    let alice = [
        says("Ready."),
        says("…").gate(Gate::Answer, "works"),
        says("Again …").gate(Gate::Answer, "works again").expect_text("go on"),
    ];
    replies.extend(all_of("alice", alice));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.model.wait_until_reached("works").await;
    let (_, id) = bench.lead.sessions().remove(0);
    bench.session_of(&id).send(Op::Interrupt(None));
    let is_stopped = |one: &SessionEvent| match &one.event {
        Event::TurnEnded { stop_reason: StopReason::Interrupted, .. } => Some(()),
        _ => None,
    };
    bench.until("that its turn was stopped", is_stopped).await;
    bench.task_is(1, "pending").await;
    // It takes nothing by itself until somebody writes.
    bench.advance(5);
    bench.session_of(&id).prompt(Prompt::new("go on"));
    bench.model.wait_until_reached("works again").await;
    bench.lead.stop("alice").unwrap();
    bench.member_is("alice", "shutdown").await;
    assert!(bench.lead.stop("alice").unwrap_err().to_string().contains("no teammate alice"));
    assert_eq!(bench.tasks().await[0].failures, 0);
}

#[tokio::test]
async fn a_team_without_budget_stops_and_takes_nobody_more() {
    let mut replies = vec![
        calls("task_create", task("Work", &[])).call("spawn_teammate", spawn("alice")),
        says("It works.").gate(Gate::Answer, "lead"),
        calls("spawn_teammate", spawn("bob")),
        says("No more.").expect_text("The team's budget is used up"),
    ];
    replies.extend(all_of("alice", [says("Ready.").gate(Gate::Answer, "ready")]));
    let mut bench = start_with(replies, |options| options.tokens = Some(220));
    bench.session.prompt(Prompt::new("Go"));
    // Her first step is allowed: the lead has not used so much by then.
    bench.model.wait_until_reached("ready").await;
    bench.model.open_gate("lead");
    bench.turn().await;
    bench.model.open_gate("ready");
    bench.member_is("alice", "shutdown").await;
    bench.ask("One more").await;
    let told = bench.seen.iter().any(|one| match &one.event {
        Event::TurnEnded { message: Some(words), .. } => words.contains("`team.tokens`"),
        _ => false,
    });
    assert!(told, "{:?}", bench.seen);
    assert_eq!(bench.tasks().await[0].status.word(), "pending");
}
