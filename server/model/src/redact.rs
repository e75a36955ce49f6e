//! Keys redacted from what comes from outside.
//!
//! A server quotes a bad key, a command prints the environment of its parent, a model repeats what it was
//! shown. [`Keys`] redacts the keys from a whole text, a [`Redactor`] from a stream of pieces, where a key may be
//! cut anywhere. A text without a key is only searched, never copied.
//!
//! It finds a key as it is and as JSON spells it. Other spellings (base64, reversed, letter by letter) are not
//! looked for: whoever can make those is kept from the key itself, not from its letters.

use crate::LazyKey;
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Text that stands in for a key.
pub const REDACTED: &str = "[key]";

/// A key of fewer bytes is not redacted: what stands in for a key at a server that wants none (`ollama`,
/// `not-needed`) is no secret, and may be in any text.
pub const SHORTEST: usize = 12;

/// The keys that are in no text that is shown or kept. Cheap to clone; it can't be printed.
#[derive(Clone, Default)]
pub struct Keys(Arc<[Finder<'static>]>);

impl Keys {
    /// These keys, without the white space around them; those under [`SHORTEST`] are left out.
    pub fn new<T: AsRef<str>>(keys: impl IntoIterator<Item = T>) -> Keys {
        let mut all: Vec<String> = Vec::new();
        for key in keys {
            let key = key.as_ref().trim();
            if key.len() < SHORTEST {
                continue;
            }
            let spelled = serde_json::Value::from(key).to_string();
            let spelled = spelled.trim_matches('"');
            for spelling in [key.to_owned(), spelled.to_owned(), spelled.replace('/', "\\/")] {
                if !all.contains(&spelling) {
                    all.push(spelling);
                }
            }
        }
        Keys(all.iter().map(|key| Finder::new(key).into_owned()).collect())
    }

    /// These keys and more.
    pub(crate) fn and<'a>(self, more: impl IntoIterator<Item = &'a str>) -> Keys {
        let held =
            self.0.iter().map(|finder| String::from_utf8_lossy(finder.needle()).into_owned());
        Keys::new(held.chain(more.into_iter().map(str::to_owned)))
    }

    /// These keys, and those that were asked for before.
    #[must_use]
    pub fn and_known(self, key: &LazyKey) -> Keys {
        match &*key.all() {
            [] => self,
            keys => self.and(keys.iter().map(|key| key.text())),
        }
    }

    /// True if there is nothing to redact.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a key stands in `bytes`.
    pub fn are_in(&self, bytes: &[u8]) -> bool {
        self.next(bytes).is_some()
    }

    /// A text with [`REDACTED`] for each key in it. Linear in the text, for each key; it borrows when there is
    /// none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.next(text.as_bytes()).is_none() {
            return Cow::Borrowed(text);
        }
        let mut bytes = text.as_bytes().to_vec();
        self.redact_bytes(&mut bytes);
        Cow::Owned(string(bytes))
    }

    /// As [`Keys::redact`], in place.
    pub fn redact_in(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    /// True if `new` in the place of `old` has [`REDACTED`] where `old` has a key: its writer was shown `old` redacted.
    /// Linear in both, for each key.
    pub fn would_be_lost(&self, old: &str, new: &str) -> bool {
        let count = |text: &str| text.matches(REDACTED).count();
        let keys = |text: &str| count(&self.redact(text)).saturating_sub(count(text));
        count(new) > count(old) && keys(new) < keys(old)
    }

    /// A redactor for a stream.
    pub fn redactor(&self) -> Redactor {
        Redactor { keys: self.clone(), held: Vec::new() }
    }

    /// Redacts all keys that are whole; says whether there was one.
    fn redact_bytes(&self, bytes: &mut Vec<u8>) -> bool {
        let mut rest = bytes.as_slice();
        let mut redacted = Vec::new();
        while let Some((at, len)) = self.next(rest) {
            redacted.extend_from_slice(rest.get(..at).unwrap_or_default());
            redacted.extend_from_slice(REDACTED.as_bytes());
            rest = rest.get(at + len..).unwrap_or_default();
        }
        let is_redacted = !redacted.is_empty();
        if is_redacted {
            redacted.extend_from_slice(rest);
            *bytes = redacted;
        }
        is_redacted
    }

    /// The first key in `bytes`, the longest of those that begin there: where, and how long.
    fn next(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let found = self.0.iter().filter_map(|key| Some((key.find(bytes)?, key.needle().len())));
        found.min_by_key(|&(at, len)| (at, std::cmp::Reverse(len)))
    }

    /// How many of the last bytes may be the start of a key, and whether they are half of one or more.
    fn begun(&self, bytes: &[u8]) -> (usize, bool) {
        let mut most = (0, false);
        for key in self.0.iter().map(Finder::needle) {
            let longest = key.len().saturating_sub(1).min(bytes.len());
            let fits = |len: &usize| {
                bytes.len().checked_sub(*len).is_some_and(|at| {
                    bytes.get(at..).zip(key.get(..*len)).is_some_and(|(end, start)| end == start)
                })
            };
            if let Some(len) = (1..=longest).rev().find(fits) {
                most = (most.0.max(len), most.1 || len * 2 >= key.len());
            }
        }
        most
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({} hidden)", self.0.len())
    }
}

/// Redacts keys from pieces of one stream. What may be the beginning of a key waits for the next piece.
#[derive(Clone, Default)]
pub struct Redactor {
    keys: Keys,
    held: Vec<u8>,
}

impl Redactor {
    /// True if there is nothing to redact, so that nothing ever waits.
    pub fn is_idle(&self) -> bool {
        self.keys.is_empty()
    }

    /// Keys that it redacts.
    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Leaves in `piece` what may go on now, and says whether a key was redacted. `last` ends the stream: what
    /// waited goes on too, unless it is half of a key or more.
    pub fn redact(&mut self, piece: &mut Vec<u8>, last: bool) -> bool {
        if self.is_idle() {
            return false;
        }
        if !self.held.is_empty() {
            self.held.append(piece);
            std::mem::swap(&mut self.held, piece);
        }
        let mut is_redacted = self.keys.redact_bytes(piece);
        let (begun, is_half) = self.keys.begun(piece);
        let at = piece.len().saturating_sub(begun);
        if !last {
            self.held = piece.split_off(at);
        } else if is_half {
            piece.truncate(at);
            piece.extend_from_slice(REDACTED.as_bytes());
            is_redacted = true;
        }
        is_redacted
    }

    /// As [`Redactor::redact`], for text.
    pub fn redact_text(&mut self, piece: String, last: bool) -> (String, bool) {
        if self.is_idle() {
            return (piece, false);
        }
        let mut bytes = piece.into_bytes();
        let is_redacted = self.redact(&mut bytes, last);
        (string(bytes), is_redacted)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("keys", &self.keys).finish_non_exhaustive()
    }
}

/// Keys begin and end between characters, so nothing is replaced here but what came in broken.
fn string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}
