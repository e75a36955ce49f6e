//! Story of the demo, the same in every editor: text typed and not saved, a request, typing while
//! the agent edits, and a review. Each step is checked before it is told.

use super::desk::DemoDesk;
use super::home::{DemoHome, ON_DISK};
use super::page::DemoPage;
use super::script::{PROMPT, REASON, TYPING};
use anyhow::ensure;
use ropewalk_testkit::model::ScriptedModel;
use serde_json::{Value, json};

const UNSAVED: &str = "# Small talk, not saved yet.";
const TYPED: &str = "import sys";

/// Plays it at a desk and tells it on the page, up to the first thing that is not as it should be.
pub(super) fn play(
    page: &mut DemoPage,
    home: &DemoHome,
    model: &ScriptedModel,
    desk: &mut impl DemoDesk,
) -> anyhow::Result<()> {
    page.title("Ropewalk demo");
    page.words("The model is scripted: no key and no network are needed. All else is real: the");
    page.words(&format!("server in its own process, HTTP to the model, {}.", desk.name()));

    desk.type_line(UNSAVED)?;
    page.title("greet.py in the editor; its first line is not saved");
    page.code(&desk.text()?);

    desk.execute("ropewalk.prompt", json!({ "prompt": PROMPT }))?;
    model.wait_until_reached_blocking(TYPING);
    desk.type_line(TYPED)?;
    // Once a command is answered, the keys before it have arrived.
    desk.execute("ropewalk.mode", Value::Null)?;
    model.open_gate(TYPING);
    let end = wait_for_turn_end(desk, 1)?;
    ensure!(end == "end_turn", "the first turn ended with {end}");
    let events = desk.events();
    page.title("The conversation");
    page.conversation(&events);
    mechanisms(&events)?;
    let hunks = hunks_of(&events);
    let [greet, leave] = hunks.as_slice() else {
        anyhow::bail!("two changes should wait for review, not {}", hunks.len());
    };
    let expected = format!("{TYPED}\n{UNSAVED}\n{ON_DISK}");
    ensure!(desk.text()? == expected, "the text changed before anything was accepted");
    page.checked("Meanwhile \"import sys\" was typed, key by key: it is there, nothing was lost.");

    page.title("The net change, waiting for review");
    page.diff(greet);
    page.diff(leave);
    desk.wait_for_marks(&[greet, leave])?;
    page.checked("the editor marks both, as diagnostics");

    page.title("The review");
    let event = one_review(desk, "ropewalk.accept", &json!({ "hunk": greet["id"] }))?;
    ensure!(one_done(&event), "the accept failed: {event}");
    let accepted =
        expected.replace("def greet(name):\n", "def greet(name):\n    \"\"\"Say hello.\"\"\"\n");
    ensure!(desk.text()? == accepted, "the accepted change is not in the text");
    page.checked("accepted: the docstring of greet() is in the editor");
    let refusal = json!({ "hunk": leave["id"], "reason": REASON });
    let event = one_review(desk, "ropewalk.reject", &refusal)?;
    ensure!(one_done(&event), "the reject failed: {event}");
    ensure!(desk.text()? == accepted, "the rejected change is in the text");
    desk.wait_for_marks(&[])?;
    page.checked(&format!("rejected: that of leave(), because \"{REASON}\""));

    let before = desk.events().len();
    desk.execute("ropewalk.prompt", json!({ "prompt": "Go on." }))?;
    let end = wait_for_turn_end(desk, 2)?;
    ensure!(end == "end_turn", "the model was not told the reason: {end}");
    page.conversation(desk.events().get(before..).unwrap_or_default());
    page.checked("the model was told the reason with this request");

    ensure!(home.on_disk()? == ON_DISK, "the file on the disk was touched");
    page.checked("the file on the disk is untouched until you save");
    let event = one_review(desk, "ropewalk.undo", &json!({ "all": true }))?;
    ensure!(one_done(&event), "the undo failed: {event}");
    ensure!(desk.text()? == expected, "the undo did not give the user's own text back");
    page.checked("undone: what is left is your own text, both lines that you typed in it");
    desk.save()?;
    ensure!(home.on_disk()? == expected, "the saved file is not the text of the editor");
    page.checked("saved: the disk has it now");
    Ok(())
}

/// Each of the mechanisms that the page tells of has done its work.
fn mechanisms(events: &[Value]) -> anyhow::Result<()> {
    let todos = of_type(events, "todos").next_back();
    ensure!(
        todos.is_some_and(|event| event["done"] == json!(2)),
        "the plan is not done: {todos:?}"
    );
    let ended = of_type(events, "thread").any(|event| event["state"] == "ended");
    ensure!(ended, "no subagent has looked around");
    ensure!(of_type(events, "compacted").count() == 1, "the conversation was not summed up");
    let passed: Vec<&Value> = of_type(events, "check").map(|event| &event["passed"]).collect();
    ensure!(passed == [&json!(false), &json!(true)], "the checks ended otherwise: {passed:?}");
    Ok(())
}

/// Waits for the end of a turn, counted from 1, and gives its stop reason with what is said of it.
pub(super) fn wait_for_turn_end(desk: &mut impl DemoDesk, turn: usize) -> anyhow::Result<String> {
    let end = desk.wait("the end of the turn", |events| {
        of_type(events, "turn_ended").nth(turn.saturating_sub(1)).cloned()
    })?;
    let text = |key: &str| end.get(key).and_then(Value::as_str);
    let words = text("message").map(|words| format!(": {words}")).unwrap_or_default();
    Ok(format!("{}{words}", text("stopReason").unwrap_or("no reason")))
}

/// Runs a command of review and gives the event that tells what became of it.
pub(super) fn one_review(
    desk: &mut impl DemoDesk,
    command: &str,
    argument: &Value,
) -> anyhow::Result<Value> {
    let before = of_type(&desk.events(), "reviewed").count();
    desk.execute(command, argument.clone())?;
    desk.wait("what became of it", |events| of_type(events, "reviewed").nth(before).cloned())
}

/// The events of one type.
pub(super) fn of_type<'a>(
    events: &'a [Value],
    name: &str,
) -> impl DoubleEndedIterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == name)
}

/// True if a review was of one hunk, and went well.
fn one_done(event: &Value) -> bool {
    event.get("done") == Some(&json!(1))
}

/// The pending hunks as they were told last.
pub(super) fn hunks_of(events: &[Value]) -> Vec<Value> {
    let last = of_type(events, "hunks").next_back();
    last.and_then(|event| event["hunks"].as_array()).cloned().unwrap_or_default()
}
