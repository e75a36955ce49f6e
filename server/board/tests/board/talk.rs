//! Messages, requests, and the signals that go with them.

use crate::ground::{Ground, join, task};
use ropewalk_board::{BoardError, MAX_MESSAGE, MemberState, RequestKind, RequestState};
use std::time::Duration;

crate::on_both!(
    a_message_stays_until_it_is_read,
    hostile_texts_are_kept_as_they_are,
    a_request_is_answered_once,
    the_last_plan_is_that_of_the_member_that_has_the_name_now,
    a_message_wakes_its_receiver,
    a_freed_task_wakes_an_idle_member,
    a_completion_wakes_the_lead,
);

async fn a_message_stays_until_it_is_read(ground: &Ground) {
    let team = ground.team().await;
    let (alice, bob) = (join(&team, "alice", "").await, join(&team, "bob", "").await);
    alice.send("bob", "message", "one").await.unwrap();
    team.post("user", "bob", "message", "two").await.unwrap();
    assert_eq!(bob.broadcast("all").await.unwrap(), ["alice"]);
    for _ in 0..2 {
        let inbox = bob.inbox(20).await.unwrap();
        let told: Vec<_> = inbox.iter().map(|m| (m.from.as_str(), m.body.as_str())).collect();
        assert_eq!(told, [("alice", "one"), ("user", "two")]);
    }
    let first = bob.inbox(1).await.unwrap()[0].number;
    alice.mark_read(&[first]).await.unwrap();
    assert_eq!(bob.inbox(20).await.unwrap().len(), 2, "others don't mark what is not theirs");
    bob.mark_read(&[first]).await.unwrap();
    assert_eq!(bob.inbox(20).await.unwrap()[0].body, "two");
    assert_eq!(alice.inbox(20).await.unwrap()[0].kind, "broadcast");
    assert_eq!(
        alice.send("carol", "message", "x").await.unwrap_err().to_string(),
        "There is no member carol."
    );
}

async fn hostile_texts_are_kept_as_they_are(ground: &Ground) {
    let team = ground.team().await;
    let alice = join(&team, "alice", "").await;
    let hostile = "'; drop table tasks; -- </inbox>\0\u{1F4A3} $1";
    alice.send("alice", "message", hostile).await.unwrap();
    let kept = alice.inbox(9).await.unwrap().remove(0).body;
    assert_eq!(kept, hostile.replace('\0', "\u{fffd}"));
    let large = "x".repeat(MAX_MESSAGE + 1);
    let error = alice.send("alice", "message", &large).await.unwrap_err();
    assert!(matches!(error, BoardError::TooLarge { .. }), "{error}");
}

async fn a_request_is_answered_once(ground: &Ground) {
    let team = ground.team().await;
    let (lead, bob) = (join(&team, "lead", "").await, join(&team, "bob", "").await);
    let plan = bob.ask(RequestKind::Plan, "lead", "1. this").await.unwrap();
    assert_eq!(lead.inbox(9).await.unwrap()[0].request, Some(plan));
    assert_eq!(team.open_requests("lead").await.unwrap()[0].body, "1. this");
    let number = task(&team, "one", &[]).await.number;
    let claim = lead.claim().await.unwrap().unwrap().claim();
    let agenda = lead.agenda(9).await.unwrap();
    assert_eq!((agenda.unread[0].request, agenda.requests[0].id), (Some(plan), plan));
    assert_eq!((agenda.held[0].number, agenda.held[0].claim()), (number, claim));
    assert!(
        matches!(bob.answer(plan, true, "").await, Err(BoardError::NotAnswerable(_))),
        "not its own"
    );
    lead.answer(plan, false, "more tests").await.unwrap();
    assert!(matches!(lead.answer(plan, true, "").await, Err(BoardError::NotAnswerable(_))));
    let request = team.request(plan).await.unwrap();
    assert_eq!((request.state, request.answer.as_str()), (RequestState::Refused, "more tests"));
    let told = bob.inbox(9).await.unwrap().remove(0);
    assert_eq!((told.kind.as_str(), told.body.as_str()), ("plan_response", "refused: more tests"));
    assert_eq!(team.open_requests("lead").await.unwrap(), []);
    assert!(lead.ask(RequestKind::Shutdown, "nobody", "").await.is_err());
}

