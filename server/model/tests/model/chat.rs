//! Chat Completions: recorded answers of real servers, in any chunks, and what servers make of the
//! protocol.

use proptest::prelude::*;
use ropewalk_model::{
    Block, Delta, Http, ModelError, ModelReply, ModelStop, Protocol, ReplyBuilder, ServerConfig,
    ServerModel, ToolInput,
};
use ropewalk_protocol::Usage;
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};

const LLAMA_TEXT: &str = include_str!("../wire/qwen05-llamaserver-chat-text.http");
const LLAMA_CALL: &str = include_str!("../wire/qwen05-fenced-chat-auto.http");
const PYTHON_TEXT: &str = include_str!("../wire/smollm2-text-stream.http");
const PYTHON_CALL: &str = include_str!("../wire/qwen05-default-forced.http");
const RECORDED: [&str; 4] = [LLAMA_TEXT, LLAMA_CALL, PYTHON_TEXT, PYTHON_CALL];

fn body(recorded: &'static str) -> &'static [u8] {
    recorded.split_once("\r\n\r\n").or(recorded.split_once("\n\n")).unwrap().1.as_bytes()
}

/// All deltas; the end is that of the events, or of the bytes after the last of them.
fn read_pieces<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Delta>, Result<bool, ModelError>) {
    let config = ServerConfig::new(Protocol::Chat, "local");
    let model = ServerModel::new(config, Http::new()).unwrap();
    let (mut reader, mut out) = (model.reader(), VecDeque::new());
    for piece in pieces {
        match reader.feed(piece, &mut out) {
            Ok(false) => {}
            end => return (out.into(), end),
        }
    }
    let end = reader.end(&mut out);
    (out.into(), Ok(end))
}

fn read(bytes: &[u8], size: usize) -> (Vec<Delta>, Result<bool, ModelError>) {
    read_pieces(bytes.chunks(size))
}

fn fold(deltas: &[Delta]) -> ReplyBuilder {
    let mut builder = ReplyBuilder::new();
    deltas.iter().for_each(|delta| builder.push(delta));
    builder
}

fn reply(bytes: &[u8], size: usize) -> ModelReply {
    let (deltas, end) = read(bytes, size);
    assert_eq!(end, Ok(true), "the reply is complete");
    assert!(matches!(deltas.last(), Some(Delta::Stop(_))), "{deltas:?}");
    fold(&deltas).finish()
}

fn stream(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
}

fn delta(delta: Value) -> Value {
    json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(word: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]})
}

fn calls(calls: Value) -> Value {
    delta(json!({ "tool_calls": calls }))
}

/// The reply of these deltas and an end.
fn said(deltas: &[Value]) -> ModelReply {
    let mut events = deltas.to_vec();
    events.push(finish("stop"));
    reply(&stream(&events), 13)
}

fn inputs(reply: &ModelReply) -> Vec<(&str, ToolInput)> {
    reply.tool_calls().map(|(_, name, input)| (name, input.clone())).collect()
}

fn args(value: Value) -> ToolInput {
    ToolInput::Json(value)
}

#[test]
fn recorded_texts() {
    for size in [1, 2, 7, 100, 1 << 20] {
        let llama = reply(body(LLAMA_TEXT), size);
        assert_eq!(llama.blocks, [Block::text("The capital of France is Paris.")]);
        assert_eq!(llama.stop_reason, ModelStop::EndTurn);
        assert_eq!(llama.usage, Usage { input: 17, output: 8, cache_read: 24, cache_write: 0 });
        let python = reply(body(PYTHON_TEXT), size);
        assert_eq!(python.blocks, llama.blocks, "comments in mid-stream say nothing");
        assert_eq!(python.usage, Usage::default());
    }
}

#[test]
fn recorded_calls() {
    for (recorded, id) in [(LLAMA_CALL, "XnC8YROcyVDlzLIpTCN6hcEeYRV5Yb7J"), (PYTHON_CALL, "")] {
        for size in [1, 3, 1 << 20] {
            let reply = reply(body(recorded), size);
            let calls: Vec<_> = reply.tool_calls().collect();
            let [(found, "bash", ToolInput::Json(input))] = calls[..] else { panic!("{calls:?}") };
            assert!(found.starts_with(id) && found.len() > 9, "{found}");
            assert!(input["command"].is_string(), "{input}");
            assert_eq!(reply.blocks.len(), 1, "said in two ways, it is one call");
            assert_eq!(reply.stop_reason, ModelStop::ToolUse);
        }
    }
}

