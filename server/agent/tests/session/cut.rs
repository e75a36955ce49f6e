//! Results that are too long: what is shown and what the named file has are together all that was produced.

use crate::bench::*;
use ropewalk_model::Protocol;
use ropewalk_protocol::{Mode, StopReason};
use serde_json::json;

/// The text before the gap of a cut result, the characters that it says are missing, the file that it names, and the text
/// behind it.
fn parts(result: &str) -> Option<(&str, usize, &str, &str)> {
    let (head, rest) = result.split_once("\n... (")?;
    let (count, rest) = rest.split_once(" characters left out; the whole is in ")?;
    let (file, tail) = rest.split_once(", to be read there)\n")?;
    Some((head, count.parse().ok()?, file, tail))
}

/// Replies of one step with so many calls, then the last words.
fn one_step(
    count: usize,
    tool: &str,
    input: impl Fn(usize) -> serde_json::Value,
) -> [ScriptedReply; 2] {
    let step = (0..count).fold(reply(), |reply, at| reply.call(tool, input(at)));
    [step, says("Done.")]
}

fn start_at(tokens: u64, replies: [ScriptedReply; 2]) -> Bench {
    let context = CountedContext { tokens, overflow: Overflow::Refuse };
    start_counting(Protocol::Anthropic, replies, (context, true), |settings| {
        settings.mode = Mode::Auto;
        settings.rules.allow = vec!["bash(*)".parse().unwrap()];
    })
}

#[tokio::test]
async fn text_shown_and_text_named_are_the_text_that_was_produced() {
    // The last of them is longer than what is kept in memory.
    for (tokens, calls, lines) in
        [(4_096, 1, 900), (8_192, 3, 3_000), (16_384, 2, 2_500), (200_000, 1, 90_000)]
    {
        let command =
            |at: usize| format!("for i in $(seq {lines}); do echo \"é {at} $i\"; done; exit 3");
        let step = one_step(calls, "bash", |at| json!({ "command": command(at) }));
        let mut bench = start_at(tokens, step);
        assert_eq!(bench.run("go").await, StopReason::EndTurn);
        for (at, (result, _)) in bench.results().iter().enumerate() {
            let all: String = (1..=lines).map(|line| format!("é {at} {line}\n")).collect();
            let (head, count, file, tail) = parts(result).unwrap_or_else(|| panic!("{result}"));
            let tail = tail.split("(exit code 3)").next().unwrap();
            assert!(all.starts_with(head) && all.ends_with(tail) && !tail.is_empty(), "{result}");
            let shown = head.chars().count() + 1 + tail.chars().count();
            assert_eq!(shown + count, all.chars().count(), "{tokens}: {at}");
            assert!(std::fs::read_to_string(file).unwrap().starts_with(&all), "{tokens}: {at}");
        }
        let files = std::fs::read_dir(bench.dir.path().join("outputs")).unwrap().count();
        assert_eq!(files, calls, "one file has the whole");
    }
}

#[tokio::test]
async fn a_search_that_is_cut_is_whole_in_a_file() {
    let step = one_step(1, "grep", |_| json!({ "pattern": "word" }));
    let mut bench = start_at(20_000, step);
    let text: String = (0..190).map(|at| format!("a word of {at} {}\n", "x".repeat(100))).collect();
    bench.file("f.txt", &text);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let (result, _) = bench.results().remove(0);
    let (head, count, file, tail) = parts(&result).unwrap_or_else(|| panic!("{result}"));
    let whole = std::fs::read_to_string(file).unwrap();
    assert!(whole.starts_with(head) && whole.ends_with(tail) && whole.contains("of 95 "));
    let shown = head.chars().count() + 1 + tail.chars().count();
    assert_eq!(shown + count, whole.chars().count());
}

#[tokio::test]
async fn a_plain_read_has_no_hole_and_says_where_it_goes_on() {
    for (tokens, calls) in [(4_096, 1), (8_192, 3), (32_768, 2)] {
        let step = one_step(calls, "read_file", |at| json!({ "path": format!("{at}.txt") }));
        let mut bench = start_at(tokens, step);
        let text = "\t\"line\" of the file\n".repeat(3_000);
        for at in 0..calls {
            bench.file(&format!("{at}.txt"), &text);
        }
        assert_eq!(bench.run("go").await, StopReason::EndTurn);
        for (result, _) in bench.results() {
            let numbers =
                result.lines().filter_map(|line| line.split_once('\t')?.0.trim().parse().ok());
            let numbers: Vec<usize> = numbers.collect();
            let last = numbers.len();
            assert!(last > 3 && numbers.iter().copied().eq(1..=last), "{result}");
            let more =
                format!("... ({} more lines) Read on with offset {}.", 3_000 - last, last + 1);
            assert!(result.ends_with(&more), "{result}");
        }
    }
}
