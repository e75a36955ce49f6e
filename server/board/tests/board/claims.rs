//! Claims, leases and fences.

use crate::ground::{Ground, join, task};
use ropewalk_board::{BoardError, Claim, NewTask, ReturnReason, TaskCounts, TaskStatus};

crate::on_both!(
    a_task_goes_from_made_to_done,
    one_task_has_one_winner,
    a_lost_lease_is_claimed_by_another,
    a_completion_counts_while_nobody_has_claimed_since,
    a_completion_may_be_asked_twice,
    the_third_failure_is_the_last,
    nobody_is_offered_what_they_returned,
    roles_are_kept,
    renewing_says_what_is_held,
    cancelling_takes_a_task_away,
);

async fn a_task_goes_from_made_to_done(ground: &Ground) {
    let team = ground.team().await;
    let alice = join(&team, "alice", "").await;
    for number in 1..=10 {
        assert_eq!(task(&team, &format!("part {number}"), &[]).await.number, number);
    }
    let first = alice.claim().await.unwrap().unwrap();
    assert_eq!((first.number, first.attempt, first.owner.as_deref()), (1, 1, Some("alice")));
    assert_eq!(alice.complete(first.claim(), "done", None).await.unwrap(), Vec::<i64>::new());
    // By number, not by spelling: 2 comes before 10.
    assert_eq!(alice.claim().await.unwrap().unwrap().number, 2);
    let done = team.task(1).await.unwrap();
    assert_eq!((done.status, done.owner.as_deref()), (TaskStatus::Completed, Some("alice")));
    let counts =
        TaskCounts { pending: 8, ready: 8, in_progress: 1, completed: 1, ..Default::default() };
    assert_eq!(team.counts().await.unwrap(), counts);
    let page: Vec<i64> = team.tasks(3, 4).await.unwrap().iter().map(|task| task.number).collect();
    assert_eq!(page, [4, 5, 6, 7]);
    let events: Vec<String> =
        team.log(0, 100).await.unwrap().into_iter().map(|line| line.event).collect();
    assert_eq!(events[0], "joined");
    assert_eq!(events[11..], ["claimed", "completed", "claimed"]);
}

async fn one_task_has_one_winner(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let mut claims = Vec::new();
    for number in 0..8 {
        let member = join(&ground.team().await, &format!("m{number}"), "").await;
        claims.push(tokio::spawn(async move { member.claim().await.unwrap() }));
    }
    let mut winners = 0;
    for claim in claims {
        winners += usize::from(claim.await.unwrap().is_some());
    }
    assert_eq!(winners, 1);
}

async fn a_lost_lease_is_claimed_by_another(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let alice = join(&ground.fleeting().await, "alice", "").await;
    let bob = join(&team, "bob", "").await;
    let lost = alice.claim().await.unwrap().unwrap().claim();
    let taken = bob.claim().await.unwrap().unwrap();
    assert_eq!((taken.number, taken.attempt, taken.failures), (1, 2, 1));
    assert!(taken.notes.contains("alice was not heard of"), "{}", taken.notes);
    let error = alice.complete(lost, "late", Some(b"late")).await.unwrap_err();
    assert!(matches!(error, BoardError::ClaimLost(1)), "{error}");
    let error = alice.give_back(lost, &ReturnReason::Leaving).await.unwrap_err();
    assert!(matches!(error, BoardError::ClaimLost(1)), "{error}");
    assert_eq!(alice.renew().await.unwrap(), []);
    bob.complete(taken.claim(), "done", None).await.unwrap();
    assert_eq!(team.waiting_bundles(9).await.unwrap(), []);
}

async fn a_completion_counts_while_nobody_has_claimed_since(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let alice = join(&ground.fleeting().await, "alice", "").await;
    let other = join(&team, "other", "coder").await;
    let late = alice.claim().await.unwrap().unwrap().claim();
    // A look for work returns it; a task for another role is not taken by that.
    team.create("test", &NewTask { role: "tester".to_owned(), ..NewTask::default() })
        .await
        .unwrap();
    assert!(other.claim_number(2).await.is_err());
    assert_eq!(team.task(1).await.unwrap().status, TaskStatus::InProgress);
    let tester = join(&team, "tester", "tester").await;
    let _ = tester.claim_number(2).await.unwrap();
    assert_eq!(team.task(1).await.unwrap().status, TaskStatus::Pending);
    alice.complete(late, "late but whole", None).await.unwrap();
    assert_eq!(team.task(1).await.unwrap().status, TaskStatus::Completed);
}

