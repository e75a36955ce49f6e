//! What a command did to git: whether it went elsewhere, and whether the index says something else or only remembers
//! other times.
//!
//! What is under `.git` is never kept. A command that went to another commit or put changes away has changed the files
//! only along with that, so nothing of it can be kept: `git stash` alone would be the loss of what it put away.
//!
//! `git status` writes the index anew when files' times have changed: that is no change anybody means, and needs no
//! words. Reads versions 2 to 4 with 20-byte object names; what it can't read counts as different.

use super::folder::{Folder, Kind};
use std::path::Path;

/// What in a `.git` says where it is and what was put away.
const WHERE: [&str; 3] = ["HEAD", "refs/stash", "logs/refs/stash"];

/// The longest index that is looked into.
pub(super) const LONGEST_INDEX: u64 = 64 << 20;

/// What stands in a `.git` under a name.
#[derive(PartialEq, Eq)]
enum Said {
    Nothing,
    /// It was there and is deleted, or is no file that can be read.
    Gone,
    Bytes(Vec<u8>),
}

/// Whether a `.git` went to another commit or put changes away, or took them back: what a command left `over` what
/// was there `below`. In an overlay a name that is not there was not touched; in a copy it was deleted.
pub(super) fn went_elsewhere(over: &Folder, below: &Folder, is_copy: bool) -> bool {
    WHERE.iter().map(Path::new).any(|path| {
        let was = said(below, path);
        match said(over, path) {
            Said::Nothing => is_copy && was != Said::Nothing,
            Said::Gone => was != Said::Nothing,
            now @ Said::Bytes(_) => now != was,
        }
    })
}

fn said(folder: &Folder, path: &Path) -> Said {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Said::Nothing;
    };
    let found = folder.reach(parent).and_then(|folder| {
        let Some(folder) = folder else { return Ok(Said::Nothing) };
        Ok(match folder.look(name)?.map(|found| found.kind) {
            None => Said::Nothing,
            Some(Kind::File) => Said::Bytes(folder.read(name, LONGEST_INDEX)?),
            Some(_) => Said::Gone,
        })
    });
    found.unwrap_or(Said::Gone)
}

/// Whether both have the same entries: name, mode, object and flags.
pub(super) fn same_entries(a: &[u8], b: &[u8]) -> bool {
    a == b || matches!((entries(a), entries(b)), (Some(a), Some(b)) if a == b)
}

/// An entry without what the system said of the file: mode, object, flags, name.
type Entry = (Vec<u8>, Vec<u8>, Vec<u8>);

fn entries(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut rest = bytes.strip_prefix(b"DIRC")?;
    let version = number(take(&mut rest, 4)?)?;
    let count = number(take(&mut rest, 4)?)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut out: Vec<Entry> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    for _ in 0..count {
        let before = rest.len();
        let stat = take(&mut rest, 40)?;
        let mut what = stat.get(24..28)?.to_vec();
        what.extend_from_slice(take(&mut rest, 20)?);
        let mut flags = take(&mut rest, 2)?.to_vec();
        if flags.first()? & 0x40 != 0 {
            flags.extend_from_slice(take(&mut rest, 2)?);
        }
        let mut name = Vec::new();
        if version == 4 {
            // The name goes on where the one before it, cut by so many bytes, ends.
            let cut = offset(&mut rest)?;
            name.extend_from_slice(last.get(..last.len().checked_sub(cut)?)?);
        }
        let end = memchr::memchr(0, rest)?;
        name.extend_from_slice(take(&mut rest, end)?);
        // One NUL at least, and in the older versions as many as make eights.
        let used = before - rest.len();
        let pad = if version == 4 { 1 } else { 8 - used % 8 };
        take(&mut rest, pad)?;
        last.clone_from(&name);
        out.push((what, flags, name));
    }
    Some(out)
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    Some(head)
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// A number in git's offset encoding: seven bits a byte, each continued byte one more.
fn offset(rest: &mut &[u8]) -> Option<usize> {
    let mut byte = *take(rest, 1)?.first()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *take(rest, 1)?.first()?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some(value)
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
            assert_eq!(entries(&first).unwrap().len(), 4, "version {version}");
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
