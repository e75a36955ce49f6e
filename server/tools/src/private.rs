//! Where whole outputs go: what a command prints may be anything, so it is for the user alone.
//!
//! Deliberately not here: which folder it is, and when a file goes again.

use std::io;
use std::path::{Path, PathBuf};
use tokio::fs::{DirBuilder, File, OpenOptions};

/// The file in `folder` that has the whole output of a call. The call's id is the model's, and the file's name is ours.
#[must_use]
pub fn whole_output(folder: &Path, call: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    let name: String = call.chars().map(plain).take(80).collect();
    folder.join(format!("{name}.txt"))
}

/// Makes a folder, and those above it, for their owner alone. One that is there stays as it is.
///
/// # Errors
/// Errors of the system.
pub async fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    builder.create(folder).await
}

/// An empty file for its owner alone, also when there was one before that others could read.
///
/// # Errors
/// Errors of the system; the folder must be there.
pub async fn private_file(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    options.mode(0o600);
    let file = options.open(file).await?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).await?;
    Ok(file)
}
