//! Which files in the open folders no command over the fork or on a copy sees: what may hold secrets by its name, and
//! what the user's rules keep from reading tools, on the disk, in the fork or in a buffer. The same look finds the
//! projects whose build folders commands don't share.
//!
//! Ignored folders are looked into as well, since where secrets are they are ignored, but for those that tools fill
//! with what they fetched and built. What is too much to be looked through is said, and is not hidden. Which way it is
//! hidden is not known here.

use crate::layer::is_project;
use ignore::{DirEntry, WalkBuilder};
use looked::LookRecord;
use ropewalk_files::repository::is_store_name;
use ropewalk_tools::policy::{Access, is_sensitive};
use ropewalk_tools::tool::ReadFilter;
use ropewalk_workspace::View;
use ropewalk_workspace::view::OverlayContent;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod looked;

/// How much is looked at.
#[derive(Clone, Copy, Debug)]
struct LookBounds {
    /// Folders that are looked into in each open folder, and again in what it ignores.
    folders: usize,
    /// Paths that are hidden.
    hidden: usize,
}

const MOST: LookBounds = LookBounds { folders: 50_000, hidden: 2_000 };

/// Folders that tools fill, by the millions of files, where they are ignored. They are not looked into.
const FILLED: &[&str] = &[
    ".bundle",
    ".cache",
    ".dart_tool",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".stack-work",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".yarn",
    ".zig-cache",
    "DerivedData",
    "Pods",
    "__pycache__",
    "_build",
    "bower_components",
    "build",
    "deps",
    "dist",
    "dist-newstyle",
    "elm-stuff",
    "node_modules",
    "obj",
    "out",
    "target",
    "vendor",
    "venv",
    "zig-out",
];

/// Files hidden from a session's commands, kept up with files that come and go and with rules that change.
#[derive(Default)]
pub(super) struct Hiding {
    /// Files of the disk, and the rules that they were judged by.
    looked: Option<(HiddenOnDisk, Arc<ReadFilter>)>,
}

impl std::fmt::Debug for Hiding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hiding").finish_non_exhaustive()
    }
}

impl Hiding {
    /// Files to hide from a command on this view, in the roots and in `others`. Blocking; the folders are
    /// looked through again where a name came or went since, else each costs one system call.
    pub(super) fn now(
        &mut self,
        view: &View,
        others: &[PathBuf],
        hides: &Arc<ReadFilter>,
    ) -> HiddenFiles {
        let is_known = |(looked, by): &&(HiddenOnDisk, Arc<ReadFilter>)| {
            std::ptr::addr_eq(Arc::as_ptr(by), Arc::as_ptr(hides))
                && looked.seen.is_of(view, others)
                && looked.seen.is_still()
        };
        if let Some((looked, _)) = self.looked.as_ref().filter(is_known) {
            return looked.with(view, &**hides, MOST);
        }
        let looked = look(view, others, &**hides, MOST);
        let hidden = looked.with(view, &**hides, MOST);
        self.looked = Some((looked, hides.clone()));
        hidden
    }
}

/// Files of the disk that are to be hidden.
#[derive(Debug, Default)]
struct HiddenOnDisk {
    /// Each path, and whether by a rule.
    found: Vec<(PathBuf, bool)>,
    projects: Vec<PathBuf>,
    repositories: Vec<PathBuf>,
    told: Vec<String>,
    seen: LookRecord,
}

/// Hidden files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HiddenFiles {
    /// Files and folders, sorted, none inside another.
    pub(super) paths: Vec<PathBuf>,
    /// Hidden files that no rule keeps from readers: the user may allow a command to see them.
    pub(super) secrets: Vec<PathBuf>,
    /// The folders in roots that may be projects with a build folder of their own, sorted.
    pub(super) projects: Vec<PathBuf>,
    /// The `.git` folders and files in roots, sorted.
    pub(super) repositories: Vec<PathBuf>,
    /// Folders that were not looked through and files that were not hidden, in words.
    pub(super) told: Vec<String>,
}

