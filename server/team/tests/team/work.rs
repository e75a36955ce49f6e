//! Work: tasks found, claimed in order, completed, and what depends on them.

use crate::bench::*;
use ropewalk_protocol::Event;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn teammates_claim_tasks_by_themselves_and_all_comes_to_one_review() {
    let mut replies = vec![
        calls("task_create", task("First line", &[]))
            .call("task_create", task("Third line", &[]))
            .call("task_create", task("Last line", &[1])),
        calls("spawn_teammate", spawn("alice")),
        says("They are at work."),
        says("All is done.").expect_text("3 completed"),
    ];
    replies.extend(all_of(
        "alice",
        [
            says("Nothing yet."),
            edit("one", "ONE").expect_text("Task #1: First line"),
            done(1),
            edit("three", "THREE").expect_text("Task #2"),
            done(2),
            edit("seven", "SEVEN").expect_text("Task #3"),
            done(3),
        ],
    ));
    let mut bench = start(replies);
    bench.ask("Create 3 tasks on the board, then spawn alice.").await;
    bench.turn().await;
    for number in 1..=3 {
        bench.task_is(number, "completed").await;
    }
    let hunks = bench.hunks(3).await;
    let makers: Vec<String> = hunks.iter().map(|hunk| format!("{:?}", hunk.makers)).collect();
    assert!(makers.iter().all(|maker| maker.contains("alice")), "{makers:?}");
    assert_eq!(std::fs::read_to_string(bench.path("a.txt")).unwrap(), TEXT);
}

#[tokio::test]
async fn a_dependant_reads_what_it_builds_on_before_anything_is_accepted() {
    let of_role = |subject: &str, role: &str, blocked_by: &[i64]| json!({ "subject": subject, "role": role, "blockedBy": blocked_by });
    let mut replies = vec![
        calls("task_create", of_role("Write", "coder", &[]))
            .call("task_create", of_role("Read", "tester", &[1]))
            .call("spawn_teammate", spawn("alice"))
            .call("spawn_teammate", json!({ "name": "bob", "role": "tester", "prompt": "Wait." })),
        says("They are at work."),
        says("Good.").expect_text("2 completed"),
    ];
    replies.extend(all_of("alice", [says("Ready."), edit("one", "ONE"), done(1)]));
    let read = calls("read_file", json!({ "path": "a.txt" })).expect_text("Task #2: Read");
    replies.extend(all_of("bob", [says("Ready."), read, done(2).expect_text("ONE")]));
    let mut bench = start(replies);
    bench.ask("Go").await;
    bench.turn().await;
    bench.task_is(2, "completed").await;
    assert_eq!(bench.hunks(1).await.len(), 1);
}

/// Waits until the first attempt at a task is over, and nobody has it.
async fn returned(bench: &mut Bench) {
    bench
        .until("that the task is pending again", |one| match &one.event {
            Event::BoardTask(task) if task.attempt == 1 && task.owner.is_none() => Some(()),
            _ => None,
        })
        .await;
}

/// Lets time pass until alice has left. She may not have begun to wait yet.
async fn leaves(bench: &mut Bench) {
    for _ in 0..30 {
        bench.advance(60);
        let left = bench.member_is("alice", "shutdown");
        if tokio::time::timeout(Duration::from_secs(1), left).await.is_ok() {
            return;
        }
    }
    panic!("alice has not left: {:?}", bench.seen);
}

#[tokio::test]
async fn a_task_that_its_member_returns_is_not_offered_to_it_again() {
    let input = json!({ "task_id": 1, "status": "failed", "note": "there is no such file" });
    let mut replies = vec![
        calls("task_create", task("Impossible", &[])).call("spawn_teammate", spawn("alice")),
        says("It is at work."),
    ];
    replies.extend(all_of("alice", [says("Ready."), calls("task_update", input)]));
    let mut bench = start(replies);
    bench.ask("Go").await;
    returned(&mut bench).await;
    leaves(&mut bench).await;
    let tasks = bench.tasks().await;
    assert_eq!((tasks[0].status.word(), tasks[0].failures), ("pending", 1));
    assert!(tasks[0].notes.contains("alice: there is no such file"), "{}", tasks[0].notes);
    bench
        .until("that nobody is left", |one| match &one.event {
            Event::Notice { message, .. } => message.contains("no member is left").then_some(()),
            _ => None,
        })
        .await;
}

#[tokio::test]
async fn a_task_that_three_turns_leave_unfinished_is_returned() {
    let mut replies = vec![
        calls("task_create", task("Long", &[])).call("spawn_teammate", spawn("alice")),
        says("It is at work."),
    ];
    replies.extend(all_of(
        "alice",
        [
            says("Ready."),
            says("I look."),
            says("I still look.").expect_text("still yours"),
            says("And again.").expect_text("still yours"),
        ],
    ));
    let mut bench = start(replies);
    bench.ask("Go").await;
    returned(&mut bench).await;
    assert_eq!(bench.tasks().await[0].failures, 1);
}

#[tokio::test]
async fn nobody_claims_a_task_that_waits_and_no_task_that_is_taken() {
    let mut replies = vec![
        calls("task_create", task("First", &[]))
            .call("task_create", task("Second", &[1]))
            .call("claim_task", json!({ "task_id": 2 }))
            .call("claim_task", json!({ "task_id": 1 }))
            .call("task_update", json!({ "task_id": 1, "addBlockedBy": [2] })),
        done(1).expect_text("Claimed task #1 for lead"),
        calls("task_list", json!({})).expect_text("[x] #1: First @lead"),
        says("One is left.").expect_text("[ ] #2: Second"),
    ];
    replies[1] = done(1)
        .expect_text("Claimed task #1 for lead")
        .expect_text("#2 waits for #1")
        .expect_text("circle");
    let mut bench = start(replies);
    bench.ask("Go").await;
    assert_eq!(bench.tasks().await[1].blocked_by, Vec::<i64>::new());
}

#[tokio::test]
async fn a_lead_without_a_team_opens_no_board() {
    let mut bench = start([calls("list_dir", json!({})), says("There is a.txt.")]);
    bench.ask("Look").await;
    assert!(!bench.board().exists());
    assert!(bench.lead.tasks(None).await.unwrap_err().to_string().contains("no team here yet"));
}