#[test]
fn interleaved_parallel_calls() {
    let reply = said(&[
        delta(json!({"role": "assistant", "content": "Both:"})),
        calls(
            json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "x", "arguments": ""}}]),
        ),
        calls(json!([{"index": 1, "id": "b", "function": {"name": "x", "arguments": "{\"n\""}}])),
        calls(
            json!([{"index": 0, "function": {"arguments": "{\"n\":"}}, {"index": 1, "function": {"arguments": ": 2}"}}]),
        ),
        calls(json!([{"index": 0, "function": {"arguments": " 1}"}}])),
    ]);
    assert_eq!(reply.text(), "Both:");
    assert_eq!(inputs(&reply), [("x", args(json!({"n": 1}))), ("x", args(json!({"n": 2})))]);
    assert_eq!(reply.tool_calls().map(|(id, _, _)| id).collect::<Vec<_>>(), ["a", "b"]);
}

/// Two calls of `x`, with `n` 1 and 2, as servers send them: for each delta the index, the id, the name and the arguments.
const NAMED: &[(&str, &str)] = &[
    ("all at index 0", r#"[[0, "a", "x", "{\"n\": 1}"], [0, "b", "x", "{\"n\": 2}"]]"#),
    ("all at index 0, no id", r#"[[0, null, "x", "{\"n\": 1}"], [0, null, "x", "{\"n\": 2}"]]"#),
    (
        "neither index nor id",
        r#"[[null, null, "x", "{\"n\":"], [null, null, null, " 1}"], [null, null, "x", "{\"n\": 2}"]]"#,
    ),
    (
        "ids alone, interleaved",
        r#"[[null, "a", "x", "{"], [null, "b", "x", "{\"n\": 2}"], [null, "a", null, "\"n\": 1}"]]"#,
    ),
    (
        "name and id in every delta",
        r#"[
            [0, "a", "x", "{\"n\""],
            [0, "a", "x", ": 1}"],
            [0, "a", "x", ""],
            [1, "b", "x", "{\"n\": 2}"]
        ]"#,
    ),
    (
        "another id in every delta",
        r#"[
            [0, "a", "x", "{\"n\""],
            [0, "b", "x", ": 1}"],
            [1, "c", "x", "{\"n\""],
            [1, "d", null, ": 2}"]
        ]"#,
    ),
    (
        "arguments as objects, the same id twice, an index that is text",
        r#"[["0", "a", "x", {"n": 1}], ["1", "a", "x", {"n": 2}]]"#,
    ),
    (
        "the id first, the name later",
        r#"[
            [0, "a", null, null],
            [0, null, null, "{\"n\""],
            [0, null, "x", ": 1}"],
            [1, "b", "x", "{\"n\": 2}"]
        ]"#,
    ),
];

/// The deltas of a row of [`NAMED`].
fn named(row: &str) -> Vec<Value> {
    let deltas: Vec<[Value; 4]> = serde_json::from_str(row).unwrap();
    let call = |[index, id, name, arguments]: [Value; 4]| {
        let mut call = json!({"function": {"name": name, "arguments": arguments}});
        for (key, value) in [("index", index), ("id", id)] {
            if !value.is_null() {
                call.as_object_mut().unwrap().insert(key.to_owned(), value);
            }
        }
        calls(json!([call]))
    };
    deltas.into_iter().map(call).collect()
}

