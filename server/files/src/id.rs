//! The one name of a document: [`DocId`], made from the editor's URI or from a path.
//!
//! Two spellings of one place (`file:///a%20b`, `FILE://localhost/x/../a b`) give one id. No file
//! is looked at here: links and hard links lead to different ids, which [`crate::disk::identity`]
//! tells apart, and [`crate::paths::Roots`] says whether a path may be touched at all.
//!
//! Rules, where RFC 3986 and RFC 8089 leave a choice:
//! - Escapes are decoded once, then dot segments and doubled slashes go. An escaped slash (`%2F`)
//!   is a separator, as in the editors: no file name can hold one.
//! - A `%` that no two hex digits follow stands for itself.
//! - `file:///c:/`, `c%3A` and `C:` are one drive, written `C:`. The host `localhost` is dropped,
//!   any other host is kept (a Windows share).
//! - Escapes that are not UTF-8 are kept as bytes; they name a file where names are bytes (Unix).
//! - What names no file is kept whole and has no path: other schemes, a file URI with a query or a
//!   fragment, with an escaped NUL, or without a leading slash. Only its scheme is put in lower case, and
//!   what no URI holds unescaped (spaces, control characters, all beyond ASCII) is escaped.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A document's name: a URI in canonical spelling. Cheap to clone; equal when the spelling is.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocId(Arc<str>);

impl DocId {
    /// The id of the document an editor calls `uri`. Any string gives an id. O(n).
    pub fn from_uri(uri: &str) -> Self {
        if is_plainly_canonical(uri) { Self(uri.into()) } else { Self(canonical(uri).into()) }
    }

    /// The id of the file at `path`, which should be absolute and resolved (dot segments are
    /// removed by name only). A relative path gives an id that has no path. O(n).
    pub fn from_path(path: &Path) -> Self {
        if let Some(path) = path.to_str().filter(|_| cfg!(unix)) {
            let uri = format!("file://{path}");
            if is_plainly_canonical(&uri) {
                return Self(uri.into());
            }
        }
        let (host, bytes) = path_parts(path);
        if bytes.contains(&0) || bytes.first() != Some(&b'/') {
            let mut uri = String::from("file:");
            encode_into(&mut uri, &bytes);
            return Self(uri.into());
        }
        Self(spell(&host, &bytes).into())
    }

    /// True for a text without a file of its own, which is read and edited under its URI: a buffer that was never saved
    /// (`untitled:`), or a cell of a notebook (`vscode-notebook-cell:`).
    pub fn is_untitled(&self) -> bool {
        UNTITLED.iter().any(|scheme| self.0.starts_with(scheme))
    }

    /// The file of the notebook that this is a cell of. O(n).
    pub fn notebook(&self) -> Option<PathBuf> {
        let cell = self.0.strip_prefix(CELL)?.split(['#', '?']).next()?;
        // A window on another machine has the name of that before the path.
        let path = match cell.strip_prefix("//") {
            Some(rest) => rest.split_at_checked(rest.find('/')?)?.1,
            None => cell,
        };
        Self::from_uri(&format!("file://{path}")).path()
    }

    /// True for a conversation document. O(n).
    pub fn is_conversation(&self) -> bool {
        self.0.ends_with(CONVERSATION) && self.path().is_some_and(|path| is_conversation(&path))
    }

    /// The path, for ids that name a file this platform can have. O(n).
    pub fn path(&self) -> Option<PathBuf> {
        let rest = self.0.strip_prefix("file://")?;
        if rest.contains(['?', '#']) {
            return None;
        }
        let (host, path) = rest.split_at_checked(rest.find('/')?)?;
        let bytes = decode(path);
        if bytes.contains(&0) { None } else { path_from_parts(host, bytes) }
    }

    /// The canonical URI, percent-encoded as RFC 3986 allows a path to be. For replies about a
    /// document the editor has open, its own spelling is used instead.
    pub fn to_uri(&self) -> String {
        self.0.to_string()
    }

    /// The canonical URI, borrowed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of the conversation's file.
pub const CONVERSATION: &str = "chat.ropewalk.md";

/// True if a path is that of a conversation document, in whichever folder.
pub fn is_conversation(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == CONVERSATION)
}

/// The schemes of buffers without a file, in canonical spelling.
pub(crate) const UNTITLED: [&str; 2] = ["untitled:", CELL];

/// The scheme of cells of notebooks.
const CELL: &str = "vscode-notebook-cell:";

impl fmt::Debug for DocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for DocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for DocId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for DocId {
    /// Goes through [`DocId::from_uri`], so that a file written by hand can't bring a second spelling.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let uri = String::deserialize(deserializer)?;
        Ok(Self::from_uri(&uri))
    }
}

/// True if `uri` is plainly in the form that [`canonical`] would give it, as most files on Unix
/// are. Asked with every key typed; all others go the long way.
fn is_plainly_canonical(uri: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    uri.strip_prefix("file:///").is_some_and(|path| {
        path.bytes().all(plain) && path.split('/').all(|name| !matches!(name, "" | "." | ".."))
    })
}

