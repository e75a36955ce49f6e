//! Build output on the disk that was built outside, from another text than commands see.
//!
//! A tool that compares times takes output for fresh that is younger than its source. While commands see an unsaved
//! text, somebody may build outside: that output is of the disk's text, shows through the layer, and is younger than
//! what commands see in the place of its source. So the source becomes younger still, once: what a command then
//! builds lies in the layer, over the disk's. Looked for is what is ignored and not in the layer, in projects that are
//! built by such tools; those with a build cache of ours don't see what is built outside.

use super::{DemandedContent, PathDemand, PathDemands, Writer};
use crate::layer::folder::{DEEPEST, Folder, Moment, StampKind, names_of};
use crate::layer::ignores::Ignores;
use crate::layer::is_project_file;
use ropewalk_files::repository::is_store_name;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The files beside which projects are built by tools that compare times.
const BY_TIME: &[&str] = &[
    "CMakeLists.txt",
    "GNUmakefile",
    "Makefile",
    "Makefile.am",
    "build.ninja",
    "build.xml",
    "makefile",
    "meson.build",
    "pom.xml",
];

/// Folders that hold what was fetched, by the millions of files, or what editors keep, and nothing that was built from a
/// source of the project's.
const NOT_BUILT: &[&str] = &[
    ".cache",
    ".gradle",
    ".idea",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".terraform",
    ".tox",
    ".venv",
    ".vscode",
    ".yarn",
    "Pods",
    "__pycache__",
    "bower_components",
    "node_modules",
    "venv",
];

/// How the names of files end that editors and servers write all the time, and no build.
const NO_OUTPUT: &[&str] = &[".log", ".pid", ".swo", ".swp", ".tmp", "~"];

/// The most names that are looked at in one root.
const MOST_NAMES: usize = 50_000;

/// A file with a text that commands see.
struct SourceText {
    /// Its path in the root.
    path: PathBuf,
    /// Since when they see it.
    since: Moment,
    /// Since when the disk has it too, or now. What was built in between was built from another.
    until: Moment,
}

impl Writer<'_> {
    /// Makes younger what commands see in the place of sources that output on the disk is younger than. Whether all was
    /// looked through.
    pub(super) fn renew(&mut self, wants: &PathDemands) -> io::Result<bool> {
        let mut projects = Projects { below: self.below, known: HashMap::new() };
        let mut tops: Vec<PathBuf> = Vec::new();
        let mut sources = Vec::new();
        let now = Moment::now();
        for (path, want) in wants {
            let Some(since) = self.ever.get(&self.own.root.join(path)) else { continue };
            let until = self.same_since(path, want).unwrap_or(now);
            if since.hash.is_none() || since.mtime >= until {
                continue;
            }
            let Some(top) = projects.top_of(path) else { continue };
            if !tops.contains(&top) {
                tops.push(top);
            }
            sources.push(SourceText { path: path.clone(), since: since.mtime, until });
        }
        let mut search = ProjectSearch {
            writer: self,
            sources,
            older: Vec::new(),
            left: MOST_NAMES,
            rules: None,
        };
        for top in tops {
            if let Ok(Some(folder)) = self.below.reach(&top) {
                search.look_in(&top, &folder, 0)?;
            }
        }
        let (older, is_whole) = (search.older, search.left > 0);
        for SourceText { path, until, .. } in older {
            let full = self.own.root.join(path);
            let hash = self.ever.get(&full).and_then(|last| last.hash);
            self.ever.saw(&full, hash, until);
        }
        Ok(is_whole)
    }

    /// Since when the disk has what is wanted at a path, if it has and that can be looked at.
    fn same_since(&self, path: &Path, want: &PathDemand) -> Option<Moment> {
        let is_disks = match &want.stands {
            DemandedContent::Disk(source) => *source == self.own.root.join(path),
            _ => !want.differs,
        };
        let (parent, name) = (path.parent()?, path.file_name().filter(|_| is_disks)?);
        let found = self.below.reach(parent).ok()??.look(name).ok()??;
        (found.kind == StampKind::File).then_some(found.mtime)
    }
}

/// Which folders are built by tools that compare times.
struct Projects<'a> {
    below: &'a Folder,
    /// By folder: whether it is one, or one that is built in a cache of ours.
    known: HashMap<PathBuf, (bool, bool)>,
}

