//! A session's events as blocks of Markdown, whole messages each: answers, calls as one line, changes by place, the plan,
//! questions. Pure: what it needs beside the events is handed to it.

use super::page::{fenced, harmless, request};
use crate::show::words::{asker, made_by};
use ropewalk_protocol::{
    Approval, CallId, ChangeKind, Event, HunkInfo, PublishedHunk, Resolution, Todo, TodoList,
    TodoStatus,
};
use ropewalk_text::plain::plain_line;
use std::collections::HashMap;

/// The most changes that are listed one by one.
const MOST: usize = 50;

/// How much of a failed call's result is told, in characters.
const FAILURE: usize = 100;

/// A change that has a line on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangeListing {
    /// The words by which its line names it, `a.py:3`.
    pub(super) name: String,
    pub(super) hunk: u64,
    /// True if it is in the user's text.
    pub(super) is_made: bool,
}

/// Words that the page has of the turn that runs.
#[derive(Debug, Default)]
pub(crate) struct PageTranscript {
    said: String,
    /// The titles of the calls under way.
    calls: HashMap<CallId, String>,
    /// The plan as it was written last.
    plan: TodoList,
    /// True if the call that runs has its words in the plan's.
    is_planned: bool,
}

impl PageTranscript {
    /// A turn begins. `is_there`: its request stands on the page.
    pub(super) fn begin(&mut self, prompt: &str, is_there: bool) -> Option<String> {
        *self = Self { plan: std::mem::take(&mut self.plan), ..Self::default() };
        (!is_there).then(|| request(prompt))
    }

    /// The blocks that an event makes whole. `how` says how a question is answered.
    pub(super) fn take(&mut self, event: &Event, how: &str) -> Vec<String> {
        match event {
            Event::TextDelta { text, .. } => self.said.push_str(text),
            Event::Retrying { .. } => self.said.clear(),
            Event::StepStarted { .. } => return self.words().into_iter().collect(),
            Event::ToolCall { call, tool, title, .. } => {
                self.calls.insert(call.clone(), plain_line(&format!("{tool} {title}")));
                return self.words().into_iter().collect();
            }
            Event::ToolResult { call, is_error, preview, .. } => {
                return self.ended(call, *is_error, preview).into_iter().collect();
            }
            Event::Todos { todos, .. } => {
                let words = self.planned(todos);
                self.is_planned = words.is_some();
                return words.into_iter().collect();
            }
            Event::ApprovalRequested { approval, .. } => {
                let words = self.words();
                return words.into_iter().chain([question(approval, None, how)]).collect();
            }
            Event::ApprovalResolved { how, .. } => {
                return vec![format!("- {}", resolved(*how))];
            }
            Event::SetAside { file, new, .. } => {
                let file = plain_line(file);
                let words = format!(
                    "You typed into a proposed change of {file}: your text stays. It would have been:"
                );
                return vec![format!("{words}\n\n{}", fenced(&harmless(new)))];
            }
            _ => {}
        }
        Vec::new()
    }

    /// The model's words of this step, if it had any.
    pub(super) fn words(&mut self) -> Option<String> {
        let said = std::mem::take(&mut self.said);
        Some(harmless(said.trim())).filter(|said| !said.is_empty())
    }

    fn ended(&mut self, call: &CallId, is_error: bool, preview: &str) -> Option<String> {
        let title = self.calls.remove(call)?;
        if !is_error && std::mem::take(&mut self.is_planned) {
            return None;
        }
        if !is_error {
            return Some(format!("- ✓ {title}"));
        }
        let first = preview.lines().next().unwrap_or_default().trim_start_matches("Error: ");
        let why: String = plain_line(first).chars().take(FAILURE).collect();
        Some(format!("- ✗ {title} · {why}"))
    }

    /// The whole plan where its steps are others, else one line about where it stands.
    fn planned(&mut self, todos: &TodoList) -> Option<String> {
        let before = std::mem::replace(&mut self.plan, todos.clone());
        if before == *todos || todos.0.is_empty() {
            return None;
        }
        let contents = |list: &TodoList| -> Vec<String> {
            list.0.iter().map(|todo| todo.content.clone()).collect()
        };
        if contents(&before) == contents(todos) {
            let place = todos
                .progress()
                .unwrap_or_else(|| format!("{}/{} done", todos.done(), todos.0.len()));
            return Some(format!("- Plan {}", plain_line(&place)));
        }
        let step = |todo: &Todo| {
            let mark = if todo.status == TodoStatus::Completed { "x" } else { " " };
            format!("- [{mark}] {}", plain_line(&todo.content))
        };
        Some(format!("Plan:\n\n{}", todos.0.iter().map(step).collect::<Vec<_>>().join("\n")))
    }
}

