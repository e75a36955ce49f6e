//! News for the model: what happened to its changes reaches it once, with the next message.

use crate::bench::*;
use ropewalk_protocol::{Event, Mode, Op, Prompt, Selection, SessionEvent, StopReason};
use serde_json::json;
use std::sync::atomic::Ordering::SeqCst;
use tokio::sync::mpsc;

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

/// Waits for the end of a turn of another session.
async fn ended(events: &mut mpsc::UnboundedReceiver<SessionEvent>) {
    while !matches!(events.recv().await.unwrap().event, Event::TurnEnded { .. }) {}
}

#[tokio::test]
async fn a_rejection_comes_with_its_reason_and_only_once() {
    let mut bench = start([
        edit("one", "1"),
        says("ok"),
        says("ok")
            .expect_text("rejected a change in a.txt")
            .expect_text("Their reason: words, please"),
        says("ok").expect_no_text("rejected"),
    ]);
    bench.file("a.txt", "one\n");
    bench.run("go").await;
    bench.session.send(Op::Reject(Selection::All, Some("words, please".into())));
    assert_eq!(bench.reviewed().await, ("reject", 1, vec![]));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    assert_eq!(bench.run("and again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_rejection_while_the_turn_runs_stands_behind_the_results() {
    let mut bench = start([
        edit("one", "1"),
        calls("list_dir", json!({})).gate(ReplyPlace::End, "here"),
        says("ok").expect_text("rejected a change"),
    ]);
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.session.send(Op::Reject(Selection::All, None));
    bench.reviewed().await;
    bench.model.open_gate("here");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn the_users_version_of_a_hunk_is_told_and_stands() {
    let mut bench = start([
        edit("one", "1"),
        says("ok"),
        calls("read_file", json!({"path": "a.txt"}))
            .expect_text("The user edited one of your")
            .expect_text("uno"),
        says("ok").expect_text("uno"),
    ]);
    bench.file("a.txt", "one\n");
    bench.run("go").await;
    let hunk = bench.session.hunks()[0].id;
    bench.session.send(Op::Edit(hunk.0, "uno\n".into()));
    assert_eq!(bench.reviewed().await, ("edit", 1, vec![]));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_conflict_is_told() {
    let mut bench = start([
        edit("one", "1"),
        says("ok"),
        says("ok").expect_text("Conflict in a.txt").expect_text("mine"),
        says("ok").expect_no_text("Conflict"),
    ]);
    bench.file("a.txt", "one\n");
    let uri = bench.open("a.txt", "one\n");
    bench.run("go").await;
    bench.types(&uri, "mine\n");
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    assert_eq!(bench.run("and again").await, StopReason::EndTurn);
    assert_eq!(bench.buffer(&uri), "mine\n");
}

#[tokio::test]
async fn the_users_own_undo_is_told() {
    let mut bench = start_with(
        [
            edit("one", "1"),
            says("ok"),
            says("ok").expect_text("The user undid a change of yours in a.txt"),
        ],
        |settings| settings.mode = Mode::Auto,
    );
    bench.file("a.txt", "one\ntwo\nthree\n");
    let uri = bench.open("a.txt", "one\ntwo\nthree\n");
    bench.run("go").await;
    assert_eq!(bench.buffer(&uri), "1\ntwo\nthree\n");
    bench.types(&uri, "one\ntwo\nthree\n");
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_conflict_with_the_disk_is_told_once() {
    let mut bench = start([
        says("ok"),
        calls("list_dir", json!({}))
            .expect_text("a.txt has unsaved text in the editor and was changed on the disk too"),
        says("ok").expect_no_text("changed on the disk"),
    ]);
    bench.file("a.txt", "one\n");
    bench.open("a.txt", "typed\n");
    bench.run("look").await;
    bench.file("a.txt", "another program's\n");
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn every_session_hears_of_a_conflict_with_the_disk_once() {
    let words = "a.txt has unsaved text in the editor and was changed on the disk too";
    let mut bench = start([
        says("ok"),
        says("ok").expect_text(words),
        says("ok").conversation("other").expect_text(words),
        says("ok").conversation("late").expect_no_text(words),
    ]);
    let (other, mut events) = bench.another("t");
    bench.file("a.txt", "one\n");
    bench.open("a.txt", "typed\n");
    bench.run("look").await;
    bench.file("a.txt", "another program's\n");
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    other.prompt(Prompt::new("hello"));
    ended(&mut events).await;
    let (late, mut events) = bench.another("u");
    late.prompt(Prompt::new("good evening"));
    ended(&mut events).await;
}

#[tokio::test]
async fn sessions_hear_of_their_own_changes() {
    let mut bench = start([
        edit("one", "1"),
        says("ok"),
        says("ok").conversation("other").expect_no_text("rejected"),
        says("ok").expect_text("rejected a change"),
    ]);
    bench.file("a.txt", "one\n");
    bench.run("go").await;
    bench.session.send(Op::Reject(Selection::All, None));
    bench.reviewed().await;
    let (other, mut events) = bench.another("t");
    other.prompt(Prompt::new("hello"));
    ended(&mut events).await;
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn news_are_not_lost_to_a_turn_that_has_no_model() {
    let mut bench = start([edit("one", "1"), says("ok"), says("ok").expect_text("rejected")]);
    bench.file("a.txt", "one\n");
    bench.run("go").await;
    bench.session.send(Op::Reject(Selection::All, None));
    bench.reviewed().await;
    let mut none = settings(client(&bench.model));
    none.model = Err("Set up a model.".into());
    bench.session.configure(none);
    assert_eq!(bench.run("again").await, StopReason::Error);
    bench.session.speak_to(client(&bench.model));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_failed_publish_is_told_once() {
    let failed = "the editor did not make the edit";
    let mut bench = start_with(
        [
            edit("one", "1"),
            says("ok").expect_text(failed).expect_no_text("<news>"),
            says("ok").expect_no_text("<news>"),
            // An accepted change has no result to be told of in.
            says("ok").expect_text("<news>").expect_text(failed),
            says("ok").expect_no_text("<news>"),
        ],
        |settings| settings.mode = Mode::Auto,
    );
    bench.file("a.txt", "one\n");
    bench.open("a.txt", "one\n");
    bench.editor.refuses.store(true, SeqCst);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(bench.run("and?").await, StopReason::EndTurn);
    bench.session.send(Op::Accept(Selection::All));
    assert_eq!(bench.reviewed().await.1, 0);
    assert_eq!(bench.run("and now?").await, StopReason::EndTurn);
    assert_eq!(bench.run("and then?").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_publish_that_fails_after_an_interrupt_is_told_with_the_next_message() {
    let mut bench = start_with(
        [edit("one", "1"), says("ok").expect_text("<news>").expect_text("did not make an edit")],
        |settings| settings.mode = Mode::Auto,
    );
    bench.file("a.txt", "one\n");
    bench.open("a.txt", "one\n");
    bench.editor.refuses.store(true, SeqCst);
    bench.editor.holds.store(true, SeqCst);
    bench.session.prompt(Prompt::new("go"));
    bench.editor.held.notified().await;
    bench.session.send(Op::Interrupt(None));
    assert_eq!(bench.end().await.1, StopReason::Interrupted);
    bench.editor.holds.store(false, SeqCst);
    bench.editor.go.notify_one();
    // It is pending again when the editor's no has come.
    bench
        .until(|event| matches!(event, Event::Hunks { hunks } if !hunks.is_empty()).then_some(()))
        .await;
    assert_eq!(bench.run("and?").await, StopReason::EndTurn);
}
