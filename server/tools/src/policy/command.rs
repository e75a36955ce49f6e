//! A command as rules see it: its simple commands, each as the line that a pattern is matched against.
//!
//! An allow rule sees only what runs as it is written; a deny rule sees every way to read it.

use crate::danger::{self, SimpleCommand, Word};
use std::collections::HashSet;

/// The most words before a subcommand that are tried as options and their values.
const MOST_OPTIONS: usize = 16;

/// A command taken apart.
#[derive(Debug)]
pub(super) struct CommandLine<'a> {
    /// The whole of it.
    pub(super) text: &'a str,
    pub(super) parts: Vec<CommandReading>,
    /// True if there is more in it that can't be read.
    pub(super) has_gaps: bool,
}

/// A simple command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CommandReading {
    /// True if it does nothing but run its program with the words that are seen.
    pub(super) is_plain: bool,
    /// Its words, as an allow rule sees them.
    pub(super) line: String,
    /// The ways to read it, as a deny rule sees it.
    pub(super) ways: Vec<Way>,
}

/// One way to read a simple command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Way {
    pub(super) line: String,
    /// The start that is sure, if what stands there is not all sure.
    pub(super) sure: Option<String>,
}

impl<'a> CommandLine<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let (commands, unknown) = danger::readable_commands(text);
        let part = |command: &SimpleCommand| CommandReading {
            is_plain: is_plain(command),
            line: line(&command.words),
            ways: ways(&command.words),
        };
        let mut known = HashSet::new();
        // Repeated parts are judged once.
        let parts = commands.iter().map(part).filter(|part| known.insert(part.clone())).collect();
        Self { text, parts, has_gaps: unknown.is_some() }
    }

    /// The simple commands that an allow rule may go by; none where not all is seen.
    pub(super) fn all_parts(&self) -> &[CommandReading] {
        if self.has_gaps { &[] } else { &self.parts }
    }
}

/// True if a simple command does nothing but run its program with the words that are seen: it writes to no
/// file by redirection and sets no variable.
pub(super) fn is_plain(part: &SimpleCommand) -> bool {
    part.assignments.is_empty()
        && part
            .redirects
            .iter()
            .all(|redirect| !redirect.writes || redirect.target.text() == "/dev/null")
}

/// Words as a pattern sees them: those with blanks in them, and empty ones, in quotes, so that they can't be
/// taken for several.
fn line<'w>(words: impl IntoIterator<Item = &'w Word>) -> String {
    let word = |word: &Word| shown(word.text());
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

fn shown(text: &str) -> String {
    if text.is_empty() || text.contains(char::is_whitespace) {
        format!("'{text}'")
    } else {
        text.to_owned()
    }
}

/// As it stands; by the program's own name, without its folder; and without the options that stand before the
/// first operand (`git -C x push`), each with a value or without.
fn ways(words: &[Word]) -> Vec<Way> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let own_name = program.text().rsplit('/').next().unwrap_or_default().to_lowercase();
    let mut ways = Vec::new();
    let mut add = |name: &str, rest: &[Word]| {
        let way = way(name, program, rest);
        if !ways.contains(&way) {
            ways.push(way);
        }
    };
    add(program.text(), rest);
    for from in after_options(rest) {
        add(&own_name, rest.get(from..).unwrap_or_default());
    }
    ways
}

fn way(name: &str, program: &Word, rest: &[Word]) -> Way {
    let mut line = shown(name);
    let mut sure = program.sure_start();
    if name != program.text() {
        sure = sure.map(|start| start.rsplit('/').next().unwrap_or_default().to_lowercase());
    }
    for word in rest {
        line.push(' ');
        if sure.is_none() {
            sure = word.sure_start().map(|start| format!("{line}{start}"));
        }
        line.push_str(&shown(word.text()));
    }
    Way { line, sure }
}

/// Where the words may begin once options are passed over.
fn after_options(words: &[Word]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut at = 0;
    while let Some(from) = starts.get(at).copied().filter(|from| *from < MOST_OPTIONS) {
        at += 1;
        if !words.get(from).is_some_and(|word| word.text().starts_with('-')) {
            continue;
        }
        for next in [from + 1, from + 2] {
            if next <= words.len() && !starts.contains(&next) {
                starts.push(next);
            }
        }
    }
    starts
}
