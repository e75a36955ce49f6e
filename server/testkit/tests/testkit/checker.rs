//! The scripted model's checker: every rule is broken once, and the checker says so.
#![expect(clippy::type_complexity, reason = "helpers of tests may be blunt, as tests are")]

use ropewalk_model::Protocol;
use ropewalk_testkit::model::{ScriptedReply, check::Checker};
use serde_json::{Value, json};

fn faults(body: &Value) -> Vec<String> {
    Checker::new(Protocol::Anthropic).check("main", &body.to_string())
}

/// A request that keeps all rules: a prompt, two calls, their results and more text.
fn good() -> Value {
    let marker = json!({"type": "ephemeral"});
    json!({
        "model": "m", "max_tokens": 10, "stream": true,
        "system": [{"type": "text", "text": "be brief", "cache_control": marker}],
        "tools": [{"name": "bash", "description": "", "input_schema": {"type": "object"}, "cache_control": marker}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": marker}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "a", "name": "bash", "input": {}},
                {"type": "tool_use", "id": "b", "name": "bash", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "is_error": true},
                {"type": "text", "text": "go on", "cache_control": marker},
            ]},
        ],
    })
}

/// Changes the good request at a JSON pointer; expects exactly one fault, with these words.
#[track_caller]
fn check(pointer: &str, value: Value, words: &str) {
    let mut body = good();
    *body.pointer_mut(pointer).unwrap() = value;
    let faults = faults(&body);
    assert!(faults.iter().any(|fault| fault.contains(words)), "{words:?} not in {faults:#?}");
}

#[test]
fn a_good_request_has_no_fault() {
    assert_eq!(faults(&good()), [""; 0]);
    let recorded = include_str!("../../../model/tests/wire/req-messages-auto.json");
    assert_eq!(Checker::new(Protocol::Anthropic).check("main", recorded), [""; 0]);
}

#[test]
fn the_shape() {
    assert!(Checker::new(Protocol::Anthropic).check("main", "{oops")[0].contains("no JSON"));
    check("/model", json!(""), "no model");
    check("/max_tokens", json!(0), "max_tokens");
    check("/stream", json!(false), "stream");
    check("/system", json!(" "), "system says nothing");
    check("/system", json!([]), "system says nothing");
    check("/system/0/text", json!("\n"), "without text");
    check("/tools", json!([]), "no tool");
    check("/tools/0/name", json!("my tool"), "not allowed");
    check("/tools/0/input_schema", json!({}), "no object schema");
    check("/messages", json!([]), "no messages");
    check("/messages", json!({}), "no messages");
    let mut body = good();
    body["frequency"] = json!(1);
    assert_eq!(faults(&body), ["unknown member \"frequency\""]);
    let tool = body["tools"][0].clone();
    body["tools"].as_array_mut().unwrap().push(tool);
    assert!(faults(&body).contains(&"tool \"bash\" is there twice".to_owned()));
}

#[test]
fn roles_and_blocks() {
    check("/messages/0/role", json!("assistant"), "roles alternate");
    check("/messages/1/role", json!("user"), "roles alternate");
    check("/messages/0/content", json!([]), "message 0 is empty");
    check("/messages/0/content", json!(" "), "message 0 is empty");
    check("/messages/0/content/0/text", json!(" \n"), "text is blank");
    check("/messages/1/content/0/signature", json!(""), "without a signature");
    check(
        "/messages/1/content/0",
        json!({"type": "redacted_thinking", "data": ""}),
        "without data",
    );
    check("/messages/1/content/1/input", json!("{}"), "no object");
    check("/messages/1/content/1/name", json!(""), "not allowed");
    check("/messages/1/content/0", json!({"type": "tool_result"}), "cannot be said");
    check("/messages/0/content/0/type", json!("thinking"), "cannot be said");
    check("/messages/2/content/0/content", json!([{"type": "text", "text": ""}]), "blank text");
    check("/messages/2/content/0/content", json!(7), "cannot be 7");
}

