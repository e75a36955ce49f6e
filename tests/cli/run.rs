//! `ropewalk run` on real files, against a scripted model over HTTP: what is done, shown and returned.

use crate::world::{KEY, World};
use ropewalk_model::{ModelStop, Protocol};
use ropewalk_protocol::Usage;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::{Value, json};

const GREET: &str = "def greet(name):\n    return f\"Hello, {name}\"\n";

fn reply() -> ScriptedReply {
    ScriptedReply::new()
}

fn world(replies: impl IntoIterator<Item = ScriptedReply>) -> (World, ScriptedModel) {
    let model = ScriptedModel::start_with_key(replies, KEY).unwrap();
    (World::with(&model), model)
}

fn events(json: &str) -> Vec<Value> {
    json.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The names of the tools in a request.
fn tools(request: &Value) -> Vec<String> {
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    request["tools"].as_array().unwrap().iter().map(name).collect()
}

fn editing_greet() -> [ScriptedReply; 3] {
    [
        reply().text("I look first.").call("read_file", json!({"path": "greet.py"})),
        reply().expect_text("return f\"Hello").call(
            "edit_file",
            json!({
                "path": "greet.py",
                "old_text": "def greet(name):\n",
                "new_text": "def greet(name):\n    \"\"\"Says hello.\"\"\"\n",
            }),
        ),
        reply().expect_text("Edited greet.py").text("Added a docstring."),
    ]
}

const GREET_EDITED: &str =
    "def greet(name):\n    \"\"\"Says hello.\"\"\"\n    return f\"Hello, {name}\"\n";

#[test]
fn creating_a_file_takes_one_call_and_four_messages() {
    let (world, model) = world([
        reply().call("write_file", json!({"path": "hello.py", "content": "print('hello')\n"})),
        reply().expect_text("Wrote 15 bytes to hello.py").text("Created hello.py."),
    ]);
    let ran = world.run(&["run", "--mode", "auto", "create hello.py"]).ended(0);
    assert_eq!(world.read("hello.py"), "print('hello')\n");
    assert!(ran.out.starts_with("> write_file: hello.py\n  Wrote 15 bytes to hello.py"), "{ran:?}");
    assert!(ran.out.ends_with("\nCreated hello.py.\n"), "{ran:?}");
    // The last request has three messages, and its answer is the fourth.
    let messages = model.requests().pop().unwrap()["messages"].clone();
    let roles: Vec<_> = messages.as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
}

#[test]
fn a_docstring_takes_three_steps() {
    let (world, model) = world(editing_greet());
    world.write("greet.py", GREET);
    let ran = world.run(&["run", "--mode", "auto", "Edit greet.py to add a docstring"]).ended(0);
    assert_eq!(world.read("greet.py"), GREET_EDITED);
    assert_eq!(model.requests().len(), 3);
    let calls: Vec<_> = ran.out.lines().filter(|line| line.starts_with('>')).collect();
    assert_eq!(calls, ["> read_file: greet.py", "> edit_file: greet.py"], "{ran:?}");
    assert!(ran.err.contains("Done · 300 tokens in, 30 out\n"), "{ran:?}");
}

#[test]
fn in_review_the_diff_is_printed_and_nothing_is_written() {
    let (world, _model) = world(editing_greet());
    world.write("greet.py", GREET);
    let ran = world.run(&["run", "Edit greet.py to add a docstring"]).ended(6);
    assert_eq!(world.read("greet.py"), GREET);
    let diff = ran.out.split_once("Added a docstring.\n").unwrap().1;
    assert!(diff.contains("greet.py"), "{diff}");
    let changed: Vec<_> = diff
        .lines()
        .filter(|line| line.starts_with(['+', '-']))
        .filter(|line| !line.starts_with("+++") && !line.starts_with("---"))
        .collect();
    assert_eq!(changed, ["+    \"\"\"Says hello.\"\"\""], "{diff}");
    assert!(!ran.out.contains('\u{1b}'), "no colours in a pipe: {ran:?}");
}

#[test]
fn the_printed_diff_can_be_applied() {
    let (world, _model) = world(editing_greet());
    world.write("greet.py", GREET);
    let ran = world.run(&["run", "Edit greet.py to add a docstring"]).ended(6);
    std::fs::write(world.home("all.txt"), &ran.out).unwrap();
    let applied = std::process::Command::new("git")
        .args(["apply", "--unsafe-paths", "-p1"])
        .arg(world.home("all.txt"))
        .current_dir(world.root())
        .output()
        .unwrap();
    assert!(applied.status.success(), "{applied:?}\n{}", ran.out);
    assert_eq!(world.read("greet.py"), GREET_EDITED);
}

#[test]
fn a_turn_whose_last_check_failed_ends_with_a_code_of_its_own() {
    let todos = json!([{"content": "Look", "status": "completed"}, {"content": "Write", "status": "in_progress"}]);
    let (world, _model) = world([
        reply().call("todo_write", json!({ "todos": todos })),
        reply().text("Done."),
        reply()
            .expect_text("These todos are open:\n- Write")
            .call("write_file", json!({"path": "a", "content": "a"})),
        reply().text("It is written."),
    ]);
    let ran = world.run(&["run", "write a"]).ended(8);
    assert!(ran.err.contains("Todos: 2/2 Write\n"), "{ran:?}");
    assert_eq!(ran.err.matches("1 step is not done.").count(), 2, "{ran:?}");
}

#[test]
fn in_plan_writes_are_refused_in_words() {
    let (world, _model) = world([
        reply().call("write_file", json!({"path": "a", "content": "a"})),
        reply().expect_text("Refused in plan mode").text("1. Write a."),
    ]);
    let ran = world.run(&["run", "--mode", "plan", "write a"]).ended(0);
    assert!(!world.root().join("a").exists());
    assert!(ran.out.ends_with("1. Write a.\n"), "{ran:?}");
}

#[test]
fn bash_alone_is_an_agent() {
    let command = "printf 'print(1)\\n' > hello.py && ls";
    let (world, model) = world([
        reply().call("bash", json!({"command": command})),
        reply().expect_text("hello.py").text("Created hello.py."),
    ]);
    let args = ["run", "-c", "tools=[\"bash\"]", "--allow", "bash(*)", "create hello.py"];
    let ran = world.run(&args).ended(0);
    assert_eq!(world.read("hello.py"), "print(1)\n");
    assert_eq!(tools(&model.requests()[0]), ["bash"]);
    assert!(ran.out.starts_with(&format!("> bash: {command}\n")), "{ran:?}");
}

#[test]
fn listing_files_needs_no_approval_by_the_file_tools() {
    let (world, _model) = world([
        reply().call("bash", json!({"command": "ls"})),
        reply().expect_text("--allow 'bash(ls").call("list_dir", json!({"path": "."})),
        reply().expect_text("a.txt").text("There is a.txt."),
    ]);
    world.write("a.txt", "alpha\n");
    let ran = world.run(&["run", "list the files here"]).ended(0);
    let hint = "not allowed without a terminal to ask in; run again with --allow 'bash(ls";
    assert!(ran.out.contains(hint), "{ran:?}");
}

#[test]
fn allow_rules_let_their_commands_run_and_no_others() {
    let (world, _model) = world([
        reply().call("bash", json!({"command": "ls"})).call("bash", json!({"command": "touch b"})),
        reply().expect_text("a.txt").expect_text("--allow 'bash(touch b").text("Done."),
    ]);
    world.write("a.txt", "");
    world.run(&["run", "--allow", "bash(ls*)", "list"]).ended(0);
    assert!(!world.root().join("b").exists());
}

#[test]
fn json_is_one_event_a_line() {
    let (world, _model) = world(editing_greet());
    world.write("greet.py", GREET);
    let ran = world.run(&["run", "--json", "add a docstring"]).ended(6);
    let events = events(&ran.out);
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["session_started", "turn_started"]);
    assert_eq!(kinds.last(), Some(&"turn_ended"));
    assert_eq!(events.last().unwrap()["stopReason"], "end_turn");
    let hunks = events.iter().rfind(|event| event["type"] == "hunks").unwrap();
    assert_eq!(hunks["hunks"][0]["file"], "greet.py");
    let said: String = events
        .iter()
        .filter(|event| event["type"] == "text_delta")
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    assert_eq!(said, "I look first.Added a docstring.");
}

