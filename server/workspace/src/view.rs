//! A frozen view: what one tool call sees of the fork, the buffers and the disk.
//!
//! Texts of buffers and of the fork are those of the moment the view was taken; a file of the disk is read
//! at first need and then stays as it was read. A view is never rebased; results made on it are, by `merge`.

mod materials;

pub use materials::{OverlayContent, OverlayFile};

use crate::log::Cursor;
use crate::{ContentHash, DocId};
use ropewalk_files::disk::{self, FileError, FileIdentity};
use ropewalk_files::paths::{Links, PathError, Place, Roots, is_untitled_uri};
use ropewalk_files::repository::Repositories;
use ropewalk_text::Text;
use ropewalk_text::decode::{FileFormat, decode};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The largest file that is read as text, in bytes.
pub const LARGEST_FILE: u64 = 256 << 20;

/// An open buffer as a snapshot has it.
#[derive(Clone, Debug)]
pub struct BufferSnapshot {
    /// Its version.
    pub version: i32,
    /// Its text.
    pub text: Text,
    /// Its place in the document's log.
    pub cursor: Cursor,
    /// The disk's newer text, when the buffer is as it was saved and the disk has moved on.
    pub moved: Option<Text>,
    /// True if it differs from the disk as last read.
    pub dirty: bool,
    /// True if nobody knows what it holds in the editor.
    pub lost: bool,
    /// How its file is encoded on the disk, as last read; the default where there is none.
    pub format: FileFormat,
}

/// All open buffers and the roots at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The buffers.
    pub buffers: HashMap<DocId, BufferSnapshot>,
    /// The roots.
    pub roots: Roots,
    /// A folder outside the roots whose files may be read: the whole outputs of earlier calls.
    pub outputs: Option<Roots>,
    /// The open documents by the file they show, for other names of the same file: the one in use first.
    pub identities: HashMap<FileIdentity, Vec<DocId>>,
}

impl Snapshot {
    /// The open documents that show the same file as this one does, the one in use first. None if it is the only one.
    fn same_file(&self, id: &DocId) -> Option<&[DocId]> {
        let several = self.identities.values().filter(|names| names.len() > 1);
        several.map(Vec::as_slice).find(|names| names.contains(id))
    }
}

/// A file of the fork as a view has it.
#[derive(Clone, Debug)]
pub struct ForkedFile {
    /// Where it lies; None for a buffer without a file.
    pub place: Option<Place>,
    /// Content of the file; None when the fork deleted it.
    pub content: Option<FrozenContent>,
    /// The permission bits that the fork gives it, if it does.
    pub mode: Option<u32>,
    /// The document under it: itself, or the one that it was renamed from.
    pub source: DocId,
    /// True if it goes by another name now: nothing can be put under this one until that is
    /// decided.
    pub away: bool,
    /// True if the disk has a symbolic link at this name.
    pub over_link: bool,
    /// The place in the entry's own history.
    pub cursor: Cursor,
}

impl ForkedFile {
    /// True if a file is there with a content of its own: neither nothing nor a link.
    pub fn is_file(&self) -> bool {
        !matches!(self.content, None | Some(FrozenContent::Link(_)))
    }
}

/// Content of a file of the fork.
#[derive(Clone, Debug)]
pub enum FrozenContent {
    /// Text.
    Text(Text, FileFormat),
    /// Other bytes.
    Bytes(Arc<[u8]>),
    /// The bytes that the disk has at this place, which are no text.
    OnDisk(Place),
    /// A symbolic link with this target.
    Link(PathBuf),
}

/// Where a view's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSource {
    /// The fork: with changes not yet in the user's text.
    Fork,
    /// An open buffer.
    Buffer,
    /// The disk.
    Disk,
}

/// Content of a file in a view.
#[derive(Clone, Debug)]
pub enum FileState {
    /// A text.
    Text {
        /// The text.
        text: Text,
        /// How the file is encoded; the default for a buffer.
        format: FileFormat,
        /// Where it comes from.
        source: TextSource,
    },
    /// Bytes that are no text.
    Binary {
        /// How many.
        len: u64,
    },
    /// No such file.
    Missing,
}

/// A file of the disk as the view read it.
#[derive(Clone, Debug)]
pub enum DiskFile {
    /// A text.
    Text {
        /// Decoded.
        text: Text,
        /// The hash of the bytes.
        hash: ContentHash,
        /// The encoding.
        format: FileFormat,
    },
    /// Other bytes.
    Binary {
        /// The hash of the bytes.
        hash: ContentHash,
        /// How many.
        len: u64,
    },
    /// A symbolic link, where the name itself was asked for.
    Link {
        /// Where it says that it leads.
        target: PathBuf,
    },
    /// No such file.
    Missing,
}

