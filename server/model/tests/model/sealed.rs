//! Data that servers of Chat Completions want back with a reply as it was: OpenRouter's `reasoning_details`, and Gemini's
//! signatures at its calls.

use ropewalk_model::{
    Block, Delta, Http, Message, Model, ModelReply, Protocol, ReplyBuilder, Role, ServerConfig,
    ServerModel, ToolInput,
};
use serde_json::{Value, json};
use std::collections::VecDeque;

fn model(provider: &str) -> ServerModel {
    let mut config = ServerConfig::new(Protocol::Chat, "m");
    config.provider = provider.into();
    ServerModel::new(config, Http::new()).unwrap()
}

/// The deltas of a reply with these changes, cut into pieces of `size` bytes.
fn read(changes: &[Value], finish: &str, size: usize) -> Vec<Delta> {
    let change = |delta: &Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]});
    let events = changes.iter().map(change).chain([end]);
    let stream: String = events.map(|event| format!("data: {event}\n\n")).collect();
    let (mut reader, mut out) = (model("x").reader(), VecDeque::new());
    for piece in stream.as_bytes().chunks(size) {
        reader.feed(piece, &mut out).unwrap();
    }
    assert!(reader.end(&mut out));
    out.into()
}

fn reply(changes: &[Value], finish: &str) -> ModelReply {
    let whole = read(changes, finish, usize::MAX);
    for size in [1, 7] {
        assert_eq!(read(changes, finish, size), whole, "however the bytes are cut");
    }
    let mut builder = ReplyBuilder::new();
    whole.iter().for_each(|delta| builder.push(delta));
    builder.finish()
}

/// The message as it goes back.
fn back(provider: &str, content: &[Block]) -> Value {
    let message = Message { role: Role::Assistant, content: content.to_vec() };
    serde_json::from_str(&model(provider).encode(&message)).unwrap()
}

fn call(id: &str, more: &Value) -> Value {
    let mut call = json!({"index": 0, "id": id, "function": {"name": "t", "arguments": "{}"}});
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "tool_calls": [call] })
}

fn signed(word: &str) -> Value {
    json!({"extra_content": {"google": {"thought_signature": word}}})
}

#[test]
fn details_of_the_reasoning_go_back_as_one_and_as_they_were() {
    let piece = |text: &str| json!({"type": "reasoning.text", "text": text, "index": 0, "format": "anthropic-claude-v1", "signature": null});
    let sealed = json!({"type": "reasoning.encrypted", "data": "gAAA=", "id": "r1", "index": 1});
    let last = json!({"type": "reasoning.text", "text": "", "index": 0, "signature": "c2lnbmVk"});
    let reply = reply(
        &[
            json!({"reasoning": "I lo", "reasoning_details": [piece("I lo")]}),
            json!({"reasoning": "ok é𝄞", "reasoning_details": [piece("ok é𝄞")]}),
            json!({"content": "Look:", "reasoning_details": [last, sealed]}),
            json!({"reasoning_details": null}),
            call("1", &json!({})),
        ],
        "tool_calls",
    );
    let sent = back("openrouter", &reply.blocks);
    assert_eq!(
        sent["reasoning_details"],
        json!([
            {"type": "reasoning.text", "text": "I look é𝄞", "index": 0, "format": "anthropic-claude-v1",
             "signature": "c2lnbmVk"},
            sealed,
        ])
    );
    assert_eq!(sent.get("reasoning"), None, "not twice");
    assert_eq!(sent["content"], "Look:");
    assert_eq!(sent["tool_calls"][0]["id"], "1");
    // Without details the thoughts alone go back, as before.
    let plain: Vec<Block> = reply
        .blocks
        .iter()
        .filter(|block| !matches!(block, Block::RedactedThinking { .. }))
        .cloned()
        .collect();
    assert_eq!(back("openrouter", &plain)["reasoning"], "I look é𝄞");
}

