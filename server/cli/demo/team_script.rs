//! Script of the model in the demo of a team: its words to the lead, to alice and bob beside it,
//! and to carol in a process of her own, who is killed before her first answer.

use super::home::FILE;
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

pub(super) const PROMPT: &str = "Create 3 tasks on the board, then spawn alice and bob.";

/// Settings of the demo: waits as short as they may be.
pub(super) const SETTINGS: &str = "\
team.enabled = true
team.lease = 8
team.poll = 1
allow = [\"spawn_teammate(*)\"]
";

/// The gate before the first edit: the user types there.
pub(super) const TYPING: &str = "typing";

/// The gate at which carol's task has begun. Nobody opens it.
pub(super) const BEGUN: &str = "begun";

/// The file that is made for the third task, and its text.
pub(super) const NOTES: (&str, &str) = ("NOTES.md", "`greet.py` says hello and goodbye.\n");

/// All replies.
pub(super) fn script() -> Vec<ScriptedReply> {
    let reply = ScriptedReply::new;
    let mut all = lead();
    all.push(of(
        "carol",
        reply().expect_text("Task #3").gate(ReplyPlace::Answer, BEGUN).text("Never."),
    ));
    let (notes, content) = NOTES;
    all.extend([
        of("alice", reply().text("I look for a task.")),
        of(
            "alice",
            reply()
                .expect_text("Task #1")
                .gate(ReplyPlace::Answer, TYPING)
                .call("edit_file", docstring("greet", "Say hello.")),
        ),
        of("alice", reply().call("task_update", done(1))),
        of(
            "alice",
            reply()
                .expect_text("Task #3")
                .expect_text("carol was not heard of")
                .call("write_file", json!({ "path": notes, "content": content })),
        ),
        of("alice", reply().call("task_update", done(3))),
        of("bob", reply().text("I look for a task.")),
        of("bob", reply().expect_text("Task #2").call("read_file", json!({ "path": FILE }))),
        of(
            "bob",
            reply().expect_text("Say hello.").call("edit_file", docstring("leave", "Say goodbye.")),
        ),
        of("bob", reply().call("task_update", done(2))),
    ]);
    all
}

fn lead() -> Vec<ScriptedReply> {
    let reply = ScriptedReply::new;
    let task = |subject: &str, role: &str, blocked_by: &[u64]| json!({ "subject": subject, "role": role, "blockedBy": blocked_by });
    let spawn = |name: &str, role: &str| json!({ "name": name, "role": role, "prompt": "Find work on the board." });
    vec![
        reply()
            .expect_text(PROMPT)
            .call("task_create", task("A docstring for greet()", "writer", &[]))
            .call("task_create", task("One like it for leave()", "tester", &[1]))
            .call("task_create", task("A file with notes", "writer", &[]))
            .call("spawn_teammate", spawn("alice", "writer"))
            .call("spawn_teammate", spawn("bob", "tester")),
        reply().expect_text("Spawned 'bob'").text("They find their work on the board."),
        reply().expect_text("3 completed").text("All are done. Please review."),
    ]
}

fn of(name: &str, reply: ScriptedReply) -> ScriptedReply {
    reply.when(format!("You are '{name}'")).conversation(name)
}

fn done(number: u64) -> Value {
    json!({ "task_id": number, "status": "completed", "note": "It is written." })
}

fn docstring(name: &str, doc: &str) -> Value {
    let head = format!("def {name}(name):\n");
    json!({ "path": FILE, "old_text": head, "new_text": format!("{head}    \"\"\"{doc}\"\"\"\n") })
}
