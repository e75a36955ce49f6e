//! Story of the scripted model with a task `Line K`: it reads the file, edits its line, writes a
//! file, tells the lead, and completes the task. Several workers do that at once, each in its own
//! conversation.

use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

/// The file that all change, and its lines.
pub(crate) const FILE: &str = "a.txt";

/// The text of the file with so many lines.
pub(crate) fn text(lines: usize) -> String {
    (0..lines).map(|line| format!("line {line}.\nbetween\n")).collect()
}

/// The same once all tasks are done.
pub(crate) fn done_text(lines: usize) -> String {
    (0..lines).map(|line| format!("LINE {line}.\nbetween\n")).collect()
}

/// The text of the new file of a task.
pub(crate) fn new_text(line: usize) -> String {
    format!("ünïcode {line} 🦀\n")
}

/// The steps of a task, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Read,
    Edit,
    Write,
    Tell,
    Complete,
}

const STEPS: [Step; 5] = [Step::Read, Step::Edit, Step::Write, Step::Tell, Step::Complete];

/// The reply of the lead, which has nothing to do itself.
pub(crate) fn lead() -> ScriptedReply {
    ScriptedReply::new().text("They find their work by themselves.")
}

/// Replies of all workers, whose names begin with `w`.
pub(crate) fn workers() -> ScriptedReply {
    ScriptedReply::from_fn(next).when("You are 'w").by_beginning().forever()
}

/// The same for one worker, which is held before this step.
pub(crate) fn held(name: &'static str, before: Step, gate: &'static str) -> ScriptedReply {
    let next = move |said: &Value| match step(said) {
        Some((now, ..)) if now == before => next(said).gate(ReplyPlace::Answer, gate),
        _ => next(said),
    };
    let begins = format!("You are '{name}'");
    ScriptedReply::from_fn(next).when(begins).by_beginning().forever()
}

fn next(said: &Value) -> ScriptedReply {
    let reply = ScriptedReply::new();
    if last_texts(said).any(|text| text.contains("board can't be reached")) {
        return reply.text("I wait for the board.");
    }
    let Some((step, task, line)) = step(said) else { return reply.text("I am done.") };
    match step {
        Step::Read => reply.call("read_file", json!({ "path": FILE })),
        Step::Edit => {
            let (old, new) = (format!("line {line}."), format!("LINE {line}."));
            reply.call("edit_file", json!({ "path": FILE, "old_text": old, "new_text": new }))
        }
        Step::Write => {
            let (path, content) = (format!("new/{line}.txt"), new_text(line));
            reply.call("write_file", json!({ "path": path, "content": content }))
        }
        Step::Tell => {
            let content = format!("Line {line} is written.");
            reply.call("send_message", json!({ "to": "lead", "content": content }))
        }
        Step::Complete => {
            let note = format!("LINE {line}.");
            let input = json!({ "task_id": task, "status": "completed", "note": note });
            reply.call("task_update", input)
        }
    }
}

/// The next step of the conversation's task, the task's number, and its line.
fn step(said: &Value) -> Option<(Step, i64, usize)> {
    let messages = said["messages"].as_array().unwrap();
    let blocks = || messages.iter().flat_map(|message| message["content"].as_array().unwrap());
    let of = |block: &Value| {
        let text = block["text"].as_str()?.rsplit_once("<auto-claimed>Task #")?.1;
        let (task, rest) = text.split_once(": Line ")?;
        let line = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        Some((task.parse().ok()?, line.parse().ok()?))
    };
    let (at, (task, line)) =
        blocks().enumerate().filter_map(|(at, block)| Some((at, of(block)?))).last()?;
    let results = blocks().skip(at).filter(|block| block["type"] == "tool_result").count();
    Some((*STEPS.get(results)?, task, line))
}

/// The texts of the last message.
fn last_texts(said: &Value) -> impl Iterator<Item = &str> {
    let last = said["messages"].as_array().unwrap().last().unwrap();
    last["content"].as_array().unwrap().iter().filter_map(|block| {
        let content = &block["content"];
        block["text"].as_str().or(content.as_str()).or(content[0]["text"].as_str())
    })
}
