//! Reads a shell command, and denies the few that do harm whatever the mode.
//!
//! Only plain commands joined by `&&`, `||`, `;`, `|` and line ends are read, through the programs that start
//! others (`env`, `timeout`, `xargs`, `sh -c`, …). Variables, substitutions, heredocs, loops and the like are not:
//! policy asks about them. This guards against accidents; the sandbox is the wall.

mod paths;
mod reader;
mod rules;
mod starts;
mod words;

use std::fmt;

use crate::bounds::{PREVIEW_CHARS, preview};
pub use words::{Redirect, SimpleCommand, Word};

/// The longest command that is parsed, in bytes: Linux takes no longer single argument
/// (`MAX_ARG_STRLEN`, 32 pages of 4 KiB with the final NUL), so `bash -c` could not run more.
pub const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;

/// Why `ropewalk` is not started inside of a command, and what to do instead.
pub const INSIDE_OF_ITSELF: &str = "ropewalk can't be run inside of a command that its own agent runs. To hand a piece of work to another agent, use the tool task";

/// Why a command is refused whatever the mode; its `Display` names the part of the command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Danger {
    /// It runs something with another user's rights.
    #[error("{part}: it asks for another user's rights. Do it without, or tell the user to run it")]
    Privilege {
        /// The simple command.
        part: Excerpt,
    },
    /// It ends, restarts or suspends the machine or everything the user runs.
    #[error("{part}: it stops the machine or everything that runs on it")]
    Power {
        /// The simple command.
        part: Excerpt,
    },
    /// It deletes, moves or changes the rights of a whole system or home folder.
    #[error("{part}: it would take away {target}. Name the exact files inside the project")]
    Wipe {
        /// The simple command.
        part: Excerpt,
        /// The loss, in words.
        target: String,
    },
    /// It writes to a device as a whole.
    #[error("{part}: it writes to the raw device {device}. Work on an image file")]
    RawDevice {
        /// The simple command.
        part: Excerpt,
        /// The device as the command names it.
        device: String,
    },
    /// It starts itself again without end.
    #[error("{part}: it starts itself again and again without end (a fork bomb)")]
    ForkBomb {
        /// The definition or command.
        part: Excerpt,
    },
    /// It starts this very program inside of a command.
    #[error("{part}: {INSIDE_OF_ITSELF}")]
    Itself {
        /// The simple command.
        part: Excerpt,
    },
    /// It can't be read, so it is not known to be dangerous: policy should ask.
    #[error(transparent)]
    Unknown(#[from] UnknownSyntax),
}

impl Danger {
    /// True if this is certain enough to deny; `false` only for [`Danger::Unknown`].
    #[must_use]
    pub fn denies(&self) -> bool {
        !matches!(self, Self::Unknown(_))
    }

    /// The result for the model: `Error: Dangerous command blocked: …`.
    #[must_use]
    pub fn result_text(&self) -> String {
        match self {
            Self::Itself { .. } => format!("Error: Refused: {self}"),
            _ => format!("Error: Dangerous command blocked: {self}"),
        }
    }
}

/// Why a command can't be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownSyntax {
    /// The text is not plain from here on, or starts something that is not followed.
    #[error("{near} is no plain command, so what would run is not known")]
    Syntax {
        /// The text where reading ended, shortened.
        near: Excerpt,
    },
    /// More than [`MAX_COMMAND_BYTES`].
    #[error(
        "the command has {bytes} bytes, more than a shell takes ({MAX_COMMAND_BYTES}). Write it to a script file and run that"
    )]
    TooLong {
        /// The length of the command.
        bytes: usize,
    },
    /// Commands within commands within commands, or too many of them.
    #[error("the command nests too deep or holds too many commands to be judged. Simplify it")]
    TooComplex,
    /// A NUL character, where a shell would stop reading.
    #[error("the command holds a NUL character, which no shell can be given. Remove it")]
    Nul,
}

/// A part of a command for a message: one line, at most 200 characters, in back quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    pub(crate) fn new(text: &str) -> Self {
        Self(preview(text, PREVIEW_CHARS))
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

/// The reason to refuse `command`, if there is one.
///
/// A certain danger wins; a text that is not plain throughout and shows none is [`Danger::Unknown`]. Pure, and linear
/// in the length of the command.
#[must_use]
pub fn dangerous(command: &str) -> Option<Danger> {
    let script = reader::read(command);
    let bomb = script.fork_bomb.map(|part| Danger::ForkBomb { part });
    rules::judge(&script.commands).or(bomb).or(script.unknown.map(Danger::Unknown))
}

/// True if a text that is not plain names a program of the table anywhere, or looks dangerous when it is cut at the
/// signs of a shell. Policy then asks although a rule allows every command.
#[must_use]
pub(crate) fn is_suspect(command: &str) -> bool {
    reader::read(command).unknown.is_some()
        && (rules::names_danger(command) || rules::judge(&reader::guess(command)).is_some())
}

/// Every simple command that `command` would run, in the order of the text.
///
/// A command that starts another is listed before it (`env A=1 make` gives itself and `make`), and so is one that is
/// handed a script. An allow rule must match every one of them, a deny rule any.
///
/// # Errors
/// A text that is not plain throughout gives no list, since a list with gaps would mislead.
pub fn simple_commands(command: &str) -> Result<Vec<SimpleCommand>, UnknownSyntax> {
    let script = reader::read(command);
    script.unknown.map_or(Ok(script.commands), Err)
}

/// The commands that could be read or guessed, and why that may not be all; for deny rules, which lose nothing by
/// a list with gaps.
#[must_use]
pub(crate) fn readable_commands(command: &str) -> (Vec<SimpleCommand>, Option<UnknownSyntax>) {
    let mut script = reader::read(command);
    if script.unknown.is_some() {
        script.commands.extend(reader::guess(command));
    }
    (script.commands, script.unknown)
}
