//! A folder by its handle: looked into, read and changed by names inside it, never through a link.
//!
//! A command may leave anything behind: links planted anywhere, pipes, devices, folders without
//! permissions. So nothing is opened before it was looked at, only plain files are read, and what is
//! unreadable is made readable first; but nothing of the disk's is ever touched. Overlay's marks are known to
//! `folder/marks.rs` and nowhere else. What the files mean is not looked at.

mod deep;
mod marks;
mod stamp;
mod write;

pub use stamp::file_time;
pub(super) use stamp::{Moment, Stamp, StampKind};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, RawMode};
use rustix::io::Errno;
use stamp::stamp;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// The deepest that anything is looked at, in folders: each takes a handle.
pub(super) const DEEPEST: usize = 200;

/// See the module.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    /// True if it is a layer's or a cache's, where permissions may be mended; the disk's are the user's.
    is_ours: bool,
}

const ENTER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Folder {
    /// A folder of ours at a path, which is followed; made readable if it is not.
    pub(super) fn ours(path: &Path) -> io::Result<Self> {
        match Self::at(path, true) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                rustix::fs::chmod(path, Mode::RWXU)?;
                Self::at(path, true)
            }
            opened => opened,
        }
    }

    /// A folder of the disk's at a path, which is followed.
    pub(super) fn disk(path: &Path) -> io::Result<Self> {
        Self::at(path, false)
    }

    fn at(path: &Path, is_ours: bool) -> io::Result<Self> {
        let flags = ENTER.difference(OFlags::NOFOLLOW);
        Ok(Self { handle: rustix::fs::openat(CWD, path, flags, Mode::empty())?, is_ours })
    }

    /// A folder in this one.
    pub(super) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let handle = self.open_in(name, ENTER, Mode::RWXU)?;
        Ok(Self { handle, is_ours: self.is_ours })
    }

    /// Opens what is no link. What is ours and not to be opened gets these permissions as well, for as long as that
    /// takes if it is a file.
    fn open_in(&self, name: &OsStr, flags: OFlags, more: Mode) -> io::Result<OwnedFd> {
        let open = || self.mended(|| rustix::fs::openat(&self.handle, name, flags, Mode::empty()));
        match open() {
            Err(error) if self.is_ours && error.kind() == io::ErrorKind::PermissionDenied => {
                let found = self.look(name)?.filter(|found| found.kind != StampKind::Link);
                let found = found.ok_or(io::ErrorKind::NotFound)?;
                self.set_mode(name, found.mode | more.bits())?;
                let opened = open();
                if found.kind != StampKind::Folder {
                    self.set_mode(name, found.mode)?;
                }
                Ok(opened?)
            }
            opened => Ok(opened?),
        }
    }

    /// Does something in this folder; if that is forbidden, once more with all rights to it, where it is ours.
    fn mended<T>(&self, how: impl Fn() -> rustix::io::Result<T>) -> io::Result<T> {
        match how() {
            Err(Errno::ACCESS) if self.is_ours => {
                let mode = Mode::from_raw_mode(self.own()?.mode as RawMode);
                if mode.contains(Mode::RWXU) {
                    return Err(Errno::ACCESS.into());
                }
                rustix::fs::fchmod(&self.handle, mode | Mode::RWXU)?;
                Ok(how()?)
            }
            done => Ok(done?),
        }
    }

    /// The folder at a relative path; None when there is none, or a link or a file on the way.
    pub(super) fn reach(&self, relative: &Path) -> io::Result<Option<Self>> {
        let mut at = self.again()?;
        for name in names_of(relative) {
            at = match at.enter(name) {
                Ok(next) => next,
                Err(error) if is_absence(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
        }
        Ok(Some(at))
    }

    pub(super) fn set_mode(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode as RawMode);
        self.mended(|| rustix::fs::chmodat(&self.handle, name, mode, AtFlags::empty()))
    }

    /// The entry under a name, if there is one.
    pub(super) fn look(&self, name: &OsStr) -> io::Result<Option<Stamp>> {
        let look = || rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        match self.mended(look) {
            Ok(stat) => Ok(Some(stamp(&stat))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The folder's own entry.
    pub(super) fn own(&self) -> io::Result<Stamp> {
        Ok(stamp(&rustix::fs::fstat(&self.handle)?))
    }

    /// The names in it, sorted.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// A plain file's bytes, `limit` of them at most.
    pub(super) fn read(&self, name: &OsStr, limit: u64) -> io::Result<Vec<u8>> {
        let handle = self.open_in(name, READ, Mode::RUSR)?;
        let found = stamp(&rustix::fs::fstat(&handle)?);
        if found.kind != StampKind::File {
            return Err(io::Error::other("it is no plain file any more"));
        }
        bytes_of(&handle, found.len, limit)
    }

    /// The same of one that was looked at, in a folder that nobody writes in meanwhile: without another look.
    pub(super) fn read_known(
        &self,
        name: &OsStr,
        found: &Stamp,
        limit: u64,
    ) -> io::Result<Vec<u8>> {
        bytes_of(&self.open_in(name, READ, Mode::RUSR)?, found.len, limit)
    }

    /// The same, in a folder that others write in; None if it is no longer what was looked at.
    pub(super) fn read_still(
        &self,
        name: &OsStr,
        found: &Stamp,
        limit: u64,
    ) -> io::Result<Option<Vec<u8>>> {
        let handle = match self.open_in(name, READ, Mode::RUSR) {
            Err(error) if is_absence(&error) => return Ok(None),
            opened => opened?,
        };
        let bytes = bytes_of(&handle, found.len, limit)?;
        Ok((stamp(&rustix::fs::fstat(&handle)?) == *found).then_some(bytes))
    }

    /// Where a link leads, as it is written.
    pub(super) fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        let target = self.mended(|| rustix::fs::readlinkat(&self.handle, name, Vec::new()))?;
        Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }

    /// Opens a plain file for copying.
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let handle = self.open_in(name, READ, Mode::RUSR)?;
        match stamp(&rustix::fs::fstat(&handle)?).kind {
            StampKind::File => Ok(handle.into()),
            _ => Err(io::Error::other("it is no plain file any more")),
        }
    }

    /// Another handle of the same folder.
    pub(super) fn again(&self) -> io::Result<Self> {
        Ok(Self { handle: self.handle.as_fd().try_clone_to_owned()?, is_ours: self.is_ours })
    }
}

/// For reading what is there. Nothing waits for a pipe's other end.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A file's bytes: so many, and no read is made to find its end.
fn bytes_of(handle: &OwnedFd, len: u64, limit: u64) -> io::Result<Vec<u8>> {
    let len = usize::try_from(len).ok().filter(|_| len <= limit);
    let len = len.ok_or(io::ErrorKind::FileTooLarge)?;
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len
        && rustix::io::read(handle, rustix::buffer::spare_capacity(&mut bytes))? > 0
    {}
    Ok(bytes)
}

/// True if an error says that there is no such folder.
pub(super) fn is_absence(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].iter().any(|e| Some(e.raw_os_error()) == code)
}

/// The path of a name, or of more names, in a folder: in one piece of memory, made once.
pub(super) fn path_in(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}

/// The names that a relative path is made of.
pub(super) fn names_of(relative: &Path) -> impl Iterator<Item = &OsStr> {
    relative.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    })
}