impl HiddenFiles {
    /// Files hidden from one command: all of them, but for secrets that the command names where the
    /// user allowed that.
    pub(super) fn for_command(&self, command: &str, reach: &Access) -> Vec<PathBuf> {
        let named = if reach.secrets { named_by(command, &self.secrets) } else { Vec::new() };
        self.paths.iter().filter(|path| !named.contains(path)).cloned().collect()
    }
}

impl HiddenOnDisk {
    /// Looks a root, or another folder, through. Gives true if it holds too many folders for that.
    fn take_in(
        &mut self,
        (root, is_root): (&Path, bool),
        judged: &impl Fn(&Path) -> Option<bool>,
        most: LookBounds,
    ) -> bool {
        let mut walk = WalkBuilder::new(root);
        // A link may lead anywhere; what it leads to is hidden there, or not shown at all.
        walk.hidden(false)
            .follow_links(false)
            .filter_entry(|entry| !is_store_name(entry.file_name()));
        let is_folder = |entry: &DirEntry| entry.file_type().is_some_and(|kind| kind.is_dir());
        let folders = walk.build().filter_map(Result::ok).filter(is_folder);
        let mut folders = folders.map(DirEntry::into_path);
        let known: Vec<PathBuf> = folders.by_ref().take(most.folders).collect();
        let mut is_cut = folders.next().is_some();
        let walked: HashSet<&PathBuf> = known.iter().collect();
        let mut ignored: Vec<PathBuf> = Vec::new();
        for folder in &known {
            let (inner, may_be_project) = self.folder(folder, judged);
            if is_root && may_be_project {
                self.projects.push(folder.clone());
            }
            ignored.extend(inner.into_iter().filter(|inner| !walked.contains(inner)));
        }
        // Where the walk was cut short, what it has not come to is not known to be ignored.
        ignored.retain(|folder| !is_cut && !is_filled(folder));
        let mut left = most.folders;
        while let Some(folder) = ignored.pop() {
            is_cut |= left == 0;
            if left == 0 {
                break;
            }
            left -= 1;
            let (inner, _) = self.folder(&folder, judged);
            ignored.extend(inner.into_iter().filter(|inner| !is_filled(inner)));
        }
        is_cut
    }

    /// Takes note of what is to be hidden in a folder. Gives the folders in it, and true if it may be a project.
    fn folder(
        &mut self,
        folder: &Path,
        judged: &impl Fn(&Path) -> Option<bool>,
    ) -> (Vec<PathBuf>, bool) {
        let (mut inner, mut names) = (Vec::new(), Vec::new());
        self.seen.note(folder);
        let Ok(entries) = std::fs::read_dir(folder) else { return (inner, false) };
        for entry in entries.filter_map(Result::ok) {
            names.push(entry.file_name());
            let path = entry.path();
            if entry.file_name() == ".git" {
                self.repositories.push(path);
                continue;
            }
            if is_store_name(&entry.file_name()) {
                continue;
            }
            // The words of such a file decide which folders are looked into.
            if entry.file_name() == ".gitignore" || entry.file_name() == ".ignore" {
                self.seen.note(&path);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                inner.push(path.clone());
            }
            if let Some(by_rule) = judged(&path) {
                self.found.push((path, by_rule));
            }
        }
        (inner, is_project(names.iter().map(|name| &**name)))
    }

