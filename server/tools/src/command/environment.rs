//! The environment that a command gets: ours without secrets, set up for no terminal.
//!
//! What is a secret is told by its name alone, from the lists here; values are not looked at.

use std::ffi::OsString;

/// Names that begin like this hold keys, or lead to programs that hold some.
const DENIED_STARTS: &[&str] = &[
    "ANTHROPIC_",
    "AWS_",
    "AZURE_",
    "DBUS_",
    "GITHUB_TOKEN",
    "GOOGLE_APPLICATION_",
    "OPENAI_",
    "OPENROUTER_",
    "ROPEWALK_",
    "VAULT_",
    "VSCODE_",
];

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

/// Other names: secrets, ways to agents that hold some, and what changes how bash starts.
const DENIED: &[&str] = &[
    "API_KEY",
    "BASH_ENV",
    "DISPLAY",
    "ENV",
    "GPG_AGENT_INFO",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "PASSWORD",
    "SECRET",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "TMUX",
    "TOKEN",
    "WAYLAND_DISPLAY",
];

/// What makes programs behave without a terminal and a user at it.
const SET: &[(&str, &str)] = &[
    ("CI", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
];

/// Takes secrets out of an environment and adds what commands need without a terminal.
///
/// Names are compared without regard to case. Order is kept; what is set comes last.
pub fn command_environment(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<(OsString, OsString)> =
        environment.into_iter().filter(|(name, _)| !is_denied(&name.to_string_lossy())).collect();
    kept.extend(SET.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    kept
}

fn is_denied(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SET.iter().any(|(set, _)| *set == name)
        || DENIED.contains(&name.as_str())
        || DENIED_STARTS.iter().any(|start| name.starts_with(start))
        || DENIED_ENDS.iter().any(|end| name.ends_with(end))
}
