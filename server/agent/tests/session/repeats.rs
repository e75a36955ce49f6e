//! The same call with the same result, again and again: the model is told, then the turn ends.

use crate::bench::*;
use ropewalk_protocol::{Event, Op, Prompt, StopReason};
use serde_json::json;

const TOLD: &str = "(This call has given the same result 3 times";

fn look() -> ScriptedReply {
    calls("list_dir", json!({}))
}

fn find(pattern: &str) -> ScriptedReply {
    calls("glob", json!({ "pattern": pattern }))
}

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

/// How a turn with these replies ends, and which of its results had a word on that, from one.
async fn ends(replies: Vec<ScriptedReply>) -> (StopReason, String, Vec<usize>) {
    let mut bench = start_allowing(replies);
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    let results = bench.results();
    let told = (1..).zip(&results).filter(|(_, (text, _))| text.contains(TOLD));
    let told = told.map(|(number, _)| number).collect();
    (stop, message.unwrap_or_default(), told)
}

#[tokio::test]
async fn the_model_is_told_at_the_third_time_and_the_turn_ends_at_the_sixth() {
    let (stop, message, told) = ends(vec![look(); 6]).await;
    assert_eq!((stop, told), (StopReason::Error, vec![3]));
    assert!(message.contains("the same call 6 times"), "{message}");
}

#[tokio::test]
async fn so_it_is_with_two_calls_in_turns() {
    let replies = (0..12).map(|n| if n % 2 == 0 { look() } else { find("*.txt") }).collect();
    let (stop, message, told) = ends(replies).await;
    // The second was new after the first.
    assert_eq!((stop, told), (StopReason::Error, vec![6, 7]));
    assert!(message.contains("the same call 6 times"), "{message}");
}

#[tokio::test]
async fn a_result_that_is_new_begins_the_count_anew() {
    let mut replies = vec![look(), look()];
    for (old, new) in [("one", "two"), ("two", "three"), ("three", "four")] {
        replies.extend([edit(old, new), look(), look()]);
    }
    replies.push(says("done"));
    assert_eq!(ends(replies).await, (StopReason::EndTurn, String::new(), vec![]));
}

#[tokio::test]
async fn calls_of_one_message_count_once_and_the_background_is_aside() {
    let thrice = || look().call("list_dir", json!({})).call("list_dir", json!({}));
    let (stop, _, told) = ends(vec![thrice(), thrice(), says("done")]).await;
    assert_eq!((stop, told), (StopReason::EndTurn, vec![]));
    let mut bench = start_with_tool(
        ropewalk_model::Protocol::Anthropic,
        std::iter::repeat_n(calls("check_background", json!({})), 8).chain([says("done")]),
        ropewalk_agent::tools::check_background::CheckBackground::new(std::sync::Arc::new(
            ropewalk_tools::NoCommands,
        )),
        |_| {},
    );
    assert_eq!(bench.run("wait").await, StopReason::EndTurn);
    assert!(bench.results().iter().all(|(text, _)| !text.contains(TOLD)));
}

#[tokio::test]
async fn sleep_is_no_repeat_while_a_command_runs_in_the_background() {
    let sleeps = || bash("sleep 0.01");
    let background = json!({"command": "until [ -e go ]; do sleep 0.02; done", "background": true});
    let waits = [calls("bash", background)].into_iter().chain((0..7).map(|_| sleeps()));
    let (stop, message, told) = ends(waits.chain([says("done")]).collect()).await;
    assert_eq!((stop, told), (StopReason::EndTurn, vec![]), "{message}");
    let (stop, _, told) = ends((0..6).map(|_| sleeps()).collect()).await;
    assert_eq!((stop, told), (StopReason::Error, vec![3]), "nothing runs");
}

#[tokio::test]
async fn what_is_read_again_behind_a_compaction_is_no_repeat() {
    let summary = says("**Goal**: to look on.").conversation("question");
    let after = || look().conversation("after");
    let before = [look(), look().gate(ReplyPlace::End, "here")];
    let replies =
        before.into_iter().chain([summary, after(), after(), says("done").conversation("after")]);
    let mut bench = start(replies);
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.session.send(Op::Compact(None));
    bench.model.open_gate("here");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert!(bench.seen.iter().any(|event| matches!(event, Event::Compacted { .. })));
    assert!(bench.results().iter().all(|(text, _)| !text.contains(TOLD)));
}

#[tokio::test]
async fn failures_have_their_own_bound() {
    let fails = || bash("echo no; exit 2");
    let (stop, message, told) = ends(vec![fails(); 3]).await;
    assert_eq!((stop, told), (StopReason::Error, vec![]));
    assert!(message.contains("same failing call 3 times"), "{message}");
}
