//! `ropewalk demo --team`: two teammates and a worker in a process of its own find their work on a board, while the user
//! types. The worker is killed, and another does its task. One review of all they have done. Each step is checked before it
//! is told.

use super::desk::{DemoDesk, FakeDesk};
use super::home::{DemoHome, ON_DISK};
use super::page::DemoPage;
use super::story::{hunks_of, of_type, one_review};
use super::team_script::{BEGUN, NOTES, PROMPT, TYPING};
use anyhow::{Context, ensure};
use ropewalk_testkit::model::ScriptedModel;
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};

const TYPED: &str = "import sys";

/// The tasks, and who does each in the end.
const DONE_BY: [(u64, &str); 3] = [(1, "alice"), (2, "bob"), (3, "alice")];

/// Plays it at a desk and tells it on the page, up to the first thing that is not as it should be.
pub(super) fn play(
    page: &mut DemoPage,
    home: &DemoHome,
    model: &ScriptedModel,
    desk: &mut FakeDesk,
) -> anyhow::Result<()> {
    page.title("Ropewalk demo: a team");
    page.words("The model is scripted: no key and no network are needed. All else is real: the");
    page.words(&format!("server in its own process, HTTP to the model, {}.", desk.name()));

    desk.execute("ropewalk.prompt", json!({ "prompt": PROMPT }))?;
    model.wait_until_reached_blocking(TYPING);
    desk.type_line(TYPED)?;
    // Once a command is answered, the keys before it have arrived.
    desk.execute("ropewalk.mode", Value::Null)?;
    work_and_be_killed(home, model, desk)?;
    model.open_gate(TYPING);
    let events = wait_for_the_end(desk)?;
    page.title("The lead's conversation");
    let own: Vec<Value> =
        events.iter().filter(|event| event["member"].is_null()).cloned().collect();
    page.conversation(&own);
    board(page, &events)?;
    let expected = format!("{TYPED}\n{ON_DISK}");
    ensure!(desk.text()? == expected, "the text changed before anything was accepted");
    page.checked("bob saw alice's docstring, although nothing was accepted yet");
    page.checked("carol, a process of her own, was killed at #3: alice did it then, once");
    page.checked("\"import sys\" was typed meanwhile, key by key: nothing was lost");
    review(page, home, desk)
}

/// A worker's process, which ends with this.
struct WorkerProcess(Child);

impl WorkerProcess {
    fn start(home: &DemoHome, name: &str, role: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(DemoHome::server()?);
        command.args(["worker", "--team", DemoHome::TEAM, "--name", name, "--role", role]);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(home.environment()).current_dir(home.workspace());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self(command.spawn().context("a worker can't be started")?))
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Carol joins, takes the task that nobody else is free for, and is killed at it.
fn work_and_be_killed(
    home: &DemoHome,
    model: &ScriptedModel,
    desk: &mut FakeDesk,
) -> anyhow::Result<()> {
    let carol = WorkerProcess::start(home, "carol", "writer")?;
    model.wait_until_reached_blocking(BEGUN);
    desk.wait("carol's task", |events| {
        let mut tasks = of_type(events, "board_task");
        tasks.any(|task| task["number"] == 3 && task["owner"] == "carol").then_some(())
    })?;
    drop(carol);
    Ok(())
}

/// Waits until all is done and the lead, whom the team wakes then, has said its word. Gives all events.
fn wait_for_the_end(desk: &mut FakeDesk) -> anyhow::Result<Vec<Value>> {
    desk.wait("all tasks to be completed", |events| {
        let done = of_type(events, "board_task").filter(|task| task["status"] == "completed");
        (done.count() >= DONE_BY.len() && hunks_of(events).len() == DONE_BY.len()).then_some(())
    })?;
    desk.wait("the lead's word on all that is done", |events| {
        let ends = of_type(events, "turn_ended").filter(|end| end["member"].is_null());
        (ends.count() >= 2).then_some(())
    })?;
    Ok(desk.events())
}

/// The board's story, which must be that each was done by the one who should, the killed worker's at the second attempt.
fn board(page: &mut DemoPage, events: &[Value]) -> anyhow::Result<()> {
    page.title("The board");
    for task in of_type(events, "board_task") {
        let owner = task["owner"].as_str().map(|owner| format!(" @{owner}")).unwrap_or_default();
        let text = |key: &str| task[key].as_str().unwrap_or_default();
        let (subject, status) = (text("subject"), text("status"));
        page.words(&format!("  #{} {subject}: {status}{owner}", task["number"]));
    }
    for (number, member) in DONE_BY {
        let last = of_type(events, "board_task").rfind(|task| task["number"] == number);
        let last = last.with_context(|| format!("nothing was told of task #{number}"))?;
        let attempt = if number == 3 { 2 } else { 1 };
        ensure!(
            last["owner"] == member && last["attempt"] == attempt,
            "task #{number} was done otherwise: {last}"
        );
    }
    Ok(())
}

/// All changes in one review, each with its maker.
fn review(page: &mut DemoPage, home: &DemoHome, desk: &mut FakeDesk) -> anyhow::Result<()> {
    page.title("One review of all");
    let hunks = hunks_of(&desk.events());
    for (number, member) in DONE_BY {
        let of_task = |hunk: &&Value| hunk.pointer("/members/0/task") == Some(&json!(number));
        let hunk = hunks.iter().find(of_task);
        let hunk = hunk.with_context(|| format!("there is no change for task #{number}"))?;
        page.diff(hunk);
        let maker = hunk.pointer("/members/0/member").and_then(Value::as_str);
        ensure!(maker == Some(member), "a change of {member}'s is said to be {maker:?}'s");
        page.words(&format!("    by {member}"));
    }
    let event = one_review(desk, "ropewalk.accept", &json!({ "all": true }))?;
    ensure!(event.get("done") == Some(&json!(DONE_BY.len())), "the accept failed: {event}");
    let text = desk.text()?;
    ensure!(
        text.contains("Say hello.") && text.contains("Say goodbye."),
        "not all is in the text: {text}"
    );
    let (notes, content) = NOTES;
    let written = std::fs::read_to_string(home.workspace().join(notes));
    ensure!(written.ok().as_deref() == Some(content), "{notes} was not written");
    page.checked("accepted: both docstrings are in the editor, and the notes on the disk");
    ensure!(home.on_disk()? == ON_DISK, "the file on the disk was touched");
    page.checked("the file that is open is untouched on the disk until you save");
    Ok(())
}
