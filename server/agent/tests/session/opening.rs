//! Opening of a session: kept over edits of settings and over processes; made anew where it must be, and then without
//! what was thought before.

use crate::bench::*;
use ropewalk_agent::session::Settings;
use ropewalk_guidance::instructions::Instructions;
use ropewalk_protocol::StopReason;
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
