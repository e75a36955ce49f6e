//! How much room files take on a disk, found out while commands go on writing and moving them.
//!
//! One folder is held open at a time, and the way back up is its own `..`, so that neither the depth of a tree nor the
//! length of a path hides anything. A file counts a block at least: a command that makes nothing but empty files or
//! folders fills a disk too. It is counted up to a bound, so that what is remembered of a tree is bounded as well.
//! Nothing is changed, and links are not followed. A folder that can't be looked into counts as an empty one.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The least that a file counts.
const LEAST: u64 = 4_096;
/// Bytes in which the system counts a file's room.
const BLOCK: u64 = 512;
/// The most names that are remembered. A tree with more of them to be looked into counts as full.
const MOST_NAMES: usize = 250_000;

const ENTER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The room that these folders take, as far as it is counted: no further once it is more than `most`.
pub(super) fn taken(folders: &[PathBuf], most: u64) -> u64 {
    let mut taken: u64 = 0;
    for folder in folders {
        let Some(mut walk) = MeasureWalk::new(folder, most.saturating_sub(taken)) else { continue };
        while walk.step() {}
        taken = taken.saturating_add(walk.taken);
    }
    taken
}

/// A tree that is being counted.
struct MeasureWalk {
    top: OwnedFd,
    /// The folder that is looked into now.
    at: OwnedFd,
    /// The folders in it that come after.
    waiting: Vec<CString>,
    /// The folders above it, the top first.
    above: Vec<WalkedFolder>,
    /// How many names are remembered.
    names: usize,
    taken: u64,
    most: u64,
}

/// A folder that the walk has come through.
struct WalkedFolder {
    id: (u64, u64),
    /// The folder in it that the walk went into.
    name: CString,
    /// The folders in it that come after.
    waiting: Vec<CString>,
}

impl MeasureWalk {
    fn new(folder: &Path, most: u64) -> Option<Self> {
        let top = openat(CWD, folder, ENTER, Mode::empty()).ok()?;
        let at = top.try_clone().ok()?;
        let (waiting, above) = (Vec::new(), Vec::new());
        let mut walk = Self { top, at, waiting, above, names: 0, taken: 0, most };
        walk.look();
        Some(walk)
    }

    /// Goes on to the next folder. False when all is counted, or enough.
    fn step(&mut self) -> bool {
        if self.taken > self.most {
            return false;
        }
        if let Some(name) = self.waiting.pop() {
            let inside = openat(&self.at, &name, ENTER, Mode::empty());
            // It may have gone meanwhile.
            let (Ok(inside), Some(id)) = (inside, id_of(&self.at)) else {
                self.names -= 1;
                return true;
            };
            let waiting = std::mem::take(&mut self.waiting);
            self.above.push(WalkedFolder { id, name, waiting });
            self.at = inside;
            self.look();
            return true;
        }
        let Some(WalkedFolder { id, waiting, .. }) = self.above.pop() else { return false };
        self.names -= 1;
        self.waiting = waiting;
        match openat(&self.at, c"..", ENTER, Mode::empty()) {
            Ok(back) if id_of(&back) == Some(id) => self.at = back,
            _ => self.come_down(id),
        }
        true
    }

    /// Looks for a folder from the top, because the one that was looked into is in another by now. What is not found
    /// is counted with the next look.
    fn come_down(&mut self, id: (u64, u64)) {
        let above = std::mem::take(&mut self.above);
        let waiting = std::mem::take(&mut self.waiting);
        let Ok(mut at) = self.top.try_clone() else { return };
        let mut came_down = true;
        for above in above {
            came_down = id_of(&at) == Some(above.id);
            let next = openat(&at, &above.name, ENTER, Mode::empty());
            match next {
                _ if !came_down => break,
                Ok(next) => {
                    self.above.push(above);
                    at = next;
                }
                Err(_) => {
                    self.waiting = above.waiting;
                    came_down = false;
                    break;
                }
            }
        }
        if came_down && id_of(&at) == Some(id) {
            self.waiting = waiting;
        }
        self.at = at;
        let above = self.above.iter().map(|above| above.waiting.len() + 1);
        self.names = above.sum::<usize>() + self.waiting.len();
    }

