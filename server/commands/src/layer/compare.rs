//! A file or link of a layer's compared with what the view had at its path.
//!
//! Both are read, and the view is told what the disk had. No books are kept here and nothing is decided over several
//! files, so that it may be done on any thread.

use super::MOST_BYTES;
use super::folder::{Folder, Kind, Stamp};
use ropewalk_text::Text;
use ropewalk_text::decode::{Encoding, FileFormat, decode, encode};
use ropewalk_workspace::view::{Kept, LARGEST_FILE, Material, Stands};
use ropewalk_workspace::{ContentHash, Place, View};
use std::path::PathBuf;
use std::sync::Arc;

/// A file or link of a layer's that is not as we left it.
pub(super) struct Found<'env> {
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
    /// What the view has of its own at its path.
    pub(super) material: Option<&'env Material>,
}

/// What was found of it.
pub(super) struct Compared {
    pub(super) path: PathBuf,
    pub(super) place: Place,
    pub(super) up: Arc<Folder>,
    pub(super) stamp: Stamp,
    pub(super) result: Result<Stood, Unknown>,
    /// What the disk has at its path, if the merge will ask.
    kept: Option<Kept>,
}

/// How a file or link stands now.
pub(super) struct Stood {
    /// What it is.
    pub(super) is: Is,
    /// What it became; None where that is what it was.
    pub(super) becomes: Option<Becomes>,
    /// Its permission bits, where they are others.
    pub(super) mode: Option<u32>,
    /// Whether the view had no such file.
    pub(super) is_made: bool,
}

/// What stands in the layer.
pub(super) enum Is {
    File(Content),
    /// Its target.
    Link(PathBuf),
}

/// Why it is not known what a file was or is.
pub(super) enum Unknown {
    /// The disk's file changed after the command began.
    Moved,
    /// It can't be read.
    Unreadable,
    /// It is open, and no text in its encoding any more.
    Encoding,
}

/// A file's content, for knowing it under another name.
pub(super) type Content = (ContentHash, usize);

/// What becomes of a file.
pub(super) enum Becomes {
    Text(Text),
    Bytes(Arc<[u8]>),
    Link(PathBuf),
}

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

/// Reads and compares many.
pub(super) fn compare_all(found: Vec<Found<'_>>, view: &View) -> Vec<Compared> {
    let mut all: Vec<Compared> = found.into_iter().map(|found| found.compare(view)).collect();
    // Somebody may save there before it is merged.
    view.keep(all.iter_mut().filter_map(|one| Some((&one.place, one.kept.take()?))));
    all
}

impl Found<'_> {
    fn compare(self, view: &View) -> Compared {
        let (result, kept) = match self.stood(view) {
            Ok((stood, kept)) => (Ok(stood), kept),
            Err(why) => (Err(why), None),
        };
        let Self { path, place, up, stamp, .. } = self;
        Compared { path, place, up, stamp, result, kept }
    }

    fn stood(&self, view: &View) -> Result<(Stood, Option<Kept>), Unknown> {
        let was = self.was(view)?;
        let stood = match self.stamp.kind {
            Kind::File => self.file(&was)?,
            _ => self.link(&was)?,
        };
        let is_change = stood.becomes.is_some() || stood.mode.is_some();
        let kept = (self.material.is_none() && is_change).then(|| was.kept());
        Ok((stood, kept))
    }

    fn link(&self, was: &Was) -> Result<Stood, Unknown> {
        let name = self.path.file_name().ok_or(Unknown::Unreadable)?;
        let target = self.up.read_link(name).map_err(|_| Unknown::Unreadable)?;
        let is_same = matches!(was, Was::Link(had) if *had == target);
        let becomes = (!is_same).then(|| Becomes::Link(target.clone()));
        Ok(Stood { is: Is::Link(target), becomes, mode: None, is_made: false })
    }

    fn file(&self, was: &Was) -> Result<Stood, Unknown> {
        let name = self.path.file_name().ok_or(Unknown::Unreadable)?;
        let bytes = self.up.read_known(name, &self.stamp, MOST_BYTES);
        let bytes = bytes.map_err(|_| Unknown::Unreadable)?;
        let content = content_of(&bytes);
        let mode = self.stamp.mode & 0o777;
        let old_mode = self.had_mode.or(self.disk.as_ref().map(|(disk, _)| disk.mode));
        let new_mode = match (was, old_mode) {
            (Was::Missing | Was::Link(_), _) | (_, None) => (mode & 0o111 != 0).then_some(mode),
            (_, Some(old)) => (old & 0o777 != mode).then_some(mode),
        };
        let becomes = match was {
            Was::Text(had, _) | Was::Bytes(had) if *had == bytes => None,
            Was::Text(_, format) => match in_format(&bytes, *format) {
                Some(text) => Some(Becomes::Text(text)),
                None if self.material.is_some_and(|material| material.open) => {
                    return Err(Unknown::Encoding);
                }
                None => Some(Becomes::Bytes(bytes.into())),
            },
            Was::Bytes(_) => Some(Becomes::Bytes(bytes.into())),
            Was::Missing | Was::Link(_) => Some(match in_format(&bytes, FileFormat::default()) {
                Some(text) => Becomes::Text(text),
                None => Becomes::Bytes(bytes.into()),
            }),
        };
        Ok(Stood {
            is: Is::File(content),
            becomes,
            mode: new_mode,
            is_made: matches!(was, Was::Missing),
        })
    }

    /// The file as the view had it.
    fn was(&self, view: &View) -> Result<Was, Unknown> {
        match self.material.map(|material| &material.stands) {
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
                return elsewhere(view, there).map(of_disk).ok_or(Unknown::Unreadable);
            }
            None => {}
        }
        let Some((stamp, below)) = &self.disk else { return Ok(Was::Missing) };
        let name = self.path.file_name().ok_or(Unknown::Unreadable)?;
        match stamp.kind {
            Kind::Link => below.read_link(name).map(Was::Link).map_err(|_| Unknown::Unreadable),
            Kind::File => match below.read_still(name, stamp, LARGEST_FILE) {
                Ok(Some(bytes)) => Ok(of_disk(bytes)),
                Ok(None) => Err(Unknown::Moved),
                Err(_) => Err(Unknown::Unreadable),
            },
            _ => Ok(Was::Missing),
        }
    }
}

/// The bytes of a file of the disk somewhere in the roots.
fn elsewhere(view: &View, there: &Place) -> Option<Vec<u8>> {
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

pub(super) fn content_of(bytes: &[u8]) -> Content {
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
