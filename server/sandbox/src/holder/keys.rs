//! Keys in toolchains that have no known name: found by how files end, and by what settings say, before each command.
//!
//! Looked at are a toolchain's own folder and those at the top of it, where people put such files; deeper lie packages,
//! by the thousand, whose keys are examples. A folder is read again only if its time of change, which nobody can set,
//! is another or too young to be sure: each costs one system call otherwise.

use super::mounts::open_inside;
use super::places::{self, PathDisplay, outside_path};
use super::root;
use super::session::Holder;
use super::tools::There;
use crate::toolchains as data;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, stat, statat};
use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The most folders that are looked at in one toolchain, the outermost first.
const MOST_FOLDERS: usize = 64;
/// How deep they lie.
const DEEPEST: usize = 2;
/// The longest settings that are looked into, in bytes.
const LONGEST: u64 = 256 << 10;
/// How much later than a change a look must be to be sure to have seen it, in seconds: times are kept that coarsely.
const COARSE: i64 = 2;

/// Seconds and nanoseconds of a change, or None where another change could have the same.
type ChangeTime = Option<(i64, i64)>;

/// Findings in the toolchains.
#[derive(Default)]
pub(super) struct ToolchainKeys {
    looked: HashMap<PathBuf, ToolchainFindings>,
}

/// Findings in one.
struct ToolchainFindings {
    folder: OwnedFd,
    id: (u64, u64),
    /// Folders and settings in it, with their times.
    seen: Vec<(PathBuf, ChangeTime)>,
    found: Vec<PathBuf>,
}

impl ToolchainKeys {
    /// All that the toolchains have now.
    pub(super) fn found(&self) -> impl Iterator<Item = &Path> {
        self.looked.values().flat_map(|look| &look.found).map(PathBuf::as_path)
    }
}

/// Looks where something has changed since the last command.
pub(super) fn look(holder: &mut Holder) {
    let Ok(outside) = root::open_place(places::OUTSIDE) else { return };
    let mut keys = std::mem::take(&mut holder.keys);
    let tools = holder.root.tools.iter().filter(|place| place.show == PathDisplay::Throwaway);
    let mut there = There::new(&outside, &holder.plan);
    for place in tools {
        let id = stat(outside_path(&place.path)).ok().map(|found| (found.st_dev, found.st_ino));
        if keys.looked.get(&place.path).is_some_and(|look| Some(look.id) == id && look.is_still()) {
            continue;
        }
        keys.looked.remove(&place.path);
        // An absolute link leads elsewhere when it is not followed from outside: what it leads to is looked at each time.
        let opened = there.may_have(&place.path).then(|| open_inside(outside.as_fd(), &place.path));
        if let Some(look) = opened
            .and_then(Result::ok)
            .and_then(|folder| ToolchainFindings::new(&place.path, folder))
        {
            keys.looked.insert(place.path.clone(), look);
        }
    }
    holder.keys = keys;
}

impl ToolchainFindings {
    fn new(path: &Path, folder: OwnedFd) -> Option<Self> {
        let own = fstat(&folder).ok()?;
        if !FileType::from_raw_mode(own.st_mode).is_dir() {
            return None;
        }
        let id = (own.st_dev, own.st_ino);
        let mut look = ToolchainFindings { folder, id, seen: Vec::new(), found: Vec::new() };
        let mut waiting = VecDeque::from([(PathBuf::from("."), 0)]);
        while let Some((relative, depth)) = waiting.pop_front().filter(|_| !look.is_enough()) {
            let inner = look.read(path, &relative);
            if depth < DEEPEST {
                waiting.extend(inner.into_iter().map(|inner| (inner, depth + 1)));
            }
        }
        Some(look)
    }

    fn is_enough(&self) -> bool {
        self.seen.len() >= MOST_FOLDERS
    }

    /// Reads one folder; gives those in it.
    fn read(&mut self, top: &Path, relative: &Path) -> Vec<PathBuf> {
        let mut inner = Vec::new();
        self.note(relative);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.folder, relative, flags, Mode::empty());
        let Ok(entries) = opened.and_then(Dir::new) else { return inner };
        for entry in entries.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let below = relative.join(name);
            match entry.file_type() {
                FileType::Directory if name != "." && name != ".." => inner.push(below),
                FileType::RegularFile | FileType::Symlink | FileType::Unknown
                    if data::is_key(name)
                        || data::may_name_accounts(name) && self.names_accounts(&below) =>
                {
                    self.found.push(top.join(below.strip_prefix(".").unwrap_or(&below)));
                }
                _ => {}
            }
        }
        inner
    }

    /// True if settings name an account with its password.
    fn names_accounts(&mut self, relative: &Path) -> bool {
        self.note(relative);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat(&self.folder, relative, flags, Mode::empty()) else { return false };
        let mut bytes = Vec::new();
        let read = std::fs::File::from(file).take(LONGEST).read_to_end(&mut bytes);
        read.is_ok() && data::names_accounts(&bytes)
    }

    fn note(&mut self, relative: &Path) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let sure = i64::try_from(now).unwrap_or_default() - COARSE;
        let changed = self.changed(relative).filter(|(seconds, _)| *seconds < sure);
        self.seen.push((relative.to_owned(), changed));
    }

    fn changed(&self, relative: &Path) -> ChangeTime {
        let found = statat(&self.folder, relative, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((found.st_ctime, i64::try_from(found.st_ctime_nsec).ok()?))
    }

    fn is_still(&self) -> bool {
        let is_same =
            |(path, was): &(PathBuf, ChangeTime)| was.is_some() && self.changed(path) == *was;
        self.seen.iter().all(is_same)
    }
}
