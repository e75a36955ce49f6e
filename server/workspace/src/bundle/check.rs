//! Checks of a bundle's own claims: texts against their hashes, edits against their texts, paths by
//! their names.

use super::{Bundle, BundleBase, BundleChange, BundleError, BundleFile};
use crate::ContentHash;
use crate::state::fitting;
use ropewalk_files::repository::is_in_store;
use ropewalk_text::decode::{FileFormat, encode};
use ropewalk_text::{ChangeSet, Text};
use std::collections::HashSet;
use std::path::Path;

/// The hash that a file with this text has. A text that the format can't say is hashed as it is.
pub(super) fn hash_of(text: &Text, format: FileFormat) -> ContentHash {
    encode(text, format).map_or_else(|_| text.hash(), |bytes| ContentHash::of(&bytes))
}

impl Bundle {
    /// Judges what can be judged without any folder.
    pub(super) fn check(&self) -> Result<(), BundleError> {
        let mut names = HashSet::new();
        for file in &self.files {
            let own = (file.root.as_str(), file.path.as_str());
            let to = file.to.as_ref().map(|(root, path)| (root.as_str(), path.as_str()));
            for (root, path) in [Some(own), to].into_iter().flatten() {
                check_path(path)?;
                if !names.insert((root, path)) {
                    return Err(BundleError::Twice { path: path.to_owned() });
                }
            }
            file.check()?;
        }
        Ok(())
    }
}

/// Judges a path by its name alone.
fn check_path(path: &str) -> Result<(), BundleError> {
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    if path.contains('\0') || !path.split('/').all(plain) {
        return Err(BundleError::Escapes { path: path.replace('\0', "\\0") });
    }
    match is_in_store(Path::new(path)) {
        true => Err(BundleError::OfStore { path: path.to_owned() }),
        false => Ok(()),
    }
}

impl BundleFile {
    fn check(&self) -> Result<(), BundleError> {
        let path = || self.path.clone();
        if let BundleBase::Text { text, hash, format } = &self.base
            && hash_of(&Text::from(text.as_str()), *format) != *hash
        {
            return Err(BundleError::WrongHash { path: path() });
        }
        let is_absent = self.base == BundleBase::Absent;
        let is_fit = match &self.change {
            Some(BundleChange::Edits(_)) => matches!(self.base, BundleBase::Text { .. }),
            Some(BundleChange::Write(_)) => !matches!(self.base, BundleBase::Text { .. }),
            Some(BundleChange::Delete) => !is_absent && self.mode.is_none() && self.to.is_none(),
            Some(BundleChange::Binary(_) | BundleChange::Link(_)) => true,
            None => !is_absent && (self.mode.is_some() || self.to.is_some()),
        };
        if !is_fit || is_absent && self.to.is_some() || self.mode.is_some_and(|mode| mode > 0o777) {
            return Err(BundleError::Unfit { path: path() });
        }
        self.edits().map(drop)
    }

    /// The base's text; empty where it has none.
    pub(super) fn base_text(&self) -> Text {
        match &self.base {
            BundleBase::Text { text, .. } => Text::from(text.as_str()),
            _ => Text::default(),
        }
    }

    /// The edits as a change of the base's text, if they are that.
    pub(super) fn edits(&self) -> Result<Option<ChangeSet>, BundleError> {
        let Some(BundleChange::Edits(edits)) = &self.change else { return Ok(None) };
        let set = fitting(edits.clone(), &self.base_text()).map_err(|edit| {
            let (start, end, len) = (edit.start, edit.end, edit.len);
            BundleError::Misplaced { path: self.path.clone(), start, end, len }
        });
        set.map(Some)
    }

    /// The text that the file is to have, if it is to have one.
    pub(super) fn text_after(&self) -> Option<Text> {
        let base = self.base_text();
        match &self.change {
            Some(BundleChange::Edits(_)) => self.edits().ok()??.apply(&base).ok(),
            Some(BundleChange::Write(text)) => Some(Text::from(text.as_str())),
            None if matches!(self.base, BundleBase::Text { .. }) => Some(base),
            _ => None,
        }
    }
}
