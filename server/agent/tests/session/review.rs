//! Review beside a running turn, and when changes reach the user's text.

use crate::bench::*;
use ropewalk_protocol::{Event, Mode, Op, Prompt, Selection, StopReason};
use serde_json::json;
use std::sync::atomic::Ordering::SeqCst;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

#[tokio::test]
async fn review_mode_keeps_changes_until_they_are_accepted() {
    let mut bench = start([edit("one", "1"), edit("seven", "7"), says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("go").await;
    assert_eq!(bench.buffer(&uri), TEXT);
    let hunks = bench.session.hunks();
    assert_eq!(hunks.len(), 2);
    bench.session.send(Op::Accept(Selection::Hunks(vec![hunks[0].id.0])));
    // The reject comes after the accept, and means what is left.
    bench.session.send(Op::Reject(Selection::All, None));
    assert_eq!(bench.reviewed().await, ("accept", 1, vec![]));
    assert_eq!(bench.reviewed().await, ("reject", 1, vec![]));
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1"));
    assert_eq!(bench.disk("a.txt"), TEXT, "a file that is open is never written");
    bench.session.send(Op::Undo(Selection::All));
    assert_eq!(bench.reviewed().await, ("undo", 1, vec![]));
    assert_eq!(bench.buffer(&uri), TEXT);
}

#[tokio::test]
async fn a_reject_does_not_overtake_an_accept_that_is_on_its_way() {
    let mut bench = start([edit("one", "1"), edit("seven", "7"), says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("go").await;
    bench.editor.holds.store(true, SeqCst);
    bench.session.send(Op::Accept(Selection::All));
    bench.session.send(Op::Reject(Selection::All, None));
    bench.editor.held.notified().await;
    bench.editor.holds.store(false, SeqCst);
    bench.editor.go.notify_one();
    assert_eq!(bench.reviewed().await, ("accept", 2, vec![]));
    assert_eq!(
        bench.reviewed().await,
        ("reject", 0, vec!["no such change waits for review".to_owned()])
    );
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1").replace("seven", "7"));
}

#[tokio::test]
async fn what_comes_after_an_accept_of_all_was_not_meant() {
    let mut bench =
        start([edit("one", "1"), edit("seven", "7").gate(ReplyPlace::End, "here"), says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.editor.holds.store(true, SeqCst);
    bench.session.send(Op::Accept(Selection::All));
    bench.editor.held.notified().await;
    bench.editor.holds.store(false, SeqCst);
    // The next edit enters the fork while the first is on its way.
    bench.model.open_gate("here");
    bench
        .until(|event| {
            matches!(event, Event::ToolResult { call, .. } if &**call == "call_1_0").then_some(())
        })
        .await;
    bench.editor.go.notify_one();
    assert_eq!(bench.reviewed().await, ("accept", 1, vec![]));
    if !bench.kinds().contains(&"turn_ended".to_owned()) {
        bench.end().await;
    }
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1"));
    assert_eq!(bench.session.hunks().len(), 1);
}

#[tokio::test]
async fn auto_mode_publishes_after_each_call() {
    let mut bench =
        start_with([edit("one", "1"), says("ok").gate(ReplyPlace::Answer, "here")], |settings| {
            settings.mode = Mode::Auto
        });
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1"), "before the model is asked again");
    bench.model.open_gate("here");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert!(bench.session.hunks().is_empty());
}

#[tokio::test]
async fn a_publish_that_failed_is_said_in_the_result() {
    let mut bench = start_with(
        [
            edit("one", "1"),
            says("ok").expect_text("Edited a.txt").expect_text("Not in the user's text yet"),
        ],
        |settings| settings.mode = Mode::Auto,
    );
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    bench.editor.refuses.store(true, SeqCst);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert!(bench.seen.iter().any(
        |e| matches!(e, Event::Notice { message, .. } if message.contains("Not in your text yet"))
    ));
    assert_eq!(bench.session.hunks().len(), 1, "it is still pending");
}

#[tokio::test]
async fn a_mode_chosen_in_mid_turn_counts_from_the_next_call() {
    let mut bench = start([
        edit("one", "1").gate(ReplyPlace::End, "first"),
        edit("two", "2").gate(ReplyPlace::End, "second"),
        says("ok").expect_text("Refused in plan mode"),
    ]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.session.prompt(Prompt::new("go"));
    for (gate, mode) in [("first", Mode::Auto), ("second", Mode::Plan)] {
        bench.model.wait_until_reached(gate).await;
        bench.session.send(Op::Mode(mode));
        bench.until(|event| matches!(event, Event::ModeChanged { .. }).then_some(())).await;
        bench.model.open_gate(gate);
    }
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert_eq!(bench.buffer(&uri), TEXT.replace("one", "1"));
}

#[tokio::test]
async fn hunk_events_are_in_step_with_what_is_pending() {
    let mut bench = start([edit("one", "1"), edit("seven", "7"), says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("go").await;
    let shown = |bench: &Bench| -> Vec<u64> {
        let last = bench.seen.iter().rev().find_map(|event| match event {
            Event::Hunks { hunks } => Some(hunks.iter().map(|hunk| hunk.id).collect()),
            _ => None,
        });
        last.unwrap_or_default()
    };
    let pending = |bench: &Bench| -> Vec<u64> {
        bench.session.hunks().iter().map(|hunk| hunk.id.0).collect()
    };
    assert_eq!(shown(&bench), pending(&bench));
    // The user types above: the hunks stand elsewhere, and that is told once asked for.
    bench.types(&uri, &format!("zero\n{TEXT}"));
    bench.session.moved();
    let lines = bench.until(|event| match event {
        Event::Hunks { hunks } => Some(hunks.iter().map(|hunk| hunk.line).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(lines.await, [1, 7]);
    bench.session.send(Op::Accept(Selection::Turn(1)));
    bench.reviewed().await;
    bench
        .until(|event| matches!(event, Event::Hunks { hunks } if hunks.is_empty()).then_some(()))
        .await;
    assert!(pending(&bench).is_empty());
}

#[tokio::test]
async fn an_edit_does_not_write_over_a_key_that_is_not_shown() {
    let mut bench = start([edit("# old", "# new"), says("ok")]);
    // The text has the key that the scripted model is called with.
    let line = |key: &str, end: &str| format!("k = {key} # {end}\n");
    let text = line("scripted-key", "old");
    bench.file("a.txt", &text);
    let uri = bench.open("a.txt", &text);
    bench.run("go").await;
    let id = bench.session.hunks()[0].id;
    bench.session.send(Op::Edit(id.0, line("[key]", "mine")));
    let (action, done, failed) = bench.reviewed().await;
    assert_eq!((action, done), ("edit", 0));
    assert!(failed[0].contains("a key that is not shown"), "{failed:?}");
    let whole = line("scripted-key", "map[key]");
    bench.session.send(Op::Edit(id.0, whole.clone()));
    assert_eq!(bench.reviewed().await, ("edit", 1, vec![]));
    bench.session.send(Op::Accept(Selection::All));
    assert_eq!(bench.reviewed().await, ("accept", 1, vec![]));
    assert_eq!(bench.buffer(&uri), whole);
}

#[tokio::test]
async fn what_the_disk_has_made_cannot_be_rejected_and_that_is_said() {
    let mut bench = start([edit("one", "1"), says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    // Once compared with the disk, the document is known to be saved.
    bench.workspace.look_at_disks();
    bench.file("a.txt", &TEXT.replace("seven", "disk"));
    bench.run("go").await;
    let hunks = bench.session.hunks();
    let of_disk = hunks.iter().find(|hunk| hunk.new == "disk\n").unwrap();
    bench.session.send(Op::Reject(Selection::Hunks(vec![of_disk.id.0]), None));
    let (action, done, failed) = bench.reviewed().await;
    assert_eq!((action, done), ("reject", 0));
    assert!(
        matches!(&failed[..], [why] if why.starts_with("the file has changed on the disk, which can't be rejected"))
    );
    assert_eq!(bench.session.hunks(), hunks);
    bench.session.send(Op::Reject(Selection::All, None));
    assert_eq!(bench.reviewed().await, ("reject", 1, vec![]));
    assert_eq!((bench.session.hunks(), bench.buffer(&uri)), (vec![], TEXT.to_owned()));
}

#[tokio::test]
async fn a_review_of_nothing_is_said() {
    let mut bench = start([]);
    bench.session.send(Op::Edit(7, "x".into()));
    bench.session.send(Op::Reject(Selection::Hunks(vec![7]), None));
    bench.session.send(Op::Accept(Selection::Hunks(vec![7])));
    assert_eq!(
        bench.reviewed().await,
        ("edit", 0, vec!["no such change of text waits for review".into()])
    );
    assert_eq!(
        bench.reviewed().await,
        ("reject", 0, vec!["no such change waits for review".into()])
    );
    assert_eq!(bench.reviewed().await, ("accept", 0, vec![]));
}
