//! Recorded answers of real servers, read as they are and in any chunks; and what is done with
//! streams that no server should send.

use proptest::prelude::*;
use ropewalk_model::{
    Block, Delta, Http, ModelError, ModelReply, ModelStop, Protocol, ReplyBuilder, ServerConfig,
    ServerModel, ToolInput,
};
use ropewalk_protocol::Usage;
use serde_json::json;
use std::collections::VecDeque;

fn body(recorded: &'static str) -> &'static [u8] {
    recorded.split_once("\r\n\r\n").or(recorded.split_once("\n\n")).unwrap().1.as_bytes()
}

fn read(bytes: &[u8], size: usize) -> (Vec<Delta>, Result<bool, ModelError>) {
    let model =
        ServerModel::new(ServerConfig::new(Protocol::Anthropic, "local"), Http::new()).unwrap();
    let (mut reader, mut out) = (model.reader(), VecDeque::new());
    for chunk in bytes.chunks(size) {
        match reader.feed(chunk, &mut out) {
            Ok(false) => {}
            end => return (out.into(), end),
        }
    }
    (out.into(), Ok(false))
}

fn reply(bytes: &[u8], size: usize) -> ModelReply {
    let (deltas, end) = read(bytes, size);
    assert_eq!(end, Ok(true), "the reply is complete");
    fold(&deltas).finish()
}

fn fold(deltas: &[Delta]) -> ReplyBuilder {
    let mut builder = ReplyBuilder::new();
    deltas.iter().for_each(|delta| builder.push(delta));
    builder
}

fn stream(events: &[serde_json::Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
}

const TEXT: &str = include_str!("../wire/qwen05-llamaserver-messages-text.http");
const CALLS: [&str; 2] = [
    include_str!("../wire/qwen05-fenced-messages-any.http"),
    include_str!("../wire/qwen05-fenced-messages-auto.http"),
];

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
fn recorded_calls_that_begin_without_input() {
    for recorded in CALLS {
        for size in [1, 3, 1 << 20] {
            let reply = reply(body(recorded), size);
            let calls: Vec<_> = reply.tool_calls().collect();
            let [(id, "bash", ToolInput::Json(input))] = calls[..] else { panic!("{calls:?}") };
            assert_eq!(id.len(), 32);
            assert_eq!(*input, json!({"command": "ls"}));
            assert_eq!(reply.stop_reason, ModelStop::ToolUse);
        }
    }
}

#[test]
fn thinking_with_signature_and_redacted_thinking() {
    let bytes = stream(&[
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3, "cache_creation_input_tokens": 9}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "x=="}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "a_new_one"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]);
    let reply = reply(&bytes, 5);
    let thinking = Block::Thinking { thinking: "Hm".into(), signature: "c2ln".into() };
    assert_eq!(reply.blocks, [thinking, Block::RedactedThinking { data: "x==".into() }]);
    assert_eq!(reply.stop_reason, ModelStop::Other("a_new_one".into()));
    assert_eq!(reply.usage, Usage { input: 3, output: 5, cache_read: 0, cache_write: 9 });
    assert_eq!(reply.usage.prompt(), 12);
}

#[test]
fn a_full_context_is_a_reason_of_its_own() {
    let full =
        json!({"type": "message_delta", "delta": {"stop_reason": "model_context_window_exceeded"}});
    let reply = reply(&stream(&[full, json!({"type": "message_stop"})]), 30);
    assert_eq!(reply.stop_reason, ModelStop::ContextFull);
}

#[test]
fn the_unknown_and_garbage_are_passed_over() {
    let mut bytes = b"event: ping\ndata: {\"type\": \"ping\"}\n\ndata: not json\n\ndata: [1]\n\ndata: {\"type\":7}\n\n: comment\n\n".to_vec();
    bytes.extend(stream(&[
        json!({"type": "new_event", "index": {"no": "number"}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use", "id": "x", "name": "y", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "hi", "new": [1]}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta", "citation": {}}}),
        json!({"type": "message_stop"}),
    ]));
    let reply = reply(&bytes, 11);
    assert_eq!(reply.blocks, [Block::text("hi")]);
    assert_eq!(reply.stop_reason, ModelStop::EndTurn, "no reason said, no call made");
}

