//! Bundles: the work of one member of a team, on its way from its fork to others.
//!
//! A bundle says of each file what it was made of and what becomes of it, spelled as in the journal. It comes from a
//! [`Branch`](crate::Branch) and is read anywhere, so what is read is judged: [`Bundle::read`] judges what it says of
//! itself, `open` where it would lead among the folders that are open. [`take`] brings one into a fork, all or nothing.
//! Nothing here knows tasks, or where bundles are kept.

mod check;
mod error;
mod make;
mod open;
mod take;

pub use error::{BundleConflict, BundleError, TakeError};
pub use take::take;

use crate::ContentHash;
use crate::state::wire::{self, FormatWire};
use crate::state::{Edit, Private};
use ropewalk_text::decode::FileFormat;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// The format's version. Bundles of another are refused.
pub const VERSION: u32 = 1;

/// The most bytes of a bundle as it is written.
pub const MOST_BYTES: usize = 16 << 20;

/// Work on files, apart from the fork that it was made in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    version: u32,
    files: Vec<BundleFile>,
}

/// Work on one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleFile {
    /// The name of its root.
    root: String,
    /// The path from there, with `/`.
    path: String,
    base: BundleBase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    change: Option<BundleChange>,
    /// Other permission bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    /// Root and path of its new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<(String, String)>,
}

/// Content that a change was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BundleBase {
    Text {
        text: String,
        /// Of the file's bytes.
        #[serde(with = "wire::hash")]
        hash: ContentHash,
        #[serde(with = "FormatWire")]
        format: FileFormat,
    },
    Binary {
        #[serde(with = "wire::hash")]
        hash: ContentHash,
    },
    Link {
        #[serde(with = "wire::target")]
        target: PathBuf,
    },
    Absent,
}

/// A change of a file's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BundleChange {
    /// Edits of the base's text, sorted.
    Edits(Vec<Edit>),
    /// A text where there was none.
    Write(String),
    Delete,
    Binary(#[serde(with = "wire::bytes")] Arc<[u8]>),
    Link(#[serde(with = "wire::target")] PathBuf),
}

/// Files that no bundle carries.
#[derive(Clone, Copy)]
pub struct BundleGuard<'a> {
    /// True of a path, with `/`, whose file may hold secrets.
    pub is_secret: &'a dyn Fn(&str) -> bool,
    /// Finds keys in the content of files.
    pub private: Private<'a>,
}

impl BundleGuard<'_> {
    /// A guard for where nothing is secret and no key is known.
    pub const NONE: BundleGuard<'static> = BundleGuard { is_secret: &|_| false, private: None };
}

impl Bundle {
    /// True if it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The paths of the files that it changes, each as `ROOT/PATH`.
    pub fn paths(&self) -> Vec<String> {
        self.files.iter().map(BundleFile::named).collect()
    }

    /// The bundle as bytes.
    ///
    /// # Errors
    /// [`BundleError::TooLarge`].
    pub fn write(&self) -> Result<Vec<u8>, BundleError> {
        let written = serde_json::to_vec(self);
        let written = written.map_err(|error| BundleError::Malformed { why: error.to_string() })?;
        match written.len() > MOST_BYTES {
            true => Err(BundleError::TooLarge { bytes: written.len() }),
            false => Ok(written),
        }
    }

    /// Reads what [`Bundle::write`] has written, wherever it comes from. O(bytes).
    ///
    /// # Errors
    /// When it is too large, of another version, or does not hold together.
    pub fn read(written: &[u8]) -> Result<Self, BundleError> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        if written.len() > MOST_BYTES {
            return Err(BundleError::TooLarge { bytes: written.len() });
        }
        let malformed =
            |error: serde_json::Error| BundleError::Malformed { why: error.to_string() };
        let Head { version } = serde_json::from_slice(written).map_err(malformed)?;
        if version != VERSION {
            return Err(BundleError::Version { version });
        }
        let bundle: Self = serde_json::from_slice(written).map_err(malformed)?;
        bundle.check()?;
        Ok(bundle)
    }
}

impl BundleFile {
    /// Its name for people.
    fn named(&self) -> String {
        format!("{}/{}", self.root, self.path)
    }
}
