//! Reads a command into its simple commands, in the order of the text.
//!
//! Walks the syntax tree once; the meaning of programs is asked from [`programs`], the judgement
//! from [`rules`]. Nothing here runs, matches files or reads the environment.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use super::words::{self, Redirect, SimpleCommand, Word, source_of};
use super::{
    Danger, MAX_COMMAND_BYTES, MAX_DEPTH, MAX_SIMPLE_COMMANDS, Part, UnknownSyntax, programs, rules,
};

/// The longest value that stands in for an expansion; longer ones stay unknown, so that values
/// built of values can't grow without bound.
const MAX_VALUE_BYTES: usize = 4096;

/// Signs with which the parser's time and memory grow with the square of how many there are, and the most of each that
/// are parsed: a real command has few.
const MAX_SIGNS: &[(&str, usize)] = &[("|", 500), ("<<", 500), ("=(", 100)];

/// How long one command is parsed at most, scripts within scripts together.
const MAX_TIME: Duration = Duration::from_secs(2);

/// How many commands are kept as they were read: policy asks for one several times.
const KEPT: usize = 4;

/// A command taken apart and judged.
pub(super) struct Script {
    pub(super) commands: Vec<SimpleCommand>,
    /// The first certain danger.
    pub(super) danger: Option<Danger>,
    /// The first thing that could not be read.
    pub(super) unknown: Option<UnknownSyntax>,
    /// True if a shell in it is given text that is not seen here.
    pub(super) runs_unseen: bool,
}

/// Reads and judges `command`; once, while it is among the last few.
pub(super) fn read(command: &str) -> Arc<Script> {
    static LAST: Mutex<VecDeque<(String, Arc<Script>)>> = Mutex::new(VecDeque::new());
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = last().iter().find(|(text, _)| text == command) {
        return known.clone();
    }
    let script = Arc::new(read_anew(command));
    let mut last = last();
    last.truncate(KEPT - 1);
    last.push_front((command.to_owned(), script.clone()));
    script
}

fn read_anew(command: &str) -> Script {
    let until = Instant::now() + MAX_TIME;
    let mut reader =
        Reader { bytes_left: 4 * MAX_COMMAND_BYTES, until: Some(until), ..Reader::default() };
    reader.script(command, 0);
    let commands: Vec<SimpleCommand> = reader.found.into_iter().map(|f| f.command).collect();
    let danger = rules::judge(&commands).or(reader.fork_bomb);
    Script { commands, danger, unknown: reader.unknown, runs_unseen: reader.runs_unseen }
}

/// What comes in on a command's standard input.
#[derive(Clone, Default)]
struct Input {
    /// What is seen of it.
    text: Option<Arc<str>>,
    /// True if something else comes in, or what is seen may be another text by then.
    is_unseen: bool,
}

impl Input {
    const UNSEEN: Self = Self { text: None, is_unseen: true };

    /// What commands print, and whether that is certain.
    fn of(output: Option<(String, bool)>) -> Self {
        match output {
            Some((text, certain)) => Self { text: Some(text.into()), is_unseen: !certain },
            None => Self::UNSEEN,
        }
    }

    fn of_word(word: &Word) -> Self {
        Self { text: Some(word.text().into()), is_unseen: !word.is_literal() }
    }
}

/// Standard input as the parts of a redirection make it.
struct Feed {
    stdin: Option<Input>,
    is_unseen: bool,
}

/// A simple command and what is known of its streams.
struct Found {
    command: SimpleCommand,
    stdin: Input,
    /// Whether what it prints was already taken by a pipe or a substitution.
    taken: bool,
}