    /// Adds files that only the fork and the buffers have.
    fn with(&self, view: &View, hides: &ReadFilter, most: LookBounds) -> HiddenFiles {
        let mut found = self.found.clone();
        let materials = view.materials();
        for root in view.roots().iter().map(|root| root.path()) {
            let mut judged: HashMap<PathBuf, Option<bool>> = HashMap::new();
            for material in &materials {
                // A missing file is no secret.
                if matches!(material.stands, OverlayContent::Missing) {
                    continue;
                }
                let path = &material.place.path;
                let inside = path.ancestors().take_while(|path| *path != root);
                for path in inside.take_while(|path| path.starts_with(root)) {
                    if judged.contains_key(path) {
                        break;
                    }
                    judged.insert(path.to_owned(), judge(view, hides, (root, true), path));
                }
            }
            let hidden = judged.into_iter().filter_map(|(path, by_rule)| Some((path, by_rule?)));
            found.extend(hidden);
        }
        let hidden = outermost(found, most, self.told.clone());
        let (projects, repositories) = (self.projects.clone(), self.repositories.clone());
        HiddenFiles { projects, repositories, ..hidden }
    }
}

/// Some if a path in a root, or in another folder, is to be hidden; true if a rule hides it.
fn judge(
    view: &View,
    hides: &ReadFilter,
    (root, is_root): (&Path, bool),
    path: &Path,
) -> Option<bool> {
    let relative = path.strip_prefix(root).ok()?;
    let place = if is_root { view.roots().place_of(path).ok() } else { None };
    let former = place.as_ref().map(|place| view.former_places(place)).unwrap_or_default();
    let by_rule = place.iter().chain(&former).any(|place| hides(place, None));
    let was_secret = former.iter().any(|place| is_sensitive(&place.shown));
    (by_rule || was_secret || is_sensitive(&relative.to_string_lossy())).then_some(by_rule)
}

/// Looks the roots and `others` through. One `read_dir` per folder, twice.
fn look(view: &View, others: &[PathBuf], hides: &ReadFilter, most: LookBounds) -> HiddenOnDisk {
    let mut looked =
        HiddenOnDisk { seen: LookRecord::begin(view, others), ..HiddenOnDisk::default() };
    let roots = view.roots().iter().map(|root| (root.path(), true));
    for (root, is_root) in roots.chain(others.iter().map(|other| (other.as_path(), false))) {
        let judged = |path: &Path| judge(view, hides, (root, is_root), path);
        if looked.take_in((root, is_root), &judged, most) {
            looked.told.push(format!(
                "{} holds too many folders to look through: files in it that may hold secrets, or that a rule keeps from being read, may be open to commands",
                root.display()
            ));
        }
    }
    looked.projects.sort_unstable();
    looked.projects.dedup();
    looked.repositories.sort_unstable();
    looked
}

/// True for a folder that tools fill with what they fetch or make.
fn is_filled(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| FILLED.contains(&name))
}

/// Keeps the outermost paths: files in a hidden folder are hidden with it, and by a rule if one hides any of them.
fn outermost(
    mut found: Vec<(PathBuf, bool)>,
    most: LookBounds,
    mut told: Vec<String>,
) -> HiddenFiles {
    found.sort();
    let mut outermost: Vec<(PathBuf, bool)> = Vec::new();
    for (path, by_rule) in found {
        match outermost.last_mut().filter(|(last, _)| path.starts_with(last)) {
            Some((_, whole)) => *whole |= by_rule,
            None => outermost.push((path, by_rule)),
        }
    }
    if outermost.len() > most.hidden {
        told.push(format!(
            "{} files and folders may hold secrets or are kept from being read by a rule, and {} of them are open to commands: no more than {} are hidden",
            outermost.len(),
            outermost.len() - most.hidden,
            most.hidden
        ));
        // Files that a rule keeps from readers go first.
        outermost.sort_by_key(|(_, by_rule)| !by_rule);
        outermost.truncate(most.hidden);
        outermost.sort();
    }
    let secrets = outermost.iter().filter(|(_, by_rule)| !by_rule);
    HiddenFiles {
        secrets: secrets.map(|(path, _)| path.clone()).collect(),
        paths: outermost.into_iter().map(|(path, _)| path).collect(),
        projects: Vec::new(),
        repositories: Vec::new(),
        told,
    }
}

