//! The scripted model's checker: every rule is broken once, and the checker says so.
#![expect(
    clippy::unwrap_used,
    clippy::type_complexity,
    reason = "helpers of tests may be blunt, as tests are"
)]

use ropewalk_model::Protocol;
use ropewalk_testkit::model::check::Checker;
use serde_json::{Value, json};

fn faults(body: &Value) -> Vec<String> {
    Checker::new(Protocol::Anthropic).unwrap().check("main", &body.to_string())
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
    let recorded = include_str!("../../model/tests/wire/req-messages-auto.json");
    assert_eq!(Checker::new(Protocol::Anthropic).unwrap().check("main", recorded), [""; 0]);
}

#[test]
fn the_shape() {
    assert!(
        Checker::new(Protocol::Anthropic).unwrap().check("main", "{oops")[0].contains("no JSON")
    );
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
        let mut checker = Checker::new(Protocol::Anthropic).unwrap();
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
    let mut checker = Checker::new(Protocol::Anthropic).unwrap();
    let text = r#"a,"cache_control":{"type":"ephemeral"} b"#;
    assert_eq!(checker.check("main", &with(text)), [""; 0]);
    assert_eq!(checker.check("main", &with("a b")).len(), 1, "the change is seen");
}
