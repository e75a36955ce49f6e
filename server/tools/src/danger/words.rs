//! Words and simple commands as a shell would see them, quotes resolved.
//!
//! No file is matched and no variable is read: a word with a pattern keeps the place where its sure part ends.

/// One simple command: its words, the program first, its assignments and the files it is redirected to.
///
/// An assignment or a redirection without a program has no words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// The assignments before the program, as written: `NAME=value`.
    pub assignments: Vec<String>,
    /// The files it reads from or writes to by redirection.
    pub redirects: Vec<Redirect>,
}

impl SimpleCommand {
    /// The program's own name without its folder; `None` when a pattern hides it.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first().filter(|word| word.open_at.is_none()).map(Word::name)
    }

    /// The words after the program.
    pub(super) fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The words joined by single spaces, without quotes: the text that a rule is matched against.
    #[must_use]
    pub fn text(&self) -> String {
        self.words.iter().map(Word::text).collect::<Vec<_>>().join(" ")
    }

    /// The command for messages, its redirections with it.
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
    /// True if the file is opened for writing (`>`, `>>`, `>|`, `&>`).
    pub writes: bool,
    /// The file's name.
    pub target: Word,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    pub(super) text: String,
    /// Where the text stops being sure: the first sign of a pattern or expansion that is not quoted.
    pub(super) open_at: Option<usize>,
    /// True if it begins with a `~` that stands for a home folder.
    pub(super) is_home: bool,
}

impl Word {
    /// The word without its quotes; patterns stay as they are written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A word of text that means nothing to the shell.
    pub(super) fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Words that are known only when the command runs.
    pub(super) fn unknown() -> Self {
        Self { open_at: Some(0), ..Self::default() }
    }

    /// The text after the last slash.
    pub(super) fn name(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// The start that is sure, when the program may be given something else than the text; None when all is sure.
    pub(crate) fn sure_start(&self) -> Option<String> {
        self.open_at.map(|at| self.text.get(..at).unwrap_or_default().to_owned())
    }
}
