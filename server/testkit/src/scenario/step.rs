//! The steps of a page, as data.

use crate::editor::Profile;
use serde_json::Value;

/// Setup of a whole page.
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
pub(super) struct PageStep {
    pub(super) line: usize,
    pub(super) what: What,
}

/// Lines and columns count from one, columns in characters.
#[derive(Debug)]
pub(super) enum What {
    /// The disk gets a file.
    File { path: String, content: ScenarioContent },
    /// The user opens a file.
    Open(String),
    /// The user types a text, key by key.
    Type { path: String, line: u32, column: u32, text: String },
    /// The user types at the end of a document.
    TypeAtEnd { path: String, text: String },
    /// The user chooses a code action by its title.
    Choose { path: String, spot: DocumentSpot, title: String },
    /// Texts that can stand at the end of a document.
    Completes { path: String, wanted: Vec<String> },
    /// Words that a document comes to have.
    Reads { path: String, words: String },
    /// The editor is asked to show a document.
    Shown(String),
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
    /// Answer of the last command: a part of its result, or of its error's words.
    Gives(Result<Value, String>),
    /// The user answers an approval.
    Answer { answer: UserAnswer, words: Option<String> },
    /// The server is killed at once, perhaps with the editor, and both are there again.
    Crash(Crash),
    /// Turns to this window, and opens the folders anew if it is not there yet. The steps that
    /// follow happen in it.
    Window(usize),
    /// Waits until the model has come to a gate.
    When(String),
    /// Opens a gate.
    Go(String),
    /// Waits for the end of a turn, and holds its stop reason against this.
    End(String),
    /// Waits for the end of a turn that the session's team has begun, and holds its stop reason against this.
    Woken(String),
    /// The text of an open document.
    Buffer { path: String, text: Vec<u8> },
    /// The bytes of a file, None for no file.
    Disk { path: String, bytes: Option<Vec<u8>> },
    /// All pending hunks.
    Hunks(Vec<String>),
    /// A message to the user.
    Message(String),
    /// Progress of the last turn, by its messages.
    Progress(Vec<String>),
}

/// A place in a document that a code action is chosen for.
#[derive(Debug)]
pub(super) enum DocumentSpot {
    End,
    /// The first line with these words.
    LineWith(String),
    /// A selection of whole lines, the first and the last.
    Lines(u32, u32),
}

/// Content of a file.
#[derive(Debug)]
pub(super) enum ScenarioContent {
    Bytes(Vec<u8>),
    /// A symbolic link to this.
    Link(String),
}

/// Extent of a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crash {
    /// The server alone: the editor lives on, with its unsaved text.
    Server,
    /// The editor too: what was not saved is gone.
    Editor,
}

/// An answer to an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserAnswer {
    Once,
    Session,
    Always,
    AfterSave,
    Refuse,
}

impl UserAnswer {
    pub(super) const ALL: [UserAnswer; 5] = [
        UserAnswer::Once,
        UserAnswer::Session,
        UserAnswer::Always,
        UserAnswer::AfterSave,
        UserAnswer::Refuse,
    ];

    /// The word of `ropewalk.approve`.
    pub(super) fn word(self) -> &'static str {
        match self {
            UserAnswer::Once => "once",
            UserAnswer::Session => "session",
            UserAnswer::Always => "always",
            UserAnswer::AfterSave => "afterSave",
            UserAnswer::Refuse => "refuse",
        }
    }

    /// The button of a dialog for it.
    pub(super) fn button(self) -> &'static str {
        match self {
            UserAnswer::Once => "Allow once",
            UserAnswer::Session => "Allow this session",
            UserAnswer::Always => "Always allow",
            UserAnswer::AfterSave => "Run after saving",
            UserAnswer::Refuse => "Refuse",
        }
    }
}