pub(super) fn resolved(how: Resolution) -> &'static str {
    match how {
        Resolution::Allowed => "Allowed.",
        Resolution::Refused => "Refused.",
        Resolution::WaitingForSave => "It runs once you have saved.",
        Resolution::Interrupted => "Not answered: it was stopped.",
    }
}

/// A question, of the teammate `member` if it is one's.
pub(super) fn question(asked: &Approval, member: Option<&str>, how: &str) -> String {
    let who = asker(asked, member);
    let head = plain_line(&format!("{who} asks to run {}: {}", asked.tool, asked.reason));
    let mut words = format!("**{head}**\n\n{}\n", fenced(&harmless(&asked.detail)));
    if !asked.unseen.is_empty() {
        let unseen = plain_line(&asked.unseen.join(", "));
        words.push_str(&format!("\nIt will not see unsaved text or proposed changes of {unseen}."));
    }
    if let Some(rule) = &asked.rule_words {
        let lasting = if asked.always { "Always" } else { "This session" };
        words.push_str(&format!("\n\"{lasting}\" allows {}.", plain_line(rule)));
    }
    format!("{words}\n{how}")
}

/// A list of changes under a line of words, and what it names.
fn list(
    words: &str,
    changes: impl ExactSizeIterator<Item = (ChangeListing, String)>,
) -> (String, Vec<ChangeListing>) {
    let more = changes.len().saturating_sub(MOST);
    let mut lines = Vec::new();
    let mut listed = Vec::new();
    for (change, about) in changes.take(MOST) {
        let parts = [Some(change.name.clone()), Some(about).filter(|about| !about.is_empty())];
        lines.push(format!("- {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")));
        listed.push(change);
    }
    if more > 0 {
        lines.push(format!("- … and {more} more"));
    }
    (format!("{words}\n\n{}", lines.join("\n")), listed)
}

/// Changes that wait, each on a line that names its place. None where nothing waits.
pub(super) fn waiting(
    hunks: &[HunkInfo],
    words: &str,
    lines_changed: impl Fn(&HunkInfo) -> Option<String>,
) -> Option<(String, Vec<ChangeListing>)> {
    let change = |hunk: &HunkInfo| {
        let name = name(&hunk.file, hunk.line + 1);
        let kind = of_kind(hunk.kind).map(str::to_owned);
        let makers = made_by(&hunk.members).map(|makers| plain_line(&makers));
        let about: Vec<String> =
            kind.into_iter().chain(lines_changed(hunk)).chain(makers).collect();
        (ChangeListing { name, hunk: hunk.id, is_made: false }, about.join(" · "))
    };
    (!hunks.is_empty()).then(|| list(words, hunks.iter().map(change)))
}

/// Changes that are in the user's text now.
pub(super) fn made(changes: &[PublishedHunk]) -> (String, Vec<ChangeListing>) {
    let change = |change: &PublishedHunk| {
        let line = usize::try_from(change.range.start.line).unwrap_or_default() + 1;
        let name = name(&change.file, line);
        let about = of_kind(change.kind).unwrap_or_default().to_owned();
        (ChangeListing { name, hunk: change.hunk, is_made: true }, about)
    };
    list("Changed:", changes.iter().map(change))
}

fn name(file: &str, line: usize) -> String {
    format!("{}:{line}", plain_line(file))
}

fn of_kind(kind: ChangeKind) -> Option<&'static str> {
    match kind {
        ChangeKind::Text => None,
        ChangeKind::Create => Some("new file"),
        ChangeKind::Delete => Some("deleted"),
        ChangeKind::Rename => Some("renamed"),
        ChangeKind::Binary => Some("binary"),
        ChangeKind::Mode => Some("permissions"),
        ChangeKind::Link => Some("link"),
    }
}
