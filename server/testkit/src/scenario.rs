//! Scenarios: what a user goes through, written as a page that a person reads and a machine plays.
//!
//! A [`Scenario`] is a file: prose that says what the user experiences and why it matters, a line `---`,
//! and steps (`tests/scenarios/README.md` describes them). Parsing finds what is wrong with the page and
//! says where; playing it runs the real server over pipes with a fake editor and a scripted model.
//! Nothing here knows what the server ought to do: that is the pages' business.

mod actions;
mod check;
mod parse;
mod play;
mod plugin;
mod reply;
mod step;
mod told;
mod verbs;

use reply::PageReply;
use ropewalk_model::{ModelStop, Protocol};
use std::path::{Path, PathBuf};
use step::{PageStep, Setup};
pub use told::PageAccount;

/// A page, read and found to be well-formed.
#[derive(Debug)]
pub struct Scenario {
    file: PathBuf,
    prose: String,
    setup: Setup,
    /// All replies of the model, in the order of the page.
    replies: Vec<PageReply>,
    steps: Vec<PageStep>,
}

/// Ways of the editor to show what the server tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientStyle {
    /// By the protocol alone, as an editor does without our plugin.
    Stock,
    /// By our plugin, from events.
    Plugin,
}

/// Fault of a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {words}", file.display())]
pub struct Fault {
    /// The page.
    pub file: PathBuf,
    /// The line, from one.
    pub line: usize,
    /// Words on the fault, and on the right form.
    pub words: String,
}

impl Scenario {
    /// Parses the text of a page; `file` is only named in faults.
    ///
    /// # Errors
    /// With the first line that is no step.
    pub fn parse(file: &Path, text: &str) -> Result<Scenario, Fault> {
        parse::parse(file, text)
    }

    /// The prose it opens with.
    pub fn prose(&self) -> &str {
        &self.prose
    }

    /// True if it is to be played with our plugin in the editor too.
    pub fn has_plugin(&self) -> bool {
        self.setup.has_plugin
    }

    /// True if it has a team, whose members take turns as they happen to: it holds over every protocol, but not in one order.
    pub fn has_team(&self) -> bool {
        self.setup.config.iter().any(|(key, value)| key == "team.enabled" && value == "true")
    }

    /// Plays the page with the server that `program lsp` starts, in a folder and an environment of its own,
    /// over a protocol that the scripted model speaks.
    ///
    /// When all steps are done, the model is asked once more about every open document, and must see the
    /// very text of the editor; every reply must have been asked for, every message been looked at, every
    /// turn have ended; and the server must exit with 0. Gives what was told on the way.
    ///
    /// # Panics
    /// With file and line, when something is not as the page says.
    pub fn play(&self, program: &Path, protocol: Protocol, client: ClientStyle) -> PageAccount {
        play::play(self, program, (protocol, client))
    }
}

/// The model's stop reasons, by the protocol's names.
const STOPS: &[(&str, ModelStop)] = &[
    ("end_turn", ModelStop::EndTurn),
    ("tool_use", ModelStop::ToolUse),
    ("max_tokens", ModelStop::MaxTokens),
    ("model_context_window_exceeded", ModelStop::ContextFull),
    ("refusal", ModelStop::Refusal),
    ("pause_turn", ModelStop::PauseTurn),
];
