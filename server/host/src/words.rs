//! Words about sessions, for people.

use ropewalk_protocol::Status;
use ropewalk_text::plain::plain_line;

/// An error as a sentence of its own.
pub(crate) fn sentence(error: &impl ToString) -> String {
    let words = error.to_string();
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// A title in words; a session without a prompt has none.
pub fn named(title: &str) -> String {
    if title.is_empty() {
        "the session before".to_owned()
    } else {
        format!("“{}”", shortened(title, 60))
    }
}

/// The first so many characters, on one line and harmless.
pub fn shortened(text: &str, most: usize) -> String {
    let first: String = text.chars().take(most).collect();
    let mut short = plain_line(&first.replace(char::is_control, " "));
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}

/// So many of something.
pub fn count(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// The answer to how a session stands. `waiting`: words on what waits for review, if anything does.
pub fn status_in_words(waiting: Option<String>, status: &Status) -> String {
    let waits = waiting.unwrap_or_else(|| "Nothing waits for review".to_owned());
    let asks = match status.approvals.len() {
        0 => "Nothing waits for your approval".to_owned(),
        calls => count(calls, "call waits for your approval", "calls wait for your approval"),
    };
    let model = status.model.as_ref().or(status.missing.as_ref()).map_or("", String::as_str);
    let mut words = format!("{waits}. {asks}.\n{model}, mode {}.", status.mode);
    if status.turns > 0 {
        let (title, turns) = (named(&status.title), count(status.turns, "turn", "turns"));
        words.push_str(&format!("\n{title}: {turns}, {}.", status.tokens.in_short()));
    }
    if status.todos > 0 {
        words.push_str(&format!("\n{} of {} todos are done.", status.todos_done, status.todos));
    }
    for lock in &status.locks {
        words.push_str(&format!("\n{} is locked by {}.", lock.key, lock.by));
    }
    words
}
