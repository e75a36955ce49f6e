//! Lines for people about calls and events. Pure.

use crate::plain::plain;
use ropewalk_host::team_words::tasks_in_words;
use ropewalk_protocol::usage::short_count;
use ropewalk_protocol::{CompactionCause, Event, Level};

/// Most characters of a call's title; a command can be of any length.
pub(super) const LONGEST_TITLE: usize = 2_000;

pub(super) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// A call in one line, or as many as its command has.
pub(super) fn titled(tool: &str, title: &str) -> String {
    let tool = plain(tool);
    if title.is_empty() {
        return tool;
    }
    let mut title = plain(title);
    if let Some((end, _)) = title.char_indices().nth(LONGEST_TITLE) {
        title.truncate(end);
        title.push('…');
    }
    format!("{tool}: {}", title.trim_end().replace('\n', "\n  "))
}

/// Words in passing about what goes on.
pub(super) fn meanwhile(event: &Event) -> Option<String> {
    Some(match event {
        Event::Waiting { waited_ms, is_queued, .. } => {
            let whom = if *is_queued { "its turn at the model" } else { "the model" };
            format!("(waits for {whom}, {} s so far)", waited_ms / 1000)
        }
        Event::Compacting { why: CompactionCause::Asked, .. } => {
            "(sums up the conversation)".to_owned()
        }
        Event::Compacting { .. } => {
            "(sums up the conversation, which fills the model's context)".to_owned()
        }
        Event::Compacted { before, after, .. } => {
            format!("({} tokens became {})", short_count(*before), short_count(*after))
        }
        _ => return None,
    })
}

/// Words on a line of their own.
pub(super) fn told(event: &Event) -> Option<String> {
    Some(match event {
        Event::Notice { level, message } => {
            let level = match level {
                Level::Info => "",
                Level::Warning => "warning: ",
                Level::Error => "error: ",
            };
            format!("{level}{message}")
        }
        Event::Todos { todos, .. } if !todos.0.is_empty() => {
            let completed = || format!("{}/{} completed", todos.done(), todos.0.len());
            format!("Todos: {}", todos.progress().unwrap_or_else(completed))
        }
        Event::BoardTask(task) => tasks_in_words(std::slice::from_ref(task), false, None),
        Event::Check { report, .. } => {
            report.in_words().unwrap_or_else(|| "The check passed.".to_owned())
        }
        _ => return None,
    })
}
