//! Tasks that a run leaves to its team, and how they go on.

use crate::plain::{plain_line, say};
use ropewalk_host::LeftTasks;
use ropewalk_protocol::BoardTask;

/// Most tasks that are named.
const NAMED: usize = 5;

/// Says which tasks are left, if any are. `flags` find the session again, if it is kept.
pub(super) fn say_left(left: Option<LeftTasks>, flags: Option<&str>) {
    if let Some(words) = left.and_then(|left| in_words(&left, flags)) {
        say(&words);
    }
}

fn in_words(left: &LeftTasks, flags: Option<&str>) -> Option<String> {
    let LeftTasks { team, tasks } = left;
    let count = match tasks.len() {
        0 => return None,
        1 => "1 task of the team is left".to_owned(),
        several => format!("{several} tasks of the team are left"),
    };
    let mut named: Vec<String> = tasks.iter().take(NAMED).map(line).collect();
    if let Some(more @ 1..) = tasks.len().checked_sub(NAMED) {
        named.push(format!("and {more} more (`ropewalk team tasks`)"));
    }
    let worker = format!("`ropewalk worker --team {}`", plain_line(team));
    let next = match flags {
        Some(flags) => {
            let again = if flags.is_empty() { " --continue" } else { flags };
            format!("Next: `ropewalk run{again} \"do what is left\"`, or {worker}.")
        }
        None => format!("Next: {worker}."),
    };
    Some(format!("{count}:\n  {}\n{next}", named.join("\n  ")))
}

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
        let left = |tasks| LeftTasks { team: "shop".to_owned(), tasks };
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
