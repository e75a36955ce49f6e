//! Where the repository of a folder lies when it is not all in it, so that reading git works.

use ropewalk_files::repository::git_folders;
use std::path::{Path, PathBuf};

/// Folders outside of `root` that its commands are shown: the repository that encloses it, and the folders that a `.git`
/// *file* leads to. Nothing that the home lies in.
pub(super) fn around(root: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Some(top) = root.ancestors().find(|folder| folder.join(".git").exists()) else {
        return Vec::new();
    };
    let mut shown = vec![top.to_owned()];
    if top.join(".git").is_file() {
        shown.extend(git_folders(top).into_iter().flat_map(|(own, common)| [common, own]));
    }
    let has_home = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
    let mut outside: Vec<PathBuf> = shown
        .into_iter()
        .filter_map(|folder| folder.canonicalize().ok())
        .filter(|folder| {
            folder.parent().is_some() && !folder.starts_with(root) && !has_home(folder)
        })
        .collect();
    outside.sort();
    outside.dedup();
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_a_repository_and_a_worktree_lead_to_what_git_reads() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let make = |name: &str| std::fs::create_dir_all(top.join(name)).unwrap();
        make("repo/.git/worktrees/wt");
        make("repo/sub/inner");
        make("wt/sub");
        make("plain");
        std::fs::write(top.join("wt/.git"), "gitdir: ../repo/.git/worktrees/wt\n").unwrap();
        std::fs::write(top.join("repo/.git/worktrees/wt/commondir"), "../..\n").unwrap();
        let at = |name: &str| top.join(name);
        assert_eq!(around(&at("repo"), None), Vec::<PathBuf>::new(), "all in it");
        assert_eq!(around(&at("repo/sub/inner"), None), [at("repo")]);
        assert_eq!(around(&at("wt"), None), [at("repo/.git"), at("repo/.git/worktrees/wt")]);
        let home = at("repo/sub/home");
        assert_eq!(around(&at("repo/sub/inner"), Some(&home)), Vec::<PathBuf>::new());
        std::fs::write(top.join("wt/.git"), "no repository").unwrap();
        assert_eq!(around(&at("wt/sub"), None), [at("wt")]);
    }
}
