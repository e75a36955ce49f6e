//! Every key as data: name, kind, default, description, and what a project may do with it. It is
//! the only list of keys: lookups, suggestions and the table of CONFIGURATION.md come from it. What setting a
//! key does is in `resolve`.

mod constructors;
mod document;
mod list;
mod path;
mod spelling;

use crate::rules::RuleList;
use crate::{CommandBounds, ModelFacts, Provider, SessionRetention, TeamBounds};
pub use document::markdown_table;
pub use list::KEYS;
pub(crate) use path::{KeyPath, find, holds_own_names, segments, some_fits};
use ropewalk_protocol::SessionLimits;
pub(crate) use spelling::{camel, nearest, nearest_name, snake};

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
    Query,
    Body,
    Tokens { field: fn(&mut ModelFacts) -> &mut Option<u32> },
    Price,
    Switch { field: fn(&mut Provider) -> &mut bool },
    Cache,
    Fact { field: fn(&mut ModelFacts) -> &mut Option<bool>, unset: &'static str },
    Thinking,
    CaFile,
    Parallel,
    Verify,
    SelfCheck,
}

impl Key {
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
                | KeyType::Switch { .. }
                | KeyType::Body
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
