//! The packaged extension in real VS Code, with our server and a scripted model behind it: asking, review, chat, approvals. The
//! cases are in `tests/vscode/plugin`; keys and mouse there are the user's.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

#[cfg(test)]
mod support;

use ropewalk_testkit::model::{Place, ScriptedReply};
use serde_json::json;
use support::agent::Agent;
use support::plugin::run_plugin;
use support::stage::{bash, edit, edit_input, say};

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
fn the_chat_takes_words_while_it_works_and_keeps_hostile_ones_in_their_place() {
    let hostile = "<script>hostile=1</script><img src=\"https://evil.example/a.png\" onerror=\"hostile=1\">\n\n\
        ![x](https://evil.example/b.png)\n\n<svg onload=hostile=1>\n\n[run](command:workbench.action.closeWindow)\n\n\
        ```\"><img src=https://evil.example/c.png>\n</code><script>hostile=1</script>\n```\n\nThat was all.";
    let code = "Briefly then.\n\n```python\ndef f(x):\n    return \"s\" + x  # why\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
    let first = say("The first words.\n\n").text("And more.").gate(Place::Block(1), "words");
    let replies = [
        first.call("read_file", json!({ "path": "greet.py" })),
        say(code).expect_text("be brief"),
        say("This too."),
        say("Long…").text("!").gate(Place::Block(1), "long"),
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
fn a_long_command_is_asked_about_seen_and_answered_by_no_stray_key() {
    let lines: Vec<String> = (1..=200).map(|line| format!(": line {line}")).collect();
    let replies = [
        bash(&lines.join("\n")),
        bash("echo second").expect_text("too long"),
        bash("echo third"),
        say("Done."),
    ];
    run("approval", "review", replies);
}
