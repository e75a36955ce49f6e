//! Law of the conversation: what was accepted can be answered, whatever was said, pasted, rejected and read before.

use super::{REFUSES, is_question};
use crate::bench::*;
use proptest::prelude::*;
use ropewalk_model::Protocol;
use ropewalk_protocol::{Event, Op, Selection, StopReason};
use serde_json::{Value, json};

/// One thing that happens to a conversation. Sizes are percents of the context, in bytes at four to a token.
#[derive(Debug, Clone)]
enum Happening {
    /// The user says so much, and the model answers.
    Says(usize),
    /// The same, but the model's server refuses the key: nobody answers.
    SaysInVain(usize),
    /// The model answers with so much.
    IsTold(usize),
    /// The model reads a file of so much, so many times in one step.
    Reads(usize, usize),
    /// The model makes so many files of 600 bytes in one step, and the user rejects each with a reason.
    Rejects(usize),
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let one = prop_oneof![
        3 => (1..250_usize).prop_map(Happening::Says),
        2 => (1..150_usize).prop_map(Happening::SaysInVain),
        1 => (1..120_usize).prop_map(Happening::IsTold),
        1 => (1..200_usize, 1..12_usize).prop_map(|(size, times)| Happening::Reads(size, times)),
        1 => (1..40_usize).prop_map(Happening::Rejects),
    ];
    prop::collection::vec(one, 1..8)
}

/// A model that does what the newest words ask for.
fn obedient(bytes: usize) -> ScriptedReply {
    let make = move |said: &Value| {
        if is_question(said) {
            return says("**Goal**: to obey.");
        }
        let last = said["messages"].as_array().and_then(|all| all.last()).unwrap().to_string();
        let asked = |mark: &str| {
            let words = last.rsplit_once(mark)?.1;
            let end = words.find(|c: char| !c.is_ascii_digit())?;
            words.get(..end)?.parse::<usize>().ok()
        };
        match () {
            () if last.contains("(in vain)") && !last.contains("(hello)") => {
                ScriptedReply::refusal(401, "authentication_error", "no such key")
            }
            () if last.contains("tool_result") || last.contains("(hello)") => says("Done."),
            () => match (asked("(tell "), asked("(read "), asked("(make ")) {
                (Some(part), ..) => says(&"told ".repeat(part * bytes / 100 / 5)),
                (_, Some(times), _) => (0..times)
                    .fold(reply(), |reply, _| reply.call("read_file", json!({"path": "f.txt"}))),
                (.., Some(count)) => (0..count).fold(reply(), |reply, at| {
                    let (path, content) = (format!("n{at}.txt"), format!("line {at}\n").repeat(60));
                    reply.call("write_file", json!({ "path": path, "content": content }))
                }),
                _ => says("Well."),
            },
        }
    };
    ScriptedReply::from_fn(make).by_beginning().forever()
}

async fn play(tokens: u64, all: &[Happening]) -> Result<(), TestCaseError> {
    let bytes = usize::try_from(tokens).unwrap() * 4;
    let of = |part: usize| "word ".repeat(part * bytes / 100 / 5);
    let mut bench =
        start_counting(Protocol::Anthropic, [obedient(bytes)], (REFUSES(tokens), true), |_| {});
    for happening in all {
        match happening {
            Happening::Says(part) => _ = bench.run(&of(*part)).await,
            Happening::SaysInVain(part) => {
                let _ = bench.run(&format!("{} (in vain)", of(*part))).await;
            }
            Happening::IsTold(part) => _ = bench.run(&format!("(tell {part})")).await,
            Happening::Reads(part, times) => {
                bench.file("f.txt", &"a line of it\n".repeat(part * bytes / 100 / 13));
                let _ = bench.run(&format!("(read {times})")).await;
            }
            Happening::Rejects(count) => {
                let _ = bench.run(&format!("(make {count})")).await;
                for hunk in bench.session.hunks().iter() {
                    let reason = "please use the helper that is there".to_owned();
                    let which = Selection::Hunks(vec![hunk.id.0]);
                    bench.session.send(Op::Reject(which, Some(reason)));
                    bench.reviewed().await;
                }
            }
        }
    }
    bench.session.prompt(ropewalk_protocol::Prompt::new("(hello)"));
    let (_, stop, message) = bench.end().await;
    prop_assert_eq!(stop, StopReason::EndTurn, "{} tokens: {:?}", tokens, message);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]
    #[test]
    fn after_whatever_was_said_the_next_prompt_is_answered(
        all in happenings(),
        tokens in prop::sample::select(vec![4_096_u64, 8_192, 16_384, 32_768, 200_000]),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(tokens, &all))?;
    }
}

/// Text of every file that was kept.
fn kept(bench: &Bench) -> String {
    let files = std::fs::read_dir(bench.dir.path().join("outputs")).unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn a_paste_that_does_not_fit_loses_its_middle_which_a_file_has() {
    for before in [0, 2] {
        let replies = [obedient(4_096 * 4)];
        let mut bench = start_counting(Protocol::Chat, replies, (REFUSES(4_096), true), |_| {});
        for _ in 0..before {
            assert_eq!(bench.run("hello").await, StopReason::EndTurn);
        }
        let paste: String = (0..4_000).map(|at| format!("number {at}\n")).collect();
        assert_eq!(bench.run(&paste).await, StopReason::EndTurn, "{before}");
        let asked = bench.model.recorded().pop().unwrap().raw;
        assert!(asked.contains("number 0\\n") && asked.contains("number 3999"), "{asked}");
        assert!(!asked.contains("number 2000\\n"));
        let path = asked.split("the whole is in ").nth(1).unwrap().split(", to be read").next();
        assert!(std::fs::read_to_string(path.unwrap()).unwrap().contains(&paste));
        assert!(kept(&bench).contains(&paste));
        let told = bench.seen.iter().any(|event| matches!(event, Event::Notice { .. }));
        assert!(told, "the user is told");
        assert_eq!(bench.run("(hello)").await, StopReason::EndTurn, "{before}");
    }
}
