//! The Responses protocol: what is sent, and what recorded and hostile streams are read as.

use proptest::prelude::*;
use ropewalk_model::{
    Block, Delta, Http, Message, Model, ModelError, ModelReply, ModelStop, Protocol, ReplyBuilder,
    Role, ServerConfig, ServerModel, ToolDeclaration, ToolInput,
};
use ropewalk_protocol::Usage;
use serde_json::{Value, json};
use std::{collections::VecDeque, time::Duration};

const TEXT: &str = include_str!("../wire/qwen05-llamaserver-responses-text.http");
const CALL: &str = include_str!("../wire/qwen05-fenced-responses-auto.http");

fn model() -> ServerModel {
    ServerModel::new(ServerConfig::new(Protocol::Responses, "gpt-5-x"), Http::new()).unwrap()
}

fn body(recorded: &'static str) -> &'static [u8] {
    recorded.split_once("\r\n\r\n").or(recorded.split_once("\n\n")).unwrap().1.as_bytes()
}

fn read(bytes: &[u8], size: usize) -> (Vec<Delta>, Result<bool, ModelError>) {
    let (mut reader, mut out) = (model().reader(), VecDeque::new());
    for chunk in bytes.chunks(size) {
        match reader.feed(chunk, &mut out) {
            Ok(false) => {}
            end => return (out.into(), end),
        }
    }
    (out.into(), Ok(false))
}

fn fold(deltas: &[Delta]) -> ReplyBuilder {
    let mut builder = ReplyBuilder::new();
    deltas.iter().for_each(|delta| builder.push(delta));
    builder
}

fn reply(bytes: &[u8], size: usize) -> ModelReply {
    let (deltas, end) = read(bytes, size);
    assert_eq!(end, Ok(true), "the reply is complete");
    fold(&deltas).finish()
}

fn stream(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
}

fn added(place: u32, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": place, "item": item})
}

fn done(place: u32, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": place, "item": item})
}

fn call(name: &str, id: &str, arguments: Value) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments})
}

fn part(place: u32, text: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": place, "item_id": "x", "delta": text})
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [],
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 7}}})
}

#[test]
fn the_part_of_the_answer_that_words_were_goes_back_with_them() {
    let said = |id: &str, phase: Value, text: &str| {
        json!({"type": "message", "id": id, "role": "assistant", "phase": phase,
            "content": [{"type": "output_text", "text": text}]})
    };
    let events = [
        done(0, said("m1", json!("commentary"), "I look.")),
        done(1, call("bash", "c1", json!("{}"))),
        done(2, said("m2", json!("final_answer"), "Done é.")),
        done(3, said("m3", json!(null), "More.")),
        done(4, said("m4", json!("no \"word\""), "Odd.")),
        completed(),
    ];
    let reply = reply(&stream(&events), 7);
    let content = reply.blocks;
    let piece = model().encode(&Message { role: Role::Assistant, content });
    let items: Vec<Value> = serde_json::from_str(&format!("[{piece}]")).unwrap();
    let told: Vec<(&str, Option<&str>)> = items
        .iter()
        .filter(|item| item["type"] == "message")
        .map(|item| (item["content"].as_str().unwrap(), item["phase"].as_str()))
        .collect();
    let expected = [
        ("I look.", Some("commentary")),
        ("Done é.", Some("final_answer")),
        ("More.", None),
        ("Odd.", None),
    ];
    assert_eq!(told, expected);
    assert_eq!(items.iter().filter(|item| item["type"] == "reasoning").count(), 0);
}