#[test]
fn arguments_whole_empty_broken_and_ids_missing_or_double() {
    let call = |index: u32, id: Option<&str>, input: serde_json::Value| json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": "t", "input": input}});
    let part = |index: u32, text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}});
    let end = |index: u32| json!({"type": "content_block_stop", "index": index});
    let bytes = stream(&[
        json!({"type": "message_start", "message": {"id": "msg-1"}}),
        call(0, Some("a"), json!({"whole": 1})),
        end(0),
        call(1, Some("a"), json!({"whole": 1})),
        part(1, ""),
        part(1, r#"{"parts":"#),
        part(1, "2}"),
        end(1),
        call(2, None, json!({})),
        end(2),
        call(3, Some(""), json!({})),
        part(3, r#"{"a": "#),
        end(3),
        json!({"type": "message_stop"}),
    ]);
    let whole = reply(&bytes, 64);
    let inputs: Vec<_> = whole.tool_calls().map(|(_, _, input)| input.clone()).collect();
    assert_eq!(
        inputs,
        [
            ToolInput::Json(json!({"whole": 1})),
            ToolInput::Json(json!({"parts": 2})),
            ToolInput::Json(json!({})),
            ToolInput::Broken(r#"{"a": "#.into()),
        ]
    );
    let ids: std::collections::HashSet<_> = whole.tool_calls().map(|(id, _, _)| id).collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert!(ids.iter().all(|id| !id.is_empty()));
    assert_eq!(whole.stop_reason, ModelStop::ToolUse);
}

#[test]
fn an_event_that_comes_again_says_nothing_new() {
    let rich = stream(&[
        json!({"type": "message_start", "message": {"id": "m"}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": "x=="}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Both: "}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "hi"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "a", "name": "t", "input": {"n": 1}}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "b", "name": "t", "input": {}}}),
        json!({"type": "content_block_delta", "index": 3, "delta": {"type": "input_json_delta", "partial_json": "{\"n\": 2}"}}),
        json!({"type": "content_block_stop", "index": 3}),
        json!({"type": "message_stop"}),
    ]);
    for bytes in [&rich, body(TEXT), body(CALLS[0]), body(CALLS[1])] {
        let text = std::str::from_utf8(bytes).unwrap();
        let events: Vec<&str> = text.split_inclusive("\n\n").collect();
        let read = |text: &str| {
            let (mut deltas, end) = read(text.as_bytes(), 1 << 20);
            // The same count again changes nothing.
            deltas.dedup_by(|a, b| matches!(a, Delta::Usage(_)) && a == b);
            (deltas, end)
        };
        let once = read(text);
        // Two pieces of the same words are as they should be.
        for event in events.iter().filter(|event| !event.contains("content_block_delta")) {
            let at = events.iter().position(|other| other == event).unwrap();
            // At once, a little later, or behind all others but the last.
            for later in [1, 2, 4, events.len()] {
                let mut events = events.clone();
                events.insert((at + later).min(events.len() - 1).max(at), event);
                let (mut deltas, end) = read(&events.concat());
                if event.contains("message_start") || event.contains("message_delta") {
                    deltas.retain(|delta| !matches!(delta, Delta::Usage(_)));
                    let said = once.0.iter().filter(|delta| !matches!(delta, Delta::Usage(_)));
                    assert_eq!(deltas, said.cloned().collect::<Vec<_>>(), "{event}");
                } else {
                    assert_eq!((deltas, end), once, "{event}");
                }
            }
        }
    }
}

#[test]
fn a_reply_with_a_hole_is_cut() {
    let call = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "t", "input": {}}});
    let part = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}});
    let end = json!({"type": "content_block_stop", "index": 0});
    // An event that may have held words, a call or the reason of the end can't be read.
    for garbage in [
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"keep/"#,
        r#"{"type":"content_block_delta","index":0,"delta":7}"#,
        r#"{"type":"content_block_delta","index":"none","delta":{"type":"input_json_delta","partial_json":"keep/"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tok"#,
    ] {
        let mut bytes = stream(&[call.clone(), part(r#"{"path":""#)]);
        bytes.extend(format!("data: {garbage}\n\n").bytes());
        bytes.extend(stream(&[part(r#"x.txt"}"#), end.clone(), json!({"type": "message_stop"})]));
        let (deltas, end) = read(&bytes, 11);
        assert!(
            matches!(&end, Err(error @ ModelError::Cut { .. }) if error.is_passing()),
            "{garbage}: {end:?}"
        );
        assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Stop(_))), "{deltas:?}");
    }
}

#[test]
fn a_call_whose_start_was_lost_leaves_a_hole_and_other_blocks_begin_without_one() {
    let part = |index: u32, kind: &str, member: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, member: "{}"}});
    let stop = json!({"type": "message_stop"});
    let call = part(1, "input_json_delta", "partial_json");
    for events in [
        vec![call.clone(), stop.clone()],
        vec![part(1, "text_delta", "text"), call.clone(), stop.clone()],
        vec![part(0, "text_delta", "text"), call, stop.clone()],
    ] {
        let end = read(&stream(&events), 30).1;
        assert!(
            matches!(&end, Err(error @ ModelError::Cut { .. }) if error.is_passing()),
            "{end:?}"
        );
    }
    let text = reply(&stream(&[part(3, "text_delta", "text"), stop]), 30);
    assert_eq!(text.blocks, [Block::text("{}")]);
}

