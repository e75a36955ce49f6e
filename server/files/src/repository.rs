//! Files of version control's own, which no tool changes: all of a store such as `.git`, and of a folder that git takes for a
//! bare repository.
//!
//! Git and the others run programs that these files name, as soon as the user asks them for anything, and a store of which
//! some files are of another time is damaged. Names are judged as the least
//! strict file systems take them, because a repository may be checked out on any.

use crate::disk::read_plain;
use crate::paths::Place;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Characters that some file systems leave out of names when they compare them.
const IGNORED: &[char] = &[
    '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}',
    '\u{202e}', '\u{206a}', '\u{206b}', '\u{206c}', '\u{206d}', '\u{206e}', '\u{206f}', '\u{feff}',
];

/// The names by which git knows a repository's folder.
const PARTS: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// Which of [`PARTS`] a folder has.
type RepositoryParts = [bool; PARTS.len()];

/// Names of the folders in which programs for version control keep their stores.
const STORES: [&str; 7] = [".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul"];

/// One more, in capitals alone: in small letters it is the name of ordinary folders.
const CVS: &str = "CVS";

/// True if a name is a store's on some file system: in any case, with characters that are left out, as the short name
/// or a stream of Windows.
pub fn is_store_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    // Most names are told apart by their first letters.
    if !name.contains(['.', '~', '_']) {
        return name == CVS;
    }
    name.split('\\').any(|part| {
        let plain: String = part.chars().filter(|char| !IGNORED.contains(char)).collect();
        let plain = plain.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
        let short = plain.strip_suffix("~1").unwrap_or_default();
        let is_store = |store: &&str| {
            plain.eq_ignore_ascii_case(store)
                || store.strip_prefix('.').is_some_and(|store| short.eq_ignore_ascii_case(store))
        };
        plain == CVS || STORES.iter().any(is_store)
    })
}

/// True if a part of the path is a name of a store.
pub fn is_in_store(path: &Path) -> bool {
    path.iter().any(is_store_name)
}

/// Where the repository of a work tree lies that has a `.git`: the folder of its own files, and of those that it shares with
/// other work trees. Blocking.
pub fn git_folders(top: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = top.join(".git");
    let git = if git.is_file() { led_to(&git, "gitdir:", top)? } else { git };
    let common = led_to(&git.join("commondir"), "", &git);
    git.is_dir().then(|| (git.clone(), common.unwrap_or(git)))
}

/// The path in a small file, behind a word.
fn led_to(file: &Path, word: &str, from: &Path) -> Option<PathBuf> {
    let text = String::from_utf8(read_plain(file, 4_096).ok()?).ok()?;
    Some(from.join(text.trim().strip_prefix(word)?.trim()))
}

/// Tells which places are a repository's own: on the disk, and over it by what is proposed.
#[derive(Debug, Default)]
pub struct Repositories {
    /// Parts that stand over the disk, by the folder that they are in.
    over: HashMap<PathBuf, RepositoryParts>,
    /// Parts that the disk has, by folder, as they were at the first look; None where nobody has asked.
    below: HashMap<PathBuf, [Option<bool>; PARTS.len()]>,
}

impl Repositories {
    /// Something stands at this path, whatever the disk has.
    pub fn add(&mut self, path: &Path) {
        for (folder, part) in parts_of(path) {
            let parts = self.over.entry(folder.to_owned()).or_default();
            parts.iter_mut().zip(part).for_each(|(has, adds)| *has |= adds);
        }
    }

    /// True if the place is a repository's own, or would be with a file there. Some system calls for each folder above
    /// it that was not looked at before.
    pub fn own(&mut self, place: &Place) -> bool {
        if place.is_untitled() {
            return false;
        }
        if is_in_store(&place.path) {
            return true;
        }
        let folders = place.path.ancestors().skip(1).take(place.relative.iter().count());
        let mut inner = place.path.as_path();
        for folder in folders {
            let own = part_named(inner.file_name());
            let over = self.over.get(folder).copied().unwrap_or_default();
            let below = self.below.entry(folder.to_owned()).or_default();
            let mut has = |part: &str| {
                let known = PARTS.iter().zip(own.iter().zip(over)).zip(&mut *below);
                known.into_iter().any(|((name, (own, over)), below)| {
                    let is_there = || folder.join(name).symlink_metadata().is_ok();
                    *name == part && (*own || over || *below.get_or_insert_with(is_there))
                })
            };
            if has("HEAD") && (has("commondir") || has("objects") && has("refs")) {
                return true;
            }
            inner = folder;
        }
        false
    }
}

/// Which part a name is.
fn part_named(name: Option<&OsStr>) -> RepositoryParts {
    PARTS.map(|part| name.is_some_and(|name| name.eq_ignore_ascii_case(part)))
}

/// The folders in which a path is, or leads through, a part of a repository.
fn parts_of(path: &Path) -> impl Iterator<Item = (&Path, RepositoryParts)> {
    let named = path.ancestors().map(|at| (at.parent(), part_named(at.file_name())));
    named
        .filter(|(_, parts)| parts.contains(&true))
        .filter_map(|(folder, parts)| Some((folder?, parts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_stores_are_known_however_they_are_spelled() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            "git~1",
            "GIT~1",
            ".git.",
            ".git ",
            ".git . .",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git::$INDEX_ALLOCATION",
            ".git:x",
            "a\\.git",
            ".git\\config",
            ".hg",
            ".SVN",
            "svn~1",
            ".jj",
            ".bzr",
            "_darcs",
            ".pijul",
            "CVS",
        ] {
            assert!(is_store_name(OsStr::new(name)), "{name:?}");
        }
        for name in [
            ".gitignore",
            ".gitattributes",
            ".gitmodules",
            ".github",
            ".gitkeep",
            "git",
            "a.git",
            "..git",
            "git~2",
            ".gi t",
            "",
            ".",
            "é",
            ".git-blame-ignore-revs",
            "cvs",
            ".hgignore",
            "_darcs_",
            "hg",
            ".cvsignore",
        ] {
            assert!(!is_store_name(OsStr::new(name)), "{name:?}");
        }
        assert!(is_in_store(Path::new("/w/sub/.GIT/hooks/x")));
        assert!(!is_in_store(Path::new("/w/.github/workflows/x")));
    }

    #[test]
    fn a_folder_that_git_takes_for_a_repository_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["bare/objects", "bare/refs", "near/refs", "near/sub"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
        let roots = crate::Roots::new(vec![("w".to_owned(), root.clone())]);
        let mut known = Repositories::default();
        let mut own = |name: &str| {
            let place = roots.place(root.join(name)).unwrap();
            let own = known.own(&place);
            if !own {
                known.add(&place.path);
            }
            own
        };
        for (name, is_own) in [
            ("bare/config", true),
            ("bare/hooks/post-commit", true),
            ("bare", false),
            ("near/HEAD", false),
            ("near/config", false),
            // The last that was missing.
            ("near/objects/x", true),
            ("near/commondir", true),
            ("near/sub/HEAD", false),
            ("near/sub/commondir", true),
            ("other/objects/a", false),
            ("other/refs/a", false),
            ("other/sub/HEAD", false),
            ("other/head", true),
        ] {
            assert_eq!(own(name), is_own, "{name}");
        }
    }
}
