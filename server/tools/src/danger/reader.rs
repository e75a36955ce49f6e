//! Reads plain commands joined by `&&`, `||`, `;`, `|` and line ends. Anything else ends the reading.
//!
//! Up to there each word is exact, so a danger before it is as sure as in a plain text.

use super::words::{Redirect, SimpleCommand, Word};
use super::{Excerpt, MAX_COMMAND_BYTES, UnknownSyntax, starts};
use std::iter::Peekable;
use std::str::CharIndices;

/// How deep commands may start each other and scripts may stand in scripts.
const MAX_DEPTH: usize = 12;

/// The longest function body that is looked at for calls of itself, in characters.
const MAX_BOMB: usize = 200;

/// The shell's own words, and builtins that define, evaluate or change how later commands are read.
const NOT_PLAIN: &[&str] = &[
    "!",
    ".",
    "[[",
    "alias",
    "bind",
    "case",
    "compgen",
    "complete",
    "coproc",
    "declare",
    "do",
    "done",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "fc",
    "fi",
    "for",
    "function",
    "hash",
    "if",
    "jobs",
    "let",
    "mapfile",
    "readarray",
    "select",
    "shopt",
    "source",
    "then",
    "trap",
    "typeset",
    "until",
    "while",
    "{",
    "}",
];

/// A command taken apart, as far as it is plain.
#[derive(Default)]
pub(super) struct Script {
    pub(super) commands: Vec<SimpleCommand>,
    /// The first thing that is not plain.
    pub(super) unknown: Option<UnknownSyntax>,
    /// A definition that starts itself without end.
    pub(super) fork_bomb: Option<Excerpt>,
}

/// Reads `command` and the scripts in it.
pub(super) fn read(command: &str) -> Script {
    let mut script = Script::default();
    script.read(command, 0);
    script
}

impl Script {
    pub(super) fn give_up(&mut self, why: UnknownSyntax) {
        self.unknown.get_or_insert(why);
    }

    /// Notes that `near` can't be told before it runs.
    pub(super) fn not_plain(&mut self, near: &str) {
        self.give_up(UnknownSyntax::Syntax { near: Excerpt::new(near) });
    }

    pub(super) fn read(&mut self, source: &str, depth: usize) {
        if source.len() > MAX_COMMAND_BYTES {
            return self.give_up(UnknownSyntax::TooLong { bytes: source.len() });
        }
        if source.contains('\0') {
            return self.give_up(UnknownSyntax::Nul);
        }
        let mut lexer = Lexer { source, chars: source.char_indices().peekable() };
        loop {
            let mut command = SimpleCommand::default();
            let ended = lexer.command(&mut command);
            let is_empty = command == SimpleCommand::default();
            if !is_empty {
                self.add(command, depth);
            }
            match ended {
                Ok(Joint::End) => return,
                Ok(Joint::Line) => {}
                Ok(Joint::Sign) if !is_empty => {}
                Ok(Joint::Sign) => return self.not_plain(lexer.rest()),
                Err(near) => {
                    if self.fork_bomb.is_none() && starts_itself(source) {
                        self.fork_bomb = Some(Excerpt::new(source));
                    }
                    return self.not_plain(near);
                }
            }
        }
    }

    /// Adds a command, and all that it starts.
    pub(super) fn add(&mut self, command: SimpleCommand, depth: usize) {
        if depth > MAX_DEPTH {
            return self.give_up(UnknownSyntax::TooComplex);
        }
        self.commands.push(command.clone());
        match command.program() {
            Some(name) if NOT_PLAIN.contains(&name) => self.not_plain(&command.shown()),
            Some(_) => starts::follow(self, &command, depth + 1),
            None if command.words.is_empty() => {}
            None => self.not_plain(&command.shown()),
        }
    }
}

/// How a simple command ends.
enum Joint {
    /// `&&`, `||`, `;` or `|`.
    Sign,
    /// A line's end.
    Line,
    /// The end of the text.
    End,
}

struct Lexer<'a> {
    source: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

