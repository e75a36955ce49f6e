//! Words as a shell would see them: quotes and escapes resolved, expansions kept apart.
//!
//! Knows nothing of commands' meanings, and expands nothing that needs the machine: no files are
//! matched and no variable is read but those the script itself was seen to set.

use tree_sitter::Node;

/// One simple command: its words, the program first, what it assigns and where it redirects to.
///
/// An assignment or a redirection without a program has no words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// The assignments before the program, as written: `NAME=value`.
    pub assignments: Vec<String>,
    /// The files it reads from or writes to by redirection; heredocs are not among them.
    pub redirects: Vec<Redirect>,
}

impl SimpleCommand {
    /// The program's own name without its folder; `None` when an expansion hides it.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first().filter(|w| w.is_literal())?;
        word.text.rsplit('/').next()
    }

    /// The words joined by single spaces, without quotes: what a rule is matched against.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for word in &self.words {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word.text);
        }
        text
    }

    /// The command as written, its redirections with it, for messages.
    pub(super) fn shown(&self) -> String {
        let mut text = self.text();
        for redirect in &self.redirects {
            text.push_str(if redirect.writes { " > " } else { " < " });
            text.push_str(&redirect.target.text);
        }
        text.trim_start().to_owned()
    }
}

/// A file that a command's standard streams are connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Whether the file is opened for writing (`>`, `>>`, `>|`, `&>`, `<>`).
    pub writes: bool,
    /// The file's name.
    pub target: Word,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    text: String,
    pieces: Vec<Piece>,
}

/// A run of characters of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Neither quoted nor escaped: `*`, `~` and braces mean something here.
    Bare(String),
    /// Quoted or escaped.
    Quoted(String),
    /// An expansion whose value is not known, as it is written.
    Expansion(String),
}

impl Word {
    /// The word without its quotes; expansions whose value is not known stay as they are written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text is what the program will be given, file name patterns and `~` aside.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        !self.pieces.iter().any(|p| matches!(p, Piece::Expansion(_)))
    }

    /// The start that is sure, when the program may be given something else than the text: an expansion, a
    /// pattern of file names or a brace list stands in it. None when all of it is sure.
    pub(crate) fn sure_start(&self) -> Option<String> {
        let mut start = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Quoted(text) => start.push_str(text),
                Piece::Expansion(_) => return Some(start),
                Piece::Bare(text) => match text.find(['*', '?', '[', '{']) {
                    Some(at) => {
                        start.push_str(text.get(..at).unwrap_or_default());
                        return Some(start);
                    }
                    None => start.push_str(text),
                },
            }
        }
        None
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// A word of characters that are not special.
    pub(super) fn bare(text: &str) -> Self {
        let mut word = Self::default();
        word.push(Piece::Bare(text.to_owned()));
        word
    }

    /// Adds what follows without a space.
    pub(super) fn append(&mut self, other: Self) {
        for piece in other.pieces {
            self.push(piece);
        }
    }

    fn push(&mut self, piece: Piece) {
        let (Piece::Bare(text) | Piece::Quoted(text) | Piece::Expansion(text)) = &piece;
        self.text.push_str(text);
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Bare(last)), Piece::Bare(text))
            | (Some(Piece::Quoted(last)), Piece::Quoted(text)) => last.push_str(&text),
            (_, piece) => self.pieces.push(piece),
        }
    }
}

/// Gives the value of an expansion node where the script shows it.
pub(super) type Resolve<'a> = dyn Fn(Node<'_>) -> Option<String> + 'a;

/// Reads the word that `node` is. `depth` bounds how deep its parts may nest; a deeper part is
/// taken as an expansion.
pub(super) fn word(node: Node<'_>, source: &str, resolve: &Resolve<'_>, depth: usize) -> Word {
    let mut word = Word::default();
    read(node, source, resolve, depth, &mut word);
    word
}

/// A heredoc's or a double-quoted string's inside.
pub(super) fn body(node: Node<'_>, source: &str, resolve: &Resolve<'_>) -> Word {
    let mut word = Word::default();
    between(node, source, resolve, 0, &mut word, |text, word| {
        word.push(Piece::Quoted(text.to_owned()));
    });
    word
}

/// The source text of a node.
pub(super) fn source_of<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

/// Whether a node is an expansion.
fn is_expansion(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
    )
}