/// Paths in `hidden` that a text names, by their own name or a pattern for it.
pub(super) fn named_by(text: &str, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let cut = |c: char| c.is_whitespace() || "'\"=:;|&<>(){}$`,@/".contains(c);
    let words: Vec<&str> = text.split(cut).filter(|word| !word.is_empty()).collect();
    let is_named = |path: &&PathBuf| {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
        words.iter().any(|word| {
            let is_pattern = word.contains(['*', '?', '[']);
            *word == name
                || is_pattern
                    && globset::Glob::new(word)
                        .is_ok_and(|glob| glob.compile_matcher().is_match(name))
        })
    };
    hidden.iter().filter(is_named).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_workspace::{Fork, Roots, Workspace};

    const FILES: &[&str] = &[
        ".git/HEAD",
        "a.rs",
        ".env",
        "sub/.env.local",
        "sub/.env.example",
        "node_modules/x/.env",
        ".aws/credentials",
        ".aws/deep/er",
        "private/plan.txt",
        "both/.env",
        "both/kept",
        "app/Cargo.toml",
        "app/target/debug/app",
        "app/part/Cargo.toml",
        "alone/Cargo.toml",
        "alone/Cargo.lock",
        "node_modules/y/Cargo.toml",
        "node_modules/y/Cargo.lock",
        "conf/deep/.env.prod",
        "conf/rules.txt",
        "conf/plain",
        "conf/node_modules/.env",
        "build/ours/.env.prod",
    ];

    #[test]
    fn what_is_ignored_is_hidden_but_for_what_tools_fill() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let put = |name: &str| {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), "x").unwrap();
        };
        for name in FILES {
            put(name);
        }
        std::fs::write(root.join(".gitignore"), ".env*\nnode_modules/\ntarget\nconf/\n").unwrap();
        let workspace = Workspace::new(Roots::new(vec![("w".into(), root.clone())]));
        let view = Fork::new("s".into()).view(workspace.snapshot());
        let hides: Arc<ReadFilter> = Arc::new(|place, _| {
            ["private", "both", "conf/rules.txt"].iter().any(|part| place.shown.starts_with(part))
        });
        let at = |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        let all = [
            ".aws",
            ".env",
            "both",
            "build/ours/.env.prod",
            "conf/deep/.env.prod",
            "conf/rules.txt",
            "private",
            "sub/.env.local",
        ];
        let within = |folders, hidden| {
            let most = LookBounds { folders, hidden };
            look(&view, &[], &*hides, most).with(&view, &*hides, most)
        };
        let hidden = Hiding::default().now(&view, &[], &hides);
        assert_eq!(hidden.paths, at(&all));
        let secrets =
            [".aws", ".env", "build/ours/.env.prod", "conf/deep/.env.prod", "sub/.env.local"];
        assert_eq!(hidden.secrets, at(&secrets));
        assert_eq!(hidden.projects, at(&["alone", "app"]));
        assert_eq!(hidden.told, Vec::<String>::new());
        // The cut is said, and files that a rule hides come before the rest.
        let few = within(50, 4);
        assert_eq!(few.paths, at(&[".aws", "both", "conf/rules.txt", "private"]));
        assert!(few.told.concat().starts_with("8 files and folders"), "{:?}", few.told);
        assert!(few.told.concat().contains("and 4 of them are open"), "{:?}", few.told);
        for folders in [1, 3] {
            let told = within(folders, 50).told.concat();
            assert!(told.contains("holds too many folders to look through"), "{told}");
        }
        let named = |text: &str| named_by(text, &hidden.secrets);
        assert_eq!(named("cat ./sub/.env.local"), at(&["sub/.env.local"]));
        assert_eq!(named("cat .aws/credentials"), at(&[".aws"]));
        assert_eq!(named("cat .en[v] 'x'"), at(&[".env"]));
        assert_eq!(named("cat private/plan.txt environment a.env"), at(&[]));
    }
}
