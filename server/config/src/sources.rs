//! Sources of a configuration: the files and where they lie, the editor's settings, the
//! flags, and the names that other rooms know. It reads files, and judges nothing in them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::problem::{ConfigLayer, ValueSource};

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

    /// As [`read`](Environment::read), of a file that speaks for the administrator: nobody else may be
    /// able to change it.
    ///
    /// # Errors
    /// Also when others could have written it, in words.
    fn read_system(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.read(path, limit)
    }

    /// As [`read`](Environment::read), of a file that must lie in `root` once all links are resolved: a
    /// repository must not get at files outside by bringing a link.
    ///
    /// # Errors
    /// Also when it leads outside, in words.
    fn read_inside(&self, root: &Path, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let resolved = self.canonical(path)?;
        if !resolved.starts_with(self.canonical(root)?) {
            return Err(io::Error::other("it leads outside the folder"));
        }
        self.read(&resolved, limit)
    }

    /// True if something belongs to the owner of `root`, or to the administrator.
    fn is_of_owner(&self, _: &Path, _: &Path) -> bool {
        true
    }

    /// The path with all links resolved; where there are no links, the path itself.
    ///
    /// # Errors
    /// When there is nothing there, or it can't be looked at.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
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

    fn read_system(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        // The folder counts too: who can write in it can put another file in place of this one.
        for place in [path, path.parent().unwrap_or(path)] {
            if !only_the_administrator_writes(&std::fs::metadata(place)?) {
                return Err(io::Error::other(format!(
                    "{} must belong to root and be writable for nobody else (`chown root` and `chmod go-w` do that)",
                    place.display()
                )));
            }
        }
        self.read(path, limit)
    }

    fn is_of_owner(&self, path: &Path, root: &Path) -> bool {
        owner(path).is_some_and(|own| own == 0 || Some(own) == owner(root))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }
}

/// The number of who owns something; 0 where nobody does.
fn owner(path: &Path) -> Option<u32> {
    let found = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    return Some(std::os::unix::fs::MetadataExt::uid(&found));
    #[cfg(not(unix))]
    return Some(found).map(|_| 0);
}

#[cfg(unix)]
fn only_the_administrator_writes(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.uid() == 0 && found.mode() & 0o022 == 0
}

/// Elsewhere there is no file of the system's.
#[cfg(not(unix))]
fn only_the_administrator_writes(_: &std::fs::Metadata) -> bool {
    false
}

/// Names that exist elsewhere, as data, so that a wrong one is noticed here with a suggestion. An
/// empty list is not checked against.
#[derive(Debug, Clone, Default)]
pub struct KnownNames {
    /// Tools, for `tools`.
    pub tools: Vec<String>,
    /// Mechanisms that can be switched off, in snake_case, for `[mechanisms]`.
    pub mechanisms: Vec<String>,
    /// Wire protocols, for `provider.*.protocol`.
    pub protocols: Vec<String>,
    /// Gives the models to use when none is configured: the variable of a provider's key, and the model's whole name. The
    /// first whose variable is set and not empty decides. It is called only then.
    pub default_models: Option<DefaultModels>,
    /// Top-level keys of `initializationOptions` and settings that are not configuration, such as
    /// what the client can show. They are passed over.
    pub client_keys: Vec<String>,
}

/// A source of default models, as [`KnownNames::default_models`] has it.
pub type DefaultModels = fn() -> Vec<(String, String)>;

/// Everything a configuration is built from, apart from the files and the environment. The owner
/// keeps it, changes a field when the editor says so, and builds again.
#[derive(Debug, Clone, Default)]
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
    pub known: KnownNames,
}

impl Sources {
    /// The files of the layers below the projects, lowest first, whether they exist or not.
    pub(crate) fn files(environment: &dyn Environment) -> Vec<ValueSource> {
        // Elsewhere `/etc` would be a folder that anybody can make on the current drive.
        let system = cfg!(unix).then(|| PathBuf::from("/etc/ropewalk/config.toml"));
        [
            (ConfigLayer::System, system),
            (ConfigLayer::User, user_file(environment)),
            (ConfigLayer::Rules, rules_file(environment)),
        ]
        .into_iter()
        .filter_map(|(layer, file)| Some(ValueSource::of_file(layer, file?, environment)))
        .collect()
    }

    /// Each root, once, with its project's file, whether that exists or not.
    pub(crate) fn projects(&self, environment: &dyn Environment) -> Vec<(PathBuf, ValueSource)> {
        let mut projects: Vec<(PathBuf, ValueSource)> = Vec::new();
        for root in &self.roots {
            if !projects.iter().any(|(known, _)| known == root) {
                let file = root.join(".ropewalk").join("config.toml");
                projects.push((
                    root.clone(),
                    ValueSource::of_file(ConfigLayer::Project, file, environment),
                ));
            }
        }
        projects
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

/// The folder of the user's own files: `ropewalk` in the configuration folder, by default `~/.config/ropewalk`;
/// `None` without a home.
#[must_use]
pub fn own_folder(environment: &dyn Environment) -> Option<PathBuf> {
    Some(base_folder(environment, "XDG_CONFIG_HOME", ".config")?.join("ropewalk"))
}

/// The user's folders that may hold skills, prompt commands and subagent types: their own, then those that other agents
/// use too.
pub(crate) fn user_folders(environment: &dyn Environment) -> Vec<PathBuf> {
    let home = environment.home();
    let shared = home.iter().flat_map(|home| [".agents", ".claude"].map(|name| home.join(name)));
    own_folder(environment).into_iter().chain(shared).collect()
}

/// Where state is kept: `ropewalk` in the state folder of the XDG base directory specification, by
/// default `~/.local/state/ropewalk`; `None` without a home.
#[must_use]
pub fn state_folder(environment: &dyn Environment) -> Option<PathBuf> {
    Some(base_folder(environment, "XDG_STATE_HOME", ".local/state")?.join("ropewalk"))
}

/// Where what can be made again is kept: `ropewalk` in the cache folder of the same specification, by default
/// `~/.cache/ropewalk`; `None` without a home.
#[must_use]
pub fn cache_folder(environment: &dyn Environment) -> Option<PathBuf> {
    Some(base_folder(environment, "XDG_CACHE_HOME", ".cache")?.join("ropewalk"))
}

/// The folder that a variable names, or one in the home. A relative one is to be ignored, says the
/// specification; so an empty one is too.
fn base_folder(environment: &dyn Environment, variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = environment.var(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.or_else(|| Some(environment.home()?.join(in_home)))
}

/// The path for a sentence, the home folder as `~`.
pub(crate) fn abbreviated(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
        None => path.display().to_string(),
    }
}
