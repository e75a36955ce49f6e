//! Work that a run leaves to its team, and how it goes on.

use crate::plain::{plain_line, say};
use ropewalk_host::LeftWork;
use ropewalk_protocol::BoardTask;

/// Most tasks, and most plans, that are named.
const NAMED: usize = 5;

/// Says what is left, if anything is. `flags` find the session again, if it is kept.
pub(super) fn say_left(left: Option<LeftWork>, flags: Option<&str>) {
    if let Some(words) = left.and_then(|left| in_words(&left, flags)) {
        say(&words);
    }
}

fn in_words(left: &LeftWork, flags: Option<&str>) -> Option<String> {
    let LeftWork { team, tasks, plans } = left;
    let mut parts = Vec::new();
    if !plans.is_empty() {
        let count = match plans.len() {
            1 => "1 plan of the team was not answered".to_owned(),
            several => format!("{several} plans of the team were not answered"),
        };
        parts.push(list(&count, plans.iter().map(plan).collect(), ""));
    }
    if !tasks.is_empty() {
        let count = match tasks.len() {
            1 => "1 task of the team is left".to_owned(),
            several => format!("{several} tasks of the team are left"),
        };
        parts.push(list(&count, tasks.iter().map(line).collect(), " (`ropewalk team tasks`)"));
    }
    let again = flags.map(|flags| if flags.is_empty() { " --continue" } else { flags });
    let again = again.map(|again| format!("`ropewalk run{again} \"do what is left\"`"));
    let worker = format!("`ropewalk worker --team {}`", plain_line(team));
    let worker = (!tasks.is_empty()).then_some(worker);
    if parts.is_empty() {
        return None;
    }
    let ways: Vec<String> = again.into_iter().chain(worker).collect();
    if !ways.is_empty() {
        parts.push(format!("Next: {}.", ways.join(", or ")));
    }
    Some(parts.join("\n"))
}

/// The first of these lines below what they are. `place` has the rest.
fn list(what: &str, mut lines: Vec<String>, place: &str) -> String {
    if let Some(more @ 1..) = lines.len().checked_sub(NAMED) {
        lines.truncate(NAMED);
        lines.push(format!("and {more} more{place}"));
    }
    format!("{what}:\n  {}", lines.join("\n  "))
}

/// A plan by its first line.
fn plan((member, words): &(String, String)) -> String {
    let first = plain_line(words.trim().lines().next().unwrap_or_default());
    let mut shown: String = first.chars().take(SHOWN).collect();
    if shown.len() < first.len() {
        shown.push('…');
    }
    format!("{}: {shown}", plain_line(member))
}

/// Most characters of a plan that are shown.
const SHOWN: usize = 100;

/// A task, with those that it waits for.
fn line(task: &BoardTask) -> String {
    let waits: Vec<String> = task.blocked_by.iter().map(|number| format!("#{number}")).collect();
    let waits = match waits.is_empty() {
        true => String::new(),
        false => format!(" (waits for {})", waits.join(", ")),
    };
    format!("#{} {}{waits}", task.number, plain_line(&task.subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: u64, blocked_by: &[u64]) -> BoardTask {
        let (subject, blocked_by) = (format!("Task {number}"), blocked_by.to_vec());
        BoardTask { number, subject, blocked_by, ..BoardTask::default() }
    }

    #[test]
    fn what_is_left_is_named_with_the_way_to_go_on() {
        let left = |tasks| LeftWork { team: "shop".to_owned(), tasks, plans: Vec::new() };
        assert_eq!(in_words(&left(Vec::new()), Some("")), None);
        assert_eq!(
            in_words(&left(vec![task(2, &[]), task(3, &[2])]), Some("")).unwrap(),
            "2 tasks of the team are left:\n  #2 Task 2\n  #3 Task 3 (waits for #2)\n\
             Next: `ropewalk run --continue \"do what is left\"`, or `ropewalk worker --team shop`."
        );
        let many = in_words(&left((1..9).map(|number| task(number, &[])).collect()), None).unwrap();
        assert!(many.starts_with("8 tasks of the team are left:\n  #1 Task 1\n"), "{many}");
        assert!(
            many.ends_with("#5 Task 5\n  and 3 more (`ropewalk team tasks`)\nNext: `ropewalk worker --team shop`."),
            "{many}"
        );
        let one = in_words(&left(vec![task(1, &[])]), Some(" --session abc")).unwrap();
        assert!(one.contains("Next: `ropewalk run --session abc \"do"), "{one}");
    }
}
