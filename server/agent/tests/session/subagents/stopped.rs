//! Subagents that are stopped: with the turn, alone, or by a crash. Their changes are dropped, which is said.

use super::{edits, of, tasks, told};
use crate::bench::*;
use ropewalk_protocol::{Event, Op, Prompt, StopReason, ThreadState};

/// One that has edited and speaks on, and the rest of the script.
fn at_work(more: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    let replies = [
        tasks(&[("code", "change a", "Make it two"), ("explore", "look", "Look around")]),
        of("Make it two", edits("one", "two")).text("I edit it."),
        of("Make it two", says("Changed.")).gate(ReplyPlace::Answer, "edited"),
        of("Look around", says("Seen.")).gate(ReplyPlace::Answer, "looking"),
    ];
    let bench = start_kept(replies.into_iter().chain(more));
    bench.file("a.txt", "one\n");
    bench
}

async fn both_work(bench: &Bench) {
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("edited").await;
    bench.model.wait_until_reached("looking").await;
}

#[tokio::test]
async fn one_is_stopped_alone_and_the_others_go_on() {
    let mut bench = at_work([says("Well.").expect_text("I edit it.")]);
    both_work(&bench).await;
    bench.session.send(Op::Interrupt(Some("1.7".to_owned())));
    bench.session.send(Op::Interrupt(Some("1.1".to_owned())));
    let ended = |event: &Event| match event {
        Event::Thread { state: ThreadState::Ended, agent, .. } => Some(agent.clone()),
        _ => None,
    };
    assert_eq!(bench.until(ended).await, "code");
    bench.model.open_gate("looking");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let told = told(&bench);
    let words = "(interrupted by the user)\nThe subagent was stopped, and what it had changed is dropped.\nThe last of \
                 what it had said:\nI edit it.";
    assert_eq!(told[0], words);
    assert!(told[1].starts_with("Seen."), "{told:#?}");
    assert!(bench.session.hunks().is_empty());
    let is_none = |event: &Event| matches!(event, Event::Notice { message, .. } if message == "No such subagent is at work.");
    assert!(bench.seen.iter().any(is_none));
}

#[tokio::test]
async fn interrupted_with_the_turn_all_are_stopped() {
    let mut bench = at_work([says("ok").expect_text("again")]);
    both_work(&bench).await;
    bench.session.send(Op::Interrupt(None));
    assert_eq!(bench.end().await.1, StopReason::Interrupted);
    let told = told(&bench);
    assert!(
        told.len() == 2 && told.iter().all(|told| told.contains("what it had changed is dropped"))
    );
    assert!(bench.session.hunks().is_empty());
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn after_a_crash_it_is_told_and_nothing_starts_again() {
    let bench = at_work([]);
    both_work(&bench).await;
    let left = bench.killed();
    let mut bench = {
        let after = resume(left, [says("ok").expect_text("again")]);
        bench.session.send(Op::Interrupt(None));
        bench.dies().await;
        after
    };
    let told = told(&bench);
    assert!(told[0].contains("Ropewalk ended while this subagent worked"), "{told:#?}");
    assert!(told[0].ends_with("The last of what it had said:\nI edit it."), "{told:#?}");
    assert!(bench.session.hunks().is_empty());
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn after_a_crash_one_whose_work_had_come_back_keeps_its_result() {
    let mut bench = start_kept([
        tasks(&[("code", "first", "Make it two"), ("code", "second", "Make it three")]),
        of("Make it two", edits("one", "two")),
        of("Make it two", says("It is two.")),
        of("Make it three", says("I look.")).gate(ReplyPlace::Answer, "second"),
    ]);
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("second").await;
    bench.until(|event| matches!(event, Event::ToolResult { .. }).then_some(())).await;
    let after = resume(bench.killed(), []);
    bench.session.send(Op::Interrupt(None));
    bench.dies().await;
    let told = told(&after);
    assert!(told[0].starts_with("It is two.") && told[0].contains("changed: a.txt"), "{told:#?}");
    assert!(told[1].contains("what it had changed is dropped"), "{told:#?}");
}