#[test]
fn calls_however_they_are_named() {
    let two = [("x", args(json!({"n": 1}))), ("x", args(json!({"n": 2})))];
    for (words, deltas) in NAMED {
        let reply = said(&named(deltas));
        assert_eq!(inputs(&reply), two, "{words}");
        let ids: HashSet<_> = reply.tool_calls().map(|(id, _, _)| id).collect();
        assert!(ids.len() == 2 && !ids.contains(""), "{words}: {ids:?}");
    }
    let same = said(&named(r#"[[0, "a", "x", "{\"n\": 1}"], [1, "a", "x", {"n": 2}]]"#));
    assert_eq!(inputs(&same), two);
    let ids: Vec<_> = same.tool_calls().map(|(id, _, _)| id).collect();
    assert!(ids[0] == "a" && ids[1] != "a", "{ids:?}");
}

/// One call of `x`, of whose end some servers send a part again.
const REPEATED: &[(&str, &str)] = &[
    (
        "the last piece",
        r#"[
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"n\":{"}},
            {"index": 0, "function": {"arguments": "\"m\":1}}"}},
            {"index": 0, "function": {"arguments": "\"m\":1}}"}}
        ]"#,
    ),
    (
        "the last bracket",
        r#"[
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"n\":{\"m\":1}"}},
            {"index": 0, "function": {"arguments": "}"}},
            {"index": 0, "function": {"arguments": "}"}}
        ]"#,
    ),
    (
        "all of it at the end",
        r#"[
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"n\":{"}},
            {"index": 0, "function": {"arguments": "\"m\":1}}"}},
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"n\":{\"m\":1}}"}}
        ]"#,
    ),
    (
        "a call in one piece",
        r#"[
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"n\":{\"m\":1}}"}},
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"n\":{\"m\":1}}"}}
        ]"#,
    ),
    (
        "a call in one piece, no id",
        r#"[
            {"index": 0, "function": {"name": "x", "arguments": "{\"n\":{\"m\":1}}"}},
            {"index": 0, "function": {"name": "x", "arguments": "{\"n\":{\"m\":1}}"}}
        ]"#,
    ),
    (
        "arguments as an object",
        r#"[
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": {"n": {"m": 1}}}},
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": {"n": {"m": 1}}}}
        ]"#,
    ),
];

#[test]
fn the_end_of_a_call_that_comes_again_says_nothing_new() {
    let part = |json: Value| calls(json!([json]));
    for (words, deltas) in REPEATED {
        let deltas: Vec<Value> = serde_json::from_str(deltas).unwrap();
        let deltas: Vec<Value> = deltas.into_iter().map(part).collect();
        assert_eq!(inputs(&said(&deltas)), [("x", args(json!({"n": {"m": 1}})))], "{words}");
        // Another call in between does not matter to one with an index and an id.
        if *words == "a call in one piece" {
            let other =
                json!({"index": 1, "id": "b", "function": {"name": "y", "arguments": "{}"}});
            let reply = said(&[deltas[0].clone(), part(other), deltas[1].clone()]);
            assert_eq!(inputs(&reply).len(), 2, "{reply:?}");
            assert_eq!(inputs(&reply)[0], ("x", args(json!({"n": {"m": 1}}))));
        }
    }
}

#[test]
fn odd_calls_are_calls() {
    let nameless =
        said(&[calls(json!([{"index": 0, "id": "a", "function": {"arguments": "{}"}}]))]);
    assert_eq!(inputs(&nameless), [("", args(json!({})))]);
    let legacy = said(&[
        delta(json!({"content": null, "function_call": {"name": "x", "arguments": ""}})),
        delta(json!({"function_call": {"arguments": "{\"n\":"}})),
        delta(json!({"function_call": {"arguments": "1}"}})),
    ]);
    assert_eq!(inputs(&legacy), [("x", args(json!({"n": 1})))]);
    let cut = said(&[calls(
        json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"n\""}}]),
    )]);
    assert_eq!(inputs(&cut), [("x", ToolInput::Broken("{\"n\"".into()))]);
}

#[test]
fn thoughts_under_any_name() {
    let expected = [
        Block::Thinking { thinking: "Hm, yes".into(), signature: String::new() },
        Block::text("Hi"),
    ];
    for deltas in [
        vec![
            delta(json!({"content": null, "reasoning_content": "Hm"})),
            delta(json!({"content": "", "reasoning_content": ", yes"})),
            delta(json!({"content": "Hi", "reasoning_content": null})),
        ],
        vec![
            delta(json!({"reasoning": "Hm", "reasoning_content": "Hm"})),
            delta(json!({"reasoning": ", yes", "reasoning_details": []})),
            delta(json!({"content": "Hi"})),
        ],
        vec![delta(json!({"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm, yes"}]},
            {"type": "text", "text": "Hi"},
        ]}))],
    ] {
        assert_eq!(said(&deltas).blocks, expected);
    }
}