fn canonical(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once(':') else { return uri.to_owned() };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme {
        return uri.to_owned();
    }
    let scheme = scheme.to_ascii_lowercase();
    let mut whole = format!("{scheme}:");
    whole.extend(percent_encoding::utf8_percent_encode(rest, NEVER_RAW));
    if scheme != "file" || rest.contains(['?', '#']) {
        return whole;
    }
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let bytes = decode(path);
    if bytes.first() != Some(&b'/') || bytes.contains(&0) {
        return whole;
    }
    spell(host, &bytes)
}

/// The canonical file URI of a decoded absolute path.
fn spell(host: &str, path: &[u8]) -> String {
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/') {
        match segment {
            b"" | b"." => {}
            // A drive has no parent.
            b".." if segments.len() == 1 && segments.first().is_some_and(|s| is_drive(s)) => {}
            b".." => drop(segments.pop()),
            name => segments.push(name),
        }
    }
    let mut uri = String::from("file://");
    if !host.eq_ignore_ascii_case("localhost") {
        uri.push_str(&host.to_ascii_lowercase());
    }
    for (index, segment) in segments.iter().enumerate() {
        uri.push('/');
        if index == 0 && is_drive(segment) {
            encode_into(&mut uri, &segment.to_ascii_uppercase());
        } else {
            encode_into(&mut uri, segment);
        }
    }
    // A bare drive keeps its slash: `C:` alone is the drive's current directory.
    if segments.is_empty() || matches!(segments.as_slice(), [only] if is_drive(only)) {
        uri.push('/');
    }
    uri
}

fn is_drive(segment: &[u8]) -> bool {
    matches!(segment, [letter, b':'] if letter.is_ascii_alphabetic())
}

fn decode(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

/// Bytes that must be escaped in a path by RFC 3986: all but `pchar` and the slash.
const ESCAPED: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Bytes that stand in no URI unescaped. (Bytes beyond ASCII are escaped besides.)
const NEVER_RAW: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS.add(b' ');

fn encode_into(uri: &mut String, bytes: &[u8]) {
    uri.extend(percent_encoding::percent_encode(bytes, ESCAPED));
}

#[cfg(unix)]
fn path_parts(path: &Path) -> (String, Vec<u8>) {
    use std::os::unix::ffi::OsStrExt;
    (String::new(), path.as_os_str().as_bytes().to_vec())
}

#[cfg(unix)]
fn path_from_parts(host: &str, bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    host.is_empty().then(|| PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// Host and URI path of a Windows path: `\\server\share\x` has a host, `C:\x` becomes `/C:/x`,
/// and the `\\?\` that canonical paths begin with is dropped.
#[cfg(not(unix))]
fn path_parts(path: &Path) -> (String, Vec<u8>) {
    let text = path.to_string_lossy().replace('\\', "/");
    let (text, share) = match (text.strip_prefix("//?/UNC/"), text.strip_prefix("//?/")) {
        (Some(rest), _) => (rest.to_owned(), true),
        (None, Some(rest)) => (rest.to_owned(), false),
        (None, None) => match text.strip_prefix("//") {
            Some(rest) => (rest.to_owned(), true),
            None => (text.clone(), false),
        },
    };
    if share {
        let (host, rest) = text.split_once('/').unwrap_or((&text, ""));
        return (host.to_owned(), format!("/{rest}").into_bytes());
    }
    let drive = text.as_bytes().get(..2).is_some_and(is_drive);
    let text = if drive { format!("/{text}") } else { text };
    (String::new(), text.into_bytes())
}

#[cfg(not(unix))]
fn path_from_parts(host: &str, bytes: Vec<u8>) -> Option<PathBuf> {
    let text = String::from_utf8(bytes).ok()?;
    if !host.is_empty() {
        return Some(PathBuf::from(format!("//{host}{text}").replace('/', "\\")));
    }
    let path = text.strip_prefix('/')?;
    let drive = path.as_bytes().get(..2).is_some_and(is_drive);
    drive.then(|| PathBuf::from(path.replace('/', "\\")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_seen_to_be_canonical_is(path in "(/{0,2}(\\.{1,3}|[a-zA-Z0-9_.%: é-]{1,3})){0,5}/?") {
            let uri = format!("file://{path}");
            if is_plainly_canonical(&uri) {
                prop_assert_eq!(canonical(&uri), uri);
            }
            if path.starts_with('/') {
                let id = DocId::from_path(Path::new(&path));
                prop_assert_eq!(id.as_str(), spell("", path.as_bytes()));
            }
        }
    }

    #[test]
    fn most_files_are_seen_to_be_canonical() {
        for uri in ["file:///home/a/.config/x_1.rs", "file:///a", "file:///a/b...c/..d"] {
            assert!(is_plainly_canonical(uri), "{uri}");
        }
    }
}
