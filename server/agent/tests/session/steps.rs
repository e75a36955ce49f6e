//! The loop: what the model says decides how it goes on, not what it says of why it stopped.

use crate::bench::*;
use ropewalk_model::{Http, Model, ModelStop as Stop, Role, ServerConfig, ServerModel};
use ropewalk_protocol::{Event, Money, Price, Prompt, SessionLimits, StopReason, Usage};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn a_file_is_made_in_two_steps() {
    let mut bench = start([
        calls("write_file", json!({"path": "hello.py", "content": "print('hello')\n"})),
        says("Made hello.py.").expect_text("Wrote 15 bytes to hello.py"),
    ]);
    assert_eq!(bench.run("create hello.py").await, StopReason::EndTurn);
    assert_eq!(bench.session.messages().len(), 4);
    assert_eq!(bench.session.hunks().len(), 1);
}

#[tokio::test]
async fn a_reply_that_is_cut_each_time_ends_in_words_and_the_next_prompt_works() {
    let cut = || {
        let write = json!({"path": "a.txt", "content": "half"});
        says("I write").call("write_file", write).drop_at(ReplyPlace::End)
    };
    let replies = std::iter::repeat_with(cut).take(6);
    let mut bench = start(replies.chain([says("whole").expect_text("again")]));
    bench.session.prompt(Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Error);
    let message = message.unwrap();
    assert!(
        message.contains("the reply was cut off") && message.ends_with("try again"),
        "{message}"
    );
    let count =
        |wanted: fn(&Event) -> bool| bench.seen.iter().filter(|event| wanted(event)).count();
    assert_eq!(count(|event| matches!(event, Event::Retrying { .. })), 5);
    assert_eq!(count(|event| matches!(event, Event::ToolCall { .. })), 0);
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    assert!(bench.session.hunks().is_empty());
    bench.model.finish().unwrap();
}

#[tokio::test]
async fn calls_run_whatever_the_stop_reason_says() {
    for stop in [Stop::EndTurn, Stop::StopSequence, Stop::Refusal, Stop::Other("odd".into())] {
        let mut bench = start([
            calls("list_dir", json!({})).call("glob", json!({"pattern": "*"})).stop(stop),
            says("done"),
        ]);
        assert_eq!(bench.run("look").await, StopReason::EndTurn);
        assert_eq!(bench.results().len(), 2);
    }
}

