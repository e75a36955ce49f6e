//! Reads plain commands joined by `&&`, `||`, `;`, `|` and line ends. Anything else ends the reading.
//!
//! Up to there each word is exact, so a danger before it is as sure as in a plain text.

use super::words::{Redirect, SimpleCommand, Word, is_in};
use super::{Danger, DangerKind, MAX_COMMAND_BYTES, starts};

/// How deep commands may start each other and scripts may stand in scripts.
const MAX_DEPTH: usize = 13;

/// The longest function body that is looked at for calls of itself, in characters: nobody writes a longer one.
const MAX_BOMB: usize = 200;

/// The shell's own words, and builtins that define, evaluate or change how later commands are read.
const KEYWORDS: &str = "! . [[ alias bind case compgen complete coproc declare do done elif else \
    enable esac eval fc fi for function hash if jobs let mapfile readarray select shopt source then \
    trap typeset until while { }";

/// A command taken apart, as far as it is plain.
#[derive(Default)]
pub(super) struct Script {
    pub(super) commands: Vec<SimpleCommand>,
    /// The first thing that is not plain, or a fork bomb.
    pub(super) unknown: Option<Danger>,
}

/// Reads `command` and the scripts in it.
pub(super) fn read(command: &str) -> Script {
    let mut script = Script::default();
    match command.len() > MAX_COMMAND_BYTES {
        true => script.not_plain(command),
        false => script.read(command, 0),
    }
    script
}

/// The commands that a text may hold that is not plain, its signs passed over, for those who lose nothing by a guess:
/// deny rules, and the look-up of paths.
pub(super) fn guess(source: &str) -> Vec<SimpleCommand> {
    let mut reader = ShellReader { rest: source, guesses: true };
    let mut commands = Vec::new();
    while !reader.rest.is_empty() {
        let mut command = SimpleCommand::default();
        // Behind the sign at which reading fails something may begin.
        if reader.command(&mut command).is_none() {
            reader.next();
        }
        let keywords = command.words.iter().take_while(|word| is_in(KEYWORDS, word.text())).count();
        command.words.drain(..keywords);
        commands.push(command);
    }
    commands.retain(|command| *command != SimpleCommand::default());
    commands
}

impl Script {
    /// Notes that `near` can't be told before it runs.
    pub(super) fn not_plain(&mut self, near: &str) {
        self.unknown.get_or_insert_with(|| Danger::new(DangerKind::NotPlain, near));
    }

    /// Adds the commands of a text.
    pub(super) fn read(&mut self, source: &str, depth: usize) {
        let mut reader = ShellReader { rest: source, guesses: false };
        loop {
            let mut command = SimpleCommand::default();
            let joint = reader.command(&mut command);
            let is_empty = command == SimpleCommand::default();
            if !is_empty {
                self.add(command, depth);
            }
            match joint {
                Some("") => return,
                Some("\n") => {}
                Some(_) if !is_empty => {}
                _ if starts_itself(source) => {
                    self.unknown = Some(Danger::new(DangerKind::ForkBomb, source));
                    return;
                }
                _ => return self.not_plain(reader.rest),
            }
        }
    }

    /// Adds a command, and all that it starts.
    pub(super) fn add(&mut self, command: SimpleCommand, depth: usize) {
        self.commands.push(command.clone());
        match command.program() {
            Some(name) if depth < MAX_DEPTH && !is_in(KEYWORDS, name) => {
                starts::follow(self, &command, depth + 1);
            }
            None if command.words.is_empty() => {}
            _ => self.not_plain(&command.text()),
        }
    }
}

/// The signs that join commands.
const JOINTS: &[&str] = &["\n", "&&", "||", "|", ";"];

/// The signs of redirections, the longer ones first.
const REDIRECTS: &[&str] = &["&>>", "&>", ">>", ">|", ">&", ">", "<<<", "<<", "<&", "<>", "<"];

struct ShellReader<'a> {
    /// The text that is not read yet; where reading failed, it begins with what is not plain.
    rest: &'a str,
    /// True if a sign that is not plain is taken for text, or for the end of a word.
    guesses: bool,
}