#[test]
fn calls_and_results() {
    check("/messages/2/content/0/tool_use_id", json!("x"), "call \"a\" has 0 results");
    check("/messages/2/content/0/tool_use_id", json!("x"), "result for \"x\"");
    check("/messages/2/content/0/tool_use_id", json!("b"), "call \"b\" has 2 results");
    check("/messages/1/content/2/id", json!("a"), "not new");
    check(
        "/messages/2/content",
        json!([
            {"type": "tool_result", "tool_use_id": "b", "content": "1"},
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
        ]),
        "not in the order",
    );
    check(
        "/messages/2/content",
        json!([
            {"type": "text", "text": "first"},
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "content": "1"},
        ]),
        "come before the rest",
    );
    let mut body = good();
    body["messages"].as_array_mut().unwrap().pop();
    assert_eq!(faults(&body), ["calls [\"a\", \"b\"] of the last message have no results"]);
}

#[test]
fn at_most_four_markers() {
    let mut body = good();
    body["messages"][2]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(faults(&body), ["5 cache markers, at most 4 are allowed"]);
}

#[test]
fn what_was_sent_stays() {
    let again = |change: &dyn Fn(&mut Value)| {
        let mut checker = Checker::new(Protocol::Anthropic);
        assert_eq!(checker.check("main", &good().to_string()), [""; 0]);
        let mut body = good();
        change(&mut body);
        (checker.check("main", &body.to_string()), checker.check("other", &body.to_string()))
    };
    let unmarked = |body: &mut Value| {
        body["messages"][0]["content"][0].as_object_mut().unwrap().remove("cache_control");
        body["system"][0].as_object_mut().unwrap().remove("cache_control");
    };
    let push = |body: &mut Value, message: Value| {
        body["messages"].as_array_mut().unwrap().push(message);
    };
    assert_eq!(again(&|_| ()).0, [""; 0], "the same again");
    assert_eq!(again(&unmarked).0, [""; 0], "markers may move");
    let (longer, _) = again(&|body| {
        unmarked(body);
        push(body, json!({"role": "assistant", "content": "yes"}));
        push(body, json!({"role": "user", "content": "and?"}));
    });
    assert_eq!(longer, [""; 0]);
    let (grown, _) = again(&|body| {
        body["messages"][2]["content"]
            .as_array_mut()
            .unwrap()
            .push(json!({"type": "text", "text": "and?"}));
    });
    assert_eq!(grown, [""; 0], "the last message may grow");

    let changes: [(&dyn Fn(&mut Value), &str); 6] = [
        (&|body| body["system"][0]["text"] = json!("be brief!"), "system has changed"),
        (&|body| body["tools"][0]["description"] = json!("x"), "tools has changed"),
        (&|body| body["messages"][0]["content"][0]["text"] = json!("ho"), "message 0 was sent"),
        (&|body| body["messages"][2]["content"][2]["text"] = json!("go"), "message 2 was sent"),
        (
            &|body| body["messages"] = json!([body["messages"][0]]),
            "message 1 was sent before and is gone",
        ),
        (
            &|body| {
                // The same values in another order are other bytes.
                let input = json!({"input": {}, "type": "tool_use", "id": "a", "name": "bash"});
                body["messages"][1]["content"][1] = input;
            },
            "message 1 was sent before and has changed",
        ),
    ];
    for (change, words) in changes {
        let (same, other) = again(change);
        assert!(same.len() == 1 && same[0].contains(words), "{words}: {same:?}");
        assert_eq!(other, [""; 0], "another conversation begins anew");
    }
}

#[test]
fn words_like_markers_in_texts_are_text() {
    let with = |text: &str| {
        let mut body = good();
        body["messages"][0]["content"][0]["text"] = json!(text);
        body.to_string()
    };
    let mut checker = Checker::new(Protocol::Anthropic);
    let text = r#"a,"cache_control":{"type":"ephemeral"} b"#;
    assert_eq!(checker.check("main", &with(text)), [""; 0]);
    assert_eq!(checker.check("main", &with("a b")).len(), 1, "the change is seen");
}

/// The good request as Responses has it.
fn good_responses() -> Value {
    json!({
        "model": "m", "max_output_tokens": 10, "stream": true, "store": false,
        "prompt_cache_key": "k", "include": ["reasoning.encrypted_content"],
        "instructions": "be brief",
        "tools": [{
            "type": "function", "name": "bash", "description": "", "strict": false,
            "parameters": {"type": "object"},
        }],
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "reasoning", "id": "rs_0_0", "encrypted_content": "s",
                "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "role": "assistant", "content": "I look"},
            {"type": "function_call", "call_id": "call_0_2", "name": "bash", "arguments": "{}"},
            {"type": "function_call", "call_id": "call_0_3", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_0_2", "output": "1"},
            {"type": "function_call_output", "call_id": "call_0_3", "output": "Error"},
            {"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": "go on"}]},
        ],
    })
}

