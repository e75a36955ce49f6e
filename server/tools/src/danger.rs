//! Reads a shell command, and denies the few that do harm whatever the mode.
//!
//! Only plain commands joined by `&&`, `||`, `;`, `|` and line ends are read, through the programs that start
//! others (`env`, `timeout`, `xargs`, `sh -c`, …). Variables, substitutions, heredocs, loops and the like are not:
//! policy asks about them. This guards against accidents; the sandbox is the wall.

mod places;
mod reader;
mod starts;
mod table;
mod words;

use crate::bounds::{PREVIEW_CHARS, preview};
pub use words::{Redirect, SimpleCommand, Word};

/// The longest command that is read, in bytes: Linux takes no longer single argument
/// (`MAX_ARG_STRLEN`, 32 pages of 4 KiB with the final NUL), so `bash -c` could not run more.
pub const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;

/// Why `ropewalk` is not started inside of a command, and what to do instead.
pub const INSIDE_OF_ITSELF: &str = "ropewalk can't be run inside of a command that its own agent runs. To hand a piece of work to another agent, use the tool task";

/// Why a command is refused or asked about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{part}`: {kind}")]
pub struct Danger {
    /// The reason.
    pub kind: DangerKind,
    /// The simple command that is meant, or the start of what can't be read; one line, shortened.
    pub part: String,
}

/// The kinds of danger in the table, and the one for a command that can't be read. `Display` is said behind the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DangerKind {
    /// It runs something with another user's rights.
    #[error("it asks for another user's rights. Do it without, or tell the user to run it")]
    Privilege,
    /// It ends, restarts or suspends the machine or everything the user runs.
    #[error("it stops the machine or everything that runs on it")]
    Power,
    /// It deletes, moves or changes the rights of a whole system or home folder.
    #[error(
        "it would take away a whole system or home folder. Name the exact files inside the project"
    )]
    Wipe,
    /// It writes to a device as a whole.
    #[error("it writes to a raw device. Work on an image file")]
    RawDevice,
    /// It starts itself again without end.
    #[error("it starts itself again and again without end (a fork bomb)")]
    ForkBomb,
    /// It starts this very program inside of a command.
    #[error("{INSIDE_OF_ITSELF}")]
    Itself,
    /// It is more than plain commands, starts something that is not followed, or is longer than
    /// [`MAX_COMMAND_BYTES`]: policy should ask.
    #[error("it is no plain command, so what would run is not known")]
    NotPlain,
}

impl Danger {
    fn new(kind: DangerKind, part: &str) -> Self {
        Self { kind, part: preview(part, PREVIEW_CHARS) }
    }

    /// True if this is certain enough to deny; false for a command that can't be read.
    #[must_use]
    pub fn denies(&self) -> bool {
        self.kind != DangerKind::NotPlain
    }

    /// The result for the model: `Error: Dangerous command blocked: …`.
    #[must_use]
    pub fn result_text(&self) -> String {
        match self.kind {
            DangerKind::Itself => format!("Error: Refused: {self}"),
            _ => format!("Error: Dangerous command blocked: {self}"),
        }
    }
}

/// The reason to refuse `command` or to ask about it, if there is one; a certain danger wins.
///
/// Pure, and linear in the length of the command.
#[must_use]
pub fn dangerous(command: &str) -> Option<Danger> {
    let script = reader::read(command);
    table::judge(&script.commands).or(script.unknown)
}

/// True if a text that is not plain names a program of the table anywhere, or looks dangerous when it is cut at the
/// signs of a shell. Policy then asks although a rule allows every command.
#[must_use]
pub(crate) fn is_suspect(command: &str) -> bool {
    reader::read(command).unknown.is_some()
        && (table::names_danger(command) || table::judge(&reader::guess(command)).is_some())
}

/// Every simple command that `command` would run, in the order of the text, and why that may not be all.
///
/// A command that starts another is listed before it (`env A=1 make` gives itself and `make`), and so is one that is
/// handed a script. An allow rule must match every one of them, a deny rule any: where not all can be read, guesses
/// are among them, by which a deny rule loses nothing, and an allow rule must match none.
#[must_use]
pub fn readable_commands(command: &str) -> (Vec<SimpleCommand>, Option<Danger>) {
    let mut script = reader::read(command);
    if script.unknown.is_some() {
        script.commands.extend(reader::guess(command));
    }
    (script.commands, script.unknown)
}
