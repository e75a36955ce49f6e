//! Effects of a command on git: whether it went elsewhere, which files it put back, and whether the index says something
//! else or only remembers other times.
//!
//! Changes under `.git` are never kept. A command that went to another commit or put changes away has changed the files
//! only along with that, so nothing of it can be kept: `git stash` alone would be the loss of what it put away. So it is
//! when the current branch was moved (`reset`, `merge`, `rebase`), unless by commits alone, which only record what
//! stands in the files: what they recorded is proposed. In a repository with reftables it can't be seen what moved, so
//! whatever did counts.
//!
//! `git checkout .`, `restore` and `reset --hard` move nothing and put files back to what the index has. They are told
//! by the times that the index then has of them.
//!
//! `git status` writes the index anew when files' times have changed: that is no change anybody means, and needs no
//! words. An index that can't be read counts as different.

use super::folder::{Folder, Moment, StampKind};
use ropewalk_files::tracked::{IndexEntry, LONGEST_INDEX, index_entries};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Files of a `.git` that say where it is and what was put away. The list of reftables changes with every ref.
const WHERE: [&str; 4] = ["HEAD", "refs/stash", "logs/refs/stash", "reftable/tables.list"];

/// How lines of a log of refs begin that tell of a commit made of what stands in the files, or of a change that was
/// made in them as `git apply` does it.
const RECORDS: [&str; 6] =
    ["commit:", "commit (initial):", "commit (amend):", "cherry-pick:", "revert:", "am:"];

#[derive(PartialEq, Eq)]
enum RepositoryFile {
    Nothing,
    /// It was there and is deleted, or is no file that can be read.
    Gone,
    Bytes(Vec<u8>),
}

/// True if a `.git` went to another commit, put changes away or took them back: it compares `over`, after a command,
/// with what was there `below`. In an overlay a name that is not there was not touched; in a copy it was deleted.
pub(super) fn went_elsewhere(over: &Folder, below: &Folder, is_copy: bool) -> bool {
    let differs = |path: &Path| {
        let was = said(below, path);
        match said(over, path) {
            RepositoryFile::Nothing => is_copy && was != RepositoryFile::Nothing,
            RepositoryFile::Gone => was != RepositoryFile::Nothing,
            now @ RepositoryFile::Bytes(_) => now != was,
        }
    };
    let was_moved = || tip(None, below, is_copy) != tip(Some(over), below, is_copy);
    WHERE.iter().map(Path::new).any(differs) || was_moved() && !only_records(over, below)
}

/// The commit of the branch that HEAD names, which is the same in both. None where there is none, or no branch.
fn tip(over: Option<&Folder>, below: &Folder, is_copy: bool) -> Option<Vec<u8>> {
    let now = |path: &Path| match over.map(|over| said(over, path)) {
        None => said(below, path),
        Some(RepositoryFile::Nothing) if !is_copy => said(below, path),
        Some(found) => found,
    };
    let RepositoryFile::Bytes(head) = said(below, Path::new("HEAD")) else { return None };
    let head = String::from_utf8_lossy(&head);
    let branch = head.strip_prefix("ref:").map(str::trim)?;
    if let RepositoryFile::Bytes(own) = now(Path::new(branch)) {
        return Some(own.trim_ascii().to_vec());
    }
    let RepositoryFile::Bytes(packed) = now(Path::new("packed-refs")) else { return None };
    let mut lines = packed.split(|byte| *byte == b'\n');
    lines.find_map(|line| {
        let own = line.strip_suffix(branch.as_bytes())?.strip_suffix(b" ")?;
        Some(own.to_vec())
    })
}

/// True if the log of HEAD got nothing but commits of the files as they stand.
fn only_records(over: &Folder, below: &Folder) -> bool {
    let path = Path::new("logs/HEAD");
    let was = match said(below, path) {
        RepositoryFile::Bytes(was) => was,
        RepositoryFile::Nothing => Vec::new(),
        RepositoryFile::Gone => return false,
    };
    let RepositoryFile::Bytes(now) = said(over, path) else { return false };
    let Some(more) = now.strip_prefix(was.as_slice()) else { return false };
    let more = String::from_utf8_lossy(more);
    let moves = |line: &&str| {
        let mut names = line.split(' ');
        names.next() != names.next()
    };
    let records = |line: &str| {
        let words = line.split_once('\t').map_or("", |(_, words)| words);
        RECORDS.iter().any(|begin| words.starts_with(begin))
    };
    !more.is_empty() && more.lines().filter(moves).all(records)
}

