//! Results for the model: every call has one, in words to act on, within bounds, in the order of the calls.

use crate::bench::*;
use futures::future::BoxFuture;
use ropewalk_model::Protocol;
use ropewalk_protocol::{Event, Mode, Prompt, StopReason};
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Barrier;

/// The result of one call.
async fn result_of(tool: &str, input: &str, mode: Mode, interactive: bool) -> (String, bool) {
    let mut bench = start_with([reply().call_raw(tool, input), says("ok")], |settings| {
        settings.mode = mode;
        settings.interactive = interactive;
    });
    bench.file("a.txt", "one\ntwo\n");
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    bench.results().pop().unwrap()
}

#[tokio::test]
async fn faults_are_results_that_say_what_to_do() {
    use Mode::{Plan, Review};
    for (tool, input, mode, words) in [
        ("fly", "{}", Review, vec!["Unknown tool: fly", "read_file"]),
        ("fly", "{", Review, vec!["Unknown tool: fly"]),
        ("no such\u{fe0f}tool", "{}", Review, vec!["Unknown tool: no_such_tool"]),
        ("", "{}", Review, vec!["Unknown tool: unnamed"]),
        (
            "bash",
            "{\"command\": \"ls",
            Review,
            vec!["Error: Invalid input for bash", "not valid JSON", "EOF", "\"properties\""],
        ),
        ("bash", "{}", Review, vec!["`command` is missing", "\"properties\""]),
        ("bash", "[1]", Review, vec!["must be an object"]),
        (
            "read_file",
            "{\"path\": \"a.txt\", \"limit\": \"many\"}",
            Review,
            vec!["`limit` must be a whole number"],
        ),
        ("bash", "{\"command\": \"rm -rf /\"}", Review, vec!["Error: Dangerous command blocked"]),
        (
            "write_file",
            "{\"path\": \"b\", \"content\": \"\"}",
            Plan,
            vec!["Error: Refused in plan mode"],
        ),
        (
            "edit_file",
            "{\"path\": \"a.txt\", \"old_text\": \"one\", \"new_text\": \"1\"}",
            Plan,
            vec!["Error: Refused in plan mode"],
        ),
        (
            "read_file",
            "{\"path\": \"../out\"}",
            Review,
            vec!["Error: Path escapes workspace: ../out"],
        ),
    ] {
        let (text, is_error) = result_of(tool, input, mode, true).await;
        assert!(is_error, "{tool} {input}: {text}");
        for word in words {
            assert!(text.contains(word), "{tool} {input}: {text}");
        }
    }
}

#[tokio::test]
async fn what_was_converted_is_said() {
    let input = "{\"path\": \"a.txt\", \"limit\": \"1\"}";
    let (text, is_error) = result_of("read_file", input, Mode::Plan, true).await;
    assert!(
        !is_error && text.contains("one") && text.contains("`limit` was converted to a number"),
        "{text}"
    );
}

