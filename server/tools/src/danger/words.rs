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
    /// A command of words alone.
    pub(super) fn of(words: Vec<Word>) -> Self {
        Self { words, ..Self::default() }
    }

    /// The program's own name without its folder; `None` when a pattern hides it.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first().filter(|word| word.open_at.is_none()).map(Word::name)
    }

    /// The words after the program.
    pub(super) fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The words joined by single spaces, without quotes, and the redirections behind them.
    #[must_use]
    pub fn text(&self) -> String {
        let sign = |redirect: &Redirect| if redirect.writes { ">" } else { "<" };
        let files = self.redirects.iter().flat_map(|file| [sign(file), file.target.text()]);
        self.words.iter().map(Word::text).chain(files).collect::<Vec<_>>().join(" ")
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
}

impl Word {
    /// The word without its quotes; patterns stay as they are written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
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

/// True if `name` stands in a list of names parted by spaces.
pub(super) fn is_in(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}
