//! A bundle is made of work in a view.

use super::check::hash_of;
use super::{Bundle, BundleBase, BundleChange, BundleError, BundleFile, BundleGuard, VERSION};
use crate::fork::{Proposal, ProposedChange};
use crate::state::edits;
use crate::view::{DiskFile, ForkedFile, FrozenContent, View};
use crate::{ContentHash, DocId};
use ropewalk_files::disk::FileError;
use ropewalk_files::paths::Place;
use ropewalk_files::repository::is_in_store;
use ropewalk_text::Text;
use ropewalk_text::decode::FileFormat;

impl Bundle {
    /// A bundle of proposals that were made on `view`, and the files that were left out, as they are shown: those that
    /// the guard forbids, version control's own, and those that no other fork could have. Blocking.
    ///
    /// # Errors
    /// When a file that it changes can't be read.
    pub fn of(
        view: &View,
        proposals: &[Proposal],
        guard: BundleGuard<'_>,
    ) -> Result<(Self, Vec<String>), FileError> {
        let mut made: Vec<(&Place, BundleFile)> = Vec::new();
        let mut left_out: Vec<String> = Vec::new();
        for Proposal { place, change } in proposals {
            if left_out.contains(&place.shown) {
                continue;
            }
            let at = made.iter().position(|(own, _)| own.path == place.path);
            let at = match at {
                Some(at) => at,
                None => {
                    let Some((root, path)) = spelled(view, place) else {
                        left_out.push(place.shown.clone());
                        continue;
                    };
                    let base = base_of(view, place)?;
                    let (change, mode, to) = (None, None, None);
                    made.push((place, BundleFile { root, path, base, change, mode, to }));
                    made.len() - 1
                }
            };
            let Some((_, file)) = made.get_mut(at) else { continue };
            let to = change.to().map(|to| spelled(view, to));
            if matches!(to, Some(None)) {
                left_out.push(place.shown.clone());
                continue;
            }
            file.add(change, to.flatten());
        }
        made.retain(|(place, file)| {
            let is_out = left_out.contains(&place.shown) || guard.forbids(file);
            if is_out && !left_out.contains(&place.shown) {
                left_out.push(place.shown.clone());
            }
            !is_out
        });
        let files = made.into_iter().map(|(_, file)| file).collect();
        Ok((Self { version: VERSION, files }, left_out))
    }
}

impl BundleFile {
    fn add(&mut self, change: &ProposedChange, to: Option<(String, String)>) {
        let is_text = matches!(self.base, BundleBase::Text { .. });
        let base = self.base_text();
        self.change = Some(match change {
            ProposedChange::Edit(set) if is_text => BundleChange::Edits(edits(set)),
            ProposedChange::Edit(set) => {
                BundleChange::Write(set.apply(&base).unwrap_or_default().to_string())
            }
            ProposedChange::Write(text) if is_text => {
                BundleChange::Edits(edits(&ropewalk_text::diff(&base, text)))
            }
            ProposedChange::Write(text) => BundleChange::Write(text.to_string()),
            ProposedChange::Delete | ProposedChange::MoveOver { .. } => BundleChange::Delete,
            ProposedChange::Binary(bytes) => BundleChange::Binary(bytes.clone()),
            ProposedChange::Link(target) => BundleChange::Link(target.clone()),
            ProposedChange::Mode(mode) => return self.mode = Some(mode & 0o777),
            ProposedChange::Rename { .. } => return self.to = to,
        });
    }
}

impl BundleGuard<'_> {
    /// True if the file, in what it was or is to be, is one that no bundle carries.
    pub(super) fn forbids(&self, file: &BundleFile) -> bool {
        let paths = [Some(&file.path), file.to.as_ref().map(|(_, path)| path)];
        if paths.into_iter().flatten().any(|path| (self.is_secret)(path)) {
            return true;
        }
        let Some(is_private) = self.private else { return false };
        let texts = [Some(file.base_text()), file.text_after()];
        let of_bytes = match &file.change {
            Some(BundleChange::Binary(bytes)) => is_private(bytes),
            Some(BundleChange::Link(target)) => is_private(target.as_os_str().as_encoded_bytes()),
            _ => false,
        };
        let of_name = paths.into_iter().flatten().any(|path| is_private(path.as_bytes()));
        of_name
            || of_bytes
            || texts.iter().flatten().any(|text| is_private(text.to_string().as_bytes()))
    }

    /// Refuses a file that no bundle carries.
    pub(super) fn check(&self, file: &BundleFile) -> Result<(), BundleError> {
        match self.forbids(file) {
            true => Err(BundleError::Secret { path: file.named() }),
            false => Ok(()),
        }
    }
}

/// A place as root and path. None for what has no root, no name that a text can say, or is version control's own.
fn spelled(view: &View, place: &Place) -> Option<(String, String)> {
    let root = view.roots().get(place.root?)?.name().to_owned();
    let parts: Option<Vec<&str>> = place.relative.iter().map(|part| part.to_str()).collect();
    (!is_in_store(&place.relative)).then_some((root, parts?.join("/")))
}

/// Gives the base that a bundle names for a place: the view's text, bytes, link or nothing.
pub(super) fn base_of(view: &View, place: &Place) -> Result<BundleBase, FileError> {
    let id = view.id_of(place, view.roots());
    let format = format_of(view, &id);
    let text = |text: &Text, format: FileFormat| BundleBase::Text {
        text: text.to_string(),
        hash: hash_of(text, format),
        format,
    };
    if let Some(ForkedFile { content, .. }) = view.entries().get(&id) {
        return match content {
            Some(FrozenContent::Text(own, known)) => Ok(text(own, format.unwrap_or(*known))),
            Some(FrozenContent::Bytes(bytes)) if bytes.is_empty() => {
                Ok(text(&Text::default(), FileFormat::default()))
            }
            Some(FrozenContent::Bytes(bytes)) => {
                Ok(BundleBase::Binary { hash: ContentHash::of(bytes) })
            }
            Some(FrozenContent::OnDisk(place)) => on_disk(view, place),
            Some(FrozenContent::Link(target)) => Ok(BundleBase::Link { target: target.clone() }),
            None => Ok(BundleBase::Absent),
        };
    }
    if let Some(seen) = view.buffers().get(&id) {
        return Ok(text(seen.moved.as_ref().unwrap_or(&seen.text), seen.format));
    }
    on_disk(view, place)
}

/// The format of an open file.
fn format_of(view: &View, id: &DocId) -> Option<FileFormat> {
    view.buffers().get(id).map(|seen| seen.format)
}

fn on_disk(view: &View, place: &Place) -> Result<BundleBase, FileError> {
    Ok(match view.disk(place, view.roots())? {
        DiskFile::Text { text, hash, format } => {
            BundleBase::Text { text: text.to_string(), hash, format }
        }
        DiskFile::Binary { hash, .. } => BundleBase::Binary { hash },
        DiskFile::Link { target } => BundleBase::Link { target },
        DiskFile::Missing => BundleBase::Absent,
    })
}