/// Content of the disk at a place.
#[derive(Clone, Debug)]
pub enum DiskRecord {
    /// A file's bytes.
    Bytes(Vec<u8>),
    /// A symbolic link with this target.
    Link(PathBuf),
    /// No file.
    Missing,
}

impl DiskRecord {
    fn into_file(self) -> DiskFile {
        match self {
            Self::Bytes(bytes) => of_bytes(&bytes, ContentHash::of(&bytes)),
            Self::Link(target) => DiskFile::Link { target },
            Self::Missing => DiskFile::Missing,
        }
    }
}

/// The names that the contents of files had before, by the names they have now.
pub(crate) type FormerNames = BTreeMap<DocId, BTreeSet<DocId>>;

/// See the module. What is read by one of its clones is the same for all of them.
#[derive(Clone, Debug, Default)]
pub struct View {
    snapshot: Snapshot,
    entries: BTreeMap<DocId, ForkedFile>,
    /// The links of the fork, and what of the disk it has taken away.
    links: Links,
    read: Arc<Mutex<HashMap<DocId, DiskFile>>>,
    /// By path; it moves to what was read when it is asked for.
    kept: Arc<Mutex<HashMap<OsString, DiskRecord>>>,
    names: Arc<FormerNames>,
    /// Further folders outside the roots whose files may be read.
    readable: Roots,
}

/// The files of the notebooks that these cells are of.
pub(crate) fn notebooks_of<'a>(
    open: impl Iterator<Item = &'a DocId>,
    roots: &Roots,
) -> HashSet<PathBuf> {
    let files = open.filter_map(DocId::notebook);
    files.filter_map(|path| Some(roots.place_of(&path).ok()?.path)).collect()
}

impl View {
    /// A view of a snapshot with a fork's files over it.
    pub fn new(snapshot: Snapshot, entries: BTreeMap<DocId, ForkedFile>) -> Self {
        let mut links = Links::default();
        for frozen in entries.values() {
            let target = match &frozen.content {
                Some(FrozenContent::Link(target)) => Some(target.clone()),
                None => None,
                Some(_) if frozen.over_link => None,
                Some(_) => continue,
            };
            if let Some(place) = &frozen.place {
                links.insert(place.path.clone(), target);
            }
        }
        Self { snapshot, entries, links, ..Self::default() }
    }

    /// The same, with the names that contents of files had before.
    pub(crate) fn with_names(self, names: Arc<FormerNames>) -> Self {
        Self { names, ..self }
    }

    /// The same, in which the files of these folders may be read, by their absolute paths.
    #[must_use]
    pub fn with_readable(self, readable: Roots) -> Self {
        Self { readable, ..self }
    }

    /// Folders outside the roots that may be read, beside the outputs of calls.
    pub fn readable(&self) -> &Roots {
        &self.readable
    }

    /// The places where the content of the file at `place` stood before it was moved in this session, as far as they
    /// are inside the roots.
    pub fn former_places(&self, place: &Place) -> Vec<Place> {
        if self.names.is_empty() {
            return Vec::new();
        }
        let former = self.names.get(&place.doc()).into_iter().flatten();
        former.filter_map(|id| self.roots().place(id.path()?)).collect()
    }

    /// True if the place is in a store of version control, which no tool changes.
    pub fn is_of_store(&self, place: &Place) -> bool {
        let mut known = Repositories::default();
        let there = self.entries.values().filter(|frozen| frozen.content.is_some());
        there.filter_map(|frozen| frozen.place.as_ref()).for_each(|own| known.add(&own.path));
        known.own(place)
    }

    /// True if the place is a notebook's that is open in the editor by its cells.
    pub fn is_open_notebook(&self, place: &Place) -> bool {
        notebooks_of(self.buffers().keys(), self.roots()).contains(&place.path)
    }

    /// A view of these files over the same snapshot.
    pub(crate) fn of_given(&self, entries: BTreeMap<DocId, ForkedFile>) -> View {
        View::new(self.snapshot.clone(), entries)
    }

    /// The same without the fork: what the user has.
    pub fn without_fork(&self) -> View {
        View::new(self.snapshot.clone(), BTreeMap::new())
    }

    /// The links of the fork, and what of the disk it has taken away.
    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// The roots.
    pub fn roots(&self) -> &Roots {
        &self.snapshot.roots
    }

    /// The folder outside the roots whose files may be read.
    pub fn outputs(&self) -> Option<&Roots> {
        self.snapshot.outputs.as_ref()
    }

    /// The buffers.
    pub fn buffers(&self) -> &HashMap<DocId, BufferSnapshot> {
        &self.snapshot.buffers
    }

