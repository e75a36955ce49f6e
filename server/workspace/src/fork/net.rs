//! The net change of a fork: each file as the user has it, and as it would be if all were accepted. In bytes.

use super::{Fork, ForkFile, base_of};
use crate::entry::{Base, Entry, FileChange};
use crate::view::LARGEST_FILE;
use crate::workspace::Workspace;
use crate::{ContentHash, DocId};
use ropewalk_files::disk;
use ropewalk_files::paths::Place;
use ropewalk_text::Text;
use ropewalk_text::decode::{FileFormat, encode};
use std::path::Path;
use std::sync::Arc;

/// Permission bits of a file that is made without a word about them.
const USUAL_MODE: u32 = 0o644;

/// One name before and after. Of a rename, `old` lies at another place than `new`.
#[derive(Debug)]
pub(crate) struct NetChange {
    pub(crate) old: Option<Side>,
    pub(crate) new: Option<Side>,
    /// Permission bits that were asked for.
    pub(crate) mode: Option<u32>,
}

/// A file on one side of a change.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) place: Place,
    pub(crate) content: NetContent,
    /// Permission bits, such as `0o755`; those of a link mean nothing.
    pub(crate) mode: u32,
}

/// All that stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NetContent {
    File(Arc<[u8]>),
    /// The target of a link.
    Link(Arc<[u8]>),
}

impl Fork {
    /// The net changes in the order of names, on the base as of the last sync, and why files are left out: the file as
    /// it is shown, and a sentence. Reads the disk for bytes that are no text.
    pub(crate) fn net(&self, workspace: &Workspace) -> (Vec<NetChange>, Vec<(String, String)>) {
        let (mut out, mut left_out) = (Vec::new(), Vec::new());
        for (id, file) in &self.files {
            // A rename is told under its new name.
            if file.entry.is_empty() || matches!(file.entry.file, Some((FileChange::Away, _))) {
                continue;
            }
            match self.net_of(workspace, id, file) {
                Ok(net) => out.push(net),
                Err(why) => left_out.push((file.shown.clone(), why)),
            }
        }
        (out, left_out)
    }

    fn net_of(
        &self,
        workspace: &Workspace,
        id: &DocId,
        file: &ForkFile,
    ) -> Result<NetChange, String> {
        let entry = &file.entry;
        let place = file.place.clone().filter(|place| !place.is_untitled());
        let place = place.ok_or("it is a buffer without a file")?;
        let source = self.files.get(base_of(id, entry)).and_then(|left| left.place.clone());
        let source = source.unwrap_or_else(|| place.clone());
        let old = content_before(workspace, &source, &entry.base)?;
        let new = content_after(entry, old.as_ref())?;
        let there = disk::stat(&workspace.roots(), &source).map(|meta| meta.mode & 0o777);
        let before = there.unwrap_or(USUAL_MODE);
        let mode = entry.mode.as_ref().map(|(mode, _)| *mode);
        let side = |content, place, mode| Side { place, content, mode };
        // A file in the place of a link is a new one.
        let is_kept =
            matches!((&old, &new), (Some(NetContent::File(_)), Some(NetContent::File(_))));
        let after = mode.unwrap_or(if is_kept { before } else { USUAL_MODE });
        Ok(NetChange {
            old: old.map(|content| side(content, source, before)),
            new: new.map(|content| side(content, place, after)),
            mode,
        })
    }
}

/// Reads the user's content of a file: the buffer's or the disk's.
fn content_before(
    workspace: &Workspace,
    place: &Place,
    base: &Base,
) -> Result<Option<NetContent>, String> {
    Ok(match base {
        Base::Absent => None,
        Base::Link { target } => Some(NetContent::Link(target_bytes(target))),
        Base::Disk { text, format, .. } => Some(NetContent::File(encoded(text, *format)?)),
        Base::Buffer { text, .. } => Some(NetContent::File(encoded(text, FileFormat::default())?)),
        Base::Binary { hash } => {
            let read = disk::read(&workspace.roots(), place, LARGEST_FILE);
            let bytes = read.map_err(|error| error.to_string())?.bytes;
            if ContentHash::of(&bytes) != *hash {
                return Err("it has changed on the disk meanwhile".to_owned());
            }
            Some(NetContent::File(bytes.into()))
        }
    })
}

/// Content that would be there if all were accepted; `old` is the user's.
fn content_after(entry: &Entry, old: Option<&NetContent>) -> Result<Option<NetContent>, String> {
    let format = match &entry.base {
        Base::Disk { format, .. } => *format,
        _ => FileFormat::default(),
    };
    Ok(match &entry.file {
        Some((FileChange::Delete | FileChange::Away, _)) => None,
        Some((FileChange::Binary(bytes), _)) => Some(NetContent::File(bytes.clone())),
        Some((FileChange::Link(target), _)) => Some(NetContent::Link(target_bytes(target))),
        Some((FileChange::Rename { .. }, _)) | None if entry.set().is_empty() => old.cloned(),
        Some((FileChange::Rename { .. }, _)) | None => {
            Some(NetContent::File(encoded(entry.text(), format)?))
        }
    })
}

fn encoded(text: &Text, format: FileFormat) -> Result<Arc<[u8]>, String> {
    encode(text, format).map(Into::into).map_err(|error| error.to_string())
}

fn target_bytes(target: &Path) -> Arc<[u8]> {
    target.as_os_str().as_encoded_bytes().into()
}