/// A checker of Responses that knows which reply led to the good request.
fn responses() -> Checker {
    let mut checker = Checker::new(Protocol::Responses);
    let reply = ScriptedReply::new().thinking("hm", "s").text("I look");
    checker.gave(0, &reply.call("bash", json!({})).call("bash", json!({})));
    checker
}

/// The faults of the good request after a change.
fn changed_responses(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut body = good_responses();
    change(&mut body);
    responses().check("main", &body.to_string())
}

fn remove(body: &mut Value, at: usize) {
    body["input"].as_array_mut().unwrap().remove(at);
}

#[test]
fn a_good_request_of_responses_has_no_fault() {
    assert_eq!(changed_responses(|_| ()), [""; 0]);
    assert_eq!(changed_responses(|body| remove(body, 2)), [""; 0], "nothing need be said");
}

#[test]
fn what_another_client_sent_is_held_against_what_we_want() {
    let chat = include_str!("../../../model/tests/wire/req-chat-auto.json");
    let faults = Checker::new(Protocol::Chat).check("main", chat);
    assert_eq!(faults, [""; 0], "all that we want of a chat is in it");
    let responses = include_str!("../../../model/tests/wire/req-responses-auto.json");
    let faults = Checker::new(Protocol::Responses).check("main", responses);
    for words in ["to store the conversation", "sealed reasoning", "an item of type \"\""] {
        assert!(faults.iter().any(|fault| fault.contains(words)), "{words}: {faults:?}");
    }
}

#[test]
fn each_rule_for_a_member_of_responses_is_broken_once() {
    let broken = |pointer: &str, value: Value| {
        changed_responses(|body| *body.pointer_mut(pointer).unwrap() = value)
    };
    for (pointer, value, words) in [
        ("/model", json!(""), "no model"),
        ("/max_output_tokens", json!(0), "max_tokens"),
        ("/stream", json!(false), "stream"),
        ("/store", json!(true), "to store the conversation"),
        ("/include", json!([]), "sealed reasoning is not asked for"),
        ("/instructions", json!(" "), "system says nothing"),
        ("/tools", json!([]), "no tool"),
        ("/tools/0/type", json!("custom"), "no function"),
        ("/tools/0/name", json!("my tool"), "not allowed"),
        ("/tools/0/parameters", json!({}), "no object schema"),
        ("/input", json!([]), "no messages"),
        ("/input", json!("hi"), "no messages"),
        ("/input/0/type", json!("note"), "an item of type \"note\""),
        ("/input/0/role", json!("system"), "roles alternate"),
        ("/input/0/content/0/text", json!(" "), "text is blank"),
        ("/input/0/content/0/type", json!("output_text"), "cannot say"),
        ("/input/2/content", json!([{"type": "output_text", "text": "I"}]), "which is no text"),
        ("/input/1/id", json!(null), "a reasoning without \"id\""),
        ("/input/1/encrypted_content", json!(""), "without a signature"),
        ("/input/1/encrypted_content", json!("S"), "thinking"),
        ("/input/1/summary/0/text", json!("hm!"), "thinking"),
        ("/input/1/id", json!("rs_9_0"), "thinking"),
        ("/input/3/arguments", json!("{"), "no JSON"),
        ("/input/3/arguments", json!("[]"), "no object"),
        ("/input/3/name", json!(""), "not allowed"),
        ("/input/3/call_id", json!("call_0_3"), "not new"),
        ("/input/5/call_id", json!("x"), "call \"call_0_2\" has 0 results"),
        ("/input/5/call_id", json!("x"), "result for \"x\""),
        ("/input/5/call_id", json!("call_0_3"), "call \"call_0_3\" has 2 results"),
        ("/input/5/output", json!(null), "a function_call_output without \"output\""),
        ("/input/5/output", json!(7), "cannot be 7"),
    ] {
        let faults = broken(pointer, value);
        assert!(faults.iter().any(|fault| fault.contains(words)), "{words:?} not in {faults:#?}");
    }
}

