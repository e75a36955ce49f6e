//! Content of a layer's files.

use super::{DemandedContent, PathDemand, Writer};
use crate::layer::folder::{Stamp, StampKind};
use ropewalk_text::decode::encode;
use ropewalk_workspace::ContentHash;
use ropewalk_workspace::view::LARGEST_FILE;
use std::io;
use std::path::PathBuf;

/// Content for a file of the layer.
pub(super) struct LayerContent {
    pub(super) hash: ContentHash,
    /// None when what stands is known to hold it.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) from: Option<Stamp>,
}

impl Writer<'_> {
    /// Content for a wanted file; None when it is to be a copy of a disk's file that is not there.
    ///
    /// # Errors
    /// The system's, when that can't be read, or is too large.
    pub(super) fn content(
        &mut self,
        want: &PathDemand,
        held: Option<(ContentHash, Option<Stamp>)>,
    ) -> io::Result<Option<LayerContent>> {
        let of = |bytes: Vec<u8>, from| {
            Some(LayerContent { hash: ContentHash::of(&bytes), bytes: Some(bytes), from })
        };
        Ok(match &want.stands {
            DemandedContent::Text(text, format) => {
                let bytes = encode(text, *format);
                // A char that the file's encoding has not can't be saved as it is either.
                of(bytes.unwrap_or_else(|_| text.to_string().into_bytes()), None)
            }
            DemandedContent::Bytes(bytes) => of(bytes.to_vec(), None),
            DemandedContent::Disk(source) => {
                let inside =
                    |(root, disk)| Some((source.strip_prefix::<&PathBuf>(root).ok()?, disk));
                let Some((from, disk)) = self.disks.iter().map(|(r, d)| (r, d)).find_map(inside)
                else {
                    return Ok(None);
                };
                let (Some(parent), Some(name)) = (from.parent(), from.file_name()) else {
                    return Ok(None);
                };
                let Some(folder) = disk.reach(parent)? else { return Ok(None) };
                let Some(found) = folder.look(name)?.filter(|found| found.kind == StampKind::File)
                else {
                    return Ok(None);
                };
                match held {
                    Some((hash, Some(from))) if from == found => {
                        Some(LayerContent { hash, bytes: None, from: Some(found) })
                    }
                    _ => of(folder.read(name, LARGEST_FILE)?, Some(found)),
                }
            }
            DemandedContent::Missing | DemandedContent::Link(_) => None,
        })
    }
}
