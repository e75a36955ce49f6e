//! Bundles, from completion to the lead's review.

use crate::ground::{Ground, join, task};
use ropewalk_board::{BoardError, BundleState, MAX_BUNDLE, TaskStatus};

crate::on_both!(
    a_bundle_is_taken_once,
    a_dependant_finds_what_it_builds_on,
    a_refused_bundle_opens_its_task
);

async fn a_bundle_is_taken_once(ground: &Ground) {
    let team = ground.team().await;
    let alice = join(&team, "alice", "").await;
    task(&team, "one", &[]).await;
    let claim = alice.claim().await.unwrap().unwrap().claim();
    let large = vec![7; MAX_BUNDLE + 1];
    let error = alice.complete(claim, "", Some(&large)).await.unwrap_err();
    assert!(matches!(error, BoardError::TooLarge { .. }), "{error}");
    alice.complete(claim, "did it", Some(&large[1..])).await.unwrap();
    let loose = alice.hand_over("by the way", b"\0\xff").await.unwrap();
    let waiting = team.waiting_bundles(9).await.unwrap();
    assert_eq!((waiting[0].claim, waiting[0].summary.as_str()), (Some(claim), "did it"));
    assert_eq!((waiting[1].claim, waiting[1].number), (None, loose));
    assert_eq!(team.bundle_content(loose).await.unwrap(), b"\0\xff");
    assert_eq!(team.bundle_content(waiting[0].number).await.unwrap().len(), MAX_BUNDLE);
    let other = ground.team().await;
    let (one, two) = tokio::join!(team.take_bundle(loose), other.take_bundle(loose));
    assert!(one.unwrap() != two.unwrap());
    assert_eq!(team.waiting_bundles(9).await.unwrap().len(), 1);
}

async fn a_dependant_finds_what_it_builds_on(ground: &Ground) {
    let team = ground.team().await;
    let alice = join(&team, "alice", "").await;
    for blocked_by in [&[][..], &[1], &[], &[2, 1]] {
        task(&team, "part", blocked_by).await;
    }
    let mut made = Vec::new();
    // 3 is done before 2, and is nothing that 4 waits for.
    for number in [1, 3, 2] {
        let claim = alice.claim_number(number).await.unwrap().claim();
        alice.complete(claim, "", Some(&[u8::try_from(number).unwrap()])).await.unwrap();
        made.push(claim);
    }
    let before = team.bundles_before(4).await.unwrap();
    assert_eq!(
        before.iter().filter_map(|bundle| bundle.claim).collect::<Vec<_>>(),
        [made[0], made[2]]
    );
    assert_eq!(team.bundles_before(1).await.unwrap(), []);
}

async fn a_refused_bundle_opens_its_task(ground: &Ground) {
    let team = ground.team().await;
    let alice = join(&team, "alice", "").await;
    task(&team, "one", &[]).await;
    task(&team, "two", &[1]).await;
    let claim = alice.claim().await.unwrap().unwrap().claim();
    alice.complete(claim, "", Some(b"a")).await.unwrap();
    let number = team.waiting_bundles(9).await.unwrap()[0].number;
    assert_eq!(
        team.refuse_bundle(number, "line 3 has changed").await.unwrap(),
        Some(TaskStatus::Pending)
    );
    let open = team.task(1).await.unwrap();
    assert_eq!((open.status, open.failures, open.owner), (TaskStatus::Pending, 1, None));
    assert!(open.notes.contains("line 3 has changed"));
    assert_eq!(team.task(2).await.unwrap().blocked_by, [1]);
    assert_eq!(team.bundle_content(number).await.unwrap(), b"a", "it is kept");
    assert!(matches!(alice.complete(claim, "", None).await, Err(BoardError::ClaimLost(1))));
    assert!(team.refuse_bundle(number, "").await.is_err());
    let again = alice.claim().await.unwrap().unwrap().claim();
    assert_eq!(alice.complete(again, "", Some(b"b")).await.unwrap(), [2]);
    let before = team.bundles_before(2).await.unwrap();
    assert_eq!(
        (before.len(), before[0].claim, before[0].state),
        (1, Some(again), BundleState::Waiting)
    );
}