impl ShellReader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    /// Takes `text` if it comes next.
    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\\\n") {}
    }

    /// Reads one simple command and the sign that joins it to the next, none at the end of the text; None where it
    /// is not plain.
    fn command(&mut self, command: &mut SimpleCommand) -> Option<&'static str> {
        loop {
            self.blanks();
            let start = self.rest;
            if start.is_empty() {
                return Some("");
            }
            if self.redirect(command)? {
                continue;
            }
            let joints = if start.starts_with("|&") { &[] } else { JOINTS };
            if let Some(joint) = joints.iter().find(|joint| self.take(joint)) {
                return Some(joint);
            }
            let word = self.word()?;
            let written = start.get(..start.len() - self.rest.len()).unwrap_or_default();
            let written = written.replace("\\\n", "");
            match command.words.is_empty() && is_assignment(&written) {
                true => command.assignments.push(written),
                false => command.words.push(word),
            }
        }
    }

    /// Reads a redirection to or from a file with a sure name, or between the three streams, if one comes next.
    fn redirect(&mut self, command: &mut SimpleCommand) -> Option<bool> {
        let start = self.rest;
        let signs = start.trim_start_matches(|c: char| c.is_ascii_digit());
        if !signs.starts_with(['<', '>']) && !start.starts_with("&>") {
            return Some(false);
        }
        self.rest = signs;
        let sign = REDIRECTS.iter().find(|sign| self.take(sign))?;
        self.blanks();
        let target = self.word()?;
        // `2>&1>f` has a number of its own behind the stream, which a word can't tell.
        if *sign == ">&" && is_in("1 2", target.text()) && !self.rest.starts_with(['<', '>']) {
            return Some(true);
        }
        let is_file = is_in("&>> &> >> >| > <", sign);
        let is_sure = is_file && target.open_at.is_none() && !target.text.starts_with('~');
        if !is_sure && !self.guesses {
            self.rest = start;
            return None;
        }
        command.redirects.push(Redirect { writes: !sign.starts_with('<'), target });
        Some(true)
    }

    fn word(&mut self) -> Option<Word> {
        let start = self.rest;
        let mut word = Word::default();
        while let Some(c) = self.rest.chars().next() {
            let is_first = self.rest.len() == start.len();
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' => break,
                '(' | ')' | '`' if self.guesses => break,
                '\'' | '"' => self.quoted(&mut word)?,
                '{' if self.take("{}") => word.text.push_str("{}"),
                '\\' if self.take("\\\n") => {}
                '\\' => {
                    self.next();
                    word.text.push(self.next().filter(|c| !c.is_control())?);
                }
                _ if !self.guesses && (is_special(c) || is_first && c == '#') => return None,
                _ => {
                    // The program `[` is no pattern.
                    if matches!(c, '*' | '?' | '[') && !(is_first && self.rest.starts_with("[ ")) {
                        word.open_at.get_or_insert(word.text.len());
                    }
                    word.text.push(c);
                    self.next();
                }
            }
        }
        if self.guesses {
            word.open_at = word.text.find(['$', '*', '?', '[', '{']);
        }
        (self.rest.len() < start.len()).then_some(word)
    }

    /// Reads what stands in quotes; in double ones a backslash quotes four signs, and nothing is expanded.
    fn quoted(&mut self, word: &mut Word) -> Option<()> {
        let start = self.rest;
        let quote = self.next()?;
        let is_double = quote == '"';
        while let Some(c) = self.next() {
            match c {
                _ if c == quote => return Some(()),
                '$' if is_double && self.guesses && !self.rest.starts_with('(') => {
                    word.text.push(c)
                }
                '$' | '`' if is_double => break,
                '\\' if is_double && self.take("\n") => {}
                '\\' if is_double && self.rest.starts_with(['"', '\\', '$', '`']) => {
                    word.text.extend(self.next());
                }
                _ if c.is_control() && !matches!(c, '\n' | '\t') => break,
                _ => word.text.push(c),
            }
        }
        self.rest = start;
        None
    }
}

/// True for signs that expand or group, and for those that a shell may take for the end of a word or nobody sees.
fn is_special(c: char) -> bool {
    matches!(c, '$' | '`' | '(' | ')' | '{' | '}')
        || c.is_control()
        || !c.is_ascii() && !c.is_alphanumeric()
}

/// True for `NAME=value`, where a shell takes a word before the program for an assignment.
fn is_assignment(written: &str) -> bool {
    written.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// True if the text defines a function that pipes itself into itself or starts itself twice in the background.
fn starts_itself(source: &str) -> bool {
    let text: String = source.chars().filter(|c| !c.is_whitespace()).collect();
    text.match_indices("(){").any(|(at, sign)| {
        let before = text.get(..at).unwrap_or_default();
        let name = before.rsplit([';', '&', '|', '\'', '"', '{', '}']).next().unwrap_or_default();
        let body = text.get(at + sign.len()..).unwrap_or_default().chars();
        let body: String = body.take(MAX_BOMB).take_while(|c| *c != '}').collect();
        !name.is_empty()
            && ["|", "&"].iter().any(|sign| body.contains(&format!("{name}{sign}{name}")))
    })
}
