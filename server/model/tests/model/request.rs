//! Requests as they are sent: valid, cached, the same bytes from step to step.

use crate::loopback;
use ropewalk_model::{
    ApiKey, Block, BodyMembers, Header, Http, Message, Model, ModelError, ModelRequest, Protocol,
    Role, ServerConfig, ServerModel, ToolDeclaration, ToolInput,
};
use ropewalk_protocol::{CacheLife, Thinking};
use serde_json::{Value, json};

fn model() -> ServerModel {
    ServerModel::new(ServerConfig::new(Protocol::Anthropic, "claude-3-haiku-x"), Http::new())
        .unwrap()
}

fn encode(role: Role, content: Vec<Block>) -> Value {
    serde_json::from_str(&model().encode(&Message { role, content })).unwrap()
}

fn call(input: ToolInput) -> Block {
    Block::ToolUse { id: "c".into(), name: "t".into(), input }
}

#[test]
fn messages_as_the_protocol_wants_them() {
    assert_eq!(
        &*model().encode(&Message::user("a \"ü\"")),
        r#"{"role":"user","content":[{"type":"text","text":"a \"ü\""}]}"#
    );
    let results = vec![
        Block::result("1", "ok", false),
        Block::result("2", "", true),
        Block::text("and now?"),
    ];
    assert_eq!(
        encode(Role::User, results)["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "1", "content": "ok"},
            {"type": "tool_result", "tool_use_id": "2", "is_error": true},
            {"type": "text", "text": "and now?"},
        ])
    );
}

