//! Every recorded answer of a real server is decoded, whatever else is tested of it: whole, byte by byte and in
//! between, with the same result. A recording that nobody lists here fails the test.

use ropewalk_model::{
    Http, ModelStop, Protocol, ReplyBuilder, ServerConfig, ServerModel, ToolInput,
};
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

/// The recordings, what they speak, and how the replies in them end.
const RECORDED: &[(&str, Protocol, ModelStop)] = &[
    ("qwen05-default-forced.http", Protocol::Chat, ModelStop::ToolUse),
    ("qwen05-fenced-chat-auto.http", Protocol::Chat, ModelStop::ToolUse),
    ("qwen05-fenced-messages-any.http", Protocol::Anthropic, ModelStop::ToolUse),
    ("qwen05-fenced-messages-auto.http", Protocol::Anthropic, ModelStop::ToolUse),
    ("qwen05-fenced-responses-auto.http", Protocol::Responses, ModelStop::ToolUse),
    ("qwen05-llamaserver-chat-text.http", Protocol::Chat, ModelStop::EndTurn),
    ("qwen05-llamaserver-messages-text.http", Protocol::Anthropic, ModelStop::EndTurn),
    ("qwen05-llamaserver-responses-text.http", Protocol::Responses, ModelStop::EndTurn),
    ("smollm2-text-stream.http", Protocol::Chat, ModelStop::EndTurn),
];

#[test]
fn every_recording_is_decoded_in_any_pieces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let there: BTreeSet<String> = names.filter(|name| name.ends_with(".http")).collect();
    let listed: BTreeSet<String> = RECORDED.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(there, listed);
    for (name, protocol, stop) in RECORDED {
        let recorded = std::fs::read(folder.join(name)).unwrap();
        let head = recorded.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let body = &recorded[head + 4..];
        let replies: Vec<_> = [1, 2, 5, 64, body.len()]
            .into_iter()
            .map(|size| {
                let config = ServerConfig::new(*protocol, "local");
                let mut reader = ServerModel::new(config, Http::new()).unwrap().reader();
                let (mut out, mut builder) = (VecDeque::new(), ReplyBuilder::new());
                let end = body
                    .chunks(size)
                    .map(|chunk| reader.feed(chunk, &mut out))
                    .find(|end| *end != Ok(false));
                assert_eq!(end, Some(Ok(true)), "{name} in pieces of {size} is complete");
                out.iter().for_each(|delta| builder.push(delta));
                builder.finish()
            })
            .collect();
        let first = &replies[0];
        assert!(replies.iter().all(|reply| reply == first), "{name}: {replies:#?}");
        assert_eq!(first.stop_reason, *stop, "{name}");
        match stop {
            ModelStop::ToolUse => {
                let calls: Vec<_> = first.tool_calls().collect();
                let is_whole = |(_, name, input): &(&str, &str, &ToolInput)| {
                    !name.is_empty() && matches!(input, ToolInput::Json(_))
                };
                assert!(!calls.is_empty() && calls.iter().all(is_whole), "{name}: {first:#?}");
            }
            _ => assert!(!first.text().trim().is_empty(), "{name}"),
        }
    }
}
