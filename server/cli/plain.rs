//! Words of the command line, made harmless for a terminal.
//!
//! Words that every front end makes harmless are with the tools; here is the part that only a terminal needs.

use crate::terminal;
pub(crate) use ropewalk_text::plain::{Plain, plain, plain_line};
use std::io::Write;

/// JSON made harmless, and no other JSON for that: what a terminal could obey can stand only in strings, where
/// it is escaped.
pub(crate) fn plain_json(json: String) -> String {
    if !json.contains(is_control) {
        return json;
    }
    let escaped = |c: char| match is_control(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(escaped).collect()
}

/// True if JSON leaves a character as it is that a terminal could obey.
pub(crate) fn is_control(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Says something to the user beside what was asked for: on standard error, made harmless. One that is
/// closed hears nothing.
pub(crate) fn say(words: &str) {
    let _ = terminal::above(|| writeln!(std::io::stderr(), "ropewalk: {}", plain(words)));
}
