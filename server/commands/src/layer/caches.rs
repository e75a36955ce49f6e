//! Build caches: folders on the disk where a session's commands keep build output, one set for each set of roots.
//!
//! They are for commands over the fork alone: output that was built from unsaved text must never lie where a build
//! outside takes it for fresh, and a layer in memory is no place for gigabytes that every session would build anew.
//! Several sessions on the same roots get a slot each, which is locked as long as the values live that come of it: a
//! set of folders for the commands that run one after the other, and one for each in the background, which sees texts
//! of its own. A set keeps the list of [`BuildInputs`] files that it is about, because without it its times mean nothing.
//! The content of a set is the tools' own business.

use super::folder::{Folder, StampKind};
use super::ignores::Ignores;
use super::{BuildInputs, Layer, RootLayer};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

struct Cache {
    /// The variable that points build tools to it.
    variable: &'static str,
    /// Its folder in the set.
    folder: &'static str,
    /// Where they would build without the variable.
    instead: Option<ProjectBuildFolder>,
}

/// A folder that tools build in unless they are pointed elsewhere.
struct ProjectBuildFolder {
    /// The file beside it that makes a project.
    project: &'static str,
    /// The file beside it that says that the project is built by itself, and not as a part of one around it.
    alone: &'static str,
    /// Its name.
    place: &'static str,
}

/// The folders of a set.
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
        instead: Some(ProjectBuildFolder {
            project: "Cargo.toml",
            alone: "Cargo.lock",
            place: "target",
        }),
    },
    Cache { variable: "PYTHONPYCACHEPREFIX", folder: "python", instead: None },
    Cache { variable: "XDG_CACHE_HOME", folder: "xdg", instead: None },
];

/// File that tools put into a folder which they can make again.
const TAG: &str = "CACHEDIR.TAG";

/// The most slots of the same roots.
const MOST_SLOTS: usize = 8;

/// The sets of a slot: the session's own, and one for each command that may run in the background.
const SETS: usize = 1 + crate::MOST_IN_BACKGROUND;

/// The most places besides the roots where a set is seen too.
const MOST_PLACES: usize = 100;

/// All slots together may hold so many times what one may.
const ALL: u64 = 4;

/// Bytes in which the system counts a file's room.
const BLOCK: u64 = 512;

/// The least that a file or folder counts, as while a command runs: nothing but empty ones fill a disk too.
const LEAST: u64 = 4_096;

/// The list of ever-dirty files in a set.
const EVER: &str = "ever-dirty.json";

/// The file in a set that says that a command runs, or that one was never collected.
const RUNS: &str = "runs";

const LOCK: &str = "lock";

/// A set of a slot; see the module. Dropping it lets it go, and the last one the slot.
#[derive(Debug)]
pub struct BuildCaches {
    slot: Arc<Slot>,
    /// Which set; the first is the session's own.
    number: usize,
}

/// A slot that is ours.
#[derive(Debug)]
struct Slot {
    folder: PathBuf,
    /// The folder of all slots.
    all: PathBuf,
    most: u64,
    /// Which sets somebody has.
    taken: Mutex<[bool; SETS]>,
    _lock: File,
}

impl Slot {
    /// The folder of a set.
    fn set(&self, number: usize) -> PathBuf {
        match number {
            0 => self.folder.clone(),
            number => self.folder.join(format!("b{number}")),
        }
    }

    fn take(&self, number: usize, is_taken: bool) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.get_mut(number).is_some_and(|was| std::mem::replace(was, is_taken) != is_taken)
    }
}

impl Drop for BuildCaches {
    fn drop(&mut self) {
        self.slot.take(self.number, false);
    }
}

