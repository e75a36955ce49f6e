//! What of the machine a command needs to see to build and test: data.
//!
//! Which paths exist is found out by the holder; what a user allows beyond this is in the plan.

use std::ffi::OsStr;

/// System folders, shown read-only. Those that are links (`/bin` to `usr/bin`) are made as links.
pub(crate) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/gnu",
    "/etc",
    "/sys",
    // Parts of folders that hold other people's things too.
    "/var/lib/dpkg",
    "/var/lib/rpm",
    "/var/lib/pacman",
    "/var/db/pkg",
    "/var/cache/fontconfig",
    "/var/guix",
    "/run/current-system",
    "/run/opengl-driver",
];

/// Folders of programs that keep more beside themselves than programs, such as the socket of a database: shown
/// like the plan's own, through which no socket can be reached. In the folders of [`SYSTEM`] nothing listens, but
/// for what [`SYSTEM_SECRETS`] has; they are bound, because every program is started from there.
pub(crate) const SOFTWARE: &[&str] = &["/opt", "/home/linuxbrew/.linuxbrew"];

/// Devices that are let through.
pub(crate) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Links of the device folder.
pub(crate) const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Files of the system that hold secrets. Where a name ends with `*`, all that begin so.
pub(crate) const SYSTEM_SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssh/ssh_host_*",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/etc/krb5.keytab",
    "/etc/docker",
    "/etc/rancher",
    "/etc/kubernetes",
    // Daemons that write to their stores for whoever asks.
    "/nix/var/nix/daemon-socket",
    "/var/guix/daemon-socket",
    "/sys/firmware",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/kernel/security",
];

/// Toolchains in the home folder: shown, and written to without anything being kept.
pub(crate) const HOME_TOOLCHAINS: &[&str] = &[
    ".cargo",
    ".rustup",
    ".pyenv",
    ".rbenv",
    ".nvm",
    ".nodenv",
    ".fnm",
    ".local/share/fnm",
    ".volta",
    ".bun",
    ".deno",
    ".asdf",
    ".local/share/mise",
    ".local/share/rtx",
    ".sdkman",
    ".jenv",
    ".goenv",
    ".gvm",
    "go",
    ".gradle",
    ".m2/wrapper",
    ".m2/repository",
    ".ivy2",
    ".sbt",
    ".coursier",
    ".cache/coursier",
    ".ghcup",
    ".cabal",
    ".stack",
    ".opam",
    ".elan",
    ".juliaup",
    ".julia",
    ".mix",
    ".hex",
    ".pub-cache",
    "flutter",
    ".dotnet",
    ".nuget/packages",
    ".composer/vendor",
    ".config/composer/vendor",
    ".rvm",
    ".gem",
    ".conan2",
    ".nix-profile",
    ".local/state/nix",
    ".zvm",
    ".cache/zig",
    ".foundry",
    ".local/bin",
    "bin",
    ".local/lib",
    ".local/share/pipx",
    ".local/pipx",
    ".local/share/uv",
    ".local/share/pnpm",
    ".local/share/virtualenv",
    ".virtualenvs",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    ".conda",
    ".npm",
    ".cache/pip",
    ".cache/uv",
    ".cache/yarn",
    ".cache/go-build",
    ".cache/pre-commit",
    ".cache/ms-playwright",
    ".cache/bazelisk",
    ".yarn",
    ".pnpm-store",
];

/// Settings in the home folder that tools need and that hold no secrets: shown read-only.
pub(crate) const HOME_SETTINGS: &[&str] =
    &[".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".editorconfig"];

/// What of the home folder holds secrets: of toolchains, which are shown, and of everything else, for when a folder
/// around it is shown or is a root.
pub(crate) const HOME_SECRETS: &[&str] = &[
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/git/credentials",
    ".gem/credentials",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".sbt/credentials",
    ".sbt/.credentials",
    ".ivy2/.credentials",
    ".ivy2/credentials",
    ".coursier/credentials.properties",
    ".cabal/config",
    ".hex/hex.config",
    ".pub-cache/credentials.json",
    ".pub-cache/pub-credentials.json",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".conan2/credentials.json",
    ".conda/.condarc",
    ".foundry/keystores",
    ".npm/_logs",
    ".julia/servers",
    ".opam/config.secret",
];

/// Variables whose value is a toolchain's folder.
pub(crate) const VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "JAVA_HOME",
    "JDK_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "NVM_DIR",
    "FNM_DIR",
    "VOLTA_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "SDKMAN_DIR",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "MAVEN_HOME",
    "M2_HOME",
    "DOTNET_ROOT",
    "NUGET_PACKAGES",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "GHCUP_INSTALL_BASE_PREFIX",
    "OPAMROOT",
    "OPAM_SWITCH_PREFIX",
    "ELAN_HOME",
    "JULIA_DEPOT_PATH",
    "FLUTTER_ROOT",
    "PUB_CACHE",
    "GEM_HOME",
    "PNPM_HOME",
    "UV_CACHE_DIR",
    "PIP_CACHE_DIR",
    "npm_config_cache",
    "HOMEBREW_PREFIX",
    "CUDA_HOME",
    "CUDA_PATH",
    "EMSDK",
    "ZIG_GLOBAL_CACHE_DIR",
    "VCPKG_ROOT",
];

/// Secrets inside the folders that variables name, by the names in them.
pub(crate) const VARIABLE_SECRETS: &[&str] = &[
    "credentials",
    "credentials.toml",
    "credentials.json",
    "gradle.properties",
    "pub-credentials.json",
];

/// Whether a variable tells where a toolchain is.
pub(crate) fn names_a_toolchain(name: &OsStr) -> bool {
    name == "PATH" || VARIABLES.iter().any(|known| name == *known)
}
