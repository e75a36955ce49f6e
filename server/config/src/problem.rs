//! Where a value came from, and what was wrong with one, in words. It decides nothing.

use std::fmt;
use std::path::PathBuf;

use crate::sources::{self, Environment};

/// A layer of the configuration, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigLayer {
    /// Defaults in the code.
    BuiltIn,
    /// A variable of the environment, or a default picked because one is set.
    Environment,
    /// `/etc/ropewalk/config.toml`, which may lock keys.
    System,
    /// The user's own file.
    User,
    /// `rules.toml` beside it, which holds only rules: the one place of those that were approved
    /// for always.
    Rules,
    /// `.ropewalk/config.toml` of a root; may only make things stricter, unless the user trusts the
    /// folder with what it asks for.
    Project,
    /// `initializationOptions`. Trusted as the user's explicit choice: an editor that lets a
    /// repository write its settings has to keep that part of them back.
    InitializationOptions,
    /// Settings of `workspace/didChangeConfiguration`; trusted likewise.
    Settings,
    /// `-c key=value`.
    Flag,
}

impl ConfigLayer {
    /// True if the layer is JSON from an editor, where keys may be camelCase.
    pub(crate) fn is_client(self) -> bool {
        matches!(self, ConfigLayer::InitializationOptions | ConfigLayer::Settings)
    }
}

/// Where one value came from. Its `Display` is short, as in `~/.config/ropewalk/config.toml:3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueSource {
    /// The layer.
    pub layer: ConfigLayer,
    /// The file, for layers that are files.
    pub file: Option<PathBuf>,
    /// The line in the file, from 1, when known.
    pub line: Option<usize>,
    /// The name shown for it: the file with the home folder as `~`, a variable, a request.
    pub name: String,
}

impl ValueSource {
    pub(crate) fn built_in() -> ValueSource {
        ValueSource::named(ConfigLayer::BuiltIn, "built in")
    }

    pub(crate) fn named(layer: ConfigLayer, name: impl Into<String>) -> ValueSource {
        ValueSource { layer, file: None, line: None, name: name.into() }
    }

    pub(crate) fn of_file(
        layer: ConfigLayer,
        file: PathBuf,
        environment: &dyn Environment,
    ) -> ValueSource {
        let name = sources::abbreviated(&file, environment.home().as_deref());
        ValueSource { layer, file: Some(file), line: None, name }
    }

    pub(crate) fn at(&self, line: Option<usize>) -> ValueSource {
        ValueSource { line, ..self.clone() }
    }
}

impl fmt::Display for ValueSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Something in the configuration that could not be used, or is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub source: ValueSource,
    /// The key it is about, as written, shortened and with control characters escaped.
    pub key: Option<String>,
    /// One sentence for the user: what is wrong, where, and what to do. It never repeats a value
    /// that could be a secret.
    pub sentence: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// Text from outside made fit for a question: as [`one_line`], and without back quotes, spaces that
/// don't look like one, and characters that look like nothing.
pub(crate) fn plainly(text: &str, longest: usize) -> String {
    let mut out = String::new();
    for c in text.chars().take(longest) {
        let blank = (c.is_whitespace() && !matches!(c, ' ' | '\n' | '\t'))
            || matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}');
        if c == '`' || blank || turns_text(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push_str(&one_line(c.encode_utf8(&mut [0; 4]), 1));
        }
    }
    if text.chars().nth(longest).is_some() {
        out.push('…');
    }
    out
}

/// True if it turns the direction of the text around it.
pub(crate) fn turns_text(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name from outside made fit for a sentence: one line, no control characters, not long.
pub(crate) fn shown(name: &str) -> String {
    one_line(name, 60)
}

/// The first `longest` characters of a text, on one line and without control characters.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    let text = &without_keys(text);
    let mut out: String = text.chars().take(longest).flat_map(char::escape_debug).collect();
    // Quotes are fine within the back quotes that the sentences use.
    out = out.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(longest).is_some() {
        out.push('…');
    }
    out
}

/// A text with `[key]` for each word that looks like an API key: what begins as some do, or is a long run of
/// letters with digits. A key that was pasted in the wrong place is not told to a log.
fn without_keys(text: &str) -> String {
    const LONGEST_NAME: usize = 24;
    let looks_like_one = |word: &str| {
        let runs = word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let is_long = |run: &str| {
            run.len() >= LONGEST_NAME
                && run.contains(|c: char| c.is_ascii_digit())
                && run.contains(|c: char| c.is_ascii_alphabetic())
        };
        (word.starts_with("sk-") && word.len() > 12) || runs.clone().any(is_long)
    };
    let is_end = |c: char| c.is_whitespace() || "'\"=`/,;()[]{}<>".contains(c);
    text.split_inclusive(is_end)
        .map(|piece| {
            let word = piece.trim_end_matches(is_end);
            let end = piece.get(word.len()..).unwrap_or_default();
            if looks_like_one(word) { format!("[key]{end}") } else { piece.to_owned() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_key_is_not_said() {
        for (text, told) in [
            ("sk-ant-api03-AbC_9", "[key]"),
            ("mode=sk-proj-0123456789abc ", "mode=[key] "),
            ("anthropic/claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5-20250929"),
            ("bash(AIzaSyA0123456789abcdefghijklmnop *)", "bash([key] *)"),
            ("a_very_long_name_without_digits_in_it", "a_very_long_name_without_digits_in_it"),
            ("", ""),
        ] {
            assert_eq!(without_keys(text), told);
        }
    }
}
