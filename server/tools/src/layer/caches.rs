//! Build caches: folders on the disk where a session's commands keep build output, one set for each set of roots.
//!
//! They are for commands over the fork alone: output that was built from unsaved text must never lie where a build
//! outside takes it for fresh, and a layer in memory is no place for gigabytes that every session would build anew.
//! Several sessions on the same roots get a slot each, which is locked as long as the value lives. A slot keeps the
//! list of [`EverDirty`] files that it is about, because without it its times mean nothing. What is in a slot is the
//! tools' own business.

use super::folder::{Folder, Kind};
use super::ignores::Ignores;
use super::{EverDirty, Layer, Rooted};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What build tools of a kind use a slot for.
struct Cache {
    /// What points them to it.
    variable: &'static str,
    /// Its folder in the slot.
    folder: &'static str,
    /// The file that a root of such a project has, and the folder where these tools would build without the variable.
    instead: Option<(&'static str, &'static str)>,
}

/// The folders of a slot.
///
/// Only what tools write without being asked and read again as fresh: cargo's output, what goes by the cache folder
/// of the desktop rules (Go, pip, uv, ccache, Zig and many more), and Python's compiled files. Caches of downloads
/// in a home's toolchains are not here: those are shown as they are, and a cold one in their place would need the
/// network.
///
/// Where the tools would build without the variable, commands see the cache as well: what they run from there is what
/// they just built, and not what the disk has there of an older text.
const CACHES: &[Cache] = &[
    Cache {
        variable: "CARGO_TARGET_DIR",
        folder: "cargo",
        instead: Some(("Cargo.toml", "target")),
    },
    Cache { variable: "PYTHONPYCACHEPREFIX", folder: "python", instead: None },
    Cache { variable: "XDG_CACHE_HOME", folder: "xdg", instead: None },
];

/// What tools put into a folder that holds nothing but what they can make again.
const TAG: &str = "CACHEDIR.TAG";

/// The most slots of one set of roots.
const MOST_SLOTS: usize = 8;

/// All slots together may hold so many times what one may.
const ALL: u64 = 4;

/// The list of ever-dirty files in a slot.
const EVER: &str = "ever-dirty.json";

/// What a slot is locked by.
const LOCK: &str = "lock";

/// See the module. Dropping it lets the slot go.
#[derive(Debug)]
pub struct BuildCaches {
    slot: PathBuf,
    all: PathBuf,
    most: u64,
    _lock: File,
}

impl BuildCaches {
    /// Takes the first free slot for these roots under `folder`, which is made for nobody else's eyes. Slots of
    /// any roots that nobody has locked go, the longest unused first, until all together hold at most four times
    /// `most` bytes. Blocking; looks at every file of every slot.
    ///
    /// # Errors
    /// The system's; `ResourceBusy` when all slots of these roots are taken.
    pub fn open(folder: &Path, roots: &[PathBuf], most: u64) -> io::Result<Self> {
        private(folder)?;
        let mut hashed = Vec::new();
        for root in roots {
            hashed.extend_from_slice(root.as_os_str().as_bytes());
            hashed.push(0);
        }
        let hash = format!("{:032x}", ropewalk_workspace::ContentHash::of(&hashed).0);
        for number in 0..MOST_SLOTS {
            let slot = folder.join(format!("{hash}-{number}"));
            let Some(lock) = lock(&slot)? else { continue };
            for cache in CACHES {
                private(&slot.join(cache.folder))?;
            }
            // The time of last use, for who makes room.
            lock.set_modified(SystemTime::now())?;
            let own = Self { slot, all: folder.to_owned(), most, _lock: lock };
            own.make_room()?;
            return Ok(own);
        }
        Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("{MOST_SLOTS} other sessions have the build caches of these folders"),
        ))
    }

    /// The variables that point tools here.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let point =
            |cache: &Cache| (cache.variable.into(), self.slot.join(cache.folder).into_os_string());
        CACHES.iter().map(point).collect()
    }

    /// The folders that commands must be able to write.
    pub fn paths(&self) -> Vec<PathBuf> {
        CACHES.iter().map(|cache| self.slot.join(cache.folder)).collect()
    }

    /// Which of them are seen at which places in the roots of a layer too.
    pub fn seen_at(&self, layer: &Layer) -> Vec<(PathBuf, PathBuf)> {
        let mut all = Vec::new();
        for cache in CACHES {
            let Some((project, place)) = cache.instead else { continue };
            let here = |own: &&Rooted| is_built_in(own, project.as_ref(), place.as_ref());
            let roots = layer.roots.iter().filter(here);
            all.extend(roots.map(|own| (self.slot.join(cache.folder), own.root.join(place))));
        }
        all
    }

    /// The files that builds in this slot have seen with another text than the disk's. If that is not known any
    /// more, what was built goes, and nothing has been seen.
    ///
    /// # Errors
    /// The system's, when what was built can't be removed.
    pub fn ever_dirty(&self) -> io::Result<EverDirty> {
        match EverDirty::load(&self.slot.join(EVER)) {
            Ok(ever) => Ok(ever),
            Err(error) => {
                tracing::warn!(%error, "a build cache's list is broken; the cache is emptied");
                for cache in CACHES {
                    self.empty(cache.folder)?;
                }
                match fs::remove_file(self.slot.join(EVER)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => Ok(EverDirty::default()),
                }
            }
        }
    }

    /// Keeps the list. To be called before a command runs, and after it was collected: a build that the list does
    /// not know of could be taken for fresh.
    ///
    /// # Errors
    /// The system's.
    pub fn keep(&self, ever: &mut EverDirty) -> io::Result<()> {
        ever.save(&self.slot.join(EVER))
    }

    /// Makes room: tools' folders in this slot are emptied, the largest first, until it is within its bound; then
    /// slots that nobody has go. No command of this session may run meanwhile. Blocking.
    ///
    /// # Errors
    /// The system's.
    pub fn make_room(&self) -> io::Result<()> {
        let size = |name: &str| (size_of(&self.slot.join(name)), name.to_owned());
        let mut own: Vec<(u64, String)> = CACHES.iter().map(|cache| size(cache.folder)).collect();
        own.sort_unstable();
        let mut held: u64 = own.iter().map(|(size, _)| size).sum();
        while held > self.most
            && let Some((size, name)) = own.pop()
        {
            self.empty(&name)?;
            held -= size;
        }
        self.drop_others(held)
    }

    fn drop_others(&self, held: u64) -> io::Result<()> {
        let mut others: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.all)? {
            let path = entry?.path();
            if path == self.slot || !path.symlink_metadata()?.is_dir() {
                continue;
            }
            let used = fs::metadata(path.join(LOCK)).and_then(|lock| lock.modified());
            others.push((used.unwrap_or(SystemTime::UNIX_EPOCH), size_of(&path), path));
        }
        others.sort_unstable();
        let mut all = held + others.iter().map(|(_, size, _)| size).sum::<u64>();
        for (_, size, path) in others {
            if all <= self.most.saturating_mul(ALL) {
                break;
            }
            // One that a session has stays; while it is ours nobody takes it.
            if let Some(_lock) = lock(&path)? {
                remove(&self.all, path.file_name().unwrap_or_default())?;
                all -= size;
            }
        }
        Ok(())
    }

    fn empty(&self, name: &str) -> io::Result<()> {
        remove(&self.slot, name.as_ref())?;
        private(&self.slot.join(name))
    }
}