async fn a_completion_may_be_asked_twice(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let alice = join(&team, "alice", "").await;
    let claim = alice.claim().await.unwrap().unwrap().claim();
    alice.complete(claim, "done", Some(b"x")).await.unwrap();
    alice.complete(claim, "done", Some(b"x")).await.unwrap();
    assert_eq!(team.waiting_bundles(9).await.unwrap().len(), 1);
    let wrong = Claim { attempt: claim.attempt + 1, ..claim };
    assert!(matches!(alice.complete(wrong, "", None).await, Err(BoardError::ClaimLost(1))));
}

async fn the_third_failure_is_the_last(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "poison", &[]).await;
    task(&team, "after", &[1]).await;
    let lead = join(&team, "lead", "").await;
    for (name, left) in
        [("a", TaskStatus::Pending), ("b", TaskStatus::Pending), ("c", TaskStatus::Failed)]
    {
        let member = join(&team, name, "").await;
        let claim = member.claim().await.unwrap().unwrap().claim();
        let failed = ReturnReason::Failed("it bites".to_owned());
        assert_eq!(member.give_back(claim, &failed).await.unwrap(), left);
    }
    let told = lead.inbox(9).await.unwrap();
    assert_eq!(
        (told.len(), told[0].kind.as_str(), told[0].from.as_str()),
        (1, "task_failed", "board")
    );
    assert_eq!(team.task(2).await.unwrap().blocked_by, [1]);
    assert!(lead.claim().await.unwrap().is_none());
    team.restart("lead", 1).await.unwrap();
    let again = join(&team, "d", "").await.claim().await.unwrap().unwrap();
    assert_eq!((again.number, again.failures, again.attempt), (1, 0, 4));
}

async fn nobody_is_offered_what_they_returned(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let alice = join(&team, "alice", "").await;
    let claim = alice.claim().await.unwrap().unwrap().claim();
    alice.give_back(claim, &ReturnReason::Failed("no".to_owned())).await.unwrap();
    assert!(alice.claim().await.unwrap().is_none());
    // By its number it may be taken all the same; leaving it does not count.
    let claim = alice.claim_number(1).await.unwrap().claim();
    alice.give_back(claim, &ReturnReason::Leaving).await.unwrap();
    let bob = join(&team, "bob", "").await;
    assert_eq!(bob.claim().await.unwrap().unwrap().failures, 1);
}

async fn roles_are_kept(ground: &Ground) {
    let team = ground.team().await;
    team.create("test", &NewTask { role: "tester".to_owned(), ..NewTask::default() })
        .await
        .unwrap();
    let coder = join(&team, "alice", "coder").await;
    assert!(coder.claim().await.unwrap().is_none());
    let error = coder.claim_number(1).await.unwrap_err().to_string();
    assert_eq!(error, "Task #1 can't be claimed: it is for the role tester.");
    assert!(join(&team, "bob", "tester").await.claim().await.unwrap().is_some());
    let error = coder.claim_number(1).await.unwrap_err().to_string();
    assert_eq!(error, "Task #1 can't be claimed: bob works on it.");
    assert_eq!(coder.claim_number(7).await.unwrap_err().to_string(), "There is no task #7.");
}

async fn renewing_says_what_is_held(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let alice = join(&team, "alice", "").await;
    assert_eq!(alice.renew().await.unwrap(), []);
    let claim = alice.claim().await.unwrap().unwrap().claim();
    assert_eq!(alice.renew().await.unwrap(), [claim]);
    assert_eq!(alice.held().await.unwrap()[0].claim(), claim);
}

async fn cancelling_takes_a_task_away(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    task(&team, "two", &[1]).await;
    let alice = join(&team, "alice", "").await;
    let claim = alice.claim().await.unwrap().unwrap().claim();
    team.cancel("lead", 1).await.unwrap();
    assert!(matches!(alice.complete(claim, "", None).await, Err(BoardError::ClaimLost(1))));
    assert_eq!(alice.claim().await.unwrap().unwrap().number, 2);
    team.restart("lead", 1).await.unwrap();
    assert!(team.restart("lead", 2).await.is_err());
    // Tasks under way are not blocked again by that.
    assert_eq!(team.task(2).await.unwrap().blocked_by, Vec::<i64>::new());
}
