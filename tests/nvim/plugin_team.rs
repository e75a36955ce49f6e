//! A team in real Neovim: who works on what is on the screen, a teammate's conversation is read, a teammate is spoken to, stopped
//! and ended, and the list of changes says whose each one is. With `$ROPEWALK_PICTURES`, a folder, pictures are left there.

use crate::support::agent::Agent;
use crate::support::plugin::Bench;
use crate::support::stage::{edit, say};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

const GREET: &str = "def greet(name):\n    print(\"hello\", name)\n\n\ndef leave(name):\n    print(\"bye\", name)\n";

/// A reply to the teammate of this name.
fn of(name: &str, reply: ScriptedReply) -> ScriptedReply {
    reply.when(format!("You are '{name}'")).conversation(name.to_owned())
}

/// Two teammates with a task each, and a third that waits for both.
fn replies() -> Vec<ScriptedReply> {
    let task = |subject: &str, role: &str, blockers: Value| json!({ "subject": subject, "role": role, "blockedBy": blockers });
    let spawn = |name: &str, role: &str| json!({ "name": name, "role": role, "prompt": "Find work on the board." });
    let docstring =
        edit("greet.py", "greet(name):\n", "greet(name):\n    \"\"\"Say hello.\"\"\"\n");
    let done = json!({ "task_id": 1, "status": "completed", "note": "It is written." });
    vec![
        ScriptedReply::new()
            .call("task_create", task("A docstring for greet()", "writer", json!([])))
            .call("task_create", task("A test of leave()", "tester", json!([])))
            .call("task_create", task("A file with notes", "writer", json!([1, 2])))
            .call("spawn_teammate", spawn("alice", "writer"))
            .call("spawn_teammate", spawn("bob", "tester")),
        say("They find their work on the board."),
        of("alice", say("I look for a task.")),
        of("alice", docstring.expect_text("Task #1").gate(ReplyPlace::Answer, "alice")),
        of(
            "alice",
            ScriptedReply::new().call("task_update", done).expect_text("Be brief, please."),
        ),
        of("bob", say("I look for a task.")),
        of("bob", say("Never said.").expect_text("Task #2").gate(ReplyPlace::Answer, "bob")),
        of(
            "bob",
            say("Never said.").expect_text("Go on now.").gate(ReplyPlace::Answer, "bob again"),
        ),
    ]
}