#[test]
fn each_rule_for_the_items_of_responses_is_broken_once() {
    for pointer in ["", "/tools/0", "/input/0", "/input/1", "/input/3", "/input/5"] {
        let faults = changed_responses(|body| body.pointer_mut(pointer).unwrap()["odd"] = json!(1));
        assert!(faults.len() == 1 && faults[0].contains("unknown member \"odd\""), "{faults:?}");
    }
    for (at, words) in [
        (1, "before call \"call_0_2\" the thinking"),
        (5, "call \"call_0_2\" has 0 results"),
        (3, "result for \"call_0_2\", which"),
    ] {
        let faults = changed_responses(|body| remove(body, at));
        assert!(faults.iter().any(|fault| fault.contains(words)), "{words:?} not in {faults:#?}");
    }
    let swapped = changed_responses(|body| body["input"].as_array_mut().unwrap().swap(5, 6));
    assert!(swapped.len() == 1 && swapped[0].contains("not in the order"), "{swapped:?}");
    let words_first = changed_responses(|body| body["input"].as_array_mut().unwrap().swap(5, 7));
    assert!(words_first[0].contains("come before the rest"), "{words_first:?}");
    let led_nowhere = changed_responses(|body| {
        body["input"].as_array_mut().unwrap().truncate(2);
        let said = json!([{"type": "input_text", "text": "go on"}]);
        let more = json!({"type": "message", "role": "user", "content": said});
        body["input"].as_array_mut().unwrap().push(more);
    });
    assert_eq!(led_nowhere, ["reasoning without what it led to"]);
    let open = changed_responses(|body| body["input"].as_array_mut().unwrap().truncate(5));
    assert!(open[0].contains("have no results"), "{open:?}");
}

#[test]
fn what_was_sent_over_responses_stays() {
    let again = |change: &dyn Fn(&mut Value)| {
        let (mut checker, mut body) = (responses(), good_responses());
        assert_eq!(checker.check("main", &body.to_string()), [""; 0]);
        change(&mut body);
        (checker.check("main", &body.to_string()), checker.check("other", &body.to_string()))
    };
    let said = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let (longer, _) = again(&|body| {
        let input = body["input"].as_array_mut().unwrap();
        input.push(json!({"type": "message", "role": "assistant", "content": "yes"}));
        input.push(said("user", "input_text", "and?"));
    });
    assert_eq!(longer, [""; 0]);
    let (grown, _) = again(&|body| {
        let more = json!({"type": "input_text", "text": "and?"});
        body["input"][7]["content"].as_array_mut().unwrap().push(more);
    });
    assert_eq!(grown, [""; 0], "the last message may grow");
    let changes: [(&dyn Fn(&mut Value), &str); 6] = [
        (&|body| body["instructions"] = json!("be brief!"), "system has changed"),
        (&|body| body["tools"][0]["description"] = json!("x"), "tools has changed"),
        (&|body| body["prompt_cache_key"] = json!("j"), "the cache key has changed"),
        (&|body| body["input"][0]["content"][0]["text"] = json!("ho"), "message 0 was sent"),
        (&|body| body["input"][3]["arguments"] = json!("{ }"), "message 3 was sent"),
        (&|body| remove(body, 7), "message 7 was sent before and is gone"),
    ];
    for (change, words) in changes {
        let (same, other) = again(change);
        assert!(same.len() == 1 && same[0].contains(words), "{words}: {same:?}");
        assert_eq!(other, [""; 0], "another conversation begins anew");
    }
}

#[test]
fn sealed_thinking_comes_back_unchanged() {
    let faults = |thinking: Value| {
        let mut checker = Checker::new(Protocol::Anthropic);
        let reply = ScriptedReply::new().thinking("not sealed", "").thinking("hm", "s");
        checker.gave(3, &reply.call("bash", json!({})));
        let call = json!({"type": "tool_use", "id": "call_3_2", "name": "bash", "input": {}});
        let result = json!({"type": "tool_result", "tool_use_id": "call_3_2", "content": "1"});
        let (mut body, mut said) = (good(), thinking);
        said.as_array_mut().unwrap().push(call);
        body["messages"][1]["content"] = said;
        body["messages"][2]["content"] = json!([result]);
        checker.check("main", &body.to_string())
    };
    let thought =
        |words: &str, seal: &str| json!({"type": "thinking", "thinking": words, "signature": seal});
    assert_eq!(faults(json!([thought("hm", "s")])), [""; 0]);
    for thinking in [json!([]), json!([thought("hm!", "s")]), json!([thought("hm", "t")])] {
        let faults = faults(thinking);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("before call \"call_3_2\" the thinking"), "{faults:?}");
    }
}
