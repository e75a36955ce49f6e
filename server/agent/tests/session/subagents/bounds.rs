//! Bounds of subagents: what they may not do, and where each ends.

use super::{of, tasks, told};
use crate::bench::*;
use ropewalk_agent::session::Settings;
use ropewalk_guidance::instructions::Instructions;
use ropewalk_model::Protocol;
use ropewalk_protocol::{Event, Mode, StopReason};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

fn reads() -> ScriptedReply {
    calls("read_file", json!({"path": "a.txt"}))
}

/// A subagent that reads twice and then sums up, with a call that is not run.
fn bounded(agent: &str, change: impl FnOnce(&mut Settings), more: Vec<ScriptedReply>) -> Bench {
    let replies = [
        tasks(&[(agent, "look", "Look around")]),
        of("Look around", reads()),
        of("Look around", reads()),
        of(
            "Look around",
            says("So far.").call("write_file", json!({"path": "made", "content": "x"})),
        )
        .expect_text("You have reached your limit"),
    ];
    let bench = start_with(replies.into_iter().chain(more), change);
    bench.file("a.txt", "one\n");
    bench
}

#[tokio::test]
async fn at_its_bound_it_is_asked_once_for_its_summary() {
    let done = || vec![says("Well.")];
    let mut bench = bounded("code", |s| s.limits.mechanisms.subagent_steps = 2, done());
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let words = &told(&bench)[0];
    assert!(words.starts_with("So far.\n\n(code: 2 steps, "), "{words}");
    assert!(words.ends_with("(stopped at 2 steps)"), "{words}");
    assert!(bench.session.hunks().is_empty(), "calls in a summary are not run");
    let mut bench = bounded("code", |s| s.limits.mechanisms.subagent_tokens = 150, done());
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert!(told(&bench)[0].ends_with("(stopped at 150 tokens)"), "{:#?}", told(&bench));
    // A reply takes 110: the one that starts it and two of its own.
    let mut bench = bounded("explore", |s| s.limits.turn_tokens = 330, Vec::new());
    assert_eq!(bench.run("go").await, StopReason::Budget);
    let words = &told(&bench)[0];
    assert!(words.ends_with("(stopped, because the budget is used up)"), "{words}");
}

#[tokio::test]
async fn a_turn_has_so_many_and_long_summaries_are_bounded() {
    let long = "word ".repeat(100);
    let replies = [
        tasks(&[("explore", "one", "Look here"), ("explore", "two", "Look there")]),
        of("Look here", says(&long)),
        says("Well."),
    ];
    let mut bench = start_with(replies, |settings| {
        settings.limits.mechanisms.subagents_per_turn = 1;
        settings.limits.mechanisms.subagents_parallel = 1;
        settings.limits.mechanisms.subagent_result = 200;
    });
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let told = told(&bench);
    assert!(told[0].contains("word") && told[0].len() < 450, "{}", told[0]);
    assert!(told[0].contains("outputs"), "the whole is in a file: {}", told[0]);
    assert!(told[1].contains("no more than 1 subagents start in one turn"), "{}", told[1]);
}

#[tokio::test]
async fn a_model_that_is_gone_is_a_failed_call() {
    let mut bench = start([
        tasks(&[("explore", "look", "Look around"), ("explore", "again", "Look again")]),
        of("Look around", ScriptedReply::refusal(400, "invalid_request_error", "gone")),
        of("Look again", says("  ").stop(ropewalk_model::ModelStop::EndTurn)),
        of("Look again", says("  ")),
        says("Well."),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let told = bench.results();
    assert!(told[0].1 && told[0].0.contains("could not go on"), "{told:#?}");
    assert!(!told[1].1 && told[1].0.starts_with("(no summary)"), "{told:#?}");
}

#[tokio::test]
async fn none_starts_another_and_in_mode_plan_none_implements() {
    let replies = [
        tasks(&[("explore", "look", "Look around"), ("code", "do", "Do it"), ("test", "x", "y")]),
        of("Look around", tasks(&[("explore", "nested", "Nested")])),
        of("Look around", says("Alone.")).expect_text("Unknown tool: task"),
        says("Well."),
    ];
    let mut bench = start_with(replies, |settings| settings.mode = Mode::Plan);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let told = told(&bench);
    assert!(told[0].starts_with("Alone."), "{told:#?}");
    assert!(told[1].contains("the mode is plan"), "{told:#?}");
    assert!(told[2].contains("the types are: explore, plan, code"), "{told:#?}");
}

#[tokio::test]
async fn each_has_the_instructions_of_the_repository() {
    let replies = [
        tasks(&[("explore", "look", "Look around"), ("plan", "plan", "Plan it")]),
        of("Look around", says("Seen.")),
        of("Plan it", says("1. Do it.")),
        says("Well."),
    ];
    let mut bench = start_with(replies, |settings| {
        let told = |file: &str, text: &str, is_users| {
            let (file, text) = (file.to_owned(), text.to_owned());
            Instructions { file, text, is_users }
        };
        settings.facts.instructions =
            vec![told("~/AGENTS.md", "Be brief", true), told("AGENTS.md", "Use tabs", false)];
        settings.facts.append = Some("Be kind.".into());
    });
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    for request in bench.model.recorded() {
        let system = request.said["system"].to_string();
        assert!(
            system.contains("Use tabs")
                && system.contains("Be kind.")
                && system.contains("Be brief"),
            "{system}"
        );
    }
}

#[tokio::test]
async fn it_compacts_and_still_knows_who_it_is() {
    let next = AtomicUsize::new(0);
    let make = move |said: &Value| {
        let last = said["messages"].as_array().and_then(|all| all.last()).cloned();
        if last.unwrap_or_default().to_string().contains("<compaction>") {
            return says("**Goal**: read.\n**Next**: the next file.");
        }
        match next.fetch_add(1, Ordering::SeqCst) {
            at if at < 25 => calls("read_file", json!({ "path": format!("{at}.txt") })),
            _ => says("All read."),
        }
    };
    let own = ScriptedReply::from_fn(make).by_beginning().forever().when("Read them all");
    let todos = json!({"todos": [{"content": "Deploy it all", "status": "in_progress"}]});
    let replies = [
        calls("todo_write", todos),
        tasks(&[("explore", "read", "Read them all")]),
        own,
        says("Done.").expect_text("All read."),
    ];
    let context = CountedContext { tokens: 8_192, overflow: Overflow::Refuse };
    let mut bench = start_counting(Protocol::Anthropic, replies, (context, true), |settings| {
        settings.mechanisms.check = false;
    });
    for at in 0..25 {
        bench.file(&format!("{at}.txt"), &format!("line of {at}\n").repeat(150));
    }
    assert_eq!(bench.run("go").await, StopReason::EndTurn, "{:#?}", bench.seen.last());
    let is_compacted = |(_, event): &(String, Event)| matches!(event, Event::Compacted { .. });
    assert!(bench.of_threads.iter().any(is_compacted));
    let requests = bench.model.recorded();
    let with_identity = requests.iter().filter(|request| {
        let first = request.said["messages"][0].to_string();
        first.contains("<identity>") && first.contains("You are an explore subagent")
    });
    let own: Vec<String> =
        with_identity.map(|request| request.said["messages"][0].to_string()).collect();
    assert!(!own.is_empty() && own.iter().all(|first| !first.contains("Deploy it all")), "{own:?}");
    assert!(bench.model.counted().iter().all(|request| !request.is_over));
}