impl Projects<'_> {
    /// The outermost of these around a file, unless the innermost project that it is in has a build cache.
    fn top_of(&mut self, file: &Path) -> Option<PathBuf> {
        let mut top = None;
        for folder in file.ancestors().skip(1) {
            let (by_time, cached) = self.look_at(folder);
            if cached && top.is_none() {
                return None;
            }
            if by_time {
                top = Some(folder.to_owned());
            }
        }
        top
    }

    fn look_at(&mut self, path: &Path) -> (bool, bool) {
        if let Some(known) = self.known.get(path) {
            return *known;
        }
        let names = self.below.reach(path).ok().flatten().and_then(|folder| folder.names().ok());
        let names = names.unwrap_or_default();
        let by_time = names.iter().any(|name| BY_TIME.iter().any(|file| name == file));
        let found = (by_time, names.iter().any(|name| is_project_file(name)));
        self.known.insert(path.to_owned(), found);
        found
    }
}

/// The rules of the folder that was asked about last.
struct FolderRules {
    folder: PathBuf,
    rules: Ignores,
}

struct ProjectSearch<'a, 'b> {
    writer: &'a Writer<'b>,
    /// For which nothing was found yet.
    sources: Vec<SourceText>,
    /// For which something was found.
    older: Vec<SourceText>,
    /// How many names may still be looked at.
    left: usize,
    rules: Option<FolderRules>,
}

impl ProjectSearch<'_, '_> {
    fn look_in(&mut self, path: &Path, folder: &Folder, depth: usize) -> io::Result<()> {
        // A folder that can't be looked at holds nothing that a command could use.
        let names = folder.names().unwrap_or_default();
        let is_cached = names.iter().any(|name| is_project_file(name));
        for name in &names {
            if self.sources.is_empty() || self.left == 0 {
                break;
            }
            self.left -= 1;
            let Ok(Some(found)) = folder.look(name) else { continue };
            let is_older =
                |source: &SourceText| source.since <= found.mtime && found.mtime < source.until;
            if found.kind == StampKind::Folder {
                let is_passed_over = depth == DEEPEST
                    || is_store_name(name)
                    || NOT_BUILT.iter().any(|other| name == other)
                    || is_cached && crate::layer::is_built_in(name);
                if let (false, Ok(inner)) = (is_passed_over, folder.enter(name)) {
                    self.look_in(&path.join(name), &inner, depth + 1)?;
                }
            } else if found.kind == StampKind::File
                && !NO_OUTPUT.iter().any(|end| name.as_encoded_bytes().ends_with(end.as_bytes()))
                && self.sources.iter().any(is_older)
                && self.is_seen(path, name)?
                && self.is_ignored(path, name)?
            {
                let (older, rest) =
                    std::mem::take(&mut self.sources).into_iter().partition(is_older);
                self.sources = rest;
                self.older.extend::<Vec<SourceText>>(older);
            }
        }
        Ok(())
    }

    /// True if commands see the disk's file, and not one of the layer.
    fn is_seen(&self, path: &Path, name: &OsStr) -> io::Result<bool> {
        if self.writer.is_hidden(path)? {
            return Ok(false);
        }
        Ok(match self.writer.up.reach(path)? {
            Some(up) => up.look(name)?.is_none(),
            None => true,
        })
    }

    fn is_ignored(&mut self, path: &Path, name: &OsStr) -> io::Result<bool> {
        let rules = match self.rules.take().filter(|rules| rules.folder == path) {
            Some(rules) => rules,
            None => self.rules_of(path)?,
        };
        let ignored = rules.rules.ignores(name, false);
        self.rules = Some(rules);
        Ok(ignored)
    }

    fn rules_of(&self, path: &Path) -> io::Result<FolderRules> {
        let root = &self.writer.own.root;
        let mut rules = Ignores::above(root);
        let (mut up, mut below) = (Some(self.writer.up.again()?), Some(self.writer.below.again()?));
        let mut at = root.clone();
        rules.enter(&at, up.as_ref(), below.as_ref());
        for name in names_of(path) {
            at.push(name);
            up = up.and_then(|up| up.enter(name).ok());
            below = below.and_then(|below| below.enter(name).ok());
            rules.enter(&at, up.as_ref(), below.as_ref());
        }
        Ok(FolderRules { folder: path.to_owned(), rules })
    }
}
