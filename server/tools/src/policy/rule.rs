//! Allow rules: `tool`, or `tool(pattern)`.
//!
//! A command passes only if each simple command in it does and nothing in it is left open, so that nothing can
//! be hidden behind a harmless beginning. It is taken apart by [`crate::danger`].

use super::is_sensitive;
use crate::danger::{self, SimpleCommand, Word};
use crate::tool::Prepared;

/// An allow rule: `tool`, or `tool(pattern)` with a command's or a path's pattern, where `*` in the pattern stands for any text, a last ` *` for any
/// arguments or none, and `\*` for a star.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    tool: String,
    pattern: Option<String>,
}

/// Programs whose first argument says what is done: a rule for more of the same keeps both.
const WITH_SUBCOMMANDS: &[&str] = &[
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "gh",
    "git",
    "go",
    "gradle",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rake",
    "rustup",
    "swift",
    "terraform",
    "uv",
    "yarn",
    "zig",
];

/// Programs that only look, whatever their arguments.
const LOOKING: &[&str] = &[
    "basename", "cat", "df", "diff", "dirname", "du", "echo", "false", "file", "grep", "head",
    "ls", "nl", "pwd", "readlink", "realpath", "stat", "tail", "true", "uname", "wc", "which",
];

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.pattern {
            Some(pattern) => write!(f, "{}({pattern})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

impl std::str::FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || {
            format!("{text:?} is no rule: write tool or tool(pattern), as in bash(git status *)")
        };
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let (tool, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
        };
        if !is_name(tool) || pattern == Some("") {
            return Err(wrong());
        }
        Ok(Self { tool: tool.to_owned(), pattern: pattern.map(str::to_owned) })
    }
}

impl Rule {
    /// A rule that allows the same kind of call for the rest of a session: the program and its subcommand with
    /// any arguments where that is the same kind of thing, else this very call.
    pub fn generalised(call: &Prepared) -> Self {
        let pattern = match &call.subject.command {
            Some(command) => kind_of(command).unwrap_or_else(|| escaped(command)),
            None => escaped(about(call)),
        };
        Self { tool: call.tool.to_owned(), pattern: Some(pattern).filter(|p| !p.is_empty()) }
    }

    /// Whether it lets `call` run. A command passes if it is the pattern itself, or if each simple command in
    /// it matches, writes to no file by redirection, sets no variable, and has no expansion whose value isn't
    /// known. `bash` and `bash(*)` let every command pass.
    pub fn allows(&self, call: &Prepared) -> bool {
        if self.tool != call.tool {
            return false;
        }
        let Some(pattern) = self.pattern.as_deref().filter(|pattern| *pattern != "*") else {
            return true;
        };
        let Some(command) = &call.subject.command else {
            return matches(pattern, about(call));
        };
        // One that can't be read passes as it is, and only so.
        if pieces(pattern) == [command.as_str()] {
            return true;
        }
        let parts = danger::simple_commands(command).unwrap_or_default();
        !parts.is_empty()
            && parts.iter().all(|part| is_plain(part) && matches(pattern, &line(part)))
    }

    /// Whether the pattern itself names something that may hold secrets.
    pub(super) fn names_secrets(&self) -> bool {
        let pieces = self.pattern.as_deref().map(pieces).unwrap_or_default();
        pieces.iter().flat_map(|piece| piece.split_whitespace()).any(is_sensitive)
    }
}

/// What a pattern is matched against, for a call that is no command: its path if it has one, else its title.
fn about(call: &Prepared) -> &str {
    match call.subject.paths.as_slice() {
        [path] => path,
        _ => &call.subject.title,
    }
}

/// The pattern for more commands of the same kind; None where only the same one will do.
fn kind_of(command: &str) -> Option<String> {
    let parts = danger::simple_commands(command).ok()?;
    let [part] = parts.as_slice() else { return None };
    if !is_plain(part) || super::secrets::in_command(command).is_some() {
        return None;
    }
    let program = part.words.first()?.text();
    if LOOKING.contains(&program) {
        return Some(format!("{program} *"));
    }
    let sub = part.words.get(1)?.text();
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
    let is_sub = sub.starts_with(|c: char| c.is_ascii_alphanumeric()) && sub.chars().all(is_word);
    (WITH_SUBCOMMANDS.contains(&program) && is_sub).then(|| format!("{program} {sub} *"))
}

/// Whether a simple command does nothing but run its program with the words that are seen.
fn is_plain(part: &SimpleCommand) -> bool {
    let harmless =
        |target: &str| target == "/dev/null" || target.bytes().all(|b| b.is_ascii_digit());
    part.assignments.is_empty()
        && part.words.iter().all(Word::is_literal)
        && part.redirects.iter().all(|redirect| {
            redirect.target.is_literal()
                && (!redirect.writes || harmless(redirect.target.text().trim_start_matches('&')))
        })
}

/// A simple command as a pattern sees it: words with blanks in them, and empty ones, in quotes, so that they
/// can't be taken for several.
fn line(part: &SimpleCommand) -> String {
    let word = |word: &Word| match word.text() {
        text if text.is_empty() || text.contains(char::is_whitespace) => format!("'{text}'"),
        text => text.to_owned(),
    };
    part.words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A pattern that matches this text alone.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('*', "\\*")
}

/// A pattern's texts between its stars. Never empty.
fn pieces(pattern: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('*' | '\\')) => piece.extend(chars.next()),
            ('*', _) => pieces.push(std::mem::take(&mut piece)),
            _ => piece.push(c),
        }
    }
    pieces.push(piece);
    pieces
}

/// Whether `text` matches `pattern`. O(both lengths multiplied).
fn matches(pattern: &str, text: &str) -> bool {
    let without_arguments = pattern.strip_suffix(" *").is_some_and(|bare| glob(bare, text));
    without_arguments || glob(pattern, text)
}

/// Whether `text` matches `pattern`, in which `*` stands for any text.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let pieces = pieces(pattern);
    let Some((first, rest)) = pieces.split_first() else { return false };
    let Some(mut text) = text.strip_prefix(first.as_str()) else { return false };
    let Some((last, middle)) = rest.split_last() else { return text.is_empty() };
    for piece in middle {
        match text.split_once(piece.as_str()) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(last.as_str())
}