/// A reply of all that there is: sealed reasoning, words, two calls whose arguments interleave.
fn rich() -> Vec<u8> {
    let thought = json!({"type": "reasoning", "id": "rs_1", "status": "completed", "encrypted_content": "gAAA",
        "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then ä\n\nb."}]});
    let thinks = |n: u32, text: &str| json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": n, "delta": text});
    let says = |n: u32, text: &str| json!({"type": "response.output_text.delta", "output_index": 1, "content_index": n, "delta": text, "obfuscation": "xyz"});
    stream(&[
        json!({"type": "response.created", "response": {"id": "resp-1", "instructions": "long", "tools": []}}),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        thinks(0, "First."),
        thinks(1, "Then ä"),
        thinks(1, "\n\nb."),
        done(0, thought),
        added(1, json!({"type": "message", "id": "msg_1", "role": "assistant", "content": []})),
        says(0, "I lo"),
        says(0, "ok 😀"),
        says(1, "again"),
        done(
            1,
            json!({"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "I look 😀"}, {"type": "output_text", "text": "again"}]}),
        ),
        added(2, call("read", "a", json!(""))),
        added(3, call("list", "b", json!(""))),
        part(2, r#"{"path":"#),
        part(3, r#"{"de"#),
        part(2, r#" "é"}"#),
        part(3, r#"pth": 2}"#),
        done(3, call("list", "b", json!(r#"{"depth": 2}"#))),
        done(2, call("read", "a", json!(r#"{"path": "é"}"#))),
        completed(),
    ])
}

#[test]
fn a_recorded_text() {
    for size in [1, 2, 7, 100, 1 << 20] {
        let reply = reply(body(TEXT), size);
        assert_eq!(reply.blocks, [Block::text("The capital of France is Paris.")]);
        assert_eq!(reply.stop_reason, ModelStop::EndTurn);
        assert_eq!(reply.usage, Usage { input: 1, output: 8, cache_read: 40, cache_write: 0 });
    }
}

#[test]
fn a_recorded_call_of_a_server_that_numbers_nothing() {
    for size in [1, 3, 1 << 20] {
        let reply = reply(body(CALL), size);
        let calls: Vec<_> = reply.tool_calls().collect();
        let [(id, "bash", ToolInput::Json(input))] = calls[..] else { panic!("{calls:?}") };
        assert_eq!(id, "call_Cmp4jRYxek6KBKANCJN8T2ihCDB77q3m");
        assert_eq!(*input, json!({"command": "ls"}));
        assert_eq!(reply.stop_reason, ModelStop::ToolUse);
    }
}

#[test]
fn reasoning_goes_back_as_it_came_and_calls_interleave() {
    let reply = reply(&rich(), 5);
    let Block::Thinking { thinking, signature } = &reply.blocks[0] else { panic!("{reply:?}") };
    assert_eq!(thinking, "First.\n\nThen ä\n\nb.");
    assert_eq!(reply.blocks[1..3], [Block::text("I look 😀"), Block::text("again")]);
    let calls: Vec<_> =
        reply.tool_calls().map(|(id, name, input)| (id, name, input.clone())).collect();
    let read = ToolInput::Json(json!({"path": "é"}));
    assert_eq!(calls, [("a", "read", read), ("b", "list", ToolInput::Json(json!({"depth": 2})))]);
    assert_eq!(reply.usage, Usage { input: 40, output: 7, cache_read: 60, cache_write: 0 });

    let piece = model().encode(&reply.to_message().unwrap());
    let items: Value = serde_json::from_str(&format!("[{piece}]")).unwrap();
    assert_eq!(
        items,
        json!([
            {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", "summary":
                [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then ä\n\nb."}]},
            {"type": "message", "role": "assistant", "content": "I look 😀"},
            {"type": "message", "role": "assistant", "content": "again"},
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": r#"{"path":"é"}"#},
            {"type": "function_call", "call_id": "b", "name": "list", "arguments": r#"{"depth":2}"#},
        ])
    );
    assert!(piece.starts_with(signature.as_str()), "not a byte of the item is changed");
}

#[test]
fn reasoning_without_a_seal_or_with_anothers_stays_here() {
    let words = json!({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": null});
    let reply = reply(&stream(&[done(0, words), completed()]), 9);
    let shown = Block::Thinking { thinking: "hm".into(), signature: String::new() };
    assert_eq!(reply.blocks, std::slice::from_ref(&shown));
    let thinking =
        |signature: &str| Block::Thinking { thinking: "hm".into(), signature: signature.into() };
    let others = vec![
        shown,
        thinking("c2lnbmF0dXJl"),
        thinking(r#"{"type":"reasoning","id":"#),
        thinking(r#"{"type":"message","role":"user"}"#),
        Block::RedactedThinking { data: "x".into() },
        Block::text("so"),
    ];
    let piece = model().encode(&Message { role: Role::Assistant, content: others });
    assert_eq!(&*piece, r#"{"type":"message","role":"assistant","content":"so"}"#);
}

#[test]
fn open_reasoning_is_shown_and_kept() {
    let item = json!({"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "",
        "content": [{"type": "reasoning_text", "text": "I think"}]});
    let delta =
        json!({"type": "response.reasoning_text.delta", "item_id": "rs_2", "delta": "I think"});
    let reply = reply(&stream(&[added(0, item.clone()), delta, done(0, item), completed()]), 9);
    let Block::Thinking { thinking, signature } = &reply.blocks[0] else { panic!("{reply:?}") };
    assert_eq!(thinking, "I think");
    assert!(
        signature.contains(r#""content":[{"type":"reasoning_text","text":"I think"}]"#),
        "{signature}"
    );
}

#[test]
fn items_that_come_only_at_their_end_or_only_with_the_replys() {
    let message =
        json!({"type": "message", "id": "m", "content": [{"type": "output_text", "text": "hi"}]});
    let items = [message.clone(), call("t", "a", json!({"as": "object"}))];
    let late = stream(&[done(0, items[0].clone()), done(1, items[1].clone()), completed()]);
    let last = json!({"type": "response.completed", "response": {"output": items, "usage": null}});
    for bytes in [late, stream(&[last])] {
        let reply = reply(&bytes, 7);
        assert_eq!(reply.text(), "hi");
        let inputs: Vec<_> = reply.tool_calls().map(|(_, _, input)| input.clone()).collect();
        assert_eq!(inputs, [ToolInput::Json(json!({"as": "object"}))]);
    }
}

#[test]
fn arguments_broken_empty_lost_and_ids_missing_or_double() {
    let bytes = stream(&[
        json!({"type": "response.created", "response": {"id": "resp-1"}}),
        added(0, call("t", "a", json!(""))),
        part(0, r#"{"a": "#),
        done(0, call("t", "a", json!(r#"{"a": "#))),
        added(1, call("t", "a", json!(""))),
        done(1, call("t", "a", json!(""))),
        added(2, json!({"type": "function_call", "name": "t"})),
        part(2, "{}"),
        done(2, json!({"type": "function_call", "name": "t"})),
        completed(),
    ]);
    let whole = reply(&bytes, 64);
    let inputs: Vec<_> = whole.tool_calls().map(|(_, _, input)| input.clone()).collect();
    let empty = || ToolInput::Json(json!({}));
    assert_eq!(inputs, [ToolInput::Broken(r#"{"a": "#.into()), empty(), empty()]);
    let ids: std::collections::HashSet<_> = whole.tool_calls().map(|(id, _, _)| id).collect();
    assert!(ids.len() == 3 && !ids.contains(""), "{ids:?}");

    let lost = stream(&[
        added(0, call("t", "a", json!(""))),
        part(0, r#"{"a":"#),
        part(0, "3}"),
        done(0, call("t", "a", json!(r#"{"a":123}"#))),
    ]);
    let (_, end) = read(&lost, 30);
    assert!(matches!(&end, Err(error @ ModelError::Cut { .. }) if error.is_passing()), "{end:?}");
}

#[test]
fn a_server_may_guess_the_ids_that_are_made_here() {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "r"}})];
    let guesses = (0..9).flat_map(|block| (0..9).map(move |n| format!("call_r_{block}_{n}")));
    events.extend((0..).zip(guesses).map(|(place, id)| added(place, call("t", &id, json!("")))));
    events.insert(5, added(90, json!({"type": "function_call", "name": "t"})));
    events.push(completed());
    let reply = reply(&stream(&events), 1 << 20);
    let ids: std::collections::HashSet<_> = reply.tool_calls().map(|(id, _, _)| id).collect();
    assert_eq!(ids.len(), 82);
}

#[test]
fn an_event_that_comes_again_says_nothing_new() {
    for bytes in [rich(), body(TEXT).to_vec(), body(CALL).to_vec()] {
        let text = String::from_utf8(bytes).unwrap();
        let events: Vec<&str> = text.split_inclusive("\n\n").collect();
        let once = read(text.as_bytes(), 1 << 20);
        // Two pieces of the same words are as they should be.
        let again: Vec<&str> =
            events.iter().copied().filter(|event| !event.contains(".delta\"")).collect();
        let twice = events.iter().flat_map(|event| {
            let count = if again.contains(event) { 2 } else { 1 };
            std::iter::repeat_n(*event, count)
        });
        assert_eq!(read(twice.collect::<String>().as_bytes(), 1 << 20), once);
        for event in again {
            let at = events.iter().position(|other| *other == event).unwrap();
            // At once, a little later, or behind all others but the last.
            for later in [1, 2, 4, events.len()] {
                let mut events = events.clone();
                events.insert((at + later).min(events.len() - 1).max(at), event);
                assert_eq!(read(events.concat().as_bytes(), 1 << 20), once, "{event}");
            }
        }
    }
}

#[test]
fn the_unknown_and_garbage_are_passed_over() {
    let mut bytes = b": ping\n\ndata: not json\n\ndata: [1]\n\ndata: {\"type\":7}\n\ndata: {\"type\":\"response.output_text.delta\",\"delta\":{}}\n\n".to_vec();
    bytes.extend(stream(&[
        json!({"type": "keepalive", "sequence_number": 3}),
        json!({"type": "response.web_search_call.searching", "output_index": 0}),
        added(0, json!({"type": "web_search_call", "id": "ws_1"})),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "not a text"}),
        done(0, json!({"type": "web_search_call", "id": "ws_1", "content": 7})),
        part(9, "{}"),
        json!({"type": "response.output_text.delta", "output_index": 1, "item_id": "m", "delta": "hi", "logprobs": []}),
        json!({"type": "response.output_text.annotation.added", "output_index": 1, "annotation": {}}),
        completed(),
    ]));
    let reply = reply(&bytes, 11);
    assert_eq!(reply.blocks, [Block::text("hi")]);
    assert_eq!(reply.stop_reason, ModelStop::EndTurn);
}

#[test]
fn how_replies_end() {
    let end = |kind: &str, response: Value| {
        let said = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "x"});
        reply(&stream(&[said, json!({"type": kind, "response": response})]), 50).stop_reason
    };
    let incomplete = |reason: &str| {
        end("response.incomplete", json!({"incomplete_details": {"reason": reason}}))
    };
    assert_eq!(incomplete("max_output_tokens"), ModelStop::MaxTokens);
    assert_eq!(incomplete("content_filter"), ModelStop::Refusal);
    assert_eq!(incomplete("a_new_one"), ModelStop::Other("a_new_one".into()));
    assert_eq!(incomplete("model_context_window_exceeded"), ModelStop::ContextFull);
    for (kind, response) in [
        ("response.cancelled", json!({})),
        ("response.cancelled", json!({"status": "cancelled"})),
        ("response.completed", json!({"status": "cancelled"})),
        ("response.done", json!({"status": "cancelled"})),
    ] {
        assert_eq!(end(kind, response), ModelStop::Other("cancelled".into()));
    }
    assert_eq!(end("response.completed", json!({"status": "completed"})), ModelStop::EndTurn);
    assert_eq!(end("response.done", json!({"status": "in_progress"})), ModelStop::EndTurn);
    assert_eq!(end("response.completed", json!({"incomplete_details": null})), ModelStop::EndTurn);

    let no = json!({"type": "response.refusal.delta", "output_index": 0, "delta": "I won't."});
    let refused = reply(&stream(&[no, completed()]), 50);
    assert_eq!((refused.text().as_str(), refused.stop_reason), ("I won't.", ModelStop::Refusal));
    let whole = json!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
    let refused = reply(&stream(&[done(0, whole), completed()]), 50);
    assert_eq!((refused.text().as_str(), refused.stop_reason), ("No.", ModelStop::Refusal));

    let cut = rich();
    let (deltas, end) = read(&cut[..cut.len() - 300], 64);
    assert_eq!(end, Ok(false), "without its last event a reply is not complete");
    assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Stop(_))));
}

#[test]
fn errors_in_mid_stream_by_kind() {
    let fail = |event: Value| read(&stream(&[event]), 10).1.unwrap_err();
    let failed = |code: &str, message: &str| {
        fail(
            json!({"type": "response.failed", "response": {"error": {"code": code, "message": message}}}),
        )
    };
    let asked = failed("rate_limit_exceeded", "Limit 30000. Please try again in 1.5s. Visit us.");
    assert_eq!(
        asked,
        ModelError::RateLimited {
            message: "Limit 30000. Please try again in 1.5s. Visit us.".into(),
            retry_after: Some(Duration::from_millis(1500))
        }
    );
    assert!(matches!(failed("server_is_overloaded", "later"), ModelError::Overloaded { .. }));
    assert!(failed("server_error", "oops").is_passing() && failed("new", "x").is_passing());
    for (code, message) in [
        ("insufficient_quota", "pay"),
        ("invalid_prompt", "no"),
        ("context_length_exceeded", "long"),
    ] {
        let error = failed(code, message);
        assert!(!error.is_passing() && error.to_string().contains(message), "{error}");
    }
    assert!(matches!(failed("context_length_exceeded", "x"), ModelError::ContextLength { .. }));
    let flat =
        json!({"type": "error", "code": "server_is_overloaded", "message": "m", "param": null});
    assert!(matches!(fail(flat), ModelError::Overloaded { .. }));
    let nested = json!({"type": "error", "error": {"type": "invalid_request_error", "code": null, "message": "bad"}});
    assert!(matches!(fail(nested), ModelError::InvalidRequest { .. }));
    assert!(fail(json!({"type": "error", "code": 500, "message": "m"})).is_passing());
    assert!(fail(json!({"type": "response.failed"})).is_passing());
}

#[test]
fn surrogate_pairs_cut_in_two() {
    let delta = |text: &str| {
        format!(
            "data: {{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"{text}\"}}\n\n"
        )
    };
    let bytes =
        delta(r"a\ud83d") + &delta(r"\ude00b") + "data: {\"type\":\"response.completed\"}\n\n";
    assert_eq!(reply(bytes.as_bytes(), 9).text(), "a😀b");
    let end = "data: {\"type\":\"response.completed\"}\n\n";
    let whole = |events: &[String]| reply((events.concat() + end).as_bytes(), 9);
    let part = |kind: &str, place: u32, n: u32, text: &str| {
        format!(
            "data: {{\"type\":\"response.{kind}.delta\",\"output_index\":{place},\"content_index\":{n},\"delta\":\"{text}\"}}\n\n"
        )
    };
    let says = |place: u32, text: &str| part("output_text", place, 0, text);
    let between = "data: {\"type\":\"keepalive\"}\n\n: ping\n\ndata: garbage\n\n".to_owned();
    // Only words of the same block come between the halves.
    for between in [between.clone(), says(0, "")] {
        assert_eq!(whole(&[says(0, r"a\ud83d"), between, says(0, r"\ude00b")]).text(), "a😀b");
    }
    assert_eq!(whole(&[says(0, r"\ud83d"), between, says(0, r"\ude00b")]).text(), "😀b");
    let lost = [says(0, r"a\ud83d"), says(0, "b"), says(0, r"\ude00c")];
    assert_eq!(whole(&lost).text(), "ab\u{fffd}c");
    let both = [says(0, r"a\ud83d"), says(1, r"b\ud83d"), says(0, r"\ude00"), says(1, r"\ude01")];
    assert_eq!(whole(&both).text(), "a😀\nb😁");
    let next = [says(0, r"a\ud83d"), part("output_text", 0, 1, r"\ude00b")];
    assert_eq!(whole(&next).text(), "a\n\u{fffd}b", "another part is another block");
    let begun = stream(&[added(0, call("t", "1", json!(""))), added(1, call("t", "2", json!("")))]);
    let arguments = |place: u32, text: &str| part("function_call_arguments", place, 0, text);
    let calls = whole(&[
        String::from_utf8(begun).unwrap(),
        arguments(0, r#"{\"n\":\"\ud83d"#),
        arguments(1, r#"{\"n\":\"\ud83d"#),
        arguments(0, r#"\ude00\"}"#),
        arguments(1, r#"\ude01\"}"#),
    ]);
    let inputs: Vec<_> = calls.tool_calls().map(|(_, _, input)| input.clone()).collect();
    assert_eq!(inputs, ["😀", "😁"].map(|n| ToolInput::Json(json!({ "n": n }))));
}

#[test]
fn blocks_without_number_are_refused() {
    let text = |place: u32, n: u32| json!({"type": "response.output_text.delta", "output_index": place, "content_index": n, "delta": "x"});
    let items = |n: u32| text(n, 0);
    let parts = |n: u32| text(0, n);
    let turns = |n: u32| text(0, n % 2);
    let mixed = |n: u32| if n < 500 { items(n) } else { parts(n) };
    let ways: [(&str, &dyn Fn(u32) -> Value); 4] =
        [("items", &items), ("parts", &parts), ("turns", &turns), ("mixed", &mixed)];
    for (words, event) in ways {
        let many: Vec<Value> = (0..1_002).map(event).collect();
        assert_eq!(read(&stream(&many[..999]), 1 << 20).1, Ok(false), "{words}");
        let error = read(&stream(&many), 1 << 20).1.unwrap_err();
        assert!(matches!(error, ModelError::TooLarge { .. }), "{words}: {error:?}");
    }
    // An item that is whole has parts, too.
    let many: Vec<Value> =
        (0..1_001).map(|_| json!({"type": "output_text", "text": "x"})).collect();
    let whole = |content: &[Value]| {
        read(&stream(&[done(0, json!({"type": "message", "content": content}))]), 1 << 20).1
    };
    assert_eq!(whole(&many[..1_000]), Ok(false));
    assert!(matches!(whole(&many), Err(ModelError::TooLarge { .. })));
}

#[test]
fn members_of_another_type_are_read_as_what_they_mean_or_left_out() {
    let usage = json!({"input_tokens": 100.0, "input_tokens_details": {"cached_tokens": "60", "cache_write_tokens": []}, "output_tokens": 7.0});
    let counted = Usage { input: 40, output: 7, cache_read: 60, cache_write: 0 };
    let output =
        json!([{"type": "message", "id": 7, "content": [{"type": "output_text", "text": "hi"}]}]);
    let ended = |kind: &str, response: Value| {
        reply(&stream(&[json!({"type": kind, "response": response})]), 9)
    };
    let cut = ended(
        "response.incomplete",
        json!({"id": 7, "output": output, "usage": usage, "incomplete_details": {"reason": "max_output_tokens"}}),
    );
    assert_eq!((cut.text().as_str(), cut.stop_reason), ("hi", ModelStop::MaxTokens));
    assert_eq!(cut.usage, counted);
    let absurd = json!({"input_tokens": -1, "output_tokens": 5e30});
    assert_eq!(ended("response.completed", json!({"usage": absurd})).usage, Usage::default());
    let odd = json!({"output": output, "usage": "none", "incomplete_details": "none"});
    assert_eq!(ended("response.completed", odd).text(), "hi");
    let call =
        json!({"type": "function_call", "id": 5, "call_id": 6, "name": "t", "arguments": ""});
    let part = |text: &str| json!({"type": "response.function_call_arguments.delta", "output_index": "0", "item_id": 5, "delta": text});
    let reply = reply(
        &stream(&[
            json!({"type": "response.output_item.added", "output_index": 0.0, "item": call}),
            part("{\"n\":"),
            part("1}"),
            completed(),
        ]),
        10,
    );
    let calls: Vec<_> = reply.tool_calls().collect();
    let [(id, "t", input)] = calls[..] else { panic!("{calls:?}") };
    assert!(!id.is_empty());
    assert_eq!(*input, ToolInput::Json(json!({"n": 1})));
}

#[test]
fn messages_as_the_protocol_wants_them() {
    let encode = |role, content| model().encode(&Message { role, content });
    assert_eq!(
        &*model().encode(&Message::user("a \"ü\"")),
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a \"ü\""}]}"#
    );
    let results = vec![
        Block::result("1", "ok", false),
        Block::result("2", "", true),
        Block::text("and now?"),
    ];
    assert_eq!(
        &*encode(Role::User, results),
        r#"{"type":"function_call_output","call_id":"1","output":"ok"},{"type":"function_call_output","call_id":"2","output":"Error"},{"type":"message","role":"user","content":[{"type":"input_text","text":"and now?"}]}"#
    );
    let call = |input| Block::ToolUse { id: "c".into(), name: "t".into(), input };
    let calls = vec![call(ToolInput::Json(json!([1]))), call(ToolInput::Broken("{\"a".into()))];
    let text = encode(Role::Assistant, calls);
    assert!(text.contains(r#""arguments":"{\"not_an_object\":[1]}""#), "{text}");
    assert!(text.contains(r#""arguments":"{\"not_json\":\"{\\\"a\"}""#), "{text}");
    assert!(encode(Role::Assistant, vec![Block::text(" ")]).contains("(empty)"));
    assert_eq!(model().encode_prelude(" ", &[]).as_str(), "");
    let tool = ToolDeclaration {
        name: "t".into(),
        description: "d".into(),
        input_schema: json!({"type": "object"}),
    };
    assert_eq!(
        model().encode_prelude("be brief", &[tool]).as_str(),
        r#""instructions":"be brief","tools":[{"type":"function","name":"t","description":"d","parameters":{"type":"object"},"strict":false}],"#
    );
}

proptest! {
    #[test]
    fn any_split_gives_the_same_deltas(cuts in prop::collection::vec(1_usize..200, 1..60)) {
        for bytes in [rich(), body(TEXT).to_vec(), body(CALL).to_vec()] {
            let whole = read(&bytes, bytes.len());
            let (mut reader, mut out, mut rest, mut end) = (model().reader(), VecDeque::new(), &bytes[..], Ok(false));
            for size in cuts.iter().cycle() {
                let (head, tail) = rest.split_at((*size).min(rest.len()));
                end = reader.feed(head, &mut out);
                rest = tail;
                if rest.is_empty() || end != Ok(false) { break; }
            }
            prop_assert_eq!((Vec::from(out), end), whole);
        }
    }

    #[test]
    fn damaged_streams_are_survived(which in 0_usize..3, damage in prop::collection::vec((0_usize..2500, any::<u8>()), 1..12), size in 1_usize..99) {
        let mut bytes = [rich(), body(TEXT).to_vec(), body(CALL).to_vec()][which].clone();
        for (at, byte) in damage {
            if let Some(place) = bytes.get_mut(at) { *place = byte; }
        }
        let (deltas, end) = read(&bytes, size);
        prop_assert_eq!((&deltas, &end), (&read(&bytes, bytes.len().max(1)).0, &end));
        let partial = fold(&deltas).finish_partial();
        prop_assert!(partial.blocks.iter().all(|block| !block.is_blank()));
        if let Some(message) = partial.to_message() {
            let piece = format!("[{}]", model().encode(&message));
            prop_assert!(serde_json::from_str::<Value>(&piece).is_ok());
        }
    }
}