#[tokio::test]
async fn an_input_that_is_json_but_for_a_little_is_read_and_the_result_says_so() {
    let read = "\u{feff}```json\n{\"path\": \"a.txt\", \"limit\": 1,}\n```";
    let (text, is_error) = result_of("read_file", read, Mode::Review, true).await;
    let words = "read without a byte order mark, a fence, a comma behind the last item";
    assert!(!is_error && text.contains("one") && text.contains(words), "{text}");
    let write = "{\"path\": \"b.txt\", \"content\": \"é\n\tend\n\", \"explanation\": \"so\"}";
    let mut bench = start([
        reply().call_raw("write_file", write),
        // The input goes back as it was understood.
        says("ok").expect(|body| match &body["messages"][1]["content"][0]["input"] {
            input if input["content"] == "é\n\tend\n" => Ok(()),
            input => Err(format!("{input}")),
        }),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let (text, is_error) = bench.results().pop().unwrap();
    assert!(!is_error && text.contains("no such field: `explanation`"), "{text}");
    assert!(text.contains("read without raw line ends or tabs in a string"), "{text}");
}

#[tokio::test]
async fn with_nobody_to_ask_the_refusal_names_the_way() {
    let (text, _) =
        result_of("bash", "{\"command\": \"git status -s\"}", Mode::Review, false).await;
    assert!(
        text.contains(
            "not allowed without a terminal to ask in; run again with --allow 'bash(git status"
        ),
        "{text}"
    );
    let long = "x".repeat(500);
    let command = format!("{{\"command\": \"printf  {long}\"}}");
    let mut bench = start_with([reply().call_raw("bash", &command), says("ok")], |settings| {
        settings.interactive = false;
    });
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let shown = bench.seen.iter().find_map(|event| match event {
        Event::ToolResult { preview, .. } => Some(preview.clone()),
        _ => None,
    });
    let (whole, _) = bench.results().pop().unwrap();
    assert_eq!(shown, Some(whole.clone()), "the way is never cut");
    assert!(whole.contains(&format!("printf  {long}")), "{whole}");
    let quoted = "{\"command\": \"printf 'a b'\"}";
    let (text, _) = result_of("bash", quoted, Mode::Review, false).await;
    assert!(text.contains(r"--allow 'bash(printf '\''a b'\'')'"), "fit for a shell: {text}");
}

#[tokio::test]
async fn twenty_calls_have_twenty_results_in_order() {
    let mut many = reply();
    for n in 0..20 {
        many = match n % 4 {
            0 => many.call(
                "write_file",
                json!({"path": format!("{n}.txt"), "content": format!("text {n}")}),
            ),
            1 => many.call("read_file", json!({"path": format!("{}.txt", n - 1)})),
            2 => many.call_raw("read_file", "{"),
            _ => many.call("nothing", json!({})),
        };
    }
    let mut bench = start([many, says("ok")]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let results = bench.results();
    assert_eq!(results.len(), 20);
    for n in (0..20).step_by(4) {
        assert!(results[n].0.starts_with("Wrote"), "{results:?}");
        assert!(
            results[n + 1].0.contains(&format!("text {n}")),
            "each sees what came before: {results:?}"
        );
    }
}

/// A call as a server sends it that counts its ids from 0 in every reply.
fn same_id(reply: ScriptedReply, index: usize) -> ScriptedReply {
    let block = json!({"type": "tool_use", "id": "call 0", "name": "list_dir", "input": {}});
    let start = json!({"type": "content_block_start", "index": index, "content_block": block});
    let stop = json!({"type": "content_block_stop", "index": index});
    reply.event_at(ReplyPlace::End, start.to_string()).event_at(ReplyPlace::End, stop.to_string())
}

#[tokio::test]
async fn ids_that_come_again_or_are_not_allowed_are_made_new() {
    let mut bench = start([
        same_id(same_id(reply(), 0), 1),
        same_id(reply(), 0),
        same_id(reply(), 0),
        says("ok"),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(bench.results().len(), 4);
}

/// Reads that meet: each waits until both are there.
struct Meet(Arc<Barrier>);

#[derive(Deserialize, JsonSchema)]
struct Meeting {
    /// Name of the one who comes.
    name: String,
}

impl TypedTool for Meet {
    type Input = Meeting;
    const NAME: &'static str = "meet";
    const DESCRIPTION: &'static str = "Waits for the other.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &Meeting) -> Subject {
        Subject { title: input.name.clone(), ..Subject::default() }
    }

    fn run(&self, input: Meeting, _: Context) -> BoxFuture<'static, ToolOutput> {
        let barrier = self.0.clone();
        Box::pin(async move {
            barrier.wait().await;
            ToolOutput::text(input.name)
        })
    }
}

#[tokio::test]
async fn reads_run_at_the_same_time_and_answer_in_order() {
    let meet = |reply: ScriptedReply, name: &str| reply.call("meet", json!({ "name": name }));
    let three = meet(meet(meet(reply(), "a"), "b"), "c");
    let tool = Meet(Arc::new(Barrier::new(3)));
    let mut bench = start_with_tool(Protocol::Anthropic, [three, says("ok")], tool, |_| {});
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let said: Vec<String> = bench.results().into_iter().map(|(text, _)| text).collect();
    assert_eq!(said, ["a", "b", "c"]);
    // A tool that was added is in request, progress and events without a word anywhere else.
    let titles = bench.seen.iter().filter_map(|event| match event {
        Event::ToolCall { tool, title, .. } if tool == "meet" => Some(title.as_str()),
        _ => None,
    });
    assert_eq!(titles.collect::<String>(), "abc");
    let tools = bench.model.requests()[0]["tools"].to_string();
    assert!(tools.contains("Waits for the other."));
}

#[tokio::test]
async fn a_command_is_bounded_and_the_whole_can_be_read_on() {
    let mut bench = start_allowing([
        bash("seq 1 40000"),
        ScriptedReply::from_fn(|body| {
            let said = last_message(body);
            assert!(
                said.starts_with("1\n2\n") && said.trim_end().ends_with("40000"),
                "head and tail"
            );
            assert!(said.chars().count() < 52_000, "{}", said.chars().count());
            let path = said.split("the whole is in ").nth(1).unwrap().split(',').next().unwrap();
            calls("read_file", json!({"path": path, "offset": 20_000, "limit": 2}))
        }),
        says("ok").expect_text("20000").expect_text("20001"),
    ]);
    assert_eq!(bench.run("count").await, StopReason::EndTurn);
}

/// Key that the scripted model is called with.
const KEY: &str = "scripted-key";

#[tokio::test]
async fn a_key_that_is_not_shown_is_not_written_over() {
    let write =
        |path: &str, content: &str| calls("write_file", json!({"path": path, "content": content}));
    let edit =
        calls("edit_file", json!({"path": "a.txt", "old_text": "a = 1", "new_text": "a = m[key]"}));
    let replies = [
        calls("read_file", json!({"path": "a.txt"})),
        write("a.txt", "a = 2\nk = [key]\n").expect_text("k = [key]"),
        edit.expect_text("a.txt holds a key that is not shown"),
        write("b.txt", "m[key]\n").expect_no_text("Error: "),
        says("ok").expect_no_text("Error: "),
    ];
    let mut bench = start_with(replies, |settings| settings.mode = Mode::Auto);
    let text = format!("a = 1\nk = {KEY}\n");
    bench.file("a.txt", &text);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    // Beside the key, and where none was, it is a text like others.
    assert_eq!(bench.disk("a.txt"), text.replace("a = 1", "a = m[key]"));
    assert_eq!(bench.disk("b.txt"), "m[key]\n");
}

/// Says more than it should.
struct Talk;

impl TypedTool for Talk {
    type Input = Meeting;
    const NAME: &'static str = "talk";
    const DESCRIPTION: &'static str = "Talks.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, _: &Meeting) -> Subject {
        Subject::default()
    }

    fn run(&self, input: Meeting, _: Context) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move { ToolOutput::text(format!("{}\n", input.name).repeat(300_000)) })
    }
}

