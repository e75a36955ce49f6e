//! Subagents: a call of `task` has another conversation do a part of the work, and gets its summary.

mod beside;
mod bounds;
mod skills;
mod stopped;
mod types;

use crate::bench::*;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ropewalk_agent::session::Settings;
use ropewalk_protocol::{Event, Mode, Prompt, StopReason, ThreadState, Verdict};
use serde_json::json;

/// A reply that starts subagents: the type, the task in a few words, the prompt.
fn tasks(all: &[(&str, &str, &str)]) -> ScriptedReply {
    all.iter().fold(reply(), |reply, (kind, description, prompt)| {
        let input = json!({"agent_type": kind, "description": description, "prompt": prompt});
        reply.call("task", input)
    })
}

/// A reply that is kept for the subagent whose prompt has this text.
fn of(prompt: &str, reply: ScriptedReply) -> ScriptedReply {
    reply.when(prompt).conversation(prompt)
}

#[tokio::test]
async fn a_subagent_explores_by_itself_and_its_summary_is_the_result() {
    let mut bench = start_kept([
        tasks(&[("explore", "find auth files", "Find the files about auth")]),
        of("about auth", calls("read_file", json!({"path": "a.txt"}))),
        of("about auth", says("It is in a.txt.")).expect_text("login"),
        says("Found.").expect_text("It is in a.txt.\n\n(explore: 2 steps, "),
    ]);
    bench.file("a.txt", "login\n");
    assert_eq!(bench.run("Where is auth?").await, StopReason::EndTurn);
    let requests = bench.model.recorded();
    let (first, own) = (&requests[0].said, &requests[1].said);
    assert!(own["system"].to_string().contains("You are an explore subagent. "));
    assert!(!first["system"].to_string().contains("subagent. "));
    assert_eq!(own["messages"].as_array().unwrap().len(), 1, "a fresh history");
    let names = |said: &serde_json::Value| -> Vec<String> {
        let tools = said["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(first).contains(&"task".to_owned()));
    for absent in ["task", "compact", "edit_file", "write_file", "bash", "check_background"] {
        assert!(!names(own).contains(&absent.to_owned()), "{absent}");
    }
    let threads = bench.seen.iter().filter_map(|event| match event {
        Event::Thread { agent, description, state, steps, .. } => {
            Some((&**agent, &**description, *state, *steps))
        }
        _ => None,
    });
    assert_eq!(
        threads.collect::<Vec<_>>(),
        [
            ("explore", "find auth files", ThreadState::Started, 0),
            ("explore", "find auth files", ThreadState::Ended, 2),
        ]
    );
    let is_call = |(thread, event): &(String, Event)| {
        thread == "1.1" && matches!(event, Event::ToolCall { tool, .. } if tool == "read_file")
    };
    assert!(bench.of_threads.iter().any(is_call), "{:#?}", bench.of_threads);
    let used: u64 = bench
        .seen
        .iter()
        .filter_map(|event| match event {
            Event::Usage { step, .. } => Some(step.input + step.output),
            _ => None,
        })
        .sum();
    assert_eq!(used, bench.session.spent().usage.total(), "what it used counts");
    let spent = bench.session.spent();
    let said = bench.session.messages();
    let bench = resume(bench.dies().await, []);
    assert_eq!(bench.session.messages(), said, "its records are not the session's");
    assert_eq!(bench.session.spent(), spent);
}

fn edits(old: &str, new: &str) -> ScriptedReply {
    calls("edit_file", json!({"path": "a.txt", "old_text": old, "new_text": new}))
}

/// The last results of the main conversation, in order.
fn told(bench: &Bench) -> Vec<String> {
    bench.results().into_iter().map(|(text, _)| text).collect()
}

#[tokio::test]
async fn code_works_in_a_branch_that_comes_back_as_the_work_of_the_call() {
    let mut bench = start_kept([
        tasks(&[("code", "change a", "Make it two")]),
        of("Make it two", edits("one", "two")),
        of("Make it two", calls("read_file", json!({"path": "a.txt"})))
            .gate(ReplyPlace::Answer, "edited"),
        of("Make it two", says("Changed.")).expect_text("two"),
        says("Done.").expect_text("(changed: a.txt)"),
    ]);
    bench.file("a.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("edited").await;
    assert!(bench.session.hunks().is_empty(), "nothing of it waits before it is done");
    bench.model.open_gate("edited");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let hunks = bench.session.hunks();
    assert_eq!(hunks.len(), 1);
    assert_eq!((&*hunks[0].old, &*hunks[0].new), ("one\n", "two\n"));
    let messages = bench.session.messages();
    let call = messages.iter().flat_map(|message| &message.content).find_map(|block| match block {
        ropewalk_model::Block::ToolUse { id, .. } => Some(id.clone()),
        _ => None,
    });
    let makers = hunks[0].makers.iter().filter_map(|maker| maker.call());
    assert_eq!(makers.map(|call| call.to_string()).collect::<Vec<_>>(), [call.unwrap()]);
    assert_eq!(bench.disk("a.txt"), "one\n");
    let export = sessions(&bench.dies().await).export("s").unwrap();
    assert!(export.contains("<details>") && export.contains("Make it two"), "{export}");
}

#[tokio::test]
async fn in_mode_auto_it_reaches_the_user_when_it_comes_back() {
    let auto = |settings: &mut Settings| settings.mode = Mode::Auto;
    let replies = [
        tasks(&[("code", "change a", "Make it two")]),
        of("Make it two", edits("one", "two")),
        of("Make it two", says("Changed.")).gate(ReplyPlace::Answer, "edited"),
        says("Done."),
    ];
    let mut bench = start_with(replies, auto);
    bench.file("a.txt", "one\n");
    let uri = bench.open("a.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("edited").await;
    assert_eq!(bench.buffer(&uri), "one\n");
    bench.model.open_gate("edited");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    assert_eq!(bench.buffer(&uri), "two\n");
}

#[tokio::test]
async fn four_are_at_work_at_once_and_results_stand_in_the_order_of_the_calls() {
    let names = ["one", "two", "three", "four", "five"];
    let prompts = names.map(|name| format!("Look into number {name}"));
    let all: Vec<_> =
        prompts.iter().zip(names).map(|(prompt, name)| ("explore", name, &**prompt)).collect();
    let own = prompts.iter().zip(names).map(|(prompt, name)| {
        of(prompt, says(&format!("About {name}."))).gate(ReplyPlace::Answer, name)
    });
    let replies = [tasks(&all)].into_iter().chain(own).chain([says("Done.")]);
    let mut bench = start(replies);
    bench.session.prompt(Prompt::new("go"));
    // Which four have a place depends on who comes first.
    let mut first: Vec<&str> = Vec::new();
    {
        let wait = async |name| {
            bench.model.wait_until_reached(name).await;
            name
        };
        let mut all: FuturesUnordered<_> = names.iter().map(|name| wait(*name)).collect();
        while first.len() < 4 {
            first.extend(all.next().await);
        }
    }
    assert_eq!(bench.model.recorded().len(), 5, "the fifth waits for a place");
    let fifth = names.into_iter().find(|name| !first.contains(name)).unwrap();
    first.sort_by_key(|name| names.iter().position(|one| one == name));
    while first.len() > 1 {
        bench.model.open_gate(first.pop().unwrap());
    }
    bench.model.wait_until_reached(fifth).await;
    bench.model.open_gate(fifth);
    bench.model.open_gate(first[0]);
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let told = told(&bench);
    for (name, told) in names.iter().zip(&told) {
        assert!(told.starts_with(&format!("About {name}.")), "{told}");
    }
    assert_eq!(told.len(), names.len());
}

#[tokio::test]
async fn two_in_one_line_while_the_user_types_are_a_conflict_that_is_told() {
    let mut bench = start([
        tasks(&[("code", "first", "Make it A"), ("code", "second", "Make it B")]),
        of("Make it A", edits("one", "A")),
        of("Make it A", says("A done.")).gate(ReplyPlace::Answer, "a"),
        of("Make it B", edits("one", "B")),
        of("Make it B", says("B done.")).gate(ReplyPlace::Answer, "b"),
        says("Well."),
    ]);
    bench.file("a.txt", "one\ntwo\nthree\n");
    let uri = bench.open("a.txt", "one\ntwo\nthree\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("a").await;
    bench.model.wait_until_reached("b").await;
    bench.types(&uri, "one\ntwo\n3\n");
    bench.model.open_gate("b");
    bench.model.open_gate("a");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let told = told(&bench);
    assert!(told[0].contains("A done.") && told[0].contains("(changed: a.txt)"), "{told:#?}");
    assert!(told[1].contains("B done.") && told[1].contains("The same text in a.txt"), "{told:#?}");
    assert!(!told[1].contains("changed: a.txt"), "{told:#?}");
    let hunks = bench.session.hunks();
    assert_eq!(hunks.iter().map(|hunk| &*hunk.new).collect::<Vec<_>>(), ["A\n"]);
    assert_eq!(bench.buffer(&uri), "one\ntwo\n3\n");
    let conflicts = bench.seen.iter().filter_map(|event| match event {
        Event::Thread { state: ThreadState::Ended, conflicts, .. } => Some(conflicts.clone()),
        _ => None,
    });
    assert_eq!(conflicts.collect::<Vec<_>>(), [vec![], vec!["a.txt".to_owned()]]);
}

#[tokio::test]
async fn two_ask_side_by_side_by_their_names_and_one_is_refused() {
    let mut bench = start([
        tasks(&[("code", "say one", "Echo one"), ("code", "say two", "Echo two")]),
        of("Echo one", bash("echo 1-ran")),
        of("Echo one", says("One said.")).expect_text("The user refused this call: not now"),
        of("Echo two", bash("echo 2-ran")),
        of("Echo two", says("Two said.")).expect_text("2-ran"),
        says("Done."),
    ]);
    bench.session.prompt(Prompt::new("go"));
    bench.approval().await;
    bench.approval().await;
    let waiting = bench.session.waiting_approvals();
    for asked in &waiting {
        let is_first = asked.detail == "echo 1-ran";
        let name = if is_first { "code, say one" } else { "code, say two" };
        assert_eq!(asked.agent.as_deref(), Some(name));
        let refuses = Verdict::Refuse(Some("not now".to_owned()));
        bench.approve(asked.id, if is_first { refuses } else { Verdict::Once });
    }
    assert_eq!(waiting.len(), 2);
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn what_explore_writes_by_a_command_is_nowhere() {
    for mode in [Mode::Review, Mode::Auto] {
        let replies = [
            tasks(&[("explore", "look", "Look around")]),
            of("Look around", bash("echo x > made.txt; cat made.txt")),
            of("Look around", bash("ls made.txt")).expect_text("What it wrote is dropped"),
            of("Look around", says("Seen.")).expect_text("No such file"),
            bash("ls made.txt").expect_text("Seen."),
            says("Done.").expect_text("No such file"),
        ];
        let mut bench = start_on_a_copy(replies, |settings| settings.mode = mode);
        assert_eq!(bench.run("go").await, StopReason::EndTurn);
        assert!(bench.session.hunks().is_empty() && !bench.path("made.txt").exists());
        let own = bench.model.recorded()[1].said["system"].to_string();
        assert!(own.contains("What your commands write is dropped"), "{own}");
    }
}

#[tokio::test]
async fn explore_sees_one_frozen_view() {
    let mut bench = start([
        tasks(&[("explore", "look", "Look twice")]),
        of("Look twice", calls("read_file", json!({"path": "a.txt"}))),
        of("Look twice", calls("read_file", json!({"path": "a.txt"})))
            .gate(ReplyPlace::Answer, "once"),
        of("Look twice", says("Seen.")).expect_text("one").expect_no_text("typed"),
        says("Done."),
    ]);
    bench.file("a.txt", "one\n");
    let uri = bench.open("a.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("once").await;
    bench.types(&uri, "typed\n");
    bench.model.open_gate("once");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
}

#[tokio::test]
async fn switched_off_nothing_speaks_of_it() {
    let off = |settings: &mut Settings| settings.mechanisms.subagents = false;
    let mut bench = start_with(
        [tasks(&[("explore", "a", "b")]), says("Well.").expect_text("Unknown tool: task")],
        off,
    );
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    let raw = &bench.model.recorded()[0].raw;
    assert!(!raw.contains("subagent") && !raw.contains("\"task\""), "{raw}");
}

#[tokio::test]
async fn work_in_a_file_that_can_t_be_read_any_more_is_told_as_lost() {
    let edit_b = json!({"path": "b.txt", "old_text": "one", "new_text": "two"});
    let mut bench = start([
        tasks(&[("code", "change both", "Make it two")]),
        of("Make it two", edits("one", "two")),
        of("Make it two", calls("edit_file", edit_b)),
        of("Make it two", calls("read_file", json!({"path": "a.txt"})))
            .gate(ReplyPlace::Answer, "edited"),
        of("Make it two", says("I edited both.")).expect_text("what you had changed there is lost"),
        says("Well."),
    ]);
    bench.file("a.txt", "one\n").file("b.txt", "one\n");
    bench.session.prompt(Prompt::new("go"));
    bench.model.wait_until_reached("edited").await;
    let file = std::fs::OpenOptions::new().write(true).open(bench.path("b.txt")).unwrap();
    file.set_len(300 << 20).unwrap();
    bench.model.open_gate("edited");
    assert_eq!(bench.end().await.1, StopReason::EndTurn);
    let told = told(&bench);
    assert!(told[0].contains("b.txt has 314572800 bytes"), "{told:#?}");
    assert!(told[0].contains("what it had changed there is lost"), "{told:#?}");
    assert!(told[0].contains("(changed: a.txt)"), "{told:#?}");
}
