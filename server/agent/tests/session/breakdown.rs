//! Bugs of our own: a panic ends a call or a turn in words, never the session.

use crate::bench::*;
use futures::future::BoxFuture;
use ropewalk_model::Protocol;
use ropewalk_protocol::StopReason;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Breaks down: in its subject, which no call survives, or while it runs.
struct Broken;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Where.
    early: bool,
}

impl TypedTool for Broken {
    type Input = Input;
    const NAME: &'static str = "broken";
    const DESCRIPTION: &'static str = "Breaks.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &Input) -> Subject {
        assert!(!input.early, "broken on purpose");
        Subject::default()
    }

    fn run(&self, _: Input, _: Context) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async { panic!("broken on purpose") })
    }
}

#[tokio::test]
async fn a_panic_in_a_tool_is_a_result_and_the_calls_beside_it_have_theirs() {
    let mut bench = start_with_tool(
        Protocol::Anthropic,
        [
            calls("list_dir", json!({}))
                .call("broken", json!({"early": false}))
                .call("list_dir", json!({})),
            says("ok").expect_text("the tool broke down inside"),
        ],
        Broken,
        |_| {},
    );
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let failed: Vec<bool> = bench.results().into_iter().map(|(_, is_error)| is_error).collect();
    assert_eq!(failed, [false, true, false]);
}

#[tokio::test]
async fn a_panic_in_the_turn_ends_it_in_words_and_the_session_lives_on() {
    let mut bench = start_with_tool(
        Protocol::Anthropic,
        [
            calls("list_dir", json!({})).call("broken", json!({"early": true})),
            says("ok").expect_text("internal error").expect_text("again"),
        ],
        Broken,
        |_| {},
    );
    bench.session.prompt(ropewalk_protocol::Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Error);
    assert!(message.unwrap().contains("Ropewalk has a bug"));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}
