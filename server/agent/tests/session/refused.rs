//! A model's server that refuses a part of the history for ever: the conversation goes on without that part. What the
//! history is not to blame for takes nothing from it.

use crate::bench::*;
use proptest::prelude::*;
use ropewalk_model::{Http, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::{Content, Op, Prompt, StopReason};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

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

/// The blocks of a request's messages.
fn blocks(said: &Value) -> Vec<Value> {
    let messages = said["messages"].as_array().cloned().unwrap_or_default();
    let of_message = |message: Value| match &message["content"] {
        Value::Array(blocks) => blocks.clone(),
        text => vec![json!({"type": "text", "text": text})],
    };
    messages.into_iter().flat_map(of_message).collect()
}

/// A server that refuses requests with such a block for ever, and answers all others so.
fn refusing_else(
    part: Part,
    answer: impl Fn(&Value) -> ScriptedReply + Send + Sync + 'static,
) -> ScriptedReply {
    let reply = ScriptedReply::from_fn(move |said| match blocks(said).iter().any(part) {
        true => ScriptedReply::refusal(400, "invalid_request_error", "that block is invalid"),
        false => answer(said),
    });
    reply.each_alone().forever()
}

fn refusing(part: Part) -> ScriptedReply {
    refusing_else(part, |_| says("It is answered."))
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
async fn a_refused_prompt_behind_a_summary_takes_nothing_of_the_summary_along() {
    for &protocol in Protocol::ALL {
        let server = refusing_else(
            |block| block.to_string().contains("poison"),
            |said| match said.to_string().contains("<compaction>") {
                true => says("**Goal**: the summary of it all."),
                false => says("It is answered."),
            },
        );
        let mut bench = start_kept_over(protocol, [server], |_| {});
        for words in ["the first prompt", "the second prompt"] {
            assert_eq!(bench.run(words).await, StopReason::EndTurn);
        }
        bench.session.send(Op::Compact(None));
        assert_eq!(bench.run("poison").await, StopReason::Error);
        assert_eq!(bench.run("And now?").await, StopReason::EndTurn);
        let sent = bench.model.recorded().pop().unwrap().raw;
        assert!(sent.contains("the summary of it all") && sent.contains("And now?"), "{sent}");
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

/// An id that the server gives its calls and that others would refuse.
const ODD_ID: &str = "functions.list_dir:0|é";

#[tokio::test]
async fn a_reply_that_is_longer_than_the_server_gives_is_asked_for_once_more_and_shorter() {
    for &protocol in Protocol::ALL {
        for words in [
            "max_tokens is too large: 32000. This model supports at most 8192 completion tokens",
            "'max_tokens' is too large: 32000. This model's maximum context length is 32768 tokens",
        ] {
            let reply = ScriptedReply::from_fn(move |said| match said["max_tokens"].as_u64() {
                Some(..=8_192) => says("ok"),
                _ => ScriptedReply::refusal(400, "invalid_request_error", words),
            });
            let mut bench = start_kept_over(protocol, [reply.each_alone().forever()], |_| {});
            for requests in [2, 3] {
                assert_eq!(bench.run("hello").await, StopReason::EndTurn, "{words}");
                assert_eq!(bench.model.requests().len(), requests, "it is learnt");
            }
        }
    }
}

/// Something that happens to a session.
#[derive(Clone, Debug)]
enum Happening {
    /// A prompt whose number the model calls a tool for, in this form.
    Prompt(CallForm),
    /// A prompt with an image.
    Image,
    Compaction,
    /// The last turn is taken back.
    Rewind,
    /// A turn is interrupted.
    Interrupt,
    /// Another model of the same server goes on.
    Model(bool),
    /// The process is killed amid a turn.
    Kill,
}

#[derive(Clone, Copy, Debug)]
enum CallForm {
    None,
    Usual,
    OddId,
    Broken,
    Long,
}

fn happening() -> impl Strategy<Value = Happening> {
    let form = prop_oneof![
        Just(CallForm::None),
        Just(CallForm::Usual),
        Just(CallForm::OddId),
        Just(CallForm::Broken),
        Just(CallForm::Long),
    ];
    prop_oneof![
        4 => form.prop_map(Happening::Prompt),
        1 => Just(Happening::Image),
        1 => Just(Happening::Compaction),
        1 => Just(Happening::Rewind),
        1 => Just(Happening::Interrupt),
        1 => any::<bool>().prop_map(Happening::Model),
        1 => Just(Happening::Kill),
    ]
}

/// The server's answer: it thinks, calls a tool once for each prompt that has a form of calls, and says that it is done.
fn answer(said: &Value, called: &Mutex<HashSet<String>>) -> ScriptedReply {
    let text = blocks(said).last().map(Value::to_string).unwrap_or_default();
    if text.contains("<compaction>") {
        return says("**Goal**: the summary of it all.");
    }
    let done = || reply().thinking("so it is", "sealed too").forget_thinking().text("I look.");
    let prompt = text
        .rsplit_once("Wish ")
        .map(|(_, rest)| rest.split_whitespace().take(2).collect::<Vec<_>>().join(" "));
    let Some(prompt) = prompt.filter(|prompt| called.lock().unwrap().insert(prompt.clone())) else {
        return done();
    };
    let thinking = reply().thinking("a thought", "sealed").forget_thinking().text("I look.");
    match prompt.split_whitespace().nth(1) {
        Some("Usual") => thinking.call("list_dir", json!({})),
        Some("OddId") => thinking.call_with_id(ODD_ID, "list_dir", json!({})),
        Some("Broken") => thinking.call_raw("list_dir", "{\"path\": "),
        Some("Long") => thinking.call("read_file", json!({ "path": "long.txt" })),
        Some("gate") => thinking.gate(ReplyPlace::End, prompt),
        _ => done(),
    }
}

/// The number of the turn that answers a prompt.
async fn is_answered(bench: &mut Bench, prompt: Prompt) -> u64 {
    let words = format!("{:?}", prompt.content.first());
    bench.session.prompt(prompt);
    let (turn, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::EndTurn, "{words}: {message:?}");
    turn
}

/// The session after all of it; each prompt on the way that the server did not refuse itself was answered.
async fn goes_on(protocol: Protocol, part: Part, happenings: Vec<Happening>) {
    let called = Arc::new(Mutex::default());
    let server = || {
        let called = called.clone();
        refusing_else(part, move |said| answer(said, &called)).knowing_id(ODD_ID)
    };
    let mut bench = start_kept_over(protocol, [server()], without_compaction);
    let look = |bench: &Bench| {
        bench.file("long.txt", &"long\n".repeat(1_000));
        sees_images(bench);
    };
    look(&bench);
    let (mut number, mut turns) = (0, 0);
    for happening in happenings {
        number += 1;
        let wish = |form: &str| Prompt::new(format!("Wish {number} {form} it is"));
        let gate = || format!("{number} gate");
        match &happening {
            Happening::Prompt(form) => {
                turns = is_answered(&mut bench, wish(&format!("{form:?}"))).await;
            }
            Happening::Image => {
                let image = prompt(&format!("Wish {number} None"));
                turns = is_answered(&mut bench, image).await;
            }
            // It may fail: then the conversation is as it was.
            Happening::Compaction => bench.session.send(Op::Compact(None)),
            Happening::Rewind if turns > 0 => {
                bench.session.send(Op::Rewind(turns));
                bench.reviewed().await;
                turns -= 1;
            }
            Happening::Rewind => {}
            Happening::Interrupt => {
                bench.session.prompt(wish("gate"));
                bench.model.wait_until_reached(&gate()).await;
                bench.session.send(Op::Interrupt(None));
                turns = bench.end().await.0;
                bench.model.open_gate(&gate());
            }
            Happening::Model(second) => {
                let mut config = bench.model.config();
                if *second {
                    config.model.push_str("-second");
                }
                bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
            }
            Happening::Kill => {
                bench.session.prompt(wish("gate"));
                bench.model.wait_until_reached(&gate()).await;
                let left = bench.killed();
                bench.model.open_gate(&gate());
                bench = resume_over(protocol, left, [server()]);
                look(&bench);
                turns = bench.session.turns().last().map_or(0, |turn| turn.turn);
            }
        }
    }
    let stop = bench.run("And at the end?").await;
    assert_eq!(stop, StopReason::EndTurn);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_happens_under_whatever_refusal_each_prompt_is_answered(
        protocol in proptest::sample::select(Protocol::ALL),
        (name, part) in proptest::sample::select(PARTS),
        happenings in proptest::collection::vec(happening(), 1..9),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        println!("{name} over {}: {happenings:?}", protocol.name());
        runtime.block_on(goes_on(protocol, part, happenings));
    }
}
