//! Bytes that mostly are text, in messages between processes: paths, arguments, variables, contents of files.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Bytes of any kind: a JSON string where they are UTF-8, else a list of numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct WireText(OsString);

/// The two forms of a [`WireText`].
#[derive(Deserialize)]
#[serde(untagged)]
enum WireForm {
    Text(String),
    Bytes(Vec<u8>),
}

impl Serialize for WireText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => self.0.as_bytes().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WireText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match WireForm::deserialize(deserializer)? {
            WireForm::Text(text) => text.into(),
            WireForm::Bytes(bytes) => OsString::from_vec(bytes),
        }))
    }
}

impl Deref for WireText {
    type Target = OsStr;

    fn deref(&self) -> &OsStr {
        &self.0
    }
}

impl AsRef<OsStr> for WireText {
    fn as_ref(&self) -> &OsStr {
        self
    }
}

impl From<OsString> for WireText {
    fn from(text: OsString) -> Self {
        Self(text)
    }
}

impl From<PathBuf> for WireText {
    fn from(path: PathBuf) -> Self {
        Self(path.into())
    }
}

impl From<Vec<u8>> for WireText {
    fn from(bytes: Vec<u8>) -> Self {
        Self(OsString::from_vec(bytes))
    }
}

impl From<WireText> for OsString {
    fn from(text: WireText) -> Self {
        text.0
    }
}

impl From<WireText> for PathBuf {
    fn from(text: WireText) -> Self {
        text.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_kind_come_back_and_text_is_written_as_text() {
        let all: Vec<u8> = (0..=255).collect();
        for bytes in [&b""[..], b"/a b/\"\xc3\xa9\"\n\0", b"no utf-8: \xff", &all] {
            let written = serde_json::to_string(&WireText::from(bytes.to_vec())).unwrap();
            assert_eq!(written.starts_with('"'), std::str::from_utf8(bytes).is_ok(), "{written}");
            let read: WireText = serde_json::from_str(&written).unwrap();
            assert_eq!(read.as_bytes(), bytes);
        }
    }
}
