//! Chat Completions: what is sent, to each kind of server, and that it is the same bytes from step to step.

use ropewalk_model::{
    Block, Http, Message, Model, Piece, Protocol, Role, ServerConfig, ServerModel, ToolDeclaration,
    ToolInput,
    chat::{DIALECTS, Dialect},
};
use serde_json::{Value, json};

fn model(provider: &str, name: &str) -> ServerModel {
    let mut config = ServerConfig::new(Protocol::Chat, name);
    config.provider = provider.into();
    ServerModel::new(config, Http::new()).unwrap()
}

/// The messages of a piece, which may be several.
fn messages(piece: &Piece) -> Value {
    serde_json::from_str(&format!("[{piece}]")).unwrap()
}

fn encode(provider: &str, role: Role, content: Vec<Block>) -> Value {
    messages(&model(provider, "m").encode(&Message { role, content }))
}

fn call(id: &str, input: ToolInput) -> Block {
    Block::ToolUse { id: id.into(), name: "t".into(), input }
}

fn thought(text: &str) -> Block {
    Block::Thinking { thinking: text.into(), signature: String::new() }
}

#[test]
fn messages_as_the_protocol_wants_them() {
    assert_eq!(
        &*model("openai", "m").encode(&Message::user("a \"ü\"")),
        r#"{"role":"user","content":"a \"ü\""}"#
    );
    let results = vec![
        Block::result("1", "ok", false),
        Block::result("2", "", true),
        Block::text("and "),
        Block::text(" \n"),
        Block::text("now?"),
    ];
    assert_eq!(
        encode("openai", Role::User, results.clone()),
        json!([
            {"role": "tool", "tool_call_id": "1", "content": "ok"},
            {"role": "tool", "tool_call_id": "2", "content": ""},
            {"role": "user", "content": "and \n\nnow?"},
        ])
    );
    let said = vec![
        thought("hm"),
        Block::text("Look:"),
        call("1", ToolInput::Json(json!({"z": 1, "a": 2}))),
        call("2", ToolInput::Json(json!([1]))),
        call("3", ToolInput::Broken("{\"a\": ".into())),
    ];
    let function = |arguments: &str| json!({"name": "t", "arguments": arguments});
    assert_eq!(
        encode("openai", Role::Assistant, said),
        json!([{"role": "assistant", "content": "Look:", "tool_calls": [
            {"id": "1", "type": "function", "function": function(r#"{"z":1,"a":2}"#)},
            {"id": "2", "type": "function", "function": function(r#"{"not_an_object":[1]}"#)},
            {"id": "3", "type": "function", "function": function(r#"{"not_json":"{\"a\": "}"#)},
        ]}])
    );
    let only = vec![call("1", ToolInput::Json(json!({})))];
    assert_eq!(encode("openai", Role::Assistant, only)[0]["content"], Value::Null);
    for role in [Role::User, Role::Assistant] {
        assert_eq!(encode("openai", role, vec![thought("hm")])[0]["content"], "(empty)");
    }
}

#[test]
fn thoughts_by_dialect() {
    let said =
        |provider: &str, content: Vec<Block>| encode(provider, Role::Assistant, content)[0].take();
    let input = || ToolInput::Json(json!({}));
    let thinking = || vec![thought("hm"), call("1", input())];
    for (provider, member) in [
        ("deepseek", "reasoning_content"),
        ("llamacpp", "reasoning_content"),
        ("vllm", "reasoning"),
    ] {
        assert_eq!(said(provider, thinking())[member], "hm", "{provider}");
    }
    for provider in ["openai", "groq", "mistral", "somebody"] {
        let said = said(provider, thinking()).to_string();
        assert!(!said.contains("hm") && !said.contains("reasoning"), "{provider}: {said}");
    }
    // At a server of which nothing is known the family of the model decides; a known server knows better.
    let by_model = |provider: &str, name: &str, content: Vec<Block>| {
        let mut config = ServerConfig::new(Protocol::Chat, name);
        let base_url = match provider {
            "groq" => "https://api.groq.com/openai/v1",
            _ => "https://gateway.example/v1",
        };
        (config.provider, config.base_url) = (provider.into(), base_url.into());
        let model = ServerModel::new(config, Http::new()).unwrap();
        messages(&model.encode(&Message { role: Role::Assistant, content }))[0].take()
    };
    for name in ["deepseek-reasoner", "company/DeepSeek-V3.2"] {
        let said = |content| by_model("somebody", name, content)["reasoning_content"].take();
        assert_eq!(said(thinking()), "hm", "{name}");
        assert_eq!(said(vec![call("1", input())]), "", "{name}");
        assert_eq!(said(vec![Block::text("hi")]), Value::Null, "{name}");
        assert_eq!(by_model("vllm", name, thinking())["reasoning"], "hm", "{name}");
        let renamed = by_model("openai", name, thinking());
        assert_eq!(renamed["reasoning_content"], "hm", "only its name is a known server's");
        assert!(!by_model("groq", name, thinking()).to_string().contains("hm"), "{name}");
    }
    let thoughtless = vec![call("1", input())];
    assert_eq!(said("deepseek", thoughtless.clone())["reasoning_content"], "");
    assert_eq!(said("llamacpp", thoughtless).get("reasoning_content"), None);
    assert_eq!(said("deepseek", vec![Block::text("hi")]).get("reasoning_content"), None);
}

#[test]
fn words_and_ids_for_strict_servers() {
    let user = vec![
        Block::result("toolu_01AbCdEfGh", "ok", false),
        Block::result("abcDEF123", "", false),
        Block::text("and now?"),
    ];
    let calls = vec![call("toolu_01AbCdEfGh", ToolInput::Json(json!({})))];
    for model in [model("mistral", "large"), model("ollama", "Devstral:24b")] {
        let encoded = |role, content: &Vec<Block>| {
            messages(&model.encode(&Message { role, content: content.clone() }))
        };
        let results = encoded(Role::User, &user);
        let id = results[0]["tool_call_id"].as_str().unwrap();
        assert!(id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()), "{id}");
        assert_eq!(
            results[1],
            json!({"role": "tool", "tool_call_id": "abcDEF123", "content": "and now?"})
        );
        assert_eq!(results.as_array().unwrap().len(), 2, "no user may speak after a result");
        assert_eq!(encoded(Role::Assistant, &calls)[0]["tool_calls"][0]["id"], id);
    }
}

#[test]
fn calls_for_gemini_have_its_member() {
    let calls = encode("gemini", Role::Assistant, vec![call("1", ToolInput::Json(json!({})))]);
    let google = &calls[0]["tool_calls"][0]["extra_content"]["google"];
    assert_eq!(google["thought_signature"], "skip_thought_signature_validator");
}

#[test]
fn dialects_are_found() {
    let name = |provider: &str, url: &str| Dialect::of(provider, url, "m").name;
    for (url, expected) in [
        ("https://api.openai.com/v1", "openai"),
        ("https://me.openai.azure.com/openai/v1", "openai"),
        ("https://notopenai.com", ""),
        ("https://api.deepseek.com", "deepseek"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini"),
        ("http://localhost:11434", "ollama"),
        ("http://[::1]:1234/v1", "lmstudio"),
        ("http://gpu.example:8000", ""),
        ("no url", ""),
    ] {
        assert_eq!(name("mine", url), expected, "{url}");
    }
    assert_eq!(name("vllm", "http://gpu.example"), "vllm", "the name goes first");
    let mut names: Vec<_> = DIALECTS.iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), DIALECTS.len());
}

#[test]
fn the_prelude_has_a_fixed_order() {
    let tool = |name: &str| ToolDeclaration {
        name: name.into(),
        description: "d".into(),
        input_schema: json!({"type": "object", "properties": {}}),
    };
    let tools = [tool("b"), tool("a")];
    let prelude = model("openai", "m").encode_prelude("be brief", &tools);
    let value: Value = serde_json::from_str(&format!("{{{}]}}", prelude.as_str())).unwrap();
    assert_eq!(value["messages"], json!([{"role": "system", "content": "be brief"}]));
    assert_eq!(value["tools"][1]["function"]["name"], "a");
    assert_eq!(value["tools"][0]["type"], "function");
    let schema = &value["tools"][0]["function"]["parameters"];
    assert_eq!(*schema, tools[0].input_schema);
    assert_eq!(model("openai", "m").encode_prelude(" ", &[]).as_str(), r#""messages":["#);
}
