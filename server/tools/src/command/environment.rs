//! The environment that a command gets: ours without secrets, set up for no terminal.
//!
//! What is a secret is told by its name alone, from the lists here; values are not looked at. The user may name some
//! that commands over the fork are given all the same; never what opens the model's account or leads out of a command.

use std::ffi::OsString;

/// Names that begin like this hold keys.
const DENIED_STARTS: &[&str] = &["AWS_", "AZURE_", "GITHUB_TOKEN", "GOOGLE_APPLICATION_", "VAULT_"];

/// Names that begin like this hold the model's keys, or lead to programs that hold some.
const CLOSED_STARTS: &[&str] =
    &["ANTHROPIC_", "DBUS_", "OPENAI_", "OPENROUTER_", "ROPEWALK_", "VSCODE_"];

/// Names that end like this hold keys.
const DENIED_ENDS: &[&str] = &[
    "_ACCESS_KEY",
    "_API_KEY",
    "_APIKEY",
    "_AUTH",
    "_CREDENTIALS",
    "_KEY_ID",
    "_PASS",
    "_PASSPHRASE",
    "_PASSWD",
    "_PASSWORD",
    "_PAT",
    "_PRIVATE_KEY",
    "_SECRET",
    "_SECRET_KEY",
    "_TOKEN",
    "APIKEY",
    "PASSWORD",
];

/// Other names of secrets.
const DENIED: &[&str] = &["API_KEY", "PASSWORD", "SECRET", "TOKEN"];

/// Ways to editors and to agents that hold keys, and what changes how bash starts.
const CLOSED: &[&str] = &[
    "BASH_ENV",
    "DISPLAY",
    "ENV",
    "GPG_AGENT_INFO",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "TMUX",
    "WAYLAND_DISPLAY",
];

/// Set for every command, so that the program itself knows that it is inside of one.
pub const INSIDE: &str = "ROPEWALK_COMMAND";

/// What a command over the fork is given: places, the user's name and language.
const ALLOWED: &[&str] = &["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TZ", "USER"];

/// The same by how they begin: the language, and what builds and toolchains go by. What holds a secret by its
/// name stays out all the same.
const ALLOWED_STARTS: &[&str] =
    &["CARGO_", "CMAKE_", "CONDA_", "LC_", "NIX_", "PKG_CONFIG_", "RUST", "UV_"];

/// Variables of toolchains.
const TOOLCHAINS: &[&str] = &[
    "AR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CC",
    "CFLAGS",
    "CLASSPATH",
    "CPATH",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "DENO_DIR",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "GOARCH",
    "GOBIN",
    "GOFLAGS",
    "GOMODCACHE",
    "GOOS",
    "GOPATH",
    "GOROOT",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "LD",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "MAKEFLAGS",
    "MAVEN_OPTS",
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NVM_BIN",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYTHONPATH",
    "RBENV_ROOT",
    "RUBYLIB",
    "SDKMAN_DIR",
    "SOURCE_DATE_EPOCH",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// What makes programs behave without a terminal and a user at it.
const SET: &[(&str, &str)] = &[
    ("CI", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    // A root is a mount of its own over the fork, and its repository may lie above it.
    ("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),
    ("GIT_EDITOR", "true"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
];

/// Takes secrets out of an environment, but for those that the user `named`, and adds what commands need without a
/// terminal.
///
/// Names are compared without regard to case, but with those that are named. Order is kept; what is set comes last.
pub fn command_environment(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    named: &[String],
) -> Vec<(OsString, OsString)> {
    let is_kept = |(name, _): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        !is_closed(&name) && (!is_denied(&name) || named.iter().any(|named| *named == name))
    };
    let mut kept: Vec<(OsString, OsString)> = environment.into_iter().filter(is_kept).collect();
    kept.extend(SET.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    kept.push((INSIDE.into(), "1".into()));
    kept
}

/// The part of an environment that a command over the fork is given: what is listed here, and `more`.
pub fn allowed_environment(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    more: &[String],
) -> Vec<(OsString, OsString)> {
    let is_allowed = |name: &OsString| {
        let Some(name) = name.to_str() else { return false };
        ALLOWED.contains(&name)
            || TOOLCHAINS.contains(&name)
            || ALLOWED_STARTS.iter().any(|start| name.starts_with(start))
            || more.iter().any(|named| named == name)
    };
    environment.into_iter().filter(|(name, _)| is_allowed(name)).collect()
}

/// Whether it is never given, or set.
fn is_closed(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SET.iter().any(|(set, _)| *set == name)
        || CLOSED.contains(&name.as_str())
        || CLOSED_STARTS.iter().any(|start| name.starts_with(start))
}

fn is_denied(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    DENIED.contains(&name.as_str())
        || DENIED_STARTS.iter().any(|start| name.starts_with(start))
        || DENIED_ENDS.iter().any(|end| name.ends_with(end))
}
