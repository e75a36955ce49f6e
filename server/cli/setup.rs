//! Parts that the subcommands share: the configuration for some roots, the state folder, and the
//! sessions in it.

use crate::exit::UsageError;
use anyhow::Context;
use ropewalk_config::{Config, RealEnvironment, Sources};
use ropewalk_host::{Host, HostOptions, Sessions};
use ropewalk_workspace::{NoEditor, Roots, Workspace};
use std::path::PathBuf;
use std::sync::Arc;

/// The configuration of these roots. `flags` are those of `-c`.
pub(crate) fn config(roots: Vec<PathBuf>, flags: Vec<String>) -> Config {
    let sources = Sources { roots, flags, known: ropewalk_host::known(), ..Sources::default() };
    Config::build(&sources, &RealEnvironment)
}

/// Where state is kept. None without a home.
pub(crate) fn state_folder() -> Option<PathBuf> {
    ropewalk_config::state_folder(&RealEnvironment)
}

/// Words for a user who asks for sessions and has no home folder.
pub(crate) const NO_HOME: &str =
    "there is no home folder, so no session is kept: set HOME, or XDG_STATE_HOME";

/// All sessions. None without a home.
pub(crate) fn sessions() -> Option<Sessions> {
    Some(Sessions::new(&state_folder()?))
}

/// A host without an editor over these folders.
pub(crate) fn host(options: HostOptions, folders: Vec<PathBuf>) -> Arc<Host> {
    let options = HostOptions { headless: true, sessions: sessions(), ..options };
    let host = Host::new(options, Arc::new(Workspace::new(Roots::none())), Arc::new(NoEditor));
    host.meet(
        folders.into_iter().map(|folder| (String::new(), folder)).collect(),
        None,
        Vec::new(),
    );
    host
}

/// The folders to work in, checked, so that a slip is not taken for an empty folder: the current one if none is
/// named.
pub(crate) fn folders(named: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    if named.is_empty() {
        let current = std::env::current_dir().context("the current folder can't be read")?;
        return Ok(vec![current]);
    }
    for root in &named {
        let shown = root.display();
        match root.metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                anyhow::bail!(UsageError(format!("{shown} is not a folder: give --root a folder.")))
            }
            Err(error) => {
                anyhow::bail!(UsageError(format!("--root {shown} can't be worked in: {error}.")))
            }
        }
    }
    Ok(named)
}

/// The current folder as a session knows it; nothing where it can't be read.
pub(crate) fn current_name() -> Vec<String> {
    let folder = folders(Vec::new()).unwrap_or_default();
    names(&Roots::new(folder.into_iter().map(|root| (String::new(), root)).collect()))
}

/// The folders as a session knows them: links resolved, as text.
pub(crate) fn names(roots: &Roots) -> Vec<String> {
    roots.iter().map(|root| root.path().to_string_lossy().into_owned()).collect()
}
