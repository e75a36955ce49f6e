//! Changing files so that a reader, a crash or a full disk never meets half of a change.
//!
//! A file is replaced by renaming a finished temporary file over it, which keeps its mode. That
//! would cut it off from its other hard links or give it another owner, so such a file is written
//! in place, what is new at its end first, so that a full disk is noticed before anything is lost.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Seek as _, SeekFrom, Write as _};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_fs_ext::{FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use ropewalk_text::ContentHash;

use super::handle::{NameSpot, plain};
use super::link::{link_hash, target};
use super::{Expect, FileError, hash_at, read_at};
use crate::paths::{Place, Roots};

/// The longest file that is moved to another file system.
const COPY_LIMIT: u64 = 1 << 30;

/// Writes a whole file and returns the hash of what it then holds. Folders above it are made,
/// unless a file is expected. The content is compared with `expect` right before the change; a file
/// that is absent is then made only if it still is.
///
/// # Errors
/// [`FileError`]; what was there is unchanged.
pub fn write(
    roots: &Roots,
    place: &Place,
    bytes: &[u8],
    expect: Expect,
) -> Result<ContentHash, FileError> {
    let spot = match expect {
        Expect::Hash(_) | Expect::Link(_) => NameSpot::open(roots, place)?,
        Expect::Absent | Expect::Anything => NameSpot::create(roots, place)?,
    };
    match spot.look()? {
        None => make(&spot, bytes, expect)?,
        // The link itself is replaced, not what it leads to.
        Some(found) if found.is_symlink() && matches!(expect, Expect::Link(_)) => {
            make(&spot, bytes, expect)?;
        }
        Some(found) => {
            plain(&found, &spot)?;
            if expect == Expect::Absent {
                return Err(FileError::Exists { path: spot.shown() });
            }
            if found.permissions().readonly() {
                return Err(FileError::ReadOnly { path: spot.shown() });
            }
            replace(&spot, &found, bytes, expect)?;
        }
    }
    Ok(ContentHash::of(bytes))
}

/// Removes a file, or the link that is expected, never what that leads to. With [`Expect::Anything`] it may be
/// gone already.
///
/// # Errors
/// [`FileError`]; `Exists` for [`Expect::Absent`] when something is there.
pub fn remove(roots: &Roots, place: &Place, expect: Expect) -> Result<(), FileError> {
    let spot = match NameSpot::open(roots, place) {
        Err(FileError::NotFound { .. }) if matches!(expect, Expect::Absent | Expect::Anything) => {
            return Ok(());
        }
        spot => spot?,
    };
    match (spot.look()?, expect) {
        (None, Expect::Absent | Expect::Anything) => return Ok(()),
        (Some(_), Expect::Absent) => return Err(FileError::Exists { path: spot.shown() }),
        _ => {}
    }
    if !matches!(expect, Expect::Link(_)) {
        spot.plain_file()?;
    }
    check(&spot, expect)?;
    spot.dir.remove_file(spot.name).map_err(|e| spot.fail(e))
}

/// Moves a file whose content is as `expect` says to where nothing is, making the folders above.
/// Between file systems it is copied, with its mode, and removed, if it has at most 1 GiB.
///
/// # Errors
/// [`FileError`]; `Exists` names the target when something is there.
pub fn rename(roots: &Roots, from: &Place, to: &Place, expect: Expect) -> Result<(), FileError> {
    let source = NameSpot::open(roots, from)?;
    source.plain_file()?;
    check(&source, expect)?;
    let target = NameSpot::create(roots, to)?;
    match rename_to_absent(&source.dir, source.name, &target.dir, target.name) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let read = read_at(&source, COPY_LIMIT)?;
            write(roots, to, &read.bytes, Expect::Absent)?;
            let left = set_mode(roots, to, read.meta.mode)
                .and_then(|()| source.dir.remove_file(source.name).map_err(|e| source.fail(e)));
            // A file that did not leave its old name has no new one.
            if left.is_err()
                && let Err(error) = remove(roots, to, Expect::Hash(read.hash))
            {
                tracing::warn!(file = to.shown, %error, "the copy of a file was left behind");
            }
            left
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(source.fail(error)),
        moved => moved.map_err(|e| target.fail(e)),
    }
}

/// Makes the folders above a place.
///
/// # Errors
/// [`FileError`].
pub fn create_parents(roots: &Roots, place: &Place) -> Result<(), FileError> {
    NameSpot::create(roots, place).map(drop)
}