#[derive(Default)]
struct Reader {
    found: Vec<Found>,
    /// The last command that the text itself holds, not one that was handed to another.
    last: Option<usize>,
    fork_bomb: Option<Danger>,
    unknown: Option<UnknownSyntax>,
    runs_unseen: bool,
    /// Variables the script was seen to set to a known value.
    variables: HashMap<String, String>,
    /// The standard input of the commands being walked.
    stdin: Input,
    /// How much text may still be parsed, scripts within scripts together.
    bytes_left: usize,
    /// When nothing more is parsed.
    until: Option<Instant>,
}

/// The syntax tree being walked: its text, and the values of its substitutions by node.
struct Tree<'a> {
    source: &'a str,
    values: HashMap<usize, Option<String>>,
}

impl Reader {
    fn give_up(&mut self, why: UnknownSyntax) {
        self.unknown.get_or_insert(why);
    }

    /// Parses and walks one script.
    fn script(&mut self, source: &str, depth: usize) {
        if source.len() > MAX_COMMAND_BYTES {
            return self.give_up(UnknownSyntax::TooLong { bytes: source.len() });
        }
        if source.contains('\0') {
            return self.give_up(UnknownSyntax::Nul);
        }
        let Some(left) = self.bytes_left.checked_sub(source.len()) else {
            return self.give_up(UnknownSyntax::TooComplex);
        };
        self.bytes_left = left;
        if MAX_SIGNS.iter().any(|(sign, most)| source.matches(sign).count() > *most) {
            return self.give_up(UnknownSyntax::TooComplex);
        }
        let joined = join_lines(source);
        let source = joined.as_deref().unwrap_or(source);
        let mut parser = Parser::new();
        let tree = match parser.set_language(&tree_sitter_bash::LANGUAGE.into()) {
            Ok(()) => self.parse(&mut parser, &for_grammar(source)),
            Err(_) => None,
        };
        let Some(tree) = tree else {
            if self.is_late() {
                return self.give_up(UnknownSyntax::TooComplex);
            }
            return self.give_up(UnknownSyntax::Syntax { near: Part::new(source) });
        };
        if tree.root_node().has_error() {
            let near = Part::new(first_error(tree.root_node(), source));
            self.give_up(UnknownSyntax::Syntax { near });
        }
        let mut tree_text = Tree { source, values: HashMap::new() };
        self.walk(tree.root_node(), &mut tree_text, depth);
    }

    /// Parses until the time is over.
    fn parse(&self, parser: &mut Parser, bytes: &[u8]) -> Option<tree_sitter::Tree> {
        let mut go_on = |_: &ParseState| match self.is_late() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = ParseOptions::new().progress_callback(&mut go_on);
        let from = &mut |at: usize, _| bytes.get(at..).unwrap_or_default();
        parser.parse_with_options(from, None, Some(options))
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    fn walk(&mut self, node: Node<'_>, tree: &mut Tree<'_>, depth: usize) {
        if depth > MAX_DEPTH || self.found.len() > MAX_SIMPLE_COMMANDS || self.is_late() {
            return self.give_up(UnknownSyntax::TooComplex);
        }
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => self.command(node, tree, depth),
            "redirected_statement" => self.redirected(node, tree, depth),
            "pipeline" => self.pipeline(node, tree, depth),
            "command_substitution" | "process_substitution" => {
                self.substitution(node, tree, depth);
            }
            "variable_assignment" => self.assignment(node, tree, depth),
            "function_definition" => {
                if let Some(name) = node.child_by_field_name("name")
                    && respawns(node, source_of(name, tree.source), tree.source, depth)
                {
                    let part = Part::new(source_of(node, tree.source));
                    self.fork_bomb.get_or_insert(Danger::ForkBomb { part });
                }
                // Nobody knows what its callers feed it.
                let outer = std::mem::replace(&mut self.stdin, Input::UNSEEN);
                self.children(node, tree, depth);
                self.stdin = outer;
            }
            _ => self.children(node, tree, depth),
        }
    }

