//! Words about sessions, for people.

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
