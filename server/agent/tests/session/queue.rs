//! Words that come while a turn runs: they join it, or wait for it.

use crate::bench::*;
use ropewalk_protocol::{Content, Event, Op, Prompt, StopReason};
use serde_json::json;

#[tokio::test]
async fn a_steer_joins_after_the_results_of_the_step() {
    let mut bench = start([
        calls("list_dir", json!({})).gate(ReplyPlace::End, "here"),
        says("ok").expect_text("only tests").expect(|body| {
            let last = body["messages"][2]["content"].as_array().unwrap();
            let kinds: Vec<_> = last.iter().map(|b| b["type"].as_str().unwrap()).collect();
            if kinds == ["tool_result", "text"] { Ok(()) } else { Err(format!("{kinds:?}")) }
        }),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.session.send(Op::Steer(vec![Content::text("only tests")]));
    bench.model.open_gate("here");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert!(bench.kinds().contains(&"steered".to_owned()));
}

#[tokio::test]
async fn a_steer_during_the_last_step_starts_another() {
    let mut bench = start([
        says("done").gate(ReplyPlace::End, "here"),
        says("that too").expect_text("and that"),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.session.send(Op::Steer(vec![Content::text("and that")]));
    bench.model.open_gate("here");
    assert_eq!(bench.end().await, (1, StopReason::EndTurn, None));
    assert_eq!(bench.model.requests().len(), 2);
}

#[tokio::test]
async fn a_steer_at_the_bound_for_steps_is_not_lost() {
    let mut bench = start_with(
        [says("done").gate(ReplyPlace::End, "here"), says("that too").expect_text("and that")],
        |settings| settings.limits.steps = 1,
    );
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.session.send(Op::Steer(vec![Content::text("and that")]));
    bench.model.open_gate("here");
    assert_eq!(bench.end().await, (1, StopReason::EndTurn, None));
    assert_eq!(bench.end().await, (2, StopReason::EndTurn, None));
}

#[tokio::test]
async fn a_steer_with_no_turn_running_starts_one() {
    let mut bench = start([says("ok").expect_text("hello"), says("ok")]);
    bench.session.send(Op::Steer(vec![Content::text("hello")]));
    assert_eq!(bench.end().await, (1, StopReason::EndTurn, None));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn prompts_wait_for_the_running_turn_in_order() {
    let mut bench = start([
        says("one").gate(ReplyPlace::End, "here"),
        says("two").expect_text("second"),
        says("three").expect_text("third"),
    ]);
    let turns: Vec<u64> =
        ["first", "second", "third"].map(|text| bench.session.prompt(Prompt::new(text))).into();
    assert_eq!(turns, [1, 2, 3]);
    bench.model.wait_until_reached("here").await;
    bench.model.open_gate("here");
    for turn in turns {
        assert_eq!(bench.end().await, (turn, StopReason::EndTurn, None));
    }
    assert_eq!(queued(&bench), [2, 3]);
}

/// The turns that were told to wait.
fn queued(bench: &Bench) -> Vec<u64> {
    let turns = bench.seen.iter().filter_map(|event| match event {
        Event::Queued { turn, .. } => Some(*turn),
        _ => None,
    });
    turns.collect()
}

#[tokio::test]
async fn words_that_come_during_a_compaction_all_wait_and_survive_a_crash() {
    let mut bench = start_kept([
        says("First."),
        says("Summary.").conversation("question").gate(ReplyPlace::Block(0), "summary"),
        says("ok").conversation("after").gate(ReplyPlace::Answer, "steered"),
    ]);
    bench.run("first wish").await;
    bench.session.send(Op::Compact(None));
    bench.model.wait_until_reached("summary").await;
    bench.session.prompt(Prompt::new("queued words"));
    bench.session.send(Op::Steer(vec![Content::text("steered words")]));
    // Ops are taken in order, so its answer means that the others were taken.
    bench.session.send(Op::Interrupt(Some("9.9".to_owned())));
    let is_answer = |event: &Event| matches!(event, Event::Notice { message, .. } if message.contains("No such subagent"));
    bench.until(|event| is_answer(event).then_some(())).await;
    assert_eq!(queued(&bench), [2, 3]);
    let waiting = |bench: &Bench| sessions(&bench.killed()).open("s").unwrap().1.waiting;
    assert_eq!(waiting(&bench), ["queued words", "steered words"]);
    bench.model.open_gate("summary");
    bench.model.wait_until_reached("steered").await;
    assert_eq!(waiting(&bench), ["queued words"], "the turn began with the others");
}