    fn children(&mut self, node: Node<'_>, tree: &mut Tree<'_>, depth: usize) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.walk(child, tree, depth + 1);
        }
    }

    /// Walks with another standard input, then puts the old one back.
    fn fed(&mut self, stdin: Input, node: Node<'_>, tree: &mut Tree<'_>, depth: usize) {
        let outer = std::mem::replace(&mut self.stdin, stdin);
        self.walk(node, tree, depth + 1);
        self.stdin = outer;
    }

    /// Each stage's visible output is the next one's input.
    fn pipeline(&mut self, node: Node<'_>, tree: &mut Tree<'_>, depth: usize) {
        let mut stdin = self.stdin.clone();
        let mut cursor = node.walk();
        let stages: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for (at, stage) in stages.iter().enumerate() {
            let start = self.found.len();
            self.fed(std::mem::take(&mut stdin), *stage, tree, depth);
            if at + 1 < stages.len() {
                stdin = Input::of(self.take_output(start));
            }
        }
    }

    fn substitution(&mut self, node: Node<'_>, tree: &mut Tree<'_>, depth: usize) {
        let start = self.found.len();
        if source_of(node, tree.source).trim_start().starts_with(">(") {
            // Whatever is written under its name comes in.
            let outer = std::mem::replace(&mut self.stdin, Input::UNSEEN);
            self.children(node, tree, depth);
            self.stdin = outer;
            return;
        }
        self.children(node, tree, depth);
        if node.kind() == "process_substitution" {
            // Its output is read by the command that is given its name.
            return;
        }
        let output = self.take_output(start);
        let value = output.filter(|(_, certain)| *certain).map(|(text, _)| text);
        tree.values.insert(node.id(), value.filter(|v| v.len() <= MAX_VALUE_BYTES));
    }

    fn assignment(&mut self, node: Node<'_>, tree: &mut Tree<'_>, depth: usize) {
        self.children(node, tree, depth);
        let Some(name) = node.child_by_field_name("name") else { return };
        let name = source_of(name, tree.source);
        let value = match node.child_by_field_name("value") {
            Some(value) => Some(self.word(value, tree)).filter(Word::is_literal),
            None => Some(Word::default()),
        };
        match value.filter(|v| v.text().len() <= MAX_VALUE_BYTES) {
            Some(value) => self.variables.insert(name.to_owned(), value.text().to_owned()),
            None => self.variables.remove(name),
        };
        if node.parent().is_none_or(|p| p.kind() != "declaration_command") {
            let assignments = vec![source_of(node, tree.source).to_owned()];
            let command = SimpleCommand { assignments, ..SimpleCommand::default() };
            self.push(command, Input::default(), depth);
        }
    }

    fn command(&mut self, node: Node<'_>, tree: &mut Tree<'_>, depth: usize) {
        let mut command = SimpleCommand::default();
        let mut stdin = self.stdin.clone();
        if node.kind() != "command" {
            // `export`, `unset` and their like are the node's own first word.
            let first = node.child(0).map_or("", |c| source_of(c, tree.source));
            command.words.push(Word::bare(first));
        }
        let mut end = node.start_byte();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "variable_assignment" if node.kind() == "command" => {
                    self.children(child, tree, depth + 1);
                    command.assignments.push(source_of(child, tree.source).to_owned());
                }
                "file_redirect" | "heredoc_redirect" => {
                    let text = self.redirect(child, tree, depth, &mut command);
                    stdin = text.unwrap_or(stdin);
                }
                kind => {
                    let start = self.found.len();
                    self.walk(child, tree, depth + 1);
                    if kind == "process_substitution" {
                        let output = self.take_output(start);
                        if stdin.text.is_none() {
                            stdin = Input::of(output);
                        }
                    }
                    let word = match kind {
                        "variable_assignment" => Word::bare(source_of(child, tree.source)),
                        _ => self.word(child, tree),
                    };
                    match command.words.last_mut() {
                        // The grammar ends a word at some quotes where the shell doesn't.
                        Some(last) if child.start_byte() == end && end > node.start_byte() => {
                            last.append(word);
                        }
                        _ => command.words.push(word),
                    }
                }
            }
            end = child.end_byte();
        }
        self.last = Some(self.found.len());
        self.push(command, stdin, depth);
    }

    /// Adds a command, and what it starts or reads as a script.
    fn push(&mut self, command: SimpleCommand, stdin: Input, depth: usize) {
        if depth > MAX_DEPTH || self.found.len() > MAX_SIMPLE_COMMANDS {
            return self.give_up(UnknownSyntax::TooComplex);
        }
        let starts = programs::starts(&command, stdin.text.as_deref());
        self.runs_unseen |= programs::runs_unseen(&command, stdin.is_unseen);
        self.found.push(Found { command, stdin: stdin.clone(), taken: false });
        for start in starts {
            match start {
                programs::Start::Command(words) => {
                    let command = SimpleCommand { words, ..SimpleCommand::default() };
                    self.push(command, stdin.clone(), depth + 8);
                }
                programs::Start::Script(text) => {
                    let last = self.last;
                    self.script(&text, depth + 8);
                    self.last = last;
                }
            }
        }
    }

    fn redirected(&mut self, node: Node<'_>, tree: &mut Tree<'_>, depth: usize) {
        let body = node.child_by_field_name("body");
        let mut extra = SimpleCommand::default();
        let mut stdin = self.stdin.clone();
        let mut heredocs = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).filter(|c| Some(*c) != body) {
            let text = self.redirect(child, tree, depth, &mut extra);
            stdin = text.unwrap_or(stdin);
            if child.kind() == "heredoc_redirect" {
                heredocs.push(child);
            }
        }
        let start = self.found.len();
        self.last = None;
        if let Some(body) = body {
            self.fed(stdin.clone(), body, tree, depth);
            let last = self.last.and_then(|at| self.found.get(at));
            if last.is_some_and(|last| programs::keeps_input(&last.command)) {
                // What comes after it reads the same.
                self.stdin = stdin;
            }
        }
        match self.last.and_then(|at| self.found.get_mut(at)) {
            Some(last) => {
                last.command.redirects.append(&mut extra.redirects);
                last.command.words.append(&mut extra.words);
            }
            None => self.push(extra, Input::default(), depth),
        }
        // What follows a heredoc's start on its line hangs below it in the tree: `cat <<A | sh`.
        for heredoc in heredocs {
            let mut cursor = heredoc.walk();
            for child in heredoc.named_children(&mut cursor) {
                if child.kind() == "pipeline" && child.child(0).is_some_and(|c| c.kind() == "|") {
                    let stdin = Input::of(self.take_output(start));
                    self.fed(stdin, child, tree, depth);
                } else if !is_heredoc_part(child) {
                    self.walk(child, tree, depth + 1);
                }
            }
        }
    }

    /// Notes a redirection in `command`; gives the text it feeds to standard input, if visible.
    fn redirect(
        &mut self,
        node: Node<'_>,
        tree: &mut Tree<'_>,
        depth: usize,
        command: &mut SimpleCommand,
    ) -> Option<Input> {
        let text = source_of(node, tree.source).trim_start_matches(|c: char| c.is_ascii_digit());
        // For the grammar `<>` only writes.
        let mut feed = Feed { stdin: None, is_unseen: text.starts_with("<>") };
        let mut cursor = node.walk();
        let children = node.named_children(&mut cursor);
        let children = children.filter(|child| child.kind() != "file_descriptor");
        for (at, child) in children.enumerate() {
            if node.kind() == "heredoc_redirect" {
                self.heredoc_part(child, tree, depth, command, &mut feed);
                continue;
            }
            let start = self.found.len();
            self.walk(child, tree, depth + 1);
            let word = self.word(child, tree);
            if at > 0 {
                // The grammar counts arguments after a redirection to it.
                command.words.push(word);
            } else if text.starts_with("<<<") {
                feed.stdin = Some(Input::of_word(&word));
            } else {
                self.redirect_file(operator_of(node), word, start, command, &mut feed);
            }
        }
        if feed.is_unseen {
            feed.stdin.get_or_insert_default().is_unseen = true;
        }
        feed.stdin
    }

    fn heredoc_part(
        &mut self,
        part: Node<'_>,
        tree: &mut Tree<'_>,
        depth: usize,
        command: &mut SimpleCommand,
        feed: &mut Feed,
    ) {
        match part.kind() {
            "heredoc_body" => {
                self.walk(part, tree, depth + 1);
                let resolve = |n: Node<'_>| self.value(n, tree);
                feed.stdin = Some(Input::of_word(&words::body(part, tree.source, &resolve)));
            }
            "file_redirect" => {
                // It may come after the heredoc, and then counts in its place.
                let other = self.redirect(part, tree, depth + 1, command);
                feed.is_unseen |= other.is_some_and(|other| other.is_unseen);
            }
            _ if part.parent().is_some() && is_argument(part) => {
                self.walk(part, tree, depth + 1);
                command.words.push(self.word(part, tree));
            }
            _ => {}
        }
    }

    /// Notes a redirection to or from a file or a descriptor. `start`: the commands from there on are in its name.
    fn redirect_file(
        &mut self,
        operator: &str,
        target: Word,
        start: usize,
        command: &mut SimpleCommand,
        feed: &mut Feed,
    ) {
        if operator == "<" {
            feed.stdin = Some(match target.text() {
                "/dev/null" => Input::default(),
                _ => Input::of(self.take_output(start)),
            });
            command.redirects.push(Redirect { writes: false, target });
        } else if operator == "<&" && !matches!(target.text(), "0" | "-") {
            // Nobody knows what that was opened for.
            feed.is_unseen = true;
            if !is_descriptor(target.text()) {
                command.redirects.push(Redirect { writes: false, target });
            }
        } else if !is_descriptor(target.text()) || !operator.ends_with('&') {
            command.redirects.push(Redirect { writes: operator != "<&", target });
        }
    }

    fn word(&self, node: Node<'_>, tree: &Tree<'_>) -> Word {
        let resolve = |n: Node<'_>| self.value(n, tree);
        words::word(node, tree.source, &resolve, MAX_DEPTH)
    }

    /// The value of an expansion where the text shows it.
    fn value(&self, node: Node<'_>, tree: &Tree<'_>) -> Option<String> {
        match node.kind() {
            "command_substitution" => {
                let value = tree.values.get(&node.id()).cloned().flatten()?;
                Some(value.trim_end_matches('\n').to_owned())
            }
            "simple_expansion" | "expansion" => {
                let written = source_of(node, tree.source).trim_start().strip_prefix('$')?;
                let name =
                    written.strip_prefix('{').and_then(|w| w.strip_suffix('}')).unwrap_or(written);
                self.variables.get(name).cloned()
            }
            _ => None,
        }
    }

    /// What the commands from `start` on print, with whether that is all and certain; each
    /// command's output goes to one reader only.
    fn take_output(&mut self, start: usize) -> Option<(String, bool)> {
        let output = self.output(start);
        for found in self.found.iter_mut().skip(start) {
            found.taken = true;
        }
        output
    }

    fn output(&self, start: usize) -> Option<(String, bool)> {
        let mut output: Option<(String, bool)> = None;
        let mut silent = false;
        for found in self.found.iter().skip(start).filter(|f| !f.taken) {
            let stdin = found.stdin.text.as_deref();
            let Some((text, certain)) = programs::prints(&found.command, stdin) else {
                silent = true;
                continue;
            };
            let (all, sure) = output.get_or_insert((String::new(), true));
            all.push_str(&text);
            *sure &= certain && !found.stdin.is_unseen;
        }
        output.map(|(text, certain)| (text, certain && !silent))
    }
}