#[test]
fn how_a_reply_ends() {
    let hi = delta(json!({"content": "hi"}));
    let end = |word: &str| reply(&stream(&[hi.clone(), finish(word)]), 9).stop_reason;
    for (word, reason) in [
        ("stop", ModelStop::EndTurn),
        ("length", ModelStop::MaxTokens),
        ("content_filter", ModelStop::Refusal),
        ("tool_calls", ModelStop::ToolUse),
        ("function_call", ModelStop::ToolUse),
        ("model_length", ModelStop::ContextFull),
        ("cancelled", ModelStop::Other("cancelled".into())),
        ("a_new_one", ModelStop::Other("a_new_one".into())),
    ] {
        assert_eq!(end(word), reason);
    }
    let mut done = stream(std::slice::from_ref(&hi));
    assert_eq!(read(&done, 9).1, Ok(false), "no reason and no last event: cut");
    done.extend(b"data: [DONE]\n\n");
    assert_eq!(reply(&done, 9).stop_reason, ModelStop::EndTurn);
    assert!(read(b"data: [DONE]\n\n", 9).1.unwrap_err().is_passing(), "nothing was said");
    assert_eq!(read(&stream(&[hi.clone(), finish("")]), 9).1, Ok(false), "an empty reason is none");

    let refusal = said(&[delta(json!({"refusal": "I will "})), delta(json!({"refusal": "not."}))]);
    assert_eq!(refusal.text(), "I will not.");
    assert_eq!(refusal.stop_reason, ModelStop::Refusal);
}

#[test]
fn a_whole_message_in_a_stream_is_the_reply() {
    let call =
        json!({"id": "c", "type": "function", "function": {"name": "t", "arguments": "{\"n\":1}"}});
    let message = json!({"role": "assistant", "content": "hi", "reasoning_content": "hm", "tool_calls": [call]});
    let whole =
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let thought = Block::Thinking { thinking: "hm".into(), signature: String::new() };
    for size in [3, 1 << 20] {
        let reply = reply(&stream(std::slice::from_ref(&whole)), size);
        assert_eq!(reply.blocks[..2], [thought.clone(), Block::text("hi")]);
        assert_eq!(inputs(&reply), [("t", args(json!({"n": 1})))]);
        assert_eq!(reply.stop_reason, ModelStop::ToolUse);
    }
    // Behind its deltas it says nothing new.
    let reply = said(&[delta(json!({"content": "hi"})), whole]);
    assert_eq!(reply.blocks, [Block::text("hi")]);
}

#[test]
fn what_can_be_no_count_is_not_known() {
    let hi = "data: {\"choices\":[{\"delta\":{\"content\":\"NaN \\\"Infinity\"},\"finish_reason\":\"stop\"}]}\n\n";
    let known =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\n";
    for absurd in ["-1", "1e30", "2000000000000", "NaN", "Infinity", "\"NaN\"", "{}", "0.5"] {
        let usage = format!("{{\"prompt_tokens\":{absurd},\"completion_tokens\":{absurd}}}");
        let event = format!("data: {{\"choices\":[],\"usage\":{usage}}}\n\n");
        let reply = reply((hi.to_owned() + known + &event).as_bytes(), 30);
        assert_eq!(reply.text(), "NaN \"Infinity", "words are no numbers");
        assert_eq!(reply.usage, Usage { input: 9, output: 3, ..Usage::default() }, "{absurd}");
    }
    // Beside a number that is none, words are read.
    let odd = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"logprobs\":{\"x\":[-Infinity,NaN]}}]}\n\n";
    assert_eq!(reply((odd.to_owned() + "data: [DONE]\n\n").as_bytes(), 30).text(), "hi");
}

#[test]
fn usage_wherever_it_stands() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": null}});
    let expected = Usage { input: 6, output: 3, cache_read: 4, cache_write: 0 };
    let with = |event: Value| {
        let events = [delta(json!({"content": "hi"})), finish("stop"), event];
        reply(&stream(&events), 50).usage
    };
    assert_eq!(with(json!({"choices": [], "usage": usage})), expected);
    assert_eq!(with(json!({"choices": null, "usage": usage})), expected);
    assert_eq!(with(json!({"usage": usage})), expected);
    assert_eq!(with(json!({"choices": [], "x_groq": {"usage": usage}})), expected);
    assert_eq!(with(json!({"choices": [{"delta": {}, "usage": usage}]})), expected);
    let deepseek = json!({"prompt_tokens": 10, "completion_tokens": 3, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6});
    assert_eq!(with(json!({"choices": [], "usage": deepseek})), expected);
    assert_eq!(with(json!({"choices": [], "usage": {"prompt_tokens": "many"}})), Usage::default());
}

