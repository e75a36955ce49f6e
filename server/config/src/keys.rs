//! Every key as data: name, kind, default, description, and what a project may do with it. It is
//! the only list of keys: lookups, suggestions and the table of CONFIGURATION.md come from it. What setting a
//! key does is in `resolve`.

mod list;
mod names;

pub use list::KEYS;
pub(crate) use names::{
    KeyPath, camel, find, holds_own_names, nearest, nearest_name, segments, snake, some_fits,
};

use crate::rules::RuleList;
use crate::{CommandBounds, DEFAULT_LOG, ModelFacts, SessionRetention, TeamBounds};
use ropewalk_protocol::{Mode, OverFork, SessionLimits, Thinking};

/// The least and the most tokens that a model may be said to take or give.
pub(crate) const TOKENS: (u32, u32) = (256, 100_000_000);

/// The least and the most requests that a server may be said to get at a time.
pub(crate) const PARALLEL: (u32, u32) = (1, 1_000);

/// One key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Dotted, in snake_case; `*` stands for a name of the user's or of another room.
    pub name: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// Rule for a `.ropewalk/config.toml`.
    pub project: ProjectRule,
    pub(crate) kind: KeyType,
}

/// Rule for a key in the configuration of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectRule {
    /// Nothing, unless the user trusts the folder with it.
    Never,
    /// Nothing, whatever the user trusts the folder with: it is about more than the project.
    Ignored,
    /// Make it stricter, as these words say; anything else as above.
    Stricter(&'static str),
}

/// The default of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyDefault {
    /// A value, as it would be written in TOML.
    Value(String),
    /// None; the words say what that means.
    Unset(&'static str),
}

/// Type of a key's value, and the field it goes to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyType {
    Model,
    Mode,
    Tools,
    Mechanism,
    Rules(RuleList),
    PromptFile,
    PromptAppend,
    Log,
    Locked,
    Limit { least: u32, most: u32, field: fn(&mut SessionLimits) -> &mut u32 },
    Keep { least: u32, most: u32, field: fn(&mut SessionRetention) -> &mut u32 },
    OverFork,
    CommandBound { least: u32, most: u32, field: fn(&mut CommandBounds) -> &mut u32 },
    Variables,
    Team,
    TeamBound { least: u32, most: u32, field: fn(&mut TeamBounds) -> &mut u32 },
    Board,
    Protocol,
    BaseUrl,
    KeyVariable,
    KeyCommand,
    Header,
    Tokens { field: fn(&mut ModelFacts) -> &mut Option<u32> },
    Price,
    PrintedCalls,
    Fact { field: fn(&mut ModelFacts) -> &mut Option<bool>, unset: &'static str },
    Thinking,
    CaFile,
    Parallel,
    Verify,
    SelfCheck,
}

