//! The lead's server is killed (SIGKILL) while a worker goes on: what the worker has done waits, and is taken once by the
//! server that is started again and goes on with the session.

use crate::crew::{Crew, hunks_of, kill};
use crate::story::{self, Step};
use ropewalk_testkit::editor::FakeEditor;
use serde_json::{Value, json};

const GATE: &str = "held";

/// Another server in the place of one that is killed, with the session it had.
fn start_again(crew: &Crew, editor: FakeEditor) -> FakeEditor {
    editor.kill_server();
    let editor = crew.editor();
    editor.open(story::FILE);
    // It may be the current session already.
    let _ = editor.execute("ropewalk.resume", json!({}));
    editor
}

fn is_told(events: &[Value], status: &str) -> bool {
    events.iter().any(|event| event["type"] == "board_task" && event["status"] == status)
}

/// A moment of the lead's server.
type Moment = fn(&[Value]) -> bool;

/// Kills the server while the worker is at its task, or once it was seen to take the changes in.
fn killed_at(moment: Option<Moment>) {
    let crew = Crew::new(1, [story::held("w1", Step::Write, GATE), story::workers()]);
    let mut editor = crew.lead();
    let number = crew.board.add("Line 0", "", &[]);
    let mut worker = crew.worker("w1", "");
    let model = &crew.stage.agent.model;
    model.wait_until_reached_blocking(GATE);
    match moment {
        None => {
            let open = editor.kill_server();
            assert_eq!(open.len(), 1);
            model.open_gate(GATE);
            crew.board.wait_completed(number);
            let waiting = crew.board.ask(crew.board.team().waiting_bundles(9));
            assert_eq!(waiting.len(), 1, "{waiting:?}");
            editor = crew.editor();
            editor.open(story::FILE);
            let _ = editor.execute("ropewalk.resume", json!({}));
        }
        Some(moment) => {
            model.open_gate(GATE);
            editor.wait_for("the moment", |seen| moment(&seen.events()).then_some(()));
            editor = start_again(&crew, editor);
        }
    }
    crew.wait_taken();
    // Once more, now that nothing waits: what was taken is not offered again, and not lost.
    editor = start_again(&crew, editor);
    assert_eq!(crew.board.ask(crew.board.team().waiting_bundles(9)), []);
    assert_eq!(crew.board.task(number).attempt, 1);
    kill(&mut worker);
    crew.check(editor, 1);
}

#[test]
fn what_a_worker_has_done_meanwhile_is_taken_once() {
    killed_at(None);
}

#[test]
fn changes_that_were_shown_already_are_not_taken_twice() {
    killed_at(Some(|events| !hunks_of(events).is_empty()));
}

#[test]
fn a_server_that_is_killed_as_a_task_is_completed_takes_its_changes_once() {
    killed_at(Some(|events| is_told(events, "completed")));
}
