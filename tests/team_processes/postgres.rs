//! PostgreSQL ends at once and comes back while a worker is at a task: the worker and the lead go on, and the task is done
//! once.

use crate::crew::{Crew, kill};
use crate::story::{self, Step};
use crate::support::skip;
use crate::support::stage::until;
use ropewalk_testkit::postgres::Postgres;
use std::path::Path;

const GATE: &str = "held";

/// A cluster of this test's own; none where PostgreSQL can't be had.
fn cluster(name: &str) -> Option<Postgres> {
    let process = std::process::id();
    let folder = format!("{}/postgres-team-{name}-{process}", env!("CARGO_TARGET_TMPDIR"));
    match Postgres::start(Path::new(&folder), true) {
        Ok(cluster) => Some(cluster),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

/// The database ends while the worker waits for its model before this step, and comes back before the answer, or once the
/// model was told that there is no board.
fn restarted(before: Step, is_missed: bool) {
    let Some(cluster) = cluster(&format!("{before:?}-{is_missed}")) else { return };
    let url = cluster.database().unwrap();
    let crew = Crew::on(Some(url), 1, [story::held("w1", before, GATE), story::workers()]);
    if is_missed {
        // Past its lease it would ask its model for nothing before the board has answered.
        crew.stage.agent.reconfigure(|config| config.replace("lease = 8", "lease = 60"));
    }
    let editor = crew.lead();
    let number = crew.board.add("Line 0", "", &[]);
    let mut worker = crew.worker("w1", "");
    let model = &crew.stage.agent.model;
    model.wait_until_reached_blocking(GATE);
    cluster.kill().unwrap();
    if is_missed {
        model.open_gate(GATE);
        until("the model was told that there is no board", || {
            model.recorded().iter().any(|request| request.raw.contains("board can't be reached"))
        });
    }
    cluster.serve().unwrap();
    model.open_gate(GATE);
    crew.board.wait_reached();
    crew.board.wait_completed(number);
    let story = crew.board.story(number);
    assert_eq!(story[..3], ["created test", "claimed w1", "completed w1"], "{story:?}");
    kill(&mut worker);
    crew.check(editor, 1);
}

#[test]
fn a_database_that_restarts_in_the_midst_of_a_task_costs_nothing() {
    restarted(Step::Write, false);
}

#[test]
fn a_database_that_restarts_before_the_last_word_costs_nothing() {
    restarted(Step::Complete, false);
}

#[test]
fn a_database_that_is_away_for_some_steps_costs_only_time() {
    restarted(Step::Tell, true);
}