#[test]
fn errors_in_mid_stream() {
    let error = |event: Value| read(&stream(&[event]), 20).1.unwrap_err();
    let coded = |code: Value, message: &str| {
        error(
            json!({"choices": [{"delta": {"content": ""}, "finish_reason": "error"}], "error": {"code": code, "message": message}}),
        )
    };
    assert_eq!(
        coded(json!(429), "slow"),
        ModelError::RateLimited { message: "slow".into(), retry_after: None }
    );
    assert_eq!(
        coded(json!(502), "bad"),
        ModelError::Server { message: "bad".into(), retry_after: None }
    );
    assert_eq!(coded(json!(400), "no"), ModelError::InvalidRequest { message: "no".into() });
    assert_eq!(
        coded(json!("server_is_overloaded"), ""),
        ModelError::Overloaded { message: "no reason given".into(), retry_after: None }
    );
    assert!(coded(json!(null), "what?").is_passing(), "of no known kind: it may pass");
    let long = coded(json!("context_length_exceeded"), "long");
    assert_eq!(long, ModelError::ContextLength { message: "long".into() });
    let bare =
        error(json!({"object": "error", "message": "maximum context length is 8", "code": 400}));
    assert!(matches!(bare, ModelError::ContextLength { .. }), "{bare:?}");
    assert!(matches!(error(json!({"error": "out of memory"})), ModelError::Server { .. }));
    assert!(error(finish("error")).is_passing());
    assert!(error(finish("insufficient_system_resource")).is_passing());
}

#[test]
fn garbage_is_passed_over() {
    let mut bytes = b": OPENROUTER PROCESSING\n\ndata: not json\n\ndata: 7\n\nevent: x\n\ndata: {}\n\ndata: {\"id\": \"c\", \"usa\n\n".to_vec();
    bytes.extend(stream(&[
        delta(json!({"content": 7, "tool_calls": [], "audio": {"x": 1}})),
        delta(json!({"content": {"text": "?"}, "role": 7})),
        delta(json!({"content": "hi", "annotations": [1]})),
        json!({"choices": [null]}),
        json!({"choices": [{"delta": null, "finish_reason": null}, {"delta": {"content": "the second choice"}}]}),
        calls(json!([{"index": 0}])),
        finish("stop"),
    ]));
    let reply = reply(&bytes, 11);
    assert_eq!(reply.blocks, [Block::text("hi")]);
}

