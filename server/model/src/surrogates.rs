//! JSON strings with halves of surrogate pairs, mended across events.
//!
//! A server that cuts a reply by UTF-16 units sends `"\ud83d"` at the end of one delta and `"\ude00"`
//! at the start of the next, neither of which is a string. Works on the JSON text alone and changes
//! nothing but `\u` escapes of unpaired surrogates. Whose words a string has is not known here: each block has
//! a [`Surrogates`] of its own.

use memchr::memchr;

/// Carries the first half of a pair from one string of a block to the next that is not empty.
#[derive(Default)]
pub(crate) struct Surrogates {
    high: Option<u16>,
}

impl Surrogates {
    /// Reads a JSON string as a parser has cut it out of its event, mended if it must be; none when it is another
    /// value. Linear in its length.
    pub(crate) fn read(&mut self, json: &str) -> Option<String> {
        let inner = json.strip_prefix('"')?.strip_suffix('"')?;
        if inner.is_empty() {
            // It says nothing: a first half waits on.
            return Some(String::new());
        }
        if self.high.is_none() {
            if memchr(b'\\', inner.as_bytes()).is_none() {
                return Some(inner.to_owned());
            }
            if let Ok(text) = serde_json::from_str(json) {
                return Some(text);
            }
        }
        serde_json::from_str(&self.mend(json)).ok()
    }

    /// The JSON string with paired halves joined. A first half at its end is taken away and kept; a second half at
    /// its start takes up the one that was kept; any other becomes U+FFFD.
    fn mend(&mut self, json: &str) -> String {
        let kept = self.high.take();
        let mut out = String::with_capacity(json.len().saturating_add(16));
        let mut rest = json;
        while let Some((before, from)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
            out.push_str(before);
            let Some((unit, after)) = unit_escape(from) else {
                // Another escape, of two characters: both are stepped over.
                let two = from.char_indices().nth(2).map_or(from.len(), |(at, _)| at);
                let (escape, after) = from.split_at_checked(two).unwrap_or((from, ""));
                out.push_str(escape);
                rest = after;
                continue;
            };
            rest = after;
            match unit {
                0xD800..=0xDBFF => match unit_escape(after) {
                    Some((low @ 0xDC00..=0xDFFF, after)) => {
                        push_pair(&mut out, unit, low);
                        rest = after;
                    }
                    _ if after == "\"" => self.high = Some(unit),
                    _ => out.push('\u{FFFD}'),
                },
                0xDC00..=0xDFFF => match kept {
                    Some(high) if out == "\"" => push_pair(&mut out, high, unit),
                    _ => out.push('\u{FFFD}'),
                },
                _ => out.push_str(from.get(..6).unwrap_or_default()),
            }
        }
        out.push_str(rest);
        out
    }
}

/// The UTF-16 unit of a `\uXXXX` at the start, and what follows it.
fn unit_escape(text: &str) -> Option<(u16, &str)> {
    let digits = text.strip_prefix("\\u")?;
    let (hex, after) = digits.split_at_checked(4)?;
    // `from_str_radix` would take a sign, too.
    hex.bytes().all(|b| b.is_ascii_hexdigit()).then_some(())?;
    Some((u16::from_str_radix(hex, 16).ok()?, after))
}

fn push_pair(out: &mut String, high: u16, low: u16) {
    out.extend(char::decode_utf16([high, low]).map(|c| c.unwrap_or('\u{FFFD}')));
}
