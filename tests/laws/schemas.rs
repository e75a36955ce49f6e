//! Requests as the official SDKs' types have them, also those that no page of `tests/scenarios` makes, and events as
//! `editors/protocol.json` has them; and what is no request or no event is found out.
#![expect(clippy::expect_used, reason = "tests and their helpers may be blunt")]

#[path = "../support/schema.rs"]
mod schema;

use futures::StreamExt;
use ropewalk_model::{
    Block, Http, Message, Model, ModelRequest, Protocol, Role, ServerConfig, ServerModel,
    ToolDeclaration, ToolInput,
};
use ropewalk_protocol::{Content, Thinking};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::{Value, json};

/// A history with everything in it that a history can have.
fn messages() -> Vec<Message> {
    let call = |id: &str, input: ToolInput| Block::ToolUse {
        id: id.to_owned(),
        name: "bash".to_owned(),
        input,
    };
    // As the protocols seal it; each takes back only its own.
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}"#;
    let assistant = vec![
        Block::Thinking { thinking: "hm".to_owned(), signature: reasoning.to_owned() },
        Block::text("I look"),
        Block::text("again"),
        call("call_1", ToolInput::Json(json!({"command": "ls"}))),
        call("call_2", ToolInput::Json(json!([1]))),
        call("call_3", ToolInput::Broken("{".to_owned())),
    ];
    let image = || Content::Image { mime: "image/png".to_owned(), data: "iVBORw0KGgo=".to_owned() };
    let resource = || Content::Resource {
        uri: "file:///a.txt".to_owned(),
        mime: None,
        text: "hello".to_owned(),
    };
    let link =
        || Content::Link { uri: "https://example.org".to_owned(), name: "a page".to_owned() };
    let shown = vec![
        Block::text("see"),
        Block::Content(image()),
        Block::Content(resource()),
        Block::Content(link()),
    ];
    let results = vec![
        Block::results("call_1", vec![Content::text("a.txt"), image(), resource(), link()], false),
        Block::result("call_2", "", false),
        Block::result("call_3", "Error: no JSON", true),
        Block::text("(news)"),
        Block::text("go on"),
    ];
    vec![
        Message::user("look"),
        Message { role: Role::Assistant, content: assistant },
        Message { role: Role::User, content: results },
        Message::assistant("So it is."),
        Message { role: Role::User, content: shown },
    ]
}

/// The body of a request to the server that the protocol was made for.
async fn body(protocol: Protocol, thinking: Option<Thinking>) -> String {
    let server = ScriptedModel::start_over(protocol, [ScriptedReply::new().text("ok")])
        .expect("a port is free");
    let model = if protocol == Protocol::Anthropic { "claude-sonnet-5-5" } else { "gpt-6.1-sol" };
    let config = ServerConfig { model: model.to_owned(), thinking, ..server.config() };
    let model = ServerModel::new(config, Http::new()).expect("the address is one");
    let tool = ToolDeclaration {
        name: "bash".to_owned(),
        description: "Runs a command.".to_owned(),
        input_schema: json!({"type": "object", "properties": {"command": {"type": "string"}}}),
    };
    let request = ModelRequest {
        prelude: model.encode_prelude("be brief", &[tool]),
        pieces: messages().iter().map(|message| model.encode(message)).collect(),
        max_tokens: 8_000,
    };
    // The scripted server has rules of its own, which these odd calls need not keep.
    model.stream(request).collect::<Vec<_>>().await;
    let _ = server.finish();
    server.recorded().remove(0).raw
}

#[tokio::test]
async fn requests_are_as_the_official_types_have_them() {
    for protocol in Protocol::ALL {
        for thinking in [None, Some(Thinking::High)] {
            let body = body(*protocol, thinking).await;
            assert_eq!(schema::faults(*protocol, &body), [""; 0], "{}: {body}", protocol.name());
        }
    }
}

/// Changes that make of a good request one that is not of its type, and a part of the words that say so.
fn lies(protocol: Protocol) -> Vec<(&'static str, Value, &'static str)> {
    let gone = Value::Null;
    let mut lies = vec![
        ("/surprise", json!(1), "unknown member"),
        ("/stream", json!("yes"), "should be"),
        ("/model", json!(["a"]), "should be"),
        ("/tools/0/surprise", json!(1), "unknown member"),
    ];
    lies.extend(match protocol {
        Protocol::Anthropic => vec![
            ("/max_tokens", gone.clone(), "\"max_tokens\" is missing"),
            ("/messages/0/role", json!("friend"), "should be"),
            ("/messages/1/content/0/surprise", json!(1), "unknown member"),
            ("/messages/2/content/0/tool_use_id", gone, "is missing"),
            ("/system/0/text", json!(7), "should be"),
        ],
        Protocol::Chat => vec![
            ("/messages", gone.clone(), "\"messages\" is missing"),
            ("/messages/2/tool_calls/0/function/arguments", json!({}), "should be"),
            ("/messages/3/tool_call_id", gone, "is missing"),
            ("/messages/2/reasoning", json!("hm"), "unknown member"),
            ("/max_completion_tokens", json!("many"), "should be"),
        ],
        Protocol::Responses => vec![
            ("/tools/0/strict", gone.clone(), "is missing"),
            ("/input/1/id", gone, "is missing"),
            (
                "/input/2/content",
                json!([{"type": "output_text", "text": "I look"}]),
                "at \"/input/2",
            ),
            ("/include/0", json!("everything"), "should be"),
        ],
    });
    lies
}

#[tokio::test]
async fn a_request_that_is_not_of_its_type_is_found_out() {
    for protocol in Protocol::ALL {
        let body: Value = serde_json::from_str(&body(*protocol, None).await).expect("it is JSON");
        for (pointer, value, words) in lies(*protocol) {
            let mut body = body.clone();
            let (parent, name) = pointer.rsplit_once('/').expect("it has a parent");
            let parent = body.pointer_mut(parent).expect("it is there");
            match (parent, value) {
                (Value::Object(members), Value::Null) => {
                    assert!(members.shift_remove(name).is_some(), "{pointer}");
                }
                (Value::Object(members), value) => {
                    members.insert(name.to_owned(), value);
                }
                (parent, value) => *parent.get_mut(0).expect("it is a list") = value,
            }
            let faults = schema::faults(*protocol, &body.to_string());
            assert!(
                faults.iter().any(|fault| fault.contains(words)),
                "{} {pointer}: {faults:?}",
                protocol.name()
            );
        }
    }
    assert_eq!(schema::faults(Protocol::Chat, "{").len(), 1);
}

/// The events of a turn, as they are told.
const TURN: &str = include_str!("../../server/agent/tests/session/one_turn.jsonl");

#[test]
fn an_event_is_of_its_type_and_one_that_is_not_is_found_out() {
    for line in TURN.lines() {
        let event: Value = serde_json::from_str(line).expect("it is JSON");
        assert_eq!(schema::event_faults(&event), [""; 0], "{event}");
        let names: Vec<String> =
            event.as_object().expect("it is an object").keys().cloned().collect();
        for name in &names {
            let mut without = event.clone();
            without.as_object_mut().expect("it is an object").shift_remove(name);
            assert_ne!(schema::event_faults(&without), [""; 0], "without {name}: {event}");
            if name != "input" {
                let mut other = event.clone();
                other[name] = json!(-0.5);
                assert_ne!(schema::event_faults(&other), [""; 0], "another {name}: {event}");
            }
        }
        let mut more = event.clone();
        more["surprise"] = json!(1);
        assert_ne!(schema::event_faults(&more), [""; 0], "{more}");
    }
}