/// Git's record of a file: when it was written, and the lower 32 bits of its length.
pub(super) type GitStamp = (Moment, u32);

/// The files that a command left as the index in `over` has them, and that are not in it because of this command: by
/// their path from the folder that the `.git` is in. Nothing if the command left the index as it was.
pub(super) fn put_back(over: &Folder, below: &Folder) -> HashMap<PathBuf, GitStamp> {
    let index = Path::new("index");
    let (RepositoryFile::Bytes(now), was) = (said(over, index), said(below, index)) else {
        return HashMap::new();
    };
    if matches!(&was, RepositoryFile::Bytes(was) if *was == now) {
        return HashMap::new();
    }
    let stamp = |entry: &IndexEntry<'_>| {
        entry.written.map(|((seconds, nanos), len)| (Moment(seconds.into(), nanos), len))
    };
    let before = match &was {
        RepositoryFile::Bytes(was) => index_entries(was).unwrap_or_default(),
        RepositoryFile::Nothing | RepositoryFile::Gone => Vec::new(),
    };
    let before: HashMap<&[u8], Option<GitStamp>> =
        before.iter().map(|entry| (entry.name.as_slice(), stamp(entry))).collect();
    let mut out = HashMap::new();
    for entry in index_entries(&now).unwrap_or_default() {
        let (Some(written), Ok(name)) = (stamp(&entry), std::str::from_utf8(&entry.name)) else {
            continue;
        };
        if before.get(entry.name.as_slice()) == Some(&Some(written)) {
            continue;
        }
        let object: String = entry.what.1.iter().map(|byte| format!("{byte:02x}")).collect();
        let Some((folder, rest)) = object.split_at_checked(2) else { continue };
        let object = Path::new("objects").join(folder).join(rest);
        let is_new = is_there(over, &object) && !is_there(below, &object);
        if !is_new {
            out.insert(PathBuf::from(name), written);
        }
    }
    out
}

fn is_there(folder: &Folder, path: &Path) -> bool {
    matches!(said(folder, path), RepositoryFile::Bytes(_))
}

fn said(folder: &Folder, path: &Path) -> RepositoryFile {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return RepositoryFile::Nothing;
    };
    let found = folder.reach(parent).and_then(|folder| {
        let Some(folder) = folder else { return Ok(RepositoryFile::Nothing) };
        Ok(match folder.look(name)?.map(|found| found.kind) {
            None => RepositoryFile::Nothing,
            Some(StampKind::File) => RepositoryFile::Bytes(folder.read(name, LONGEST_INDEX)?),
            Some(_) => RepositoryFile::Gone,
        })
    });
    found.unwrap_or(RepositoryFile::Gone)
}

/// True if both have the same entries: name, mode, object and flags.
pub(super) fn same_entries(a: &[u8], b: &[u8]) -> bool {
    a == b || matches!((index_entries(a), index_entries(b)), (Some(a), Some(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &std::path::Path, args: &[&str]) {
        let done = Command::new("git").current_dir(folder).args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    #[test]
    fn times_are_no_difference_and_names_and_objects_are() {
        for version in ["2", "3", "4"] {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            std::fs::create_dir(at("src")).unwrap();
            for name in ["a", "src/longer-name.rs", "src/longer-name-2.rs", "src/z"] {
                std::fs::write(at(name), name).unwrap();
            }
            git(dir.path(), &["init", "-q"]);
            git(dir.path(), &["update-index", "--index-version", version]);
            git(dir.path(), &["add", "."]);
            if version == "3" {
                git(dir.path(), &["update-index", "--skip-worktree", "a"]);
            }
            let read = || std::fs::read(at(".git/index")).unwrap();
            let first = read();
            assert_eq!(index_entries(&first).unwrap().len(), 4, "version {version}");
            let touched = std::fs::File::options().append(true).open(at("src/z")).unwrap();
            touched.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
            git(dir.path(), &["status"]);
            let refreshed = read();
            assert_ne!(refreshed, first);
            assert!(same_entries(&first, &refreshed));
            git(dir.path(), &["rm", "-q", "--cached", "src/z"]);
            assert!(!same_entries(&first, &read()));
            for cut in 0..first.len() {
                let _ = same_entries(&first, &first[..cut]);
            }
        }
        assert!(!same_entries(b"x", b"y") && same_entries(b"x", b"x"));
    }
}
