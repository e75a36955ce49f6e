//! Faults of a model server, played to each protocol: what passes is asked for again as it was,
//! after a wait that is told; what does not is said in words at once.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may be blunt, as tests are"
)]

use crate::loopback::*;
use futures::StreamExt;
use ropewalk_model::{
    Block, Delta, Http, ModelError, Network, Patience, Protocol, ServerConfig, ServerModel,
};
use std::{sync::atomic::Ordering, time::Duration};

/// The waits of a reply's retries.
pub(crate) fn waits(deltas: &[Delta]) -> Vec<Duration> {
    let told = told_waits(deltas);
    let is_first = |at: &usize| *at == 0 || told[at - 1].0 != told[*at].0;
    (0..told.len()).filter(is_first).map(|at| told[at].1).collect()
}

/// The number of each try that comes next, and how long until then, as often as it is told.
fn told_waits(deltas: &[Delta]) -> Vec<(u32, Duration)> {
    let waits = deltas.iter().filter_map(|delta| match delta {
        Delta::Retrying { attempt, wait, .. } => Some((*attempt, *wait)),
        _ => None,
    });
    waits.collect()
}

#[tokio::test]
async fn a_long_wait_is_counted_down() {
    let _clock = Clock::stop();
    for (fields, told) in [
        ("retry-after: 13\r\n", vec![13, 10, 5]),
        ("retry-after: 5\r\n", vec![5]),
        ("retry-after: 15\r\n", vec![15, 10, 5]),
    ] {
        let protocol = Protocol::Chat;
        let server = Loopback::start([whole(429, fields, "slow down"), good(protocol)]).await;
        let (deltas, reply) = read(ask(&server.model(protocol))).await;
        assert_eq!(reply.unwrap().blocks, [Block::text("good")]);
        let expected: Vec<_> = told.iter().map(|wait| (2, Duration::from_secs(*wait))).collect();
        assert_eq!(told_waits(&deltas), expected);
        // The words beside the number have none of their own.
        let reasons = deltas.iter().filter_map(|delta| match delta {
            Delta::Retrying { reason, .. } => Some(reason),
            _ => None,
        });
        assert!(reasons.clone().all(|reason| !reason.contains("another")), "{deltas:?}");
        assert!(reasons.clone().all(|reason| reason.contains("slow down")), "{deltas:?}");
    }
}

/// The fault, then a good reply: the fault is got over by one retry. Gives its wait.
async fn gets_over(protocol: Protocol, fault: Vec<Act>) -> Duration {
    let words = format!("{protocol:?} {fault:?}");
    let server = Loopback::start([fault, good(protocol)]).await;
    let (deltas, reply) = read(ask(&server.model(protocol))).await;
    let reply = reply.unwrap_or_else(|error| panic!("{words}: {error}"));
    assert_eq!(reply.blocks, [Block::text("good")], "{words}");
    let requests = server.requests();
    assert!(requests.len() == 2 && requests[0] == requests[1], "{words}: the same again");
    let waits = waits(&deltas);
    assert_eq!(waits.len(), 1, "{words}: {deltas:?}");
    waits[0]
}

/// The fault is the end, after one request. Gives the words.
async fn ends(protocol: Protocol, fault: Vec<Act>) -> String {
    let server = Loopback::start([fault, good(protocol)]).await;
    let (deltas, reply) = read(ask(&server.model(protocol))).await;
    let words = reply.unwrap_err().to_string();
    assert_eq!(waits(&deltas), Vec::<Duration>::new(), "{protocol:?}: {words}");
    assert_eq!(server.requests().len(), 1, "{protocol:?}: {words}");
    assert!(!words.contains(KEY), "{words}");
    words
}