#[tokio::test]
async fn whatever_a_tool_says_is_bounded() {
    let replies = [calls("talk", json!({"name": "é"})), says("ok").expect_text("to be read there")];
    let mut bench = start_with_tool(Protocol::Anthropic, replies, Talk, |_| {});
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let (text, _) = bench.results().pop().unwrap();
    assert!(text.chars().count() <= 51_200, "{}", text.chars().count());
    let mut files = std::fs::read_dir(bench.dir.path().join("outputs")).unwrap();
    let whole = std::fs::read_to_string(files.next().unwrap().unwrap().path()).unwrap();
    assert_eq!(whole.len(), 900_000);
}

#[tokio::test]
async fn a_commands_time_is_bounded() {
    let mut bench = start_with(
        [
            bash("echo begun; sleep 1000"),
            says("ok").expect_text("Error: Timeout (1s)").expect_text("begun"),
        ],
        |settings| {
            settings.rules.allow = vec!["bash(*)".parse().unwrap()];
            settings.limits.command_seconds = 1;
        },
    );
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
}

fn missing() -> ScriptedReply {
    calls("read_file", json!({"path": "missing"}))
}

#[tokio::test]
async fn the_same_failing_call_three_times_in_a_row_ends_the_turn() {
    let mut bench = start([missing(), missing(), missing(), says("ok")]);
    bench.session.prompt(Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Error);
    assert!(message.unwrap().contains("same failing call 3 times"));
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn other_calls_between_make_it_count_anew() {
    let other = || calls("read_file", json!({"path": "absent"}));
    let works = || calls("list_dir", json!({}));
    let twice = || missing().call("read_file", json!({"path": "missing"}));
    let mut bench = start([
        missing(),
        other(),
        missing(),
        other(),
        missing(),
        other(),
        missing(),
        missing(),
        works(),
        missing(),
        missing(),
        // Side by side they count once: the model had not seen what the first one gave.
        works(),
        twice().call("read_file", json!({"path": "missing"})),
        twice(),
        says("ok"),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_command_in_the_background_lives_as_long_as_the_session() {
    let command = "exec 3>held; echo r >&3; echo up; sleep 1000; true";
    let mut bench = start_allowing([
        reply().call("bash", json!({"command": command, "background": true})),
        says("ok").expect_text("Started in the background"),
        says("ok"),
    ]);
    let path = bench.path("held");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let reading = tokio::task::spawn_blocking(move || std::fs::read_to_string(path).unwrap());
    bench.run("go").await;
    let is_up = |event: &Event| matches!(event, Event::ToolOutput { text, .. } if text == "up\n");
    if !bench.seen.iter().any(is_up) {
        bench.until(|event| is_up(event).then_some(())).await;
    }
    // Other settings bring other tools; what the old ones hold stays.
    let new = settings(client(&bench.model));
    bench.session.configure(new);
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    assert!(!reading.is_finished(), "it still runs");
    let Bench { session, mut events, .. } = bench;
    drop(session);
    while events.recv().await.is_some() {}
    assert_eq!(reading.await.unwrap(), "r\n", "it ended with the session");
}

#[tokio::test]
async fn an_input_that_is_no_object_goes_back_as_an_object() {
    let mut bench = start([
        reply()
            .call_raw("list_dir", "[1, 2]")
            .call_raw("list_dir", "\"{}\"")
            .call_raw("list_dir", "7"),
        says("ok").expect(|body| {
            let inputs: Vec<&Value> = body["messages"][1]["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(|block| &block["input"])
                .collect();
            if inputs.iter().all(|input| input.is_object()) {
                Ok(())
            } else {
                Err(format!("{inputs:?}"))
            }
        }),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
}

#[tokio::test]
async fn the_same_command_with_the_same_failure_three_times_in_a_row_ends_the_turn() {
    // Words that a model adds make no other command.
    let again = |words: &str| {
        reply().call("bash", json!({"command": "echo no such test; exit 3", "description": words}))
    };
    let mut bench = start_allowing([again("run"), again("run again"), again("once more")]);
    bench.session.prompt(Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Error);
    assert!(message.unwrap().contains("same failing call 3 times"));
    bench.model.finish().unwrap();
}

#[tokio::test]
async fn a_command_that_fails_otherwise_or_after_something_that_worked_counts_anew() {
    let fails = || bash("exit 3");
    let mut bench = start_allowing([
        fails(),
        fails(),
        bash("exit 4"),
        fails(),
        fails(),
        calls("list_dir", json!({})),
        fails(),
        fails(),
        // Another output each time.
        bash("echo x >> log; cat log; exit 3"),
        bash("echo x >> log; cat log; exit 3"),
        bash("echo x >> log; cat log; exit 3"),
        bash("kill -9 $$"),
        bash("kill -9 $$"),
        says("ok"),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
}