impl<'a> Lexer<'a> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    /// The text that is not read yet.
    fn rest(&mut self) -> &'a str {
        let at = self.chars.peek().map_or(self.source.len(), |(at, _)| *at);
        self.source.get(at..).unwrap_or_default()
    }

    /// Takes `text` if it comes next.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        for _ in text.chars().take_while(|_| is_next) {
            self.chars.next();
        }
        is_next
    }

    fn blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\\\n") {}
    }

    /// Reads one simple command and what joins it to the next; the error is the text that is not plain.
    fn command(&mut self, command: &mut SimpleCommand) -> Result<Joint, &'a str> {
        loop {
            self.blanks();
            let rest = self.rest();
            if rest.is_empty() {
                return Ok(Joint::End);
            } else if self.take("\n") {
                return Ok(Joint::Line);
            } else if self.redirect(command)? {
                continue;
            }
            let is_other = rest.starts_with("|&") || rest.starts_with(";;");
            if !is_other && ["&&", "||", "|", ";"].iter().any(|sign| self.take(sign)) {
                return Ok(Joint::Sign);
            }
            let word = self.word()?;
            let written = rest.len() - self.rest().len();
            let written = rest.get(..written).unwrap_or_default().replace("\\\n", "");
            if command.words.is_empty() && is_assignment(&written) {
                command.assignments.push(written);
            } else {
                command.words.push(word);
            }
        }
    }

    /// Reads a redirection to or from a file with a sure name, or between the three streams, if one comes next.
    fn redirect(&mut self, command: &mut SimpleCommand) -> Result<bool, &'a str> {
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (descriptor, signs) = rest.split_at_checked(digits).unwrap_or(("", rest));
        let is_both = digits == 0 && signs.starts_with("&>");
        if !signs.starts_with(['<', '>']) && !is_both {
            return Ok(false);
        }
        self.take(descriptor);
        if ["<<", "<&", "<>", "<("].iter().any(|sign| signs.starts_with(sign)) {
            return Err(rest);
        }
        if self.take(">&") {
            let is_stream = self.take("1") || self.take("2");
            let is_over = self.peek().is_none_or(|c| " \t\n;|&".contains(c));
            return if is_stream && is_over { Ok(true) } else { Err(rest) };
        }
        let writes = !self.take("<");
        let _ = writes
            && (self.take("&>>")
                || self.take("&>")
                || self.take(">>")
                || self.take(">|")
                || self.take(">"));
        self.blanks();
        let target = self.word()?;
        if target.open_at.is_some() || target.is_home {
            return Err(rest);
        }
        command.redirects.push(Redirect { writes, target });
        Ok(true)
    }

    fn word(&mut self) -> Result<Word, &'a str> {
        let start = self.rest();
        let mut word = Word { is_home: start.starts_with('~'), ..Word::default() };
        while let Some(c) = self.peek() {
            let rest = self.rest();
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' => break,
                '\'' | '"' => self.quoted(c, &mut word)?,
                '\\' => {
                    self.chars.next();
                    match self.chars.next() {
                        Some((_, '\n')) => {}
                        Some((_, c)) if !c.is_control() => word.text.push(c),
                        _ => return Err(rest),
                    }
                }
                '{' if rest.starts_with("{}") => {
                    self.take("{}");
                    word.text.push_str("{}");
                }
                '#' if rest.len() == start.len() => return Err(rest),
                '$' | '`' | '(' | ')' | '{' | '}' => return Err(rest),
                // A shell may take other blanks and signs that are not seen for the end of a word.
                _ if c.is_control() || !c.is_ascii() && !c.is_alphanumeric() => return Err(rest),
                _ => {
                    // The program `[` is no pattern.
                    let is_test = c == '[' && rest.len() == start.len() && rest.starts_with("[ ");
                    if matches!(c, '*' | '?' | '[') && !is_test {
                        word.open_at.get_or_insert(word.text.len());
                    }
                    word.text.push(c);
                    self.chars.next();
                }
            }
        }
        match start.len() == self.rest().len() {
            true => Err(start),
            false => Ok(word),
        }
    }

    /// Reads what stands in quotes; in double ones a backslash quotes four signs, and nothing is expanded.
    fn quoted(&mut self, quote: char, word: &mut Word) -> Result<(), &'a str> {
        let start = self.rest();
        self.chars.next();
        while let Some((_, c)) = self.chars.next() {
            match c {
                _ if c == quote => return Ok(()),
                '$' | '`' if quote == '"' => return Err(start),
                '\\' if quote == '"' => match self.peek() {
                    Some('\n') => _ = self.chars.next(),
                    Some(next @ ('"' | '\\' | '$' | '`')) => {
                        word.text.push(next);
                        self.chars.next();
                    }
                    _ => word.text.push('\\'),
                },
                _ if c.is_control() && !matches!(c, '\n' | '\t') => return Err(start),
                _ => word.text.push(c),
            }
        }
        Err(start)
    }
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
        let (before, body) =
            (text.get(..at).unwrap_or_default(), text.get(at + sign.len()..).unwrap_or_default());
        let from = before.rfind([';', '&', '|', '\'', '"', '{', '}']).map_or(0, |at| at + 1);
        let name = before.get(from..).unwrap_or_default();
        // Nobody writes a longer one.
        let body: String = body.chars().take(MAX_BOMB).take_while(|c| *c != '}').collect();
        !name.is_empty()
            && ["|", "&"].iter().any(|sign| body.contains(&format!("{name}{sign}{name}")))
    })
}

/// Cuts a text that is not plain at the signs of a shell outside of quotes, for those who lose nothing by a guess:
/// deny rules, and the look-up of paths.
pub(super) fn guess(source: &str) -> Vec<SimpleCommand> {
    let mut commands = vec![SimpleCommand::default()];
    let (mut word, mut quote) = (Word::default(), None);
    for c in source.chars().chain(['\n']) {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            // A substitution holds a command, in double quotes too.
            ('(' | '`', Some('"')) if c == '`' || word.text.ends_with('$') => {
                quote = None;
                word = Word::default();
                commands.push(SimpleCommand::default());
            }
            ('$' | '*' | '?' | '[' | '{', _) => {
                word.open_at.get_or_insert(word.text.len());
                word.text.push(c);
            }
            (_, None) if c.is_whitespace() || ";|&()`<>".contains(c) => {
                let ends = !matches!(c, ' ' | '\t' | '<' | '>');
                if let Some(last) = commands.last_mut() {
                    let is_keyword =
                        last.words.is_empty() && NOT_PLAIN.contains(&word.text.as_str());
                    if !word.text.is_empty() && !is_keyword {
                        last.words.push(std::mem::take(&mut word));
                    }
                    word = Word::default();
                    if ends && !last.words.is_empty() {
                        commands.push(SimpleCommand::default());
                    }
                }
            }
            _ => word.text.push(c),
        }
    }
    commands.retain(|command| !command.words.is_empty());
    commands
}
