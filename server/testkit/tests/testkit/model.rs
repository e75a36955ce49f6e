//! Models against the scripted server: what is said arrives, whatever the chunks;
//! what fails is tried again or said in words; what is dropped stops.

use futures::StreamExt;
use ropewalk_model::{
    ApiKey, Block, Delta, Http, Message, Model, ModelError, ModelReply, ModelRequest, ModelStop,
    Patience, Protocol, ReplyBuilder, Role, ServerConfig, ServerModel, ToolDeclaration, ToolInput,
};
use ropewalk_protocol::{ModelLimits, Usage};
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};
use serde_json::json;
use std::time::Duration;

fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> (ScriptedModel, ServerModel) {
    start_over(Protocol::Anthropic, replies)
}

fn start_over(
    protocol: Protocol,
    replies: impl IntoIterator<Item = ScriptedReply>,
) -> (ScriptedModel, ServerModel) {
    let server = ScriptedModel::start_over(protocol, replies).unwrap();
    let model = ServerModel::new(server.config(), Http::new()).unwrap();
    (server, model)
}

fn request(model: &ServerModel, messages: &[Message]) -> ModelRequest {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let tool =
        ToolDeclaration { name: "bash".into(), description: "Runs".into(), input_schema: schema };
    ModelRequest {
        prelude: model.encode_prelude("be brief", &[tool]),
        pieces: messages.iter().map(|message| model.encode(message)).collect(),
        max_tokens: 8_000,
    }
}

async fn ask(
    model: &ServerModel,
    messages: &[Message],
) -> (Vec<Delta>, Result<ModelReply, ModelError>) {
    let (mut stream, mut deltas, mut builder) =
        (model.stream(request(model, messages)), Vec::new(), ReplyBuilder::new());
    while let Some(delta) = stream.next().await {
        match delta {
            Ok(delta) => {
                builder.push(&delta);
                deltas.push(delta);
            }
            Err(error) => return (deltas, Err(error)),
        }
    }
    (deltas, Ok(builder.finish()))
}

async fn say(model: &ServerModel, text: &str) -> Result<ModelReply, ModelError> {
    ask(model, &[Message::user(text)]).await.1
}

/// Asks a model that answers thus; gives the error as a sentence.
async fn sentence(reply: ScriptedReply) -> String {
    let (server, model) = start([reply]);
    let error = say(&model, "hi").await.unwrap_err();
    server.finish().unwrap();
    assert_eq!(server.requests().len(), 1, "{error} must not be tried again");
    error.to_string()
}

#[tokio::test]
async fn text_thinking_and_calls_in_all_chunkings() {
    let usage = Usage { input: 7, output: 42, cache_read: 3, cache_write: 1 };
    let full = ScriptedReply::new()
        .thinking("Hmm, 考える…", "c2lnbmF0dXJl")
        .text("Grüße 😀\n\"quoted\"")
        .call("bash", json!({"command": "ls 'ü'\n"}))
        .call("bash", json!({}))
        .call_raw("bash", "{\"command\": ")
        .usage(usage);
    let whole = full.clone().deltas_of(usize::MAX);
    let mut script = vec![whole, full.clone()];
    script.extend([1, 2, 3, 7, 64, 1 << 20].map(|n| full.clone().chunks_of(n).deltas_of(n)));
    for protocol in Protocol::ALL {
        let (server, model) = start_over(*protocol, script.clone());
        for _ in &script {
            let reply = say(&model, "hi").await.unwrap();
            let [thinking, text, one, two, three] = &reply.blocks[..] else { panic!("{reply:?}") };
            let Block::Thinking { thinking, signature } = thinking else { panic!("{reply:?}") };
            assert_eq!(thinking, "Hmm, 考える…");
            match protocol {
                Protocol::Anthropic => assert_eq!(signature, "c2lnbmF0dXJl"),
                Protocol::Chat => assert_eq!(signature, "", "it has no seals"),
                // There the seal is the whole item.
                Protocol::Responses => assert!(signature.contains("c2lnbmF0dXJl"), "{signature}"),
            }
            assert_eq!(*text, Block::text("Grüße 😀\n\"quoted\""));
            let input = |block: &Block| match block {
                Block::ToolUse { input, .. } => input.clone(),
                other => panic!("{other:?}"),
            };
            assert_eq!(input(one), ToolInput::Json(json!({"command": "ls 'ü'\n"})));
            assert_eq!(input(two), ToolInput::Json(json!({})));
            assert_eq!(input(three), ToolInput::Broken("{\"command\": ".into()));
            assert_eq!(reply.stop_reason, ModelStop::ToolUse);
            assert_eq!(reply.usage, usage);
        }
        server.finish().unwrap();
        assert_eq!(server.connections(), 1, "one connection serves all requests");
    }
}