#[test]
fn what_can_be_no_count_is_not_known() {
    let used = |usage: &str| {
        let start = format!(
            "data: {{\"type\":\"message_start\",\"message\":{{\"id\":\"m\",\"usage\":{usage}}}}}\n\n"
        );
        let end = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":-5}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
        reply((start + end).as_bytes(), 30).usage
    };
    for absurd in [
        "-1",
        "1e30",
        "2000000000000",
        "NaN",
        "-Infinity",
        "\"NaN\"",
        "\"many\"",
        "null",
        "[1]",
        "0.5",
    ] {
        let usage = used(&format!("{{\"input_tokens\":{absurd},\"cache_read_input_tokens\":7}}"));
        assert_eq!(usage, Usage { cache_read: 7, ..Usage::default() }, "{absurd}");
    }
    assert_eq!(used("{\"input_tokens\":1099511627776}").input, 1 << 40);
}

#[test]
fn whole_arguments_of_interleaved_calls() {
    let start = |index: u32, n: u32| json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": n.to_string(), "name": "t", "input": {"n": n}}});
    let part = |index: u32, text: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}});
    let end = |index: u32| json!({"type": "content_block_stop", "index": index});
    for (words, mut events) in [
        ("ends later", vec![start(0, 0), start(1, 1), end(0), end(1)]),
        ("ends in another order", vec![start(0, 0), start(1, 1), end(1), end(0)]),
        ("has no end", vec![start(0, 0), start(1, 1)]),
        ("has the place of the other", vec![start(0, 0), start(0, 1)]),
        (
            "is said in parts, too",
            vec![start(0, 0), start(1, 1), part(0, "{\"n\":"), part(0, "0}"), end(0), end(1)],
        ),
    ] {
        events.push(json!({"type": "message_stop"}));
        let reply = reply(&stream(&events), 9);
        let inputs: Vec<_> = reply.tool_calls().map(|(_, _, input)| input.clone()).collect();
        let expected = [0, 1].map(|n| ToolInput::Json(json!({ "n": n })));
        assert_eq!(inputs, expected, "a call that {words}");
    }
}

#[test]
fn blocks_without_number_are_refused() {
    let delta = |index: u32, kind: &str, member: &str| json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, member: "x"}});
    let text = |index: u32| delta(index, "text_delta", "text");
    let call = |n: u32| json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": n.to_string(), "name": "t"}});
    let other = |n: u32| match n % 2 {
        0 => text(7),
        _ => delta(7, "thinking_delta", "thinking"),
    };
    let mixed = |n: u32| if n < 500 { call(n) } else { text(n) };
    let ways: [(&str, &dyn Fn(u32) -> serde_json::Value); 4] =
        [("begun", &call), ("never begun", &text), ("of another kind", &other), ("mixed", &mixed)];
    for (words, event) in ways {
        let many: Vec<_> = (0..1_001).map(event).collect();
        let (deltas, end) = read(&stream(&many[..1_000]), 1 << 20);
        assert_eq!((deltas.len(), end), (1_000, Ok(false)), "{words}");
        let error = read(&stream(&many), 1 << 20).1.unwrap_err();
        assert!(matches!(error, ModelError::TooLarge { .. }), "{words}: {error:?}");
    }
    // A block may be of any length.
    let long: Vec<_> = (0..3_000).map(|n| text(n % 2)).collect();
    assert_eq!(read(&stream(&long), 1 << 20).1, Ok(false));
    // Ends of blocks that never began say nothing.
    let ends: Vec<_> =
        (0..3_000).map(|n| json!({"type": "content_block_stop", "index": n})).collect();
    assert_eq!(read(&stream(&ends), 1 << 20), (vec![], Ok(false)));
}

