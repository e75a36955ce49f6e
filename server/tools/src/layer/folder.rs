//! A folder by its handle: looked into, read and changed by names inside it, never through a link.
//!
//! What a command left behind may be anything: links planted anywhere, pipes, devices, folders without
//! permissions. So nothing is opened before it was looked at, only plain files are read, and what is
//! unreadable is made readable first; but nothing of the disk's is ever touched. Overlay marks (a deleted name, a replaced folder) are read and made here
//! and are known nowhere else. What the files mean is not looked at.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, Stat, Timespec, Timestamps};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The deepest that anything is looked at or removed, in folders: each takes a handle.
pub(super) const DEEPEST: usize = 200;

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// Overlay's mark for a deleted name: a character device with number 0/0.
    Gone,
    Pipe,
    Socket,
    Device,
}

/// A moment as file systems keep it: seconds and nanoseconds since 1970.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub(super) struct Moment(pub(super) i64, pub(super) u32);

impl Moment {
    pub(super) fn now() -> Self {
        SystemTime::now().into()
    }

    /// The smallest moment after this one.
    pub(super) fn next(self) -> Self {
        if self.1 < 999_999_999 { Self(self.0, self.1 + 1) } else { Self(self.0 + 1, 0) }
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => {
                Self(i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos())
            }
            Err(before) => {
                let before: Duration = before.duration();
                Self(-i64::try_from(before.as_secs()).unwrap_or(i64::MAX).saturating_add(1), 0)
            }
        }
    }
}

/// What the file system says of a name. Two equal stamps are one unchanged thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) kind: Kind,
    pub(super) inode: u64,
    pub(super) len: u64,
    /// Permission bits.
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    pub(super) mtime: Moment,
    pub(super) ctime: Moment,
}

