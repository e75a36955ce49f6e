//! Processes that open one board at once, and boards of later versions.

use crate::ground::Ground;
use crate::process::{Process, Role};

/// Number of processes that race.
const RACERS: usize = 8;

pub(crate) fn first_starts_at_once(ground: &Ground) {
    let names: Vec<String> = (0..RACERS).map(|number| format!("m{number}")).collect();
    let mut racers: Vec<Process> =
        names.iter().map(|name| Role::new(&ground.place, name).start()).collect();
    // All have started before the first is told to open.
    for line in ["open", "join", "create 10", "claim"] {
        for racer in &mut racers {
            racer.tell(line);
        }
        let mut answers: Vec<String> = racers.iter_mut().map(Process::answer).collect();
        answers.sort();
        let wanted: Vec<String> = match line {
            "open" => vec!["opened".to_owned(); RACERS],
            "join" => vec!["joined".to_owned(); RACERS],
            "claim" => (1..=RACERS).map(|number| format!("claimed {number} 1")).collect(),
            _ => (1..=RACERS).map(|number| format!("created {number}")).collect(),
        };
        assert_eq!(answers, wanted);
    }
    assert_eq!(ground.sql("select cast(count(*) as bigint) from _sqlx_migrations"), 1);
    assert_eq!(ground.sql("select cast(count(*) as bigint) from teams"), 1);
}

pub(crate) fn later_version(ground: &Ground) {
    let mut old = Role::new(&ground.place, "old").join();
    assert_eq!(old.ask("create 10"), "created 1");
    // A row that each engine takes: of a step this version has, under a number that it has not.
    let later = "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
        select 99, 'later', success, checksum, execution_time from _sqlx_migrations returning version";
    assert_eq!(ground.sql(later), 99);
    let mut new = Role::new(&ground.place, "new").start();
    let answer = new.ask("open");
    assert!(
        answer.starts_with("refused: The team's board was made by a later version of ropewalk"),
        "{answer}"
    );
    // A process that is at work goes on, and nothing was changed for it.
    assert_eq!(old.ask("claim"), "claimed 1 1");
    assert_eq!(old.ask("complete 1 1"), "completed");
    assert_eq!(ground.sql("select max(version) from _sqlx_migrations"), 99);
}
