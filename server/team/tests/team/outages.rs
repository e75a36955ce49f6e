//! Failures of the board amid something: what could not be told is told later, and nothing goes on half begun.

use crate::bench::*;
use ropewalk_board::{Board, BoardOptions, NewMember, Team};
use ropewalk_protocol::{Event, Op};
use sqlx::any::AnyPoolOptions;
use std::time::Duration;

/// One row once alice waits.
pub(crate) const IDLE: &str =
    "select count(*) from members where name = 'alice' and state = 'idle'";

/// Asks the board's file for something, past the board.
pub(crate) async fn sql(bench: &Bench, statement: &'static str) -> Vec<i64> {
    let url = format!("sqlite://{}", bench.board().display());
    let pool = AnyPoolOptions::new().max_connections(1).connect(&url).await.unwrap();
    sqlx::query_scalar(statement).fetch_all(&pool).await.unwrap()
}

/// Waits until the board's file answers so.
pub(crate) async fn until_sql(
    bench: &Bench,
    statement: &'static str,
    is_meant: impl Fn(i64) -> bool,
) {
    let asking = async {
        while !sql(bench, statement).await.first().copied().is_some_and(&is_meant) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let answered = tokio::time::timeout(Duration::from_secs(30), asking).await;
    assert!(answered.is_ok(), "{statement} is not answered as it should be");
}

/// Lets the lead's loop look at the board: it is seen to have shown a message.
async fn let_it_look(bench: &mut Bench, team: &Team, words: &str) {
    team.post("bob", "lead", "message", words).await.unwrap();
    bench.advance(5);
    let is_shown = |one: &ropewalk_protocol::SessionEvent| match &one.event {
        Event::Notice { message, .. } => message.contains(words).then_some(()),
        _ => None,
    };
    bench.until(&format!("{words:?}"), is_shown).await;
}

#[tokio::test]
async fn changes_that_a_rewind_took_back_are_offered_again_once_the_board_can_be_written() {
    let mut replies = vec![calls("spawn_teammate", spawn("alice")), says("It works.")];
    replies.extend(all_of("alice", [edit("one", "ONE"), says("Done.")]));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    bench.hunks(1).await;
    until_sql(&bench, "select count(*) from bundles where state = 'taken'", |count| count == 1)
        .await;
    sql(
        &bench,
        "create trigger away before update on bundles begin select raise(abort, 'away'); end",
    )
    .await;
    bench.send(Op::Rewind(1));
    bench.hunks(0).await;
    let team = bench.team().await;
    for words in ["one look", "another look"] {
        let_it_look(&mut bench, &team, words).await;
    }
    sql(&bench, "drop trigger away").await;
    bench.advance(5);
    bench.hunks(1).await;
}

#[tokio::test]
async fn the_leads_state_is_told_again_if_the_board_did_not_take_it() {
    let mut bench = start([
        calls("task_create", task("Work", &[])),
        says("It waits.").gate(Gate::Answer, "works"),
    ]);
    bench.send(Op::Prompt(ropewalk_protocol::Prompt::new("Go")));
    bench.model.wait_until_reached("works").await;
    bench.member_is("lead", "working").await;
    sql(&bench, "create trigger away before update of state on members when new.state = 'idle' begin select raise(abort, 'away'); end").await;
    bench.model.open_gate("works");
    bench.turn().await;
    for _ in 0..10 {
        bench.advance(5);
        assert_eq!(sql(&bench, "select count(*) from members where state = 'idle'").await, [0]);
    }
    sql(&bench, "drop trigger away").await;
    bench.advance(5);
    bench.member_is("lead", "idle").await;
}

#[tokio::test]
async fn a_team_whose_adoption_fails_is_left_alone_and_can_be_adopted_later() {
    let mut bench = start([]);
    let options = BoardOptions::default();
    let board = Board::open(bench.board().display().to_string().parse().unwrap(), options).await;
    let team = board.unwrap().team("crew", "gone", "w").await.unwrap();
    let bob = NewMember { name: "bob".to_owned(), ..NewMember::default() };
    let bob = team.join(&bob).await.unwrap();
    bob.hand_over("no bundle at all", b"?").await.unwrap();
    sql(
        &bench,
        "create trigger away before update on teams begin select raise(abort, 'away'); end",
    )
    .await;
    assert!(bench.lead.adopt("crew").await.unwrap_err().to_string().contains("away"));
    for _ in 0..10 {
        bench.advance(5);
        assert_eq!(team.waiting_bundles(9).await.unwrap().len(), 1, "it is nobody's yet");
    }
    sql(&bench, "drop trigger away").await;
    bench.lead.adopt("crew").await.unwrap();
    until_sql(&bench, "select count(*) from bundles where state = 'refused'", |count| count == 1)
        .await;
    assert_eq!(team.lead_session().await.unwrap(), "s");
    assert_eq!(bob.inbox(9).await.unwrap().len(), 1, "one loop has refused it, once");
    bench.member_is("lead", "idle").await;
}

#[tokio::test]
async fn a_member_whose_claims_the_board_does_not_take_stays_and_claims_later() {
    let mut replies = vec![
        calls("spawn_teammate", spawn("alice")),
        says("It works."),
        calls("task_create", task("Work", &[])),
        says("It waits."),
    ];
    replies.extend(all_of("alice", [says("Ready."), done(1).expect_text("Task #1: Work")]));
    replies.push(says("Fine.").expect_text("1 completed"));
    let mut bench = start(replies);
    bench.ask("Spawn alice").await;
    bench.ended("alice", 1).await;
    until_sql(&bench, IDLE, |count| count == 1).await;
    sql(&bench, "create trigger away before update of owner on tasks begin select raise(abort, 'away'); end").await;
    bench.ask("Make a task").await;
    for _ in 0..20 {
        bench.advance(5);
        assert_eq!(sql(&bench, IDLE).await, [1], "it stays");
    }
    sql(&bench, "drop trigger away").await;
    bench.advance(5);
    bench.turn().await;
    bench.task_is(1, "completed").await;
}
