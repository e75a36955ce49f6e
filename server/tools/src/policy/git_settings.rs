//! Folders in which git looks for hooks, by the settings of the user and of the repository, read without git.

use ropewalk_files::disk::read_plain;
use ropewalk_files::repository::git_folders;
use std::path::{Path, PathBuf};

/// The longest file of settings that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The most files of settings that include each other.
const MOST_FILES: usize = 50;

/// The folders that `core.hooksPath` names for the repository that a root is in: each of them, whichever counts, and
/// those of files that are included on a condition. Blocking.
pub(super) fn hook_folders(root: &Path) -> impl Iterator<Item = PathBuf> {
    let top = root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root);
    let home = std::env::home_dir().unwrap_or_default();
    let config = std::env::var_os("XDG_CONFIG_HOME").map_or(home.join(".config"), PathBuf::from);
    let mut files =
        vec![PathBuf::from("/etc/gitconfig"), config.join("git/config"), home.join(".gitconfig")];
    if let Some((own, common)) = git_folders(top) {
        files.extend([common.join("config"), own.join("config.worktree")]);
    }
    let at = |folder: &Path, path: &str| match path.strip_prefix("~/") {
        Some(path) => home.join(path),
        None => folder.join(path),
    };
    let mut found = Vec::new();
    let mut read = 0;
    while let Some(file) = files.get(read).filter(|_| read < MOST_FILES).cloned() {
        read += 1;
        let Ok(bytes) = read_plain(&file, LONGEST) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        for (section, name, value) in settings(&text) {
            match (section.as_str(), name.as_str()) {
                ("core", "hookspath") if !value.is_empty() => found.push(at(top, &value)),
                ("include" | "includeif", "path") => {
                    files.push(at(file.parent().unwrap_or(top), &value));
                }
                _ => {}
            }
        }
    }
    found.into_iter().map(|path| path.canonicalize().unwrap_or(path))
}

/// Settings in a file: section and name in small letters, and the value.
fn settings(text: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut line = line.trim();
        if let Some((head, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            section = head.split([' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
            line = rest.trim();
        }
        if let Some((name, value)) = line.split_once('=') {
            found.push((section.clone(), name.trim().to_ascii_lowercase(), plain(value)));
        }
    }
    found
}

/// A value without its quotes, and without a comment behind it.
fn plain(value: &str) -> String {
    let (mut out, mut is_quoted) = (String::new(), false);
    let mut chars = value.trim().chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => out.extend(chars.next()),
            char => out.push(char),
        }
    }
    out.trim_end().to_owned()
}
