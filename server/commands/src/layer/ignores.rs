//! Which paths are ignored, by the rules as the files of a layer over the disk have them.
//!
//! The same rules as the walk over a view's files: `.ignore`, `.gitignore` and `.git/info/exclude` in every folder
//! and above the root up to the repository, and git's own global excludes; in each kind the innermost file that
//! says something wins. The files are read through handles, from the layer where it has them.

use super::folder::{Folder, StampKind, names_of};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A longer file of rules is taken for none.
const LONGEST: u64 = 1 << 20;

/// The rules of one folder.
#[derive(Debug, Default)]
struct IgnoreLevel {
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// The rules above don't count for a repository in it.
    has_git: bool,
}

/// The rules from the system's down to one folder.
#[derive(Debug)]
pub(super) struct Ignores {
    global: Gitignore,
    levels: Vec<IgnoreLevel>,
    /// The folder that the innermost level is of.
    at: PathBuf,
}

impl Ignores {
    /// The rules that hold above a root.
    pub(super) fn above(root: &Path) -> Self {
        let mut builder = GitignoreBuilder::new(root);
        if let Some(file) = gitconfig_excludes_path().filter(|file| file.is_file()) {
            // A file that can't be read has no rules; git says nothing either.
            let _ = builder.add(file);
        }
        let global = builder.build().unwrap_or_else(|_| Gitignore::empty());
        let mut above: Vec<&Path> = root.ancestors().skip(1).collect();
        above.reverse();
        let levels = above.into_iter().map(|folder| match Folder::disk(folder) {
            Ok(handle) => IgnoreLevel::of(folder, None, Some(&handle)),
            Err(_) => IgnoreLevel::default(),
        });
        Self { global, levels: levels.collect(), at: root.to_owned() }
    }

    /// Goes into a folder (`up`: what lies over the disk's `below`).
    pub(super) fn enter(&mut self, folder: &Path, up: Option<&Folder>, below: Option<&Folder>) {
        self.levels.push(IgnoreLevel::of(folder, up, below));
        self.at = folder.to_owned();
    }

    /// Goes back to the folder above.
    pub(super) fn leave(&mut self) {
        self.levels.pop();
        self.at.pop();
    }

    /// True if the name of a folder is ignored in `folder`, which lies in this root with `up` over it. Nothing is
    /// entered, before or after.
    pub(super) fn ignores_below(
        &mut self,
        (root, up): (&Path, &Path),
        folder: &Path,
        name: &OsStr,
    ) -> bool {
        let (mut up, mut below) = (Folder::ours(up).ok(), Folder::disk(root).ok());
        let mut at = root.to_owned();
        let before = self.levels.len();
        self.enter(&at, up.as_ref(), below.as_ref());
        for name in names_of(folder) {
            at.push(name);
            up = up.and_then(|up| up.enter(name).ok());
            below = below.and_then(|below| below.enter(name).ok());
            self.enter(&at, up.as_ref(), below.as_ref());
        }
        let is_ignored = self.ignores(name, true);
        self.levels.truncate(before);
        is_ignored
    }

    /// True if a name in the folder that was entered last is ignored.
    pub(super) fn ignores(&self, name: &OsStr, is_folder: bool) -> bool {
        if self.global.is_empty() && self.levels.iter().all(IgnoreLevel::is_empty) {
            return false;
        }
        let path = self.at.join(name);
        let (mut plain, mut git, mut exclude) = (Match::None, Match::None, Match::None);
        let mut saw_git = false;
        let ask = |rules: &Option<Gitignore>| match rules {
            Some(rules) => rules.matched(&path, is_folder).map(|_| ()),
            None => Match::None,
        };
        for level in self.levels.iter().rev() {
            if plain.is_none() {
                plain = ask(&level.ignore);
            }
            if !saw_git {
                git = git.or(ask(&level.gitignore));
                exclude = exclude.or(ask(&level.exclude));
            }
            saw_git |= level.has_git;
        }
        let global = self.global.matched(&path, is_folder).map(|_| ());
        plain.or(git).or(exclude).or(global).is_ignore()
    }
}

impl IgnoreLevel {
    fn is_empty(&self) -> bool {
        self.ignore.is_none() && self.gitignore.is_none() && self.exclude.is_none()
    }

    fn of(folder: &Path, up: Option<&Folder>, below: Option<&Folder>) -> Self {
        let git = below.and_then(|below| below.look(".git".as_ref()).ok().flatten());
        let exclude = git.filter(|git| git.kind == StampKind::Folder).and_then(|_| {
            let info = below?.reach(Path::new(".git/info")).ok()??;
            let bytes = info.read("exclude".as_ref(), LONGEST).ok()?;
            rules(folder, &bytes)
        });
        Self {
            ignore: read(".ignore", up, below).and_then(|bytes| rules(folder, &bytes)),
            gitignore: read(".gitignore", up, below).and_then(|bytes| rules(folder, &bytes)),
            exclude,
            has_git: git.is_some(),
        }
    }
}

/// A file as a layer over the disk has it.
fn read(name: &str, up: Option<&Folder>, below: Option<&Folder>) -> Option<Vec<u8>> {
    let name = OsStr::new(name);
    let over = up.and_then(|up| Some((up, up.look(name).ok()??.kind)));
    match over {
        Some((up, StampKind::File)) => up.read(name, LONGEST).ok(),
        Some(_) => None,
        None => {
            let below = below?;
            below.look(name).ok()?.filter(|found| found.kind == StampKind::File)?;
            below.read(name, LONGEST).ok()
        }
    }
}

fn rules(folder: &Path, bytes: &[u8]) -> Option<Gitignore> {
    let text = String::from_utf8_lossy(bytes);
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that is no pattern says nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
