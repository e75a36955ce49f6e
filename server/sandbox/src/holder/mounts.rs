//! Mounting, by file descriptors: no path is ever written into an option, so that no character in one matters.
//!
//! Every failure says which step it was, with what the kernel adds to it.

use crate::wire::StepFailure;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount,
    open_tree, unmount,
};
use std::fmt::Display;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Adds to an error which step it was.
pub(super) trait During<T> {
    /// The failure of the step `step` ("mounting /proc").
    fn during(self, step: impl Display) -> Result<T, StepFailure>;
}

impl<T> During<T> for Result<T, Errno> {
    fn during(self, step: impl Display) -> Result<T, StepFailure> {
        self.map_err(|errno| StepFailure {
            words: format!("{step}: {errno}"),
            errno: Some(errno.raw_os_error()),
        })
    }
}

impl<T> During<T> for Result<T, nix::errno::Errno> {
    fn during(self, step: impl Display) -> Result<T, StepFailure> {
        self.map_err(|errno| Errno::from_raw_os_error(errno as i32)).during(step)
    }
}

impl<T> During<T> for std::io::Result<T> {
    fn during(self, step: impl Display) -> Result<T, StepFailure> {
        self.map_err(|error| StepFailure {
            words: format!("{step}: {error}"),
            errno: error.raw_os_error(),
        })
    }
}

/// Flags of every mount of the sandbox: setuid programs keep their user, device nodes do nothing.
pub(super) const HARMLESS: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// Opens `path` below `root` as if `root` were `/`: links lead nowhere else.
pub(super) fn open_inside(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS)
}

/// A copy of the mounts at and below what `place` is, not yet attached anywhere.
pub(super) fn copy_of(place: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(place, "", flags)
}

/// Attaches a mount at `path`, where no command has been yet: links are followed.
pub(super) fn attach(mount: &OwnedFd, path: &Path) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_SYMLINKS;
    move_mount(mount, "", CWD, path, flags)
}

/// Attaches a mount over an open file or folder.
pub(super) fn attach_over(mount: &OwnedFd, place: &OwnedFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", place, "", flags)
}

/// Takes the mounts at `path` away, now or as soon as nothing uses them.
pub(super) fn detach(path: &Path) -> Result<(), Errno> {
    unmount(path, UnmountFlags::DETACH)
}

/// The kernel's `struct mount_attr`.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Sets flags on a mount, and on those below it if `all`; flags that are set already stay.
pub(super) fn set_flags(mount: &OwnedFd, flags: MountAttrFlags, all: bool) -> Result<(), Errno> {
    let attributes =
        Attributes { set: u64::from(flags.bits()), clear: 0, propagation: 0, user_namespace: 0 };
    let how = libc::AT_EMPTY_PATH | if all { libc::AT_RECURSIVE } else { 0 };
    #[expect(unsafe_code, reason = "no library has mount_setattr")]
    // SAFETY: the call reads `attributes`, whose size it is told and which outlives it, and an empty string.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            how,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Error of the last failed call of this thread.
pub(super) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// A new tmpfs, not yet attached.
pub(super) fn tmpfs(bytes: u64, mode: &str, flags: MountAttrFlags) -> Result<OwnedFd, Errno> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), "size", bytes.to_string())?;
    fsconfig_set_string(context.as_fd(), "mode", mode)?;
    // An empty file takes memory of the kernel's, too.
    fsconfig_set_string(context.as_fd(), "nr_inodes", (bytes / 4096).max(1 << 12).to_string())?;
    fsconfig_create(context.as_fd())?;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)
}

/// A new mount of a file system without a source, such as `proc`, not yet attached.
pub(super) fn special(
    kind: &str,
    options: &[(&str, &str)],
    flags: MountAttrFlags,
) -> Result<OwnedFd, StepFailure> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC).during(format!("opening {kind}"))?;
    for (name, value) in options {
        fsconfig_set_string(context.as_fd(), *name, *value)
            .during(format!("setting {name} of {kind}"))?;
    }
    fsconfig_create(context.as_fd()).during(format!("making {kind}"))?;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)
        .during(format!("mounting {kind}"))
}

/// An overlay, not yet attached: what is written to it lands in `up`; `lower` shows through.
pub(super) fn overlay(
    lower: &OwnedFd,
    up: &OwnedFd,
    work: &OwnedFd,
) -> Result<OwnedFd, StepFailure> {
    overlay_of_several(std::slice::from_ref(lower), up, work)
}

/// The same over several, the first of which lies above.
pub(super) fn overlay_of_several(
    lower: &[OwnedFd],
    up: &OwnedFd,
    work: &OwnedFd,
) -> Result<OwnedFd, StepFailure> {
    let lower = lower.iter().map(by_fd).collect::<Vec<_>>().join(":");
    new_overlay(&lower, Some((up, work)), HARMLESS)
}

/// An overlay that can't be written, not yet attached. The kernel asks for a second layer, which is `empty`.
pub(super) fn read_only_overlay(lower: &OwnedFd, empty: &OwnedFd) -> Result<OwnedFd, StepFailure> {
    let layers = format!("{}:{}", by_fd(lower), by_fd(empty));
    new_overlay(&layers, None, HARMLESS | MountAttrFlags::MOUNT_ATTR_RDONLY)
}

fn new_overlay(
    lower: &str,
    upper: Option<(&OwnedFd, &OwnedFd)>,
    flags: MountAttrFlags,
) -> Result<OwnedFd, StepFailure> {
    let context =
        fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC).during("opening the overlay file system")?;
    let fd = context.as_fd();
    fsconfig_set_string(fd, "lowerdir", lower).map_err(|e| with_log(fd, "its lower layer", e))?;
    if let Some((up, work)) = upper {
        fsconfig_set_string(fd, "upperdir", by_fd(up))
            .map_err(|e| with_log(fd, "its upper layer", e))?;
        fsconfig_set_string(fd, "workdir", by_fd(work))
            .map_err(|e| with_log(fd, "its work folder", e))?;
    }
    fsconfig_set_flag(fd, "userxattr").map_err(|e| with_log(fd, "its attributes", e))?;
    // Some kernels keep one unless told, and refuse a layer when the folder beneath it is another one than before.
    fsconfig_set_string(fd, "index", "off").map_err(|e| with_log(fd, "its index", e))?;
    fsconfig_create(fd).map_err(|e| with_log(fd, "making it", e))?;
    fsmount(fd, FsMountFlags::FSMOUNT_CLOEXEC, flags).map_err(|e| with_log(fd, "mounting it", e))
}

/// A path by which this process has a layer.
fn by_fd(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// A failure with what the kernel left in the log of a file system that is being made.
fn with_log(context: BorrowedFd<'_>, step: &str, errno: Errno) -> StepFailure {
    let mut words = format!("{step}: {errno}");
    let mut line = [0_u8; 1024];
    while let Ok(length) = rustix::io::read(context, &mut line) {
        let said = String::from_utf8_lossy(line.get(..length).unwrap_or_default());
        words = format!("{words}; {}", said.trim_end());
        if length == 0 {
            break;
        }
    }
    StepFailure { words, errno: Some(errno.raw_os_error()) }
}
