//! Which files in the open folders no command over the fork sees: what may hold secrets by its name, and what the
//! user's rules keep from reading tools. The same look finds the projects whose build folders commands don't share.
//!
//! Ignored folders are not looked into, but ignored files in others are: where secrets are, they are ignored.

use crate::layer::is_project;
use crate::policy::is_sensitive;
use crate::tool::Hides;
use ignore::{DirEntry, WalkBuilder};
use ropewalk_workspace::View;
use std::path::{Path, PathBuf};

/// The most folders that are looked into.
const MOST_FOLDERS: usize = 50_000;

/// The most paths that are hidden.
const MOST_HIDDEN: usize = 2_000;

/// What is hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hidden {
    /// Files and folders, sorted, none inside another.
    pub(super) paths: Vec<PathBuf>,
    /// Those of them that may be shown to a command that the user allowed to: no rule keeps them from readers.
    pub(super) secrets: Vec<PathBuf>,
    /// The folders in roots that may be projects with a build folder of their own, sorted.
    pub(super) projects: Vec<PathBuf>,
}

/// The files and folders to hide in the roots and in `others`. One `read_dir` per folder, twice.
pub(super) fn hidden(view: &View, others: &[PathBuf], hides: &Hides) -> Hidden {
    let roots = view.roots().iter().map(|root| root.path().to_owned());
    let mut found: Vec<(PathBuf, bool)> = Vec::new();
    let mut projects = Vec::new();
    let roots = roots.map(|root| (root, true));
    for (root, is_root) in roots.chain(others.iter().map(|other| (other.clone(), false))) {
        // Whether it is hidden, and by a rule.
        let judged = |path: &Path| {
            let relative = path.strip_prefix(&root).ok()?;
            let place = || view.roots().place_of(path).ok();
            let by_rule = is_root && place().is_some_and(|place| hides(&place, None));
            (by_rule || is_sensitive(&relative.to_string_lossy())).then_some(by_rule)
        };
        let mut walk = WalkBuilder::new(&root);
        // A link may lead anywhere; what it leads to is hidden there, or not shown at all.
        walk.hidden(false).follow_links(false).filter_entry(|entry| entry.file_name() != ".git");
        let is_folder = |entry: &DirEntry| entry.file_type().is_some_and(|kind| kind.is_dir());
        let folders = walk.build().filter_map(Result::ok).filter(is_folder);
        for folder in folders.take(MOST_FOLDERS) {
            let Ok(entries) = std::fs::read_dir(folder.path()) else { continue };
            let names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
            if is_root && is_project(names.iter().map(|name| &**name)) {
                projects.push(folder.path().to_owned());
            }
            for name in names.iter().filter(|name| *name != ".git") {
                let path = folder.path().join(name);
                if let Some(by_rule) = judged(&path) {
                    found.push((path, by_rule));
                }
            }
        }
    }
    projects.sort_unstable();
    projects.dedup();
    Hidden { projects, ..outermost(found) }
}

/// What lies in a hidden folder is hidden with it, and by a rule if one hides any of it.
fn outermost(mut found: Vec<(PathBuf, bool)>) -> Hidden {
    found.sort();
    let mut outermost: Vec<(PathBuf, bool)> = Vec::new();
    for (path, by_rule) in found {
        match outermost.last_mut().filter(|(last, _)| path.starts_with(last)) {
            Some((_, whole)) => *whole |= by_rule,
            None => outermost.push((path, by_rule)),
        }
    }
    outermost.truncate(MOST_HIDDEN);
    let secrets = outermost.iter().filter(|(_, by_rule)| !by_rule);
    Hidden {
        secrets: secrets.map(|(path, _)| path.clone()).collect(),
        paths: outermost.into_iter().map(|(path, _)| path).collect(),
        projects: Vec::new(),
    }
}

/// Those of `hidden` that a text names, by their own name or a pattern for it.
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

    #[test]
    fn ignored_files_are_hidden_and_ignored_folders_not_looked_into() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let put = |name: &str| {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), "x").unwrap();
        };
        for name in [
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
        ] {
            put(name);
        }
        std::fs::write(root.join(".gitignore"), ".env*\nnode_modules/\ntarget\n").unwrap();
        let workspace = Workspace::new(Roots::new(vec![("w".into(), root.clone())]));
        let view = Fork::new("s".into()).view(workspace.snapshot());
        let hides = |place: &ropewalk_workspace::Place, _: Option<&ropewalk_workspace::Place>| {
            place.shown.starts_with("private") || place.shown.starts_with("both")
        };
        let at = |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        let hidden = hidden(&view, &[], &hides);
        assert_eq!(hidden.paths, at(&[".aws", ".env", "both", "private", "sub/.env.local"]));
        assert_eq!(hidden.secrets, at(&[".aws", ".env", "sub/.env.local"]));
        assert_eq!(hidden.projects, at(&["alone", "app"]));
        let named = |text: &str| named_by(text, &hidden.secrets);
        assert_eq!(named("cat ./sub/.env.local"), at(&["sub/.env.local"]));
        assert_eq!(named("cat .aws/credentials"), at(&[".aws"]));
        assert_eq!(named("cat .en[v] 'x'"), at(&[".env"]));
        assert_eq!(named("cat private/plan.txt environment a.env"), at(&[]));
    }
}