#[test]
fn subagents_are_told_of_on_standard_error_and_in_json_by_their_ends() {
    let replies = || {
        let task =
            json!({"agent_type": "explore", "description": "find auth", "prompt": "Find auth"});
        let own = |reply: ScriptedReply| reply.when("Find auth").conversation("explore");
        [
            reply().call("task", task),
            own(reply().call("grep", json!({"pattern": "auth"}))),
            own(reply().text("It is nowhere.")),
            reply().text("Not found.").expect_text("It is nowhere."),
        ]
    };
    let (world, _model) = world(replies());
    let ran = world.run(&["run", "Where is auth?"]);
    assert!(ran.err.contains("ropewalk: explore: grep auth\n"), "{ran:?}");
    assert!(ran.out.contains("Not found.") && !ran.out.contains("grep"), "{ran:?}");
    let (world, _model) = self::world(replies());
    let ran = world.run(&["run", "--json", "Where is auth?"]);
    let of_thread: Vec<Value> =
        events(&ran.out).into_iter().filter(|event| event["thread"] == "1.1").collect();
    let states: Vec<&Value> = of_thread.iter().map(|event| &event["state"]).collect();
    assert_eq!(states, ["started", "ended"]);
}

#[test]
fn each_stop_reason_has_its_exit_code() {
    let look = || reply().call("read_file", json!({"path": "a"}));
    let half = || reply().text("Half").stop(ModelStop::MaxTokens);
    let cases: [(Vec<ScriptedReply>, i32, &str); 4] = [
        (vec![half(), half(), half(), half()], 3, "limit of output tokens"),
        (vec![look(), look(), look(), look()], 4, "Stopped after 4 steps"),
        (vec![reply().text("No.").stop(ModelStop::Refusal)], 5, "declined"),
        (vec![reply().text("Yes.")], 0, "tokens in"),
    ];
    for (replies, code, words) in cases {
        let (world, _model) = world(replies);
        world.write("a", "a\n");
        let ran = world.run(&["run", "-c", "limits.steps=4", "go"]).ended(code);
        assert!(ran.err.contains(words), "{ran:?}");
    }
}

