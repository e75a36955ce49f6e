//! From a place to the handle of its directory, one component at a time and through no link.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata};

use super::{FileError, kind};
use crate::paths::{Place, Roots};

/// A name in an open directory: where a place is, or would be.
pub(super) struct NameSpot<'a> {
    pub(super) dir: Dir,
    pub(super) name: &'a OsStr,
    place: &'a Place,
}

impl<'a> NameSpot<'a> {
    /// Opens the directory of `place`, which must exist.
    pub(super) fn open(roots: &Roots, place: &'a Place) -> Result<Self, FileError> {
        Self::reach(roots, place, false)
    }

    /// Opens the directory of `place`, making it and those above it, up to the root, if needed.
    pub(super) fn create(roots: &Roots, place: &'a Place) -> Result<Self, FileError> {
        Self::reach(roots, place, true)
    }

    fn reach(roots: &Roots, place: &'a Place, create: bool) -> Result<Self, FileError> {
        let mut dir = open_root(roots, place)?;
        let mut parts = place.relative.iter().peekable();
        let mut walked = std::path::PathBuf::new();
        while let Some(name) = parts.next() {
            if parts.peek().is_none() {
                return Ok(Self { dir, name, place });
            }
            walked.push(name);
            dir = descend(&dir, name, create)
                .map_err(|error| refuse(&dir, name, &walked, place, error))?;
        }
        // The root itself.
        Err(FileError::NotAFile { path: place.shown.clone(), kind: super::FileKind::Folder })
    }

    /// The metadata of what is here by its own name, a link included; none when nothing is.
    pub(super) fn look(&self) -> Result<Option<Metadata>, FileError> {
        match self.dir.symlink_metadata(self.name) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.fail(error)),
        }
    }

    /// The metadata of the plain file that must be here.
    pub(super) fn plain_file(&self) -> Result<Metadata, FileError> {
        let found = self.look()?.ok_or_else(|| FileError::NotFound { path: self.shown() })?;
        plain(&found, self)?;
        Ok(found)
    }

    pub(super) fn shown(&self) -> String {
        self.place.shown.clone()
    }

    /// An error of the system, in words.
    pub(super) fn fail(&self, error: io::Error) -> FileError {
        fail(self.place, &error)
    }
}

/// Opens the directory that a place's relative path starts from.
pub(super) fn open_root(roots: &Roots, place: &Place) -> Result<Dir, FileError> {
    let base = base(roots, place)?;
    open_base(base).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => FileError::Denied { path: place.shown.clone() },
        _ => FileError::RootGone { path: place.shown.clone(), root: base.display().to_string() },
    })
}

/// Refuses what is no plain file.
pub(super) fn plain(found: &Metadata, spot: &NameSpot<'_>) -> Result<(), FileError> {
    if found.is_file() {
        return Ok(());
    }
    let path = spot.shown();
    if found.is_symlink() {
        return Err(FileError::BecameLink { link: path.clone(), path });
    }
    Err(FileError::NotAFile { path, kind: kind(found) })
}

/// The directory that a place's relative path starts from. Places are public values, so that this one
/// belongs to these roots is checked again.
fn base<'a>(roots: &'a Roots, place: &'a Place) -> Result<&'a Path, FileError> {
    let stranger = || FileError::NotInside { path: place.shown.clone() };
    let normal = |part: Component<'_>| matches!(part, Component::Normal(_));
    let base = match place.root {
        Some(index) => roots.get(index).ok_or_else(stranger)?.path(),
        None if roots.allows_single(&place.path) => place.path.parent().ok_or_else(stranger)?,
        None => return Err(stranger()),
    };
    let same = base.join(&place.relative) == place.path;
    let inside = place.relative.components().all(normal);
    if same && inside { Ok(base) } else { Err(stranger()) }
}

/// Opens a root. Its real path holds no link, so its last component must not be one now.
#[cfg(unix)]
fn open_base(path: &Path) -> io::Result<Dir> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    #[cfg(target_os = "linux")]
    let only_path = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let only_path = OFlags::empty();
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | only_path;
    let handle = openat(CWD, path, flags, Mode::empty())?;
    Ok(Dir::from_std_file(std::fs::File::from(handle)))
}

#[cfg(not(unix))]
fn open_base(path: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(path, cap_std::ambient_authority())
}

fn descend(dir: &Dir, name: &OsStr, create: bool) -> io::Result<Dir> {
    match dir.open_dir_nofollow(name) {
        Err(error) if create && error.kind() == io::ErrorKind::NotFound => {
            match dir.create_dir(name) {
                // Someone else may have made it just now.
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                _ => dir.open_dir_nofollow(name),
            }
        }
        opened => opened,
    }
}

/// Why a directory on the way could not be entered.
fn refuse(dir: &Dir, name: &OsStr, walked: &Path, place: &Place, error: io::Error) -> FileError {
    let path = place.shown.clone();
    let part = || walked.to_string_lossy().into_owned();
    match dir.symlink_metadata(name) {
        Ok(found) if found.is_symlink() => FileError::BecameLink { path, link: part() },
        Ok(found) if !found.is_dir() => FileError::ThroughFile { path, file: part() },
        _ => fail(place, &error),
    }
}

pub(super) fn fail(place: &Place, error: &io::Error) -> FileError {
    let path = place.shown.clone();
    match error.kind() {
        io::ErrorKind::NotFound => FileError::NotFound { path },
        io::ErrorKind::PermissionDenied => FileError::Denied { path },
        io::ErrorKind::ReadOnlyFilesystem => FileError::ReadOnlyDisk { path },
        io::ErrorKind::AlreadyExists => FileError::Exists { path },
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            FileError::Full { path }
        }
        io::ErrorKind::IsADirectory => FileError::NotAFile { path, kind: super::FileKind::Folder },
        _ => FileError::Io { path, reason: error.to_string() },
    }
}
