//! Members, their names and epochs.

use crate::ground::{Ground, join, task};
use ropewalk_board::{Board, BoardError, BoardOptions, BoardPlace, MemberState, NewMember};
use std::time::Duration;

crate::on_both!(
    a_living_name_is_taken,
    a_restart_fences_the_one_before,
    a_member_that_rejoins_keeps_its_task,
    members_are_listed,
);

async fn a_living_name_is_taken(ground: &Ground) {
    let team = ground.team().await;
    let alice = join(&team, "alice", "").await;
    let again = NewMember { name: "alice".to_owned(), ..NewMember::default() };
    assert!(matches!(team.join(&again).await, Err(BoardError::NameTaken(_))));
    alice.set_state(MemberState::Shutdown).await.unwrap();
    assert!(matches!(alice.claim().await, Err(BoardError::Superseded(_))));
    assert_eq!(team.join(&again).await.unwrap().epoch(), 2);
    for name in ["", "a b", "ä", "x/../y", &"x".repeat(33)] {
        let bad = NewMember { name: name.to_owned(), ..NewMember::default() };
        assert!(matches!(team.join(&bad).await, Err(BoardError::BadName(_))), "{name:?}");
    }
    // Of several at once one gets the name.
    let other = ground.team().await;
    let bob = NewMember { name: "bob".to_owned(), ..NewMember::default() };
    let (one, two) = tokio::join!(team.join(&bob), other.join(&bob));
    assert!(one.is_ok() != two.is_ok());
}

async fn a_restart_fences_the_one_before(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let old = join(&ground.fleeting().await, "alice", "").await;
    let claim = old.claim().await.unwrap().unwrap().claim();
    let new = join(&team, "alice", "").await;
    assert_eq!(new.epoch(), 2);
    for refused in [
        old.claim().await.map(drop),
        old.complete(claim, "", None).await.map(drop),
        old.renew().await.map(drop),
        old.send("alice", "message", "x").await.map(drop),
        old.hand_over("", b"x").await.map(drop),
    ] {
        assert!(matches!(refused, Err(BoardError::Superseded(_))), "{refused:?}");
    }
    // The same name with another epoch is no owner: the task comes back by its lease.
    assert_eq!(new.held().await.unwrap(), []);
    assert_eq!(new.claim().await.unwrap().unwrap().attempt, 2);
}

async fn a_member_that_rejoins_keeps_its_task(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let old = join(&team, "alice", "coder").await;
    let claim = old.claim().await.unwrap().unwrap().claim();
    let new = ground.team().await.rejoin("alice", old.epoch(), "here").await.unwrap();
    assert_eq!((new.role(), new.held().await.unwrap()[0].claim()), ("coder", claim));
    assert!(matches!(old.complete(claim, "", None).await, Err(BoardError::Superseded(_))));
    assert!(matches!(
        team.rejoin("alice", old.epoch(), "there").await,
        Err(BoardError::Superseded(_))
    ));
    new.complete(claim, "", None).await.unwrap();
}

async fn members_are_listed(ground: &Ground) {
    let team = ground.team().await;
    let alice = join(&team, "alice", "coder").await;
    join(&ground.fleeting().await, "bob", "").await;
    task(&team, "one", &[]).await;
    alice.claim().await.unwrap().unwrap();
    alice.spend(100, 2).await.unwrap();
    alice.spend(11, 1).await.unwrap();
    let members = team.members().await.unwrap();
    let (a, b) = (&members[0], &members[1]);
    assert_eq!(
        (a.name.as_str(), a.role.as_str(), a.task, a.tokens, a.cents),
        ("alice", "coder", Some(1), 111, 3)
    );
    assert_eq!((a.state, a.is_alive, b.is_alive), (MemberState::Working, true, false));
    alice.set_state(MemberState::Idle).await.unwrap();
    assert_eq!(team.members().await.unwrap()[0].state, MemberState::Idle);
}

#[tokio::test]
async fn a_look_changes_nothing_that_others_would_look_at_again() {
    let ground = Ground::sqlite();
    let options = BoardOptions { lease: Duration::from_secs(36_000), ..BoardOptions::default() };
    let board = Board::open(ground.place.clone(), options).await.unwrap();
    let team = board.team("crew", "s1", "").await.unwrap();
    let alice = join(&team, "alice", "").await;
    let BoardPlace::File(file) = &ground.place else { panic!() };
    let url = format!("sqlite://{}", file.display()).replace(' ', "%20");
    let outside = sqlx::any::AnyPoolOptions::new().max_connections(1).connect(&url).await.unwrap();
    let version = async || {
        let row = sqlx::query("pragma data_version").fetch_one(&outside).await.unwrap();
        sqlx::Row::get::<i64, _>(&row, 0)
    };
    let before = version().await;
    for _ in 0..3 {
        assert!(alice.inbox(10).await.unwrap().is_empty());
        assert!(alice.held().await.unwrap().is_empty());
        assert!(alice.claim().await.unwrap().is_none());
        assert!(alice.renew().await.unwrap().is_empty());
    }
    assert_eq!(version().await, before);
    task(&team, "work", &[]).await;
    assert_ne!(version().await, before);
}