#[expect(clippy::unnecessary_cast, reason = "the widths of these fields differ between systems")]
fn stamp(stat: &Stat) -> Stamp {
    let kind = match FileType::from_raw_mode(stat.st_mode as RawMode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        FileType::CharacterDevice if stat.st_rdev == 0 => Kind::Gone,
        FileType::Fifo => Kind::Pipe,
        FileType::Socket => Kind::Socket,
        _ => Kind::Device,
    };
    Stamp {
        kind,
        inode: stat.st_ino as u64,
        len: stat.st_size as u64,
        mode: stat.st_mode as u32 & 0o7777,
        owner: (stat.st_uid, stat.st_gid),
        mtime: Moment(stat.st_mtime as i64, stat.st_mtime_nsec as u32),
        ctime: Moment(stat.st_ctime as i64, stat.st_ctime_nsec as u32),
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    /// Whether it is a layer's or a cache's, where permissions may be mended; the disk's are the user's.
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
        let open = || rustix::fs::openat(&self.handle, name, flags, Mode::empty());
        match open() {
            Err(Errno::ACCESS) if self.is_ours => {
                let found = self.look(name)?.filter(|found| found.kind != Kind::Link);
                let found = found.ok_or(io::ErrorKind::NotFound)?;
                self.set_mode(name, found.mode | more.bits())?;
                let opened = open();
                if found.kind != Kind::Folder {
                    self.set_mode(name, found.mode)?;
                }
                Ok(opened?)
            }
            opened => Ok(opened?),
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
        Ok(rustix::fs::chmodat(&self.handle, name, mode, AtFlags::empty())?)
    }

    /// What stands under a name, if anything.
    pub(super) fn look(&self, name: &OsStr) -> io::Result<Option<Stamp>> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stamp(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What the folder itself is.
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
        if found.kind != Kind::File {
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
        let target = rustix::fs::readlinkat(&self.handle, name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }

    /// Puts a new file under a name that is free.
    pub(super) fn put(
        &self,
        name: &OsStr,
        bytes: &[u8],
        mode: u32,
        mtime: Moment,
    ) -> io::Result<()> {
        let mut file = self.create(name)?;
        file.write_all(bytes)?;
        finish(&file, mode, mtime)
    }

    /// A new file under a name that is free, for our eyes until it is finished.
    pub(super) fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Opens a plain file for copying.
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let handle = self.open_in(name, READ, Mode::RUSR)?;
        match stamp(&rustix::fs::fstat(&handle)?).kind {
            Kind::File => Ok(handle.into()),
            _ => Err(io::Error::other("it is no plain file any more")),
        }
    }

    /// Copies a plain file to a name that is free in another folder, sharing its blocks where the disk can, with
    /// its mode and its time.
    pub(super) fn copy(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        let mut source = self.open_file(name)?;
        let found = stamp(&rustix::fs::fstat(&source)?);
        let mut target = to.create(new)?;
        if !share(&source, &target) {
            io::copy(&mut source, &mut target)?;
        }
        finish(&target, found.mode, found.mtime)
    }

    /// Puts a link under a name that is free.
    pub(super) fn put_link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.handle, name)?)
    }

    /// Makes a folder under a name that is free.
    pub(super) fn make(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        rustix::fs::mkdirat(&self.handle, name, Mode::RWXU)?;
        let made = self.enter(name)?;
        rustix::fs::fchmod(&made.handle, Mode::from_raw_mode((mode | 0o700) as RawMode))?;
        Ok(made)
    }

    /// Gives what stands under a name, which is no link, the owner of something else, where the system lets us.
    pub(super) fn own_like(&self, name: &OsStr, other: &Stamp) {
        let same = |found: Stamp| found.owner == other.owner || found.kind == Kind::Link;
        if self.look(name).ok().flatten().is_none_or(same) {
            return;
        }
        let (user, group) = other.owner;
        let user = Some(rustix::fs::Uid::from_raw(user));
        let group = Some(rustix::fs::Gid::from_raw(group));
        // Only root may; for all others the files are theirs already.
        let _ = rustix::fs::chownat(&self.handle, name, user, group, AtFlags::SYMLINK_NOFOLLOW);
    }

    /// Sets a file's time of last change.
    pub(super) fn set_mtime(&self, name: &OsStr, mtime: Moment) -> io::Result<()> {
        let times = times(mtime);
        Ok(rustix::fs::utimensat(&self.handle, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Removes whatever stands under a name, a folder with all that is in it. Nothing may be there.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.remove_below(name, 0)
    }

    fn remove_below(&self, name: &OsStr, depth: usize) -> io::Result<()> {
        match self.look(name)?.map(|found| found.kind) {
            None => return Ok(()),
            Some(Kind::Folder) if depth > DEEPEST => {
                return Err(io::Error::other("it has more folders in each other than are removed"));
            }
            Some(Kind::Folder) => {
                let inside = self.enter(name)?;
                for name in inside.names()? {
                    inside.remove_below(&name, depth + 1)?;
                }
                rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?;
            }
            Some(_) => rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?,
        }
        Ok(())
    }

    /// Removes a folder if it is empty. Whether it went.
    pub(super) fn remove_empty(&self, name: &OsStr) -> bool {
        rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR).is_ok()
    }

    /// Puts overlay's mark for a deleted name where nothing is.
    pub(super) fn mark_gone(&self, name: &OsStr) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        return Ok(rustix::fs::mknodat(
            &self.handle,
            name,
            FileType::CharacterDevice,
            Mode::empty(),
            0,
        )?);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = name;
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Whether it has overlay's mark for a folder that replaces the one below it.
    pub(super) fn is_opaque(&self) -> bool {
        #[cfg(target_os = "linux")]
        {
            let mut value = [0_u8; 4];
            let read = rustix::fs::fgetxattr(&self.handle, OPAQUE, value.as_mut_slice());
            matches!(read, Ok(1)) && value.first() == Some(&b'y')
        }
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Sets or takes that mark.
    pub(super) fn set_opaque(&self, opaque: bool) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};
            if opaque {
                return Ok(fsetxattr(&self.handle, OPAQUE, b"y", XattrFlags::empty())?);
            }
            match fremovexattr(&self.handle, OPAQUE) {
                Err(Errno::NODATA) => Ok(()),
                removed => Ok(removed?),
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = opaque;
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Whether overlay copied this file up from the disk.
    pub(super) fn was_copied_up(&self, name: &OsStr) -> bool {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd as _;
            let path =
                PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd())).join(name);
            rustix::fs::lgetxattr(&path, ORIGIN, [0_u8; 512].as_mut_slice()).is_ok()
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = name;
            false
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

#[cfg(target_os = "linux")]
const OPAQUE: &str = "user.overlay.opaque";
#[cfg(target_os = "linux")]
const ORIGIN: &str = "user.overlay.origin";

/// Gives a file that was written its mode and time.
pub(super) fn finish(file: &File, mode: u32, mtime: Moment) -> io::Result<()> {
    rustix::fs::fchmod(file, Mode::from_raw_mode((mode & 0o777) as RawMode))?;
    Ok(rustix::fs::futimens(file, &times(mtime))?)
}

/// Makes one file share all of another's blocks, where the file system can.
#[cfg(target_os = "linux")]
fn share(source: &File, target: &File) -> bool {
    rustix::fs::ioctl_ficlone(target, source).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn share(_: &File, _: &File) -> bool {
    false
}

fn times(mtime: Moment) -> Timestamps {
    let last = Timespec { tv_sec: mtime.0, tv_nsec: mtime.1.into() };
    Timestamps { last_access: last, last_modification: last }
}

/// Whether an error says that there is no such folder.
pub(super) fn is_absence(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].iter().any(|e| Some(e.raw_os_error()) == code)
}

/// The names that a relative path is made of.
pub(super) fn names_of(relative: &Path) -> impl Iterator<Item = &OsStr> {
    relative.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    })
}
