//! Access beyond the fork that an allow rule gives a command, as it is written behind the rule: `with network`, or
//! `with network, /srv/data`.
//!
//! It speaks of commands over the fork. Elsewhere nothing keeps a command from the network or the disk, so nothing
//! can be given there.

use super::Access;
use std::path::{Component, Path, PathBuf};

/// The sign before it in a rule.
pub(super) const WITH: &str = " with ";

const NETWORK: &str = "network";
const NOTHING: &str = "nothing";

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct With {
    network: bool,
    /// Absolute, without `..`: these and all in them.
    outside: Vec<PathBuf>,
}

impl With {
    /// The access that a command over the fork would have.
    pub(super) fn of(reach: &Access) -> Self {
        Self { network: reach.network, outside: reach.outside.clone() }
    }

    /// True if it gives all that a command over the fork would have.
    pub(super) fn gives(&self, reach: &Access) -> bool {
        let is_given = |path: &PathBuf| self.outside.iter().any(|given| path.starts_with(given));
        (self.network || !reach.network) && reach.outside.iter().all(is_given)
    }

    /// In words that follow those for the rule.
    pub(super) fn in_words(&self) -> String {
        let network = self.network.then(|| "network access".to_owned());
        let outside = self.outside.iter().map(|path| path.display().to_string());
        let given: Vec<String> = network.into_iter().chain(outside).collect();
        match given.is_empty() {
            true => "in the sandbox".to_owned(),
            false => format!("with {}", given.join(" and ")),
        }
    }
}

impl std::fmt::Display for With {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let network = self.network.then(|| NETWORK.to_owned());
        let outside = self.outside.iter().map(|path| path.display().to_string());
        let given: Vec<String> = network.into_iter().chain(outside).collect();
        f.write_str(if given.is_empty() { NOTHING } else { "" })?;
        f.write_str(&given.join(", "))
    }
}

impl std::str::FromStr for With {
    type Err = String;

    /// The error says which part is wrong.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut with = Self::default();
        if text == NOTHING {
            return Ok(with);
        }
        for part in text.split(", ") {
            match (part, absolute(part)) {
                (NETWORK, _) => with.network = true,
                (_, Some(path)) => with.outside.push(path),
                (_, None) => {
                    return Err(format!("{part:?} is neither network nor an absolute path"));
                }
            }
        }
        Ok(with)
    }
}

/// An absolute path, also one from the home folder.
fn absolute(text: &str) -> Option<PathBuf> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => std::env::home_dir()?.join(rest),
        None => Path::new(text).to_owned(),
    };
    let is_plain =
        path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
    is_plain.then_some(path)
}
