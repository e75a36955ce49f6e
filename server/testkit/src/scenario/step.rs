//! The steps of a page, as data.

use crate::editor::Profile;
use serde_json::Value;

/// What holds for a whole page.
#[derive(Debug)]
pub(super) struct Setup {
    /// The editor.
    pub(super) editor: Profile,
    /// True if the page is played with our plugin in the editor too.
    pub(super) has_plugin: bool,
    /// Keys of the user's configuration and their values, in TOML.
    pub(super) config: Vec<(String, String)>,
    /// The folders that are open. None: one, in which all paths begin.
    pub(super) roots: Option<Vec<String>>,
}

/// A step and its line, from one.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) what: What,
}

/// Lines and columns count from one, columns in characters.
#[derive(Debug)]
pub(super) enum What {
    /// The disk gets a file.
    File { path: String, content: Content },
    /// The user opens a file.
    Open(String),
    /// The user types a text, key by key.
    Type { path: String, line: u32, column: u32, text: String },
    /// The user replaces the one place where a text stands.
    Replace { path: String, old: String, new: String },
    /// The user saves; a formatter may run first and leave this text.
    Save { path: String, formatted: Option<Vec<u8>> },
    /// The user takes the last step back, whoever made it.
    Undo(String),
    /// The user asks, perhaps on some lines.
    Prompt { on: Option<(String, u32, u32)>, text: String },
    /// A command of the server's.
    Run { command: String, argument: Value },
    /// What the last command must have answered: a part of its result, or of its error's words.
    Gives(Result<Value, String>),
    /// The user answers an approval.
    Answer { answer: Answer, words: Option<String> },
    /// The server is killed at once, perhaps with the editor, and both are there again.
    Crash(Crash),
    /// What follows happens in this window, which opens the folders anew if it is not there yet.
    Window(usize),
    /// Waits until the model has come to a gate.
    When(String),
    /// Opens a gate.
    Go(String),
    /// Waits for the end of a turn, and holds its stop reason against this.
    End(String),
    /// The text of an open document.
    Buffer { path: String, text: Vec<u8> },
    /// The bytes of a file, None for no file.
    Disk { path: String, bytes: Option<Vec<u8>> },
    /// All pending hunks.
    Hunks(Vec<String>),
    /// A message to the user.
    Message(String),
    /// What the progress of the last turn has said.
    Progress(Vec<String>),
}

/// What a file is made of.
#[derive(Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// A symbolic link to this.
    Link(String),
}

/// What a crash takes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crash {
    /// The server alone: the editor lives on, with its unsaved text.
    Server,
    /// The editor too: what was not saved is gone.
    Editor,
}

/// An answer to an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Once,
    Session,
    Always,
    AfterSave,
    Refuse,
}

impl Answer {
    pub(super) const ALL: [Answer; 5] =
        [Answer::Once, Answer::Session, Answer::Always, Answer::AfterSave, Answer::Refuse];

    /// The word of `ropewalk.approve`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Answer::Once => "once",
            Answer::Session => "session",
            Answer::Always => "always",
            Answer::AfterSave => "afterSave",
            Answer::Refuse => "refuse",
        }
    }

    /// The button of a dialog for it.
    pub(super) fn button(self) -> &'static str {
        match self {
            Answer::Once => "Allow once",
            Answer::Session => "Allow this session",
            Answer::Always => "Always allow",
            Answer::AfterSave => "Run after saving",
            Answer::Refuse => "Refuse",
        }
    }
}
