//! Following a path component by component, as the system would, to where it really leads.
//!
//! The standard library's `canonicalize` refuses paths that don't exist yet, follows the links of
//! /proc, and doesn't say where it stopped; this does the three differently and judges nothing.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The longest path followed, in bytes: Linux's PATH_MAX.
pub(super) const MAX_PATH: usize = 4096;
/// The longest name, in bytes, on the file systems in use.
const MAX_NAME: usize = 255;
/// As many links as Linux follows in one path.
const MAX_LINKS: usize = 40;

/// Why a path could not be followed to its end.
#[derive(Debug)]
pub(super) enum Trouble {
    Loop,
    TooLong,
    ThroughFile,
    ProcLink,
    Other(String),
}

/// Names that count before the disk's: those that a fork makes links, with their targets, and those under which it
/// takes away what the disk has, or replaces a link by something else, with none.
#[derive(Clone, Debug, Default)]
pub struct Links(BTreeMap<PathBuf, Option<PathBuf>>);

impl Links {
    /// The target of a name that is a link here.
    pub fn target(&self, path: &Path) -> Option<&Path> {
        self.0.get(path)?.as_deref()
    }

    /// True if the disk's content at a path is hidden, because a folder above it is none.
    pub fn hide(&self, path: &Path) -> bool {
        !self.0.is_empty() && path.ancestors().skip(1).any(|above| self.0.contains_key(above))
    }

    /// Says what a name is: a link with this target, or none.
    pub fn insert(&mut self, path: PathBuf, target: Option<PathBuf>) {
        self.0.insert(path, target);
    }
}

/// One step still to take.
enum PathStep {
    Up,
    Into(OsString),
}

/// True if a path or a name in it is longer than can exist.
pub(super) fn too_long(path: &Path) -> bool {
    path.as_os_str().len() > MAX_PATH
        || path.components().any(|part| part.as_os_str().len() > MAX_NAME)
}

/// Where an absolute path leads. Every link on the way is followed, `over` before the disk's; once a component is
/// missing, what comes after it is appended, and `..` takes it away again.
///
/// With the trouble comes the place where it was met.
pub(super) fn resolve(path: &Path, over: &Links) -> Result<PathBuf, (Trouble, PathBuf)> {
    if over.0.is_empty() && path.to_str().is_some_and(super::is_plain) && leads_to_itself(path) {
        return Ok(path.to_owned());
    }
    let (mut at, mut steps, mut links) = (PathBuf::new(), VecDeque::new(), 0);
    put_first(&mut steps, &mut at, path);
    // How many components below `at` are known to be missing.
    let mut missing = 0_usize;
    // True if `at` is something that nothing can be in, which matters only if a step follows.
    let mut file = false;

    while let Some(step) = steps.pop_front() {
        if file {
            return Err((Trouble::ThroughFile, at));
        }
        let PathStep::Into(name) = step else {
            // The parent of the file system's root is the root.
            at.pop();
            missing = missing.saturating_sub(1);
            continue;
        };
        let parent = at.clone();
        at.push(&name);
        let pending = over.0.get(&at);
        if let Some(Some(target)) = pending {
            links += 1;
            if links > MAX_LINKS {
                return Err((Trouble::Loop, parent));
            }
            at = parent;
            put_first(&mut steps, &mut at, target);
            if target.is_absolute() {
                missing = 0;
            }
            continue;
        }
        if missing > 0 || pending.is_some() {
            missing += 1;
            continue;
        }
        let found = match std::fs::symlink_metadata(&at) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                missing = 1;
                continue;
            }
            Err(error) => return Err((trouble(&error), parent)),
        };
        if found.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err((Trouble::Loop, parent));
            }
            let target = target_of(&at, &parent).map_err(|trouble| (trouble, parent.clone()))?;
            at = parent;
            put_first(&mut steps, &mut at, &target);
        } else {
            file = !found.is_dir();
        }
    }
    if at.as_os_str().len() > MAX_PATH {
        return Err((Trouble::TooLong, at));
    }
    Ok(as_on_disk(at, missing))
}

/// Where a link of the disk leads; those of the process file system lead to what only their process has.
fn target_of(link: &Path, folder: &Path) -> Result<PathBuf, Trouble> {
    if is_proc(folder) {
        return Err(Trouble::ProcLink);
    }
    std::fs::read_link(link).map_err(|error| trouble(&error))
}

/// True if a path made only of names has no link in it and at least its folder is there. False also
/// where one or two system calls can't say.
fn leads_to_itself(path: &Path) -> bool {
    let is_free = || {
        let found = std::fs::symlink_metadata(path);
        found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    is_without_links(path) || path.parent().is_some_and(is_without_links) && is_free()
}

/// True if something is at an absolute path and no link on the way or at its end, by one system
/// call. False where that can't say.
#[cfg(target_os = "linux")]
fn is_without_links(path: &Path) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    // Only the path is opened, so that nothing happens to what is there.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn is_without_links(_path: &Path) -> bool {
    false
}

/// Puts the steps of `path` before those that are left; an absolute path starts over.
fn put_first(steps: &mut VecDeque<PathStep>, at: &mut PathBuf, path: &Path) {
    let mut first = Vec::new();
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => at.push(part),
            Component::CurDir => {}
            Component::ParentDir => first.push(PathStep::Up),
            Component::Normal(name) => first.push(PathStep::Into(name.to_owned())),
        }
    }
    for step in first.into_iter().rev() {
        steps.push_front(step);
    }
}

fn trouble(error: &io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::InvalidFilename => Trouble::TooLong,
        io::ErrorKind::NotADirectory => Trouble::ThroughFile,
        _ => Trouble::Other(error.to_string()),
    }
}

/// True if a directory is in the process file system, wherever that is mounted.
#[cfg(target_os = "linux")]
fn is_proc(directory: &Path) -> bool {
    rustix::fs::statfs(directory).is_ok_and(|found| found.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
fn is_proc(_directory: &Path) -> bool {
    false
}

/// Where file systems usually ignore case, the names as the disk has them, so that one file has
/// one name. The last `missing` components stay as they were given.
#[cfg(any(target_os = "macos", windows))]
fn as_on_disk(path: PathBuf, missing: usize) -> PathBuf {
    let Some(there) = path.ancestors().nth(missing) else { return path };
    match (std::fs::canonicalize(there), path.strip_prefix(there)) {
        (Ok(there), Ok(rest)) if missing > 0 => there.join(rest),
        (Ok(there), _) => there,
        (Err(_), _) => path,
    }
}

#[cfg(not(any(target_os = "macos", windows)))]
fn as_on_disk(path: PathBuf, _missing: usize) -> PathBuf {
    path
}
