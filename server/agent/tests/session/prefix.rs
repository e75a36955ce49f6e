//! Requests each begin with the one before, byte for byte, over every protocol: only so does the
//! server's prompt cache hit.
//!
//! The scripted model checks that on every request of every test; here it is shown on the bytes themselves, by
//! means that share nothing with it, and for all that happens between two requests.

use crate::bench::*;
use ropewalk_model::Protocol;
use ropewalk_protocol::{Content, Op, Prompt, Selection, StopReason};
use serde_json::json;

/// Markers of the cache move on with the conversation, and are no part of what is cached.
const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// Several steps, thinking, errors of every sort, words in mid-turn, a review between turns.
fn conversation() -> [ScriptedReply; 9] {
    let edit = |old: &str, new: &str| json!({"path": "a.txt", "old_text": old, "new_text": new});
    [
        reply()
            .thinking("Where é is…", "sealed")
            .text("I look.")
            .call("read_file", json!({"path": "a.txt"})),
        reply().call_raw("read_file", "{\"path\": ").call("no_such_tool", json!({})),
        calls("edit_file", edit("absent", "x")).call("read_file", json!({"path": "none.txt"})),
        reply()
            .thinking("So it is.", "sealed too")
            .call("edit_file", edit("one", "1"))
            .gate(ReplyPlace::End, "here"),
        says("Changed one line.").expect_text("only that line"),
        reply().call("edit_file", edit("seven", "7")).call("list_dir", json!({})),
        says("Another."),
        says("Not that one, then.").expect_text("by hand"),
        says("Good."),
    ]
}

#[tokio::test]
async fn each_request_begins_with_the_bytes_of_the_one_before() {
    for &protocol in Protocol::ALL {
        let mut bench = start_over(protocol, conversation());
        let text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
        bench.file("a.txt", text);
        let uri = bench.open("a.txt", text);
        bench.session.prompt(Prompt::new("Make it digits"));
        bench.model.wait_until_reached("here").await;
        bench.session.send(Op::Steer(vec![Content::text("only that line")]));
        bench.model.open_gate("here");
        assert_eq!(bench.end().await.1, StopReason::EndTurn);
        bench.session.send(Op::Accept(Selection::All));
        assert_eq!(bench.reviewed().await.1, 1);
        assert_eq!(bench.run("And the last").await, StopReason::EndTurn);
        bench.session.send(Op::Reject(Selection::All, Some("by hand".into())));
        assert_eq!(bench.reviewed().await.1, 1);
        bench.types(&uri, "typed\n");
        assert_eq!(bench.run("So?").await, StopReason::EndTurn);
        assert_eq!(bench.run("Thanks").await, StopReason::EndTurn);
        bench.model.finish().unwrap();

        let name = protocol.name();
        let sent = bench.model.recorded();
        assert_eq!(sent.len(), 9, "{name}");
        let last = &sent[8].raw;
        assert!(last.contains("no_such_tool") && last.contains("only that line"), "{name}");
        // Only one of them takes no thinking back.
        assert_eq!(last.contains("Where é is"), protocol != Protocol::Chat, "{name}");
        let unmarked = |raw: &str| raw.replace(MARKER, "");
        for (number, pair) in sent.windows(2).enumerate() {
            let (before, now) = (unmarked(&pair[0].raw), unmarked(&pair[1].raw));
            // The list of messages and the object around it end there.
            let begun = before.strip_suffix("]}").expect("the messages come last");
            let same = begun.bytes().zip(now.bytes()).take_while(|(one, two)| one == two).count();
            let around = |text: &str| {
                String::from_utf8_lossy(&text.as_bytes()[same.saturating_sub(40)..])
                    .chars()
                    .take(120)
                    .collect::<String>()
            };
            assert_eq!(
                same,
                begun.len(),
                "{name}, request {}:\n{}\nbecame\n{}",
                number + 1,
                around(begun),
                around(&now)
            );
            assert!(now.len() > before.len(), "{name}: it grows");
        }
    }
}
