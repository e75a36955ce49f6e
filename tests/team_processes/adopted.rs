//! A team whose lead is gone for good: another session adopts it, with its members, its tasks, its messages, and the changes that
//! wait.

use crate::crew::{Crew, hunks_of, kill};
use crate::story::{self, Step};
use serde_json::{Value, json};

const GATE: &str = "held";

#[test]
fn another_session_adopts_a_team_and_what_waits_comes_to_its_review() {
    let other = story::lead().conversation("the adopter's");
    let replies = [other, story::held("w1", Step::Write, GATE), story::workers()];
    let crew = Crew::new(2, replies);
    let first = crew.lead();
    let number = crew.board.add("Line 0", "", &[]);
    let later = crew.board.add("Line 1", "others", &[number]);
    let mut worker = crew.worker("w1", "");
    crew.stage.agent.model.wait_until_reached_blocking(GATE);
    first.kill_server();
    crew.stage.agent.model.open_gate(GATE);
    crew.board.wait_completed(number);

    let editor = crew.editor();
    editor.open(story::FILE);
    let adopt = |team: &str| editor.execute("ropewalk.team", json!({ "adopt": team }));
    let refused = adopt("crew").expect_err("nothing was asked");
    assert!(refused.message.contains("Ask for something first"), "{refused}");
    editor.prompt("Lead what is left.");
    editor.wait_for_turn_end();
    // A lead may only seem to be gone as long as its lease holds: here for a minute from now.
    let members = crew.board.ask(crew.board.team().members());
    let lead = members.iter().find(|member| member.name == "lead").unwrap();
    crew.board.ask(crew.board.team().rejoin("lead", lead.epoch, "killed"));
    let refused = adopt("crew").expect_err("its lead may live");
    assert!(refused.message.contains("at work already"), "{refused}");
    crew.board.end_lease("lead");
    assert!(adopt("ship").expect_err("no such team").message.contains("there are: crew"));
    adopt("crew").unwrap();

    crew.wait_taken();
    editor.wait_for("the hunks", |seen| (hunks_of(&seen.events()).len() == 2).then_some(()));
    let tasks = editor.execute("ropewalk.tasks", Value::Null).unwrap();
    let told: Vec<_> = tasks["tasks"].as_array().unwrap().iter().collect();
    let of = |at: usize| (told[at]["number"].clone(), told[at]["status"].clone());
    assert_eq!(of(0), (number.into(), "completed".into()), "{tasks}");
    assert_eq!(of(1), (later.into(), "pending".into()), "{tasks}");
    let roster = editor.execute("ropewalk.team", Value::Null).unwrap();
    assert_eq!(roster["team"], "crew");
    let members = roster["members"].as_array().unwrap().iter();
    let names: Vec<_> = members.map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["lead", "w1"], "{roster}");
    let inbox = editor.execute("ropewalk.inbox", Value::Null).unwrap();
    assert!(inbox.to_string().contains("Line 0 is written."), "{inbox}");
    let again = adopt("crew").expect_err("it leads one");
    assert!(again.message.contains("leads the team crew already"), "{again}");

    // The worker goes on with what the adopter's team has, and the review with what it brings.
    let mut other = crew.worker("w2", "others");
    crew.board.wait_completed(later);
    kill(&mut worker);
    kill(&mut other);
    crew.check(editor, 2);
}
