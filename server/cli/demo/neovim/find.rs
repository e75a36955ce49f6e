//! Which Neovim to use: the one that was named, or the first of those that are lying about that is new enough.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The first version with what the demo needs: `exec_cmd` of a client, and diagnostics with data.
const NEEDED: (u32, u32) = (0, 11);
/// How long a program may take to say its version.
const BOUND: Duration = Duration::from_secs(10);

/// A Neovim that is new enough.
#[derive(Clone, Debug)]
pub(in super::super) struct Neovim {
    /// Its absolute path.
    pub(in super::super) program: PathBuf,
    /// As it says it: `0.11.4`.
    pub(in super::super) version: String,
}

/// Finds it: `named`, else what NVIM_BIN names, else `nvim` in PATH or below `target/editors/nvim`. What was
/// named must do; else the first that does is taken.
///
/// # Errors
/// One sentence that says why there is none, and what to do.
pub(in super::super) fn find(named: Option<PathBuf>) -> Result<Neovim, String> {
    let of_variable = || std::env::var_os("NVIM_BIN").filter(|name| !name.is_empty());
    if let Some(program) = named.or_else(|| of_variable().map(PathBuf::from)) {
        return check(&program);
    }
    let mut candidates = in_path(&std::env::var_os("PATH").unwrap_or_default());
    candidates.extend(below(Path::new("target/editors/nvim")));
    let mut refusal = None;
    for program in candidates {
        match check(&program) {
            Ok(neovim) => return Ok(neovim),
            Err(words) => refusal = refusal.or(Some(words)),
        }
    }
    Err(refusal.unwrap_or_else(|| {
        "there is no nvim in PATH: install Neovim 0.11 or later, or name one with --nvim PATH"
            .to_owned()
    }))
}

/// Every `nvim` in these folders.
fn in_path(folders: &OsString) -> Vec<PathBuf> {
    let programs = std::env::split_paths(folders).map(|folder| folder.join("nvim"));
    programs.filter(|program| program.is_file()).collect()
}

/// Every `bin/nvim` below a folder, the nearest first, links to folders not followed.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    // Deeper than any installation has its programs.
    for _ in 0..6 {
        let mut next = Vec::new();
        for folder in folders {
            let program = folder.join("bin/nvim");
            if program.is_file() {
                found.push(program);
            }
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            next.extend(inner.map(|entry| entry.path()));
        }
        next.sort();
        folders = next;
    }
    found
}

/// Asks a program whether it is a Neovim that will do.
fn check(program: &Path) -> Result<Neovim, String> {
    let advice = "name Neovim 0.11 or later with --nvim PATH";
    let shown = program.display();
    // It will be started in another folder.
    let program =
        std::path::absolute(program).map_err(|error| format!("{shown}: {error}; {advice}"))?;
    let said = said_version(&program)
        .map_err(|error| format!("{shown} can't be run ({error}); {advice}"))?;
    let version = said.strip_prefix("NVIM v").map(|rest| rest.lines().next().unwrap_or_default());
    match version.and_then(|version| Some((version, numbers(version)?))) {
        Some((version, numbers)) if numbers >= NEEDED => {
            Ok(Neovim { program, version: version.to_owned() })
        }
        Some((version, _)) => {
            Err(format!("{shown} is Neovim {version}, too old for this; {advice}"))
        }
        None => Err(format!("{shown} does not say its version as Neovim does; {advice}")),
    }
}

/// The start of what a program says to `--version`; nothing when it says nothing in time.
fn said_version(program: &Path) -> std::io::Result<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (sender, said) = channel();
    if let Some(output) = child.stdout.take() {
        std::thread::Builder::new().spawn(move || {
            let mut start = Vec::new();
            let _ = output.take(1000).read_to_end(&mut start);
            let _ = sender.send(start);
        })?;
    }
    let start = said.recv_timeout(BOUND).unwrap_or_default();
    // One that goes on talking has said enough.
    let _ = child.kill();
    child.wait()?;
    Ok(String::from_utf8_lossy(&start).into_owned())
}

/// Major and minor of `0.11.4` or `0.12.0-dev-1+gabc`.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("0.9.5") < Some(NEEDED), "not as texts");
        assert_eq!(numbers("0.11.4"), Some((0, 11)));
        assert!(numbers("0.12.0-dev-1+gabc") > Some(NEEDED));
        assert!(numbers("1.0") > Some(NEEDED));
        assert_eq!(numbers("eleven"), None);
        assert_eq!(numbers(""), None);
        assert_eq!(numbers("99999999999.0"), None);
    }
}
