//! Symbolic links as data: what one says is read and written, and it is never followed.

use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use ropewalk_text::ContentHash;

use super::handle::NameSpot;
use super::write::{check, rename_to_absent};
use super::{Expect, FileError};
use crate::paths::{Place, Roots};

/// The target of the link at a place, as it is written there. None where there is something else, or nothing.
///
/// # Errors
/// [`FileError`].
pub fn link(roots: &Roots, place: &Place) -> Result<Option<PathBuf>, FileError> {
    match NameSpot::open(roots, place) {
        Ok(spot) => target(&spot),
        Err(FileError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Hash of a link's target, for [`Expect::Link`].
pub fn link_hash(target: &Path) -> ContentHash {
    ContentHash::of(target.as_os_str().as_encoded_bytes())
}

/// Makes a link with this target, or puts it in the place of the file or link that is expected there. The target
/// may be anything: nothing looks where it leads. Folders above it are made, unless something is expected.
///
/// # Errors
/// [`FileError`]; what was there is unchanged. [`FileError::NoLinks`] where the system has none.
pub fn write_link(
    roots: &Roots,
    place: &Place,
    to: &Path,
    expect: Expect,
) -> Result<(), FileError> {
    let spot = match expect {
        Expect::Hash(_) | Expect::Link(_) => NameSpot::open(roots, place)?,
        Expect::Absent | Expect::Anything => NameSpot::create(roots, place)?,
    };
    // Made beside its place and moved there, so that there is no moment without either.
    let name = OsString::from(format!(".ropewalk-{:016x}.tmp", RandomState::new().hash_one(0)));
    make(&spot, to, &name)?;
    let moved = check(&spot, expect).and_then(|()| {
        let moved = match expect {
            Expect::Absent => rename_to_absent(&spot.dir, &name, &spot.dir, spot.name),
            Expect::Anything | Expect::Hash(_) | Expect::Link(_) => {
                spot.dir.rename(&name, &spot.dir, spot.name)
            }
        };
        moved.map_err(|error| spot.fail(error))
    });
    if moved.is_err()
        && let Err(error) = spot.dir.remove_file(&name)
    {
        tracing::warn!(?name, %error, "a temporary link was left behind");
    }
    moved
}

/// The target of the link that is here, if one is.
pub(super) fn target(spot: &NameSpot<'_>) -> Result<Option<PathBuf>, FileError> {
    match spot.look()? {
        Some(found) if found.is_symlink() => {
            spot.dir.read_link_contents(spot.name).map(Some).map_err(|error| spot.fail(error))
        }
        _ => Ok(None),
    }
}

#[cfg(unix)]
fn make(spot: &NameSpot<'_>, to: &Path, name: &OsString) -> Result<(), FileError> {
    spot.dir.symlink_contents(to, name).map_err(|error| match error.kind() {
        // An empty target: the folder is there.
        io::ErrorKind::NotFound | io::ErrorKind::InvalidInput => FileError::Io {
            path: spot.shown(),
            reason: format!("{to:?} is nothing that a link can lead to"),
        },
        _ => spot.fail(error),
    })
}

#[cfg(not(unix))]
fn make(spot: &NameSpot<'_>, _: &Path, _: &OsString) -> Result<(), FileError> {
    // There a link must say whether it is for a file or a folder, and making one takes a privilege.
    Err(FileError::NoLinks { path: spot.shown() })
}