#[test]
fn what_came_with_a_call_goes_back_with_that_call() {
    let first = reply(
        &[call("a", &signed("s1")), call("b", &json!({})), call("c", &signed("s3"))],
        "tool_calls",
    );
    assert_eq!(first.tool_calls().count(), 3);
    let skip = signed("skip_thought_signature_validator");
    let extras = |sent: &Value| {
        let calls = sent["tool_calls"].as_array().unwrap().clone();
        calls.iter().map(|call| json!({"extra_content": call["extra_content"]})).collect::<Vec<_>>()
    };
    let sent = back("gemini", &first.blocks);
    assert_eq!(extras(&sent), [signed("s1"), skip.clone(), signed("s3")]);
    // Two replies that became one message.
    let second = reply(&[call("d", &json!({})), call("e", &signed("s5"))], "tool_calls");
    let both: Vec<Block> = first.blocks.iter().chain(&second.blocks).cloned().collect();
    let all = [signed("s1"), skip.clone(), signed("s3"), skip.clone(), signed("s5")];
    assert_eq!(extras(&back("gemini", &both)), all);
    // A model that signs nothing is sent nothing more, and what another has sealed is not for Gemini.
    let unsigned = reply(&[call("a", &json!({}))], "tool_calls");
    assert!(!unsigned.blocks.iter().any(|block| matches!(block, Block::RedactedThinking { .. })));
    let foreign = [
        Block::RedactedThinking { data: "EmwKAhgBEgy3va3pzix/LafPsn4a".into() },
        Block::ToolUse { id: "1".into(), name: "t".into(), input: ToolInput::Json(json!({})) },
        Block::RedactedThinking { data: "{\"other\": 1}".into() },
    ];
    assert_eq!(extras(&back("gemini", &foreign)), [skip]);
    assert_eq!(back("openai", &foreign)["tool_calls"][0].get("extra_content"), None);
}

#[test]
fn what_is_broken_or_cut_off_is_not_sent_back() {
    let sealed = |reply: &ModelReply| {
        reply.blocks.iter().any(|block| matches!(block, Block::RedactedThinking { .. }))
    };
    let fine = json!({"type": "reasoning.text", "text": "a", "index": 0});
    for odd in [json!("x"), json!([7]), json!({"text": "b"}), json!([[]])] {
        let changes = [
            json!({"content": "Hi", "reasoning_details": [fine]}),
            json!({ "reasoning_details": odd }),
        ];
        let reply = reply(&changes, "stop");
        assert!(!sealed(&reply), "{odd}");
        assert_eq!(reply.text(), "Hi");
    }
    let changes = [json!({"content": "Hi", "reasoning_details": [fine]}), call("1", &signed("s"))];
    assert!(sealed(&reply(&changes, "tool_calls")));
    for cut in ["length", "content_filter"] {
        assert!(!sealed(&reply(&changes, cut)), "{cut}");
    }
    for odd in [json!(7), json!("s"), json!([]), json!(null)] {
        let reply = reply(&[call("1", &json!({ "extra_content": odd }))], "tool_calls");
        assert!(!sealed(&reply) && reply.tool_calls().count() == 1, "{odd}");
    }
}

#[test]
fn a_thousand_details_are_kept_and_of_more_none() {
    let change = |details: &[Value]| json!({"content": "", "reasoning_details": details});
    let kept = |changes: &[Value]| {
        let mut all = vec![json!({"content": "Hi"})];
        all.extend_from_slice(changes);
        let reply = reply(&all, "stop");
        assert_eq!(reply.text(), "Hi");
        let sent = back("openrouter", &reply.blocks);
        sent.get("reasoning_details").map_or(0, |details| details.as_array().unwrap().len())
    };
    let numbered = |n: usize| json!({"type": "reasoning.text", "text": "a", "index": n});
    let bare = |_| json!({"type": "reasoning.text", "text": "a"});
    let ways: [&dyn Fn(usize) -> Value; 2] = [&numbered, &bare];
    for way in ways {
        let details: Vec<Value> = (0..1_001).map(way).collect();
        assert_eq!(kept(&[change(&details[..1_000])]), 1_000);
        let changes: Vec<Value> = details.chunks(1).map(change).collect();
        assert_eq!((kept(&[change(&details)]), kept(&changes)), (0, 0));
    }
    // Work that grows with the square of them would take minutes; no clock is needed to notice.
    let many: Vec<Value> = (0..80_000).map(numbered).collect();
    assert_eq!(kept(&[change(&many)]), 0);
    let pieces: Vec<Value> = (0..80_000).map(|n| numbered(n % 1_000)).collect();
    assert_eq!(kept(&[change(&pieces)]), 1_000);
    let reply = reply(&[json!({"content": "Hi", "reasoning_details": pieces[..2_000]})], "stop");
    let sent = back("openrouter", &reply.blocks);
    let details = sent["reasoning_details"].as_array().unwrap();
    assert!(details.iter().all(|detail| detail["text"] == "aa"));
}
