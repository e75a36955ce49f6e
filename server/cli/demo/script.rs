//! Script of the demo's model: its words, and the words that it must have been told before.

use super::home::FILE;
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

pub(super) const PROMPT: &str = "Give both functions a docstring.";
pub(super) const REASON: &str = "leave() will be deleted";

/// The scout's task, by which its requests are known.
const LOOK: &str = "Find who calls greet() and leave().";

/// The gate before the first edit: the user types there.
pub(super) const TYPING: &str = "typing";

/// All replies, in order.
pub(super) fn script() -> Vec<ScriptedReply> {
    [looking().to_vec(), summing_up().to_vec(), editing().to_vec()].concat()
}

/// A plan, and a subagent that looks around.
fn looking() -> [ScriptedReply; 4] {
    let task = json!({ "agent_type": "explore", "description": "find callers", "prompt": LOOK });
    let of_scout = |reply: ScriptedReply| reply.when(LOOK).conversation("scout");
    [
        ScriptedReply::new()
            .expect_text(PROMPT)
            .text("First a plan, and a look around by a subagent.")
            .call("todo_write", plan("in_progress", "pending"))
            .call("task", task),
        of_scout(ScriptedReply::new().call("grep", json!({ "pattern": "greet|leave" }))),
        of_scout(ScriptedReply::new().expect_text("def leave").text("Nobody calls them yet.")),
        ScriptedReply::new()
            .expect_text("Nobody calls them yet.")
            .call("load_skill", json!({ "name": "docstrings" }))
            .call("read_file", json!({ "path": FILE }))
            .call("compact", json!({ "focus": "the docstrings" })),
    ]
}

/// The model has its conversation summed up before it goes on.
fn summing_up() -> [ScriptedReply; 1] {
    [ScriptedReply::new()
        .conversation("summary")
        .expect_text("<compaction>")
        .text("**Goal**: docstrings.\n**Done**: nobody calls them.\n**Next**: the edits.")]
}

/// An edit that forgets a function, what the check finds, and what comes after the review.
fn editing() -> [ScriptedReply; 5] {
    let after = || ScriptedReply::new().conversation("after");
    [
        after()
            .expect(is_summed_up)
            .expect_text("not saved yet")
            .expect_text("in one short line")
            .gate(ReplyPlace::Answer, TYPING)
            .call("edit_file", docstring("def greet(name):", "Say hello."))
            .call("todo_write", plan("completed", "completed")),
        after().text("Both functions have a docstring now."),
        after()
            .expect_text("leave() has no docstring")
            .call("edit_file", docstring("def leave(name):", "Say goodbye.")),
        after().text("I had forgotten leave(). Please review."),
        after()
            .expect_text(REASON)
            .text("Then leave() stays as it is; greet() keeps its docstring."),
    ]
}

/// Checks that a request begins with the summary.
fn is_summed_up(said: &Value) -> Result<(), String> {
    let first = said.pointer("/messages/0/content").map(Value::to_string).unwrap_or_default();
    match first.contains("[Conversation compressed.") {
        true => Ok(()),
        false => Err("the request does not begin with the summary".to_owned()),
    }
}

fn plan(look: &str, write: &str) -> Value {
    json!({ "todos": [
        { "content": "Look around", "status": look },
        { "content": "Write the docstrings", "status": write },
    ] })
}

fn docstring(head: &str, doc: &str) -> Value {
    let new = format!("{head}\n    \"\"\"{doc}\"\"\"\n");
    json!({ "path": FILE, "old_text": format!("{head}\n"), "new_text": new })
}
