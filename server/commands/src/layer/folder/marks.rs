//! Overlay's marks: of a deleted name, of a replaced folder, of a file that was copied up.

use super::Folder;
#[cfg(target_os = "linux")]
use rustix::fs::{FileType, Mode};
#[cfg(target_os = "linux")]
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;

#[cfg(target_os = "linux")]
const OPAQUE: &str = "user.overlay.opaque";
#[cfg(target_os = "linux")]
const ORIGIN: &str = "user.overlay.origin";

impl Folder {
    /// Puts overlay's mark for a deleted name where nothing is.
    pub(in crate::layer) fn mark_gone(&self, name: &OsStr) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        return self.mended(|| {
            rustix::fs::mknodat(&self.handle, name, FileType::CharacterDevice, Mode::empty(), 0)
        });
        #[cfg(not(target_os = "linux"))]
        {
            let _ = name;
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// True if it has overlay's mark for a folder that replaces the one below it.
    pub(in crate::layer) fn is_opaque(&self) -> bool {
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
    pub(in crate::layer) fn set_opaque(&self, opaque: bool) -> io::Result<()> {
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

    /// True if overlay copied this file up from the disk.
    pub(in crate::layer) fn was_copied_up(&self, name: &OsStr) -> bool {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd as _;
            let path =
                std::path::PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
                    .join(name);
            rustix::fs::lgetxattr(&path, ORIGIN, [0_u8; 512].as_mut_slice()).is_ok()
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = name;
            false
        }
    }
}
