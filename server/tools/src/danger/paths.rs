//! Paths that nobody wants to lose as a whole: the root, system folders, home folders.
//!
//! They are resolved by their letters alone; links are not followed and the disk is not asked.

use super::words::Word;

/// An absolute path, or one below the home folder, in cleaned components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    is_home: bool,
    parts: Vec<String>,
    /// Where the first component with a pattern would stand.
    first_pattern: usize,
}

/// Folders at the root that a system or its users need (Filesystem Hierarchy Standard 3.0, macOS).
const TOP: &[&str] = &[
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
];

/// Folders below `/usr` and `/var` that are needed as much.
const SECOND: &[&str] =
    &["bin", "include", "lib", "lib64", "libexec", "local", "log", "sbin", "share", "spool"];

impl Path {
    /// The user's home folder, where `cd` without a word goes.
    pub(super) fn home() -> Self {
        Self { is_home: true, parts: Vec::new(), first_pattern: usize::MAX }
    }

    /// Where `word` leads when the shell is in `cwd`; `None` when its start is not known.
    pub(super) fn of(word: &Word, cwd: Option<&Self>) -> Option<Self> {
        let text = word.text();
        let (mut path, mut at) = match text.find('/') {
            _ if word.is_home && !text.starts_with("~+") && !text.starts_with("~-") => {
                (Self::home(), text.find('/').unwrap_or(text.len()))
            }
            Some(0) => (Self { is_home: false, ..Self::home() }, 0),
            _ => (cwd?.clone(), 0),
        };
        for part in text.get(at..).unwrap_or_default().split('/') {
            at += part.len() + 1;
            match part {
                "" | "." => {}
                ".." => {
                    if path.parts.pop().is_none() && path.is_home {
                        // Above the home folder is the folder of all homes.
                        path = Self { is_home: false, parts: vec!["home".to_owned()], ..path };
                    }
                }
                _ => {
                    if word.open_at.is_some_and(|open| open < at) && part.contains(['*', '?', '['])
                    {
                        path.first_pattern = path.first_pattern.min(path.parts.len());
                    }
                    path.parts.push(part.to_owned());
                }
            }
        }
        Some(path)
    }

    /// The loss in words; `None` when it is an ordinary path.
    pub(super) fn loss(&self) -> Option<String> {
        let is_all = |(at, part): &(usize, &String)| {
            *at >= self.first_pattern
                && part.contains('*')
                && part.chars().all(|c| "*?.[]!^".contains(c))
        };
        let kept =
            self.parts.len() - self.parts.iter().enumerate().rev().take_while(is_all).count();
        let parts: Vec<&str> = self.parts.iter().take(kept).map(String::as_str).collect();
        match (self.is_home, parts.as_slice()) {
            (true, []) => Some("the home folder".to_owned()),
            (false, []) => Some("the whole file system (`/`)".to_owned()),
            (false, [top]) if self.first_pattern == 0 => {
                Some(format!("what `/{top}` matches at the root of the file system"))
            }
            (false, ["root"]) => Some("a home folder (`/root`)".to_owned()),
            (false, [top]) if TOP.contains(top) => Some(format!("the system folder `/{top}`")),
            (false, [top @ ("home" | "Users"), name]) => {
                Some(format!("a home folder (`/{top}/{name}`)"))
            }
            (false, [top @ ("usr" | "var"), name]) if SECOND.contains(name) => {
                Some(format!("the system folder `/{top}/{name}`"))
            }
            _ => None,
        }
    }
}
