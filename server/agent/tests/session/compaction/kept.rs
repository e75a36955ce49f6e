//! Compaction in the midst of other things: what the user said and decided outlives it, and it always ends.

use super::{REFUSES, compactions, files, first, is_question, reader};
use crate::bench::*;
use ropewalk_model::{Http, ModelStop, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::{
    CompactionCause, Content, Event, ModelLimits, Op, Prompt, Selection, StopReason, Verdict,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn summary() -> ScriptedReply {
    says("**Goal**: the summary.").conversation("question")
}

async fn compact(bench: &mut Bench) {
    bench.session.send(Op::Compact(None));
    bench.until(|event| matches!(event, Event::Compacted { .. }).then_some(())).await;
}

fn edit(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

#[tokio::test]
async fn the_users_words_and_decisions_are_there_after_it_and_after_a_restart() {
    let todos = json!({"todos": [{"content": "Write it", "status": "in_progress"}]});
    let replies = [
        edit("one", "two").call("todo_write", todos),
        bash("rm a.txt"),
        says("Half.").gate(ReplyPlace::Answer, "steered"),
        says("It stays."),
        summary(),
        says("On.").conversation("after"),
    ];
    let mut bench = start_kept_over(Protocol::Anthropic, replies, |settings| {
        settings.mechanisms.check = false;
    });
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("the first wish"));
    let asked = bench.approval().await;
    bench.approve(asked, Verdict::Refuse(Some("nothing is deleted here".to_owned())));
    bench.model.wait_until_reached("steered").await;
    bench.session.send(Op::Steer(vec![Content::text("only whole cents")]));
    bench.session.send(Op::Rename("taken in order".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    bench.model.open_gate("steered");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    bench.session.send(Op::Reject(Selection::All, Some("three, not two".to_owned())));
    bench.reviewed().await;
    compact(&mut bench).await;
    bench.run("the second wish").await;
    let words = [
        "the first wish",
        "(refusing bash rm a.txt) nothing is deleted here",
        "only whole cents",
        "[>] Write it",
        "**Goal**: the summary.",
        "three, not two",
        "the second wish",
    ];
    let said = first(&bench);
    for part in words {
        assert!(said.contains(part), "no {part} in {said}");
    }
    // The next compaction has them too, and so has one after a restart.
    let more = [says("So."), says("**Goal**: another.").conversation("question-2")];
    let again = says("And so.").conversation("after-2");
    let mut bench = resume(bench.dies().await, more.into_iter().chain([again]));
    bench.run("the third wish").await;
    compact(&mut bench).await;
    bench.run("the fourth wish").await;
    let said = first(&bench);
    for part in [
        "the first wish",
        "nothing is deleted here",
        "only whole cents",
        "three, not two",
        "the third wish",
        "[>] Write it",
        "**Goal**: another.",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
}

#[tokio::test]
async fn a_smaller_model_that_is_chosen_makes_it_due() {
    let mut bench =
        start_counting(Protocol::Anthropic, [reader(12)], (REFUSES(100_000), true), |_| {});
    files(&bench, 12);
    assert_eq!(bench.run("Read all of them").await, StopReason::EndTurn);
    assert_eq!(compactions(&bench), []);
    let limits = ModelLimits { context: Some(8_192), max_output: None };
    let config = ServerConfig { limits, ..bench.model.config() };
    bench.session.speak_to(Arc::new(ServerModel::new(config, Http::new()).unwrap()));
    assert_eq!(bench.run("And now?").await, StopReason::EndTurn);
    assert_eq!(compactions(&bench), [CompactionCause::Full]);
    let last = bench.model.counted().last().copied().unwrap();
    assert!(last.bytes / 4 < 8_192, "{last:?}");
    let said = first(&bench);
    assert!(said.contains("Read all of them"), "{said}");
}

#[tokio::test]
async fn a_reply_that_is_paused_goes_on_behind_the_summary() {
    let paused =
        says("The first half,").stop(ModelStop::PauseTurn).gate(ReplyPlace::Answer, "half");
    let replies = [
        calls("read_file", json!({"path": "a.txt"})),
        paused,
        summary(),
        says(" the second half.").conversation("after"),
        says("Yes.").conversation("after"),
    ];
    let mut bench = start_kept(replies);
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("Say both"));
    bench.model.wait_until_reached("half").await;
    bench.session.send(Op::Compact(None));
    bench.session.send(Op::Rename("taken in order".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    bench.model.open_gate("half");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert_eq!(compactions(&bench), [CompactionCause::Asked]);
    assert_eq!(bench.run("Both?").await, StopReason::EndTurn);
    let said = bench.model.recorded().pop().unwrap().said["messages"].to_string();
    let (one, two) = (said.find("The first half,"), said.find(" the second half."));
    assert!(one.is_some() && one < two && said.contains("compressed"), "{said}");
}

#[tokio::test]
async fn one_that_makes_no_progress_ends_the_turn_in_words() {
    let make = |said: &Value| match is_question(said) {
        true => says("**Next**: read it."),
        false => calls("read_file", json!({"path": "0.txt"})),
    };
    let same = ScriptedReply::from_fn(make).by_beginning().forever();
    let context = (REFUSES(4_096), true);
    let mut bench = start_counting(Protocol::Anthropic, [same], context, |_| {});
    bench.file("0.txt", &"words that fill it\n".repeat(2_000));
    bench.session.prompt(Prompt::new("Read it"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Error);
    let message = message.unwrap_or_default();
    assert!(message.contains("in a row") || message.contains("same call"), "{message}");
    assert!(bench.model.requests().len() < 20);
    assert!(bench.model.counted().iter().all(|request| !request.is_over));
}

#[tokio::test]
async fn interrupted_in_mid_turn_it_has_changed_nothing() {
    let replies = [
        calls("read_file", json!({"path": "a.txt"})),
        calls("compact", json!({})),
        summary().gate(ReplyPlace::Block(0), "summary"),
        says("All of it.").expect_text("again"),
    ];
    let mut bench = start_kept(replies);
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("the first wish"));
    bench.model.wait_until_reached("summary").await;
    bench.session.send(Op::Interrupt(None));
    assert_eq!(bench.end().await.1, StopReason::Interrupted);
    bench.model.open_gate("summary");
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    let said = first(&bench);
    assert!(said.contains("the first wish") && !said.contains("compressed"), "{said}");
    let before = bench.session.messages();
    let bench = resume(bench.dies().await, []);
    assert_eq!(bench.session.messages(), before);
}

#[tokio::test]
async fn what_was_cut_can_be_read_in_the_transcript() {
    let replies = [
        calls("read_file", json!({"path": "a.txt"})),
        says("It says one."),
        summary(),
        ScriptedReply::from_fn(|said| {
            let first = said["messages"][0].to_string();
            let (_, rest) = first.split_once("Transcript: ").unwrap();
            let (path, _) = rest.split_once(']').unwrap();
            calls("read_file", json!({ "path": path }))
        })
        .conversation("after"),
        says("So it was.").conversation("after"),
    ];
    let mut bench = start_kept(replies);
    bench.file("a.txt", "one\n");
    bench.run("the first wish").await;
    compact(&mut bench).await;
    bench.run("what was it?").await;
    let results = bench.results();
    let (text, is_error) = results.last().unwrap();
    assert!(!is_error && text.contains("the first wish"), "{text}");
    assert!(text.contains("Call: read_file") && text.contains("It says one."), "{text}");
}

#[tokio::test]
async fn another_provider_goes_on_behind_it() {
    for protocol in Protocol::ALL {
        let todos = json!({"todos": [{"content": "Write it", "status": "in_progress"}]});
        let replies = [
            calls("todo_write", todos),
            calls("compact", json!({})),
            summary(),
            says("Half.").conversation("after"),
            says("It stays open.").conversation("after"),
        ];
        let mut bench = start_kept(replies);
        bench.run("the first wish").await;
        let mut bench = resume_over(*protocol, bench.dies().await, [says("Go on.")]);
        assert_eq!(bench.run("the second wish").await, StopReason::EndTurn);
        let said = first(&bench);
        for part in ["the first wish", "**Goal**: the summary.", "[>] Write it"] {
            assert!(said.contains(part), "{}: no {part} in {said}", protocol.name());
        }
    }
}

#[tokio::test]
async fn the_files_that_it_names_are_those_of_last() {
    let many = (0..45).rev().fold(reply(), |reply, at| {
        reply.call("read_file", json!({ "path": format!("{at:02}.txt") }))
    });
    let write = calls("write_file", json!({"path": "zz.txt", "content": "mine\n"}));
    let again = calls("read_file", json!({"path": "44.txt"}));
    let mut bench = start_kept([write, many, again, says("Read.")]);
    for at in 0..45 {
        bench.file(&format!("{at:02}.txt"), "text\n");
    }
    bench.run("Read all").await;
    // The files that were read last are known over a restart.
    let mut resumed =
        resume(bench.dies().await, [says("On."), summary(), says("Yes.").conversation("after")]);
    resumed.run("go on").await;
    compact(&mut resumed).await;
    resumed.run("and now").await;
    let said = first(&resumed);
    // It changed one before it read 45, of which the first was read once more.
    let names = (0..38).map(|at| format!("{at:02}.txt")).collect::<Vec<_>>().join(", ");
    let line = format!("Files read or changed: {names}, 44.txt, zz.txt and 6 more");
    assert!(said.contains(&line), "{said}");
}

#[tokio::test]
async fn results_of_a_step_that_a_kill_cuts_off_share_its_room() {
    let three = || {
        reply()
            .call("read_file", json!({"path": "a.txt"}))
            .call("read_file", json!({"path": "b.txt"}))
            .call("bash", json!({"command": "true"}))
    };
    let context = (REFUSES(20_000), true);
    let replies = [three(), says("ok")];
    let mut bench = start_counting(Protocol::Anthropic, replies, context, |_| {});
    for name in ["a.txt", "b.txt"] {
        bench.file(name, &format!("{}\n", "x".repeat(100)).repeat(400));
    }
    bench.session.prompt(Prompt::new("go"));
    let asked = bench.approval().await;
    let killed = resume(bench.killed(), []);
    bench.approve(asked, Verdict::Refuse(None));
    bench.end().await;
    let bytes = |bench: &Bench| bench.results().iter().map(|(text, _)| text.len()).sum::<usize>();
    assert_eq!((bench.results().len(), killed.results().len()), (3, 3));
    let (whole, cut) = (bytes(&bench), bytes(&killed));
    assert!(cut <= whole, "{cut} bytes after a kill, {whole} without one");
    assert!(cut > whole / 2, "no less than an even share of each: {cut} of {whole}");
    assert!(killed.results()[0].0.contains("Read on with offset"), "{:?}", killed.results()[0]);
}
