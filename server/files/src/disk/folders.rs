//! The folders above a file: which ones a change of the file makes or leaves empty, and taking empty ones away.

use std::io;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::handle::open_root;
use super::{FileError, mode};
use crate::paths::{Place, Roots};

/// How many of the folders above a place are not there.
///
/// # Errors
/// [`FileError`], when the root can't be opened.
pub fn missing_folders(roots: &Roots, place: &Place) -> Result<usize, FileError> {
    let above = place.relative.iter().count().saturating_sub(1);
    Ok(above - chain(roots, place)?.len().min(above))
}

/// The mode (`0o7777`) of those folders above a file that hold nothing but it, and one another: the innermost
/// first. A root is never among them.
///
/// # Errors
/// [`FileError`], when the root can't be opened.
pub fn folders_of_its_own(roots: &Roots, place: &Place) -> Result<Vec<u32>, FileError> {
    let chain = chain(roots, place)?;
    let holds_one = |dir: &Dir| {
        // One is enough to know of more than one.
        dir.entries().is_ok_and(|entries| entries.take(2).count() == 1)
    };
    let own = chain.iter().rev().take_while(|dir| holds_one(dir));
    let bits = own.map(|dir| dir.dir_metadata().map_or(0o755, |found| mode(&found)));
    Ok(bits.collect())
}

/// Removes as many of the innermost folders above a place as are said, as long as they are empty.
///
/// # Errors
/// [`FileError`], when the root can't be opened. A folder that holds something, or that can't be removed, stays:
/// that is no error.
pub fn remove_folders(roots: &Roots, place: &Place, most: usize) -> Result<(), FileError> {
    let mut dirs = vec![open_root(roots, place)?];
    dirs.extend(chain(roots, place)?);
    let names: Vec<_> = place.relative.iter().collect();
    for index in (1..dirs.len()).rev().take(most) {
        let (Some(above), Some(name)) = (dirs.get(index - 1), names.get(index - 1)) else { break };
        if above.remove_dir(name).is_err() {
            break;
        }
    }
    Ok(())
}

/// Gives the innermost folders above a place these modes, as [`folders_of_its_own`] gave them.
///
/// # Errors
/// [`FileError`], when the root can't be opened or the system doesn't allow it.
pub fn set_folder_modes(roots: &Roots, place: &Place, bits: &[u32]) -> Result<(), FileError> {
    let chain = chain(roots, place)?;
    for (dir, bits) in chain.iter().rev().zip(bits) {
        set_folder_mode(dir, *bits).map_err(|error| super::handle::fail(place, &error))?;
    }
    Ok(())
}

#[cfg(unix)]
fn set_folder_mode(dir: &Dir, bits: u32) -> io::Result<()> {
    use cap_std::fs::{Permissions, PermissionsExt as _};
    dir.set_permissions(".", Permissions::from_mode(bits & 0o7777))
}

#[cfg(not(unix))]
fn set_folder_mode(_: &Dir, _: u32) -> io::Result<()> {
    Ok(())
}

/// The folders above a place that are there, the outermost first, without the root.
fn chain(roots: &Roots, place: &Place) -> Result<Vec<Dir>, FileError> {
    let above = place.relative.iter().count().saturating_sub(1);
    let mut out: Vec<Dir> = Vec::with_capacity(above);
    let root = open_root(roots, place)?;
    for name in place.relative.iter().take(above) {
        match out.last().unwrap_or(&root).open_dir_nofollow(name) {
            Ok(dir) => out.push(dir),
            Err(_) => break,
        }
    }
    Ok(out)
}