async fn the_last_plan_is_that_of_the_member_that_has_the_name_now(ground: &Ground) {
    let team = ground.team().await;
    let (lead, bob) = (join(&team, "lead", "").await, join(&team, "bob", "").await);
    assert_eq!(team.last_plan("bob").await.unwrap(), None);
    let first = bob.ask(RequestKind::Plan, "lead", "1. this").await.unwrap();
    lead.ask(RequestKind::Shutdown, "bob", "").await.unwrap();
    assert_eq!(team.last_plan("bob").await.unwrap().unwrap().id, first);
    let bob = team.rejoin("bob", bob.epoch(), "again").await.unwrap();
    assert_eq!(team.last_plan("bob").await.unwrap().unwrap().id, first);
    let second = bob.ask(RequestKind::Plan, "lead", "2. that").await.unwrap();
    lead.answer(second, true, "").await.unwrap();
    let last = team.last_plan("bob").await.unwrap().unwrap();
    assert_eq!((last.id, last.state), (second, RequestState::Approved));
    bob.set_state(MemberState::Shutdown).await.unwrap();
    join(&team, "bob", "").await;
    assert_eq!(team.last_plan("bob").await.unwrap(), None);
    assert_eq!(team.last_plan("lead").await.unwrap(), None);
}

/// Time after which a signal counts as lost. It is never waited for where signals come.
const LOST: Duration = Duration::from_secs(60);

async fn a_message_wakes_its_receiver(ground: &Ground) {
    let team = ground.team().await;
    let (alice, bob) = (join(&team, "alice", "").await, join(&team, "bob", "").await);
    let far = ground.team().await.rejoin("alice", alice.epoch(), "far").await.unwrap();
    let mut watch = bob.watch();
    // Through the process's own signal, and from another connection as from another process. Some signals come for nothing.
    for sender in [&team.rejoin("alice", far.epoch(), "near").await.unwrap(), &far] {
        let number = match sender.send("bob", "message", "x").await {
            Ok(number) => number,
            Err(BoardError::Superseded(_)) => {
                ground.team().await.post("user", "bob", "message", "x").await.unwrap()
            }
            Err(other) => panic!("{other}"),
        };
        let seen = async {
            while bob.inbox(9).await.unwrap().iter().all(|message| message.number != number) {
                watch.changed().await;
            }
        };
        tokio::time::timeout(LOST, seen).await.unwrap();
    }
}

async fn a_freed_task_wakes_an_idle_member(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    task(&team, "two", &[1]).await;
    let (alice, bob) =
        (join(&team, "alice", "").await, join(&ground.team().await, "bob", "").await);
    let one = alice.claim().await.unwrap().unwrap();
    bob.set_state(MemberState::Idle).await.unwrap();
    let mut watch = bob.watch();
    let work = tokio::spawn(async move {
        loop {
            if let Some(task) = bob.claim().await.unwrap() {
                break task.number;
            }
            watch.changed().await;
        }
    });
    alice.complete(one.claim(), "", None).await.unwrap();
    assert_eq!(tokio::time::timeout(LOST, work).await.unwrap().unwrap(), 2);
}

async fn a_completion_wakes_the_lead(ground: &Ground) {
    let team = ground.team().await;
    task(&team, "one", &[]).await;
    let alice = join(&team, "alice", "").await;
    let lead = join(&ground.team().await, "lead", "").await;
    let one = alice.claim().await.unwrap().unwrap();
    let mut watch = lead.watch();
    let told = tokio::spawn(async move {
        while lead.team().counts().await.unwrap().completed == 0 {
            watch.changed().await;
        }
    });
    alice.complete(one.claim(), "", None).await.unwrap();
    tokio::time::timeout(LOST, told).await.unwrap().unwrap();
}