#[test]
fn a_hostile_file_does_not_drive_the_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m";
    let (world, _model) = world([
        reply().call("read_file", json!({"path": "evil.txt"})),
        reply().text(format!("It says {evil}")).call(
            "edit_file",
            json!({
                "path": "evil.txt", "old_text": "x\n", "new_text": "y\n",
            }),
        ),
        reply().text("Done."),
    ]);
    world.write("evil.txt", &format!("{evil}\nx\n"));
    let ran = world.run(&["run", "read it"]).ended(6);
    // The diff is for `git apply`, byte for byte: this is no terminal.
    let (words, diff) = ran.out.split_once("\ndiff --git ").unwrap();
    assert!(diff.contains(&format!("\n {evil}\n-x\n+y\n")), "{diff:?}");
    for text in [words, &ran.err] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
    }
    assert!(ran.out.contains("␛[2J"), "{ran:?}");
}

#[test]
fn a_request_comes_from_standard_input_too() {
    for args in [&["run", "-"][..], &["run"][..]] {
        let (world, model) = world([reply().expect_text("grüß die Welt").text("Hallo.")]);
        let ran = world.run_with_input(args, "grüß die Welt\n".as_bytes()).ended(0);
        assert_eq!(ran.out, "Hallo.\n");
        model.finish().unwrap();
    }
}

#[test]
fn other_folders_can_be_named() {
    let (world, _model) = world([
        reply().call("read_file", json!({"path": "in.txt"})),
        reply().expect_text("inside").text("Read."),
    ]);
    world.write("deep/er/in.txt", "inside\n");
    world.run(&["run", "--root", "deep/er", "read"]).ended(0);
}

#[test]
fn no_empty_folders_are_left_in_the_state() {
    let (world, _model) = world([reply().text("Done.")]);
    world.run(&["run", "nothing"]).ended(0);
    let left = std::fs::read_dir(world.home("state/ropewalk/outputs")).unwrap().count();
    assert_eq!(left, 0);
}

