//! What a changed name in a layer means for the fork: the file as the view had it, compared with what stands now.
//!
//! Deletions and new files with the same content are put together as renames at the end. Nothing is walked here.

use super::collect::Started;
use super::folder::{Folder, Kind, Stamp};
use super::told::{Told, plain};
use super::{Collected, EverDirty, Held, MOST_BYTES, MOST_CHANGES};
use ropewalk_text::Text;
use ropewalk_text::decode::{Encoding, FileFormat, decode, encode};
use ropewalk_workspace::view::{LARGEST_FILE, Material, Stands};
use ropewalk_workspace::{ContentHash, Place, Proposal, ProposedChange, View};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file as the view had it.
enum Was {
    Missing,
    Text(Vec<u8>, FileFormat),
    Bytes(Vec<u8>),
    Link(PathBuf),
}

/// What becomes of a file.
enum Becomes {
    Text(Text),
    Bytes(Arc<[u8]>),
    Link(PathBuf),
}

/// A file that the command deleted.
struct Deleted {
    path: PathBuf,
    bytes: Option<Vec<u8>>,
}

/// A file that the command made or changed.
struct Changed {
    path: PathBuf,
    /// None where only its mode is another.
    becomes: Option<Becomes>,
    mode: Option<u32>,
    /// Whether the view had no such file, and the hash and length of its bytes if so.
    made: Option<(ContentHash, usize)>,
}

/// See the module.
pub(super) struct Judge<'a> {
    view: &'a View,
    ever: &'a mut EverDirty,
    started: Started,
    root: PathBuf,
    materials: HashMap<PathBuf, Material>,
    deleted: Vec<Deleted>,
    /// The same, for asking.
    gone: HashSet<PathBuf>,
    changed: Vec<Changed>,
    bytes: u64,
    pub(super) told: Told,
}

impl<'a> Judge<'a> {
    pub(super) fn new(view: &'a View, ever: &'a mut EverDirty, started: Started) -> Self {
        Self {
            view,
            ever,
            started,
            root: PathBuf::new(),
            materials: HashMap::new(),
            deleted: Vec::new(),
            gone: HashSet::new(),
            changed: Vec::new(),
            bytes: 0,
            told: Told::default(),
        }
    }

    /// Goes on with another root, and what the view has of its own there.
    pub(super) fn enter(&mut self, root: &Path, materials: HashMap<PathBuf, Material>) {
        self.root = root.to_owned();
        self.materials = materials;
    }

