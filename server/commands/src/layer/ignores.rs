//! Which paths git ignores, by the rules as the files of a layer over the disk have them: a path is ignored if a rule
//! matches it, or a folder above it, and git doesn't track it.
//!
//! The rules of the walk over a view's files, but for `.ignore`, which is for searches alone: `.gitignore` and `info/exclude` in every folder
//! and above the root up to the repository, and git's own global excludes; in each kind the innermost file that
//! says something wins. The files are read through handles, from the layer where it has them.

use super::folder::{Folder, StampKind, names_of};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use ropewalk_files::repository::git_folders;
use ropewalk_files::tracked::TrackedFiles;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A longer file of rules is taken for none.
const LONGEST: u64 = 1 << 20;

/// The rules of one folder.
#[derive(Debug, Default)]
struct IgnoreLevel {
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// The rules above don't count for a repository in it.
    has_git: bool,
    /// Its tracked files, once they are asked for.
    tracked: OnceCell<Arc<TrackedFiles>>,
    /// True if it is ignored with all in it, but for tracked files.
    is_ignored: bool,
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
        let name = folder.file_name().filter(|_| folder != self.at);
        let is_ignored = name.is_some_and(|name| self.is_matched(&self.at.join(name), true));
        self.levels.push(IgnoreLevel { is_ignored, ..IgnoreLevel::of(folder, up, below) });
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
        self.at = root.to_owned();
        is_ignored
    }

    /// True if a name in the folder that was entered last is ignored, and for a folder all that is in it.
    pub(super) fn ignores(&self, name: &OsStr, is_folder: bool) -> bool {
        let path = self.at.join(name);
        self.is_matched(&path, is_folder) && !self.is_tracked(&path)
    }

    /// True if the repository that the folder which was entered last is in tracks a path, or something in it.
    fn is_tracked(&self, path: &Path) -> bool {
        let mut around = self.levels.iter().rev().zip(self.at.ancestors());
        let Some((level, top)) = around.find(|(level, _)| level.has_git) else { return false };
        let tracked = level.tracked.get_or_init(|| TrackedFiles::of(top));
        path.strip_prefix(top).is_ok_and(|path| tracked.holds(path))
    }

    fn is_matched(&self, path: &Path, is_folder: bool) -> bool {
        if self.levels.last().is_some_and(|level| level.is_ignored) {
            return true;
        }
        if self.global.is_empty() && self.levels.iter().all(IgnoreLevel::is_empty) {
            return false;
        }
        let (mut git, mut exclude) = (Match::None, Match::None);
        let ask = |rules: &Option<Gitignore>| match rules {
            Some(rules) => rules.matched(path, is_folder).map(|_| ()),
            None => Match::None,
        };
        for level in self.levels.iter().rev() {
            git = git.or(ask(&level.gitignore));
            exclude = exclude.or(ask(&level.exclude));
            if level.has_git {
                break;
            }
        }
        let global = self.global.matched(path, is_folder).map(|_| ());
        git.or(exclude).or(global).is_ignore()
    }
}

impl IgnoreLevel {
    fn is_empty(&self) -> bool {
        self.gitignore.is_none() && self.exclude.is_none()
    }

    fn of(folder: &Path, up: Option<&Folder>, below: Option<&Folder>) -> Self {
        let git = below.and_then(|below| below.look(".git".as_ref()).ok().flatten());
        let exclude = git.and_then(|_| {
            let (_, common) = git_folders(folder)?;
            let info = Folder::disk(&common.join("info")).ok()?;
            rules(folder, &info.read("exclude".as_ref(), LONGEST).ok()?)
        });
        Self {
            gitignore: read(".gitignore", up, below).and_then(|bytes| rules(folder, &bytes)),
            exclude,
            has_git: git.is_some(),
            ..Self::default()
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
        let _ = builder.add_line(None, &with_plain_classes(line));
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// Classes of characters that git's patterns have and ours don't, as they are written between brackets. None begins with
/// what would turn the brackets' meaning round.
const CLASSES: [(&str, &str); 12] = [
    ("[:alnum:]", "a-zA-Z0-9"),
    ("[:alpha:]", "a-zA-Z"),
    ("[:blank:]", " \t"),
    ("[:cntrl:]", "\x01-\x1f\x7f"),
    ("[:digit:]", "0-9"),
    ("[:graph:]", "\"-~!"),
    ("[:lower:]", "a-z"),
    ("[:print:]", " -~"),
    ("[:punct:]", ":-@!-/[-`{-~"),
    ("[:space:]", " \t-\r"),
    ("[:upper:]", "A-Z"),
    ("[:xdigit:]", "0-9a-fA-F"),
];

fn with_plain_classes(line: &str) -> Cow<'_, str> {
    if !line.contains("[:") {
        return line.into();
    }
    CLASSES.iter().fold(line.to_owned(), |line, (class, plain)| line.replace(class, plain)).into()
}