#[test]
fn a_reply_with_a_hole_is_cut() {
    let cut = |bytes: &[u8]| {
        let (deltas, end) = read(bytes, 11);
        assert!(
            matches!(&end, Err(error @ ModelError::Cut { .. }) if error.is_passing()),
            "{end:?}"
        );
        assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Stop(_))), "{deltas:?}");
    };
    // An event that may have held words or a call can't be read.
    for garbage in [
        r#"{"id": "c", "choices": [{"index": 0, "delta": {"content": "not "#,
        r#"{"choices": 7}"#,
        r#"{"choices": [{"delta": [1, 2]}]}"#,
        r#"{"choices": [{"delta": {"tool_calls": {"index": 0}}}]}"#,
    ] {
        let mut bytes = stream(&[delta(json!({"content": "I do "}))]);
        bytes.extend(format!("data: {garbage}\n\n").bytes());
        bytes.extend(stream(&[delta(json!({"content": "delete it."})), finish("stop")]));
        bytes.extend(b"data: [DONE]\n\n");
        cut(&bytes);
    }
    // It ends without a reason in the midst of a call's arguments.
    let part = |arguments: &str| {
        calls(json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": arguments}}]))
    };
    let ended = |arguments: &str| [stream(&[part(arguments)]), b"data: [DONE]\n\n".into()].concat();
    for half in ["{", r#"{"n": [1"#, r#"{"n": "}"#] {
        cut(&ended(half));
        let named = reply(&[stream(&[part(half), finish("tool_calls")])].concat(), 9);
        assert_eq!(
            inputs(&named),
            [("x", ToolInput::Broken(half.into()))],
            "with a reason it is the model's"
        );
    }
    assert_eq!(inputs(&reply(&ended(r#"{"n": 1}"#), 9)), [("x", args(json!({"n": 1})))]);
    assert_eq!(inputs(&reply(&ended(""), 9)), [("x", args(json!({})))]);
}

#[test]
fn calls_and_blocks_without_number_are_refused() {
    let call = |n: u32| {
        calls(
            json!([{"index": n, "id": n.to_string(), "function": {"name": "x", "arguments": "{}"}}]),
        )
    };
    let thought = || delta(json!({"reasoning": "x"}));
    let turns =
        |n: u32| if n.is_multiple_of(2) { thought() } else { delta(json!({"content": "x"})) };
    let listed = |n: u32| match n % 2 {
        0 => delta(json!({"content": [{"type": "thinking", "thinking": "x"}]})),
        _ => delta(json!({"content": [{"type": "text", "text": "x"}]})),
    };
    let mixed = |n: u32| if n < 500 { call(n) } else { turns(n) };
    let ways: [(&str, &dyn Fn(u32) -> Value); 4] =
        [("calls", &call), ("turns", &turns), ("lists", &listed), ("mixed", &mixed)];
    for (words, event) in ways {
        let many: Vec<Value> = (0..1_001).map(event).collect();
        let (deltas, end) = read(&stream(&many[..1_000]), 1 << 20);
        assert!(deltas.len() >= 1_000 && end == Ok(false), "{words}: {end:?}");
        let error = read(&stream(&many), 1 << 20).1.unwrap_err();
        assert!(matches!(error, ModelError::TooLarge { .. }), "{words}: {error:?}");
    }
    // All in one event.
    let parts: Vec<Value> = (0..1_001)
        .flat_map(|_| {
            [json!({"type": "thinking", "thinking": "x"}), json!({"type": "text", "text": "x"})]
        })
        .collect();
    let one = delta(json!({ "content": parts }));
    assert_eq!(read(&stream(&[one]), 1 << 20).1, Ok(false), "these parts are two blocks");
    let long: Vec<Value> = (0..3_000).map(|_| thought()).collect();
    assert_eq!(read(&stream(&long), 1 << 20).1, Ok(false), "a block may be of any length");
}

#[test]
fn numbers_of_another_type() {
    let usage = json!({"prompt_tokens": 10.0, "completion_tokens": "3", "prompt_tokens_details": {"cached_tokens": 4.0, "cache_write_tokens": {}}});
    let reply = said(&[
        calls(json!([{"index": 0.0, "id": 7, "function": {"name": "x", "arguments": "{\"n\":"}}])),
        calls(json!([{"index": "1", "id": 8, "function": {"name": "x", "arguments": "{}"}}])),
        calls(json!([{"index": 0.0, "function": {"arguments": "1}"}}])),
        json!({"choices": [], "usage": usage}),
    ]);
    assert_eq!(inputs(&reply), [("x", args(json!({"n": 1}))), ("x", args(json!({})))]);
    assert_eq!(reply.usage, Usage { input: 6, output: 3, cache_read: 4, cache_write: 0 });
}

#[test]
fn surrogate_pairs_cut_in_two() {
    let event = |members: &str| format!("data: {{\"choices\":[{{\"delta\":{{{members}}}}}]}}\n\n");
    let text = |parts: &[&str]| {
        let events: String =
            parts.iter().map(|part| event(&format!("\"content\":\"{part}\""))).collect();
        reply((events + "data: [DONE]\n\n").as_bytes(), 9).text()
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
    let text = |parts: &[&str]| {
        let events: String = parts.iter().map(|part| event(part)).collect();
        reply((events + "data: [DONE]\n\n").as_bytes(), 9).text()
    };
    let (first, second) = (r#""content":"a\ud83d""#, r#""content":"\ude00b""#);
    assert_eq!(text(&[first, r#""role":"assistant""#, second]), "a😀b");
    assert_eq!(text(&[first, r#""reasoning_content":"","content":"\ude00b""#]), "a😀b");
    assert_eq!(text(&[first, r#""reasoning":"","content":null"#, second]), "a😀b");
    assert_eq!(text(&[r#""content":"\ud83d""#, r#""reasoning":"""#, second]), "😀b");
    assert_eq!(text(&[first, r#""reasoning":"\ude00""#, second]), "a\n\u{fffd}b");
    let called = r#""tool_calls":[{"index":0,"id":"c","function":{"name":"x","arguments":"{}"}}]"#;
    assert_eq!(text(&[first, called, second]), "a\n\u{fffd}b");
    // Two calls at once, each with a pair cut in two.
    let call = |index: u32, name: &str, part: &str| {
        event(&format!(
            r#""tool_calls":[{{"index":{index},"id":"{index}","function":{{"name":"{name}","arguments":"{part}"}}}}]"#
        ))
    };
    let bytes = [
        call(0, "x", r#"{\"n\":\"\ud83d"#),
        call(1, "x", r#"{\"n\":\"\ud83d"#),
        call(0, "", ""),
        call(0, "", r#"\ude00\"}"#),
        call(1, "", r#"\ude01\"}"#),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let reply = reply(bytes.as_bytes(), 10);
    assert_eq!(inputs(&reply), [("x", args(json!({"n": "😀"}))), ("x", args(json!({"n": "😁"})))]);
}

proptest! {
    /// Wherever the bytes are cut, the deltas are the same.
    #[test]
    fn any_split_gives_the_same_deltas(which in 0_usize..4, cuts in prop::collection::btree_set(0_usize..6_000, 0..40)) {
        let bytes = body(RECORDED[which]);
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().filter(|cut| *cut < bytes.len()).chain([bytes.len()]) {
            pieces.push(&bytes[from..cut]);
            from = cut;
        }
        let (deltas, end) = read_pieces(pieces.into_iter());
        let (whole, end_whole) = read(bytes, bytes.len());
        prop_assert_eq!(deltas, whole);
        prop_assert_eq!(end, end_whole);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 1_usize..50) {
        let (deltas, _) = read(&bytes, size);
        fold(&deltas).finish_partial();
    }

    /// Recorded streams with bytes overwritten: never a panic, and a partial that can stay.
    #[test]
    fn damaged_recordings_are_survived(which in 0_usize..4, damage in prop::collection::vec((0_usize..4_000, any::<u8>()), 1..12), size in 1_usize..99) {
        let mut bytes = body(RECORDED[which]).to_vec();
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

/// An event with these calls, and one with the end.
fn calling(events: &[Value]) -> ModelReply {
    let mut all: Vec<Value> =
        events.iter().map(|delta| json!({"choices": [{"delta": delta}]})).collect();
    all.push(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
    reply(&stream(&all), 30)
}

#[test]
fn two_calls_of_one_event_are_two_whatever_names_them() {
    let call = |index: Value, id: &str, input: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": "bash", "arguments": input}});
    for (index, ids) in [
        (json!(0), ["bash", "bash"]),
        (json!(null), ["bash", "bash"]),
        (json!(0), ["a", "b"]),
        (json!(0), ["", ""]),
    ] {
        let calls = [call(index.clone(), ids[0], "{\"a\":1}"), call(index, ids[1], "{\"a\":2}")];
        let reply = calling(&[json!({ "tool_calls": calls })]);
        let inputs: Vec<ToolInput> =
            reply.tool_calls().map(|(_, _, input)| input.clone()).collect();
        let expected = [1, 2].map(|a| ToolInput::Json(json!({ "a": a })));
        assert_eq!(inputs, expected, "{ids:?}");
        let ids: HashSet<&str> = reply.tool_calls().map(|(id, _, _)| id).collect();
        assert_eq!(ids.len(), 2);
    }
}

#[test]
fn a_signature_that_comes_by_itself_belongs_to_its_call() {
    let call = json!({"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]});
    let signature = json!({"google": {"thought_signature": "REAL"}});
    for event in [
        json!({"tool_calls": [{"id": "c1", "extra_content": signature}]}),
        json!({"tool_calls": [{"extra_content": signature}]}),
        json!({"extra_content": signature}),
    ] {
        let reply = calling(&[call.clone(), event.clone()]);
        let kept = format!("{:?}", reply.blocks);
        assert!(kept.contains("REAL"), "{event}: {kept}");
        assert_eq!(reply.tool_calls().count(), 1, "{event}");
    }
    let marked = json!({"content": "x", "extra_content": {"google": {"thought": true}}});
    let reply = calling(&[call, marked]);
    assert!(!format!("{:?}", reply.blocks).contains("thought"), "{:?}", reply.blocks);
}