/// The text as the grammar is given it, each byte in its place; words are read from the original.
///
/// Bytes outside ASCII become `%`: the grammar's scanner takes Unicode spaces for spaces, which
/// shells don't, and reads past a C table for characters after a brace. `<<<` becomes `<` and `<>`
/// becomes `>`, which the grammar knows after every command and not only after simple ones.
fn for_grammar(source: &str) -> Vec<u8> {
    let text = source.replace("<<<", "<  ").replace("<>", "> ");
    text.bytes().map(|b| if b.is_ascii() { b } else { b'%' }).collect()
}

/// Joins words that a backslash continues on the next line, which the grammar would split;
/// `None` when there are none.
///
/// Comments don't continue. In single quotes a shell keeps the line end, where it is only data.
fn join_lines(source: &str) -> Option<String> {
    source.contains("\\\n").then(|| {
        let mut out = String::with_capacity(source.len());
        let mut chars = source.chars().peekable();
        let mut comment = false;
        while let Some(c) = chars.next() {
            match (c, chars.peek()) {
                ('\\', Some('\n')) if !comment => {
                    chars.next();
                    continue;
                }
                ('\\', Some(_)) if !comment => {
                    out.push(c);
                    out.extend(chars.next());
                    continue;
                }
                ('#', _) => comment |= out.chars().next_back().is_none_or(char::is_whitespace),
                ('\n', _) => comment = false,
                _ => {}
            }
            out.push(c);
        }
        out
    })
}

