//! A command as rules see it: its simple commands, each as the line that a pattern is matched against.
//!
//! An allow rule sees only what runs as it is written; a deny rule sees every way to read it.

use crate::danger::{self, SimpleCommand, Word};
use std::collections::HashSet;

/// The most words before a subcommand that are tried as options and their values.
const MOST_OPTIONS: usize = 16;

/// A command taken apart.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// The whole of it.
    pub(super) text: &'a str,
    pub(super) parts: Vec<Part>,
    /// Whether there is more in it that can't be read.
    pub(super) has_gaps: bool,
    /// True if a shell in it is given text that is known only when it runs.
    pub(super) runs_unseen: bool,
}

/// A simple command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// Whether it does nothing but run its program with the words that are seen.
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

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let danger::Readable { commands, unknown, runs_unseen } = danger::readable(text);
        let part = |command: &SimpleCommand| Part {
            is_plain: is_plain(command),
            line: line(&command.words),
            ways: ways(&command.words),
        };
        let mut known = HashSet::new();
        // What is repeated is judged once.
        let parts = commands.iter().map(part).filter(|part| known.insert(part.clone())).collect();
        Self { text, parts, has_gaps: unknown.is_some(), runs_unseen }
    }

    /// The simple commands that an allow rule may go by; none where not all is seen.
    pub(super) fn all_parts(&self) -> &[Part] {
        if self.has_gaps { &[] } else { &self.parts }
    }
}

/// Whether a simple command does nothing but run its program with the words that are seen: it writes to no
/// file by redirection, sets no variable, and has no expansion whose value isn't known.
pub(super) fn is_plain(part: &SimpleCommand) -> bool {
    let harmless =
        |target: &str| target == "/dev/null" || target.bytes().all(|b| b.is_ascii_digit());
    part.assignments.is_empty()
        && part.words.iter().all(Word::is_literal)
        && part.redirects.iter().all(|redirect| {
            redirect.target.is_literal()
                && (!redirect.writes || harmless(redirect.target.text().trim_start_matches('&')))
        })
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
