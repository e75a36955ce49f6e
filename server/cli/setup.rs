//! What the subcommands share: the configuration for some roots, and the state folder.

use ropewalk_config::{Config, RealEnvironment, Sources};
use std::path::PathBuf;

/// The configuration of these roots. `flags` are those of `-c`.
pub(crate) fn config(roots: Vec<PathBuf>, flags: Vec<String>) -> Config {
    let sources = Sources { roots, flags, known: ropewalk_lsp::known(), ..Sources::default() };
    Config::build(&sources, &RealEnvironment)
}

/// Where state is kept: `ropewalk` in the state folder of the XDG base directory specification. None without
/// a home.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(std::env::home_dir()?.join(".local/state"));
    // A relative one is to be ignored, says the specification; so an empty one is too.
    let state = named.filter(|path| path.is_absolute()).or_else(home)?;
    state.is_absolute().then(|| state.join("ropewalk"))
}

/// Where whole outputs of calls are kept.
pub(crate) fn outputs_folder() -> Option<PathBuf> {
    Some(state_folder()?.join("outputs"))
}
