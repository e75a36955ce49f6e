//! Words that come while a turn runs: they join it, or wait for it.

use crate::bench::*;
use ropewalk_protocol::{Content, Event, Op, Prompt, StopReason};
use serde_json::json;

#[tokio::test]
async fn a_steer_joins_after_the_results_of_the_step() {
    let mut bench = start([
        calls("list_dir", json!({})).gate(Place::End, "here"),
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
    let mut bench =
        start([says("done").gate(Place::End, "here"), says("that too").expect_text("and that")]);
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
        [says("done").gate(Place::End, "here"), says("that too").expect_text("and that")],
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
        says("one").gate(Place::End, "here"),
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
    let queued: Vec<u64> = bench
        .seen
        .iter()
        .filter_map(|event| match event {
            Event::Queued { turn, .. } => Some(*turn),
            _ => None,
        })
        .collect();
    assert_eq!(queued, [2, 3]);
}