impl BuildCaches {
    /// Takes the first free slot for these roots under `folder`, which is made for nobody else's eyes, and gives the
    /// session's own set. Slots of any roots that nobody has locked go, the longest unused first, until all together
    /// hold at most four times `most` bytes. Blocking; looks at every file of every slot.
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
            let own = folder.join(format!("{hash}-{number}"));
            let Some(lock) = lock(&own)? else { continue };
            // The time of last use, for who makes room.
            lock.set_modified(SystemTime::now())?;
            let taken = Mutex::new([false; SETS]);
            let (folder, all) = (own, folder.to_owned());
            let slot = Arc::new(Slot { folder, all, most, taken, _lock: lock });
            slot.take(0, true);
            let own = Self { slot, number: 0 };
            for path in own.paths() {
                private(&path)?;
            }
            own.make_room()?;
            return Ok(own);
        }
        Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!("{MOST_SLOTS} other sessions have the build caches of these folders"),
        ))
    }

    /// A set that nobody has, for a command beside others; None when all are taken.
    pub fn another(&self) -> Option<Self> {
        let number = (1..SETS).find(|number| self.slot.take(*number, true))?;
        Some(Self { slot: self.slot.clone(), number })
    }

    /// The variables that point tools here.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let set = self.folder();
        let point = |cache: &Cache| (cache.variable.into(), set.join(cache.folder).into());
        CACHES.iter().map(point).collect()
    }

    /// The folders of all sets of the slot, this session's own first: what commands must be able to write.
    pub fn paths(&self) -> Vec<PathBuf> {
        let sets = (0..SETS).map(|number| self.slot.set(number));
        sets.flat_map(|set| CACHES.iter().map(move |cache| set.join(cache.folder))).collect()
    }

    /// Which of them are seen at which places too, for what a layer shows now: in its roots, and in those of
    /// `projects` that lie in them. Blocking.
    pub fn seen_at(&self, layer: &Layer, projects: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
        let mut all = Vec::new();
        for cache in CACHES {
            let Some(instead) = &cache.instead else { continue };
            for own in &layer.roots {
                let inside = |path: &PathBuf| Some(path.strip_prefix(&own.root).ok()?.to_owned());
                let is_nested = |path: &PathBuf| !path.as_os_str().is_empty();
                let nested = projects.iter().filter_map(inside).filter(is_nested);
                let nested = nested.take(MOST_PLACES);
                let places = built_in(own, std::iter::once(PathBuf::new()).chain(nested), instead);
                all.extend(places.map(|place| (self.folder().join(cache.folder), place)));
            }
        }
        all
    }

    fn folder(&self) -> PathBuf {
        self.slot.set(self.number)
    }

    /// The files that builds in this set have seen with another text than the disk's. If that is not known any
    /// more, what was built goes, and nothing has been seen.
    ///
    /// # Errors
    /// The system's, when what was built can't be removed.
    pub fn ever_dirty(&self) -> io::Result<BuildInputs> {
        let set = self.folder();
        let loaded = match set.join(RUNS).try_exists() {
            Ok(false) => BuildInputs::load(&set.join(EVER)),
            Ok(true) => Err(io::Error::other("a command was killed in it")),
            Err(error) => Err(error),
        };
        loaded.or_else(|error| {
            tracing::warn!(%error, "what a build cache was built from is not known; it is emptied");
            self.forget().map(|()| BuildInputs::default())
        })
    }

    /// Keeps the list, before a command runs and builds. Until [`BuildCaches::ended`] says that the list holds what
    /// it changed, nobody knows what was built from what. So what was built goes when the list can't be kept, or lost
    /// a file that can't be read any more.
    ///
    /// # Errors
    /// The system's.
    pub fn begins(&self, ever: &mut BuildInputs) -> io::Result<()> {
        if ever.take_spoilt() {
            self.forget()?;
        }
        let set = self.folder();
        let kept = ever.save(&set.join(EVER)).and_then(|()| fs::write(set.join(RUNS), ""));
        self.or_forget(kept)
    }

    /// Keeps the list when a command has ended and was collected.
    ///
    /// # Errors
    /// The system's; what was built goes, as before.
    pub fn ended(&self, ever: &mut BuildInputs) -> io::Result<()> {
        let set = self.folder();
        let kept = ever.save(&set.join(EVER)).and_then(|()| gone(&set.join(RUNS)));
        self.or_forget(kept)
    }

    fn or_forget(&self, kept: io::Result<()>) -> io::Result<()> {
        kept.or_else(|error| {
            self.forget()?;
            Err(error)
        })
    }

    /// Removes what was built, then the list.
    fn forget(&self) -> io::Result<()> {
        for cache in CACHES {
            empty(&self.folder().join(cache.folder))?;
        }
        gone(&self.folder().join(EVER))?;
        gone(&self.folder().join(RUNS))
    }

    /// Makes room: tools' folders in the sets of this slot are emptied, the largest first, until it is within its
    /// bound; then slots that nobody has go. No command of this session may run meanwhile. Blocking.
    ///
    /// # Errors
    /// The system's.
    pub fn make_room(&self) -> io::Result<()> {
        let held = self.keep_within()?;
        self.slot.drop_others(held)
    }

    /// The first part of [`BuildCaches::make_room`]; gives the bytes that are left in the slot. Blocking; looks at
    /// every file of it.
    ///
    /// # Errors
    /// The system's.
    pub fn keep_within(&self) -> io::Result<u64> {
        let mut own: Vec<(u64, PathBuf)> =
            self.paths().into_iter().map(|path| (size_of(&path), path)).collect();
        own.sort_unstable();
        let mut held: u64 = own.iter().map(|(size, _)| size).sum();
        while held > self.slot.most
            && let Some((size, path)) = own.pop()
        {
            empty(&path)?;
            held -= size;
        }
        Ok(held)
    }
}

