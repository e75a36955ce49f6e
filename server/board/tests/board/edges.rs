//! Edges between tasks.

use crate::ground::{Ground, join, task};
use ropewalk_board::{BoardError, NewTask};

crate::on_both!(
    a_dependant_waits_for_all,
    a_circle_is_refused_with_its_path,
    two_edges_at_once_close_no_circle
);

async fn a_dependant_waits_for_all(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    task(&team, "two", &[]).await;
    assert_eq!(task(&team, "three", &[1, 2]).await.blocked_by, [1, 2]);
    let alice = join(&team, "alice", "").await;
    let (one, two) = (alice.claim().await.unwrap().unwrap(), alice.claim().await.unwrap().unwrap());
    assert!(alice.claim().await.unwrap().is_none());
    assert!(matches!(alice.claim_number(3).await, Err(BoardError::Blocked { number: 3, .. })));
    assert_eq!(alice.complete(one.claim(), "", None).await.unwrap(), Vec::<i64>::new());
    // A task under way may learn that it needs another: it can't be completed before that.
    task(&team, "four", &[1]).await;
    team.add_edge("alice", 2, 4).await.unwrap();
    let error = alice.complete(two.claim(), "", None).await.unwrap_err().to_string();
    assert_eq!(error, "Task #2 waits for #4.");
    let four = alice.claim().await.unwrap().unwrap();
    assert_eq!(four.number, 4);
    alice.complete(four.claim(), "", None).await.unwrap();
    assert_eq!(alice.complete(two.claim(), "", None).await.unwrap(), [3]);
    assert_eq!(alice.claim().await.unwrap().unwrap().number, 3);
    assert_eq!(task(&team, "five", &[1, 2]).await.blocked_by, Vec::<i64>::new());
    let missing =
        team.create("test", &NewTask { blocked_by: vec![99], ..NewTask::default() }).await;
    assert_eq!(missing.unwrap_err().to_string(), "There is no task #99.");
    assert_eq!(task(&team, "six", &[]).await.number, 6);
}

async fn a_circle_is_refused_with_its_path(ground: &Ground) {
    let team = ground.team().await;
    for blocked_by in [&[][..], &[1], &[2], &[3, 1]] {
        task(&team, "one", blocked_by).await;
    }
    for (task, other, path) in [(1, 3, vec![1, 3, 2, 1]), (1, 4, vec![1, 4, 1]), (2, 2, vec![2, 2])]
    {
        match team.add_edge("test", task, other).await.unwrap_err() {
            BoardError::Cycle { path: found } => assert_eq!(found, path),
            other => panic!("{other}"),
        }
    }
    assert_eq!(team.task(1).await.unwrap().blocked_by, Vec::<i64>::new());
}

async fn two_edges_at_once_close_no_circle(ground: &Ground) {
    let (one, two) = (ground.team().await, ground.team().await);
    for round in 0..10 {
        let (a, b) = (task(&one, "a", &[]).await.number, task(&one, "b", &[]).await.number);
        let (left, right) = tokio::join!(one.add_edge("x", a, b), two.add_edge("y", b, a));
        assert_eq!(
            [left.is_ok(), right.is_ok()].iter().filter(|ok| **ok).count(),
            1,
            "round {round}"
        );
    }
}
