//! The server's side of the trial: makes the small folder that the holder tries on, and removes it.
//!
//! The trial itself is the holder's matter.

use super::{failed, first_answer, send, start_holder};
use crate::plan::SandboxError;
use crate::support::Abilities;
use crate::wire::{FromHolder, ToHolder};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Start of the folders' names.
const PREFIX: &str = ".ropewalk-trial-";
/// How old a folder is that a killed process must have left: a trial takes milliseconds, and some seconds at most.
const LEFT: Duration = Duration::from_secs(60 * 60);

/// Tries what this machine can do, in a small folder that is removed again.
pub(crate) async fn run() -> Result<Abilities, SandboxError> {
    let step = "making a folder to try commands in";
    let folder = parent().and_then(|parent| make(&parent)).map_err(|error| failed(step, &error))?;
    try_in(folder.path()).await
}

/// Where such folders are made: on the disk, as layers are, where there is no memory for them.
fn parent() -> io::Result<PathBuf> {
    std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
        .filter(|path| path.is_dir())
        .unwrap_or_else(std::env::temp_dir)
        .canonicalize()
}

/// Makes one, under a name that nobody has: the parent may be everybody's, and other users' folders may have been left
/// in it.
fn make(parent: &Path) -> io::Result<TempDir> {
    remove_left(parent);
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
    std::fs::create_dir_all(folder.path().join("root/folder/inner"))?;
    std::fs::create_dir_all(folder.path().join("layers"))?;
    std::fs::write(folder.path().join("root/file"), "old")?;
    Ok(folder)
}

/// Removes what killed processes of this user left. What can't be removed stays: it is in nobody's way.
fn remove_left(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    let ours = rustix::process::geteuid().as_raw();
    let now = SystemTime::now();
    for entry in entries.flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_one {
            continue;
        }
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|made| now.duration_since(made).ok());
        if metadata.is_dir() && metadata.uid() == ours && age.is_some_and(|age| age > LEFT) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

async fn try_in(folder: &Path) -> Result<Abilities, SandboxError> {
    let (_holder, socket) = start_holder()?;
    send(&socket, &ToHolder::Probe(folder.to_owned().into()), &[]).await?;
    match first_answer(&socket).await?.0 {
        FromHolder::Probed(found) => Ok(found),
        FromHolder::Failed(failure) => Err(failure.into()),
        _ => Err(SandboxError::Ended),
    }
}

#[cfg(test)]
mod tests {
    use super::{LEFT, PREFIX, make, remove_left};
    use std::fs::{File, FileTimes};
    use std::path::Path;
    use std::time::SystemTime;

    fn left_by_a_killed_process(parent: &Path, name: &str, age: std::time::Duration) {
        let folder = parent.join(format!("{PREFIX}{name}"));
        std::fs::create_dir_all(folder.join("root/folder")).unwrap();
        let then = FileTimes::new().set_modified(SystemTime::now() - age);
        File::open(folder).unwrap().set_times(then).unwrap();
    }

    fn names(parent: &Path) -> Vec<String> {
        let mut names: Vec<String> = parent
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_process_left_is_in_nobodys_way() {
        let parent = tempfile::tempdir().unwrap();
        // Numbers of processes come back: this process may have the number of one that was killed.
        left_by_a_killed_process(parent.path(), &std::process::id().to_string(), LEFT / 2);
        let first = make(parent.path()).unwrap();
        let second = make(parent.path()).unwrap();
        assert_ne!(first.path(), second.path());
        assert_eq!(std::fs::read_to_string(first.path().join("root/file")).unwrap(), "old");
        drop((first, second));
        assert_eq!(names(parent.path()), [format!("{PREFIX}{}", std::process::id())]);
    }

    #[test]
    fn what_a_killed_process_left_goes_in_the_end() {
        let parent = tempfile::tempdir().unwrap();
        left_by_a_killed_process(parent.path(), "old", LEFT * 2);
        left_by_a_killed_process(parent.path(), "young", LEFT / 2);
        std::fs::create_dir(parent.path().join("another's")).unwrap();
        std::fs::write(parent.path().join(format!("{PREFIX}file")), "").unwrap();
        std::os::unix::fs::symlink("/", parent.path().join(format!("{PREFIX}link"))).unwrap();
        remove_left(parent.path());
        let young = format!("{PREFIX}young");
        let left = ["another's", &format!("{PREFIX}file"), &format!("{PREFIX}link"), &young];
        let mut left = left.map(str::to_owned);
        left.sort();
        assert_eq!(names(parent.path()), left);
    }
}