#[tokio::test]
async fn a_tool_loop_repeats_what_was_sent() {
    let call = ScriptedReply::new().thinking("t", "sig").text("I look.").call_raw("bash", "{oops");
    let done = ScriptedReply::new().text("Done.").expect_text("no JSON").expect_no_text("Done");
    for protocol in Protocol::ALL.iter().copied() {
        let (server, model) = start_over(protocol, [call.clone(), done.clone(), done.clone()]);
        let mut history = vec![Message::user("hi")];
        for news in ["broken: no JSON", "and more, no JSON"] {
            let reply = ask(&model, &history).await.1.unwrap();
            let mut answers: Vec<Block> =
                reply.tool_calls().map(|(id, _, _)| Block::result(id, news, true)).collect();
            if answers.is_empty() {
                answers.push(Block::text(news));
            }
            history.push(reply.to_message().unwrap());
            history.push(Message { role: Role::User, content: answers });
        }
        assert_eq!(ask(&model, &history).await.1.unwrap().text(), "Done.");
        server.finish().unwrap();
        if protocol != Protocol::Anthropic {
            continue;
        }
        let bodies = server.requests();
        assert_eq!(bodies[2]["max_tokens"], 8_000);
        let marked: Vec<bool> = bodies[2]["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| {
                m["content"].as_array().unwrap().last().unwrap().get("cache_control").is_some()
            })
            .collect();
        assert_eq!(marked, [false, false, true, false, true], "the last two of the user");
        let headers = &server.recorded()[0].headers;
        assert_eq!(headers["anthropic-version"], "2023-06-01");
        assert_eq!(headers["x-api-key"], "scripted-key");
    }
}

#[tokio::test]
async fn the_models_own_maximum_binds() {
    let (server, _) = start([ScriptedReply::new().text("ok")]);
    let limits = ModelLimits { context: None, max_output: Some(4_096) };
    let config = ServerConfig { limits, ..server.config() };
    let model = ServerModel::new(config, Http::new()).unwrap();
    say(&model, "hi").await.unwrap();
    assert_eq!(server.requests()[0]["max_tokens"], 4_096);
}

#[tokio::test]
async fn faults_that_pass_are_tried_again_and_leave_nothing_behind() {
    let half =
        || ScriptedReply::new().text("This is void, ").call("bash", json!({"command": "rm x"}));
    let faults = [
        half().drop_at(ReplyPlace::Answer),
        half().drop_at(ReplyPlace::Byte(1)),
        half().drop_at(ReplyPlace::Block(1)),
        half().drop_at(ReplyPlace::End),
        half().end_at(ReplyPlace::Byte(0)),
        half().end_at(ReplyPlace::End),
        half().chunks_of(1).end_at(ReplyPlace::Byte(333)),
        half().error_at(ReplyPlace::Block(1), "overloaded_error", "Overloaded"),
        half().error_at(ReplyPlace::End, "api_error", "Internal"),
        ScriptedReply::refusal(529, "overloaded_error", "Overloaded"),
        ScriptedReply::refusal(429, "rate_limit_error", "slow").header("retry-after", "0"),
        ScriptedReply::status(500, "<html>oops</html>"),
        ScriptedReply::status(503, ""),
    ];
    for (protocol, fault) in
        Protocol::ALL.iter().flat_map(|p| faults.iter().map(|f| (*p, f.clone())))
    {
        let good = ScriptedReply::new().text("good").event_at(ReplyPlace::Block(0), "garbage");
        let words = format!("{fault:?} over {protocol:?}");
        let (server, model) = start_over(protocol, [fault, good]);
        let (deltas, reply) = ask(&model, &[Message::user("hi")]).await;
        let reply = reply.unwrap_or_else(|error| panic!("{words}: {error}"));
        assert_eq!(reply.blocks, [Block::text("good")], "{words}");
        let retries = deltas.iter().filter(|d| matches!(d, Delta::Retrying { attempt: 2, .. }));
        assert_eq!(retries.count(), 1, "{words}");
        server.finish().unwrap();
        let sent = server.recorded();
        assert_eq!(sent[0].raw, sent[1].raw, "the same request again");
    }
}

