//! Changing a small file of the user's own: in one step, so that a crash leaves the old or the new
//! text, and readable for its owner only. It knows nothing of what is in the file.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use crate::sources::MAX_FILE_BYTES;

/// How often a folder that somebody else keeps locked is tried, and how long is waited in between. Each of ours
/// holds it for a moment only.
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Replaces the file's text by what `change` makes of it; `None` from `change` leaves it alone.
/// `change` gets `None` when there is no file. Folders on the way are made. A link is followed, so
/// that a file kept elsewhere stays there.
///
/// Two processes that do this at once wait for each other where the system can lock a folder, for two
/// seconds at most; else the later one wins, and the text is whole in either case.
pub(crate) fn update(
    file: &Path,
    change: impl FnOnce(Option<&str>) -> io::Result<Option<String>>,
) -> io::Result<()> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().ok_or_else(|| io::Error::other("it is no file"))?;
    make_folder(folder)?;
    let held = hold(folder);
    let known = read(&file)?;
    if let Some(text) = change(known.as_deref())? {
        // Made readable for the owner only by `tempfile`.
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(&file)?;
    }
    drop(held);
    Ok(())
}

/// The folder with a lock on it; None where there is none to be had, be it of a stranger's lock.
fn hold(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    for _ in 0..TRIES {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_TRIES),
            Err(TryLockError::Error(_)) => return None,
        }
    }
    None
}

fn read(file: &Path) -> io::Result<Option<String>> {
    let found = match fs::metadata(file) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // Looked at before opening, because opening a named pipe would wait for a writer.
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"));
    }
    if found.len() > MAX_FILE_BYTES {
        let words = format!("it is longer than {MAX_FILE_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, words));
    }
    let mut text = String::new();
    File::open(file)?.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    Ok(Some(text))
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