#[tokio::test]
async fn cut_streams_are_asked_for_again_at_once() {
    let _clock = Clock::stop();
    for &protocol in Protocol::ALL {
        let half = || chunk(&says(protocol, "half"));
        let torn = says(protocol, "half");
        let (torn, _) = torn.split_at(torn.len() - 9);
        for fault in [
            vec![Act::Close],
            vec![Act::Reset],
            vec![streaming(), Act::Close],
            vec![streaming(), half(), Act::Close],
            vec![streaming(), half(), Act::Reset],
            vec![streaming(), half(), Act::Send(b"99\r\nhalf a chu".to_vec()), Act::Close],
            vec![streaming(), half(), Act::Send(b"no chunk".to_vec()), Act::Close],
            // Clean ends without the last event.
            vec![streaming(), end()],
            vec![streaming(), half(), end()],
            vec![streaming(), chunk(torn), end()],
        ] {
            assert_eq!(gets_over(protocol, fault).await, Duration::ZERO);
        }
    }
}

#[tokio::test]
async fn garbage_is_passed_over() {
    for &protocol in Protocol::ALL {
        let garbage = [
            ": ping\n\n",
            "data: {\"oops\n\n",
            "data: [7]\n\n",
            "data: {\"type\":9}\n\n",
            "event: new\ndata: {\"type\":\"new\"}\n\n",
        ];
        let mut answer = vec![streaming()];
        for garbage in garbage {
            answer.extend([chunk(garbage)]);
        }
        answer.extend([
            chunk(&says(protocol, "good")),
            chunk("data: \u{1}\n\n"),
            chunk(last(protocol)),
            end(),
        ]);
        let server = Loopback::start([answer]).await;
        let (deltas, reply) = read(ask(&server.model(protocol))).await;
        assert_eq!(reply.unwrap().text(), "good", "{protocol:?}");
        assert_eq!(waits(&deltas), Vec::<Duration>::new());
    }
}

#[tokio::test]
async fn statuses_that_pass_are_waited_for_as_the_server_asks() {
    let _clock = Clock::stop();
    let date = |at: &str| format!("date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: {at}\r\n");
    let asked = [
        ("retry-after: 3\r\n".to_owned(), 3_000),
        ("Retry-After: 0.25\r\n".to_owned(), 250),
        ("retry-after-ms: 40\r\nretry-after: 1\r\n".to_owned(), 40),
        ("retry-after: 0\r\n".to_owned(), 0),
        (date("Sun, 06 Nov 1994 08:49:44 GMT"), 7_000),
        (date("Sunday, 06-Nov-94 08:49:39 GMT"), 2_000),
        (date("Sun, 06 Nov 1994 08:00:00 GMT"), 0),
    ];
    for &protocol in Protocol::ALL {
        let busy = "{\"error\":{\"message\":\"busy\",\"code\":503}}";
        let wait =
            gets_over(protocol, whole(200, "content-type: application/json\r\n", busy)).await;
        assert!(!wait.is_zero());
        let wait = gets_over(protocol, whole(503, "content-encoding: gzip\r\n", "packed")).await;
        assert!(!wait.is_zero());
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            let passes = async |fields: &str| {
                gets_over(protocol, whole(status, fields, "{\"error\":{\"message\":\"busy\"}}"))
                    .await
            };
            let half = Duration::from_millis(250)..=Duration::from_millis(500);
            for fields in
                ["", "retry-after: soon\r\n", "retry-after: -1\r\n", "retry-after: nan\r\n"]
            {
                let wait = passes(fields).await;
                assert!(half.contains(&wait), "{status} {fields}: {wait:?}");
            }
            for (fields, wait) in &asked {
                assert_eq!(passes(fields).await.as_millis(), *wait, "{status} {fields}");
            }
        }
        let long = ends(protocol, whole(429, "retry-after: 3600\r\n", "")).await;
        assert!(long.contains("for another 60 min"), "{long}");
    }
}

