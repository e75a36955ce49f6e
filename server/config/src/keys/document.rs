//! Words about keys: the type and the default of each, and the table of CONFIGURATION.md.

use super::{KEYS, Key, KeyDefault, KeyType, PARALLEL, ProjectRule, TOKENS};
use crate::{CommandBounds, DEFAULT_LOG, SessionRetention, TeamBounds};
use ropewalk_protocol::{CacheLife, Mode, OverFork, SessionLimits, Thinking};

impl Key {
    /// The accepted type, for a table and for the sentence about a wrong type.
    #[must_use]
    pub fn takes(&self) -> String {
        match self.kind {
            KeyType::Model => "text of the form `PROVIDER/NAME`".to_owned(),
            KeyType::Mode => one_of(Mode::ALL.iter().map(|it| it.as_str())),
            KeyType::OverFork => one_of(OverFork::ALL.iter().map(|it| it.as_str())),
            KeyType::Thinking => one_of(Thinking::ALL.iter().map(|it| it.as_str())),
            KeyType::Cache => one_of(CacheLife::ALL.iter().map(|it| it.as_str())),
            KeyType::Tools | KeyType::Variables => "a list of names".to_owned(),
            KeyType::Rules(_) => "a list of rules".to_owned(),
            KeyType::Mechanism | KeyType::SelfCheck | KeyType::Team | KeyType::Switch { .. } | KeyType::Fact { .. } => "`true` or `false`".to_owned(),
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
                "a URL with `http://` or `https://` and without user, password, query (that is `query`) or fragment"
                    .to_owned()
            }
            KeyType::KeyCommand => {
                "text, or a list of texts: a program and its arguments".to_owned()
            }
            KeyType::Header => "text without line breaks".to_owned(),
            KeyType::Query => "text".to_owned(),
            KeyType::Body => "any value but a date".to_owned(),
            KeyType::Tokens { .. } => format!("a whole number from {} to {}", TOKENS.0, TOKENS.1),
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
            KeyType::Switch { .. } | KeyType::SelfCheck | KeyType::Team => {
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
            KeyType::Thinking => KeyDefault::Unset("as the model does by itself"),
            KeyType::Cache => KeyDefault::Value(format!("\"{}\"", CacheLife::default().as_str())),
            KeyType::Fact { unset, .. } => KeyDefault::Unset(unset),
            KeyType::CaFile | KeyType::Verify | KeyType::PromptFile | KeyType::PromptAppend => {
                KeyDefault::Unset("none")
            }
            KeyType::KeyCommand | KeyType::Query | KeyType::Body | KeyType::Header => {
                KeyDefault::Unset("none")
            }
        }
    }
}

fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.map(|word| format!("`{word}`")).collect();
    format!("one of {}", words.join(", "))
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
