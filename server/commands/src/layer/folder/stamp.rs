//! Kind, size and times of an entry, as a file system gives them.

use rustix::fs::{FileType, RawMode, Stat, Timespec, Timestamps};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Kind of the entry under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layer) enum StampKind {
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
pub(in crate::layer) struct Moment(pub(in crate::layer) i64, pub(in crate::layer) u32);

impl Moment {
    pub(in crate::layer) fn now() -> Self {
        SystemTime::now().into()
    }

    /// The smallest moment after this one.
    pub(in crate::layer) fn next(self) -> Self {
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

/// The time by the clock that file systems stamp their files with, which goes in steps of some milliseconds behind the
/// system's own: a file that is changed from now on has none before it, and one that was changed earlier has one before it.
/// Linux from 6.13 on tells it at once; older ones after their next step, ten milliseconds at most.
pub fn file_time() -> SystemTime {
    #[cfg(target_os = "linux")]
    if let Ok(time) = next_step() {
        return time;
    }
    SystemTime::now()
}

/// The times of a file of its own, touched until the clock has gone on.
#[cfg(target_os = "linux")]
fn next_step() -> std::io::Result<SystemTime> {
    use rustix::fs::{MemfdFlags, fstat, futimens, memfd_create};
    const STEP: Duration = Duration::from_micros(200);
    const MOST_STEPS: u32 = 100;
    let file = memfd_create("clock", MemfdFlags::CLOEXEC)?;
    let touched = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        last_modification: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
    };
    let changed = || fstat(&file).map(|found| (found.st_ctime, found.st_ctime_nsec));
    let first = changed()?;
    for _ in 0..MOST_STEPS {
        futimens(&file, &touched)?;
        let now @ (seconds, nanos) = changed()?;
        if now > first {
            let since = u64::try_from(seconds).ok().zip(u32::try_from(nanos).ok());
            let time = since.and_then(|(s, n)| UNIX_EPOCH.checked_add(Duration::new(s, n)));
            return time.ok_or_else(|| std::io::Error::other("a time before 1970"));
        }
        std::thread::sleep(STEP);
    }
    Err(std::io::Error::other("the clock of files stands still"))
}

/// The file system's record of a name. Two equal stamps are one unchanged thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layer) struct Stamp {
    pub(in crate::layer) kind: StampKind,
    pub(in crate::layer) inode: u64,
    pub(in crate::layer) len: u64,
    /// Permission bits.
    pub(in crate::layer) mode: u32,
    pub(in crate::layer) owner: (u32, u32),
    pub(in crate::layer) mtime: Moment,
    pub(in crate::layer) ctime: Moment,
}

impl Stamp {
    /// True if it changed since a command began. File systems' clocks are a little behind ours.
    pub(in crate::layer) fn is_of_command(&self, started: Moment) -> bool {
        const BEHIND: u32 = 20_000_000;
        let Moment(seconds, nanos) = started;
        let from = match nanos.checked_sub(BEHIND) {
            Some(nanos) => Moment(seconds, nanos),
            None => Moment(seconds.saturating_sub(1), nanos + 1_000_000_000 - BEHIND),
        };
        self.ctime >= from
    }
}

#[expect(clippy::unnecessary_cast, reason = "the widths of these fields differ between systems")]
pub(super) fn stamp(stat: &Stat) -> Stamp {
    let kind = match FileType::from_raw_mode(stat.st_mode as RawMode) {
        FileType::RegularFile => StampKind::File,
        FileType::Directory => StampKind::Folder,
        FileType::Symlink => StampKind::Link,
        FileType::CharacterDevice if stat.st_rdev == 0 => StampKind::Gone,
        FileType::Fifo => StampKind::Pipe,
        FileType::Socket => StampKind::Socket,
        _ => StampKind::Device,
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

/// For setting a time.
pub(super) fn times(mtime: Moment) -> Timestamps {
    let last = Timespec { tv_sec: mtime.0, tv_nsec: mtime.1.into() };
    Timestamps { last_access: last, last_modification: last }
}
