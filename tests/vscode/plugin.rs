//! The packaged extension in real VS Code, with our server and a scripted model behind it: asking, review, chat, approvals. The
//! cases are in `tests/vscode/plugin`; keys and mouse there are the user's.

use crate::support::agent::Agent;
use crate::support::stage::{bash, edit, edit_input, read, say};
use crate::support::vscode_plugin::{recorded, run_plugin, run_plugin_with};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use ropewalk_testkit::planted;
use serde_json::json;

/// Runs a case in an empty folder with these replies, of which each is asked for.
fn run(case: &str, mode: &str, replies: impl IntoIterator<Item = ScriptedReply>) {
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new(mode, replies);
    run_plugin(case, workspace.path(), &agent);
    agent.model.finish().unwrap();
}

/// A call that puts a name into the greeting.
fn greeting() -> ScriptedReply {
    edit("greet.py", "print(\"hello\")", "print(f\"hello {name}\")")
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_selected_line_is_asked_about_and_the_change_is_accepted_by_keyboard() {
    run("first_edit", "review", [greeting(), say("It greets by name.")]);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn the_focus_moves_when_the_user_acts_and_keys_typed_meanwhile_are_where_they_are() {
    let both = edit("greet.py", "def greet(name):", "def greet(name: str):")
        .call("edit_file", edit_input("greet.py", "print(\"hello\")", "print(f\"hello {name}\")"));
    run("focus", "review", [both, say("It greets by name.")]);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn changes_of_every_kind_are_reviewed_by_keyboard_and_the_model_reads_why_not() {
    let new = json!({ "path": "new/test.py", "content": "import greet\n" });
    let changes = greeting()
        .call("edit_file", edit_input("other.py", "one", "ONE"))
        .call("edit_file", edit_input("other.py", "five", "FIVE\nsix"))
        .call("write_file", new)
        .call("delete_file", json!({ "path": "old.txt" }));
    let replies = [changes, say("Five changes."), say("I have read why.").expect_text("too loud")];
    run("review", "review", replies);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn the_chat_and_a_change_are_whole_in_every_theme_and_in_a_narrow_bar() {
    let todos = json!({ "todos": [
        { "content": "Greet by name", "status": "completed" },
        { "content": "Say so in the other file, far down in the tree", "status": "in_progress" },
    ] });
    let changes = greeting()
        .text("I look at **both** files, then change `greet.py`:\n\n- by name\n- in the other too\n")
        .call("edit_file", edit_input("a/long/way/down/other.py", "one", "ONE"))
        .call("todo_write", todos)
        .call("bash", json!({ "command": "printf '%s\\n' every-line-of-a-long-command has to be wrapped somewhere/in/a/narrow/bar && echo done" }));
    let replies = [
        changes,
        say("Both files greet by name.").expect_text("done"),
        say("The second step is yours."),
    ];
    run("looks", "review", replies);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn the_chat_takes_words_while_it_works_and_keeps_hostile_ones_in_their_place() {
    let hostile = "<script>hostile=1</script><img src=\"https://evil.example/a.png\" onerror=\"hostile=1\">\n\n\
        ![x](https://evil.example/b.png)\n\n<svg onload=hostile=1>\n\n[run](command:workbench.action.closeWindow)\n\n\
        ```\"><img src=https://evil.example/c.png>\n</code><script>hostile=1</script>\n```\n\nThat was all.";
    let code = "Briefly then.\n\n```python\ndef f(x):\n    return \"s\" + x  # why\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
    let first = say("The first words.\n\n").text("And more.").gate(ReplyPlace::Block(1), "words");
    let replies = [
        first.call("read_file", json!({ "path": "greet.py" })),
        say(code).expect_text("be brief"),
        say("This too."),
        say("Long…").text("!").gate(ReplyPlace::Block(1), "long"),
        say(hostile),
    ];
    run("chat", "review", replies);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn typing_goes_on_through_an_answer_a_question_and_an_accepted_change() {
    run("typing", "review", [bash("echo once"), greeting(), say("Done.")]);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_command_of_200_lines_is_asked_about_seen_and_answered_by_no_stray_key() {
    let lines: Vec<String> = (1..=200).map(|line| format!(": line {line}")).collect();
    let replies = [
        bash(&lines.join("\n")),
        bash("echo second").expect_text("too long"),
        bash("echo third"),
        say("Done."),
    ];
    run("approval", "review", replies);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn changes_in_odd_places_come_and_go_and_typing_into_one_keeps_the_text() {
    let edges = edit("a.txt", "one\n", "zero\none\n")
        .call("edit_file", edit_input("a.txt", "three", "THREE"))
        .call("edit_file", edit_input("closed.txt", "beta", "BETA"));
    let done = || say("Done.");
    let again = edit("b.txt", "second thoughts word", "SECOND THOUGHTS WORD");
    let replies = [
        edges,
        done(),
        edit("untitled:Untitled-1", "draft", "final"),
        done(),
        edit("b.txt", "second word", "SECOND WORD"),
        done(),
        read("b.txt").expect_text("propose it again"),
        again,
        done(),
    ];
    run("places", "review", replies);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn ten_thousand_pieces_and_a_megabyte_of_output_are_drawn_once_and_the_view_stays() {
    let words: Vec<String> = (0..10_000)
        .map(|at| format!("word {at} {}", if at % 40 == 39 { "\n\n" } else { "" }))
        .collect();
    let lines = "for i in $(seq 0 17999); do echo \"line $i ........................................\"; done";
    let workspace = tempfile::tempdir().unwrap();
    let much = say(&words.concat()).call("bash", json!({ "command": lines })).deltas_of(10);
    let agent = Agent::new("review", [much, say("That is all.")]);
    agent.allow("bash");
    run_plugin("much", workspace.path(), &agent);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn in_mode_auto_a_change_is_tinted_and_taken_back_and_lists_lead_to_modes_and_conversations() {
    run("auto", "auto", [greeting(), say("It greets by name.")]);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_reloaded_window_and_a_killed_server_leave_nothing_behind() {
    let amid = say("Amid the turn.").text("Not told.").gate(ReplyPlace::Block(1), "amid");
    run("reload", "review", [greeting(), say("It greets by name."), amid]);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn five_thousand_changes_one_in_a_fold_a_read_only_file_a_huge_one_and_hostile_lines() {
    let lines = |other: &str| -> String {
        let name = |at: usize| if at % 2 == 1 { other } else { "line" };
        (0..10_000).map(|at| format!("{} {at}\n", name(at))).collect()
    };
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join("many.txt"), lines("line")).unwrap();
    let hostile = "![x](https://evil.example/a.png) <img src=https://evil.example/b.png>\n```\n![y](https://evil.example/c.png)";
    let replies = [
        ScriptedReply::new()
            .call("write_file", json!({ "path": "many.txt", "content": lines("other") })),
        say("Many changes."),
        edit("folded.py", "return 2", "return two"),
        say("One in a fold."),
        edit("kept.txt", "as it is", "as it was"),
        say("One in a file that is read only."),
        edit("![x](evil).md", "calm", hostile),
        say("One that looks hostile."),
        say("About no file."),
    ];
    let agent = Agent::new("review", replies);
    run_plugin("limits", workspace.path(), &agent);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn from_an_empty_home_the_readme_leads_to_the_first_accepted_edit() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new("review", [greeting(), say("It greets by name.")]);
    configure_without_key(&agent, &agent.model.base_url());
    run_plugin_with("first_day", workspace.path(), &agent, &["--inside", &recorded(&agent)]);
    let headers = &agent.model.recorded()[0].headers;
    assert_eq!(headers.get("x-api-key").map(String::as_str), Some(planted::OTHER_KEY));
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn without_a_key_the_end_of_the_turn_says_how_to_set_one() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new("review", []);
    // One that is on this machine needs none.
    configure_without_key(&agent, "https://model.invalid");
    run_plugin("no_key", workspace.path(), &agent);
}

/// Lets the model at an address need a key that is in no variable.
fn configure_without_key(agent: &Agent, address: &str) {
    agent.configure(&format!(
        "model = \"scripted/scripted\"\n[provider.scripted]\nprotocol = \"anthropic\"\n\
         base_url = \"{address}\"\napi_key_env = \"MISTRAL_API_KEY\"\n",
    ));
}

/// A reply to the teammate of this name.
fn of(name: &str, reply: ScriptedReply) -> ScriptedReply {
    reply.when(format!("You are '{name}'")).conversation(name.to_owned())
}

/// A user's agent whose sessions may have a team.
fn leading(replies: Vec<ScriptedReply>) -> Agent {
    let agent = Agent::new("review", replies);
    agent.reconfigure(|before| {
        format!("team.enabled = true\nallow = [\"spawn_teammate(*)\"]\n{before}parallel = 4\n")
    });
    agent
}

/// A team at work: alice on the first task and then, stopped once, on the third; bob on the second until he is ended.
fn team() -> Vec<ScriptedReply> {
    let task = |subject: &str, role: &str| json!({ "subject": subject, "role": role });
    let spawn = |name: &str, role: &str| json!({ "name": name, "role": role, "prompt": "Find work on the board." });
    let done = |number: u64| {
        let input = json!({ "task_id": number, "status": "completed", "note": "It is written." });
        ScriptedReply::new().call("task_update", input)
    };
    let docstring =
        edit("greet.py", "greet(name):\n", "greet(name):\n    \"\"\"Say hello.\"\"\"\n");
    let notes = json!({ "path": "NOTES.md", "content": "`greet.py` says hello and goodbye.\n" });
    let bye = edit("greet.py", "leave(name):\n", "leave(name):\n    \"\"\"Say bye.\"\"\"\n");
    vec![
        ScriptedReply::new()
            .call("task_create", task("A docstring for greet()", "writer"))
            .call("task_create", task("A docstring for leave(), and a test of it", "tester"))
            .call("task_create", task("A file with notes", "writer"))
            .call("spawn_teammate", spawn("alice", "writer"))
            .call("spawn_teammate", spawn("bob", "tester")),
        say("They find their work on the board."),
        of("alice", say("I look for a task.")),
        of("alice", docstring.expect_text("Task #1").gate(ReplyPlace::Answer, "alice")),
        of("alice", done(1).expect_text("Be brief, please.")),
        of("alice", say("Never said.").expect_text("Task #3").gate(ReplyPlace::Answer, "notes")),
        of("alice", say("Gladly.").expect_text("Go on now.")),
        of("alice", ScriptedReply::new().call("write_file", notes)),
        of("alice", done(3)),
        of("bob", say("I look for a task.")),
        of("bob", bye.expect_text("Task #2").gate(ReplyPlace::Answer, "bob")),
    ]
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_team_is_seen_at_work_each_is_read_spoken_to_stopped_and_ended_and_changes_say_whose_they_are()
{
    let workspace = tempfile::tempdir().unwrap();
    let agent = leading(team());
    let options = ["--server", &recorded(&agent), "--dialogs"];
    run_plugin_with("team", workspace.path(), &agent, &options);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_teammates_conversation_is_whole_after_the_window_was_reloaded_and_what_it_asks_is_seen_everywhere()
 {
    let task = json!({ "subject": "A docstring", "role": "writer" });
    let spawn = json!({ "name": "alice", "role": "writer", "prompt": "Find work on the board." });
    let done = json!({ "task_id": 1, "status": "completed", "note": "It was there." });
    let workspace = tempfile::tempdir().unwrap();
    let agent = leading(vec![
        ScriptedReply::new().call("task_create", task).call("spawn_teammate", spawn),
        say("She is at it."),
        say("All is done.").expect_text("1 completed"),
        of("alice", say("I look for a task.")),
        of("alice", say("Never said.").expect_text("Task #1").gate(ReplyPlace::Answer, "alice")),
        of(
            "alice",
            bash("touch asked").expect_text("still yours").gate(ReplyPlace::Answer, "again"),
        ),
        of("alice", ScriptedReply::new().call("task_update", done)),
    ]);
    run_plugin("team_again", workspace.path(), &agent);
    agent.model.finish().unwrap();
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn without_a_server_every_command_says_what_mends_it() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new("review", []);
    run_plugin_with("no_server", workspace.path(), &agent, &["--server", "/nowhere/ropewalk"]);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_folder_that_is_not_trusted_starts_nothing_until_it_is() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new("review", []);
    let options = ["--server", &recorded(&agent), "--untrusted"];
    run_plugin_with("untrusted", workspace.path(), &agent, &options);
}

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn a_key_that_is_set_by_hand_reaches_the_model_and_no_keys_clash() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new("review", [say("I have the key.")]);
    configure_without_key(&agent, &agent.model.base_url());
    run_plugin("key", workspace.path(), &agent);
    let headers = &agent.model.recorded()[0].headers;
    assert_eq!(headers.get("x-api-key").map(String::as_str), Some(planted::OTHER_KEY));
    agent.model.finish().unwrap();
}

#[cfg(unix)]
#[test]
#[ignore = "needs VS Code; run tests/run"]
fn another_version_and_a_model_that_is_away_are_told_in_words() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = tempfile::tempdir().unwrap();
    let agent = Agent::new("review", []);
    agent.configure(
        "model = \"away/model\"\nlimits.retry_seconds = 1\n[provider.away]\nprotocol = \"anthropic\"\n\
         base_url = \"http://127.0.0.1:9\"\napi_key_env = \"ANTHROPIC_API_KEY\"\n",
    );
    let old = agent.folder("old-ropewalk");
    let program = recorded(&agent);
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'ropewalk 0.0.9' && exit\nexec '{program}' \"$@\"\n"
    );
    std::fs::write(&old, script).unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    let options = ["--server", &old.display().to_string()];
    run_plugin_with("model_away", workspace.path(), &agent, &options);
}
