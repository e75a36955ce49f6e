//! Changes: one review of all, conflicts told, rejections told, nothing lost over a restart.

use crate::bench::*;
use ropewalk_protocol::{Op, Selection};
use serde_json::json;

#[tokio::test]
async fn work_without_a_task_is_handed_over_too() {
    let mut replies = vec![calls("spawn_teammate", spawn("alice")), says("It works.")];
    replies.extend(all_of("alice", [edit("one", "ONE"), says("Done.")]));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    let hunks = bench.hunks(1).await;
    assert!(format!("{:?}", hunks[0].makers).contains("alice"));
}

#[tokio::test]
async fn two_members_in_one_line_make_one_conflict_and_the_task_is_done_again() {
    let mut replies = vec![
        calls("task_create", task("Upper", &[]))
            .call("task_create", task("Spanish", &[]))
            .call("spawn_teammate", spawn("alice"))
            .call("spawn_teammate", spawn("bob")),
        says("They work."),
        says("Good.").expect_text("2 completed"),
    ];
    let alice = [says("Ready."), edit("one", "ONE").gate(Gate::Answer, "alice"), done(1)];
    replies.extend(all_of("alice", alice));
    let bob = [
        says("Ready.").gate(Gate::Answer, "bob waits"),
        edit("one", "uno").gate(Gate::Answer, "bob"),
        done(2),
        // It does it again, on what there is now.
        edit("ONE", "UNO").expect_text("but there is now"),
        done(2),
    ];
    replies.extend(all_of("bob", bob));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.model.wait_until_reached("alice").await;
    bench.model.open_gate("bob waits");
    bench.model.wait_until_reached("bob").await;
    bench.model.open_gate("alice");
    bench.hunks(1).await;
    bench.lead.stop("alice").unwrap();
    bench.member_is("alice", "shutdown").await;
    bench.model.open_gate("bob");
    bench
        .next("that task #2 was done twice", |one| match &one.event {
            ropewalk_protocol::Event::BoardTask(task)
                if task.number == 2
                    && task.attempt == 2
                    && task.owner.as_deref() == Some("bob") =>
            {
                (serde_json::to_value(task.status).unwrap() == "completed").then_some(())
            }
            _ => None,
        })
        .await;
    bench.turn().await;
    let hunks = bench.hunks(1).await;
    assert!(hunks[0].new.contains("UNO"), "{hunks:?}");
}

#[tokio::test]
async fn a_rejection_is_told_to_who_made_the_change() {
    let mut replies = vec![calls("spawn_teammate", spawn("alice")), says("It works.")];
    let told = says("I see.").expect_text("Their reason: not so");
    replies.extend(all_of("alice", [edit("one", "ONE"), says("Done."), told]));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    bench.hunks(1).await;
    bench.send(Op::Reject(Selection::All, Some("not so".to_owned())));
    bench.ended("alice", 2).await;
    assert!(bench.hunks(0).await.is_empty());
}

#[tokio::test]
async fn after_a_restart_members_go_on_with_their_tasks() {
    let mut replies = vec![
        calls("task_create", task("Both ends", &[])).call("spawn_teammate", spawn("alice")),
        says("It works."),
    ];
    let alice = [
        says("Ready."),
        edit("one", "ONE"),
        edit("seven", "SEVEN").gate(Gate::Answer, "killed here"),
    ];
    replies.extend(all_of("alice", alice));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.model.wait_until_reached("killed here").await;
    let mut replies = vec![says("All is done.").expect_text("1 completed")];
    let alice = [edit("seven", "SEVEN").expect_text("still yours"), done(1)];
    replies.extend(all_of("alice", alice));
    let mut bench = bench.restarts(replies).await;
    bench.turn().await;
    bench.task_is(1, "completed").await;
    bench.hunks(2).await;
    let tasks = bench.tasks().await;
    assert_eq!((tasks[0].attempt, tasks[0].failures), (1, 0));
}

#[tokio::test]
async fn the_file_of_a_task_is_the_leads_with_what_waits_there() {
    let mut replies = vec![
        edit("one", "ONE"),
        calls("task_create", task("Read", &[])).call("spawn_teammate", spawn("alice")),
        says("It works."),
        says("Good.").expect_text("1 completed"),
    ];
    let read = calls("read_file", json!({ "path": "a.txt" }));
    replies.extend(all_of("alice", [says("Ready."), read, done(1).expect_text("ONE")]));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.turn().await;
    bench.task_is(1, "completed").await;
    // A hunk that the lead has changed counts as the lead's alone.
    let hunks = bench.hunks(1).await;
    assert!(!format!("{:?}", hunks[0].makers).contains("alice"));
}
