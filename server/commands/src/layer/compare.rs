//! A file or link of a layer's compared with what the view had at its path.
//!
//! Both are read, and the view is told what the disk had. No books are kept here and nothing is decided over several
//! files, so that it may be done on any thread.

use super::MOST_BYTES;
use super::folder::{Folder, Stamp, StampKind};
use ropewalk_text::Text;
use ropewalk_text::decode::{Encoding, FileFormat, decode, encode};
use ropewalk_workspace::view::{DiskRecord, LARGEST_FILE, OverlayContent, OverlayFile};
use ropewalk_workspace::{ContentHash, Place, View};
use std::path::PathBuf;
use std::sync::Arc;

/// A file or link of a layer's that is not as we left it.
pub(super) struct ChangedFile<'env> {
    /// From the root.
    pub(super) path: PathBuf,
    pub(super) place: Place,
    /// The folder in the layer that it is in, and what was seen of it there.
    pub(super) up: Arc<Folder>,
    pub(super) stamp: Stamp,
    /// The same of the disk's file or link at its path, if one is there.
    pub(super) disk: Option<(Stamp, Arc<Folder>)>,
    /// The mode that we left it with.
    pub(super) had_mode: Option<u32>,
    /// The view's own content at its path.
    pub(super) material: Option<&'env OverlayFile>,
}

/// Outcome of comparing one entry of the layer.
pub(super) struct Comparison {
    pub(super) path: PathBuf,
    pub(super) place: Place,
    pub(super) up: Arc<Folder>,
    pub(super) stamp: Stamp,
    pub(super) result: Result<CurrentState, UnknownCause>,
    /// The disk's record at its path, if the merge will ask for it.
    kept: Option<DiskRecord>,
}

/// How a file or link stands now.
pub(super) struct CurrentState {
    pub(super) is: EntryContent,
    /// The new content; None where it is the old one.
    pub(super) becomes: Option<NewContent>,
    /// Its permission bits, where they are others.
    pub(super) mode: Option<u32>,
    /// True if the view had no such file.
    pub(super) is_made: bool,
}

/// Kind of an entry of the layer.
pub(super) enum EntryContent {
    File(ContentId),
    /// Its target.
    Link(PathBuf),
}

/// Why it is not known what a file was or is.
pub(super) enum UnknownCause {
    /// The disk's file changed after the command began.
    Moved,
    /// It can't be read.
    Unreadable,
    /// It is open, and no text in its encoding any more.
    Encoding,
}

/// A file's content, for knowing it under another name.
pub(super) type ContentId = (ContentHash, usize);

/// New content of a file.
pub(super) enum NewContent {
    Text(Text),
    Bytes(Arc<[u8]>),
    Link(PathBuf),
}

/// A file as the view had it.
enum FormerContent {
    Missing,
    Text(Vec<u8>, FileFormat),
    Bytes(Vec<u8>),
    Link(PathBuf),
}

impl FormerContent {
    fn kept(self) -> DiskRecord {
        match self {
            Self::Missing => DiskRecord::Missing,
            Self::Text(bytes, _) | Self::Bytes(bytes) => DiskRecord::Bytes(bytes),
            Self::Link(target) => DiskRecord::Link(target),
        }
    }
}

/// Reads and compares many.
pub(super) fn compare_all(found: Vec<ChangedFile<'_>>, view: &View) -> Vec<Comparison> {
    let mut all: Vec<Comparison> = found.into_iter().map(|found| found.compare(view)).collect();
    // Somebody may save there before it is merged.
    view.keep(all.iter_mut().filter_map(|one| Some((&one.place, one.kept.take()?))));
    all
}

