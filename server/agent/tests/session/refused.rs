//! A model's server that refuses a part of the history for ever: the conversation goes on without that part. What the
//! history is not to blame for takes nothing from it.

use crate::bench::*;
use ropewalk_model::{Http, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::{Content, Op, Prompt, StopReason};
use serde_json::{Value, json};
use std::sync::Arc;

/// True of a block that the server refuses.
type Part = fn(&Value) -> bool;

/// Parts of the history that a server may refuse, by their names.
const PARTS: &[(&str, Part)] = &[
    ("thoughts", |block| block["type"] == "thinking"),
    ("images", |block| block["type"] == "image"),
    ("calls", |block| block["type"] == "tool_use"),
    ("results", |block| block["type"] == "tool_result"),
    ("ids of calls", |block| block["id"].is_string() || block["tool_use_id"].is_string()),
    ("broken input of calls", |block| block.to_string().contains("not_json")),
    ("the user's words", |block| block.to_string().contains("the first prompt")),
    ("the model's words", |block| block.to_string().contains("I look.")),
    ("long texts", |block| block.to_string().len() > 3_000),
];

/// A server that refuses requests with such a block for ever, and answers all others.
fn refusing(part: Part) -> ScriptedReply {
    let reply = ScriptedReply::from_fn(move |said| {
        let messages = said["messages"].as_array().cloned().unwrap_or_default();
        let blocks = messages.iter().flat_map(|message| match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            text => vec![json!({"type": "text", "text": text})],
        });
        if blocks.into_iter().any(|block| part(&block)) {
            return ScriptedReply::refusal(400, "invalid_request_error", "that block is invalid");
        }
        says("It is answered.")
    });
    reply.each_alone().forever()
}

/// A first turn with blocks of all kinds.
fn first_turn() -> [ScriptedReply; 3] {
    let long = "x".repeat(4_000);
    [
        reply()
            .thinking("a thought", "sealed")
            .forget_thinking()
            .text("I look.")
            .call("list_dir", json!({})),
        reply().call_raw("read_file", "{\"path\": "),
        says(&format!("Done. {long}")),
    ]
}

/// Has the model see images.
fn sees_images(bench: &Bench) {
    let config = ServerConfig { images: Some(true), ..bench.model.config() };
    bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
}

fn prompt(text: &str) -> Prompt {
    let image = Content::Image { mime: "image/png".to_owned(), data: "iVBORw0KGgo=".to_owned() };
    Prompt { content: vec![Content::text(text), image], selection: None }
}

#[tokio::test]
async fn whatever_part_is_refused_the_next_prompt_is_answered() {
    for &protocol in Protocol::ALL {
        for (name, part) in PARTS {
            let replies = first_turn().into_iter().chain([refusing(*part)]);
            let mut bench = start_kept_over(protocol, replies, |_| {});
            sees_images(&bench);
            bench.session.prompt(prompt("the first prompt"));
            assert_eq!(bench.end().await.1, StopReason::EndTurn, "{name}");
            let (_, stop, message) = {
                bench.session.prompt(Prompt::new("And now?"));
                bench.end().await
            };
            assert_eq!(stop, StopReason::EndTurn, "{name} over {}: {message:?}", protocol.name());
            let tried = bench.model.requests().len();
            assert_eq!(bench.run("And then?").await, StopReason::EndTurn, "{name}");
            assert_eq!(bench.model.requests().len(), tried + 1, "{name}: it stays so");
            let mut bench = resume_over(protocol, bench.dies().await, [refusing(*part)]);
            sees_images(&bench);
            assert_eq!(bench.run("Still?").await, StopReason::EndTurn, "{name}");
            assert_eq!(bench.model.requests().len(), 1, "{name}: it stays so after a restart");
        }
    }
}

#[tokio::test]
async fn a_refused_prompt_is_left_out_of_what_follows_and_nothing_else_is() {
    for &protocol in Protocol::ALL {
        let part: Part = |block| block.to_string().contains("poison");
        let replies = [calls("list_dir", json!({})), says("I look."), refusing(part)];
        let mut bench = start_kept_over(protocol, replies, |_| {});
        bench.run("the first prompt").await;
        bench.session.prompt(Prompt::new("poison"));
        let (_, stop, message) = bench.end().await;
        assert_eq!(stop, StopReason::Error);
        assert!(message.unwrap().contains("that block is invalid"));
        assert_eq!(bench.run("And now?").await, StopReason::EndTurn);
        let last = bench.model.recorded().pop().unwrap().raw;
        for kept in ["the first prompt", "I look.", "list_dir", "And now?"] {
            assert!(last.contains(kept), "{kept} is not in {last}");
        }
    }
}

#[tokio::test]
async fn a_server_that_refuses_whatever_it_is_sent_takes_nothing_from_the_history() {
    for &protocol in Protocol::ALL {
        let mut bench =
            start_kept_over(protocol, first_turn().into_iter().chain([refusing(|_| true)]), |_| {});
        sees_images(&bench);
        bench.session.prompt(prompt("the first prompt"));
        bench.end().await;
        assert_eq!(bench.run("And now?").await, StopReason::Error);
        let dir = bench.dies().await;
        let mut bench = resume_over(protocol, dir, [refusing(|_| false)]);
        sees_images(&bench);
        assert_eq!(bench.run("Go on").await, StopReason::EndTurn);
        let sent = bench.model.recorded().pop().unwrap().raw;
        for kept in ["the first prompt", "image/png", "list_dir", "I look.", "And now?"] {
            assert!(sent.contains(kept), "{kept} is not in {sent}");
        }
    }
}

#[tokio::test]
async fn words_before_a_reduction_can_be_taken_back() {
    let part: Part =
        |block| block["type"] == "tool_result" || block.to_string().contains("I look.");
    let replies = [says("Hello."), calls("list_dir", json!({})), says("I look."), refusing(part)];
    let mut bench = start_kept(replies);
    for words in ["one", "two", "prompt three"] {
        assert_eq!(bench.run(words).await, StopReason::EndTurn, "{words}");
    }
    bench.session.send(Op::Rewind(2));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    let last = bench.model.recorded().pop().unwrap().raw;
    assert!(last.contains("Hello.") && last.contains("again"), "{last}");
    assert!(!last.contains("prompt three"), "{last}");
}
