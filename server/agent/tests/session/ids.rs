//! Ids of messages: given when a step starts, and the same in deltas, journal, history and export.

use crate::bench::*;
use ropewalk_protocol::{Event, MessageId, StopReason};
use serde_json::json;

/// The ids that the steps have given, and those of the words that came with them.
fn told(bench: &Bench) -> (Vec<MessageId>, Vec<MessageId>) {
    let steps = bench.seen.iter().filter_map(|event| match event {
        Event::StepStarted { message, .. } => Some(message.clone()),
        _ => None,
    });
    let words = bench.seen.iter().filter_map(|event| match event {
        Event::TextDelta { message, .. } | Event::ThinkingDelta { message, .. } => {
            Some(message.clone())
        }
        _ => None,
    });
    let mut words: Vec<MessageId> = words.collect();
    words.dedup();
    (steps.collect(), words)
}

#[tokio::test]
async fn a_message_has_one_id_everywhere_and_no_other_has_it() {
    let mut bench = start_kept([
        reply().thinking("Hm.", "sealed").text("Looking.").call("list_dir", json!({})),
        says("Looked."),
        says("Again."),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    let (steps, words) = told(&bench);
    assert_eq!(steps.len(), 3);
    assert_eq!(words, steps);
    let dir = bench.dies().await;
    let (_, past) = sessions(&dir).open("s").unwrap();
    let kept = past.message_ids();
    assert_eq!(kept.iter().flatten().cloned().collect::<Vec<_>>(), steps);
    assert!(kept.iter().step_by(2).all(Option::is_none), "the user's side has none: {kept:?}");
    let page = sessions(&dir).export("s").unwrap();
    for id in &steps {
        assert_eq!(page.matches(&format!("<a id=\"{id}\"></a>")).count(), 1, "{page}");
    }
    // Numbers of turns are not given again, so ids are not either.
    let mut again = resume(dir, [says("More.")]);
    assert_eq!(again.run("more").await, StopReason::EndTurn);
    assert!(told(&again).0.iter().all(|id| !steps.contains(id)));
}
