//! Going through a folder and removing it, however deep it is and whatever is in it.
//!
//! A command may leave more folders in each other than a process can hold handles or a path can name. So one handle is
//! held at a time, and the way back up is the folder's own `..`, which counts only if it is the folder we came from.

use super::{Folder, StampKind, is_absence};
use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;

/// How often a folder is emptied in which something appears meanwhile.
const MOST_TRIES: usize = 10;

/// A folder that we have come through.
struct PassedFolder {
    /// Its device and inode.
    id: (u64, u64),
    /// The folder in it that we are in.
    name: OsString,
    /// The folders in it that come after.
    left: Vec<OsString>,
}

impl Folder {
    /// Calls `each` with all that is below, its name in the folder that holds it and what it is: a folder after all
    /// that is in it. What goes away meanwhile is passed over, links are not followed. Holds two handles at most
    /// besides this one.
    ///
    /// # Errors
    /// The first of `each`, or the system's: then the rest was not seen.
    pub(in crate::layer) fn through(
        &self,
        mut each: impl FnMut(&Self, &OsStr, &Stat) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut at = self.again()?;
        let mut left = at.entries(&mut each)?;
        let mut above: Vec<PassedFolder> = Vec::new();
        loop {
            if let Some(name) = left.pop() {
                let inside = match at.enter(&name) {
                    Err(error) if is_absence(&error) => continue,
                    entered => entered?,
                };
                let id = at.id()?;
                above.push(PassedFolder { id, name, left: std::mem::take(&mut left) });
                left = inside.entries(&mut each)?;
                at = inside;
            } else if let Some(back) = above.pop() {
                at = at.enter("..".as_ref())?;
                if at.id()? != back.id {
                    return Err(io::Error::other("a folder was moved while it was looked through"));
                }
                if let Some(stat) = at.stat(&back.name)? {
                    each(&at, &back.name, &stat)?;
                }
                left = back.left;
            } else {
                return Ok(());
            }
        }
    }

    /// Calls `each` with what is in this folder and is none; gives the names of those that are, the last first.
    fn entries(
        &self,
        each: &mut impl FnMut(&Self, &OsStr, &Stat) -> io::Result<()>,
    ) -> io::Result<Vec<OsString>> {
        let mut folders = Vec::new();
        for name in self.names()?.into_iter().rev() {
            match self.stat(&name)? {
                Some(stat) if super::stamp::stamp(&stat).kind == StampKind::Folder => {
                    folders.push(name)
                }
                Some(stat) => each(self, &name, &stat)?,
                None => {}
            }
        }
        Ok(folders)
    }

    fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        let stat = || rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        match self.mended(stat) {
            Err(error) if is_absence(&error) => Ok(None),
            found => found.map(Some),
        }
    }

    fn id(&self) -> io::Result<(u64, u64)> {
        let own = rustix::fs::fstat(&self.handle)?;
        Ok((own.st_dev as u64, own.st_ino as u64))
    }

    /// Removes whatever stands under a name, a folder with all that is in it. Nothing may be there.
    pub(in crate::layer) fn remove(&self, name: &OsStr) -> io::Result<()> {
        for _ in 0..MOST_TRIES {
            let folder = match self.look(name)?.map(|found| found.kind) {
                None => return Ok(()),
                Some(StampKind::Folder) => true,
                Some(_) => false,
            };
            if folder {
                match self.enter(name) {
                    Err(error) if is_absence(&error) => continue,
                    inside => inside?.through(|at, name, stat| {
                        let is_folder = super::stamp::stamp(stat).kind == StampKind::Folder;
                        at.unlink(name, is_folder).map(|_| ())
                    })?,
                }
            }
            if self.unlink(name, folder)? {
                return Ok(());
            }
        }
        Err(io::Error::other("something is put into a folder again and again while it is removed"))
    }

    /// Removes one name. False if it is another thing by now, or a folder that holds something.
    fn unlink(&self, name: &OsStr, is_folder: bool) -> io::Result<bool> {
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let Err(error) = self.mended(|| rustix::fs::unlinkat(&self.handle, name, flags)) else {
            return Ok(true);
        };
        match Errno::from_io_error(&error) {
            Some(Errno::NOENT) => Ok(true),
            Some(Errno::NOTEMPTY | Errno::NOTDIR | Errno::ISDIR) => Ok(false),
            _ => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    /// A temporary folder with these files, a folder in it of ours, and one that is not to be touched.
    fn around(files: &[&str]) -> (tempfile::TempDir, Folder, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own");
        for name in files.iter().map(|name| own.join(name)).chain([dir.path().join("outside/x/y")])
        {
            fs::create_dir_all(name.parent().unwrap()).unwrap();
            fs::write(name, "x").unwrap();
        }
        let (folder, outside) = (Folder::ours(&own).unwrap(), dir.path().join("outside"));
        (dir, folder, outside)
    }

    fn seen(folder: &Folder, mut each: impl FnMut(&OsStr)) -> (Vec<String>, io::Result<()>) {
        let mut seen = Vec::new();
        let through = folder.through(|_, name, _| {
            seen.push(name.to_string_lossy().into_owned());
            each(name);
            Ok(())
        });
        (seen, through)
    }

    #[test]
    fn all_is_seen_in_order_and_a_folder_after_what_is_in_it() {
        let (dir, folder, outside) = around(&["a/b/c", "a/d", "e", "f/g"]);
        symlink(&outside, dir.path().join("own/link")).unwrap();
        fs::create_dir(dir.path().join("own/empty")).unwrap();
        let (seen, through) = seen(&folder, |_| ());
        assert_eq!(seen, ["link", "e", "d", "c", "b", "a", "empty", "g", "f"]);
        through.unwrap();
        let stops = folder.through(|_, _, _| Err(io::Error::other("stop")));
        assert_eq!(stops.unwrap_err().to_string(), "stop");
    }

    #[test]
    fn what_changes_meanwhile_leads_nowhere_else() {
        // A folder that comes later becomes a link; one that we are in is moved out.
        let (dir, folder, outside) = around(&["a/b/c", "z/w"]);
        let own = dir.path().join("own");
        let (names, through) = seen(&folder, |name| {
            if name == "c" {
                fs::remove_dir_all(own.join("z")).unwrap();
                symlink(&outside, own.join("z")).unwrap();
            }
        });
        assert_eq!(names, ["c", "b", "a"]);
        through.unwrap();
        let (names, through) = seen(&folder, |name| {
            if name == "c" {
                fs::rename(own.join("a/b"), outside.join("x/b")).unwrap();
            }
        });
        assert_eq!(names, ["z", "c"], "nothing outside");
        assert!(through.unwrap_err().to_string().contains("was moved while"));
    }

    #[test]
    fn what_is_put_there_meanwhile_goes_as_well_and_links_lead_nowhere() {
        let (dir, folder, outside) = around(&["t/a/b", "t/c"]);
        let own = dir.path().join("own");
        symlink(&outside, own.join("t/a/link")).unwrap();
        symlink(outside.join("x/y"), own.join("t/file")).unwrap();
        folder.remove("t".as_ref()).unwrap();
        assert!(!own.join("t").exists());
        symlink(&outside, own.join("t")).unwrap();
        folder.remove("t".as_ref()).unwrap();
        folder.remove("t".as_ref()).unwrap();
        assert!(own.join("t").symlink_metadata().is_err());
        assert_eq!(fs::read_to_string(outside.join("x/y")).unwrap(), "x");
        // One that is no longer what it was is not removed as what it was.
        fs::create_dir_all(own.join("full/in")).unwrap();
        assert!(!folder.unlink("full".as_ref(), true).unwrap());
        assert!(!folder.unlink("full".as_ref(), false).unwrap());
        assert!(Path::new(&own.join("full/in")).exists());
    }
}
