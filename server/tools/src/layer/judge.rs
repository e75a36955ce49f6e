//! What a changed name in a layer means for the fork: the file as the view had it, compared with what stands now.
//!
//! Deletions and new files with the same content are put together as renames at the end. Nothing is walked here.

use super::collect::Started;
use super::folder::{Folder, Kind, Stamp};
use super::told::{Told, plain};
use super::{Collected, EverDirty, Held, MOST_BYTES, MOST_CHANGES};
use ropewalk_text::Text;
use ropewalk_text::decode::{Encoding, FileFormat, decode, encode};
use ropewalk_workspace::view::{Kept, LARGEST_FILE, Material, Stands};
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

impl Was {
    fn kept(self) -> Kept {
        match self {
            Self::Missing => Kept::Missing,
            Self::Text(bytes, _) | Self::Bytes(bytes) => Kept::Bytes(bytes),
            Self::Link(target) => Kept::Link(target),
        }
    }
}

/// Why that is not known.
enum Unknown {
    /// The disk's file changed after the command began.
    Moved,
    /// It can't be read.
    Unreadable,
}

/// A file's content, for knowing it under another name.
type Content = (ContentHash, usize);

/// What becomes of a file.
enum Becomes {
    Text(Text),
    Bytes(Arc<[u8]>),
    Link(PathBuf),
}

/// A file that the command deleted.
struct Deleted {
    place: Place,
    content: Option<Content>,
}

