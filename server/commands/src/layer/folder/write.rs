//! Making and copying what is in a folder.

use super::Folder;
use super::stamp::{Moment, Stamp, StampKind, stamp, times};
use rustix::fs::{AtFlags, Mode, OFlags, RawMode};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

impl Folder {
    /// Puts a new file under a name that is free.
    pub(in crate::layer) fn put(
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
    pub(in crate::layer) fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(self.mended(|| rustix::fs::openat(&self.handle, name, flags, mode))?.into())
    }

    /// Copies a plain file to a name that is free in another folder, sharing its blocks where the disk can, with
    /// its mode and its time.
    pub(in crate::layer) fn copy(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        let mut source = self.open_file(name)?;
        let found = stamp(&rustix::fs::fstat(&source)?);
        let mut target = to.create(new)?;
        if !share(&source, &target) {
            io::copy(&mut source, &mut target)?;
        }
        finish(&target, found.mode, found.mtime)
    }

    /// Puts a link under a name that is free.
    pub(in crate::layer) fn put_link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        self.mended(|| rustix::fs::symlinkat(target, &self.handle, name))
    }

    /// Makes a folder under a name that is free.
    pub(in crate::layer) fn make(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        self.mended(|| rustix::fs::mkdirat(&self.handle, name, Mode::RWXU))?;
        let made = self.enter(name)?;
        rustix::fs::fchmod(&made.handle, Mode::from_raw_mode((mode | 0o700) as RawMode))?;
        Ok(made)
    }

    /// Gives what stands under a name, which is no link, the owner of something else, where the system lets us.
    pub(in crate::layer) fn own_like(&self, name: &OsStr, other: &Stamp) {
        let same = |found: Stamp| found.owner == other.owner || found.kind == StampKind::Link;
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
    pub(in crate::layer) fn set_mtime(&self, name: &OsStr, mtime: Moment) -> io::Result<()> {
        let times = times(mtime);
        self.mended(|| rustix::fs::utimensat(&self.handle, name, &times, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// Removes a folder if it is empty. Whether it went.
    pub(in crate::layer) fn remove_empty(&self, name: &OsStr) -> bool {
        self.mended(|| rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)).is_ok()
    }
}

/// Gives a file that was written its mode and time.
fn finish(file: &File, mode: u32, mtime: Moment) -> io::Result<()> {
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