    /// The fork's files.
    pub fn entries(&self) -> &BTreeMap<DocId, ForkedFile> {
        &self.entries
    }

    /// The place that a tool's `path` names, for reading and writing. Links that the fork has made are followed as
    /// those of the disk are.
    pub fn contain(&self, path: &str) -> Result<Place, PathError> {
        self.snapshot.roots.contain_over(path, &self.links)
    }

    /// The place that a tool's `path` names, which may be an open buffer without a file, by its URI.
    pub fn named(&self, path: &str) -> Result<Place, PathError> {
        if !is_untitled_uri(path) {
            return self.contain(path);
        }
        let id = DocId::from_uri(path);
        let open = Place::of_untitled(&id).filter(|_| self.snapshot.buffers.contains_key(&id));
        open.ok_or_else(|| PathError::NotOpen { uri: path.to_owned() })
    }

    /// The name itself that `path` ends in, and where it leads, if it is a symbolic link: of the fork's or else of the
    /// disk's. None for anything else, and for a path that is not inside.
    pub fn link_named(&self, path: &str) -> Option<(Place, PathBuf)> {
        let (above, name) = match path.rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some(parts) => parts,
            None => (".", path),
        };
        if matches!(name, "" | "." | "..") {
            return None;
        }
        let roots = &self.snapshot.roots;
        let place = roots.place(self.contain(above).ok()?.path.join(name))?;
        // An open document under the name of a link has the text that the link leads to.
        let is_own =
            |frozen: &&ForkedFile| frozen.place.as_ref().is_some_and(|own| own.path == place.path);
        let target = match self.entries.get(&place.doc()).filter(is_own) {
            Some(ForkedFile { content: Some(FrozenContent::Link(target)), .. }) => target.clone(),
            Some(_) => return None,
            None => disk::link(roots, &place).ok()??,
        };
        Some((place, target))
    }

    /// The place that `path` names, for reading: the outputs of earlier calls and [`View::readable`] are too.
    pub fn contain_readable(&self, path: &str) -> Result<(Place, &Roots), PathError> {
        let error = match self.named(path) {
            Ok(place) => return Ok((place, &self.snapshot.roots)),
            Err(error) => error,
        };
        // A relative path is one in the open folders.
        let is_whole = Path::new(path).is_absolute() || path.starts_with("file:");
        let others = self.snapshot.outputs.iter().chain([&self.readable]).filter(|_| is_whole);
        others.filter_map(|roots| Some((roots.contain(path).ok()?, roots))).next().ok_or(error)
    }

    /// Reads the file: the fork's text, else the buffer's, else the disk's.
    pub fn read(&self, place: &Place) -> Result<FileState, FileError> {
        self.read_in(place, &self.snapshot.roots)
    }

    /// The same under other roots, for places of [`View::contain_readable`].
    pub fn read_in(&self, place: &Place, roots: &Roots) -> Result<FileState, FileError> {
        let id = self.id_of(place, roots);
        let source = self.entries.get(&id).map_or(&id, |frozen| &frozen.source);
        if self.snapshot.buffers.get(source).is_some_and(|seen| seen.lost) {
            return Err(FileError::OutOfStep { path: place.shown.clone() });
        }
        if let Some(frozen) = self.entries.get(&id) {
            return Ok(match &frozen.content {
                Some(FrozenContent::Text(text, format)) => FileState::Text {
                    text: text.clone(),
                    format: *format,
                    source: TextSource::Fork,
                },
                Some(FrozenContent::Bytes(bytes)) => FileState::Binary { len: bytes.len() as u64 },
                Some(FrozenContent::OnDisk(place)) => {
                    let there = disk::stat(&self.snapshot.roots, place);
                    FileState::Binary { len: there.map_or(0, |meta| meta.len) }
                }
                Some(FrozenContent::Link(target)) => return self.read_linked(place, target),
                None => FileState::Missing,
            });
        }
        if let Some(seen) = self.snapshot.buffers.get(&id) {
            return Ok(match &seen.moved {
                Some(text) => FileState::Text {
                    text: text.clone(),
                    format: FileFormat::default(),
                    source: TextSource::Disk,
                },
                None => FileState::Text {
                    text: seen.text.clone(),
                    format: FileFormat::default(),
                    source: TextSource::Buffer,
                },
            });
        }
        Ok(match self.disk(place, roots)? {
            DiskFile::Text { text, format, .. } => {
                FileState::Text { text, format, source: TextSource::Disk }
            }
            DiskFile::Binary { len, .. } => FileState::Binary { len },
            DiskFile::Link { .. } => {
                let (path, link) = (place.shown.clone(), place.shown.clone());
                return Err(FileError::BecameLink { path, link });
            }
            DiskFile::Missing => FileState::Missing,
        })
    }

    /// Reads through a link of the fork, if its target is inside.
    fn read_linked(&self, link: &Place, target: &Path) -> Result<FileState, FileError> {
        let leads = |reason: String| FileError::Leads {
            path: link.shown.clone(),
            target: target.display().to_string(),
            reason,
        };
        let roots = &self.snapshot.roots;
        let there = roots.place_over(&link.path, &self.links).map_err(|e| leads(e.to_string()))?;
        if there == *link {
            return Err(leads("it leads to itself".to_owned()));
        }
        self.read_in(&there, roots)
    }

    /// Records the disk's content that results were compared with. `merge` uses it even if the file
    /// was saved since, but not for open files or files of the fork.
    pub fn keep<'a>(&self, found: impl IntoIterator<Item = (&'a Place, DiskRecord)>) {
        if let Ok(mut all) = self.kept.lock() {
            let found = found.into_iter();
            all.extend(found.map(|(place, kept)| (place.path.clone().into_os_string(), kept)));
        }
    }

    /// The open buffer that shows the file at `place`, whose inode number is `inode`, under another name.
    pub fn open_elsewhere(&self, place: &Place, inode: u64) -> Option<&BufferSnapshot> {
        if !self.snapshot.identities.keys().any(|identity| identity.inode == inode) {
            return None;
        }
        let id = self.id_of(place, &self.snapshot.roots);
        self.snapshot.buffers.get(&id).filter(|_| id != place.doc())
    }

    /// The document that `place` is: the open one that shows the same file, whatever its name there. Of several it is the
    /// one in which something is pending, else the one in use.
    pub fn id_of(&self, place: &Place, roots: &Roots) -> DocId {
        let id = place.doc();
        let is_alone =
            || self.snapshot.buffers.contains_key(&id) && self.snapshot.same_file(&id).is_none();
        if self.snapshot.identities.is_empty() || self.entries.contains_key(&id) || is_alone() {
            return id;
        }
        let Ok(identity) = disk::identity(roots, place) else { return id };
        let Some(names) = self.snapshot.identities.get(&identity) else { return id };
        let pending = names.iter().filter(|name| self.entries.contains_key(name));
        let shows = |open: &&DocId| self.still_shows(open, identity);
        pending.chain(names).find(shows).cloned().unwrap_or(id)
    }

    /// True if an open document's file is this one today. A file that was replaced leaves its
    /// identity to be given to any other.
    fn still_shows(&self, open: &DocId, identity: FileIdentity) -> bool {
        let roots = &self.snapshot.roots;
        let place = open.path().and_then(|path| roots.place_of(&path).ok());
        self.snapshot.buffers.contains_key(open)
            && place.is_some_and(|place| disk::identity(roots, &place).ok() == Some(identity))
    }

    /// The disk's file, read once.
    pub(crate) fn disk(&self, place: &Place, roots: &Roots) -> Result<DiskFile, FileError> {
        if self.links.hide(&place.path) {
            return Ok(DiskFile::Missing);
        }
        let id = place.doc();
        let kept = self.kept.lock().ok().and_then(|mut kept| kept.remove(place.path.as_os_str()));
        let file = match (kept, self.cached(&id)) {
            (Some(kept), _) => kept.into_file(),
            (None, Some(file)) => return Ok(file),
            (None, None) => read_file(place, roots)?,
        };
        if let Ok(mut read) = self.read.lock() {
            read.insert(id, file.clone());
        }
        Ok(file)
    }

    fn cached(&self, id: &DocId) -> Option<DiskFile> {
        self.read.lock().ok()?.get(id).cloned()
    }
}

/// A file of the disk, decoded.
pub(crate) fn read_file(place: &Place, roots: &Roots) -> Result<DiskFile, FileError> {
    let read = match disk::read(roots, place, LARGEST_FILE) {
        Ok(read) => read,
        Err(FileError::NotFound { .. }) => return Ok(DiskFile::Missing),
        Err(error @ FileError::BecameLink { .. }) => {
            // The name itself, or a folder above it.
            let target = disk::link(roots, place)?.ok_or(error)?;
            return Ok(DiskFile::Link { target });
        }
        Err(error) => return Err(error),
    };
    Ok(of_bytes(&read.bytes, read.hash))
}

fn of_bytes(bytes: &[u8], hash: ContentHash) -> DiskFile {
    match decode(bytes) {
        Some((text, format)) => DiskFile::Text { text, hash, format },
        None => DiskFile::Binary { hash, len: bytes.len() as u64 },
    }
}
