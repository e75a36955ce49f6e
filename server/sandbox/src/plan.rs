//! Plans of what a session's commands may see and write, their specifications and their ends: plain values.
//!
//! Nothing here is decided: which paths are shown or hidden is the caller's policy.

use crate::support::Upper;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Files that a session's commands may see and write. Fixed for the life of a sandbox; another plan needs another
/// sandbox. All paths are absolute; those that do not exist are passed over, except roots.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The folders of the workspace: canonical, none inside another, none of them `/`.
    pub roots: Vec<PathBuf>,
    /// Other paths of roots, through links, and the root that each leads to. Where commands are shown nothing else
    /// at such a path, a link is.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Folders and files outside the roots that may be read, such as the repository that encloses a root. Sockets
    /// in them lead nowhere.
    pub shown: Vec<PathBuf>,
    /// Folders and files that no command sees, whatever shows what is around them, beside what holds secrets of the
    /// system's and the home's. Roots, caches, and what is named as shown inside them are seen all the same.
    pub hidden: Vec<PathBuf>,
    /// Folders outside the roots that are read and written in earnest, such as build caches.
    pub caches: Vec<PathBuf>,
    /// The user's home, which is empty to commands but for toolchains.
    pub home: Option<PathBuf>,
    /// The user's environment, by which toolchains are found. It is not given to commands.
    pub environment: Vec<(OsString, OsString)>,
    /// Where layers are to lie. They lie on the disk in any case where the kernel's tmpfs has no user
    /// attributes (before Linux 6.6).
    pub upper: Upper,
    /// A private folder on a disk, for layers that are to lie there. It must exist.
    pub disk_layers: PathBuf,
    /// How much a command may use.
    pub limits: Limits,
}

/// How much commands may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The size of all layers together, and again of home and temporary folders together, in bytes.
    pub layer_bytes: u64,
    /// Most that [`Plan::caches`] may hold together, in bytes: looked at now and then while a command runs.
    pub cache_bytes: u64,
    /// Memory of all processes of one command, in bytes.
    pub memory_bytes: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// The largest file that may be written, in bytes.
    pub file_bytes: u64,
}

impl Default for Limits {
    /// By the machine's memory: an eighth of it for layers, half of it for a command's processes.
    fn default() -> Limits {
        const GIB: u64 = 1 << 30;
        let memory = machine_memory().unwrap_or(4 * GIB);
        Limits {
            layer_bytes: (memory / 8).clamp(GIB / 4, 8 * GIB),
            cache_bytes: 20 * GIB,
            memory_bytes: (memory / 2).max(GIB / 2),
            processes: 4096,
            file_bytes: 16 * GIB,
        }
    }
}

/// The machine's memory in bytes, where it can be asked.
fn machine_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// A command.
#[derive(Debug)]
pub struct Spec {
    /// The program and its arguments. A program without a slash is looked for in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where its standard output and standard error go, both.
    pub output: OwnedFd,
    /// The layer that it writes to: the name of a folder in [`crate::Sandbox::layers`] that holds
    /// `INDEX/up` and `INDEX/work` for each root by its index. One command at a time per layer.
    pub layer: String,
    /// True if it has the machine's network. Without, it has a loopback that it shares with the session's
    /// other commands.
    pub network: bool,
    /// Further files and folders that it may read. What is hidden in them stays hidden, and roots in them are what
    /// they are without this.
    pub shown: Vec<PathBuf>,
    /// Files and folders in roots and in what is shown beside them that it does not see, as with [`Plan::hidden`].
    pub hidden: Vec<PathBuf>,
    /// Paths of [`Plan::hidden`], spelled as there, that it may see after all; and those of `shown` that it may see
    /// though they lie in what is hidden.
    pub unhidden: Vec<PathBuf>,
    /// Folders of [`Plan::caches`], and the place in a root that each is seen at as well, instead of what the root
    /// has there. The place is made where nothing is; where something else than a folder is, or a link is on the
    /// way, that stays.
    pub laid: Vec<(PathBuf, PathBuf)>,
    /// Files outside of roots, and the bytes that the command reads in their place. Passed over where it sees no such
    /// file.
    pub replaced: Vec<(PathBuf, Vec<u8>)>,
}

