//! What a shell command would run, and whether any of it is dangerous whatever the mode.
//!
//! A command is parsed by tree-sitter's bash grammar into its simple commands, through the
//! programs that start other programs (`env`, `timeout`, `xargs`, `find -exec`, …) and the strings
//! that shells read (`bash -c`, `eval`, heredocs, `echo … | sh`), as far as the words can be seen
//! in the text. The judgement is made on those commands, so a dangerous word that is only data
//! passes.
//!
//! Deliberately not here: containment (which paths a command may touch), rules and modes, which are
//! policy's; and what other languages do (`python -c …`). This is a guard against accidents and
//! plain tricks, not a sandbox: whoever wants to hide a command from a reader can.

mod programs;
mod rules;
mod script;
mod wipes;
mod words;

use std::fmt;

use crate::bounds::{PREVIEW_CHARS, preview};
pub use words::{Redirect, SimpleCommand, Word};

/// The longest command that is parsed, in bytes: Linux takes no longer single argument
/// (`MAX_ARG_STRLEN`, 32 pages of 4 KiB with the final NUL), so `bash -c` could not run more.
pub const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;

/// Why `ropewalk` is not started inside of a command, and what to do instead.
pub const INSIDE_OF_ITSELF: &str = "ropewalk can't be run inside of a command that its own agent runs. To hand a piece of work to another agent, use the tool task";

/// How deep commands may nest, in syntax and in scripts within scripts.
const MAX_DEPTH: usize = 160;

/// The most simple commands one command may hold.
const MAX_SIMPLE_COMMANDS: usize = 20_000;

/// Why a command is refused whatever the mode; its `Display` names the part of the command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Danger {
    /// It runs something with another user's rights.
    #[error("{part}: it asks for another user's rights. Do it without, or tell the user to run it")]
    Privilege {
        /// The simple command.
        part: Part,
    },
    /// It ends, restarts or suspends the machine or everything the user runs.
    #[error("{part}: it stops the machine or everything that runs on it")]
    Power {
        /// The simple command.
        part: Part,
    },
    /// It deletes, moves or changes the rights of a whole system or home folder.
    #[error("{part}: it would take away {target}. Name the exact files inside the project")]
    Wipe {
        /// The simple command.
        part: Part,
        /// What would be lost, in words.
        target: String,
    },
    /// It writes to a device as a whole.
    #[error("{part}: it writes to the raw device {device}. Work on an image file")]
    RawDevice {
        /// The simple command.
        part: Part,
        /// The device as the command names it.
        device: String,
    },
    /// It starts itself again without end.
    #[error("{part}: it starts itself again and again without end (a fork bomb)")]
    ForkBomb {
        /// The definition or command.
        part: Part,
    },
    /// It starts this very program inside of a command.
    #[error("{part}: {INSIDE_OF_ITSELF}")]
    Itself {
        /// The simple command.
        part: Part,
    },
    /// It can't be read, so it is not known to be dangerous: policy should ask.
    #[error(transparent)]
    Unknown(#[from] UnknownSyntax),
}

impl Danger {
    /// Whether this is certain enough to deny; `false` only for [`Danger::Unknown`].
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
    /// The grammar doesn't know this; the shell may.
    #[error("the shell syntax at {near} is not understood, so what would run is not known")]
    Syntax {
        /// The text where parsing failed, shortened.
        near: Part,
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
pub struct Part(String);

impl Part {
    pub(crate) fn new(text: &str) -> Self {
        Self(preview(text, PREVIEW_CHARS))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

/// The reason to refuse `command`, if there is one.
///
/// The first certain danger in the order of the text wins; a text that can't be read throughout and
/// shows none is [`Danger::Unknown`]. Pure; linear in the length of the command for practical ones,
/// and bounded for all.
#[must_use]
pub fn dangerous(command: &str) -> Option<Danger> {
    let script = script::read(command);
    script.danger.clone().or_else(|| script.unknown.clone().map(Danger::Unknown))
}

/// Every simple command that `command` would run, in the order of the text.
///
/// A command that starts another is listed before it (`env A=1 make` gives itself and `make`), and
/// so is one that is handed a script. A redirection of a compound command belongs to the last simple
/// command in it. An allow rule must match every one of them, a deny rule any.
///
/// # Errors
/// What can't be read throughout gives no list, since a list with gaps would mislead.
pub fn simple_commands(command: &str) -> Result<Vec<SimpleCommand>, UnknownSyntax> {
    let script = script::read(command);
    match &script.unknown {
        Some(unknown) => Err(unknown.clone()),
        None => Ok(script.commands.clone()),
    }
}

/// Every simple command that could be read, and why that may not be all; for deny rules, which lose nothing by
/// a list with gaps.
#[must_use]
pub(crate) fn readable_commands(command: &str) -> (Vec<SimpleCommand>, Option<UnknownSyntax>) {
    let readable = readable(command);
    (readable.commands, readable.unknown)
}

/// What of a command can be read.
pub(crate) struct Readable {
    /// The simple commands in it.
    pub(crate) commands: Vec<SimpleCommand>,
    /// Why they may not be all.
    pub(crate) unknown: Option<UnknownSyntax>,
    /// True if a shell in it is given text that is known only when it runs (`curl … | sh`).
    pub(crate) runs_unseen: bool,
}

/// Takes a command apart as far as that goes.
#[must_use]
pub(crate) fn readable(command: &str) -> Readable {
    let script = script::read(command);
    Readable {
        commands: script.commands.clone(),
        unknown: script.unknown.clone(),
        runs_unseen: script.runs_unseen,
    }
}
