//! JSON strings with halves of surrogate pairs, mended across events.
//!
//! A server that cuts a reply by UTF-16 units sends `"\ud83d"` at the end of one delta and `"\ude00"`
//! at the start of the next, neither of which is a string. Works on the JSON text alone and changes
//! nothing but `\u` escapes of unpaired surrogates.

use serde::Deserialize;

/// Carries the first half of a pair from one event to the next.
#[derive(Default)]
pub(crate) struct Surrogates {
    high: Option<u16>,
}

impl Surrogates {
    /// Whether a first half waits for its second.
    fn pending(&self) -> bool {
        self.high.is_some()
    }

    /// Reads a JSON string, mended if it must be; none when it is no JSON string.
    pub(crate) fn read(&mut self, json: &str) -> Option<String> {
        match serde_json::from_str(json) {
            // The usual case: valid, and no half of a pair left from before.
            Ok(text) if !self.pending() => Some(text),
            _ => serde_json::from_str(&self.mend(json)).ok(),
        }
    }

    /// Reads an event, mended if it must be, and gives the text that was read; `mended` is where that may be kept.
    ///
    /// # Errors
    /// It is no such JSON, mended or not.
    pub(crate) fn event<'a, T: Deserialize<'a>>(
        &mut self,
        data: &'a str,
        mended: &'a mut String,
    ) -> serde_json::Result<(T, &'a str)> {
        // The usual case: valid, and no half of a pair left from before.
        if !self.pending()
            && let Ok(event) = serde_json::from_str(data)
        {
            return Ok((event, data));
        }
        *mended = self.mend(data);
        Ok((serde_json::from_str(mended)?, mended))
    }

    /// The JSON text with paired halves joined. A first half at the end of a string is taken away
    /// and kept; a second half at the start of a string takes it up; any other becomes U+FFFD.
    /// Linear in the text's length.
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
                    _ if after.starts_with('"') => self.high = Some(unit),
                    _ => out.push('\u{FFFD}'),
                },
                0xDC00..=0xDFFF => match kept {
                    Some(high) if out.ends_with('"') => push_pair(&mut out, high, unit),
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