    /// Counts what is in the folder.
    fn look(&mut self) {
        let Ok(entries) = Dir::read_from(&self.at) else { return };
        for entry in entries {
            // A folder that can't be read on is counted with the next look.
            let Ok(entry) = entry else { return };
            let name = entry.file_name();
            if name != c"." && name != c".." {
                self.count(name);
            }
            if self.taken > self.most {
                return;
            }
        }
    }

    fn count(&mut self, name: &CStr) {
        let Ok(found) = statat(&self.at, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
        let blocks = u64::try_from(found.st_blocks).unwrap_or_default();
        self.taken = self.taken.saturating_add(blocks.saturating_mul(BLOCK).max(LEAST));
        if FileType::from_raw_mode(found.st_mode).is_dir() {
            self.waiting.push(name.to_owned());
            self.names += 1;
        }
        if self.names > MOST_NAMES {
            self.taken = self.taken.max(self.most.saturating_add(1));
        }
    }
}

fn id_of(folder: &OwnedFd) -> Option<(u64, u64)> {
    fstat(folder).ok().map(|found| (found.st_dev, found.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::mkdirat;
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    /// A file system of blocks as large as the least that counts is what tests run on.
    const FILE: u64 = LEAST;

    fn put(path: &Path, bytes: usize) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![b'x'; bytes]).unwrap();
    }

    #[test]
    fn every_file_counts_a_block_and_no_more_than_it_takes() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own");
        put(&dir.path().join("outside/large"), 1 << 20);
        put(&own.join("a/one"), 1);
        fs::File::create(own.join("empty")).unwrap();
        fs::File::create(own.join("sparse")).unwrap().set_len(1 << 40).unwrap();
        symlink(dir.path().join("outside"), own.join("link")).unwrap();
        assert_eq!(taken(std::slice::from_ref(&own), u64::MAX), 5 * FILE);
        assert_eq!(taken(&[own.clone(), own.join("a"), own.join("no")], u64::MAX), 6 * FILE);
        // No further than it matters.
        assert_eq!(taken(&[own], 2 * FILE), 3 * FILE);
    }

    #[test]
    fn what_is_deep_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut at = openat(CWD, dir.path(), flags, Mode::empty()).unwrap();
        for _ in 0..3_000 {
            mkdirat(&at, "deep", Mode::RWXU).unwrap();
            at = openat(&at, "deep", flags, Mode::empty()).unwrap();
        }
        let file = openat(&at, "x", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
        fs::File::from(file).write_all(&vec![b'x'; 1 << 20]).unwrap();
        let all = taken(&[dir.path().to_owned()], u64::MAX);
        assert!(all >= 3_000 * LEAST + (1 << 20), "{all}");
    }

    #[test]
    fn what_moves_meanwhile_leads_nowhere_else_and_hides_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (own, outside) = (dir.path().join("own"), dir.path().join("outside"));
        for name in ["a/b/c/x", "a/d/x", "e/x"] {
            put(&own.join(name), 1);
        }
        put(&outside.join("large"), 1 << 20);
        for moved in ["a", "a/b", "a/b/c"] {
            let mut walk = MeasureWalk::new(&own, u64::MAX).unwrap();
            let inside = openat(CWD, own.join("a/b/c"), ENTER, Mode::empty()).unwrap();
            while id_of(&walk.at) != id_of(&inside) {
                assert!(walk.step());
            }
            fs::rename(own.join(moved), outside.join("moved")).unwrap();
            let is_emptied = moved == "a/b/c";
            if is_emptied {
                fs::remove_dir(own.join("a/b")).unwrap();
            }
            while walk.step() {}
            assert_eq!((walk.taken, walk.names), (8 * FILE, 0), "{moved}");
            if is_emptied {
                fs::create_dir(own.join("a/b")).unwrap();
            }
            fs::rename(outside.join("moved"), own.join(moved)).unwrap();
        }
        assert_eq!(taken(&[own], u64::MAX), 8 * FILE);
    }
}
