//! What the subcommands share: the configuration for some roots, and the state folder.

use ropewalk_config::{Config, RealEnvironment, Sources};
use std::path::PathBuf;

/// The configuration of these roots. `flags` are those of `-c`.
pub(crate) fn config(roots: Vec<PathBuf>, flags: Vec<String>) -> Config {
    let sources = Sources { roots, flags, known: ropewalk_lsp::known(), ..Sources::default() };
    Config::build(&sources, &RealEnvironment)
}

/// Where state is kept. None without a home.
pub(crate) fn state_folder() -> Option<PathBuf> {
    ropewalk_config::state_folder(&RealEnvironment)
}

/// Where whole outputs of calls are kept.
pub(crate) fn outputs_folder() -> Option<PathBuf> {
    Some(state_folder()?.join("outputs"))
}
