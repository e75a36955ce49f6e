//! Todos: kept, told, reminded of, taken back and restored; and absent where they are switched off.

use crate::bench::*;
use ropewalk_agent::session::Settings;
use ropewalk_model::{Http, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::{Content, Event, ModelLimits, Op, Prompt, StopReason, TodoList};
use serde_json::{Value, json};
use std::sync::Arc;

const REMINDER: &str = "<reminder>Update your todos.</reminder>";

fn todos(list: &[(&str, &str)]) -> ScriptedReply {
    let one = |(content, status): &(&str, &str)| json!({"content": content, "status": status});
    calls("todo_write", json!({ "todos": list.iter().map(one).collect::<Vec<_>>() }))
}

fn plan() -> ScriptedReply {
    todos(&[("Read", "completed"), ("Write the test", "in_progress"), ("Run it", "pending")])
}

/// A call that is another one each time.
fn look(number: usize) -> ScriptedReply {
    calls("glob", json!({ "pattern": format!("*.{number}") }))
}

/// The lists that were told, each with its turn, as `turn done/all`.
fn told(bench: &Bench) -> Vec<String> {
    let words = |event: &Event| match event {
        Event::Todos { turn, todos, done } => Some(format!("{turn} {done}/{}", todos.0.len())),
        _ => None,
    };
    bench.seen.iter().filter_map(words).collect()
}

/// How often each request holds a reminder, in its last message.
fn reminded(bench: &Bench) -> Vec<usize> {
    let count = |request: &Value| last_message(request).matches(REMINDER).count();
    bench.model.requests().iter().map(count).collect()
}

fn after(steps: u32) -> impl FnOnce(&mut Settings) {
    move |settings| {
        unchecked(settings);
        settings.limits.mechanisms.remind_after = steps;
    }
}

/// A list may be left open here.
fn unchecked(settings: &mut Settings) {
    settings.mechanisms.check = false;
}

fn start_kept_unchecked(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    start_kept_over(Protocol::Anthropic, replies, unchecked)
}

#[tokio::test]
async fn the_list_is_the_last_one_that_was_given_and_the_next_turn_clears_a_finished_one() {
    let done = todos(&[("Read", "completed"), ("Write the test", "completed")]);
    let replies = [
        plan(),
        todos(&[("a", "in_progress"), ("b", "in_progress")])
            .expect_text("[x] Read\n[>] Write the test\n[ ] Run it\n\n(1/3 completed)"),
        says("Half.").expect_text("Only one task can be in_progress at a time"),
        done,
        says("Done."),
        says("Nothing is left."),
    ];
    let mut bench = start_with(replies, unchecked);
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert_eq!(told(&bench), ["1 1/3"]);
    assert_eq!(bench.run("go on").await, StopReason::EndTurn);
    assert_eq!(told(&bench), ["1 1/3", "2 2/2"], "an open list stays for the next turn");
    assert_eq!(bench.session.todos().open(), 0);
    assert_eq!(bench.run("and now?").await, StopReason::EndTurn);
    assert_eq!(told(&bench), ["1 1/3", "2 2/2", "3 0/0"]);
    assert_eq!(bench.session.todos(), TodoList::default());
}

#[tokio::test]
async fn what_is_open_is_recalled_after_as_many_steps_and_twice_a_turn() {
    let looks = (0..9).map(look);
    let replies = [plan()].into_iter().chain(looks).chain([says("Enough.")]);
    let mut bench = start_with(replies, after(2));
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    // The first request, the list, two steps, and so on.
    assert_eq!(reminded(&bench), [0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
    let request = bench.model.requests()[3].clone();
    let last = last_message(&request);
    assert!(last.ends_with(&format!("{REMINDER}\nIn progress: Write the test")), "{last}");
    assert!(!last.contains("Run it"), "never the list: {last}");
}

#[tokio::test]
async fn nothing_is_recalled_after_an_update_nor_with_nothing_open_nor_where_it_is_never() {
    let open = || [plan(), look(1), plan(), look(2), says("ok")];
    let finished =
        [todos(&[("Read", "completed")]), look(1), look(2), look(3), look(4), says("ok")];
    let none = [look(1), look(2), look(3), look(4), says("ok")];
    for (replies, steps) in
        [(open().to_vec(), 2), (finished.to_vec(), 2), (none.to_vec(), 1), (open().to_vec(), 0)]
    {
        let mut bench = start_with(replies, after(steps));
        assert_eq!(bench.run("go").await, StopReason::EndTurn);
        assert_eq!(reminded(&bench).iter().sum::<usize>(), 0, "{steps}");
    }
}

#[tokio::test]
async fn a_reminder_stands_behind_the_words_of_the_user() {
    let replies =
        [plan(), look(1).gate(ReplyPlace::End, "here"), says("ok").expect_text("so it is said")];
    let mut bench = start_with(replies, after(1));
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("here").await;
    bench.session.send(Op::Steer(vec![Content::text("so it is said")]));
    bench.session.send(Op::Rename("taken in order".into()));
    bench.until(|event| matches!(event, Event::SessionRenamed { .. }).then_some(())).await;
    bench.model.open_gate("here");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let last = last_message(bench.model.requests().last().unwrap());
    let (words, reminder) = (last.find("so it is said"), last.find(REMINDER));
    assert!(words.is_some() && words < reminder, "{last}");
}

#[tokio::test]
async fn a_turn_that_is_taken_back_takes_its_todos_back() {
    let mut bench = start_kept_unchecked([
        plan(),
        says("First."),
        todos(&[("Other", "completed")]),
        says("Second."),
        says("Third.").conversation("rewound"),
    ]);
    bench.run("first").await;
    let before = bench.session.todos();
    bench.run("second").await;
    assert_ne!(bench.session.todos(), before);
    bench.session.send(Op::Rewind(2));
    bench.reviewed().await;
    assert_eq!(bench.session.todos(), before);
    let rewound = bench.seen.iter().position(|event| matches!(event, Event::Rewound { .. }));
    assert!(matches!(bench.seen[rewound.unwrap() + 1], Event::Todos { done: 1, .. }));
    bench.run("third").await;
    assert_eq!(bench.session.todos(), before, "it is not finished");
    let bench = resume(bench.dies().await, []);
    assert_eq!(bench.session.todos(), before, "and so it is after a restart");
}

#[tokio::test]
async fn a_session_that_goes_on_has_its_todos_and_tells_them_first() {
    let mut bench = start_kept_unchecked([plan(), says("never").gate(ReplyPlace::End, "never")]);
    bench.session.prompt(Prompt::new("go"));
    bench.until(|event| matches!(event, Event::TextDelta { .. }).then_some(())).await;
    // Killed in the midst of the turn.
    let before = bench.session.todos();
    let mut bench = resume(bench.dies().await, [look(1), look(2), says("ok")]);
    assert_eq!(bench.session.todos(), before);
    assert_eq!(bench.run("go on").await, StopReason::EndTurn);
    assert_eq!(bench.kinds()[..2], ["session_started", "todos"]);
    assert_eq!(told(&bench), ["1 1/3"]);
}

#[tokio::test]
async fn switched_off_they_are_in_no_tool_no_prompt_and_no_word() {
    let off: [fn(&mut Settings); 2] = [
        |settings| settings.mechanisms.todos = false,
        |settings| settings.tools = Some(vec!["glob".to_owned()]),
    ];
    for change in off {
        let replies = [plan(), look(1), look(2), says("ok")];
        let mut bench = start_with(replies, |settings| {
            after(1)(settings);
            change(settings);
        });
        assert_eq!(bench.run("go").await, StopReason::EndTurn);
        assert!(bench.results()[0].0.starts_with("Unknown tool: todo_write"));
        let request = &bench.model.requests()[0];
        for part in ["tools", "system"] {
            assert!(!request[part].to_string().contains("todo"), "{}", request[part]);
        }
        assert_eq!(reminded(&bench).iter().sum::<usize>(), 0);
        assert_eq!(told(&bench), Vec::<String>::new());
    }
    let mut bench = start([says("ok")]);
    bench.run("go").await;
    let request = &bench.model.requests()[0];
    assert!(request["system"].to_string().contains("`todo_write`"));
}

#[tokio::test]
async fn a_lean_set_has_none_and_hears_no_reminder() {
    let server = ScriptedModel::start([plan(), look(1), look(2), says("ok")]).unwrap();
    let limits = ModelLimits { context: Some(8_192), max_output: None };
    let config = ServerConfig { limits, ..server.config() };
    let model = Arc::new(ServerModel::new(config, Http::new()).unwrap());
    let mut bench = start_with([], |settings| {
        after(1)(settings);
        settings.model = Ok(model);
    });
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let requests = server.requests();
    assert!(!requests[0].to_string().contains("todo"), "{}", requests[0]);
    assert!(requests.iter().all(|request| !request.to_string().contains(REMINDER)));
}