impl Key {
    /// The accepted type, for a table and for the sentence about a wrong type.
    #[must_use]
    pub fn takes(&self) -> String {
        match self.kind {
            KeyType::Model => "text of the form `PROVIDER/NAME`".to_owned(),
            KeyType::Mode => {
                let names: Vec<_> = Mode::ALL.iter().map(|m| format!("`{}`", m.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            KeyType::OverFork => {
                let names: Vec<_> =
                    OverFork::ALL.iter().map(|o| format!("`{}`", o.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            KeyType::Thinking => {
                let names: Vec<_> =
                    Thinking::ALL.iter().map(|t| format!("`{}`", t.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            KeyType::Tools | KeyType::Variables => "a list of names".to_owned(),
            KeyType::Rules(_) => "a list of rules".to_owned(),
            KeyType::Mechanism | KeyType::SelfCheck | KeyType::Team | KeyType::Fact { .. } => "`true` or `false`".to_owned(),
            KeyType::Verify => "text in one line".to_owned(),
            KeyType::Locked => "a list of keys".to_owned(),
            KeyType::PromptFile | KeyType::CaFile => "a path".to_owned(),
            KeyType::Board => "a path, or a URL that begins with `postgres://`".to_owned(),
            KeyType::PromptAppend | KeyType::Log => "text".to_owned(),
            KeyType::Limit { least, most, .. }
            | KeyType::Keep { least, most, .. }
            | KeyType::CommandBound { least, most, .. }
            | KeyType::TeamBound { least, most, .. } => {
                format!("a whole number from {least} to {most}")
            }
            KeyType::Protocol => "the name of a protocol".to_owned(),
            KeyType::BaseUrl => {
                "a URL with `http://` or `https://` and without user, password, query or fragment"
                    .to_owned()
            }
            KeyType::KeyCommand => {
                "text, or a list of texts: a program and its arguments".to_owned()
            }
            KeyType::Header => "text without line breaks".to_owned(),
            KeyType::Tokens { .. } => format!("a whole number from {} to {}", TOKENS.0, TOKENS.1),
            KeyType::PrintedCalls => "`true` or `false`".to_owned(),
            KeyType::Parallel => format!("a whole number from {} to {}", PARALLEL.0, PARALLEL.1),
            KeyType::Price => "a list of 2 to 4 numbers from 0 to 100000".to_owned(),
            KeyType::KeyVariable => {
                "the name of an environment variable in capitals, such as `ANTHROPIC_API_KEY`, never the key itself"
                    .to_owned()
            }
        }
    }

    /// Its default.
    #[must_use]
    pub fn default_value(&self) -> KeyDefault {
        match self.kind {
            KeyType::Model => KeyDefault::Unset("by the keys in the environment"),
            KeyType::Mode => KeyDefault::Value(format!("\"{}\"", Mode::default().as_str())),
            KeyType::Tools => KeyDefault::Unset("all tools"),
            KeyType::Mechanism => KeyDefault::Value("true".to_owned()),
            KeyType::PrintedCalls | KeyType::SelfCheck | KeyType::Team => {
                KeyDefault::Value("false".to_owned())
            }
            KeyType::Parallel => KeyDefault::Unset("1 on this machine, elsewhere no limit"),
            KeyType::OverFork => KeyDefault::Value(format!("\"{}\"", OverFork::default().as_str())),
            KeyType::CommandBound { field, .. } => {
                let mut bounds = CommandBounds::DEFAULT;
                match *field(&mut bounds) {
                    0 => KeyDefault::Unset("by the machine's memory"),
                    number => KeyDefault::Value(number.to_string()),
                }
            }
            KeyType::TeamBound { field, .. } => {
                let mut bounds = TeamBounds::DEFAULT;
                match *field(&mut bounds) {
                    SessionLimits::NO_TOKENS => KeyDefault::Unset("no budget"),
                    number => KeyDefault::Value(number.to_string()),
                }
            }
            KeyType::Board => {
                KeyDefault::Unset("a file in the state folder for each set of folders")
            }
            KeyType::Rules(_) | KeyType::Locked | KeyType::Variables => {
                KeyDefault::Value("[]".to_owned())
            }
            KeyType::Log => KeyDefault::Value(format!("\"{DEFAULT_LOG}\"")),
            KeyType::Limit { field, .. } => {
                let mut limits = SessionLimits::DEFAULT;
                match *field(&mut limits) {
                    SessionLimits::OWN_OUTPUT => {
                        KeyDefault::Unset("the model's own maximum, 32000 where it is not known")
                    }
                    SessionLimits::NO_TOKENS => KeyDefault::Unset("no budget"),
                    number => KeyDefault::Value(number.to_string()),
                }
            }
            KeyType::Keep { field, .. } => {
                let mut keep = SessionRetention::DEFAULT;
                KeyDefault::Value(field(&mut keep).to_string())
            }
            KeyType::Protocol | KeyType::BaseUrl | KeyType::KeyVariable => {
                KeyDefault::Unset("set for the built-in providers")
            }
            KeyType::Tokens { .. } | KeyType::Price => KeyDefault::Unset("known for some models"),
            KeyType::Thinking => KeyDefault::Unset("`off`: nothing is asked for"),
            KeyType::Fact { unset, .. } => KeyDefault::Unset(unset),
            KeyType::CaFile
            | KeyType::Verify
            | KeyType::PromptFile
            | KeyType::PromptAppend
            | KeyType::KeyCommand
            | KeyType::Header => KeyDefault::Unset("none"),
        }
    }

    /// The name as editors' settings spell it: `limits.outputTokens`. Both spellings are taken
    /// there.
    #[must_use]
    pub fn camel_case(&self) -> String {
        camel(self.name)
    }

    /// True if it is a list of rules.
    pub(crate) fn is_rules(&self) -> bool {
        matches!(self.kind, KeyType::Rules(_))
    }

    /// Why no editor may set it, if none may: what an editor says may come from a repository's own settings.
    pub(crate) fn not_for_editors(&self) -> Option<&'static str> {
        match self.kind {
            KeyType::KeyCommand | KeyType::Verify => Some("it starts a program"),
            KeyType::CaFile => Some("it says whom to trust"),
            KeyType::Board => Some("it says where your work goes"),
            KeyType::Variables => Some("it gives away what you keep there"),
            _ => None,
        }
    }

    /// True if only the system's file sets it.
    pub(crate) fn locks_keys(&self) -> bool {
        matches!(self.kind, KeyType::Locked)
    }

    /// True if the value is text, so that a flag's value needs no quotes whatever it looks like.
    pub(crate) fn is_text(&self) -> bool {
        !matches!(
            self.kind,
            KeyType::Tools
                | KeyType::Rules(_)
                | KeyType::Mechanism
                | KeyType::SelfCheck
                | KeyType::Locked
                | KeyType::KeyCommand
                | KeyType::Tokens { .. }
                | KeyType::Price
                | KeyType::PrintedCalls
                | KeyType::Fact { .. }
                | KeyType::Parallel
                | KeyType::Variables
                | KeyType::CommandBound { .. }
                | KeyType::Team
                | KeyType::TeamBound { .. }
                | KeyType::Limit { .. }
                | KeyType::Keep { .. }
        )
    }
}

/// The keys as a Markdown table, for CONFIGURATION.md.
#[must_use]
pub fn markdown_table() -> String {
    let mut table =
        "| key | takes | default | in a project | |\n|---|---|---|---|---|\n".to_owned();
    for key in KEYS {
        let default = match key.default_value() {
            KeyDefault::Value(value) => format!("`{value}`"),
            KeyDefault::Unset(words) => words.to_owned(),
        };
        let project = match key.project {
            ProjectRule::Ignored => "ignored".to_owned(),
            ProjectRule::Never => "if trusted".to_owned(),
            ProjectRule::Stricter(words) => format!("may {words}"),
        };
        let name = key.name.replace('*', "NAME");
        let takes = key.takes();
        table += &format!("| `{name}` | {takes} | {default} | {project} | {} |\n", key.description);
    }
    table
}