#[tokio::test]
async fn a_wait_is_read_wherever_the_server_tells_it() {
    let _clock = Clock::stop();
    for &protocol in Protocol::ALL {
        for (fields, body, wait) in [
            (
                "x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 6m0.5s\r\nx-ratelimit-remaining-requests: 3\r\nx-ratelimit-reset-requests: 1h\r\n",
                "",
                None,
            ),
            (
                "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 120ms\r\n",
                "",
                Some(120),
            ),
            (
                "",
                r#"[{"error": {"code": 429, "message": "Quota. Please retry in 12.5s.", "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "13s"}]}}]"#,
                Some(13_000),
            ),
            ("", r#"{"error": {"message": "Slow down. Please try again in 1.2s."}}"#, Some(1_200)),
            ("", r#"{"error": {"message": "Slow down.", "retry_after_ms": 70}}"#, Some(70)),
            ("", r#"{"error": {"message": "Per day. Please retry in 41231.5s."}}"#, None),
        ] {
            match wait {
                Some(wait) => {
                    let waited = gets_over(protocol, whole(429, fields, body)).await;
                    assert_eq!(waited.as_millis(), wait, "{fields}{body}");
                }
                None => {
                    let words = ends(protocol, whole(429, fields, body)).await;
                    assert!(words.contains("rate limit is reached"), "{words}");
                    assert!(body.is_empty() || words.contains("Per day."), "{words}");
                }
            }
        }
    }
}

#[tokio::test]
async fn tries_are_bounded_and_their_waits_double() {
    let _clock = Clock::stop();
    for &protocol in Protocol::ALL {
        for fault in [whole(500, "", ""), vec![streaming(), chunk(&says(protocol, "x")), end()]] {
            let server = Loopback::start(vec![fault; 9]).await;
            let (deltas, reply) = read(ask(&server.model(protocol))).await;
            assert!(reply.unwrap_err().is_passing());
            assert_eq!(server.requests().len(), 6);
            let waits = waits(&deltas);
            for (wait, most) in waits[1..].iter().zip([1_000, 2_000, 4_000, 8_000]) {
                let most = Duration::from_millis(most);
                assert!(*wait <= most && *wait >= most / 2, "{waits:?}");
            }
        }
    }
}

#[tokio::test]
async fn overload_is_waited_for_as_long_as_it_may_last() {
    let _clock = Clock::stop();
    for &protocol in Protocol::ALL {
        for fields in ["", "retry-after: 0\r\n", "retry-after: 40\r\n"] {
            let server = Loopback::start(vec![whole(529, fields, ""); 700]).await;
            let (deltas, reply) = read(ask(&server.model(protocol))).await;
            assert!(reply.unwrap_err().is_passing());
            let waited: Duration = waits(&deltas).iter().sum();
            let bound = Duration::from_secs(250)..=Duration::from_secs(300);
            assert!(bound.contains(&waited), "{fields}: {waited:?}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_comes_packed_is_read() {
    // Made by `gzip`: `data: {"choices":[{"delta":{"content":"good"},"finish_reason":"stop"}]}` and `data: [DONE]`.
    let packed: &[u8] = &PACKED;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        packed.len()
    );
    let answer = vec![Act::Send(head.into_bytes()), Act::Send(packed.to_vec()), Act::Close];
    let server = Loopback::start([answer]).await;
    let (_, reply) = read(ask(&server.model(Protocol::Chat))).await;
    assert_eq!(reply.unwrap().text(), "good");
}

#[tokio::test]
async fn errors_in_mid_stream_pass_or_end_by_their_kind() {
    let _clock = Clock::stop();
    for &protocol in Protocol::ALL {
        let fails = |kind: &str| {
            vec![streaming(), chunk(&says(protocol, "half")), chunk(&error(protocol, kind)), end()]
        };
        for kind in
            ["overloaded_error", "rate_limit_error", "api_error", "server_error", "quite_new"]
        {
            let wait = gets_over(protocol, fails(kind)).await;
            assert!(!wait.is_zero(), "{kind}");
        }
        for kind in
            ["invalid_request_error", "permission_error", "insufficient_quota", "request_too_large"]
        {
            let words = ends(protocol, fails(kind)).await;
            assert!(words.contains("words"), "{kind}: {words}");
        }
        let key = ends(protocol, fails("authentication_error")).await;
        assert!(key.contains("refuses the API key"), "{key}");
    }
}

/// Answers that refuse a request: the status, fields of the head, the body, and a part of what is said.
fn refusals() -> Vec<(u16, &'static str, String, &'static str)> {
    let json = |message: &str| format!("{{\"error\":{{\"message\":\"{message}\"}}}}");
    vec![
        (400, "", json("temperature is odd"), "temperature is odd"),
        (400, "", json("maximum context length is 9 tokens"), "compact it"),
        (401, "", json(&format!("bad key {KEY}")), "check that it is whole"),
        (402, "", json("no credit"), "no credit"),
        (
            400,
            "",
            json("Your credit balance is too low: see Plans & Billing"),
            "plan, credit and rights",
        ),
        (403, "", json(&format!("not for {KEY}")), "not for [key]"),
        (404, "", json("The model `m` does not exist"), "knows no model \"m\""),
        (404, "", "<html>nothing</html>".to_owned(), "check the base URL"),
        (405, "", String::new(), "check the base URL"),
        (413, "", String::new(), "too long for the server"),
        (422, "", "{\"detail\":\"no such field\"}".to_owned(), "no such field"),
        (
            200,
            "content-type: text/html\r\n",
            "<html>".to_owned(),
            "text/html in place of an event stream",
        ),
        (200, "content-type: application/json\r\n", "{}".to_owned(), "application/json in place"),
        (
            200,
            "content-type: text/event-stream\r\nContent-Encoding: br\r\n",
            "x".to_owned(),
            "it sends br",
        ),
        // An error behind a status that tells of none.
        (
            200,
            "content-type: application/json; charset=utf-8\r\n",
            json(&format!("No endpoints for {KEY}")),
            "refuses the request: No endpoints for [key]",
        ),
        (
            200,
            "content-type: application/json\r\n",
            "[{\"error\":{\"message\":\"bad\",\"type\":\"invalid_api_key\"}}]".to_owned(),
            "refuses the API key",
        ),
        (200, "content-type: text/json\r\n", "{\"error\":null}".to_owned(), "text/json in place"),
        (
            200,
            "content-type: application/json\r\n",
            "{\"message\":\"hello\"}".to_owned(),
            "application/json in place",
        ),
        (200, "content-type: application/json\r\n", "\u{fffd}{".repeat(99), "json in place"),
        // A packed complaint can't be read.
        (400, "content-encoding: gzip\r\n", "packed".to_owned(), "no reason given"),
        (403, "Content-Encoding: br, gzip\r\n", "packed".to_owned(), "its reason came as br, gzip"),
        (400, "content-encoding: identity\r\n", json("plain"), "plain"),
        (204, "content-type: text/plain\r\n", String::new(), "text/plain in place"),
        (307, "location: http://127.0.0.1:1/\r\n", String::new(), "redirects"),
    ]
}

#[tokio::test]
async fn what_is_refused_ends_at_once_in_words_that_say_what_to_mend() {
    let refusals = refusals();
    for &protocol in Protocol::ALL {
        for (status, fields, body, expected) in &refusals {
            let words = ends(protocol, whole(*status, fields, body)).await;
            assert!(words.contains(expected), "{protocol:?} {status}: {words}");
            assert!(!words.contains("packed"), "{words}");
        }
    }
}

/// Answers of servers, with 400, to a prompt that is too long: each a body as it is sent, or the words alone where
/// the body has also a kind that says it.
const TOO_LONG: &[(&str, &str)] = &[
    (
        "Anthropic",
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
    ),
    (
        "Anthropic, with the reply",
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
    ),
    (
        "OpenAI",
        r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
    ),
    (
        "OpenAI, by the code",
        r#"{"error":{"message":"Too much.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
    ),
    (
        "OpenAI, in words",
        r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","code":null}}"#,
    ),
    (
        "llama.cpp",
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"invalid_request_error"}}"#,
    ),
    (
        "llama.cpp, by the type",
        r#"{"error":{"code":400,"message":"request (5000 tokens) is too large","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
    ),
    (
        "llama-cpp-python",
        r#"{"error":{"message":"Requested tokens (5000) exceed context window of 4096","type":"invalid_request_error","param":null,"code":null}}"#,
    ),
    (
        "Groq",
        r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}}"#,
    ),
    (
        "Gemini",
        r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
    ),
    (
        "xAI",
        r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#,
    ),
    ("Bedrock", r#"{"message":"Input is too long for requested model."}"#),
    (
        "vLLM",
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.","type":"BadRequestError","param":null,"code":400}"#,
    ),
    (
        "Mistral",
        r#"{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","param":null,"code":"3051"}"#,
    ),
    (
        "OpenRouter",
        r#"{"error":{"message":"This endpoint's maximum context length is 200000 tokens. However, you requested about 250000 tokens. Please reduce the length of either one.","code":400,"metadata":{"provider_name":null}}}"#,
    ),
    ("Cohere", r#"{"message":"too many tokens: size limit exceeded by 1000 tokens."}"#),
    ("words alone", "Context Length exceeded"),
];

#[tokio::test]
async fn a_prompt_that_is_too_long_is_known_by_any_providers_words() {
    for &protocol in Protocol::ALL {
        for (provider, body) in TOO_LONG {
            let server = Loopback::start([whole(400, "", body)]).await;
            let error = read(ask(&server.model(protocol))).await.1.unwrap_err();
            assert!(matches!(error, ModelError::ContextLength { .. }), "{provider}: {error}");
            assert_eq!(server.requests().len(), 1, "{provider}");
        }
        // Of these only the kind says so; of the others the words do, too.
        for kind in ["context_length_exceeded", "exceed_context_size_error"] {
            let fault = vec![streaming(), chunk(&error(protocol, kind)), end()];
            let words = ends(protocol, fault).await;
            assert!(words.contains("compact it"), "{kind}: {words}");
        }
        // Other words about tokens are no such thing.
        for other in
            ["max_tokens must be at least 1", "the rate limit of tokens", "no such input", "reduce"]
        {
            let body = format!("{{\"error\":{{\"message\":\"{other}\"}}}}");
            let server = Loopback::start([whole(400, "", &body)]).await;
            let error = read(ask(&server.model(protocol))).await.1.unwrap_err();
            assert!(matches!(error, ModelError::InvalidRequest { .. }), "{other}: {error}");
        }
    }
}

#[tokio::test]
async fn keys_never_follow_a_redirect() {
    for status in [301, 302, 303, 307, 308] {
        let other = Loopback::start([good(Protocol::Anthropic)]).await;
        let location = format!("location: {}/v1/messages\r\n", other.url());
        let words = ends(Protocol::Anthropic, whole(status, &location, "")).await;
        assert!(words.contains(&status.to_string()), "{words}");
        assert_eq!(other.accepted(), 0);
    }
}

#[tokio::test]
async fn nothing_without_end_is_read_to_its_end() {
    let most = |server: &Loopback, mb: usize| {
        let sent = server.seen.sent.load(Ordering::SeqCst);
        assert!(sent < mb << 20, "{sent} bytes were taken");
    };
    let mb = |text: &str| text.repeat((1 << 20) / text.len());
    let open = || Act::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec());
    for &protocol in Protocol::ALL {
        let comments = Act::Endless(mb(": ping\n\n").into());
        let event = Act::Endless(mb("words").into());
        let cases = [
            (vec![open(), comments], 80),
            (vec![open(), Act::Send(b"data: ".to_vec()), event.clone()], 40),
            (vec![open(), Act::Endless(mb(&says(protocol, "go on")).into())], 80),
        ];
        for (fault, bound) in cases {
            let server = Loopback::start([fault]).await;
            let error = read(ask(&server.model(protocol))).await.1.unwrap_err();
            assert!(matches!(&error, ModelError::TooLarge { .. }), "{error}");
            most(&server, bound);
        }
        let head = Act::Send(b"HTTP/1.1 400 X\r\ncontent-length: 104857600\r\n\r\n".to_vec());
        let server = Loopback::start([vec![head, event]]).await;
        let error = read(ask(&server.model(protocol))).await.1.unwrap_err();
        assert!(matches!(&error, ModelError::InvalidRequest { .. }), "{error}");
        assert!(error.to_string().len() < 1_000, "{error}");
        most(&server, 16);
    }
}

#[tokio::test]
async fn a_stall_before_the_first_byte_is_waited_for_with_words_and_is_an_end() {
    let _clock = Clock::stop();
    for &protocol in Protocol::ALL {
        for fault in [
            vec![Act::Hang],
            vec![streaming(), Act::Hang],
            vec![streaming(), chunk(": ping\n\n"), Act::Hang],
        ] {
            let server = Loopback::start([fault]).await;
            let patience = Patience { first_on_loopback: 100 * SECOND, ..Patience::default() };
            let config = ServerConfig { patience, ..server.config(protocol) };
            let mut stream = ask(&ServerModel::new(config, Http::new()).unwrap());
            // Polled, while the server gets the request and has said all it says.
            tokio::select! {
                biased;
                delta = stream.next() => panic!("{delta:?}"),
                () = server.seen.hung.notified() => {}
            }
            settle(&mut stream).await;
            let mut told = Vec::new();
            let error = loop {
                advance(5 * SECOND).await;
                match futures::poll!(stream.next()) {
                    std::task::Poll::Pending => {}
                    std::task::Poll::Ready(Some(Ok(Delta::Waiting {
                        waited,
                        is_queued: false,
                    }))) => told.push(waited.as_secs()),
                    std::task::Poll::Ready(Some(Err(error))) => break error,
                    other => panic!("{other:?}"),
                }
            };
            assert_eq!(error, ModelError::Stalled { after: 100 * SECOND, begun: false });
            assert!(told.starts_with(&[5, 10, 20, 40, 70]), "{told:?}");
            assert_eq!(server.requests().len(), 1, "it is not asked to begin anew");
        }
    }
}

#[tokio::test]
async fn a_server_here_gets_longer_for_its_first_words_than_one_elsewhere() {
    let _clock = Clock::stop();
    for (is_far, limit) in [(false, 900), (true, 120)] {
        let server = Loopback::start([vec![Act::Hang]]).await;
        let mut config = server.config(Protocol::Anthropic);
        let mut network = Network::default();
        if is_far {
            // By way of a proxy, which is here.
            config.base_url = "http://models.invalid".to_owned();
            network.http_proxy = Some(server.url());
        }
        let mut stream = ask(&ServerModel::new(config, Http::over(network)).unwrap());
        tokio::select! {
            biased;
            delta = stream.next() => panic!("{delta:?}"),
            () = server.seen.hung.notified() => {}
        }
        settle(&mut stream).await;
        advance((limit - 1) * SECOND).await;
        assert_eq!(told(&mut stream).await, [u64::from(limit) - 1]);
        advance(SECOND).await;
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error, ModelError::Stalled { after: limit * SECOND, begun: false });
    }
}

/// Lets what was sent arrive, though nothing comes of it.
async fn settle(stream: &mut Deltas) {
    for _ in 0..100 {
        assert!(futures::poll!(stream.next()).is_pending());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_stall_after_the_first_byte_is_a_cut_stream() {
    let _clock = Clock::stop();
    for &protocol in Protocol::ALL {
        let stalls = vec![streaming(), chunk(&says(protocol, "half")), Act::Hang];
        let server = Loopback::start([stalls, good(protocol)]).await;
        let mut stream = ask(&server.model(protocol));
        let first = stream.next().await.unwrap().unwrap();
        assert_eq!(first, Delta::Text { index: 0, text: "half".into() });
        settle(&mut stream).await;
        advance(5 * SECOND).await;
        assert_eq!(told(&mut stream).await, [5], "{protocol:?}");
        advance(54 * SECOND).await;
        assert_eq!(told(&mut stream).await, [59], "{protocol:?}");
        advance(SECOND).await;
        let (deltas, reply) = read(stream).await;
        assert!(
            matches!(&deltas[0], Delta::Retrying { wait: Duration::ZERO, reason, .. } if reason.contains("60 s")),
            "{deltas:?}"
        );
        assert_eq!(reply.unwrap().text(), "good");
    }
}

/// The waits that are told now, in seconds, and nothing else.
async fn told(stream: &mut Deltas) -> Vec<u64> {
    let mut told = Vec::new();
    for _ in 0..100 {
        match futures::poll!(stream.next()) {
            std::task::Poll::Pending => tokio::task::yield_now().await,
            std::task::Poll::Ready(Some(Ok(Delta::Waiting { waited, is_queued: false }))) => {
                told.push(waited.as_secs());
            }
            other => panic!("{other:?}"),
        }
    }
    told
}

#[tokio::test]
async fn pings_are_life_for_a_while_and_no_longer() {
    let _clock = Clock::stop();
    let ping = || {
        let words = ": ping\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n";
        Act::Every(3 * SECOND, format!("{:x}\r\n{words}\r\n", words.len()).into())
    };
    for &protocol in Protocol::ALL {
        for has_begun in [false, true] {
            let half = has_begun.then(|| chunk(&says(protocol, "half")));
            let pings = [streaming()].into_iter().chain(half).chain([ping()]).collect();
            let server = Loopback::start([pings, good(protocol)]).await;
            let (first_on_loopback, pings) =
                if has_begun { (50 * SECOND, 100 * SECOND) } else { (100 * SECOND, 50 * SECOND) };
            let patience = Patience { first_on_loopback, pings, ..Patience::default() };
            let config = ServerConfig { patience, ..server.config(protocol) };
            let mut stream = ask(&ServerModel::new(config, Http::new()).unwrap());
            if has_begun {
                let first = stream.next().await.unwrap().unwrap();
                assert_eq!(first, Delta::Text { index: 0, text: "half".into() });
            }
            let mut waited = told(&mut stream).await;
            for _ in 0..99 {
                advance(SECOND).await;
                waited.extend(told(&mut stream).await);
            }
            assert_eq!(waited, [5, 10, 20, 40, 70], "{protocol:?} {has_begun}");
            advance(SECOND).await;
            let (deltas, reply) = read(stream).await;
            if has_begun {
                assert!(
                    matches!(&deltas[0], Delta::Retrying { wait: Duration::ZERO, reason, .. } if reason.contains("100 s")),
                    "{deltas:?}"
                );
                assert_eq!(reply.unwrap().text(), "good");
            } else {
                let stalled = ModelError::Stalled { after: 100 * SECOND, begun: false };
                assert_eq!((deltas, reply.unwrap_err()), (Vec::new(), stalled));
            }
        }
    }
}

#[tokio::test]
async fn tokens_of_a_failed_try_count_however_its_failure_came() {
    let _clock = Clock::stop();
    let start = "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":50000,\"output_tokens\":9}}}\n\n";
    let failed = "data: {\"type\":\"response.failed\",\"response\":{\"usage\":{\"input_tokens\":50000,\"output_tokens\":9},\"error\":{\"code\":\"server_error\",\"message\":\"words\"}}}\n\n";
    let chat =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50000,\"completion_tokens\":9}}\n\n";
    let cases = [
        (Protocol::Anthropic, start.to_owned() + &error(Protocol::Anthropic, "overloaded_error")),
        (Protocol::Chat, chat.to_owned() + &error(Protocol::Chat, "server_error")),
        (Protocol::Responses, failed.to_owned()),
    ];
    for (protocol, words) in cases {
        let fault = vec![streaming(), chunk(&words), end()];
        let server = Loopback::start([fault, good(protocol)]).await;
        let (deltas, reply) = read(ask(&server.model(protocol))).await;
        assert_eq!(waits(&deltas).len(), 1, "{protocol:?}");
        let usage = reply.unwrap().usage;
        assert_eq!((usage.input, usage.output), (50_000, 9), "{protocol:?}: {deltas:?}");
    }
}

#[tokio::test]
async fn a_reply_is_given_whole_before_its_connection_is_waited_for() {
    let _clock = Clock::stop();
    for &protocol in Protocol::ALL {
        let held = vec![streaming(), chunk(&(says(protocol, "good") + last(protocol))), Act::Hang];
        let server = Loopback::start([held]).await;
        let mut stream = ask(&server.model(protocol));
        let (mut deltas, mut turns) = (Vec::new(), 0);
        while !matches!(deltas.last(), Some(Delta::Stop(_))) && turns < 1_000 {
            match futures::poll!(stream.next()) {
                std::task::Poll::Ready(delta) => deltas.push(delta.unwrap().unwrap()),
                std::task::Poll::Pending => tokio::task::yield_now().await,
            }
            turns += 1;
        }
        assert!(matches!(deltas.last(), Some(Delta::Stop(_))), "{protocol:?}: {deltas:?}");
        settle(&mut stream).await;
        advance(SECOND / 2).await;
        assert!(stream.next().await.is_none(), "{protocol:?}");
    }
}

#[tokio::test]
async fn a_server_here_gets_one_request_at_a_time_and_the_others_know_that_they_wait() {
    let _clock = Clock::stop();
    let protocol = Protocol::Anthropic;
    let slow = vec![streaming(), chunk(&says(protocol, "slow")), Act::Hang];
    let server = Loopback::start([slow.clone(), good(protocol)]).await;
    let model = server.model(protocol);
    let (mut first, mut second) = (ask(&model), ask(&model));
    assert!(matches!(first.next().await, Some(Ok(Delta::Text { .. }))));
    settle(&mut second).await;
    advance(5 * SECOND).await;
    let told = second.next().await.unwrap().unwrap();
    assert_eq!(told, Delta::Waiting { waited: 5 * SECOND, is_queued: true });
    assert_eq!(server.requests().len(), 1);
    drop(first);
    assert_eq!(
        read(second).await.1.unwrap().text(),
        "good",
        "its turn comes when the other leaves"
    );

    // The number may change while one is being answered.
    let server = Loopback::start([slow, good(protocol)]).await;
    let http = Http::new();
    let model_of = |parallel| {
        let config = ServerConfig { parallel, ..server.config(protocol) };
        ServerModel::new(config, http.clone()).unwrap()
    };
    let (mut first, second) = (ask(&model_of(None)), ask(&model_of(Some(2))));
    assert!(matches!(first.next().await, Some(Ok(Delta::Text { .. }))));
    assert_eq!(read(second).await.1.unwrap().text(), "good");
}

#[tokio::test]
async fn one_connection_serves_a_whole_session() {
    for &protocol in Protocol::ALL {
        let mut answers = vec![good(protocol); 10];
        answers.extend([whole(429, "retry-after: 0\r\n", "{}"), good(protocol)]);
        let server = Loopback::start(answers).await;
        let model = server.model(protocol);
        for _ in 0..11 {
            assert_eq!(read(ask(&model)).await.1.unwrap().text(), "good");
        }
        assert_eq!((server.accepted(), server.requests().len()), (1, 12), "{protocol:?}");
    }
}

#[tokio::test]
async fn names_that_cannot_be_resolved() {
    let mut config = ServerConfig::new(Protocol::Responses, "m");
    // Too long a label: refused without a network.
    config.base_url = format!("http://{}.test", "x".repeat(64));
    config.key_var = None;
    config.retry.tries = 1;
    let model = ServerModel::new(config, Http::new()).unwrap();
    let words = read(ask(&model)).await.1.unwrap_err().to_string();
    assert!(words.contains("cannot be reached") && words.contains("check the network"), "{words}");
}

const PACKED: [u8; 101] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 29, 204, 49, 14, 128, 32, 12, 5, 208, 157, 83, 152, 63, 123,
    130, 206, 186, 234, 1, 8, 49, 4, 80, 72, 76, 107, 164, 27, 225, 238, 18, 215, 55, 188, 232,
    213, 211, 212, 16, 178, 148, 144, 42, 200, 54, 196, 116, 171, 7, 13, 20, 214, 196, 10, 194, 37,
    18, 209, 103, 156, 133, 75, 205, 199, 155, 124, 21, 30, 94, 85, 30, 116, 215, 141, 137, 127,
    100, 151, 125, 91, 157, 49, 31, 247, 174, 234, 110, 87, 0, 0, 0,
];
