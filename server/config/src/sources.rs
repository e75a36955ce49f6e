//! What a configuration is built from: the files and where they lie, the editor's settings, the
//! flags, and the names that other rooms know. It reads files, and judges nothing in them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::problem::{Layer, Source};

/// Files longer than this are not read: no configuration is, and a repository may bring any file.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The world outside, passed in so that tests need none of it.
pub trait Environment {
    /// The home folder.
    fn home(&self) -> Option<PathBuf>;
    /// A variable of the environment; `None` when not set or not Unicode.
    fn var(&self, name: &str) -> Option<String>;
    /// The first `limit` bytes of a regular file. Must not block on anything else, such as a pipe.
    ///
    /// # Errors
    /// `NotFound` or `NotADirectory` means that there is no such file, which is no problem; any
    /// other error is told to the user.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;
}

/// The process's own environment and disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealEnvironment;

impl Environment for RealEnvironment {
    fn home(&self) -> Option<PathBuf> {
        std::env::home_dir().filter(|home| home.is_absolute())
    }

    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        // Looked at before opening, because opening a named pipe would wait for a writer.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Names that exist elsewhere, as data, so that a wrong one is noticed here with a suggestion. An
/// empty list is not checked against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Tools, for `tools`.
    pub tools: Vec<String>,
    /// Mechanisms that can be switched off, in snake_case, for `[mechanisms]`.
    pub mechanisms: Vec<String>,
    /// Wire protocols, for `provider.*.protocol`.
    pub protocols: Vec<String>,
    /// Top-level keys of `initializationOptions` and settings that are not configuration, such as
    /// what the client can show. They are passed over.
    pub client_keys: Vec<String>,
}

/// Everything a configuration is built from, apart from the files and the environment. The owner
/// keeps it, changes a field when the editor says so, and builds again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sources {
    /// The roots, in order; each may have a `.ropewalk/config.toml`.
    pub roots: Vec<PathBuf>,
    /// `initializationOptions` as they came, or below a key `ropewalk`.
    pub initialization_options: Option<serde_json::Value>,
    /// `settings` of the last `workspace/didChangeConfiguration`, likewise.
    pub settings: Option<serde_json::Value>,
    /// The arguments of `-c`, in order; later ones win.
    pub flags: Vec<String>,
    /// Names that exist elsewhere.
    pub known: Known,
}

impl Sources {
    /// The files of the layers, lowest first, whether they exist or not.
    pub(crate) fn files(&self, environment: &dyn Environment) -> Vec<Source> {
        let home = environment.home();
        let mut files = Vec::new();
        let mut add = |layer, path: PathBuf| {
            // A root that is given twice has one file.
            if files.iter().any(|known: &Source| known.file.as_ref() == Some(&path)) {
                return;
            }
            let name = abbreviated(&path, home.as_deref());
            files.push(Source { layer, file: Some(path), line: None, name });
        };
        // Elsewhere `/etc` would be a folder that anybody can make on the current drive.
        if cfg!(unix) {
            add(Layer::System, PathBuf::from("/etc/ropewalk/config.toml"));
        }
        if let Some(path) = user_file(environment) {
            add(Layer::User, path);
        }
        if let Some(path) = rules_file(environment) {
            add(Layer::Rules, path);
        }
        for root in &self.roots {
            add(Layer::Project, root.join(".ropewalk").join("config.toml"));
        }
        files
    }
}

/// The user's file; `None` without a home.
pub(crate) fn user_file(environment: &dyn Environment) -> Option<PathBuf> {
    Some(own_folder(environment)?.join("config.toml"))
}

/// The file of the rules that hold for always, beside the user's `config.toml`; `None` without a
/// home.
#[must_use]
pub fn rules_file(environment: &dyn Environment) -> Option<PathBuf> {
    Some(own_folder(environment)?.join("rules.toml"))
}

/// The folder of the user's files. A relative `XDG_CONFIG_HOME` is ignored, as its specification
/// asks.
fn own_folder(environment: &dyn Environment) -> Option<PathBuf> {
    let folder = environment
        .var("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(environment.home()?.join(".config")))?;
    Some(folder.join("ropewalk"))
}

/// The path for a sentence, the home folder as `~`.
pub(crate) fn abbreviated(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
        None => path.display().to_string(),
    }
}
