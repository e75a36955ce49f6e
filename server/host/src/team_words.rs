//! Words about a team, for people: its tasks, its members, its messages.

use crate::words::{count, shortened};
use ropewalk_protocol::usage::short_count;
use ropewalk_protocol::{
    BoardTask, BoardTaskStatus, Reply, TeamMember, TeamMessage, TeamOp, TeamRoster, TeamState,
};
use ropewalk_text::plain::{plain, plain_line};

/// The most characters of a message.
const MOST: usize = 2_000;

/// A reply about a team in words; none for any other reply. `page` is the one that was asked for, `about` what was.
pub fn in_words(reply: &Reply, page: Option<u32>, about: &TeamOp) -> Option<String> {
    Some(match (reply, about) {
        (Reply::Tasks { tasks, more }, _) => tasks_in_words(tasks, *more, page),
        (Reply::Inbox(messages), _) => inbox_in_words(messages),
        (Reply::Team(roster), _) => team_in_words(roster),
        (Reply::Taken, TeamOp::Stop(name)) => format!("{} was asked to end.", plain_line(name)),
        (Reply::Taken, TeamOp::Plan { approve: true, .. }) => "The plan is approved.".to_owned(),
        (Reply::Taken, TeamOp::Plan { .. }) => "The plan is refused.".to_owned(),
        (Reply::Taken, TeamOp::Adopt(team)) => format!("You lead {} now.", plain_line(team)),
        _ => return None,
    })
}

/// The tasks of one page, a line each.
pub fn tasks_in_words(tasks: &[BoardTask], more: bool, page: Option<u32>) -> String {
    let page = page.unwrap_or(1);
    if tasks.is_empty() {
        return if page > 1 { format!("There is no page {page}.") } else { "No tasks.".to_owned() };
    }
    let mut words = tasks.iter().map(task).collect::<Vec<_>>().join("\n");
    if more {
        words.push_str(&format!("\nThere are more: /tasks {}", page + 1));
    }
    words
}

/// A task in one line, such as `[>] #2: Write the test @alice`.
fn task(task: &BoardTask) -> String {
    let mark = match task.status {
        BoardTaskStatus::Pending => "[ ]",
        BoardTaskStatus::InProgress => "[>]",
        BoardTaskStatus::Completed => "[x]",
        BoardTaskStatus::Failed => "[!]",
        BoardTaskStatus::Cancelled => "[-]",
    };
    let mut line = format!("{mark} #{}: {}", task.number, shortened(&task.subject, 200));
    if let Some(owner) = &task.owner {
        line.push_str(&format!(" @{}", plain_line(owner)));
    }
    if !task.blocked_by.is_empty() {
        let others: Vec<String> =
            task.blocked_by.iter().map(|number| format!("#{number}")).collect();
        line.push_str(&format!(" (blocked by: {})", others.join(", ")));
    }
    let again = task.attempt > 1 && task.status == BoardTaskStatus::InProgress;
    match task.status {
        BoardTaskStatus::Failed => line.push_str(" (failed)"),
        BoardTaskStatus::Cancelled => line.push_str(" (cancelled)"),
        _ if again => line.push_str(&format!(" (attempt {})", task.attempt)),
        _ => {}
    }
    line
}