    /// Whether the view has something of its own at a path.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.materials.contains_key(path)
    }

    /// Whether something on the disk changed after the command began.
    pub(super) fn is_since(&self, disk: &Stamp) -> bool {
        disk.ctime >= self.started
    }

    /// Whether so many more changes become proposals.
    pub(super) fn has_room_for(&self, more: usize) -> bool {
        self.deleted.len() + self.changed.len() + more <= MOST_CHANGES
    }

    /// A file or link of the disk's is gone. False when that is not to be: it changed meanwhile.
    pub(super) fn gone(
        &mut self,
        path: &Path,
        disk: Stamp,
        (below, name): (&Folder, &OsStr),
    ) -> bool {
        if self.has(path) {
            self.gone_from_view(path);
            return true;
        }
        if self.is_since(&disk) {
            self.told.moved.push(plain(path));
            return false;
        }
        let is_file = disk.kind == Kind::File && disk.len <= MOST_BYTES;
        let bytes = if is_file { below.read(name, MOST_BYTES).ok() } else { None };
        self.delete(path, bytes);
        true
    }

    /// What the view has of its own at a path is gone, if it has anything.
    pub(super) fn gone_from_view(&mut self, path: &Path) {
        let bytes = match self.materials.get(path).map(|material| &material.stands) {
            None | Some(Stands::Missing) => return,
            Some(Stands::Text(text, format)) => encode(text, *format).ok(),
            Some(Stands::Bytes(bytes)) => Some(bytes.to_vec()),
            Some(Stands::OnDisk(_) | Stands::Link(_)) => None,
        };
        self.delete(path, bytes);
    }

    fn delete(&mut self, path: &Path, bytes: Option<Vec<u8>>) {
        let path = self.root.join(path);
        if !self.gone.insert(path.clone()) {
            return;
        }
        self.ever.saw(&path, None, Started::now());
        self.deleted.push(Deleted { path, bytes });
    }

    /// A file or link stands that is not as we left it. What is to be held of it; None when it is to go.
    pub(super) fn stands(
        &mut self,
        path: &Path,
        (up, name): (&Folder, &OsStr),
        stamp: Stamp,
        disk: Option<(Stamp, &Folder)>,
        (from, had_mode, is_moving): (Option<Stamp>, Option<u32>, bool),
    ) -> Option<Held> {
        let found = disk.map(|(stamp, _)| stamp);
        let full = self.root.join(path);
        if !self.has(path) {
            let moved = match (from, found) {
                (Some(from), found) => found != Some(from),
                (None, Some(found)) => self.is_since(&found),
                // It was copied up from the disk, and is not there: gone meanwhile, unless the command gave it
                // this name; then no name has gone from the disk's folder.
                (None, None) => is_moving && up.was_copied_up(name),
            };
            if moved {
                self.told.moved.push(plain(path));
                self.ever.saw(&full, None, stamp.mtime);
                return None;
            }
        }
        let left = Some(Held::Left { stamp });
        let is_file = stamp.kind == Kind::File;
        if !self.has_room_for(1) || is_file && self.bytes.saturating_add(stamp.len) > MOST_BYTES {
            self.told.surplus.push(plain(path));
            return left;
        }
        let Some(was) = self.was(path, name, disk) else {
            self.told.unreadable.push(plain(path));
            return left;
        };
        if !is_file {
            let Ok(target) = up.read_link(name) else {
                self.told.unreadable.push(plain(path));
                return left;
            };
            let held = Held::Link { stamp, target: target.clone() };
            if !matches!(&was, Was::Link(had) if *had == target) {
                let becomes = Some(Becomes::Link(target));
                self.changed.push(Changed { path: full, becomes, mode: None, made: None });
            }
            return Some(held);
        }
        let Ok(bytes) = up.read(name, MOST_BYTES) else {
            self.told.unreadable.push(plain(path));
            return left;
        };
        let hash = ContentHash::of(&bytes);
        let held = Held::File { stamp, hash: Some(hash), from: None };
        let mode = stamp.mode & 0o777;
        let old_mode = had_mode.or(found.map(|found| found.mode)).map(|mode| mode & 0o777);
        let new_mode = match (&was, old_mode) {
            (Was::Missing | Was::Link(_), _) | (_, None) => (mode & 0o111 != 0).then_some(mode),
            (_, Some(old)) => (old != mode).then_some(mode),
        };
        let is_made = matches!(was, Was::Missing);
        let is_open = self.materials.get(path).is_some_and(|material| material.open);
        let becomes = match was {
            Was::Text(had, _) | Was::Bytes(had) if had == bytes => None,
            Was::Text(_, format) => match in_format(&bytes, format) {
                Some(text) => Some(Becomes::Text(text)),
                None if is_open => {
                    self.told.encoding.push(plain(path));
                    self.ever.saw(&full, None, stamp.mtime);
                    return None;
                }
                None => Some(Becomes::Bytes(bytes.as_slice().into())),
            },
            Was::Bytes(_) => Some(Becomes::Bytes(bytes.as_slice().into())),
            Was::Missing | Was::Link(_) => Some(match in_format(&bytes, FileFormat::default()) {
                Some(text) => Becomes::Text(text),
                None => Becomes::Bytes(bytes.as_slice().into()),
            }),
        };
        if becomes.is_some() {
            self.bytes += bytes.len() as u64;
            self.ever.saw(&full, Some(hash), stamp.mtime);
        }
        if becomes.is_some() || new_mode.is_some() {
            let made = is_made.then_some((hash, bytes.len()));
            self.changed.push(Changed { path: full, becomes, mode: new_mode, made });
        }
        Some(held)
    }

    /// The file as the view had it; None when that can't be read.
    fn was(&self, path: &Path, name: &OsStr, disk: Option<(Stamp, &Folder)>) -> Option<Was> {
        match self.materials.get(path).map(|material| &material.stands) {
            Some(Stands::Missing) => return Some(Was::Missing),
            Some(Stands::Text(text, format)) => {
                let bytes = encode(text, *format);
                return Some(match bytes {
                    Ok(bytes) => Was::Text(bytes, *format),
                    Err(_) => Was::Text(text.to_string().into_bytes(), FileFormat::default()),
                });
            }
            Some(Stands::Bytes(bytes)) => return Some(Was::Bytes(bytes.to_vec())),
            Some(Stands::Link(target)) => return Some(Was::Link(target.clone())),
            Some(Stands::OnDisk(place)) => {
                let parent = Folder::open(place.path.parent()?).ok()?;
                return Some(of_disk(parent.read(place.path.file_name()?, LARGEST_FILE).ok()?));
            }
            None => {}
        }
        let Some((stamp, below)) = disk else { return Some(Was::Missing) };
        match stamp.kind {
            Kind::Link => Some(Was::Link(below.read_link(name).ok()?)),
            Kind::File => Some(of_disk(below.read(name, LARGEST_FILE).ok()?)),
            _ => Some(Was::Missing),
        }
    }

    /// The proposals, and the words.
    pub(super) fn finish(mut self) -> Collected {
        let renames = self.renames();
        let mut proposals = Vec::new();
        let place = |path: &Path| self.view.roots().place(path.to_owned());
        let mut say = |place: Option<Place>, change| {
            if let Some(place) = place {
                proposals.push(Proposal { place, change });
            }
        };
        for deleted in &self.deleted {
            match renames.get(&deleted.path) {
                Some(to) => {
                    if let Some(to) = place(to) {
                        say(place(&deleted.path), ProposedChange::Rename { to });
                    }
                }
                None => say(place(&deleted.path), ProposedChange::Delete),
            }
        }
        let arrived: Vec<&PathBuf> = renames.values().collect();
        for changed in &self.changed {
            let change = match &changed.becomes {
                Some(_) if arrived.contains(&&changed.path) => None,
                Some(Becomes::Text(text)) => Some(ProposedChange::Write(text.clone())),
                Some(Becomes::Bytes(bytes)) => Some(ProposedChange::Binary(bytes.clone())),
                Some(Becomes::Link(target)) => Some(ProposedChange::Link(target.clone())),
                None => None,
            };
            if let Some(change) = change {
                say(place(&changed.path), change);
            }
            if let Some(mode) = changed.mode {
                say(place(&changed.path), ProposedChange::Mode(mode));
            }
        }
        Collected { proposals, told: self.told.words() }
    }

    /// From where to where files went that were deleted and made again with the same content. Those that kept
    /// their file name come first; empty ones are only taken for the same when they did.
    fn renames(&mut self) -> HashMap<PathBuf, PathBuf> {
        let mut made: HashMap<(ContentHash, usize), Vec<&Path>> = HashMap::new();
        for changed in &self.changed {
            if let Some(key) = changed.made {
                made.entry(key).or_default().push(&changed.path);
            }
        }
        let mut out = HashMap::new();
        if made.is_empty() {
            return out;
        }
        for same_name in [true, false] {
            for deleted in &self.deleted {
                let Some(bytes) = &deleted.bytes else { continue };
                if out.contains_key(&deleted.path) || !same_name && bytes.is_empty() {
                    continue;
                }
                let key = (ContentHash::of(bytes), bytes.len());
                let Some(paths) = made.get_mut(&key) else { continue };
                let fits = |to: &&Path| !same_name || to.file_name() == deleted.path.file_name();
                if let Some(index) = paths.iter().position(fits) {
                    out.insert(deleted.path.clone(), paths.remove(index).to_owned());
                }
            }
        }
        out
    }
}

/// The text of bytes that are in a given format and no other.
fn in_format(bytes: &[u8], format: FileFormat) -> Option<Text> {
    let (text, found) = decode(bytes)?;
    let same = found == format
        // In ISO 8859-1 and in UTF-8 the letters of ASCII are the same.
        || format.encoding == Encoding::Latin1 && bytes.is_ascii();
    same.then_some(text)
}

fn of_disk(bytes: Vec<u8>) -> Was {
    match decode(&bytes) {
        Some((_, format)) => Was::Text(bytes, format),
        None => Was::Bytes(bytes),
    }
}