/// Over each protocol: a request with two words in it, as it goes over the wire.
#[test]
fn what_is_sent_before_a_word_is_said_is_short_and_shorter_for_a_small_context() {
    for protocol in Protocol::ALL {
        for (context, most) in [("200000", 12 * 1024), ("16383", 4 * 1024)] {
            let model = ScriptedModel::start_over(*protocol, [reply().text("Hi.")]).unwrap();
            let world = World::new(&model.base_url());
            let flags = [
                format!("-cprovider.scripted.protocol={}", protocol.name()),
                format!("-cprovider.scripted.context={context}"),
                "-ccommands.over_fork=auto".to_owned(),
            ];
            let ran =
                world.run(&["run", "--json", &flags[0], &flags[1], &flags[2], "Say hi"]).ended(0);
            let told = ran.out.matches("16383 tokens of context").count();
            assert_eq!(told, usize::from(most == 4 * 1024), "{ran:?}");
            let sent = &model.recorded()[0];
            assert!(sent.raw.contains("Say hi"));
            assert!(sent.raw.len() <= most, "{} {context}: {}", protocol.name(), sent.raw.len());
            println!("{} {context}: {}", protocol.name(), sent.raw.len());
            assert!(!sent.raw.contains("editor"), "there is none: {}", sent.raw);
            let offered = tools(&sent.said);
            assert!(!offered.iter().any(|name| name == "diagnostics"), "{offered:?}");
            let lean = ["bash", "read_file", "write_file", "edit_file"];
            assert_eq!(offered == lean, most == 4 * 1024, "{offered:?}");
        }
    }
}

/// A dollar for a million tokens that are read, two for those written, a tenth for what a cache held.
#[test]
fn what_it_costs_is_in_the_events_and_in_words_and_a_budget_stops_it() {
    let price = "-cprovider.scripted.price=[1, 2, 0.1, 1]";
    let used = |input, cache_read| Usage { input, output: 1_000, cache_read, cache_write: 0 };
    let look = || reply().call("read_file", json!({"path": "a"}));
    let steps = || [look().usage(used(10_000, 0)), reply().text("Done.").usage(used(1_000, 9_000))];

    let (cached, _model) = world(steps());
    cached.write("a", "a\n");
    let ran = cached.run(&["run", "--json", price, "go"]).ended(0);
    let usage: Vec<Value> =
        events(&ran.out).into_iter().filter(|event| event["type"] == "usage").collect();
    let cost = |event: &Value, of: &str| (event[of]["cost"].as_f64().unwrap() * 1e4).round();
    // 10,000 at a dollar and 1,000 at two; then 1,000 at a dollar, 9,000 at a tenth and 1,000 at two.
    let costs: Vec<_> =
        usage.iter().map(|event| ["step", "inTurn", "total"].map(|of| cost(event, of))).collect();
    assert_eq!(costs, [[120.0, 120.0, 120.0], [39.0, 159.0, 159.0]], "{usage:#?}");
    assert_eq!(usage[1]["step"]["cacheHitPercent"], 90, "{usage:#?}");
    assert_eq!(usage[1]["inTurn"]["cacheHitPercent"], 45, "{usage:#?}");

    let (in_words, _model) = world(steps());
    in_words.write("a", "a\n");
    let ran = in_words.run(&["run", price, "go"]).ended(0);
    assert!(ran.err.contains("20k tokens in (45% from the cache), 2000 out, $0.0159"), "{ran:?}");

    let (over, _model) = world([look().usage(used(10_000, 0))]);
    over.write("a", "a\n");
    let ran = over.run(&["run", price, "-climits.turn_cents=1", "go"]).ended(7);
    let words = "this turn has used $0.0120, which is its budget (`limits.turn_cents`)";
    assert!(ran.err.contains(words), "{ran:?}");
}

#[test]
fn a_prompt_command_and_a_skill_of_the_users_work_here_too() {
    let (world, model) = world([
        reply().expect_text("Look at a against b c.").text("Reviewed."),
        reply().expect_text("<skill-loaded name=\"notes\">").text("Noted.").conversation("another"),
    ]);
    world.write(".claude/commands/review.md", "Look at $1 against $2.");
    let home = world.home("config/ropewalk/skills/notes");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("SKILL.md"), "---\ndescription: Takes notes\n---\nWrite them down.")
        .unwrap();
    std::fs::write(world.home("config/ropewalk/AGENTS.md"), "Be brief.").unwrap();
    world.run(&["run", "/review a 'b c'"]).ended(0);
    world.run(&["run", "/notes"]).ended(0);
    for request in model.requests() {
        let system = request["system"].to_string();
        assert!(
            system.contains("- notes: Takes notes") && system.contains("Be brief."),
            "{system}"
        );
        assert!(tools(&request).contains(&"load_skill".to_owned()));
        // Nobody answers for diagnostics here.
        assert!(!tools(&request).contains(&"diagnostics".to_owned()));
    }
}