/// A user's editor whose sessions may have a team.
fn bench(background: &str, replies: Vec<ScriptedReply>) -> Bench {
    let agent = Agent::new("review", replies);
    agent.reconfigure(|before| {
        format!("team.enabled = true\nallow = [\"spawn_teammate(*)\"]\n{before}parallel = 4\n")
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("greet.py"), GREET).unwrap();
    let bench = Bench::with(agent, folder, true);
    bench.nvim.command(&format!("set background={background} number signcolumn=yes"));
    bench.open("greet.py");
    bench
}

/// Puts the cursor of the team's window on the line of a member.
fn at(bench: &Bench, name: &str) {
    bench.nvim.feed(&format!("gg/{name}<CR>"));
}

/// Waits until the team's window, which may be lower than its text, has this line.
fn wait_for_board(bench: &Bench, line: &str) {
    let chunk = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr('^ropewalk://team$'), 0, -1, true)";
    bench.nvim.wait_for(line, |nvim| {
        let lines: Vec<String> = nvim.lua(chunk, json!([]));
        lines.iter().any(|one| one == line).then_some(())
    });
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn who_works_on_what_is_seen_and_each_teammate_is_spoken_to_stopped_and_ended() {
    let bench = bench("dark", replies());
    bench.run("Ropewalk team");
    bench.nvim.wait_for_screen("No team works here");
    bench.run("Ropewalk ask Three tasks for two, please");
    bench.agent.model.wait_until_reached_blocking("alice");
    bench.agent.model.wait_until_reached_blocking("bob");
    bench.wait_for_end(1);
    bench.run("Ropewalk team");
    bench.nvim.wait_for_screen("▸ alice  writer · #1 A docstring for greet()");
    bench.nvim.wait_for_screen("▸ bob    tester · #2 A test of leave()");
    bench.nvim.wait_for_screen("Tasks 0/3");
    bench.nvim.wait_for_screen("○ #3 A file with notes · waits for #1, #2");
    bench.nvim.picture("nvim-team-dark");

    // Spoken to: the words join her turn.
    at(&bench, "alice");
    bench.nvim.feed("<CR>");
    bench.nvim.wait_for_screen("alice · writer · #1 A docstring for greet()");
    bench.wait_for_transcript("I look for a task.");
    bench.nvim.feed("Be brief, please.");
    bench.nvim.picture("nvim-teammate-dark");
    bench.nvim.feed("<CR>");
    // The server has them before the turn goes on.
    bench.nvim.wait_for("the input to be empty", |_| (bench.input() == [""]).then_some(()));
    bench.wait_for_state("vim.tbl_count(vim.lsp.get_clients()[1].requests)", &json!(0));
    bench.agent.model.open_gate("alice");
    bench.wait_for_transcript("Be brief, please.");
    bench.wait_for_changes(1);
    bench.nvim.feed("<Esc>");

    // Stopped: bob's turn ends, his task goes back to the board, and he waits for words.
    bench.run("Ropewalk team bob");
    bench.nvim.wait_for_screen("bob · tester · #2 A test of leave()");
    bench.nvim.feed("<C-c>");
    bench.wait_for_transcript("── Stopped");
    bench.nvim.feed("Go on now.<CR>");
    bench.agent.model.wait_until_reached_blocking("bob again");
    bench.nvim.feed("<Esc>");

    // Ended: from the window, after a question.
    bench.run("Ropewalk team");
    at(&bench, "bob");
    bench.nvim.feed("x");
    bench.nvim.wait_for_screen("2: End it");
    bench.nvim.feed("2<CR>");
    bench.nvim.wait_for_screen("■ bob    tester · has ended");
    wait_for_board(&bench, "✓ #1 A docstring for greet() · alice");

    // The user's own conversation has nothing of theirs.
    bench.run("Ropewalk team lead");
    bench.wait_for_transcript("They find their work on the board.");
    assert!(!bench.transcript().join("\n").contains("I look for a task."));
    bench.nvim.feed("<Esc>");
    bench.run("Ropewalk list");
    bench.nvim.wait_for_screen("\"\"\"Say hello.\"\"\" · task #1, alice");
    bench.nvim.picture("nvim-team-list-dark");
    bench.agent.model.open_gate("bob");
    bench.agent.model.open_gate("bob again");
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_teammates_conversation_is_whole_after_the_server_was_away() {
    let task = json!({ "subject": "A docstring", "role": "writer" });
    let spawn = json!({ "name": "alice", "role": "writer", "prompt": "Find work on the board." });
    let done = json!({ "task_id": 1, "status": "completed", "note": "It was there." });
    let again = ScriptedReply::new().expect_text("still yours").gate(ReplyPlace::Answer, "again");
    let bench = bench(
        "light",
        vec![
            ScriptedReply::new().call("task_create", task).call("spawn_teammate", spawn),
            say("She is at it."),
            say("All is done.").expect_text("1 completed"),
            of("alice", say("I look for a task.")),
            of(
                "alice",
                say("Never said.").expect_text("Task #1").gate(ReplyPlace::Answer, "alice"),
            ),
            of("alice", again.call("task_update", done)),
        ],
    );
    bench.run("Ropewalk ask Let alice do it");
    bench.agent.model.wait_until_reached_blocking("alice");
    bench.wait_for_end(1);
    bench.run("Ropewalk restart");
    bench.run("Ropewalk continue");
    bench.agent.model.wait_until_reached_blocking("again");
    bench.wait_for_state(
        "vim.iter(require('ropewalk.hub').state.team):any(function(one) \
         return one.name == 'alice' and one.session ~= nil end)",
        &json!(true),
    );
    bench.run("Ropewalk team alice");
    bench.wait_for_transcript("I look for a task.");
    bench.nvim.picture("nvim-teammate-light");
    assert_eq!(bench.transcript().join("\n").matches("I look for a task.").count(), 1);
    bench.nvim.feed("<Esc>");
    bench.run("Ropewalk team lead");
    bench.agent.model.open_gate("alice");
    bench.agent.model.open_gate("again");
    bench.wait_for_transcript("All is done.");
    bench.end();
}