/// How a command ended. All its processes have ended when this is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// It exited.
    Exited {
        /// Its exit code.
        code: i32,
        /// True if processes that it had started were still running, and were ended with it.
        left_running: bool,
    },
    /// A signal ended it that was not [`crate::Running::kill`]'s.
    Signalled {
        /// The signal's number.
        signal: i32,
        /// True if processes that it had started were still running, and were ended with it.
        left_running: bool,
    },
    /// It was ended because its processes used more memory than [`Limits::memory_bytes`].
    Memory {
        /// Bytes in use when it was seen.
        bytes: u64,
    },
    /// It was ended because the layers on a disk grew beyond [`Limits::layer_bytes`]. (Layers in memory refuse
    /// to grow instead: the command sees "No space left on device".)
    LayerFull {
        /// Bytes in the layers when it was seen.
        bytes: u64,
    },
    /// It was ended because the caches grew beyond [`Limits::cache_bytes`].
    CacheFull {
        /// Bytes in the caches when it was seen.
        bytes: u64,
    },
    /// It was ended by [`crate::Running::kill`].
    Killed,
    /// The sandbox itself ended, or something outside ended the command's first process: in words.
    Lost(String),
}

/// The room in the layer folder, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerRoom {
    /// All of it.
    pub size: u64,
    /// Free bytes.
    pub free: u64,
}

/// Why a sandbox or a command in it could not be started. The words name the step that failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SandboxError {
    /// The plan or the command is not one that can be run.
    #[error("{0}")]
    Unfit(String),
    /// A step failed on this machine.
    #[error("{words}")]
    Failed {
        /// The step and what the system said.
        words: String,
        /// The system's error number, where there is one.
        errno: Option<i32>,
    },
    /// The holder is gone.
    #[error("the sandbox has ended")]
    Ended,
}

impl Plan {
    /// Checks what must hold of a plan before anything is started by it.
    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        let unfit = |words: String| Err(SandboxError::Unfit(words));
        if self.roots.is_empty() {
            return unfit("a sandbox needs at least one root".to_owned());
        }
        for (index, root) in self.roots.iter().enumerate() {
            if root == Path::new("/") {
                return unfit("commands can't run in a sandbox when the root is \"/\"".to_owned());
            }
            match root.canonicalize() {
                Ok(canonical) if canonical == *root => {}
                Ok(canonical) => {
                    return unfit(format!("the root {root:?} must be given as {canonical:?}"));
                }
                Err(error) => return unfit(format!("the root {root:?} can't be opened: {error}")),
            }
            if !root.is_dir() {
                return unfit(format!("the root {root:?} is not a folder"));
            }
            if self.hidden.contains(root) {
                return unfit(format!("the root {root:?} can't be hidden"));
            }
            let others = self.roots.iter().enumerate().filter(|(other, _)| *other != index);
            if let Some((_, other)) = others.into_iter().find(|(_, other)| root.starts_with(other))
            {
                return unfit(format!("the root {root:?} is inside the root {other:?}"));
            }
        }
        let paths = self.shown.iter().chain(&self.hidden).chain(&self.caches).chain(&self.home);
        let links = self.links.iter().flat_map(|(link, root)| [link, root]);
        for path in paths.chain(links).chain([&self.disk_layers]) {
            if !is_plain(path) {
                return unfit(format!("{path:?} must be absolute and without \"..\""));
            }
        }
        Ok(())
    }
}

impl Spec {
    /// Checks what must hold of a command before the holder is asked for it.
    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        let unfit = |words: String| Err(SandboxError::Unfit(words));
        if self.argv.first().is_none_or(|program| program.is_empty()) {
            return unfit("a command needs a program".to_owned());
        }
        let name = Path::new(&self.layer);
        if name.file_name() != Some(name.as_os_str()) || self.layer.starts_with('.') {
            return unfit(format!("{:?} can't be the name of a layer", self.layer));
        }
        let laid = self.laid.iter().flat_map(|(cache, place)| [cache, place]);
        let paths = self.shown.iter().chain(&self.hidden).chain(&self.unhidden);
        let replaced = self.replaced.iter().map(|(path, _)| path);
        for path in paths.chain([&self.cwd]).chain(laid).chain(replaced) {
            if !is_plain(path) {
                return unfit(format!("{path:?} must be absolute and without \"..\""));
            }
        }
        Ok(())
    }
}

/// True if a path is absolute and has no `..` in it.
fn is_plain(path: &Path) -> bool {
    use std::path::Component;
    path.is_absolute() && !path.components().any(|part| matches!(part, Component::ParentDir))
}