#[test]
fn members_of_another_type_are_read_as_what_they_mean_or_left_out() {
    let bytes = stream(&[
        json!({"type": "message_start", "message": {"id": 7, "usage": {"input_tokens": 3.0, "cache_read_input_tokens": "2", "cache_creation_input_tokens": []}}}),
        json!({"type": "content_block_start", "index": "0", "content_block": {"type": "tool_use", "id": 5, "name": "t", "input": {"n": 1}}}),
        json!({"type": "content_block_stop", "index": 0.0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": 5, "name": 9}}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "thinking", "thinking": 7, "signature": {}}}),
        json!({"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": ["no text"]}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens", "stop_sequence": 0}, "usage": {"output_tokens": 5.0}}),
        json!({"type": "message_delta", "delta": {"stop_reason": 7}, "usage": "none"}),
        json!({"type": "message_stop"}),
    ]);
    let reply = reply(&bytes, 10);
    assert_eq!(reply.stop_reason, ModelStop::MaxTokens);
    assert_eq!(reply.usage, Usage { input: 3, output: 5, cache_read: 2, cache_write: 0 });
    let calls: Vec<_> = reply.tool_calls().collect();
    let [(first, "t", input), (second, "", _)] = calls[..] else { panic!("{calls:?}") };
    assert_eq!(*input, ToolInput::Json(json!({"n": 1})));
    assert!(!first.is_empty() && !second.is_empty() && first != second, "{first} {second}");
    assert_eq!(reply.blocks.len(), 2);
}

const STOP: &str = "data: {\"type\":\"message_stop\"}\n\n";

/// A delta of a block, whose text is written as JSON has it.
fn part(index: u32, kind: &str, member: &str, text: &str) -> String {
    format!(
        r#"data: {{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{member}":"{text}"}}}}{}"#,
        "\n\n"
    )
}

#[test]
fn surrogate_pairs_cut_in_two() {
    let text = |parts: &[&str]| {
        let bytes =
            parts.iter().map(|text| part(0, "text_delta", "text", text)).collect::<String>() + STOP;
        reply(bytes.as_bytes(), 9).text()
    };
    assert_eq!(text(&[r"a\ud83d", r"\ude00b"]), "a😀b");
    assert_eq!(
        text(&[r#"\\ud83d \ud83d\ude00 \" \ud83d"#, r"\ude00\ud83d", r"\ude01"]),
        "\\ud83d 😀 \" 😀😁"
    );
    assert_eq!(text(&[r"a\ud83d", "b"]), "ab", "a lost half is lost");
    assert_eq!(text(&[r"\ude00a\ud83dz"]), "\u{fffd}a\u{fffd}z");
    // Only words of the same block come between the halves.
    assert_eq!(text(&[r"a\ud83d", "", r"\ude00b"]), "a😀b");
    assert_eq!(text(&[r"a\ud83d", "b", r"\ude00c"]), "ab\u{fffd}c");
    assert_eq!(text(&[r"a\ud83d", r#"\"\ude00"#]), "a\"\u{fffd}");
}

#[test]
fn surrogate_pairs_cut_in_two_with_other_events_between() {
    let start = |index: u32, block: &str| {
        format!(
            r#"data: {{"type":"content_block_start","index":{index},"content_block":{{{block}}}}}{}"#,
            "\n\n"
        )
    };
    let ping = "data: {\"type\":\"ping\"}\n\n: ping\n\ndata: garbage\n\n".to_owned();
    let whole = |events: &[String]| reply((events.concat() + STOP).as_bytes(), 9);
    let text = |index: u32, text: &str| part(index, "text_delta", "text", text);
    assert_eq!(whole(&[text(0, r"a\ud83d"), ping.clone(), text(0, r"\ude00b")]).text(), "a😀b");
    let both = [text(0, r"a\ud83d"), text(1, r"b\ud83d"), text(0, r"\ude00"), text(1, r"\ude01")];
    assert_eq!(whole(&both).text(), "a😀\nb😁");
    assert_eq!(whole(&[text(0, r"a\ud83d"), text(1, r"\ude00b")]).text(), "a\n\u{fffd}b");
    let begun = start(0, r#""type":"text","text":"a\ud83d""#);
    assert_eq!(whole(&[begun, ping.clone(), text(0, r"\ude00b")]).text(), "a😀b");
    let thoughts = |text: &str| part(0, "thinking_delta", "thinking", text);
    let thought = whole(&[thoughts(r"a\ud83d"), ping.clone(), thoughts(r"\ude00b")]);
    assert_eq!(
        thought.blocks,
        [Block::Thinking { thinking: "a😀b".into(), signature: String::new() }]
    );
    let call = |index: u32| {
        start(index, &format!(r#""type":"tool_use","id":"{index}","name":"t","input":{{}}"#))
    };
    let arguments = |index: u32, text: &str| part(index, "input_json_delta", "partial_json", text);
    let calls = whole(&[
        call(0),
        call(1),
        arguments(0, r#"{\"n\":\"\ud83d"#),
        arguments(1, r#"{\"n\":\"\ud83d"#),
        ping,
        arguments(0, ""),
        arguments(0, r#"\ude00\"}"#),
        arguments(1, r#"\ude01\"}"#),
    ]);
    let inputs: Vec<_> = calls.tool_calls().map(|(_, _, input)| input.clone()).collect();
    assert_eq!(inputs, ["😀", "😁"].map(|n| ToolInput::Json(json!({ "n": n }))));
}

#[test]
fn a_server_may_guess_the_ids_that_are_made_here() {
    let call = |index: usize, id: &str| json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": "t"}});
    let mut events = vec![json!({"type": "message_start", "message": {"id": "m"}})];
    let guesses = (0..9).flat_map(|block| (0..9).map(move |n| format!("call_m_{block}_{n}")));
    events.extend(guesses.enumerate().map(|(index, id)| call(index, &id)));
    events.extend((81..90).map(|index| call(index, "")));
    events.insert(5, call(90, ""));
    events.push(json!({"type": "message_stop"}));
    let reply = reply(&stream(&events), 1 << 20);
    let ids: std::collections::HashSet<_> = reply.tool_calls().map(|(id, _, _)| id).collect();
    assert_eq!(ids.len(), 91);
}

#[test]
fn errors_in_mid_stream_by_kind() {
    let error = |kind: &str, message: &str| {
        let event = json!({"type": "error", "error": {"type": kind, "message": message}});
        read(&stream(&[event]), 10).1.unwrap_err()
    };
    assert_eq!(
        error("overloaded_error", "Overloaded"),
        ModelError::Overloaded { message: "Overloaded".into(), retry_after: None }
    );
    assert!(error("overloaded_error", "").is_passing() && error("api_error", "").is_passing());
    assert!(error("something_new", "").is_passing());
    assert_eq!(
        error("invalid_request_error", "no"),
        ModelError::InvalidRequest { message: "no".into() }
    );
    let long = error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum");
    assert!(matches!(long, ModelError::ContextLength { .. }) && !long.is_passing());
}

#[test]
fn a_partial_reply_keeps_only_what_may_stay() {
    let call = |index, id: &str| Delta::ToolUse { index, id: id.into(), name: "t".into() };
    let json = |index, text: &str| Delta::ToolInput { index, partial_json: text.into() };
    let deltas = [
        Delta::Thinking { index: 0, text: "seen".into() },
        Delta::Signature { index: 0, signature: "s".into() },
        Delta::BlockEnd { index: 0 },
        Delta::Thinking { index: 1, text: "unsigned".into() },
        Delta::BlockEnd { index: 1 },
        Delta::Text { index: 2, text: " \n".into() },
        Delta::BlockEnd { index: 2 },
        call(3, "whole"),
        json(3, "{}"),
        Delta::BlockEnd { index: 3 },
        Delta::Text { index: 4, text: "half a sen".into() },
        call(5, "cut"),
        json(5, "{}"),
    ];
    let partial = fold(&deltas).finish_partial();
    let signed = Block::Thinking { thinking: "seen".into(), signature: "s".into() };
    let input = ToolInput::Json(json!({}));
    let kept = Block::ToolUse { id: "whole".into(), name: "t".into(), input };
    assert_eq!(partial.blocks, [signed, kept, Block::text("half a sen")]);
    assert_eq!(partial.stop_reason, ModelStop::Other("interrupted".into()));

    let mut again = fold(&deltas);
    let wait = std::time::Duration::ZERO;
    again.push(&Delta::Retrying { attempt: 2, wait, reason: "cut".into() });
    assert_eq!(again.finish_partial().blocks, [], "what came before a retry is void");
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 1_usize..50) {
        let (deltas, _) = read(&bytes, size);
        fold(&deltas).finish_partial();
    }

    /// Recorded streams with bytes overwritten: never a panic, and a partial that serialises.
    #[test]
    fn damaged_recordings_are_survived(which in 0_usize..3, damage in prop::collection::vec((0_usize..1500, any::<u8>()), 1..12), size in 1_usize..99) {
        let mut bytes = body([TEXT, CALLS[0], CALLS[1]][which]).to_vec();
        for (at, byte) in damage {
            if let Some(place) = bytes.get_mut(at) { *place = byte; }
        }
        let (deltas, end) = read(&bytes, size);
        let (whole, end_whole) = read(&bytes, bytes.len().max(1));
        prop_assert_eq!(&deltas, &whole);
        prop_assert_eq!(end, end_whole);
        let partial = fold(&deltas).finish_partial();
        prop_assert!(partial.blocks.iter().all(|block| !block.is_blank()));
    }
}
