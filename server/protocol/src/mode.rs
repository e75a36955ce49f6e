//! When changes reach the editor, and where commands run: words of the configuration that every room knows.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// When changes reach the editor, and so what a call may do. Ordered by strictness: `Auto < Review < Plan`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// After each tool call.
    Auto,
    /// When the user accepts.
    #[default]
    Review,
    /// Never: writes are refused with a reason.
    Plan,
}

impl Mode {
    /// Every mode, the least strict first.
    pub const ALL: &[Mode] = &[Mode::Auto, Mode::Review, Mode::Plan];

    /// The word for it, in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Auto => "auto",
            Mode::Review => "review",
            Mode::Plan => "plan",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = String;

    /// Reads the word for a mode. The error is a sentence with all of them.
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Mode::ALL.iter().copied().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| format!("{text:?} is no mode: it is auto, review or plan"))
    }
}

/// Where commands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OverFork {
    /// Over the fork where that works, else on a copy, else in place.
    #[default]
    Auto,
    /// On a copy, also where a sandbox works.
    Copy,
    /// In place.
    Off,
}

impl OverFork {
    /// Every choice, the best first.
    pub const ALL: &[OverFork] = &[OverFork::Auto, OverFork::Copy, OverFork::Off];

    /// The word for it, as written in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            OverFork::Auto => "auto",
            OverFork::Copy => "copy",
            OverFork::Off => "off",
        }
    }
}
