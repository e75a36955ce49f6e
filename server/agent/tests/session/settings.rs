//! Settings that may change while a session lives, and the one thing that must not: the prefix of a
//! request.

use crate::bench::*;
use ropewalk_model::{Http, Model, ServerModel};
use ropewalk_protocol::{Content, Event, Prompt, StopReason};
use serde_json::{Value, json};
use std::sync::Arc;

/// The same server under another model's name.
fn another(server: &ScriptedModel) -> Arc<dyn Model> {
    let mut config = server.config();
    config.model = "another".into();
    Arc::new(ServerModel::new(config, Http::new()).unwrap())
}

fn no_thinking(body: &Value) -> Result<(), String> {
    let text = body.to_string();
    if text.contains("\"thinking\"") { Err(text) } else { Ok(()) }
}

#[tokio::test]
async fn another_model_reads_the_history_without_the_thinking() {
    let thinks = || reply().thinking("secret thought", "sealed").forget_thinking();
    let mut bench = start([
        thinks().call("list_dir", json!({})),
        thinks().text("so"),
        says("ok").conversation("b").expect(no_thinking),
    ]);
    bench.run("go").await;
    assert!(
        bench.model.recorded()[1].raw.contains("secret thought"),
        "the same model gets it back"
    );
    bench.session.speak_to(another(&bench.model));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    assert_eq!(bench.session.model().unwrap(), "anthropic/another");
    assert_eq!(bench.model.requests()[2]["model"], "another");
}

#[tokio::test]
async fn a_model_chosen_in_mid_stream_answers_from_the_next_step_on() {
    let mut bench = start([
        reply()
            .thinking("secret thought", "sealed")
            .forget_thinking()
            .gate(ReplyPlace::Block(1), "here")
            .call("list_dir", json!({})),
        says("ok").conversation("b").expect(no_thinking),
        says("ok").conversation("b"),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.session.speak_to(another(&bench.model));
    bench.until(|event| matches!(event, Event::ModelChanged { .. }).then_some(())).await;
    bench.model.open_gate("here");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert_eq!(bench.model.requests()[1]["model"], "another");
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_model_that_is_lost_in_mid_turn_ends_it_with_all_that_was_said() {
    let mut bench = start([
        calls("list_dir", json!({})).gate(ReplyPlace::End, "here"),
        says("ok").expect_text("cut off by an error").expect_text("again"),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    let mut none = settings(client(&bench.model));
    none.model = Err("Set up a model.".into());
    none.mode = ropewalk_protocol::Mode::Plan;
    bench.session.configure(none);
    bench.until(|event| matches!(event, Event::ModeChanged { .. }).then_some(())).await;
    bench.model.open_gate("here");
    let (_, stop, message) = bench.end().await;
    assert_eq!((stop, message.as_deref()), (StopReason::Error, Some("Set up a model.")));
    bench.session.speak_to(client(&bench.model));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    assert_eq!(bench.results().len(), 1);
}

#[tokio::test]
async fn a_tool_that_is_switched_off_is_gone_from_request_and_prompt() {
    let says_so = |body: &Value| {
        let said = body["system"].to_string();
        said.contains("Prefer the file tools") && said.contains("private copy")
    };
    let mut bench = start([says("ok")]);
    bench.run("go").await;
    assert!(says_so(&bench.model.requests()[0]));
    let replies = [
        calls("read_file", json!({"path": "a"})),
        says("ok").expect_text("Unknown tool: read_file. The tools are: bash"),
    ];
    let mut bench = start_with(replies, |settings| settings.tools = Some(vec!["bash".to_owned()]));
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let request = &bench.model.requests()[0];
    let names: Vec<&Value> =
        request["tools"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["bash"]);
    assert!(!says_so(request));
}

#[tokio::test]
async fn the_users_own_system_prompt_replaces_ours() {
    for (replace, append, expected) in [
        (Some("Be a pirate."), None, "Be a pirate."),
        (Some("Be a pirate."), Some("Arr."), "Be a pirate.\nArr."),
    ] {
        let mut bench = start_with([says("ok")], |settings| {
            settings.facts.replace = replace.map(str::to_owned);
            settings.facts.append = append.map(str::to_owned);
        });
        bench.run("go").await;
        assert_eq!(bench.model.requests()[0]["system"][0]["text"], expected);
    }
    let mut bench = start_with([says("ok")], |s| s.facts.append = Some("Use tabs.".into()));
    bench.run("go").await;
    let system = bench.model.requests()[0]["system"][0]["text"].as_str().unwrap().to_owned();
    assert!(system.starts_with("You are a coding agent") && system.ends_with("\nUse tabs."));
    // An empty prompt is none.
    let mut bench =
        start_with([says("ok")], |settings| settings.facts.replace = Some(String::new()));
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert!(bench.model.requests()[0].get("system").is_none());
}

#[tokio::test]
async fn the_prefix_is_small_and_stays_as_it_is() {
    let mut bench = start([calls("list_dir", json!({})), says("ok"), says("ok")]);
    bench.run("go").await;
    // The same settings on another day.
    let mut tomorrow = settings(client(&bench.model));
    tomorrow.facts.date = "2026-02-01".into();
    bench.session.configure(tomorrow);
    bench.run("again").await;
    let raw = bench.model.recorded()[0].raw.clone();
    let prefix = raw.find("\"messages\":").unwrap();
    println!("system prompt and tools: {prefix} bytes");
    assert!(prefix <= 12 * 1024, "{prefix} bytes");
    let system = bench.model.requests()[2]["system"][0]["text"].as_str().unwrap().to_owned();
    assert!(system.contains("2026-01-31") && !system.contains(':'.to_string().repeat(2).as_str()));
    let time = |word: &str| word.len() >= 5 && word.as_bytes()[2] == b':';
    assert!(!system.split_whitespace().any(time), "no time of day: {system}");
}

#[tokio::test]
async fn what_is_open_and_selected_goes_with_the_users_words() {
    let mut bench = start([says("ok")
        .expect_text("<open_files>\na.txt\nb.txt (unsaved)\n</open_files>")
        .expect_text(
            "<selection file=\"a.txt\" lines=\"1-1\">\n```text\none\n```\n</selection>\nfix this",
        )]);
    bench.file("a.txt", "one\n").file("b.txt", "two\n");
    bench.open("a.txt", "one\n");
    bench.open("b.txt", "typed\n");
    let selection = ropewalk_protocol::SelectedText {
        file: "a.txt".into(),
        language: "text".into(),
        lines: (1, 1),
        text: "one\n".into(),
    };
    bench
        .session
        .prompt(Prompt { content: vec![Content::text("fix this")], selection: Some(selection) });
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn a_prompt_of_nothing_is_still_a_message() {
    let mut bench = start([says("ok"), says("ok")]);
    assert_eq!(bench.run("  \n").await, StopReason::EndTurn);
    assert_eq!(bench.run("").await, StopReason::EndTurn);
}
