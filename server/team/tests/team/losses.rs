//! Tasks that end otherwise than by their member's word that they are done: the work on them is not handed over.

use crate::bench::*;
use crate::outages::{IDLE, sql, until_sql};
use ropewalk_board::NewMember;
use ropewalk_protocol::{Event, Op, Verdict};
use serde_json::json;

const LEASE: &str = "select lease from members where name = 'alice'";
const BUNDLES: &str = "select count(*) from bundles";

/// Lets a quarter of a lease pass, until alice has renewed hers.
async fn renews(bench: &Bench) {
    sql(bench, "update members set lease = 0 where name = 'alice'").await;
    bench.advance(15);
    until_sql(bench, LEASE, |lease| lease > 0).await;
}

#[tokio::test]
async fn work_on_a_task_that_is_cancelled_meanwhile_ends_and_is_not_handed_over() {
    let cancel = json!({ "task_id": 1, "status": "cancelled" });
    let mut replies = vec![
        calls("task_create", task("Upper", &[])).call("spawn_teammate", spawn("alice")),
        says("It works."),
        calls("task_update", cancel),
        says("Not needed any more."),
        says("Fine.").expect_text("1 cancelled"),
    ];
    let alice = [
        says("Ready."),
        edit("one", "ONE"),
        calls("list_dir", json!({})).gate(Gate::Answer, "works"),
        says("I see.").expect_text("Task #1 is no longer yours").expect_text("not handed over"),
    ];
    replies.extend(all_of("alice", alice));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.model.wait_until_reached("works").await;
    bench.ask("Cancel it").await;
    renews(&bench).await;
    bench.model.open_gate("works");
    let words = bench.ended("alice", 2).await;
    assert!(words.unwrap().contains("Task #1 is no longer yours"));
    bench.ended("alice", 3).await;
    until_sql(&bench, IDLE, |count| count == 1).await;
    assert_eq!(sql(&bench, BUNDLES).await, [0]);
    assert!(bench.session.hunks().is_empty());
}

#[tokio::test]
async fn a_task_that_was_done_before_it_was_lost_counts_if_nobody_has_claimed_it() {
    let mut replies = vec![
        calls("task_create", json!({ "subject": "Upper", "role": "coder" }))
            .call("spawn_teammate", spawn("alice")),
        says("It works."),
        says("Fine.").expect_text("1 completed"),
    ];
    let last = done(1).call("bash", json!({ "command": "echo" }));
    replies.extend(all_of("alice", [says("Ready."), edit("one", "ONE"), last]));
    let mut bench = start(replies);
    bench.ask("Go").await;
    let asked = |one: &ropewalk_protocol::SessionEvent| match &one.event {
        Event::ApprovalRequested { approval, .. } => Some(approval.id),
        _ => None,
    };
    let approval = bench.until("that alice asks", asked).await;
    // Her lease ends, and whoever looks returns the task.
    sql(&bench, "update tasks set lease = 0").await;
    let bob =
        NewMember { name: "bob".to_owned(), role: "tester".to_owned(), ..NewMember::default() };
    let bob = bench.team().await.join(&bob).await.unwrap();
    assert_eq!(bob.claim().await.unwrap(), None);
    assert_eq!(bench.tasks().await[0].owner, None);
    renews(&bench).await;
    let (_, id) = bench.lead.sessions().remove(0);
    bench.session_of(&id).send(Op::Approve(Some(approval), Verdict::Refuse(None)));
    bench.turn().await;
    bench.task_is(1, "completed").await;
    bench.hunks(1).await;
}

#[tokio::test]
async fn work_on_a_task_that_its_member_returns_is_not_handed_over() {
    let input = json!({ "task_id": 1, "status": "failed", "note": "there is no such file" });
    let mut replies = vec![
        calls("task_create", task("Upper", &[])).call("spawn_teammate", spawn("alice")),
        says("It works."),
    ];
    let alice = [says("Ready."), edit("one", "ONE"), calls("task_update", input)];
    replies.extend(all_of("alice", alice));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.ended("alice", 2).await;
    until_sql(&bench, IDLE, |count| count == 1).await;
    assert_eq!(sql(&bench, BUNDLES).await, [0]);
}

#[tokio::test]
async fn a_teammate_that_has_just_begun_is_not_begun_again_by_a_team_that_comes_back() {
    let mut replies = vec![calls("spawn_teammate", spawn("alice")), says("It works.")];
    replies.extend(all_of("alice", [says("Ready.")]));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.ended("alice", 1).await;
    bench.lead.resume().await.unwrap();
    assert_eq!(sql(&bench, "select epoch from members where name = 'alice'").await, [1]);
}
