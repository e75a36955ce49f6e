//! Which paths nobody wants to lose as a whole: the root, system folders, home folders.
//!
//! Paths are resolved by their letters alone; links are not followed and the disk is not asked.

use super::words::{Piece, Word};

/// An absolute path, or one below the home folder, in cleaned components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    home: bool,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    text: String,
    /// Holds a file name pattern.
    pattern: bool,
    /// Is a pattern that matches everything, or everything hidden.
    all: bool,
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

impl Place {
    /// The user's home folder, where `cd` without a word goes.
    pub(super) fn home() -> Self {
        Self { home: true, parts: Vec::new() }
    }

    /// Where `word` leads when the shell is in `cwd`; `None` when its start is not known.
    pub(super) fn of(word: &Word, cwd: Option<&Self>) -> Option<Self> {
        let mut letters = Letters::of(word);
        let mut place = if letters.take_home() {
            Self::home()
        } else {
            match letters.0.first()? {
                (_, Kind::Opaque) => return None,
                ('/', _) => Self { home: false, parts: Vec::new() },
                _ => cwd?.clone(),
            }
        };
        for part in letters.0.split(|(c, _)| *c == '/') {
            place.enter(part);
        }
        Some(place)
    }

    /// What would be lost with it, in words; `None` when it is an ordinary path.
    pub(super) fn loss(&self) -> Option<String> {
        let kept = self.parts.iter().rposition(|p| !p.all).map_or(0, |at| at + 1);
        let parts = self.parts.get(..kept).unwrap_or_default();
        match (self.home, parts) {
            (true, []) => Some("the home folder".to_owned()),
            (false, []) => Some("the whole file system (`/`)".to_owned()),
            (false, [top]) if top.pattern => {
                Some(format!("what `/{}` matches at the root of the file system", top.text))
            }
            (false, [top]) if top.text == "root" => Some("a home folder (`/root`)".to_owned()),
            (false, [top]) if TOP.contains(&top.text.as_str()) => {
                Some(format!("the system folder `/{}`", top.text))
            }
            (false, [top, name]) if matches!(top.text.as_str(), "home" | "Users") => {
                Some(format!("a home folder (`/{}/{}`)", top.text, name.text))
            }
            (false, [top, name])
                if matches!(top.text.as_str(), "usr" | "var")
                    && SECOND.contains(&name.text.as_str()) =>
            {
                Some(format!("the system folder `/{}/{}`", top.text, name.text))
            }
            _ => None,
        }
    }

    fn enter(&mut self, letters: &[(char, Kind)]) {
        let text: String = letters.iter().map(|(c, _)| *c).collect();
        match text.as_str() {
            "" | "." => {}
            ".." => {
                if self.parts.pop().is_none() && self.home {
                    // Above the home folder is the folder of all homes.
                    self.home = false;
                    self.enter(&"home".chars().map(|c| (c, Kind::Quoted)).collect::<Vec<_>>());
                }
            }
            _ => {
                let bare = |c: &char, set: &str| set.contains(*c);
                let pattern = letters.iter().any(|(c, k)| *k == Kind::Bare && bare(c, "*?[{"));
                let all = letters.contains(&('*', Kind::Bare))
                    && letters.iter().all(|(c, k)| *k == Kind::Bare && bare(c, "*?.[]!^{},"));
                self.parts.push(Part { text, pattern, all });
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bare,
    Quoted,
    Opaque,
}

/// A word letter by letter, with what the quotes say of each.
struct Letters(Vec<(char, Kind)>);

impl Letters {
    fn of(word: &Word) -> Self {
        let mut letters = Vec::new();
        for piece in word.pieces() {
            let (text, kind) = match piece {
                Piece::Bare(text) => (text, Kind::Bare),
                Piece::Quoted(text) => (text, Kind::Quoted),
                Piece::Expansion(text) if is_home(text) => {
                    // `~` as an opaque letter stands for the home folder.
                    letters.push(('~', Kind::Opaque));
                    continue;
                }
                Piece::Expansion(_) => {
                    letters.push(('$', Kind::Opaque));
                    continue;
                }
            };
            letters.extend(text.chars().map(|c| (c, kind)));
        }
        Self(letters)
    }

    /// Takes `~`, `~name` or `$HOME` off the front.
    fn take_home(&mut self) -> bool {
        let end = self.0.iter().position(|(c, _)| *c == '/').unwrap_or(self.0.len());
        let first = self.0.get(..end).unwrap_or_default();
        let home = match first {
            [('~', Kind::Opaque)] => true,
            [('~', Kind::Bare), name @ ..] => !name.iter().any(|(c, _)| matches!(c, '+' | '-')),
            _ => false,
        };
        if home {
            self.0.drain(..end);
        }
        home
    }
}

fn is_home(expansion: &str) -> bool {
    let name = expansion.trim_start_matches(['$', '{']);
    name.strip_prefix("HOME")
        .is_some_and(|rest| !rest.starts_with(|c: char| c == '_' || c.is_alphanumeric()))
}
