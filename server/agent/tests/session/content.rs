//! Images, resources and links in prompts and results; and a journal from before there were any.

use crate::bench::*;
use futures::future::BoxFuture;
use ropewalk_model::{Http, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::{Content, Event, Op, Prompt, StopReason};
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use serde_json::{Value, json};
use std::sync::Arc;

const DATA: &str = "iVBORw0KGgo=";

fn image() -> Content {
    Content::Image { mime: "image/png".to_owned(), data: DATA.to_owned() }
}

fn resource(text: &str) -> Content {
    Content::Resource { uri: "file:///notes".to_owned(), mime: None, text: text.to_owned() }
}

/// A tool that shows a picture and a text.
struct Look;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl TypedTool for Look {
    type Input = Nothing;
    const NAME: &'static str = "look";
    const DESCRIPTION: &'static str = "Shows what there is.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, _: &Nothing) -> Subject {
        Subject::default()
    }

    fn run(&self, _: Nothing, _: Context) -> BoxFuture<'static, ToolOutput> {
        let content = vec![Content::text("See:"), image(), resource(&"long ".repeat(100_000))];
        Box::pin(async move { ToolOutput { content, ..ToolOutput::default() } })
    }
}

/// A session that is kept, with a model that sees.
fn seeing(protocol: Protocol, replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    let bench = start_with_tool(protocol, replies, Look, |_| {});
    let config = ServerConfig { images: Some(true), ..bench.model.config() };
    bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
    bench
}

/// Counts the images of the last request: in the prompt, and in all.
fn images(bench: &Bench) -> usize {
    let body = bench.model.recorded().pop().unwrap().raw;
    body.matches(DATA).count()
}

#[tokio::test]
async fn prompts_steers_and_results_show_what_they_hold() {
    for protocol in Protocol::ALL {
        let mut bench = seeing(*protocol, [calls("look", json!({})), says("A dot.")]);
        let content =
            vec![Content::text("What is"), image(), resource("a\n"), Content::text("it?")];
        bench.session.prompt(Prompt { content, selection: None });
        assert_eq!(bench.end().await.1, StopReason::EndTurn, "{:?}", bench.seen);
        assert_eq!(images(&bench), 2, "{protocol:?}");
        let prompt = bench.seen.iter().find_map(|event| match event {
            Event::TurnStarted { prompt, .. } => Some(prompt.clone()),
            _ => None,
        });
        assert_eq!(prompt.as_deref(), Some("What is\nimage/png, 1 KB\nfile:///notes\nit?"));
        let body = bench.model.recorded().pop().unwrap().raw;
        assert!(body.contains("What is\\nit?") && body.len() < 200_000, "{}", body.len());
        // An image is told in words to a model that is not known to see.
        let mut bench = resume_over(*protocol, bench.dies().await, [says("Yes."), says("Yes.")]);
        assert_eq!(bench.run("Sure?").await, StopReason::EndTurn);
        assert_eq!(images(&bench), 0);
        let body = bench.model.recorded().pop().unwrap().raw;
        assert_eq!(
            body.matches("An image that is not shown: image/png, 1 KB").count(),
            2,
            "{body}"
        );
        bench.session.send(Op::Steer(vec![Content::text("And"), image()]));
        bench.end().await;
        bench.model.finish().unwrap();
    }
}

#[tokio::test]
async fn an_image_is_not_counted_by_its_bytes() {
    let large = Content::Image { mime: "image/png".to_owned(), data: "A".repeat(4_000_000) };
    let asked = |body: &Value| match body["max_tokens"].as_u64() {
        Some(32_000) => Ok(()),
        other => Err(format!("{other:?} tokens are asked for")),
    };
    let mut bench = start_kept_over(Protocol::Anthropic, [says("Large.").expect(asked)], |_| {});
    let limits = ropewalk_protocol::ModelLimits { context: Some(200_000), max_output: None };
    let config = ServerConfig { images: Some(true), limits, ..bench.model.config() };
    bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
    bench.session.prompt(Prompt { content: vec![Content::text("Look"), large], selection: None });
    assert_eq!(bench.end().await.1, StopReason::EndTurn, "{:?}", bench.seen.last());
    let told = bench.seen.iter().filter(|event| matches!(event, Event::Notice { .. }));
    assert_eq!(told.count(), 0);
    bench.model.finish().unwrap();
}

/// The journal of a session as it was written when all that was said was text.
const KEPT: &str = include_str!("../../../../tests/data/journal/kept.jsonl");

#[tokio::test]
async fn a_journal_of_an_earlier_version_goes_on_over_each_protocol() {
    for protocol in Protocol::ALL {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("w")).unwrap();
        let root = dir.path().join("w").canonicalize().unwrap();
        let kept = KEPT.replace("ROOT", root.to_str().unwrap()).replace("m59am", "s");
        std::fs::write(
            root.join("a.txt"),
            "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n",
        )
        .unwrap();
        let folder = dir.path().join("state/sessions");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("s.jsonl"), kept).unwrap();
        let is_told = |body: &Value| {
            let body = body.to_string();
            let said = [
                "Capitals\u{1F980}, bitte",
                "I look first.",
                "There is no file missing.txt",
                "And again",
            ];
            let missing = said.into_iter().find(|words| !body.contains(words));
            missing.map_or(Ok(()), |words| Err(format!("{words} is missing: {body}")))
        };
        let go_on = says("So it is.").expect(is_told);
        let mut bench = resume_over(*protocol, dir, [go_on]);
        assert_eq!(bench.session.title(), "A kept session");
        let turns = bench.session.turns();
        let prompts: Vec<&str> = turns.iter().map(|mark| mark.prompt.as_str()).collect();
        assert_eq!(
            prompts,
            ["Capitals\u{1F980}, bitte\nat both ends", "Run something", "And now?"]
        );
        let results = bench.results();
        assert_eq!(results.len(), 7, "{results:?}");
        assert_eq!(results[1], ("Error: There is no file missing.txt".to_owned(), true));
        assert_eq!(results[6], ("ran\n".to_owned(), false));
        let hunks = bench.session.hunks();
        let pending: Vec<_> = hunks.iter().map(|hunk| (&*hunk.file, &*hunk.new)).collect();
        assert_eq!(pending, [("a.txt", "Nine\n"), ("new.txt", "made\n")]);
        assert_eq!(bench.run("And again").await, StopReason::EndTurn, "{:?}", bench.seen.last());
        let spent = bench.session.spent().usage;
        assert!(spent.input >= 600 && spent.output >= 51, "{spent:?}");
        bench.model.finish().unwrap();
    }
}
