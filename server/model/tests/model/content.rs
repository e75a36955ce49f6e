//! Images, resources and links, as each protocol takes them, and in words where a model takes no images.

use ropewalk_model::{Block, Http, Message, Model, Protocol, Role, ServerConfig, ServerModel};
use ropewalk_protocol::Content;
use serde_json::{Value, json};

fn image() -> Content {
    Content::Image { mime: "image/png".to_owned(), data: "iVBORw0KGgo=".to_owned() }
}

fn resource() -> Content {
    let uri = "file:///a.md".to_owned();
    Content::Resource { uri, mime: Some("text/markdown".to_owned()), text: "```\n".to_owned() }
}

fn link() -> Content {
    Content::Link { uri: "https://example.org".to_owned(), name: "a page".to_owned() }
}

/// The messages of the protocol that a message of ours is, for a model that sees or does not.
fn encoded(protocol: Protocol, images: bool, content: Vec<Block>) -> Value {
    let model = if protocol == Protocol::Anthropic { "claude-x" } else { "x" };
    let config = ServerConfig { images: Some(images), ..ServerConfig::new(protocol, model) };
    let model = ServerModel::new(config, Http::new()).unwrap();
    let piece = model.encode(&Message { role: Role::User, content });
    serde_json::from_str(&format!("[{piece}]")).unwrap()
}

fn prompt() -> Vec<Block> {
    let mut content = vec![Block::text("Look")];
    content.extend([image(), resource(), link()].map(Block::Content));
    content
}

const IN_WORDS: &str = "(An image that is not shown: image/png, 1 KB.)";
const RESOURCE: &str = "file:///a.md:\n````\n```\n\n````";
const LINK: &str = "a page: https://example.org";
const URL: &str = "data:image/png;base64,iVBORw0KGgo=";

#[test]
fn a_prompt_shows_what_it_holds() {
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
    let text = json!({"type": "text", "media_type": "text/plain", "data": "```\n"});
    let anthropic = json!([{"role": "user", "content": [
        {"type": "text", "text": "Look"},
        {"type": "image", "source": source},
        {"type": "document", "source": text, "title": "file:///a.md"},
        {"type": "text", "text": LINK},
    ]}]);
    let chat = json!([{"role": "user", "content": [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "text", "text": RESOURCE},
        {"type": "text", "text": LINK},
    ]}]);
    let responses = json!([{"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "Look"},
        {"type": "input_image", "detail": "auto", "image_url": URL},
        {"type": "input_text", "text": RESOURCE},
        {"type": "input_text", "text": LINK},
    ]}]);
    for (protocol, expected) in
        [(Protocol::Anthropic, anthropic), (Protocol::Chat, chat), (Protocol::Responses, responses)]
    {
        assert_eq!(encoded(protocol, true, prompt()), expected, "{protocol:?}");
    }
}

#[test]
fn a_model_that_takes_no_images_is_told_in_words() {
    let words = format!("Look\n\n{IN_WORDS}\n\n{RESOURCE}\n\n{LINK}");
    let chat = json!([{"role": "user", "content": words}]);
    assert_eq!(encoded(Protocol::Chat, false, prompt()), chat);
    for protocol in Protocol::ALL {
        let result = Block::results("c", vec![image()], false);
        let blind = encoded(*protocol, false, prompt()).to_string()
            + &encoded(*protocol, false, vec![result]).to_string();
        assert_eq!(blind.matches(IN_WORDS).count(), 2, "{blind}");
        assert!(!blind.contains("iVBORw0KGgo"), "{blind}");
    }
}

#[test]
fn results_show_what_they_hold() {
    let results = || {
        vec![
            Block::results("c1", vec![Content::text("two:"), image(), resource()], false),
            Block::results("c2", Vec::new(), true),
            Block::results("c3", vec![image()], false),
            Block::text("and?"),
        ]
    };
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
    let picture = json!({"type": "image", "source": source});
    let text = json!({"type": "text", "media_type": "text/plain", "data": "```\n"});
    let document = json!({"type": "document", "source": text, "title": "file:///a.md"});
    let first = json!([{"type": "text", "text": "two:"}, picture, document]);
    let anthropic = json!([{"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "c1", "content": first},
        {"type": "tool_result", "tool_use_id": "c2", "is_error": true},
        {"type": "tool_result", "tool_use_id": "c3", "content": [picture]},
        {"type": "text", "text": "and?"},
    ]}]);
    let shown = json!({"type": "image_url", "image_url": {"url": URL}});
    let of =
        |id: &str| json!({"type": "text", "text": format!("The images of the result of {id}:")});
    let words = format!("two:\n\n{RESOURCE}");
    let chat = json!([
        {"role": "tool", "tool_call_id": "c1", "content": words},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "tool", "tool_call_id": "c3", "content": ""},
        {"role": "user", "content": [of("c1"), shown, of("c3"), shown, {"type": "text", "text": "and?"}]},
    ]);
    let part = json!({"type": "input_image", "detail": "auto", "image_url": URL});
    let said = |text: &str| json!({"type": "input_text", "text": text});
    let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
    let responses = json!([
        output("c1", json!([said("two:"), part, said(RESOURCE)])),
        output("c2", json!("Error")),
        output("c3", json!([part])),
        {"type": "message", "role": "user", "content": [said("and?")]},
    ]);
    for (protocol, expected) in
        [(Protocol::Anthropic, anthropic), (Protocol::Chat, chat), (Protocol::Responses, responses)]
    {
        assert_eq!(encoded(protocol, true, results()), expected, "{protocol:?}");
    }
}

#[test]
fn results_are_kept_as_texts_where_they_are_texts_and_both_are_read() {
    for (content, kept) in [
        (vec![Content::text("out")], json!("out")),
        (vec![], json!("")),
        (vec![image()], json!([{"type": "image", "mime": "image/png", "data": "iVBORw0KGgo="}])),
    ] {
        let block = Block::results("c", content, false);
        let written = serde_json::to_value(&block).unwrap();
        assert_eq!(written["content"], kept);
        assert_eq!(serde_json::from_value::<Block>(written).unwrap(), block);
    }
    let said = json!({"type": "text", "text": "hi"});
    assert_eq!(serde_json::from_value::<Block>(said.clone()).unwrap(), Block::text("hi"));
    assert_eq!(serde_json::to_value(Block::text("hi")).unwrap(), said);
    serde_json::from_value::<Block>(json!({"type": "smell"})).unwrap_err();
}
