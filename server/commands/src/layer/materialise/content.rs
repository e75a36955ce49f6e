//! What a file of a layer is to hold.

use super::{Stand, Want, Writer};
use crate::layer::folder::{Kind, Stamp};
use ropewalk_text::decode::encode;
use ropewalk_workspace::ContentHash;
use ropewalk_workspace::view::LARGEST_FILE;
use std::io;
use std::path::PathBuf;

/// What a file is to hold.
pub(super) struct Content {
    pub(super) hash: ContentHash,
    /// None when what stands is known to hold it.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) from: Option<Stamp>,
}

impl Writer<'_> {
    /// What a file is to hold; None when the disk's file that it is to be a copy of is not there.
    ///
    /// # Errors
    /// The system's, when that can't be read, or is too large.
    pub(super) fn content(
        &mut self,
        want: &Want,
        held: Option<(ContentHash, Option<Stamp>)>,
    ) -> io::Result<Option<Content>> {
        let of = |bytes: Vec<u8>, from| {
            Some(Content { hash: ContentHash::of(&bytes), bytes: Some(bytes), from })
        };
        Ok(match &want.stands {
            Stand::Text(text, format) => {
                let bytes = encode(text, *format);
                // A char that the file's encoding has not can't be saved as it is either.
                of(bytes.unwrap_or_else(|_| text.to_string().into_bytes()), None)
            }
            Stand::Bytes(bytes) => of(bytes.to_vec(), None),
            Stand::Disk(source) => {
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
                let Some(found) = folder.look(name)?.filter(|found| found.kind == Kind::File)
                else {
                    return Ok(None);
                };
                match held {
                    Some((hash, Some(from))) if from == found => {
                        Some(Content { hash, bytes: None, from: Some(found) })
                    }
                    _ => of(folder.read(name, LARGEST_FILE)?, Some(found)),
                }
            }
            Stand::Missing | Stand::Link(_) => None,
        })
    }
}