/// How a turn with these replies ends, and the words of its end.
async fn ending(replies: impl IntoIterator<Item = ScriptedReply>) -> (StopReason, String) {
    let mut bench = start(replies);
    bench.session.prompt(Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    bench.model.finish().unwrap();
    (stop, message.unwrap_or_default())
}

#[tokio::test]
async fn a_call_that_is_announced_and_not_made_is_asked_for_once() {
    let announced = || says("I call a tool").stop(Stop::ToolUse);
    let again = || announced().expect_text("as if a tool call followed, but none came");
    let made = calls("list_dir", json!({})).expect_text("as if a tool call followed");
    let (stop, message) = ending([announced(), made, announced(), says("ok")]).await;
    assert_eq!((stop, &*message), (StopReason::EndTurn, ""));
    let (stop, message) = ending([announced(), again()]).await;
    assert_eq!(stop, StopReason::EndTurn);
    assert!(message.contains("announced a tool call that never came"), "{message}");
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_once_more_and_then_ends_the_turn_in_words() {
    let empty = || reply();
    let thought = || reply().thinking("hm", "sealed");
    let odd = || reply().stop(Stop::Other("cancelled".into()));
    for nothing in [&empty as &dyn Fn() -> ScriptedReply, &thought, &odd] {
        let answer = says("ok").expect_text("Your reply was empty");
        assert_eq!(ending([nothing(), answer]).await, (StopReason::EndTurn, String::new()));
        let look = || calls("list_dir", json!({}));
        let (stop, message) = ending([look(), nothing(), look(), nothing(), nothing()]).await;
        assert_eq!(stop, StopReason::EndTurn);
        assert!(message.contains("without a word") || message.contains("cancelled"), "{message}");
    }
    let mut bench = start([reply(), reply(), says("ok")]);
    assert_eq!(bench.run("one").await, StopReason::EndTurn);
    assert_eq!(bench.run("two").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_full_context_and_an_odd_end_are_said() {
    for full in [says("So I").stop(Stop::ContextFull), reply().stop(Stop::ContextFull)] {
        let (stop, message) = ending([full]).await;
        assert_eq!(stop, StopReason::MaxTokens);
        assert!(message.contains("context is full") && message.contains("/new"), "{message}");
    }
    // A call that was whole before the cut one runs.
    let half = calls("list_dir", json!({})).call_raw("bash", "{\"comm").stop(Stop::ContextFull);
    let (stop, _) = ending([half, says("ok")]).await;
    assert_eq!(stop, StopReason::EndTurn);
    let (stop, message) = ending([says("So").stop(Stop::Other("cancelled".into()))]).await;
    assert_eq!(stop, StopReason::EndTurn);
    assert!(message.contains("The model stopped: cancelled."), "{message}");
}

#[tokio::test]
async fn a_paused_turn_is_sent_again_and_its_words_are_one_message() {
    let mut bench = start([
        says("First half").stop(Stop::PauseTurn),
        says("second half.").expect(|body| {
            let last = body["messages"].as_array().unwrap().last().unwrap();
            if last["role"] == "assistant" {
                Ok(())
            } else {
                Err("the model's words come last".into())
            }
        }),
        says("ok"),
    ]);
    assert_eq!(bench.run("long one").await, StopReason::EndTurn);
    let messages = bench.session.messages();
    assert_eq!(messages.iter().map(|m| m.role).collect::<Vec<_>>(), [Role::User, Role::Assistant]);
    assert_eq!(messages[1].content.len(), 2);
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_pause_that_never_ends_is_bounded_by_steps() {
    let mut bench = start_with([reply().stop(Stop::PauseTurn).forever()], |settings| {
        settings.limits.steps = 3;
    });
    assert_eq!(bench.run("go").await, StopReason::MaxSteps);
    assert_eq!(bench.model.requests().len(), 3);
}

#[tokio::test]
async fn a_text_that_was_cut_goes_on_and_the_model_is_told() {
    let mut bench = start([
        says("a long sto").stop(Stop::MaxTokens),
        says("ry").expect_text("cut at the limit of output tokens. Go on where it ended"),
    ]);
    assert_eq!(bench.run("tell").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_call_that_was_cut_is_dropped_and_whole_ones_before_it_run() {
    for cut in ["", "{", "{\"path\": \"a.txt\", \"content\": \"half of"] {
        let mut bench = start([
            calls("list_dir", json!({})).call_raw("write_file", cut).stop(Stop::MaxTokens),
            reply()
                .text("I see")
                .call_raw("write_file", cut)
                .stop(Stop::MaxTokens)
                .expect_text("in the midst of a call of write_file, which was not run")
                .expect_text("smaller calls"),
            reply().call_raw("write_file", cut).stop(Stop::MaxTokens).expect_text("smaller calls"),
            says("ok").expect_text("smaller calls"),
        ]);
        assert_eq!(bench.run("write").await, StopReason::EndTurn, "{cut:?}");
        assert_eq!(bench.results().len(), 1, "{cut:?}");
        assert!(bench.session.hunks().is_empty());
    }
}

#[tokio::test]
async fn replies_that_are_cut_four_times_in_a_row_end_the_turn_in_words() {
    let text = || says("So").stop(Stop::MaxTokens);
    let call = || reply().call_raw("write_file", "{\"pa").stop(Stop::MaxTokens);
    let ran = || calls("list_dir", json!({})).stop(Stop::MaxTokens);
    for cut in [&text as &dyn Fn() -> ScriptedReply, &call, &ran] {
        let (stop, message) = ending([cut(), cut(), cut(), cut()]).await;
        assert_eq!(stop, StopReason::MaxTokens);
        for word in ["limits.output_tokens", "provider.NAME.output", "\"continue\""] {
            assert!(message.contains(word), "{message}");
        }
        // Whole ones between make them count anew.
        let whole = || calls("list_dir", json!({}));
        let (stop, _) =
            ending([cut(), cut(), cut(), whole(), cut(), cut(), cut(), says("ok")]).await;
        assert_eq!(stop, StopReason::EndTurn);
    }
    let mut bench = start([text(), text(), text(), text(), says("ok").expect_text("were cut")]);
    assert_eq!(bench.run("tell").await, StopReason::MaxTokens);
    assert_eq!(bench.run("continue").await, StopReason::EndTurn);
}

#[tokio::test]
async fn a_refusal_is_said_and_the_session_goes_on() {
    for refusal in [reply().stop(Stop::Refusal), says("I can't").stop(Stop::Refusal)] {
        let mut bench = start([refusal, says("ok")]);
        bench.session.prompt(ropewalk_protocol::Prompt::new("no good"));
        let (_, stop, message) = bench.end().await;
        assert_eq!(
            (stop, message.as_deref()),
            (StopReason::Refusal, Some("The model declined to answer."))
        );
        assert_eq!(bench.run("something else").await, StopReason::EndTurn);
    }
}

#[tokio::test]
async fn steps_are_bounded_and_continue_goes_on() {
    let look = || calls("list_dir", json!({}));
    let mut bench = start_with([look(), look(), look(), says("done")], |settings| {
        settings.limits.steps = 2;
    });
    bench.session.prompt(ropewalk_protocol::Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::MaxSteps);
    assert_eq!(message.unwrap(), "Stopped after 2 steps. Say \"continue\" to go on.");
    assert_eq!(bench.run("continue").await, StopReason::EndTurn);
    assert_eq!(bench.results().len(), 3);
}

#[tokio::test]
async fn the_bound_on_output_tokens_is_sent() {
    use ropewalk_protocol::ModelLimits as Known;
    let known = |context, max_output| Known { context, max_output };
    for (limits, wanted, sent) in [
        (known(None, None), None, 32_000),
        (known(None, None), Some(1_234), 1_234),
        (known(None, None), Some(64_000), 64_000),
        (known(None, Some(8_192)), None, 8_192),
        (known(None, Some(8_192)), Some(64_000), 8_192),
        // A quarter of the context, and what is left of it.
        (known(Some(200_000), Some(64_000)), None, 50_000),
        (known(Some(20_000), None), None, 5_000),
        (known(Some(20_000), None), Some(900), 900),
    ] {
        let server = ScriptedModel::start([says("ok")]).unwrap();
        let config = ServerConfig { limits, ..server.config() };
        let model = Arc::new(ServerModel::new(config, Http::new()).unwrap());
        let mut bench = start_with([], |settings| {
            settings.model = Ok(model);
            settings.limits.output_tokens = wanted.unwrap_or(SessionLimits::OWN_OUTPUT);
        });
        bench.run("go").await;
        assert_eq!(server.requests()[0]["max_tokens"], sent, "{limits:?} {wanted:?}");
    }
    assert_eq!(SessionLimits::default().wanted_output(), None);
}

#[tokio::test]
async fn a_reply_gets_no_more_than_is_left_of_the_context() {
    let limits = ropewalk_protocol::ModelLimits { context: Some(40_000), max_output: None };
    let words = "word ".repeat(18_000);
    let counted = Usage { input: 25_000, ..Usage::default() };
    let server =
        ScriptedModel::start([says("ok").usage(counted), says("ok").usage(counted)]).unwrap();
    let config = ServerConfig { limits, ..server.config() };
    let model = Arc::new(ServerModel::new(config, Http::new()).unwrap());
    let mut bench = start_with([], |settings| settings.model = Ok(model));
    bench.run(&words).await;
    bench.run("go on").await;
    let asked: Vec<u64> =
        server.requests().iter().map(|body| body["max_tokens"].as_u64().unwrap()).collect();
    // By its length the first leaves less than a quarter; by what the server has counted of it, the second does not.
    let [first, second] = asked[..] else { panic!("{asked:?}") };
    assert!((1_024..10_000).contains(&first), "{asked:?}");
    assert_eq!(second, 10_000, "{asked:?}");
}

#[tokio::test]
async fn errors_end_the_turn_in_the_models_words_and_the_next_prompt_goes() {
    for (broken, word) in [
        (ScriptedReply::refusal(400, "invalid_request_error", "odd"), "refuses the request: odd"),
        (says("half a").error_at(ReplyPlace::End, "invalid_request_error", "odd"), "odd"),
        (
            calls("list_dir", json!({})).error_at(ReplyPlace::End, "invalid_request_error", "odd"),
            "odd",
        ),
    ] {
        let mut bench = start([broken, says("ok")]);
        bench.session.prompt(ropewalk_protocol::Prompt::new("go"));
        let (_, stop, message) = bench.end().await;
        assert_eq!(stop, StopReason::Error);
        assert!(message.as_ref().unwrap().contains(word), "{message:?}");
        assert_eq!(bench.run("again").await, StopReason::EndTurn);
    }
}

#[tokio::test]
async fn a_cut_stream_is_asked_for_again_and_no_call_runs_twice() {
    let mut bench = start_allowing([
        bash("echo x >> log").drop_at(ReplyPlace::End),
        bash("echo x >> log"),
        says("ok"),
    ]);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert!(bench.seen.iter().any(|event| matches!(event, Event::Retrying { attempt: 2, .. })));
    assert_eq!(bench.disk("log"), "x\n");
}

#[tokio::test]
async fn without_a_model_the_turn_says_what_to_set_up() {
    let mut bench = start_with([], |settings| settings.model = Err("Set up a model.".into()));
    bench.session.prompt(ropewalk_protocol::Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    assert_eq!((stop, message.as_deref()), (StopReason::Error, Some("Set up a model.")));
}

#[tokio::test]
async fn usage_adds_up() {
    let used = |n| Usage { input: n, output: 2 * n, cache_read: 3 * n, cache_write: 4 * n };
    let mut bench = start([
        calls("list_dir", json!({})).usage(used(1)),
        says("ok").usage(used(10)),
        says("ok").usage(used(100)),
    ]);
    bench.run("one").await;
    bench.run("two").await;
    assert_eq!(bench.session.spent().usage, used(111));
    let sums = bench.seen.iter().filter_map(|event| match event {
        Event::Usage { step, in_turn, total, .. } => Some((step.input, in_turn.input, total.input)),
        _ => None,
    });
    assert_eq!(sums.collect::<Vec<_>>(), [(1, 1, 1), (10, 11, 11), (100, 100, 111)]);
}

/// A model at the script's server that costs a dollar per million tokens, either way.
fn priced(server: &ScriptedModel) -> Arc<dyn Model> {
    let each = 1_000_000;
    let price =
        Price { input: each, output: each, cache_read: each, cache_write: each, above: None };
    let config = ServerConfig { price: Some(price), ..server.config() };
    Arc::new(ServerModel::new(config, Http::new()).unwrap())
}

fn costing(tokens: u64) -> ScriptedReply {
    let usage = Usage { input: tokens, ..Usage::default() };
    calls("list_dir", json!({})).usage(usage)
}

#[tokio::test]
async fn a_budget_ends_the_turn_and_the_next_goes_on() {
    // Three steps at a cent each, and a budget of two cents.
    let steps = || costing(10_000);
    let server =
        ScriptedModel::start([steps(), steps(), says("on").usage(Usage::default())]).unwrap();
    let model = priced(&server);
    let mut bench = start_with([], |settings| {
        settings.model = Ok(model);
        settings.limits.turn_cents = 2;
    });
    bench.session.prompt(Prompt::new("go"));
    let (_, stop, message) = bench.end().await;
    assert_eq!(stop, StopReason::Budget);
    let words = message.unwrap();
    assert!(words.contains("$0.0200") && words.contains("\"continue\""), "{words}");
    assert_eq!(bench.run("continue").await, StopReason::EndTurn);
    assert_eq!(bench.session.spent().cost(), Some(Money::from_cents(2)));
    let told = server.requests().pop().unwrap().to_string();
    assert!(told.contains("its budget is used up"), "{told}");
}

#[tokio::test]
async fn a_dear_turn_is_told_of_once_and_goes_on() {
    // Three dollars a step.
    let steps = (0..4).map(|_| costing(3_000_000));
    let server = ScriptedModel::start(steps.chain([says("done"), says("cheap")])).unwrap();
    let model = priced(&server);
    let mut bench = start_with([], |settings| settings.model = Ok(model));
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(bench.run("again").await, StopReason::EndTurn);
    let told = bench.seen.iter().filter_map(|event| match event {
        Event::Notice { message, .. } if message.contains("has cost") => Some(message.clone()),
        _ => None,
    });
    let told: Vec<String> = told.collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("$6.00"), "{told:?}");
}

#[tokio::test]
async fn a_turn_that_is_dear_by_its_subagents_is_told_of_once_too() {
    let task = json!({"agent_type": "explore", "description": "look", "prompt": "Look around"});
    let usage = Usage { input: 3_000_000, ..Usage::default() };
    let own = |reply: ScriptedReply| reply.usage(usage).when("Look around").conversation("own");
    let server = ScriptedModel::start([
        calls("task", task).usage(Usage::default()),
        own(calls("read_file", json!({"path": "a.txt"}))),
        own(says("Seen.")),
        says("Done.").usage(Usage::default()),
    ])
    .unwrap();
    let model = priced(&server);
    let mut bench = start_with([], |settings| settings.model = Ok(model));
    bench.file("a.txt", "one\n");
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let told = bench.seen.iter().chain(bench.of_threads.iter().map(|(_, event)| event));
    let told = told.filter(|event| match event {
        Event::Notice { message, .. } => message.contains("has cost $6.00"),
        _ => false,
    });
    assert_eq!(told.count(), 1, "{:?}", bench.seen);
}

#[tokio::test]
async fn a_budget_in_money_that_nobody_can_keep_is_told_once() {
    let mut bench = start_with([says("one"), says("two")], |settings| {
        settings.limits.session_cents = 1;
        settings.limits.session_tokens = 1_000_000;
    });
    bench.run("one").await;
    bench.run("two").await;
    let told = bench.seen.iter().filter(|event| match event {
        Event::Notice { message, .. } => message.contains("`limits.session_cents` can't be kept"),
        _ => false,
    });
    assert_eq!(told.count(), 1, "{:?}", bench.seen);
}

/// The JSON lines of one turn, as a front end gets them.
#[tokio::test]
async fn events_come_in_order_and_serialise_as_documented() {
    let mut bench = start([
        reply().thinking("A greeting.", "sealed").call(
            "edit_file",
            json!({"path": "greet.py", "old_text": "pass", "new_text": "print('hi')"}),
        ),
        says("Done: greet.py greets."),
    ]);
    bench.file("greet.py", "def greet():\n    pass\n");
    bench.run("make it greet").await;
    let lines: Vec<String> =
        bench.seen.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let uri = DocUri::of(&bench);
    let lines = lines.join("\n").replace(&uri.0, "file:///w/greet.py") + "\n";
    let lines = without_used(&lines);
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/session/one_turn.jsonl");
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::write(fixture, &lines).unwrap();
    }
    assert_eq!(lines, std::fs::read_to_string(fixture).unwrap());
}

/// The lines without the tokens that are in use: the folder's name is among them, whose length the machine says.
fn without_used(lines: &str) -> String {
    let mut parts = lines.split("\"used\":");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        assert!(rest.len() < part.len(), "{part}");
        out.push_str("\"used\":0");
        out.push_str(rest);
    }
    out
}

/// The URI of greet.py, which no two runs share.
struct DocUri(String);

impl DocUri {
    fn of(bench: &Bench) -> Self {
        Self(bench.session.hunks()[0].doc.to_uri())
    }
}
