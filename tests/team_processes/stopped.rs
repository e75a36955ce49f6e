//! A worker that stands still (SIGSTOP) past its lease and goes on (SIGCONT): the other's work counts, its own is not taken.

use crate::crew::{Crew, kill, signal};
use crate::story::{self, Step};

const GATE: &str = "stopped";

/// One worker is stopped before this step of the task, which another does meanwhile, after a real lease.
fn stands_still(before: Step) {
    let crew = Crew::new(1, [story::held("w1", before, GATE), story::workers()]);
    let editor = crew.lead();
    let number = crew.board.add("Line 0", "", &[]);
    let mut first = crew.worker("w1", "");
    crew.stage.agent.model.wait_until_reached_blocking(GATE);
    signal(&first, "STOP");
    let mut second = crew.worker("w2", "");
    crew.board.wait_completed(number);
    assert_eq!(crew.board.task(number).owner.as_deref(), Some("w2"));
    crew.wait_taken();
    // The answer for which it has waited comes with its waking.
    crew.stage.agent.model.open_gate(GATE);
    signal(&first, "CONT");
    // Its last deed is to find nothing: it is seen to be idle once its turn is over.
    crew.board.wait("the first to notice", |board| {
        let members = board.ask(board.team().members());
        let first = members.iter().find(|member| member.name == "w1").unwrap();
        first.is_alive && first.state == ropewalk_board::MemberState::Idle
    });
    let story = crew.board.story(number);
    let expected = ["created test", "claimed w1", "failed w1", "claimed w2"];
    assert_eq!(story[..4], expected, "{story:?}");
    let completed: Vec<_> = story.iter().filter(|line| line.starts_with("completed")).collect();
    assert_eq!(completed, ["completed w2"], "{story:?}");
    kill(&mut first);
    kill(&mut second);
    crew.check(editor, 1);
}

#[test]
fn a_worker_that_is_stopped_in_the_midst_of_a_task_does_not_go_on_with_it() {
    stands_still(Step::Write);
}

#[test]
fn a_worker_that_is_stopped_before_its_last_word_does_not_complete_anything() {
    stands_still(Step::Complete);
}

#[test]
fn a_worker_that_is_stopped_past_its_lease_goes_on_if_nobody_has_its_task() {
    let crew = Crew::new(1, [story::held("w1", Step::Write, GATE), story::workers()]);
    let editor = crew.lead();
    let number = crew.board.add("Line 0", "", &[]);
    let mut worker = crew.worker("w1", "");
    crew.stage.agent.model.wait_until_reached_blocking(GATE);
    signal(&worker, "STOP");
    crew.board.wait("its lease to end", |board| {
        let members = board.ask(board.team().members());
        members.iter().any(|member| member.name == "w1" && !member.is_alive)
    });
    crew.stage.agent.model.open_gate(GATE);
    signal(&worker, "CONT");
    crew.board.wait_completed(number);
    assert_eq!(crew.board.story(number)[..3], ["created test", "claimed w1", "completed w1"]);
    kill(&mut worker);
    crew.check(editor, 1);
}