impl Slot {
    fn drop_others(&self, held: u64) -> io::Result<()> {
        let mut others: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.all)? {
            let path = entry?.path();
            if path == self.folder || !path.symlink_metadata()?.is_dir() {
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
            // One that a session has stays; while it is ours nobody takes it. One that can't be removed is no reason
            // to do without a cache.
            let removed = lock(&path).and_then(|lock| {
                let Some(_lock) = lock else { return Ok(false) };
                remove(&path).map(|()| true)
            });
            match removed {
                Ok(true) => all -= size,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "a build cache that nobody uses stays"),
            }
        }
        Ok(())
    }
}

/// Removes a file, if it is there.
fn gone(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Empties a folder, which stays the same one: a sandbox shows it to the commands that come after.
fn empty(path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let folder = Folder::ours(path)?;
        for name in folder.names()? {
            folder.remove(&name)?;
        }
    } else {
        remove(path)?;
    }
    private(path)
}

/// True if a folder with these names in it may be a project that is built in a place of its own.
pub(crate) fn is_project<'a>(names: impl Iterator<Item = &'a OsStr> + Clone) -> bool {
    let has = |wanted: &str| names.clone().any(|name| name == wanted);
    CACHES
        .iter()
        .filter_map(|cache| cache.instead.as_ref())
        .any(|instead| has(instead.project) && (has(instead.place) || has(instead.alone)))
}

/// True if a file makes the folder it is in a project that is built in a cache.
pub(super) fn is_project_file(name: &OsStr) -> bool {
    CACHES.iter().filter_map(|cache| cache.instead.as_ref()).any(|instead| name == instead.project)
}

/// True if a folder beside such a file is the one that is built in.
pub(super) fn is_built_in(name: &OsStr) -> bool {
    CACHES.iter().filter_map(|cache| cache.instead.as_ref()).any(|instead| name == instead.place)
}

/// The places in a root where the projects in these folders are built, as commands see them: ignored, or said by the
/// tools to be theirs. What can't be looked at is not.
fn built_in<'a>(
    own: &'a RootLayer,
    folders: impl Iterator<Item = PathBuf> + 'a,
    instead: &'a ProjectBuildFolder,
) -> impl Iterator<Item = PathBuf> + 'a {
    let mut rules = None;
    folders.filter_map(move |folder| {
        let reach = |top: io::Result<Folder>| top.ok()?.reach(&folder).ok()?;
        let (up, below) = (reach(Folder::ours(&own.up)), reach(Folder::disk(&own.root)));
        let kind = |place: &Option<Folder>, name: &str| {
            Some(place.as_ref()?.look(name.as_ref()).ok()??.kind)
        };
        let project = kind(&up, instead.project).or_else(|| kind(&below, instead.project));
        if project != Some(StampKind::File) {
            return None;
        }
        let rules = rules.get_or_insert_with(|| Ignores::above(&own.root));
        let ignored = rules.ignores_below((&own.root, &own.up), &folder, instead.place.as_ref());
        let is_tagged = || {
            let place = below.as_ref()?.enter(instead.place.as_ref()).ok()?;
            place.look(TAG.as_ref()).ok()?
        };
        (ignored || is_tagged().is_some()).then(|| own.root.join(&folder).join(instead.place))
    })
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

/// Removes whatever stands at a path, a folder with all that is in it.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Folder::ours(folder)?.remove(name)
}

/// The room that all files and folders under a path take on the disk: a block at least, and less than their lengths
/// where they have holes. What can't be looked at counts as nothing.
fn size_of(path: &Path) -> u64 {
    let mut size = 0_u64;
    let looked = Folder::ours(path).and_then(|folder| {
        folder.through(|_, _, found| {
            let blocks = u64::try_from(found.st_blocks).unwrap_or_default();
            size = size.saturating_add(blocks.saturating_mul(BLOCK).max(LEAST));
            Ok(())
        })
    });
    if let Err(error) = looked {
        tracing::warn!(%error, "a build cache may be larger than it seems");
    }
    size
}
