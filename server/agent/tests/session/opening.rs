//! Opening of a session: kept over edits of settings and over processes; made anew where it must be, and then without
//! what was thought before.

use crate::bench::*;
use ropewalk_agent::session::Settings;
use ropewalk_guidance::instructions::Instructions;
use ropewalk_protocol::{Event, Op, StopReason};
use serde_json::{Value, json};

type Edit = fn(&mut Settings);

/// Edits of settings that a new opening would show, each with words that the model is told of it.
const EDITS: &[(Edit, &str)] = &[
    (|settings| settings.facts.date = "2026-02-01".to_owned(), ""),
    (|settings| settings.facts.headless = true, ""),
    (|settings| settings.facts.append = Some("Use tabs.".to_owned()), "Use tabs."),
    (|settings| settings.facts.replace = Some("Be a pirate.".to_owned()), "Be a pirate."),
    (|settings| settings.facts.instructions = vec![repositorys("Use spaces.")], "Use spaces."),
    (|settings| settings.tools = Some(vec!["bash".to_owned()]), "Switched off: list_dir"),
    (|settings| settings.mechanisms.todos = false, "Switched off: todo_write"),
];

fn repositorys(text: &str) -> Instructions {
    Instructions { file: "AGENTS.md".to_owned(), text: text.to_owned(), is_users: false }
}

fn thinks() -> ScriptedReply {
    reply().thinking("a thought", "sealed").forget_thinking().call("list_dir", json!({}))
}

/// The system prompt and the tools of a request.
fn opening(request: &Value) -> (Value, Value) {
    (request["system"].clone(), request["tools"].clone())
}

#[tokio::test]
async fn edits_in_a_session_are_told_and_change_no_byte_of_it() {
    for (edit, words) in EDITS {
        let mut bench = start([thinks(), says("ok"), says("ok").expect_text(*words), says("ok")]);
        bench.run("one").await;
        let mut new = settings(client(&bench.model));
        edit(&mut new);
        bench.session.configure(new);
        assert_eq!(bench.run("two").await, StopReason::EndTurn);
        assert_eq!(bench.run("three").await, StopReason::EndTurn);
        let requests = bench.model.requests();
        assert_eq!(opening(&requests[2]), opening(&requests[0]), "{words}");
        assert!(requests[2].to_string().contains("a thought"), "{words}");
        if !words.is_empty() {
            let last = requests[3].to_string();
            assert_eq!(last.matches(words).count(), 1, "it is told once: {last}");
        }
    }
}

#[tokio::test]
async fn a_session_that_goes_on_has_the_opening_that_it_had() {
    for (edit, words) in EDITS {
        let mut bench = start_kept([thinks(), says("ok")]);
        bench.run("one").await;
        let before = bench.model.requests();
        let replies = [says("ok").expect_text(*words), says("ok")];
        let mut bench = resume_with(bench.dies().await, replies, edit);
        assert_eq!(bench.run("two").await, StopReason::EndTurn);
        assert_eq!(bench.run("three").await, StopReason::EndTurn);
        let requests = bench.model.requests();
        for request in &requests {
            assert_eq!(opening(request), opening(&before[0]), "{words}");
            assert!(request.to_string().contains("a thought"), "{words}");
        }
    }
}

#[tokio::test]
async fn a_tool_that_is_switched_off_is_refused_until_it_is_on_again() {
    let mut bench = start([
        says("ok"),
        calls("list_dir", json!({})).expect_text("Switched off: list_dir"),
        says("ok").expect_text("Unknown tool: list_dir"),
        calls("list_dir", json!({})).expect_text("Switched on again: list_dir"),
        says("ok"),
    ]);
    bench.run("one").await;
    let mut alone = settings(client(&bench.model));
    alone.tools = Some(vec!["bash".to_owned()]);
    bench.session.configure(alone);
    bench.run("two").await;
    bench.session.configure(settings(client(&bench.model)));
    assert_eq!(bench.run("three").await, StopReason::EndTurn);
    let failed: Vec<bool> = bench.results().iter().map(|(_, is_error)| *is_error).collect();
    assert_eq!(failed, [true, false]);
}

#[tokio::test]
async fn a_change_that_was_told_and_is_taken_back_over_a_restart_is_told_too() {
    for (edit, words) in EDITS.iter().filter(|(_, words)| !words.is_empty()) {
        let mut bench = start_kept([says("ok"), says("ok").expect_text(*words), says("ok")]);
        bench.run("one").await;
        let mut new = settings(client(&bench.model));
        edit(&mut new);
        bench.session.configure(new);
        bench.run("two").await;
        // Words of a turn that is taken back are not known.
        bench.run("three").await;
        bench.session.send(Op::Rewind(2));
        bench.until(|event| matches!(event, Event::Rewound { .. }).then_some(())).await;
        let replies = [says("ok").expect_text(*words), says("ok")];
        let mut bench = resume_with(bench.dies().await, replies, edit);
        bench.run("two again").await;
        bench.run("three again").await;
        let back = match words.strip_prefix("Switched off") {
            Some(tool) => format!("Switched on again{tool}"),
            None => "hold no longer".to_owned(),
        };
        let replies = [says("ok").expect_text(&back), says("ok")];
        let mut bench = resume_with(bench.dies().await, replies, |_| {});
        assert_eq!(bench.run("four").await, StopReason::EndTurn, "{words}");
        assert_eq!(bench.run("five").await, StopReason::EndTurn, "{words}");
        let last = bench.model.requests().pop().unwrap().to_string();
        assert_eq!(last.matches(&back).count(), 1, "it is told once: {last}");
    }
}

#[tokio::test]
async fn the_user_hears_once_of_a_tool_that_the_model_does_not_have_yet() {
    let alone = |settings: &mut Settings| settings.tools = Some(vec!["bash".to_owned()]);
    let told = |bench: &Bench| {
        let is_told = |event: &&Event| matches!(event, Event::Notice { message, .. } if message.contains("list_dir"));
        bench.seen.iter().filter(is_told).count()
    };
    let mut bench = start_kept([says("ok")]);
    bench.run("one").await;
    assert_eq!(told(&bench), 0, "the model has all");
    let mut bench = start_kept([says("ok"), says("ok"), says("ok")]);
    let mut new = settings(client(&bench.model));
    alone(&mut new);
    bench.session.configure(new);
    bench.run("one").await;
    bench.session.configure(settings(client(&bench.model)));
    bench.run("two").await;
    bench.run("three").await;
    assert_eq!(told(&bench), 1);
    let mut bench = resume_with(bench.dies().await, [says("ok")], |_| {});
    bench.run("four").await;
    assert_eq!(told(&bench), 0, "it was told before the restart");
}