/// The team's name, and its members, a line each.
pub fn team_in_words(roster: &TeamRoster) -> String {
    let head = format!("Team {}", plain_line(&roster.team));
    let lines = roster.members.iter().map(member);
    [head].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

/// A member in one line, such as `alice (coder): working on #3 · 12k tokens, $0.40`.
fn member(member: &TeamMember) -> String {
    let mut line = plain_line(&member.name);
    if !member.role.is_empty() {
        line.push_str(&format!(" ({})", plain_line(&member.role)));
    }
    line.push_str(": ");
    line.push_str(match member.state {
        TeamState::Working => "working",
        TeamState::Idle => "waits for work",
        TeamState::Shutdown => "has ended",
        TeamState::Gone => "is gone, nothing was heard of it",
    });
    if let Some(task) = member.task {
        line.push_str(&format!(" on #{task}"));
    }
    if member.tokens > 0 {
        line.push_str(&format!(" · {} tokens", short_count(member.tokens)));
    }
    if member.cents > 0 {
        line.push_str(&format!(", ${}.{:02}", member.cents / 100, member.cents % 100));
    }
    line
}

/// The first line of a teammate's request, without the marks around a task that it has claimed.
pub fn request_line(prompt: &str) -> String {
    let line = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    plain_line(&line.replace("<auto-claimed>", "").replace("</auto-claimed>", ""))
}

/// The messages, the oldest first, with who sent them.
pub fn inbox_in_words(messages: &[TeamMessage]) -> String {
    if messages.is_empty() {
        return "No messages.".to_owned();
    }
    let message = |message: &TeamMessage| {
        let kind = match message.kind.as_str() {
            "message" => String::new(),
            kind => {
                let number = message.request.map(|id| format!(" {id}")).unwrap_or_default();
                format!(" ({}{number})", plain_line(&kind.replace('_', " ")))
            }
        };
        let body: String = message.body.chars().take(MOST).collect();
        let cut = message.body.chars().count().saturating_sub(MOST);
        let cut = match cut {
            0 => String::new(),
            cut => format!(" … and {}", count(cut, "more character", "more characters")),
        };
        let body = plain(body.trim()).replace('\n', "\n  ");
        format!("{}{kind}: {body}{cut}", plain_line(&message.from))
    };
    messages.iter().map(message).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: u64, status: BoardTaskStatus, owner: Option<&str>, waits: &[u64]) -> BoardTask {
        let subject = format!("task {number}");
        let (owner, blocked_by) = (owner.map(str::to_owned), waits.to_vec());
        BoardTask { number, subject, status, owner, blocked_by, attempt: 1 }
    }

    #[test]
    fn each_task_has_a_line_with_its_mark_its_owner_and_its_blockers() {
        use BoardTaskStatus::{Cancelled, Completed, Failed, InProgress, Pending};
        let again = BoardTask { attempt: 2, ..of(4, InProgress, Some("alice"), &[]) };
        let tasks = [
            of(1, Completed, Some("bob"), &[]),
            of(2, InProgress, Some("alice"), &[]),
            of(3, Pending, None, &[2, 4]),
            again,
            of(5, Failed, None, &[]),
            of(6, Cancelled, None, &[]),
        ];
        assert_eq!(
            tasks_in_words(&tasks, true, None),
            "[x] #1: task 1 @bob\n[>] #2: task 2 @alice\n[ ] #3: task 3 (blocked by: #2, #4)\n\
             [>] #4: task 4 @alice (attempt 2)\n[!] #5: task 5 (failed)\n[-] #6: task 6 (cancelled)\n\
             There are more: /tasks 2"
        );
        assert_eq!(tasks_in_words(&[], false, None), "No tasks.");
        assert_eq!(tasks_in_words(&[], false, Some(3)), "There is no page 3.");
    }

    #[test]
    fn members_and_messages_are_said_without_what_drives_a_screen() {
        let alice = TeamMember {
            name: "alice".to_owned(),
            role: "coder".to_owned(),
            state: TeamState::Working,
            task: Some(3),
            session: None,
            tokens: 12_345,
            cents: 40,
        };
        let bob = TeamMember { name: "bob\u{1b}[2J".to_owned(), ..TeamMember::default() };
        let members = vec![alice, bob];
        let said = team_in_words(&TeamRoster { team: "shop".to_owned(), members });
        assert!(
            said.starts_with("Team shop\nalice (coder): working on #3 · 12k tokens, $0.40\nbob"),
            "{said}"
        );
        assert!(said.ends_with(": waits for work") && !said.contains('\u{1b}'), "{said}");
        assert_eq!(team_in_words(&TeamRoster::default()).trim(), "Team");

        let message = |kind: &str, body: String| TeamMessage {
            number: 1,
            from: "alice".to_owned(),
            kind: kind.to_owned(),
            request: (kind == "plan").then_some(7),
            body,
        };
        let long = message("task_failed", "é".repeat(MOST + 5));
        let said = inbox_in_words(&[message("message", "one\u{7}\ntwo".to_owned()), long]);
        assert!(said.starts_with("alice: one") && !said.contains('\u{7}'), "{said}");
        assert!(said.contains("\n  two\nalice (task failed): é"), "{said}");
        let plan = inbox_in_words(&[message("plan", "First this.".to_owned())]);
        assert_eq!(plan, "alice (plan 7): First this.");
        assert!(said.ends_with("é … and 5 more characters"), "{said}");
    }

    #[test]
    fn the_line_of_a_claimed_task_has_no_marks() {
        let claimed = "<auto-claimed>Task #1: Shout</auto-claimed>\nDo this task now.";
        assert_eq!(request_line(claimed), "Task #1: Shout");
        assert_eq!(request_line("\nFind\u{7} work.\nNow."), request_line("Find\u{7} work."));
        assert_eq!(request_line(""), "");
    }

    #[test]
    fn what_was_done_about_a_team_is_said() {
        let said = |op: TeamOp| in_words(&Reply::Taken, None, &op);
        let stop = TeamOp::Stop("alice".to_owned());
        assert_eq!(said(stop).as_deref(), Some("alice was asked to end."));
        let plan = TeamOp::Plan { request: 1, approve: false, words: None };
        assert_eq!(said(plan).as_deref(), Some("The plan is refused."));
        assert_eq!(said(TeamOp::Show), None);
    }
}
