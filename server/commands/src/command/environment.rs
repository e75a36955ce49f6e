//! The environment that a command gets: ours without secrets, set up for no terminal.
//!
//! Secrets are told by their names, from the lists here, and by an account in an address that the value holds. The
//! user may name some that commands are given all the same; never what opens the model's account or leads out of a
//! command.

use ropewalk_tools::secrets::Secrets;
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

/// Variables that a command over the fork is given: places, the user's name and language.
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

/// Variables that make programs behave without a terminal and a user at it.
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
/// terminal. What is among `secrets`, by its name or its value, goes whatever is named.
///
/// Names are compared without regard to case, but with those that are named. Order is kept; what is set comes last.
pub fn command_environment(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    named: &[String],
    secrets: &Secrets,
) -> Vec<(OsString, OsString)> {
    let is_kept = |(name, value): &(OsString, OsString)| {
        if secrets.variables.iter().any(|variable| name.as_os_str() == variable.as_str())
            || secrets.are_in(value.as_encoded_bytes())
        {
            return false;
        }
        let name = name.to_string_lossy();
        let is_secret = || is_denied(&name) || names_account(&value.to_string_lossy());
        !is_closed(&name) && (named.iter().any(|named| *named == name) || !is_secret())
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

/// True if it is never given, or set.
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

/// True if a text holds an address with a password or a token in it (`https://user:password@host`). The user's name
/// alone, as in `ssh://git@host`, is none.
fn names_account(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        if account_in(before, after).is_some() {
            return true;
        }
        rest = after;
    }
    false
}

/// The bytes at the start of `after` that are an account with a secret, its `@` among them, where `before` ends with
/// the address's scheme.
pub(crate) fn account_in(before: &str, after: &str) -> Option<usize> {
    let ends = |c: char| c.is_whitespace() || "/?#\"'<>\\".contains(c);
    let host = after.get(..after.find(ends).unwrap_or(after.len()))?;
    // The last: a password may hold one.
    let at = host.rfind('@')?;
    let account = host.get(..at)?;
    let is_name_alone = || {
        let is_of_ssh = ["ssh", "sftp", "git", "rsync"].iter().any(|end| before.ends_with(end));
        is_of_ssh || account == "git"
    };
    let has_secret = match account.split_once(':') {
        Some((_, password)) => !password.is_empty(),
        None => !account.is_empty() && !is_name_alone(),
    };
    has_secret.then_some(at + 1)
}

/// Variables by which package managers say at once that there is no network, where they would try again for a minute. Each
/// goes by its own; names that a program doesn't know mean nothing to it. Gradle has no variable for that and needs
/// none: it tries a host without an address once.
const WITHOUT_NETWORK: &[(&str, &str)] = &[
    ("BUN_CONFIG_HTTP_RETRY_COUNT", "0"),
    ("BUNDLE_RETRY", "0"),
    ("CARGO_NET_RETRY", "0"),
    ("COMPOSER_DISABLE_NETWORK", "1"),
    ("CONDA_REMOTE_MAX_RETRIES", "0"),
    // Since Maven 3.9; before, it tries a host without an address once.
    ("MAVEN_ARGS", "--offline"),
    ("NUGET_ENHANCED_MAX_NETWORK_TRY_COUNT", "1"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_RETRIES", "0"),
    ("POETRY_REQUESTS_MAX_RETRIES", "0"),
    ("RUSTUP_MAX_RETRIES", "0"),
    ("UV_HTTP_RETRIES", "0"),
    ("YARN_HTTP_RETRY", "0"),
    // Of npm and of pnpm before and since its version 11.
    ("npm_config_fetch_retries", "0"),
    ("pnpm_config_fetch_retries", "0"),
];

/// Adds what a command without a network is given, but for what it has already.
pub(crate) fn without_network(environment: &mut Vec<(OsString, OsString)>) {
    for (name, value) in WITHOUT_NETWORK {
        let is_same = |(set, _): &(OsString, OsString)| set.eq_ignore_ascii_case(name);
        if !environment.iter().any(is_same) {
            environment.push(((*name).into(), (*value).into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_in_an_address_is_a_secret() {
        for (text, is_secret) in [
            ("postgres://me:pw@localhost/db", true),
            ("a, https://user:p%40ss@host:8080/x", true),
            ("https://ghp_token@github.com/a/b", true),
            ("redis://:pw@cache", true),
            ("https://x/ and https://u:a@b@c/", true),
            ("ünï://ü:pässword@höst", true),
            ("ssh://git@github.com/a", false),
            ("git+ssh://me@host/a", false),
            ("https://git@github.com/a", false),
            ("https://user:@host", false),
            ("https://host/a@b:c@d", false),
            ("https://host?mail=a:b@c", false),
            ("me:pw@host", false),
            ("://", false),
            ("://@", false),
            ("", false),
        ] {
            assert_eq!(names_account(text), is_secret, "{text}");
        }
    }

    #[test]
    fn what_the_user_set_stays_where_there_is_no_network() {
        let mut environment = vec![("PIP_RETRIES".into(), "7".into())];
        without_network(&mut environment);
        let value = |name: &str| {
            let found = environment.iter().filter(|(set, _)| set == name);
            found.map(|(_, value)| value.to_str().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(value("PIP_RETRIES"), ["7"]);
        assert_eq!(value("npm_config_fetch_retries"), ["0"]);
        assert_eq!(environment.len(), WITHOUT_NETWORK.len());
    }
}
