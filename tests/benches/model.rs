//! Costs of the model room for each protocol: reading replies, and writing requests of a long
//! history. Bars are in the README.
//!
//! The replies are recorded ones, their delta events repeated.

#![expect(clippy::expect_used, reason = "a bench that can't run may say so bluntly")]

#[expect(dead_code, reason = "other benches use the rest of it")]
mod harness;

use futures::{FutureExt, StreamExt};
use harness::{Bar, MEGABYTE, Report, code, rate, shortest};
use ropewalk_model::{
    Block, Delta, Http, Message, Model, ModelRequest, Protocol, Role, ServerConfig, ServerModel,
};
use std::collections::VecDeque;
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// A protocol, a recorded reply, and what its delta events have.
type Recorded = (Protocol, &'static str, &'static str, &'static str);

const RECORDED: [Recorded; 3] = [
    (
        Protocol::Anthropic,
        "anthropic",
        include_str!("../../server/model/tests/wire/qwen05-llamaserver-messages-text.http"),
        "text_delta",
    ),
    (
        Protocol::Chat,
        "chat",
        include_str!("../../server/model/tests/wire/qwen05-llamaserver-chat-text.http"),
        r#""delta":{"content":"#,
    ),
    (
        Protocol::Responses,
        "responses",
        include_str!("../../server/model/tests/wire/qwen05-llamaserver-responses-text.http"),
        "output_text.delta",
    ),
];

fn main() {
    harness::main(&[], |report| {
        for recorded in RECORDED {
            decode(report, recorded);
            delta(report, recorded);
        }
        for (protocol, name, ..) in RECORDED {
            request_of_a_long_history(report, protocol, name);
        }
    });
}

fn model(protocol: Protocol, base_url: Option<String>) -> ServerModel {
    let mut config = ServerConfig::new(protocol, "bench");
    if let Some(base_url) = base_url {
        config.base_url = base_url;
    }
    ServerModel::new(config, Http::new()).expect("a model")
}

/// The events up to the first delta, and the deltas.
fn events((_, name, recorded, mark): Recorded) -> (String, Vec<String>) {
    let recorded = recorded.replace("\r\n", "\n");
    let (_, body) = recorded.split_once("\n\n").expect("a head");
    let events: Vec<String> = body.split_inclusive("\n\n").map(str::to_owned).collect();
    let is_delta = |event: &&String| event.contains(mark);
    let head = events.iter().take_while(|event| !is_delta(event)).cloned().collect();
    let deltas: Vec<_> = events.iter().filter(is_delta).cloned().collect();
    assert!(deltas.len() > 5, "{name} has deltas");
    (head, deltas)
}

/// Reading a long reply, in pieces as they come from a connection.
fn decode(report: &mut Report, recorded: Recorded) {
    let name = format!("read a reply, {}", recorded.1);
    if !report.wants(&name) {
        return;
    }
    let (mut stream, deltas) = events(recorded);
    let mut count = 0;
    for event in deltas.iter().cycle() {
        // Short enough to be read in one go by a busy machine.
        if stream.len() > MEGABYTE / 4 {
            break;
        }
        stream.push_str(event);
        count += 1;
    }
    let model = model(recorded.0, None);
    let time = shortest(2_000, || {
        let (mut reader, mut out, mut seen) = (model.reader(), VecDeque::new(), 0);
        for piece in stream.as_bytes().chunks(16 << 10) {
            assert!(!reader.feed(piece, &mut out).expect("a good reply"), "no end is in it");
            seen += out.iter().filter(|delta| matches!(delta, Delta::Text { .. })).count();
            out.clear();
        }
        assert_eq!(seen, count, "each event is a delta");
    });
    report.row(&name, rate(stream.len(), time) * 1e3, "MB/s", Bar::AtLeast(500.0));
}

/// From the bytes of one event to its delta.
fn delta(report: &mut Report, recorded: Recorded) {
    let name = format!("a delta's event to the delta, p99, {}", recorded.1);
    if !report.wants(&name) {
        return;
    }
    const EVENTS: usize = 100_000;
    let (head, deltas) = events(recorded);
    let model = model(recorded.0, None);
    let round = || {
        let (mut reader, mut out) = (model.reader(), VecDeque::new());
        reader.feed(head.as_bytes(), &mut out).expect("a good reply");
        out.clear();
        let mut times: Vec<Duration> = (deltas.iter().cycle().take(EVENTS))
            .map(|event| {
                let start = Instant::now();
                reader.feed(event.as_bytes(), &mut out).expect("a good reply");
                let time = start.elapsed();
                assert!(out.pop_front().is_some(), "it comes at once");
                out.clear();
                time
            })
            .collect();
        times.sort_unstable();
        times.get(EVENTS * 99 / 100).copied().unwrap_or_default()
    };
    let best = (0..5).map(|_| round()).min().unwrap_or_default();
    report.row(&name, best.as_secs_f64() * 1e6, "µs", Bar::AtMost(200.0));
}

/// Building a request from the pieces of a history of 1 MB, against copying as many bytes; and writing the two
/// messages that a step adds.
fn request_of_a_long_history(report: &mut Report, protocol: Protocol, protocol_name: &str) {
    let name = format!("request of 1 MB, time to memcpy's, {protocol_name}");
    if !report.wants(&name) {
        return;
    }
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", server.local_addr().expect("its address"));
    let model = model(protocol, Some(address));
    let message = |number: usize| {
        let role = if number.is_multiple_of(2) { Role::User } else { Role::Assistant };
        Message { role, content: vec![Block::text(code(4096, "\n"))] }
    };
    let pieces: Vec<_> = (0..256).map(|number| model.encode(&message(number))).collect();
    let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes()).collect();
    let prelude = model.encode_prelude("Be brief.", &[]);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let _inside = runtime.enter();
    // The first poll builds the body and begins to connect; what the connecting costs is taken off again.
    let first_poll = |pieces: &[ropewalk_model::Piece]| {
        let request =
            ModelRequest { prelude: prelude.clone(), pieces: pieces.to_vec(), max_tokens: 1 };
        let mut stream = model.stream(request);
        let start = Instant::now();
        assert!(stream.next().now_or_never().is_none(), "it waits for the server");
        start.elapsed()
    };
    let (mut copy, mut whole, mut nearly_empty) = (Duration::MAX, Duration::MAX, Duration::MAX);
    // Turn about, so that all have the same neighbours.
    for _ in 0..60 {
        copy = copy.min(shortest(1, || bytes.clone()));
        whole = whole.min(first_poll(&pieces));
        nearly_empty = nearly_empty.min(first_poll(pieces.get(..1).unwrap_or_default()));
    }
    let build = whole.saturating_sub(nearly_empty);
    report.row(&name, build.as_secs_f64() / copy.as_secs_f64(), "x", Bar::AtMost(2.0));
    let name = format!("request of 1 MB, {protocol_name}");
    report.row(&name, build.as_secs_f64() * 1e6, "µs", Bar::Shown);
}