/// A file that the command made or changed.
struct Changed {
    place: Place,
    /// None where only its mode is another.
    becomes: Option<Becomes>,
    mode: Option<u32>,
    /// Its content, if the view had no such file.
    made: Option<Content>,
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
    /// Of what is proposed.
    bytes: u64,
    /// Of what is deleted, as far as it was read.
    gone_bytes: u64,
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
            gone_bytes: 0,
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
        let Some(place) = self.place(path) else { return false };
        if self.view.open_elsewhere(&place, disk.inode).is_some() {
            self.told.alias.push(plain(path));
            return false;
        }
        let content = match disk.kind {
            Kind::File if self.gone_bytes.saturating_add(disk.len) <= MOST_BYTES => {
                match below.read_still(name, &disk, MOST_BYTES) {
                    Ok(Some(bytes)) => Some(bytes),
                    Ok(None) => {
                        self.told.moved.push(plain(path));
                        return false;
                    }
                    Err(_) => None,
                }
            }
            _ => None,
        };
        let content = content.map(|bytes| {
            self.gone_bytes += bytes.len() as u64;
            let content = content_of(&bytes);
            // Somebody may save there before it is merged.
            self.view.keep(&place, Kept::Bytes(bytes));
            content
        });
        self.delete(place, content);
        true
    }

    fn place(&self, path: &Path) -> Option<Place> {
        self.view.roots().place(self.root.join(path))
    }

    /// What the view has of its own at a path is gone, if it has anything.
    pub(super) fn gone_from_view(&mut self, path: &Path) {
        let content = match self.materials.get(path).map(|material| &material.stands) {
            None | Some(Stands::Missing) => return,
            Some(Stands::Text(text, format)) => {
                encode(text, *format).ok().map(|bytes| content_of(&bytes))
            }
            Some(Stands::Bytes(bytes)) => Some(content_of(bytes)),
            Some(Stands::OnDisk(_) | Stands::Link(_)) => None,
        };
        if let Some(place) = self.place(path) {
            self.delete(place, content);
        }
    }

    fn delete(&mut self, place: Place, content: Option<Content>) {
        if !self.gone.insert(place.path.clone()) {
            return;
        }
        self.ever.saw(&place.path, None, Started::now());
        self.deleted.push(Deleted { place, content });
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
        let Some(place) = self.place(path) else { return Some(Held::Left { stamp }) };
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
                self.ever.saw(&place.path, None, stamp.mtime);
                return None;
            }
            let open = found.and_then(|disk| self.view.open_elsewhere(&place, disk.inode));
            if open.is_some_and(|open| open.dirty && open.moved.is_none()) {
                // The command had the disk's text before it, and not what the user has typed.
                self.told.alias.push(plain(path));
                self.ever.saw(&place.path, None, stamp.mtime);
                return None;
            }
        }
        let left = Some(Held::Left { stamp });
        let is_file = stamp.kind == Kind::File;
        if !self.has_room_for(1) || is_file && self.bytes.saturating_add(stamp.len) > MOST_BYTES {
            self.told.surplus.push(plain(path));
            return left;
        }
        let was = match self.was(path, name, disk) {
            Ok(was) => was,
            Err(Unknown::Moved) => {
                self.told.moved.push(plain(path));
                self.ever.saw(&place.path, None, stamp.mtime);
                return None;
            }
            Err(Unknown::Unreadable) => {
                self.told.unreadable.push(plain(path));
                return left;
            }
        };
        if !is_file {
            let Ok(target) = up.read_link(name) else {
                self.told.unreadable.push(plain(path));
                return left;
            };
            let held = Held::Link { stamp, target: target.clone() };
            if !matches!(&was, Was::Link(had) if *had == target) {
                if !self.has(path) {
                    self.view.keep(&place, was.kept());
                }
                let becomes = Some(Becomes::Link(target));
                self.changed.push(Changed { place, becomes, mode: None, made: None });
            }
            return Some(held);
        }
        let Ok(bytes) = up.read_known(name, &stamp, MOST_BYTES) else {
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
        let becomes = match &was {
            Was::Text(had, _) | Was::Bytes(had) if *had == bytes => None,
            Was::Text(_, format) => match in_format(&bytes, *format) {
                Some(text) => Some(Becomes::Text(text)),
                None if is_open => {
                    self.told.encoding.push(plain(path));
                    self.ever.saw(&place.path, None, stamp.mtime);
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
            self.ever.saw(&place.path, Some(hash), stamp.mtime);
        }
        if becomes.is_some() || new_mode.is_some() {
            if !self.has(path) {
                // Somebody may save there before it is merged.
                self.view.keep(&place, was.kept());
            }
            let made = is_made.then_some((hash, bytes.len()));
            self.changed.push(Changed { place, becomes, mode: new_mode, made });
        }
        Some(held)
    }

    /// The file as the view had it.
    fn was(
        &self,
        path: &Path,
        name: &OsStr,
        disk: Option<(Stamp, &Folder)>,
    ) -> Result<Was, Unknown> {
        match self.materials.get(path).map(|material| &material.stands) {
            Some(Stands::Missing) => return Ok(Was::Missing),
            Some(Stands::Text(text, format)) => {
                return Ok(match encode(text, *format) {
                    Ok(bytes) => Was::Text(bytes, *format),
                    Err(_) => Was::Text(text.to_string().into_bytes(), FileFormat::default()),
                });
            }
            Some(Stands::Bytes(bytes)) => return Ok(Was::Bytes(bytes.to_vec())),
            Some(Stands::Link(target)) => return Ok(Was::Link(target.clone())),
            Some(Stands::OnDisk(there)) => {
                return self.elsewhere(there).map(of_disk).ok_or(Unknown::Unreadable);
            }
            None => {}
        }
        let Some((stamp, below)) = disk else { return Ok(Was::Missing) };
        match stamp.kind {
            Kind::Link => below.read_link(name).map(Was::Link).map_err(|_| Unknown::Unreadable),
            Kind::File => match below.read_still(name, &stamp, LARGEST_FILE) {
                Ok(Some(bytes)) => Ok(of_disk(bytes)),
                Ok(None) => Err(Unknown::Moved),
                Err(_) => Err(Unknown::Unreadable),
            },
            _ => Ok(Was::Missing),
        }
    }

    /// The bytes of a file of the disk somewhere in the roots.
    fn elsewhere(&self, there: &Place) -> Option<Vec<u8>> {
        let roots = self.view.roots();
        let root = roots.iter().find(|root| there.path.starts_with(root.path()))?;
        let inside = there.path.strip_prefix(root.path()).ok()?;
        let folder = Folder::disk(root.path()).ok()?.reach(inside.parent()?).ok()??;
        folder.read(inside.file_name()?, LARGEST_FILE).ok()
    }

    /// The proposals, and the words.
    pub(super) fn finish(self) -> Collected {
        let renames = self.renames();
        let mut proposals = Vec::new();
        let place = |path: &Path| self.view.roots().place(path.to_owned());
        let arrived: HashSet<&PathBuf> = renames.values().collect();
        for Deleted { place: from, .. } in self.deleted {
            let change = match renames.get(&from.path) {
                Some(to) => place(to).map(|to| ProposedChange::Rename { to }),
                None => Some(ProposedChange::Delete),
            };
            proposals.extend(change.map(|change| Proposal { place: from, change }));
        }
        for Changed { place, becomes, mode, .. } in self.changed {
            let change = match becomes {
                Some(_) if arrived.contains(&place.path) => None,
                Some(Becomes::Text(text)) => Some(ProposedChange::Write(text)),
                Some(Becomes::Bytes(bytes)) => Some(ProposedChange::Binary(bytes)),
                Some(Becomes::Link(target)) => Some(ProposedChange::Link(target)),
                None => None,
            };
            let mode = mode.map(ProposedChange::Mode);
            for change in change.into_iter().chain(mode) {
                proposals.push(Proposal { place: place.clone(), change });
            }
        }
        Collected { proposals, told: self.told.words() }
    }

    /// From where to where files went that were deleted and made again with the same content. Those that kept
    /// their file name come first; empty ones are only taken for the same when they did.
    fn renames(&self) -> HashMap<PathBuf, PathBuf> {
        let mut made: HashMap<Content, Vec<&Path>> = HashMap::new();
        for changed in &self.changed {
            if let Some(key) = changed.made {
                made.entry(key).or_default().push(&changed.place.path);
            }
        }
        let mut out = HashMap::new();
        if made.is_empty() {
            return out;
        }
        for same_name in [true, false] {
            for deleted in &self.deleted {
                let (path, Some(key)) = (&deleted.place.path, deleted.content) else { continue };
                if out.contains_key(path) || !same_name && key.1 == 0 {
                    continue;
                }
                let Some(paths) = made.get_mut(&key) else { continue };
                let fits = |to: &&Path| !same_name || to.file_name() == path.file_name();
                if let Some(index) = paths.iter().position(fits) {
                    out.insert(path.clone(), paths.remove(index).to_owned());
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

fn content_of(bytes: &[u8]) -> Content {
    (ContentHash::of(bytes), bytes.len())
}

fn of_disk(bytes: Vec<u8>) -> Was {
    let has_bom = [b"\xEF\xBB\xBF".as_slice(), b"\xFF\xFE", b"\xFE\xFF"]
        .iter()
        .any(|bom| bytes.starts_with(bom));
    // The usual file is known without building its text.
    let usual = !has_bom && memchr::memchr(0, &bytes).is_none() && str::from_utf8(&bytes).is_ok();
    let format = if usual { Some(FileFormat::default()) } else { decode(&bytes).map(|(_, f)| f) };
    match format {
        Some(format) => Was::Text(bytes, format),
        None => Was::Bytes(bytes),
    }
}
