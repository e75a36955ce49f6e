//! How kept state is written: records, and the spelling of hashes, bytes, paths and changes in them.
//!
//! Nothing is judged here but the spelling; whether a record fits what is kept is `fold`'s business.

use crate::entry::{FileChange, Mark};
use crate::ledger::{FileBefore, Published, PublishedFile};
use crate::note::Note;
use crate::{ContentHash, DocId, HunkId};
use ropewalk_text::decode::{Encoding, FileFormat};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// One thing that has changed, to be written as a line of a journal. Each stands on those before it, and a reader
/// may stop after any of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StateRecord {
    /// All pending changes of a file.
    File(Box<PendingFile>),
    /// Nothing is pending in the file any more.
    FileGone {
        /// The file.
        doc: DocId,
    },
    /// All lines of the ledger on a hunk.
    Published {
        /// The hunk.
        id: HunkId,
        /// Changes of texts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        texts: Vec<Published>,
        /// Changes of files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<PublishedFile>,
    },
    /// The ledger has nothing of the hunk any more.
    Unpublished {
        /// The hunk.
        id: HunkId,
    },
    /// Hunks that the user has decided on since the last such record.
    Decided {
        /// Rejected ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rejected: Vec<HunkId>,
        /// Accepted ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        accepted: Vec<HunkId>,
    },
    /// The names that the content of a file had before it was moved, all of them.
    Names {
        /// The file.
        doc: DocId,
        /// Names that it had before.
        former: Vec<DocId>,
    },
    /// The session's news that the model has not been told yet, all of them.
    News {
        /// The news, oldest first.
        notes: Vec<Note>,
    },
    /// The last ids given, so that none is ever given twice.
    Ids {
        /// The last hunk's.
        hunk: u64,
        /// The last publish's.
        publish: u64,
    },
}

/// Pending changes of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingFile {
    /// The file. Where it lies is made out anew from this when it comes back.
    pub doc: DocId,
    /// How it is named to people.
    pub shown: String,
    /// Base that the user has.
    pub base: BaseState,
    /// The text that the user has.
    pub text: BaseText,
    /// The pending changes of that text, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Edit>,
    /// A mark for each change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// A change of the file itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<(WrittenChange, Mark)>,
    /// Other permission bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<(u32, Mark)>,
    /// The name it had before a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<DocId>,
    /// From the user's text to the disk's newer one, where the pending changes bring it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Vec<Edit>>,
    /// Pending hunks that were published before the editor died unsaved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returned: Vec<Published>,
}

/// A change of a file itself, as records have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WrittenChange {
    /// As it is.
    Change(FileChange),
    /// Permission bits, as records had them when they could not stand beside another change.
    Mode {
        /// The bits.
        mode: u32,
    },
}

/// Base of the pending changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseState {
    /// An open buffer.
    Buffer,
    /// A text file that is not open.
    Disk {
        /// The hash of its bytes.
        #[serde(with = "hash")]
        hash: ContentHash,
        /// How it is encoded.
        #[serde(with = "FormatWire")]
        format: FileFormat,
    },
    /// A file that is no text.
    Binary {
        /// The hash of its bytes.
        #[serde(with = "hash")]
        hash: ContentHash,
    },
    /// A symbolic link.
    Link {
        /// Where it says that it leads.
        #[serde(with = "target")]
        target: PathBuf,
    },
    /// No such file.
    Absent,
}

/// The base's text: whole the first time, then as what has changed since it was last written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseText {
    /// All of it.
    Whole(String),
    /// The changes of the text that was written last for this file, sorted.
    Changed(Vec<Edit>),
}

/// A replaced range, in bytes, and its new text: `[start, end, text]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit(pub usize, pub usize, pub String);

/// True if a file is in UTF-8 and has no byte order mark.
pub(crate) fn is_usual(format: &FileFormat) -> bool {
    *format == FileFormat::default()
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "FileFormat")]
pub(crate) struct FormatWire {
    #[serde(with = "EncodingWire")]
    encoding: Encoding,
    bom: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Encoding", rename_all = "snake_case")]
enum EncodingWire {
    Utf8,
    Utf16Le,
    Utf16Be,
    Latin1,
}

/// A hash as 32 hex digits.
pub mod hash {
    use crate::ContentHash;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes it.
    pub fn serialize<S: Serializer>(hash: &ContentHash, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("{:032x}", hash.0))
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<ContentHash, D::Error> {
        let digits = String::deserialize(d)?;
        u128::from_str_radix(&digits, 16)
            .map(ContentHash)
            .map_err(|_| D::Error::custom("a hash has 32 hex digits"))
    }
}

/// Bytes in base64.
pub(crate) mod bytes {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::sync::Arc;

    pub(crate) fn serialize<S: Serializer>(bytes: &Arc<[u8]>, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Arc<[u8]>, D::Error> {
        let text = String::deserialize(d)?;
        let bytes = BASE64_STANDARD.decode(text).map(Arc::from);
        bytes.map_err(|error| D::Error::custom(format!("bytes are written in base64: {error}")))
    }
}

/// State of a name before a change, as records have it. Old records have only its bytes.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum StoodWire {
    Bytes(#[serde(with = "bytes")] Arc<[u8]>),
    File {
        #[serde(with = "bytes")]
        bytes: Arc<[u8]>,
        #[serde(default)]
        mode: Option<u32>,
    },
    Link {
        #[serde(with = "target")]
        link: PathBuf,
    },
    Mode {
        mode: u32,
    },
}

impl From<StoodWire> for FileBefore {
    fn from(wire: StoodWire) -> Self {
        match wire {
            StoodWire::Bytes(bytes) => FileBefore::File { bytes, mode: None },
            StoodWire::File { bytes, mode } => FileBefore::File { bytes, mode },
            StoodWire::Link { link } => FileBefore::Link { link },
            StoodWire::Mode { mode } => FileBefore::Mode { mode },
        }
    }
}

/// A link's target: as a text where it is one, else its bytes in base64.
pub(crate) mod target {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum LinkTarget {
        Text(String),
        Bytes {
            #[serde(with = "super::bytes")]
            bytes: Arc<[u8]>,
        },
    }

    pub(crate) fn serialize<S: Serializer>(target: &Path, s: S) -> Result<S::Ok, S::Error> {
        let spelled = match target.to_str() {
            Some(text) => LinkTarget::Text(text.to_owned()),
            None => LinkTarget::Bytes { bytes: target.as_os_str().as_encoded_bytes().into() },
        };
        spelled.serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<PathBuf, D::Error> {
        match LinkTarget::deserialize(d)? {
            LinkTarget::Text(text) => Ok(text.into()),
            LinkTarget::Bytes { bytes } => of_bytes(&bytes).map_err(serde::de::Error::custom),
        }
    }

    #[cfg(unix)]
    fn of_bytes(bytes: &[u8]) -> Result<PathBuf, &'static str> {
        use std::os::unix::ffi::OsStrExt as _;
        Ok(std::ffi::OsStr::from_bytes(bytes).into())
    }

    #[cfg(not(unix))]
    fn of_bytes(_: &[u8]) -> Result<PathBuf, &'static str> {
        Err("a link's target that is no text can't be on this system")
    }
}

/// A path as its URI, which can say every name.
pub(crate) mod path {
    use crate::DocId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use std::path::{Path, PathBuf};

    pub(crate) fn serialize<S: Serializer>(path: &Path, s: S) -> Result<S::Ok, S::Error> {
        DocId::from_path(path).serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<PathBuf, D::Error> {
        let id = DocId::deserialize(d)?;
        id.path().ok_or_else(|| D::Error::custom(format!("{id} names no file")))
    }
}