impl ChangedFile<'_> {
    fn compare(self, view: &View) -> Comparison {
        let (result, kept) = match self.stood(view) {
            Ok((stood, kept)) => (Ok(stood), kept),
            Err(why) => (Err(why), None),
        };
        let Self { path, place, up, stamp, .. } = self;
        Comparison { path, place, up, stamp, result, kept }
    }

    fn stood(&self, view: &View) -> Result<(CurrentState, Option<DiskRecord>), UnknownCause> {
        let was = self.was(view)?;
        let stood = match self.stamp.kind {
            StampKind::File => self.file(&was)?,
            _ => self.link(&was)?,
        };
        let is_change = stood.becomes.is_some() || stood.mode.is_some();
        let kept = (self.material.is_none() && is_change).then(|| was.kept());
        Ok((stood, kept))
    }

    fn link(&self, was: &FormerContent) -> Result<CurrentState, UnknownCause> {
        let name = self.path.file_name().ok_or(UnknownCause::Unreadable)?;
        let target = self.up.read_link(name).map_err(|_| UnknownCause::Unreadable)?;
        let is_same = matches!(was, FormerContent::Link(had) if *had == target);
        let becomes = (!is_same).then(|| NewContent::Link(target.clone()));
        Ok(CurrentState { is: EntryContent::Link(target), becomes, mode: None, is_made: false })
    }

    fn file(&self, was: &FormerContent) -> Result<CurrentState, UnknownCause> {
        let name = self.path.file_name().ok_or(UnknownCause::Unreadable)?;
        let bytes = self.up.read_known(name, &self.stamp, MOST_BYTES);
        let bytes = bytes.map_err(|_| UnknownCause::Unreadable)?;
        let content = content_of(&bytes);
        let mode = self.stamp.mode & 0o777;
        let old_mode = self.had_mode.or(self.disk.as_ref().map(|(disk, _)| disk.mode));
        let new_mode = match (was, old_mode) {
            (FormerContent::Missing | FormerContent::Link(_), _) | (_, None) => {
                (mode & 0o111 != 0).then_some(mode)
            }
            (_, Some(old)) => (old & 0o777 != mode).then_some(mode),
        };
        let becomes = match was {
            FormerContent::Text(had, _) | FormerContent::Bytes(had) if *had == bytes => None,
            FormerContent::Text(_, format) => match in_format(&bytes, *format) {
                Some(text) => Some(NewContent::Text(text)),
                None if self.material.is_some_and(|material| material.open) => {
                    return Err(UnknownCause::Encoding);
                }
                None => Some(NewContent::Bytes(bytes.into())),
            },
            FormerContent::Bytes(_) => Some(NewContent::Bytes(bytes.into())),
            FormerContent::Missing | FormerContent::Link(_) => {
                Some(match in_format(&bytes, FileFormat::default()) {
                    Some(text) => NewContent::Text(text),
                    None => NewContent::Bytes(bytes.into()),
                })
            }
        };
        Ok(CurrentState {
            is: EntryContent::File(content),
            becomes,
            mode: new_mode,
            is_made: matches!(was, FormerContent::Missing),
        })
    }

    /// The file as the view had it.
    fn was(&self, view: &View) -> Result<FormerContent, UnknownCause> {
        match self.material.map(|material| &material.stands) {
            Some(OverlayContent::Missing) => return Ok(FormerContent::Missing),
            Some(OverlayContent::Text(text, format)) => {
                return Ok(match encode(text, *format) {
                    Ok(bytes) => FormerContent::Text(bytes, *format),
                    Err(_) => {
                        FormerContent::Text(text.to_string().into_bytes(), FileFormat::default())
                    }
                });
            }
            Some(OverlayContent::Bytes(bytes)) => return Ok(FormerContent::Bytes(bytes.to_vec())),
            Some(OverlayContent::Link(target)) => return Ok(FormerContent::Link(target.clone())),
            Some(OverlayContent::OnDisk(there)) => {
                return elsewhere(view, there).map(of_disk).ok_or(UnknownCause::Unreadable);
            }
            None => {}
        }
        let Some((stamp, below)) = &self.disk else { return Ok(FormerContent::Missing) };
        let name = self.path.file_name().ok_or(UnknownCause::Unreadable)?;
        match stamp.kind {
            StampKind::Link => {
                below.read_link(name).map(FormerContent::Link).map_err(|_| UnknownCause::Unreadable)
            }
            StampKind::File => match below.read_still(name, stamp, LARGEST_FILE) {
                Ok(Some(bytes)) => Ok(of_disk(bytes)),
                Ok(None) => Err(UnknownCause::Moved),
                Err(_) => Err(UnknownCause::Unreadable),
            },
            _ => Ok(FormerContent::Missing),
        }
    }
}

/// The bytes of a file of the disk somewhere in the roots.
pub(super) fn elsewhere(view: &View, there: &Place) -> Option<Vec<u8>> {
    let root = view.roots().iter().find(|root| there.path.starts_with(root.path()))?;
    let inside = there.path.strip_prefix(root.path()).ok()?;
    let folder = Folder::disk(root.path()).ok()?.reach(inside.parent()?).ok()??;
    folder.read(inside.file_name()?, LARGEST_FILE).ok()
}

/// The text of bytes that are in a given format and no other.
fn in_format(bytes: &[u8], format: FileFormat) -> Option<Text> {
    let (text, found) = decode(bytes)?;
    let same = found == format
        // In ISO 8859-1 and in UTF-8 the letters of ASCII are the same.
        || format.encoding == Encoding::Latin1 && bytes.is_ascii();
    same.then_some(text)
}

pub(super) fn content_of(bytes: &[u8]) -> ContentId {
    (ContentHash::of(bytes), bytes.len())
}

fn of_disk(bytes: Vec<u8>) -> FormerContent {
    let has_bom = [b"\xEF\xBB\xBF".as_slice(), b"\xFF\xFE", b"\xFE\xFF"]
        .iter()
        .any(|bom| bytes.starts_with(bom));
    // The usual file is known without building its text.
    let usual = !has_bom && memchr::memchr(0, &bytes).is_none() && str::from_utf8(&bytes).is_ok();
    let format = if usual { Some(FileFormat::default()) } else { decode(&bytes).map(|(_, f)| f) };
    match format {
        Some(format) => FormerContent::Text(bytes, format),
        None => FormerContent::Bytes(bytes),
    }
}
