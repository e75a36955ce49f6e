//! Compaction: a conversation that fills the context goes on behind a summary.

mod fits;
mod kept;
mod whole;

use crate::bench::*;
use ropewalk_model::{ModelStop, Protocol};
use ropewalk_protocol::{CompactionCause, Event, Op, StopReason};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const REFUSES: fn(u64) -> CountedContext =
    |tokens| CountedContext { tokens, overflow: Overflow::Refuse };

fn is_question(said: &Value) -> bool {
    let last = said["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    last.to_string().contains("<compaction>")
}

/// A model that reads so many files, one after the other, and sums up when it is asked to.
fn reader(files: usize) -> ScriptedReply {
    let next = Arc::new(AtomicUsize::new(0));
    let make = move |said: &Value| {
        if is_question(said) {
            return says("**Goal**: read all files.\n**Done**: some.\n**Next**: the next file.");
        }
        match next.fetch_add(1, Ordering::SeqCst) {
            at if at < files => calls("read_file", json!({ "path": format!("{at}.txt") })),
            _ => says("All read."),
        }
    };
    ScriptedReply::from_fn(make).by_beginning().forever()
}

fn compactions(bench: &Bench) -> Vec<CompactionCause> {
    let why = bench.seen.iter().filter_map(|event| match event {
        Event::Compacting { why, .. } => Some(*why),
        _ => None,
    });
    why.collect()
}

fn files(bench: &Bench, count: usize) {
    for at in 0..count {
        let line = format!("line of {at}, with some \"words\" in it\n");
        bench.file(&format!("{at}.txt"), &line.repeat(2_000 / line.len()));
    }
}

/// The first message of the last request.
fn first(bench: &Bench) -> String {
    let requests = bench.model.recorded();
    requests.last().unwrap().said["messages"][0].to_string()
}

/// The part of all tokens that went into summaries, in percent.
fn percent_for_summaries(bench: &Bench) -> u64 {
    let (mut all, mut summaries) = (0, 0);
    for (request, counted) in bench.model.recorded().iter().zip(bench.model.counted()) {
        let tokens = counted.bytes as u64 / 4 + counted.output;
        all += tokens;
        summaries += if is_question(&request.said) { tokens } else { 0 };
    }
    summaries * 100 / all
}

#[tokio::test]
async fn a_long_turn_goes_on_in_a_small_context_over_every_protocol() {
    for protocol in Protocol::ALL {
        for (tokens, most) in [(4_096, 60), (8_192, 30)] {
            let many = |settings: &mut ropewalk_agent::session::Settings| {
                settings.limits.steps = 100;
            };
            let mut bench = start_counting(*protocol, [reader(60)], (REFUSES(tokens), true), many);
            files(&bench, 60);
            assert_eq!(
                bench.run("Read all of them").await,
                StopReason::EndTurn,
                "{:#?}",
                bench.seen.last()
            );
            let why = compactions(&bench);
            assert!(
                why.len() > 3 && why.iter().all(|why| *why == CompactionCause::Full),
                "{why:?}"
            );
            let counted = bench.model.counted();
            assert!(counted.iter().all(|request| !request.is_over), "{tokens}: {counted:?}");
            let percent = percent_for_summaries(&bench);
            assert!(percent <= most, "{tokens}: {percent}% of all tokens");
            let first = first(&bench);
            for part in
                ["[Conversation compressed. Transcript: ", "Read all of them", "**Goal**: read all"]
            {
                assert!(first.contains(part), "{first}");
            }
        }
    }
}

/// Texts of the transcripts that were kept.
fn transcripts(bench: &Bench) -> String {
    let outputs = std::fs::read_dir(bench.dir.path().join("outputs")).unwrap();
    let paths = outputs.map(|entry| entry.unwrap().path());
    let kept = paths.filter(|path| path.to_string_lossy().contains("transcript-"));
    kept.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[tokio::test]
async fn all_that_goes_was_summed_up_and_stands_in_a_transcript() {
    for tokens in [4_096, 16_384] {
        let many = |settings: &mut ropewalk_agent::session::Settings| settings.limits.steps = 100;
        let context = (REFUSES(tokens), true);
        let mut bench = start_counting(Protocol::Anthropic, [reader(40)], context, many);
        files(&bench, 40);
        assert_eq!(bench.run("Read all of them").await, StopReason::EndTurn);
        let requests: Vec<Value> =
            bench.model.recorded().into_iter().map(|request| request.said).collect();
        let transcripts = transcripts(&bench);
        let mut asked = 0;
        for around in requests.windows(3).filter(|around| is_question(&around[1])) {
            asked += 1;
            let [before, question, after] = [0, 1, 2].map(|at| around[at].to_string());
            for at in 0..40 {
                let line = format!("line of {at}, with");
                if before.contains(&line) && !after.contains(&line) {
                    assert!(question.contains(&line), "{tokens}: {at} was not summed up");
                    assert!(transcripts.contains(&line), "{tokens}: {at} is in no transcript");
                }
            }
        }
        assert!(asked > 1, "{tokens}");
    }
}

#[tokio::test]
async fn a_reply_that_reads_four_large_files_fits_and_the_whole_is_in_files() {
    let four = (0..4)
        .fold(reply(), |reply, at| reply.call("read_file", json!({ "path": format!("{at}.txt") })));
    let replies = [four, says("Seen.")];
    let mut bench = start_counting(Protocol::Anthropic, replies, (REFUSES(8_192), true), |_| {});
    for at in 0..4 {
        bench.file(&format!("{at}.txt"), &format!("line of {at}\n").repeat(2_000));
    }
    assert_eq!(bench.run("Read them").await, StopReason::EndTurn);
    let said = bench.model.recorded().last().unwrap().said["messages"].to_string();
    for at in 0..4 {
        assert!(said.contains(&format!("line of {at}")), "each has its share");
    }
    assert!(bench.model.counted().iter().all(|request| !request.is_over));
}

#[tokio::test]
async fn a_server_that_refuses_teaches_the_limit_and_is_asked_once_more() {
    for protocol in Protocol::ALL {
        let mut bench = start_counting(*protocol, [reader(30)], (REFUSES(6_000), false), |_| {});
        files(&bench, 30);
        assert_eq!(
            bench.run("Read all of them").await,
            StopReason::EndTurn,
            "{:#?}",
            bench.seen.last()
        );
        let why = compactions(&bench);
        assert_eq!(why[0], CompactionCause::Refused, "{why:?}");
        assert!(why[1..].iter().all(|why| *why == CompactionCause::Full), "{why:?}");
        let over = bench.model.counted().iter().filter(|request| request.is_over).count();
        assert_eq!(over, 1, "once refused, the limit is known");
    }
}

#[tokio::test]
async fn a_server_that_cuts_the_front_teaches_it_too() {
    let cuts = CountedContext { tokens: 6_000, overflow: Overflow::CutFront };
    let mut bench = start_counting(Protocol::Chat, [reader(60)], (cuts, false), |settings| {
        settings.limits.steps = 100;
    });
    files(&bench, 60);
    assert_eq!(bench.run("Read all of them").await, StopReason::EndTurn);
    assert!(!compactions(&bench).is_empty());
    let counted = bench.model.counted();
    let is_told = |event: &&Event| matches!(event, Event::Notice { message, .. } if message.contains("tokens of a request"));
    assert_eq!(bench.seen.iter().filter(is_told).count(), 1, "the user hears of it once");
    let last_over = counted.iter().rposition(|request| request.is_over).unwrap();
    assert!(last_over + 10 < counted.len(), "{last_over} of {}", counted.len());
}

#[tokio::test]
async fn the_question_repeats_what_was_sent_and_what_it_costs_counts() {
    let mut bench =
        start_counting(Protocol::Anthropic, [reader(30)], (REFUSES(8_192), true), |_| {});
    files(&bench, 30);
    bench.run("Read all of them").await;
    let requests = bench.model.recorded();
    let questions = requests
        .iter()
        .zip(bench.model.counted())
        .filter(|(request, _)| is_question(&request.said));
    let mut asked = 0;
    for (_, counted) in questions {
        asked += 1;
        assert!(counted.repeated * 100 >= counted.bytes * 80, "{counted:?}");
    }
    assert!(asked > 0);
    let sent: u64 = bench.model.counted().iter().map(|request| request.bytes as u64 / 4).sum();
    let spent = bench.session.spent().usage;
    assert!(spent.prompt().abs_diff(sent) < 100, "{} {sent}", spent.prompt());
}

#[tokio::test]
async fn without_a_usable_summary_our_own_list_stands_there() {
    let bad = [
        says("   "),
        reply().call("bash", json!({"command": "touch ran"})),
        ScriptedReply::refusal(400, "invalid_request_error", "no"),
    ];
    for bad in bad {
        let next = AtomicUsize::new(0);
        let make = move |said: &Value| {
            if is_question(said) {
                return bad.clone();
            }
            match next.fetch_add(1, Ordering::SeqCst) {
                at if at < 25 => calls("read_file", json!({ "path": format!("{at}.txt") })),
                _ => says("All read."),
            }
        };
        let replies = [ScriptedReply::from_fn(make).by_beginning().forever()];
        let mut bench =
            start_counting(Protocol::Anthropic, replies, (REFUSES(8_192), true), |_| {});
        files(&bench, 25);
        assert_eq!(bench.run("Read all of them").await, StopReason::EndTurn);
        let first = first(&bench);
        assert!(first.contains("a list of the calls") && first.contains("read_file"), "{first}");
        assert!(!bench.path("ran").exists(), "calls in a summary are not run");
        let by = bench.seen.iter().find_map(|event| match event {
            Event::Compacted { by, .. } => Some(by.clone()),
            _ => None,
        });
        assert_eq!(by.as_deref(), Some("ropewalk"));
    }
}

/// Two turns, then a compaction between turns.
async fn compacted(replies: impl IntoIterator<Item = ScriptedReply>, focus: Option<&str>) -> Bench {
    let mut bench = start_kept(replies);
    compact_two_turns(&mut bench, focus).await;
    bench
}

async fn compact_two_turns(bench: &mut Bench, focus: Option<&str>) {
    bench.file("a.txt", "one\n");
    bench.run("first wish").await;
    bench.run("second wish").await;
    bench.session.send(Op::Compact(focus.map(str::to_owned)));
    bench.until(|event| matches!(event, Event::Compacted { .. }).then_some(())).await;
}

fn story() -> [ScriptedReply; 4] {
    [
        calls("read_file", json!({"path": "a.txt"})),
        says("First."),
        says("Second."),
        says("**Goal**: the summary.")
            .conversation("question")
            .expect_text("Keep in view above all: the tests"),
    ]
}

#[tokio::test]
async fn the_user_compacts_between_turns_and_goes_on_after_a_restart_too() {
    let again = says("Third.").conversation("after");
    let mut bench = compacted(story().into_iter().chain([again]), Some("the tests")).await;
    assert_eq!(bench.run("third wish").await, StopReason::EndTurn);
    let request = bench.model.recorded().pop().unwrap().said;
    let messages = request["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1, "the prompt stands in the same message: {messages:#?}");
    let text = messages[0].to_string();
    for part in ["first wish", "second wish", "**Goal**: the summary.", "a.txt", "third wish"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("Go on with Next"), "{text}");
    let said = bench.session.messages();
    let bench = resume(bench.dies().await, []);
    assert_eq!(bench.session.messages(), said);
}

#[tokio::test]
async fn turns_before_a_compaction_can_be_taken_back() {
    let rest = [
        says("Third.").conversation("after"),
        says("Another second.").conversation("rewound").expect_no_text("summary"),
    ];
    let mut bench = compacted(story().into_iter().chain(rest), Some("the tests")).await;
    bench.run("third wish").await;
    bench.session.send(Op::Rewind(2));
    let (_, _, failed) = bench.reviewed().await;
    assert_eq!(failed, Vec::<String>::new());
    assert_eq!(bench.run("another second wish").await, StopReason::EndTurn);
    let text = bench.model.recorded().pop().unwrap().said["messages"].to_string();
    assert!(text.contains("first wish") && text.contains("First."), "{text}");
    assert!(!text.contains("third wish") && !text.contains("the summary"), "{text}");
    let said = bench.session.messages();
    let bench = resume(bench.dies().await, []);
    assert_eq!(bench.session.messages(), said, "and so it is after a restart");
}

/// A turn whose words were compacted can't be taken back, and nothing has changed.
async fn cannot_be_taken_back(mut bench: Bench, why: &str) {
    let said = bench.session.messages();
    let hunks = bench.session.hunks().len();
    assert_eq!(hunks, 1);
    bench.session.send(Op::Rewind(1));
    let (_, done, failed) = bench.reviewed().await;
    assert_eq!((done, failed.len()), (0, 1), "{failed:?}");
    assert!(
        failed[0].starts_with("turn 1 can't be taken back: its words were summed up"),
        "{failed:?}"
    );
    assert!(failed[0].contains(why), "{failed:?}");
    assert_eq!(bench.session.messages(), said);
    assert_eq!((bench.session.hunks().len(), bench.session.turns().len()), (1, 2));
}

fn story_with_an_edit() -> [ScriptedReply; 4] {
    let edit = json!({"path": "a.txt", "old_text": "one", "new_text": "1"});
    [
        calls("edit_file", edit),
        says("First."),
        says("Second."),
        says("**Goal**: the summary.").conversation("question"),
    ]
}

#[tokio::test]
async fn a_journal_that_is_gone_undoes_nothing() {
    let bench = compacted(story_with_an_edit(), None).await;
    let journal = bench.dir.path().join("state/sessions/s.jsonl");
    std::fs::write(&journal, "no journal\n").unwrap();
    cannot_be_taken_back(bench, "can't be read: it is not a session of Ropewalk").await;
}

#[tokio::test]
async fn a_journal_that_could_not_be_written_undoes_nothing() {
    let mut bench = start_kept(story_with_an_edit());
    let journal = bench.dir.path().join("state/sessions/s.jsonl");
    let folder = journal.parent().unwrap();
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::fs::remove_dir_all(folder).ok();
    std::fs::write(folder, "in its place").unwrap();
    compact_two_turns(&mut bench, None).await;
    cannot_be_taken_back(bench, "can't be read").await;
}

#[tokio::test]
async fn interrupted_or_killed_before_its_end_a_compaction_has_changed_nothing() {
    let replies = [
        says("First."),
        says("Summary.").conversation("question").gate(ReplyPlace::Block(0), "summary"),
    ];
    let mut bench = start_kept(replies);
    bench.run("first wish").await;
    let said = bench.session.messages();
    bench.session.send(Op::Compact(None));
    bench.model.wait_until_reached("summary").await;
    bench.session.send(Op::Interrupt(None));
    let stopped = |event: &Event| match event {
        Event::Notice { message, .. } => message.contains("stopped").then_some(()),
        _ => None,
    };
    bench.until(stopped).await;
    assert_eq!(bench.session.messages(), said);
    bench.model.open_gate("summary");
    let bench = resume(bench.dies().await, []);
    assert_eq!(bench.session.messages(), said);
}

#[tokio::test]
async fn the_model_compacts_by_its_tool_and_the_turn_goes_on() {
    let replies = [
        calls("read_file", json!({"path": "a.txt"})),
        calls("compact", json!({"focus": "the names"})),
        says("**Goal**: names.")
            .conversation("question")
            .expect_text("Keep in view above all: the names"),
        says("Done.").conversation("after").expect_text("Compressing..."),
    ];
    let mut bench = start_kept(replies);
    bench.file("a.txt", "one\n");
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(compactions(&bench), [CompactionCause::Asked]);
    assert!(first(&bench).contains("Go on with Next"));
}

#[tokio::test]
async fn the_tool_refuses_while_most_of_the_context_is_free_and_is_absent_when_switched_off() {
    let replies = [calls("compact", json!({})), says("Well.").expect_text("nothing to gain")];
    let context = (REFUSES(200_000), true);
    let mut bench = start_counting(Protocol::Anthropic, replies, context, |_| {});
    bench.run("go").await;
    assert_eq!(compactions(&bench), []);
    let mut bench = start_counting(Protocol::Anthropic, [says("Hi.")], context, |settings| {
        settings.mechanisms.compaction = false;
    });
    bench.run("go").await;
    let raw = bench.model.recorded().pop().unwrap().raw;
    assert!(!raw.contains("compact"), "{raw}");
}

#[tokio::test]
async fn what_can_t_be_made_smaller_ends_the_turn_in_words() {
    let long = |settings: &mut ropewalk_agent::session::Settings| {
        settings.facts.append = Some("words that fill it ".repeat(2_000));
    };
    let mut bench = start_counting(Protocol::Anthropic, [reader(1)], (REFUSES(4_096), true), long);
    bench.session.prompt(ropewalk_protocol::Prompt::new("Read it"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Error);
    let message = message.unwrap();
    for part in ["4096 tokens", "the system prompt", "/rewind", "/compact"] {
        assert!(message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_because_the_context_is_full_leaves_nothing_behind() {
    for protocol in [Protocol::Anthropic, Protocol::Chat, Protocol::Responses] {
        let next = AtomicUsize::new(0);
        let make = move |said: &Value| {
            if is_question(said) {
                return says("**Goal**: read all files.\n**Next**: the last file.");
            }
            match next.fetch_add(1, Ordering::SeqCst) {
                at if at < 12 => calls("read_file", json!({ "path": format!("{at}.txt") })),
                12 => says("Half an answer").call("read_file", json!({"path": "12.txt"})).error_at(
                    ReplyPlace::End,
                    "server_error",
                    "Reached context length of 4096 tokens",
                ),
                _ => says("All read."),
            }
        };
        let replies = [ScriptedReply::from_fn(make).by_beginning().forever()];
        let mut bench = start_kept_over(protocol, replies, |_| {});
        files(&bench, 13);
        assert_eq!(bench.run("Read all of them").await, StopReason::EndTurn, "{protocol:?}");
        assert_eq!(compactions(&bench), [CompactionCause::Refused], "{protocol:?}");
        let last = bench.model.recorded().pop().unwrap().raw;
        assert!(!last.contains("Half an answer") && !last.contains("12.txt"), "{last}");
    }
}

#[tokio::test]
async fn a_reply_that_ends_because_the_context_is_full_goes_on_behind_a_summary() {
    for protocol in [Protocol::Anthropic, Protocol::Chat, Protocol::Responses] {
        for full_replies in [1, 9] {
            let next = AtomicUsize::new(0);
            let make = move |said: &Value| {
                if is_question(said) {
                    return says("**Goal**: read all files.\n**Next**: the last file.");
                }
                match next.fetch_add(1, Ordering::SeqCst) {
                    at if at < 12 => calls("read_file", json!({ "path": format!("{at}.txt") })),
                    at if at < 12 + full_replies => {
                        says("Half an answer").stop(ModelStop::ContextFull)
                    }
                    _ => says("All read."),
                }
            };
            let replies = [ScriptedReply::from_fn(make).by_beginning().forever()];
            let mut bench = start_kept_over(protocol, replies, |_| {});
            files(&bench, 13);
            let stop = bench.run("Read all of them").await;
            assert_eq!(compactions(&bench)[0], CompactionCause::Refused, "{protocol:?}");
            if full_replies == 1 {
                assert_eq!(stop, StopReason::EndTurn, "{protocol:?}");
                let last = bench.model.recorded().pop().unwrap().raw;
                assert!(last.contains("cut because the context was full"), "{last}");
                assert!(last.contains("Half an answer"), "{last}");
            } else {
                // The turn ends in words if each reply fills the context.
                assert_ne!(stop, StopReason::EndTurn, "{protocol:?}");
                assert!(bench.model.requests().len() < 12 + 10, "{protocol:?}");
            }
        }
    }
}
