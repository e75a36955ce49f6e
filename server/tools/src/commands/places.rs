//! Folders that every command may read, as data: the system's own, and where toolchains live.
//!
//! What a sandbox really shows is the sandbox's; here is only what needs no asking when a command names it.

use std::path::Path;

/// Folders of the system and temporary ones. Of the latter a command has its own.
const SYSTEM: &[&str] = &[
    "/bin", "/dev", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc",
    "/run", "/sbin", "/snap", "/sys", "/tmp", "/usr", "/var/tmp",
];

/// Folders of a home that hold toolchains and what they have fetched.
const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".bun",
    ".cabal",
    ".cargo",
    ".deno",
    ".dotnet",
    ".elan",
    ".ghcup",
    ".gradle",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".nix-profile",
    ".npm",
    ".nvm",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".stack",
    ".swiftly",
    ".volta",
    "go",
    "miniconda3",
];

/// Variables whose value is a folder of a toolchain.
const VARIABLES: &[&str] = &[
    "BUN_INSTALL",
    "CARGO_HOME",
    "CONDA_PREFIX",
    "DENO_DIR",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "SDKMAN_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// Whether a path is the top of the file tree, or lies in a folder of the system's or a temporary one.
pub(crate) fn is_of_the_system(path: &Path) -> bool {
    path.parent().is_none() || SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Whether a path lies in a toolchain.
pub(crate) fn is_of_toolchains(path: &Path, home: Option<&Path>) -> bool {
    let in_home =
        home.is_some_and(|home| TOOLCHAINS.iter().any(|name| path.starts_with(home.join(name))));
    let by_variable = || {
        let folders = VARIABLES.iter().filter_map(std::env::var_os);
        folders.filter(|folder| !folder.is_empty()).any(|folder| path.starts_with(folder))
    };
    let in_path = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders)
            .any(|folder| folder.is_absolute() && path.starts_with(folder))
    };
    in_home || by_variable() || in_path()
}