/// Whether a project lies right in a root, as commands see it, and `place` is where it is built: ignored, or said by
/// the tools to be theirs. What can't be looked at is not.
fn is_built_in(own: &Rooted, project: &OsStr, place: &OsStr) -> bool {
    let (Ok(up), Ok(below)) = (Folder::ours(&own.up), Folder::disk(&own.root)) else {
        return false;
    };
    let kind = |folder: &Folder, name: &OsStr| folder.look(name).ok()?.map(|found| found.kind);
    let project = kind(&up, project).or_else(|| kind(&below, project));
    if project != Some(Kind::File) {
        return false;
    }
    let is_tagged = || below.enter(place).is_ok_and(|place| kind(&place, TAG.as_ref()).is_some());
    let mut ignores = Ignores::above(&own.root);
    ignores.enter(&own.root, Some(&up), Some(&below));
    ignores.ignores(place, true) || is_tagged()
}

/// A folder that only its owner may look into, made with those above it.
fn private(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        let what = format!("{} is no folder of ours", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    if found.mode() & 0o077 != 0 {
        let only_ours = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(path, only_ours)?;
    }
    Ok(())
}

/// The lock of a slot, if nobody has it. The slot is made.
fn lock(slot: &Path) -> io::Result<Option<File>> {
    // Somebody who makes room may remove a slot between our opening its lock and taking it.
    for _ in 0..10 {
        private(slot)?;
        let mut options = OpenOptions::new();
        let name = slot.join(LOCK);
        let file = match options.write(true).create(true).truncate(false).mode(0o600).open(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Ok(None),
            locked => locked?,
        }
        let is_there = |found: fs::Metadata| Ok(found.ino() == file.metadata()?.ino());
        match fs::symlink_metadata(&name).and_then(is_there) {
            Ok(true) => return Ok(Some(file)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(None)
}

fn remove(folder: &Path, name: &OsStr) -> io::Result<()> {
    Folder::ours(folder)?.remove(name)
}

/// The bytes of all plain files under a path. What can't be looked at counts as nothing.
fn size_of(path: &Path) -> u64 {
    Folder::ours(path).map_or(0, |folder| size_in(&folder, 0))
}

fn size_in(folder: &Folder, depth: usize) -> u64 {
    let mut size = 0_u64;
    for name in folder.names().unwrap_or_default() {
        let Ok(Some(found)) = folder.look(&name) else { continue };
        if found.kind == Kind::Folder {
            let inner = folder.enter(&name).ok().filter(|_| depth < super::folder::DEEPEST);
            size += inner.map_or(0, |inner| size_in(&inner, depth + 1));
        } else {
            size = size.saturating_add(found.len);
        }
    }
    size
}