/// The text of the first node that could not be parsed.
fn first_error<'a>(root: Node<'_>, source: &'a str) -> &'a str {
    let mut node = root;
    loop {
        if node.is_error() || node.is_missing() {
            return source.get(node.start_byte()..).unwrap_or_default();
        }
        let mut cursor = node.walk();
        let Some(next) = node.children(&mut cursor).find(|c| c.has_error()) else {
            return source_of(node, source);
        };
        node = next;
    }
}

/// The redirection's sign: `>`, `>>`, `<&`, …
fn operator_of<'a>(node: Node<'a>) -> &'a str {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|c| !c.is_named()).map_or("", |c| c.kind())
}

fn is_descriptor(target: &str) -> bool {
    target == "-" || target.bytes().all(|b| b.is_ascii_digit())
}

fn is_heredoc_part(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "heredoc_start" | "heredoc_body" | "heredoc_end" | "file_redirect" | "file_descriptor"
    ) || is_argument(node)
}

/// Whether a node below a heredoc's start is an argument of the command before it.
fn is_argument(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "word"
            | "string"
            | "raw_string"
            | "ansi_c_string"
            | "translated_string"
            | "concatenation"
            | "number"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
    )
}

/// Whether a function's body pipes the function into itself or starts it in the background.
fn respawns(node: Node<'_>, name: &str, source: &str, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
    let own_calls = children.iter().filter(|c| calls(**c, name, source, depth)).count();
    if node.kind() == "pipeline" && own_calls > 1 {
        return true;
    }
    let in_background = children.windows(2).any(|pair| match pair {
        [call, sign] => sign.kind() == "&" && calls(*call, name, source, depth),
        _ => false,
    });
    in_background || children.iter().any(|c| respawns(*c, name, source, depth + 1))
}

/// Whether `node` is a call of `name`, alone or as part of a pipeline, list or group.
fn calls(node: Node<'_>, name: &str, source: &str, depth: usize) -> bool {
    match node.kind() {
        "command" => node.child_by_field_name("name").is_some_and(|n| source_of(n, source) == name),
        "pipeline" | "list" | "redirected_statement" | "subshell" | "compound_statement"
            if depth <= MAX_DEPTH =>
        {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).any(|c| calls(c, name, source, depth + 1))
        }
        _ => false,
    }
}
