//! Nothing goes that no summary holds: images are in the question, a cut summary is asked for again, and a question that nobody
//! answers leaves the conversation as it is.

use super::{REFUSES, compactions, files, first, is_question};
use crate::bench::*;
use ropewalk_model::{Http, ModelStop, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::{
    CompactionCause, Content, Event, Level, Mode, ModelLimits, Op, Prompt, StopReason,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Authors of the summaries.
fn authors(bench: &Bench) -> Vec<String> {
    let by = bench.seen.iter().filter_map(|event| match event {
        Event::Compacted { by, .. } => Some(by.clone()),
        _ => None,
    });
    by.collect()
}

async fn warning(bench: &mut Bench) -> String {
    let told = |event: &Event| match event {
        Event::Notice { level: Level::Warning, message } => Some(message.clone()),
        _ => None,
    };
    bench.until(told).await
}

#[tokio::test]
async fn an_image_takes_a_place_by_its_size_and_is_summed_up() {
    let image = Content::Image { mime: "image/png".to_owned(), data: "A".repeat(1_500_000) };
    let has_image = |body: &Value| match body.to_string().contains("AAAA") {
        true => Ok(()),
        false => Err("the image is not in the question".to_owned()),
    };
    let question = says("**Goal**: an image.").conversation("question").expect(has_image);
    let replies = [says("Large."), question, says("On.").conversation("after")];
    let mut bench = start_kept_over(Protocol::Anthropic, replies, |_| {});
    let limits = ModelLimits { context: Some(30_000), max_output: None };
    let config = ServerConfig { images: Some(true), limits, ..bench.model.config() };
    bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
    bench.session.prompt(Prompt { content: vec![Content::text("Look"), image], selection: None });
    assert_eq!(bench.end().await.1, StopReason::EndTurn, "{:?}", bench.seen.last());
    bench.session.send(Op::Compact(None));
    bench.until(|event| matches!(event, Event::Compacted { .. }).then_some(())).await;
    assert_ne!(authors(&bench), ["ropewalk"]);
    assert_eq!(bench.run("On?").await, StopReason::EndTurn);
    bench.model.finish().unwrap();
}

#[tokio::test]
async fn an_image_does_not_fill_the_context_that_a_new_prompt_needs() {
    // The story fills the context before the image comes.
    let next = AtomicUsize::new(0);
    let make = move |said: &Value| match next.fetch_add(1, Ordering::SeqCst) {
        _ if is_question(said) => says("**Goal**: read."),
        at if at < 9 => calls("read_file", json!({ "path": format!("{at}.txt") })),
        _ => says("Read."),
    };
    let replies = [ScriptedReply::from_fn(make).by_beginning().forever()];
    let mut bench = start_kept_over(Protocol::Anthropic, replies, |_| {});
    for at in 0..9 {
        bench.file(&format!("{at}.txt"), &"words of a story\n".repeat(200));
    }
    let limits = ModelLimits { context: Some(16_000), max_output: Some(4_000) };
    let config = ServerConfig { images: Some(true), limits, ..bench.model.config() };
    bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
    assert_eq!(bench.run("Read them").await, StopReason::EndTurn);
    let image = Content::Image { mime: "image/png".to_owned(), data: "A".repeat(1_500_000) };
    bench.session.prompt(Prompt { content: vec![Content::text("Look"), image], selection: None });
    assert_eq!(bench.end().await.1, StopReason::EndTurn, "{:?}", bench.seen.last());
    assert!(!compactions(&bench).is_empty());
}

#[tokio::test]
async fn a_key_that_is_refused_leaves_the_conversation_as_it_is() {
    let refused = ScriptedReply::refusal(401, "authentication_error", "expired");
    let replies = [says("DECIDED: sqlite"), refused.conversation("question"), says("On.")];
    let mut bench = start_kept_over(Protocol::Anthropic, replies, |_| {});
    bench.run("first wish").await;
    bench.session.send(Op::Compact(None));
    let words = warning(&mut bench).await;
    assert!(words.contains("stays as it is") && words.contains("API key"), "{words}");
    assert_eq!(bench.run("On?").await, StopReason::EndTurn);
    let said = bench.model.recorded().pop().unwrap().said.to_string();
    assert!(said.contains("DECIDED: sqlite") && !said.contains("compressed"), "{said}");
    assert_eq!(authors(&bench), [""; 0]);
}

#[tokio::test]
async fn a_key_that_is_refused_in_mid_turn_ends_the_turn_and_keeps_all() {
    let (next, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let make = move |said: &Value| {
        if is_question(said) {
            return match asked.fetch_add(1, Ordering::SeqCst) {
                0 => ScriptedReply::refusal(401, "authentication_error", "expired"),
                _ => says("**Goal**: read all files."),
            };
        }
        match next.fetch_add(1, Ordering::SeqCst) {
            at if at < 25 => calls("read_file", json!({ "path": format!("{at}.txt") })),
            _ => says("All read."),
        }
    };
    let replies = [ScriptedReply::from_fn(make).by_beginning().forever()];
    let mut bench = start_counting(Protocol::Anthropic, replies, (REFUSES(8_192), true), |_| {});
    files(&bench, 25);
    bench.session.prompt(Prompt::new("Read all of them"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Error);
    let message = message.unwrap_or_default();
    assert!(message.contains("stays as it is") && message.contains("\"continue\""), "{message}");
    assert_eq!(authors(&bench), [""; 0]);
    // The key is mended.
    assert_eq!(bench.run("continue").await, StopReason::EndTurn);
    assert!(first(&bench).contains("**Goal**: read all files."));
}

#[tokio::test]
async fn a_list_in_the_place_of_a_summary_is_told() {
    let replies =
        [says("First."), says("  ").conversation("question"), says("On.").conversation("on")];
    let mut bench = start_kept_over(Protocol::Anthropic, replies, |_| {});
    bench.run("first wish").await;
    bench.session.send(Op::Compact(None));
    let words = warning(&mut bench).await;
    assert!(words.contains("gave no summary"), "{words}");
    assert_eq!(authors(&bench), ["ropewalk"]);
    bench.run("On?").await;
}

#[tokio::test]
async fn a_summary_that_is_cut_is_asked_for_again_with_more_room() {
    let at_most = |tokens: fn(u64) -> bool| {
        move |body: &Value| match body["max_tokens"].as_u64() {
            Some(asked) if tokens(asked) => Ok(()),
            other => Err(format!("{other:?} tokens are asked for")),
        }
    };
    let replies = [
        says("First."),
        says("**Goal**: a long goal that is c")
            .stop(ModelStop::MaxTokens)
            .conversation("question")
            .expect(at_most(|tokens| tokens <= 4_000)),
        says("**Goal**: the whole.").conversation("again").expect(at_most(|tokens| tokens > 4_000)),
        says("On.").conversation("after"),
    ];
    let mut bench = start_kept_over(Protocol::Anthropic, replies, |_| {});
    bench.run("first wish").await;
    bench.session.send(Op::Compact(None));
    bench.until(|event| matches!(event, Event::Compacted { .. }).then_some(())).await;
    bench.run("On?").await;
    assert!(first(&bench).contains("**Goal**: the whole."), "{}", first(&bench));
    bench.model.finish().unwrap();
}

#[tokio::test]
async fn a_prompt_that_is_still_to_be_read_stands_there_once_and_comes_first() {
    let next = AtomicUsize::new(0);
    let make = move |said: &Value| match next.fetch_add(1, Ordering::SeqCst) {
        _ if is_question(said) => says("**Next**: the old task."),
        at if at < 12 => calls("read_file", json!({ "path": format!("{at}.txt") })),
        _ => says("Done."),
    };
    let reply = ScriptedReply::from_fn(make).by_beginning().forever();
    let mut bench = start_counting(Protocol::Anthropic, [reply], (REFUSES(100_000), true), |_| {});
    files(&bench, 12);
    bench.run("Read all of them").await;
    let limits = ModelLimits { context: Some(8_192), max_output: None };
    let config = ServerConfig { limits, ..bench.model.config() };
    bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
    bench.run("Now something else").await;
    assert_eq!(compactions(&bench), [CompactionCause::Full]);
    let said = bench.model.recorded().pop().unwrap().said["messages"].to_string();
    assert_eq!(said.matches("Now something else").count(), 1, "{said}");
    assert!(
        said.contains("request below comes first") && !said.contains("Go on with Next"),
        "{said}"
    );
}

#[tokio::test]
async fn the_mode_is_said_again_behind_a_compaction() {
    let replies = [
        calls("read_file", json!({"path": "a.txt"})).gate(ReplyPlace::Answer, "asked"),
        says("**Goal**: a plan.").conversation("question"),
        says("The plan.").conversation("after"),
        says("On.").conversation("after"),
    ];
    let mut bench = start_kept_over(Protocol::Anthropic, replies, |settings| {
        settings.mode = Mode::Plan;
    });
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("Plan it"));
    bench.model.wait_until_reached("asked").await;
    bench.session.send(Op::Compact(None));
    bench.session.send(Op::Rename("taken in order".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    bench.model.open_gate("asked");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert!(first(&bench).contains("The mode is plan"), "{}", first(&bench));
    bench.session.send(Op::Mode(Mode::Review));
    bench.run("Do it").await;
    let last = last_message(&bench.model.requests().pop().unwrap());
    assert!(last.contains("The mode is no longer plan"), "{last}");
}