fn read(node: Node<'_>, source: &str, resolve: &Resolve<'_>, depth: usize, word: &mut Word) {
    let text = source_of(node, source);
    match node.kind() {
        "raw_string" => {
            let inner = text.strip_prefix('\'').unwrap_or(text);
            word.push(Piece::Quoted(inner.strip_suffix('\'').unwrap_or(inner).to_owned()));
        }
        "ansi_c_string" => {
            let inner = text.strip_prefix("$'").unwrap_or(text);
            word.push(Piece::Quoted(ansi_c(inner.strip_suffix('\'').unwrap_or(inner))));
        }
        "string" => between(node, source, resolve, 1, word, |text, word| {
            word.push(Piece::Quoted(unescape_double(text)));
        }),
        "translated_string" | "concatenation" | "command_name" if depth > 0 => {
            let mut cursor = node.walk();
            let mut at = node.start_byte() + usize::from(node.kind() == "translated_string");
            for child in node.named_children(&mut cursor) {
                bare(source.get(at..child.start_byte()).unwrap_or_default(), word);
                read(child, source, resolve, depth - 1, word);
                at = child.end_byte();
            }
            bare(source.get(at..node.end_byte()).unwrap_or_default(), word);
        }
        _ if is_expansion(node) => match resolve(node) {
            Some(value) => word.push(Piece::Bare(value)),
            None => word.push(Piece::Expansion(text.to_owned())),
        },
        "word"
        | "number"
        | "brace_expression"
        | "extglob_pattern"
        | "variable_name"
        | "special_variable_name"
        | "file_descriptor"
        | "test_operator"
        | "regex" => {
            bare(text, word);
        }
        _ => word.push(Piece::Expansion(text.to_owned())),
    }
}

/// Reads the expansions in a node and hands the text between them to `literal`; `trim` bytes at
/// both ends are its quotes.
fn between(
    node: Node<'_>,
    source: &str,
    resolve: &Resolve<'_>,
    trim: usize,
    word: &mut Word,
    literal: impl Fn(&str, &mut Word),
) {
    let end = node.end_byte().saturating_sub(trim);
    let mut at = node.start_byte() + trim;
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor).filter(|c| is_expansion(*c)) {
        // The grammar counts white space before a `$` to the expansion.
        let written = source_of(child, source);
        let name = written.trim_start();
        let start = child.end_byte().saturating_sub(name.len());
        literal(source.get(at..start).unwrap_or_default(), word);
        match resolve(child) {
            Some(value) => word.push(Piece::Quoted(value)),
            None => word.push(Piece::Expansion(name.to_owned())),
        }
        at = child.end_byte();
    }
    literal(source.get(at..end).unwrap_or_default(), word);
    if word.pieces.is_empty() {
        word.push(Piece::Quoted(String::new()));
    }
}

/// Unquoted text: a backslash quotes the next character, and with a line end both go away.
fn bare(text: &str, word: &mut Word) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            word.push(Piece::Bare(c.to_string()));
            continue;
        }
        match chars.next() {
            Some('\n') => {}
            Some(quoted) => word.push(Piece::Quoted(quoted.to_string())),
            None => word.push(Piece::Quoted("\\".to_owned())),
        }
    }
}

/// In double quotes a backslash quotes only these four, and removes a line end.
fn unescape_double(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => {
                chars.next();
            }
            ('\\', Some('"' | '\\' | '$' | '`')) => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

/// The escapes of `$'…'` (bash manual, ANSI-C Quoting); also what `echo -e` and `printf` know.
pub(super) fn ansi_c(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        let Some(c) = chars.next() else {
            out.push('\\');
            return out;
        };
        rest = chars.as_str();
        let (radix, most) = match c {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 3),
            _ => {
                match c {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'a' => out.push('\u{7}'),
                    'b' => out.push('\u{8}'),
                    'e' | 'E' => out.push('\u{1b}'),
                    'f' => out.push('\u{c}'),
                    'v' => out.push('\u{b}'),
                    '\\' | '\'' | '"' | '?' => out.push(c),
                    _ => out.extend(['\\', c]),
                }
                continue;
            }
        };
        let digits = if radix == 8 { after } else { rest };
        let len = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let (number, left) = digits.split_at_checked(len).unwrap_or((digits, ""));
        rest = left;
        if let Some(c) = u32::from_str_radix(number, radix).ok().and_then(char::from_u32) {
            out.push(c);
        }
    }
    out.push_str(rest);
    out
}