#[test]
fn calls_with_any_arguments_stay_objects_on_the_wire() {
    let inputs = vec![
        call(ToolInput::Json(json!({"z": 1, "a": 2}))),
        call(ToolInput::Json(json!([1]))),
        call(ToolInput::Broken("{\"a\": ".into())),
    ];
    let text = model().encode(&Message { role: Role::Assistant, content: inputs });
    assert!(text.contains(r#""input":{"z":1,"a":2}"#), "members keep their order: {text}");
    assert!(text.contains(r#""input":{"not_an_object":[1]}"#), "{text}");
    assert!(text.contains(r#""input":{"not_json":"{\"a\": "}"#), "{text}");
}

#[test]
fn what_would_be_refused_is_left_out() {
    let unsigned = Block::Thinking { thinking: "hm".into(), signature: String::new() };
    let content = vec![unsigned.clone(), Block::text(" \n"), Block::text("x")];
    assert_eq!(encode(Role::Assistant, content)["content"], json!([{"type": "text", "text": "x"}]));
    let empty = encode(Role::Assistant, vec![unsigned]);
    assert_eq!(empty["content"], json!([{"type": "text", "text": "(empty)"}]));
}

#[test]
fn the_prelude_has_two_markers_and_a_fixed_order() {
    let tool = |name: &str| ToolDeclaration {
        name: name.into(),
        description: "d".into(),
        input_schema: json!({"type": "object", "properties": {}}),
    };
    let prelude = model().encode_prelude("be brief", &[tool("b"), tool("a")]);
    let value: Value = serde_json::from_str(&format!("{{{}\"x\":0}}", prelude.as_str())).unwrap();
    let marker = json!({"type": "ephemeral"});
    assert_eq!(value["system"][0]["cache_control"], marker);
    assert_eq!(value["tools"][0].get("cache_control"), None);
    assert_eq!(value["tools"][1]["cache_control"], marker);
    assert_eq!(value["tools"][1]["name"], "a");
    assert_eq!(model().encode_prelude(" ", &[]).as_str(), "");
}

#[test]
fn messages_survive_the_journal() {
    let message = Message {
        role: Role::Assistant,
        content: vec![
            Block::Thinking { thinking: "t".into(), signature: "s".into() },
            call(ToolInput::Json(json!("a string, not broken"))),
            call(ToolInput::Broken("a string".into())),
        ],
    };
    let text = serde_json::to_string(&message).unwrap();
    assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
}

#[test]
fn keys_never_show() {
    let key = ApiKey::new("  sk-secret\n", "SOME_KEY").unwrap();
    let mut config = ServerConfig::new(Protocol::Anthropic, "m");
    config.key = Some(key);
    assert!(!format!("{config:?}").contains("secret"));
    let missing = ApiKey::new(" ", "SOME_KEY").unwrap_err();
    assert_eq!(missing, ModelError::MissingKey { var: "SOME_KEY".into() });
    let unusable = ApiKey::new("sk-sé\u{7}cret", "SOME_KEY").unwrap_err();
    assert!(unusable.to_string().contains("SOME_KEY") && !unusable.to_string().contains("sk-"));
}

#[test]
fn base_urls() {
    let error = |url: &str| {
        let mut config = ServerConfig::new(Protocol::Anthropic, "m");
        config.base_url = url.into();
        ServerModel::new(config, Http::new()).err().map(|error| error.to_string())
    };
    for good in [
        "http://127.0.0.1:1",
        "https://x.test/proxy/",
        "https://x.test/v1",
        "https://x.test/v1beta/openai/",
        "https://x.test/v1/messages",
        "http://[::1]/",
    ] {
        assert_eq!(error(good), None, "{good}");
    }
    let mut config = ServerConfig::new(Protocol::Anthropic, "m");
    config.base_url = "https://me:hidden-0123456789@x.test".into();
    let keys = ServerModel::new(config, Http::new()).unwrap().keys();
    assert_eq!(keys.redact("me:hidden-0123456789"), "me:[key]");
    for bad in
        ["", "api.anthropic.com", "file:///etc/passwd", "https://x.test/?a=b", "https://me:hidden@"]
    {
        let words = error(bad).unwrap();
        assert!(words.contains("write it like") && !words.contains("hidden"), "{words}");
    }
}

#[test]
fn headers_that_are_configured() {
    let with = |name: &str, value: &str| {
        let mut config = ServerConfig::new(Protocol::Anthropic, "m");
        config.headers = vec![Header { name: name.into(), value: value.into() }];
        assert!(!format!("{config:?}").contains(value), "{config:?}");
        ServerModel::new(config, Http::new())
    };
    assert!(with("HTTP-Referer", "https://x.test").unwrap().keys().is_empty());
    let keys = with("X-Api-Key", "sk-0123456789abcdef").unwrap().keys();
    assert_eq!(keys.redact("a sk-0123456789abcdef b"), "a [key] b");
    for (name, value) in [
        ("Authorization", "Bearer sk-0123456789abcdef"),
        ("Proxy-Authorization", "Basic sk-0123456789abcdef=="),
        ("X-Auth", "sk-0123456789abcdef"),
        ("cookie", "theme=dark; session=sk-0123456789abcdef; a=b"),
        ("x-signing-KEY", "  sk-0123456789abcdef "),
        ("My-Token", "Token token=\"sk-0123456789abcdef\", realm=x"),
    ] {
        let keys = with(name, value).unwrap().keys();
        assert_eq!(keys.redact("a sk-0123456789abcdef b"), "a [key] b", "{name}");
        assert!(!keys.redact(value).contains("abcdef"), "{name}");
        assert_eq!(keys.redact("Bearer Basic Token theme=dark"), "Bearer Basic Token theme=dark");
    }
    for (name, value) in [("a b", "xyzzy"), ("", "xyzzy"), ("x", "li\nne"), ("ü", "xyzzy")] {
        let error = with(name, value).err().map(|error| error.to_string()).unwrap();
        assert!(error.contains("cannot be sent") && !error.contains(value), "{error}");
    }
}

/// A request in which nothing or these were said so far, as it is sent: the real server is one that is asked.
async fn sent(config: ServerConfig, said: &[Message], max_tokens: u32) -> Value {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let config = ServerConfig { base_url, ..config };
    let model = ServerModel::new(config, Http::new()).unwrap();
    let pieces = said.iter().map(|message| model.encode(message)).collect();
    let prelude = model.encode_prelude("be brief", &[]);
    let mut stream = model.stream(ModelRequest { prelude, pieces, max_tokens });
    let (mut socket, _) = tokio::select! {
        accepted = listener.accept() => accepted.unwrap(),
        delta = futures::StreamExt::next(&mut stream) => panic!("{delta:?}"),
    };
    let request = tokio::select! {
        request = loopback::read_request(&mut socket) => request.unwrap(),
        delta = futures::StreamExt::next(&mut stream) => panic!("{delta:?}"),
    };
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn thinking(protocol: Protocol, model: &str, level: Thinking) -> ServerConfig {
    ServerConfig { thinking: Some(level), ..ServerConfig::new(protocol, model) }
}

fn reply(content: Vec<Block>) -> Message {
    Message { role: Role::Assistant, content }
}

#[tokio::test]
async fn nobody_is_asked_to_think_unless_it_is_configured() {
    for &protocol in Protocol::ALL {
        let body = sent(ServerConfig::new(protocol, "m"), &[Message::user("hi")], 8_000).await;
        for member in ["thinking", "output_config", "reasoning", "reasoning_effort", "temperature"]
        {
            assert_eq!(body.get(member), None, "{protocol:?}");
        }
        assert!(!ServerConfig::new(protocol, "m").asks_to_think());
    }
}

#[tokio::test]
async fn anthropic_is_given_a_budget_below_the_bound_of_the_reply() {
    let hi = [Message::user("hi")];
    // The model's own maximum is known: thinking comes on top of the answer, as far as that goes.
    for (model, level, asked, budget, most) in [
        ("claude-sonnet-4-5", Thinking::Low, 8_000, 4_096, 12_096),
        ("claude-sonnet-4-5", Thinking::Medium, 8_000, 10_240, 18_240),
        ("claude-sonnet-4-5", Thinking::High, 8_000, 24_432, 32_576),
        ("claude-opus-4-20250514", Thinking::High, 20_000, 24_000, 32_000),
        ("claude-sonnet-4-5", Thinking::Low, 200, 3_222, 4_296),
        // It is not: both share what there is.
        ("qwen", Thinking::High, 8_000, 6_000, 8_000),
        ("qwen", Thinking::Low, 1_366, 1_025, 1_366),
    ] {
        let body = sent(thinking(Protocol::Anthropic, model, level), &hi, asked).await;
        let wish = json!({"type": "enabled", "budget_tokens": budget});
        assert_eq!((&body["thinking"], &body["max_tokens"]), (&wish, &json!(most)), "{model}");
        assert_eq!(body.get("temperature"), None);
        assert!(budget >= 1_024 && budget < most);
    }
    // Too little for both.
    let body = sent(thinking(Protocol::Anthropic, "qwen", Thinking::High), &hi, 1_000).await;
    assert_eq!((body.get("thinking"), &body["max_tokens"]), (None, &json!(1_000)));
}

#[tokio::test]
async fn a_reply_that_a_server_has_bounded_is_not_asked_to_be_longer_by_thoughts() {
    let config = thinking(Protocol::Anthropic, "claude-sonnet-4-5", Thinking::High);
    let server = loopback::Loopback::start([]).await;
    let base_url = server.url();
    let model = ServerModel::new(ServerConfig { base_url, ..config }, Http::new()).unwrap();
    let whole = model.limits().max_output.unwrap();
    model.learn_output(Some(8_192));
    assert_eq!(model.limits().max_output, Some(8_192));
    let request = ModelRequest {
        prelude: model.encode_prelude("s", &[]),
        pieces: vec![model.encode(&Message::user("hi"))],
        max_tokens: 8_000,
    };
    let mut reply = model.stream(request);
    let asking = futures::StreamExt::next(&mut reply);
    tokio::select! {
        _ = asking => panic!("it hangs"),
        () = server.seen.hung.notified() => {}
    }
    let sent = server.requests().remove(0);
    let body: Value = serde_json::from_str(sent.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["max_tokens"], 8_192);
    assert!(body["thinking"]["budget_tokens"].as_u64().unwrap() < 8_192, "{body}");
    model.learn_output(None);
    assert_eq!(model.limits().max_output, Some(whole));
}

#[tokio::test]
async fn anthropics_models_without_budgets_are_told_an_effort() {
    let hi = [Message::user("hi")];
    for (model, wish) in [
        ("claude-opus-4-6", json!({"type": "adaptive"})),
        ("claude-opus-4-7", json!({"type": "adaptive", "display": "summarized"})),
    ] {
        let body = sent(thinking(Protocol::Anthropic, model, Thinking::Medium), &hi, 8_000).await;
        assert_eq!(body["thinking"], wish);
        assert_eq!(body["output_config"], json!({"effort": "medium"}));
    }
}

#[tokio::test]
async fn a_turn_that_began_without_thinking_goes_on_without() {
    let thought = Block::Thinking { thinking: "hm".into(), signature: "s".into() };
    let sealed = Block::RedactedThinking { data: "d".into() };
    let result = || Message { role: Role::User, content: vec![Block::result("c", "ok", false)] };
    let called = |first: &[Block]| reply([first, &[call(ToolInput::Json(json!({})))]].concat());
    let words = Message::user("hi");
    for (said, is_asked) in [
        (vec![words.clone(), called(std::slice::from_ref(&thought)), result()], true),
        (vec![words.clone(), called(&[sealed]), result(), called(&[]), result()], true),
        (vec![words.clone(), called(&[]), result()], false),
        (vec![words.clone(), called(&[]), result(), called(&[thought]), result()], false),
        (vec![words.clone(), called(&[]), result(), reply(vec![Block::text("so")]), words], true),
    ] {
        let config = thinking(Protocol::Anthropic, "claude-sonnet-4-5", Thinking::Low);
        let body = sent(config, &said, 8_000).await;
        assert_eq!(body.get("thinking").is_some(), is_asked, "{said:?}");
    }
}

#[tokio::test]
async fn openai_is_told_an_effort_and_asked_for_a_summary() {
    let hi = [Message::user("hi")];
    for (level, word) in [
        (Thinking::Minimal, "minimal"),
        (Thinking::Low, "low"),
        (Thinking::Medium, "medium"),
        (Thinking::High, "high"),
        (Thinking::Max, "high"),
    ] {
        let body = sent(thinking(Protocol::Responses, "gpt-5", level), &hi, 8_000).await;
        assert_eq!(body["reasoning"], json!({"effort": word, "summary": "auto"}));
        assert!(body["max_output_tokens"].as_u64().unwrap() > 8_000, "{body}");
        let chat = ServerConfig { provider: "groq".into(), ..thinking(Protocol::Chat, "m", level) };
        let body = sent(chat, &hi, 8_000).await;
        let word = if level == Thinking::Minimal { "low" } else { word };
        assert_eq!((&body["reasoning_effort"], body.get("reasoning")), (&json!(word), None));
        assert_eq!(body["max_completion_tokens"], 8_000);
    }
}

#[tokio::test]
async fn a_model_that_thinks_unasked_is_asked_for_the_words_of_its_thoughts() {
    let hi = [Message::user("hi")];
    let summarized = Some(json!({"type": "adaptive", "display": "summarized"}));
    for (model, level, wish) in [
        ("claude-sonnet-5-5", None, summarized.clone()),
        ("claude-sonnet-5-5", Some(Thinking::Off), summarized.clone()),
        ("us.anthropic.claude-opus-5-5-v1:0", None, summarized),
        // These think when they are asked to.
        ("claude-opus-4-8", None, None),
        ("anthropic/claude-opus-4.6", None, None),
        ("claude-sonnet-4-5", None, None),
        ("claude-3-5-haiku-latest", None, None),
        ("qwen", None, None),
    ] {
        let mut config = ServerConfig::new(Protocol::Anthropic, model);
        config.thinking = level;
        let body = sent(config, &hi, 8_000).await;
        assert_eq!(body.get("thinking"), wish.as_ref(), "{model}");
        assert_eq!(body.get("output_config"), None);
    }
}

#[tokio::test]
async fn prompts_are_kept_for_as_long_as_is_configured() {
    let markers = async |protocol, life| {
        let mut config = ServerConfig::new(protocol, "anthropic/claude-sonnet-5-5");
        config.provider = "openrouter".to_owned();
        config.cache = life;
        let body = sent(config, &[Message::user("hi")], 8_000).await.to_string();
        (body.matches("cache_control").count(), body.matches(r#""ttl":"1h""#).count())
    };
    for protocol in [Protocol::Anthropic, Protocol::Chat] {
        let most = markers(protocol, CacheLife::FiveMinutes).await.0;
        assert!(most >= 2, "{protocol:?}");
        assert_eq!(markers(protocol, CacheLife::FiveMinutes).await, (most, 0));
        assert_eq!(markers(protocol, CacheLife::Hour).await, (most, most));
        assert_eq!(markers(protocol, CacheLife::Off).await, (0, 0));
    }
}

#[tokio::test]
async fn a_request_has_the_members_that_are_configured() {
    for protocol in [Protocol::Anthropic, Protocol::Chat, Protocol::Responses] {
        let mut config = ServerConfig::new(protocol, "m");
        let members = json!({"model": "other", "top_p": 0.25, "service_tier": {"a": null}});
        config.body = BodyMembers::new(members.as_object().unwrap().clone());
        let body = sent(config, &[Message::user("hi é")], 8_000).await;
        for (name, value) in members.as_object().unwrap() {
            assert_eq!(&body[name], value, "{protocol:?}");
        }
        assert!(body.to_string().contains("hi é") && body["stream"] == true, "{body}");
    }
}

#[tokio::test]
async fn who_would_refuse_it_is_not_asked_to_think() {
    let hi = [Message::user("hi")];
    for (protocol, provider, model) in [
        (Protocol::Responses, "openai", "gpt-4.1"),
        (Protocol::Chat, "openai", "gpt-4o"),
        (Protocol::Chat, "mistral", "devstral"),
        (Protocol::Chat, "unknown", "m"),
    ] {
        let config = thinking(protocol, model, Thinking::High);
        let base_url = "http://127.0.0.1:9".to_owned();
        let config = ServerConfig { provider: provider.into(), base_url, ..config };
        assert!(!config.asks_to_think(), "{provider}/{model}");
        let body = sent(config, &hi, 8_000).await;
        let text = body.to_string();
        assert!(!text.contains("effort") && !text.contains("\"reasoning\""), "{text}");
        assert!(text.contains(":8000"), "{text}");
    }
}