/// Sets a file's permission bits (`0o777` of `mode`). Where there are none it does nothing.
///
/// # Errors
/// [`FileError`].
pub fn set_mode(roots: &Roots, place: &Place, mode: u32) -> Result<(), FileError> {
    let spot = NameSpot::open(roots, place)?;
    spot.plain_file()?;
    #[cfg(unix)]
    {
        use cap_std::fs::{Permissions, PermissionsExt as _};
        let permissions = Permissions::from_mode(mode & 0o777);
        spot.dir.set_permissions(spot.name, permissions).map_err(|e| spot.fail(e))?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    Ok(())
}

/// Compares what is there with what was expected.
pub(super) fn check(spot: &NameSpot<'_>, expect: Expect) -> Result<(), FileError> {
    match expect {
        Expect::Anything => Ok(()),
        Expect::Absent if spot.look()?.is_none() => Ok(()),
        Expect::Absent => Err(FileError::Exists { path: spot.shown() }),
        Expect::Hash(hash) if hash_at(spot)? == hash => Ok(()),
        Expect::Link(hash) if target(spot)?.is_some_and(|to| link_hash(&to) == hash) => Ok(()),
        Expect::Hash(_) | Expect::Link(_) => Err(FileError::Changed { path: spot.shown() }),
    }
}

/// A new file, where nothing is or the link that is expected.
fn make(spot: &NameSpot<'_>, bytes: &[u8], expect: Expect) -> Result<(), FileError> {
    match expect {
        Expect::Hash(_) => return Err(FileError::NotFound { path: spot.shown() }),
        Expect::Absent | Expect::Anything | Expect::Link(_) => {}
    }
    let mut temp = Temp::new(&spot.dir, 0o666).map_err(|e| spot.fail(e))?;
    temp.file.write_all(bytes).map_err(|e| spot.fail(e))?;
    if expect == Expect::Absent {
        rename_to_absent(&spot.dir, &temp.name, &spot.dir, spot.name).map_err(|e| spot.fail(e))?;
        temp.moved = true;
        return Ok(());
    }
    check(spot, expect)?;
    temp.rename_over(spot.name).map_err(|e| spot.fail(e))
}

/// A new content for the plain file that was found.
fn replace(
    spot: &NameSpot<'_>,
    found: &Metadata,
    bytes: &[u8],
    expect: Expect,
) -> Result<(), FileError> {
    if found.nlink() > 1 {
        return write_in_place(spot, bytes, expect);
    }
    // Nobody else may read the new content before it has the old mode.
    let mut temp = match Temp::new(&spot.dir, 0o600) {
        // A folder that takes no new file may hold one that can be written.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return write_in_place(spot, bytes, expect);
        }
        temp => temp.map_err(|e| spot.fail(e))?,
    };
    if !temp.has_owner_of(found).map_err(|e| spot.fail(e))? {
        drop(temp);
        return write_in_place(spot, bytes, expect);
    }
    temp.file.write_all(bytes).map_err(|e| spot.fail(e))?;
    temp.file.set_permissions(found.permissions()).map_err(|e| spot.fail(e))?;
    check(spot, expect)?;
    temp.rename_over(spot.name).map_err(|e| spot.fail(e))
}

fn write_in_place(spot: &NameSpot<'_>, bytes: &[u8], expect: Expect) -> Result<(), FileError> {
    let mut options = OpenOptions::new();
    options.write(true).follow(FollowSymlinks::No).nonblock(true);
    let mut file = spot.dir.open_with(spot.name, &options).map_err(|e| spot.fail(e))?;
    let found = file.metadata().map_err(|e| spot.fail(e))?;
    plain(&found, spot)?;
    check(spot, expect)?;
    let old_len = found.len();
    let kept = usize::try_from(old_len).unwrap_or(usize::MAX).min(bytes.len());
    let (head, tail) = bytes.split_at(kept);
    if let Err(error) = append(&mut file, old_len, tail) {
        // The tail is taken off again; that needs no space.
        file.set_len(old_len).map_err(|e| spot.fail(e))?;
        return Err(spot.fail(error));
    }
    // The room for these bytes is there already.
    let over = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(head));
    over.and_then(|()| file.set_len(bytes.len() as u64)).map_err(|e| spot.fail(e))
}

fn append(file: &mut File, at: u64, tail: &[u8]) -> io::Result<()> {
    if tail.is_empty() {
        return Ok(());
    }
    file.seek(SeekFrom::Start(at))?;
    file.write_all(tail)
}

/// A temporary file beside its target, removed unless it was moved there.
struct Temp<'a> {
    dir: &'a Dir,
    name: OsString,
    file: File,
    moved: bool,
}

impl<'a> Temp<'a> {
    /// Makes it under a name that can't be guessed; one that exists, a link too, is never opened.
    fn new(dir: &'a Dir, mode: u32) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        // The standard library seeds its hashers from the system's random numbers.
        let name = OsString::from(format!(".ropewalk-{:016x}.tmp", RandomState::new().hash_one(0)));
        let file = dir.open_with(&name, &options)?;
        Ok(Self { dir, name, file, moved: false })
    }

    /// True if moving this over a file would leave its owner and group as they are.
    #[cfg(unix)]
    fn has_owner_of(&self, found: &Metadata) -> io::Result<bool> {
        use cap_std::fs::MetadataExt as _;
        let own = self.file.metadata()?;
        Ok(own.uid() == found.uid() && own.gid() == found.gid())
    }

    #[cfg(not(unix))]
    fn has_owner_of(&self, _found: &Metadata) -> io::Result<bool> {
        Ok(true)
    }

    fn rename_over(&mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, self.dir, name)?;
        self.moved = true;
        Ok(())
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.moved
            && let Err(error) = self.dir.remove_file(&self.name)
        {
            tracing::warn!(name = ?self.name, %error, "a temporary file was left behind");
        }
    }
}

/// Renames to a name that nothing has, in one step where the system can.
pub(super) fn rename_to_absent(
    from: &Dir,
    name: &OsStr,
    to: &Dir,
    new_name: &OsStr,
) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(from, name, to, new_name, RenameFlags::NOREPLACE) {
            // Some file systems don't have it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return done.map_err(io::Error::from),
        }
    }
    match to.symlink_metadata(new_name) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => from.rename(name, to, new_name),
        Err(error) => Err(error),
    }
}