#[tokio::test]
async fn what_does_not_pass_ends_after_bounded_tries() {
    let overloaded = ScriptedReply::refusal(529, "overloaded_error", "Overloaded").forever();
    let (server, model) = start([overloaded]);
    let (deltas, reply) = ask(&model, &[Message::user("hi")]).await;
    assert!(matches!(reply, Err(ModelError::Overloaded { retry_after: None, .. })), "{reply:?}");
    let waits: Vec<_> = deltas
        .iter()
        .map(|delta| match delta {
            Delta::Retrying { wait, reason, .. } if reason.contains("overloaded") => {
                wait.as_millis()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let doubled = [1, 2, 4, 8, 16];
    assert!(waits.len() == 5 && waits.iter().zip(doubled).all(|(w, most)| *w <= most), "{waits:?}");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn retry_after_is_obeyed_within_reason() {
    let limited = |seconds: &str| {
        ScriptedReply::refusal(429, "rate_limit_error", "slow").header("retry-after", seconds)
    };
    let busy = ScriptedReply::status(503, "Loading model").header("retry-after", "0.03");
    let (_server, model) = start([limited("0.02"), busy, ScriptedReply::new().text("ok")]);
    let (deltas, reply) = ask(&model, &[Message::user("hi")]).await;
    assert_eq!(reply.unwrap().text(), "ok");
    for (delta, asked) in deltas.iter().zip([20, 30]) {
        let Delta::Retrying { wait, .. } = delta else { panic!("{deltas:?}") };
        assert_eq!(wait.as_millis(), asked);
    }
    assert_eq!(
        sentence(limited("3600")).await,
        "the model server's rate limit is reached (slow) for another 60 min: try again later"
    );
}

#[tokio::test]
async fn refusals_fail_at_once_in_words_that_mend() {
    let refusal = ScriptedReply::refusal;
    for (reply, words) in [
        (refusal(401, "authentication_error", "invalid x-api-key"), "refuses the API key"),
        (refusal(403, "permission_error", "no"), "does not permit this (no)"),
        (refusal(404, "not_found_error", "model: scripted"), "knows no model \"scripted\""),
        (ScriptedReply::status(404, r#"{"error":"model 'x' not found"}"#), "knows no model"),
        (ScriptedReply::status(404, "<h1>nope</h1>"), "check the base URL"),
        (refusal(404, "not_found_error", "File Not Found"), "check the base URL"),
        (refusal(400, "invalid_request_error", "messages: bad"), "messages: bad"),
        (
            refusal(400, "invalid_request_error", "prompt is too long: 9 > 8"),
            "compact it or start a new one",
        ),
        (refusal(413, "request_too_large", "big"), "too long for the server (big)"),
        (ScriptedReply::status(302, "").header("location", "http://evil.test"), "redirects"),
        (
            ScriptedReply::status(200, "<html>").header("content-type", "text/html"),
            "sends text/html in place of an event stream",
        ),
        (
            ScriptedReply::new().error_at(
                ReplyPlace::End,
                "invalid_request_error",
                "no tools here",
            ),
            "no tools here",
        ),
    ] {
        let sentence = sentence(reply).await;
        assert!(sentence.contains(words), "{words:?} not in {sentence:?}");
        assert!(!sentence.contains('\n') && sentence.len() < 400, "{sentence}");
    }
}

#[tokio::test]
async fn a_key_that_the_server_quotes_is_redacted() {
    let words = sentence(ScriptedReply::refusal(400, "x", "bad key scripted-key in header")).await;
    assert_eq!(words, "the model server refuses the request: bad key [key] in header");
}

#[tokio::test]
async fn the_expected_key() {
    let server = ScriptedModel::start_with_key([ScriptedReply::new().text("ok")], "right").unwrap();
    let key = ApiKey::new("wrong", "KEY").ok();
    let config = ServerConfig { key, ..server.config() };
    let model = ServerModel::new(config, Http::new()).unwrap();
    let host = server.base_url().replace("http://", "");
    assert_eq!(say(&model, "hi").await, Err(ModelError::BadKey { host }));
    assert_eq!(server.finish().unwrap_err().len(), 1);
}

#[tokio::test]
async fn unreachable_servers_and_missing_keys() {
    // A port that was free a moment ago, and that nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut config = ServerConfig::new(Protocol::Anthropic, "m");
    config.base_url = format!("http://user:hidden@127.0.0.1:{port}");
    config.retry.tries = 2;
    config.retry.first_wait = Duration::from_millis(1);
    let model = ServerModel::new(config, Http::new()).unwrap();
    let (deltas, reply) = ask(&model, &[Message::user("hi")]).await;
    let words = reply.unwrap_err().to_string();
    assert!(words.starts_with(&format!("127.0.0.1:{port} cannot be reached, because")), "{words}");
    assert!(words.contains("nothing listens there") && !words.contains("hidden"), "{words}");
    assert_eq!(deltas.len(), 0, "nobody starts it meanwhile");

    let model = ServerModel::new(ServerConfig::new(Protocol::Anthropic, "m"), Http::new()).unwrap();
    let missing = say(&model, "hi").await.unwrap_err();
    assert_eq!(missing, ModelError::MissingKey { var: "ANTHROPIC_API_KEY".into() });
}

#[tokio::test]
async fn stalls_after_the_beginning_are_cuts_and_before_it_an_end() {
    let quick = |server: &ScriptedModel, first: u64| {
        let patience = Patience {
            first_on_loopback: Duration::from_millis(first),
            idle: Duration::from_millis(40),
            ..Patience::default()
        };
        ServerModel::new(ServerConfig { patience, ..server.config() }, Http::new()).unwrap()
    };
    let stalled = ScriptedReply::new().text("half").gate(ReplyPlace::End, "never");
    // For ever, since on a busy machine the good reply may seem to stall, too.
    let good = ScriptedReply::new().text("ok").forever();
    let server = ScriptedModel::start([stalled, good]).unwrap();
    let model = quick(&server, 30_000);
    let (deltas, reply) = ask(&model, &[Message::user("hi")]).await;
    assert_eq!(reply.unwrap().blocks, [Block::text("ok")]);
    assert!(deltas.iter().any(|delta| matches!(delta, Delta::Retrying { .. })));

    for place in [ReplyPlace::Answer, ReplyPlace::Byte(0), ReplyPlace::Block(0)] {
        // On a busy machine the limit may be over before the request has come.
        let silent = ScriptedReply::new().text("late").gate(place, "never").forever();
        let server = ScriptedModel::start([silent]).unwrap();
        let error = say(&quick(&server, 60), "hi").await.unwrap_err();
        let after = Duration::from_millis(60);
        assert_eq!(error, ModelError::Stalled { after, begun: false }, "{place:?}");
    }
}

#[tokio::test]
async fn dropping_the_stream_cancels_the_exchange() {
    let reply = ScriptedReply::new()
        .text("seen")
        .call("bash", json!({"command": "ls"}))
        .gate(ReplyPlace::Block(1), "call");
    let (server, model) = start([reply]);
    let mut stream = model.stream(request(&model, &[Message::user("hi")]));
    let mut builder = ReplyBuilder::new();
    while let Some(delta) = stream.next().await {
        let delta = delta.unwrap();
        builder.push(&delta);
        if delta == (Delta::BlockEnd { index: 0 }) {
            break;
        }
    }
    server.wait_until_reached("call").await;
    drop(stream);
    server.wait_until_abandoned(1).await;
    assert_eq!(builder.finish_partial().blocks, [Block::text("seen")]);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn dropping_the_stream_ends_the_wait_for_another_try() {
    let limited =
        ScriptedReply::refusal(429, "rate_limit_error", "slow").header("retry-after", "250");
    let (server, model) = start([limited]);
    let mut stream = model.stream(request(&model, &[Message::user("hi")]));
    let first = stream.next().await;
    assert!(matches!(first, Some(Ok(Delta::Retrying { .. }))), "{first:?}");
    let waiting = tokio::time::timeout(Duration::from_millis(20), stream.next()).await;
    assert!(waiting.is_err(), "it waits");
    drop(stream);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let (server, model) = start([]);
    drop(model.stream(request(&model, &[Message::user("hi")])));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn the_model_can_be_chosen_at_run_time() {
    let (_server, model) = start([ScriptedReply::new().text("ok")]);
    let boxed: std::sync::Arc<dyn Model> = std::sync::Arc::new(model);
    assert_eq!(boxed.name(), "anthropic/scripted");
    let request = ModelRequest {
        prelude: boxed.encode_prelude("", &[]),
        pieces: vec![boxed.encode(&Message::user("hi"))],
        max_tokens: 1,
    };
    let deltas: Vec<_> = boxed.stream(request).collect().await;
    assert_eq!(deltas.last(), Some(&Ok(Delta::Stop(ModelStop::EndTurn))));
}

#[test]
fn the_script_in_plain_threads() {
    let gated = ScriptedReply::new().text("a").gate(ReplyPlace::Block(0), "door");
    let (server, model) = start([gated]);
    let asking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(say(&model, "hi")).unwrap().text()
    });
    server.wait_until_reached_blocking("door");
    assert!(!asking.is_finished(), "the gate is shut");
    server.open_gate("door");
    assert_eq!(asking.join().unwrap(), "a");
    server.wait_until_abandoned_blocking(0);
}

#[tokio::test]
async fn replies_made_from_requests() {
    let count = ScriptedReply::from_fn(|body| {
        let said = body["messages"][0]["content"][0]["text"].as_str().unwrap().to_owned();
        ScriptedReply::new().text(format!("{said}!"))
    });
    let (server, model) = start([count.conversation("any").forever()]);
    assert_eq!(say(&model, "a").await.unwrap().text(), "a!");
    assert_eq!(say(&model, "a").await.unwrap().text(), "a!");
    server.finish().unwrap();
}

#[tokio::test]
async fn violations_are_answered_in_words_and_kept() {
    let expecting = ScriptedReply::new()
        .text("never said")
        .expect_text("please")
        .expect_no_text("now")
        .expect(|body| Err(format!("{} messages", body["messages"].as_array().unwrap().len())));
    let (server, model) = start([expecting, ScriptedReply::new(), ScriptedReply::new()]);
    let words = say(&model, "now").await.unwrap_err().to_string();
    assert!(words.contains("should say \"please\"") && words.contains("1 messages"), "{words}");
    let changed = say(&model, "then").await.unwrap_err().to_string();
    assert!(changed.contains("message 0 was sent before and has changed"), "{changed}");
    let faults = server.finish().unwrap_err();
    assert_eq!(faults.len(), 5, "{faults:#?}");
    assert!(faults[0].starts_with("request 0: "), "{faults:?}");
    assert!(faults[4].starts_with("reply 2 was never asked for"), "{faults:?}");
    server.finish().unwrap();
    let beyond = say(&model, "more").await.unwrap_err().to_string();
    assert!(beyond.contains("the script has only 2 replies"), "{beyond}");
    server.finish().unwrap_err();
}

#[test]
fn dropping_with_unclaimed_faults_panics() {
    let (server, _) = start([ScriptedReply::new()]);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(server)));
    let words = panic.unwrap_err().downcast::<String>().unwrap();
    assert!(words.contains("reply 0 was never asked for"), "{words}");
}
