//! Conversion of a disk's bytes to text and back: encoding and byte order mark.
//!
//! A buffer has neither: editors take the mark off and decode before they show a text. So a file's
//! [`FileFormat`] is kept beside its text and put back when it is written.

use crate::Text;

/// The encodings a text file is read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// UTF-8, the usual case.
    #[default]
    Utf8,
    /// UTF-16, little endian; recognised by its byte order mark alone.
    Utf16Le,
    /// UTF-16, big endian; recognised by its byte order mark alone.
    Utf16Be,
    /// ISO 8859-1: bytes that are no UTF-8 and hold no NUL. Every byte is one char, so nothing is lost.
    Latin1,
}

/// How a text lies on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FileFormat {
    /// The encoding of its bytes.
    pub encoding: Encoding,
    /// True if it begins with a byte order mark.
    pub bom: bool,
}

/// The text can't be written in the file's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unencodable {
    /// The first char that has no place in ISO 8859-1.
    pub char: char,
}

impl std::fmt::Display for Unencodable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} cannot be written in this file's encoding, ISO 8859-1", self.char)
    }
}

impl std::error::Error for Unencodable {}

/// The text of a file's bytes and how it was written; None for what is not text: anything with a NUL, which
/// UTF-32 always has, or UTF-16 that is broken. O(n).
pub fn decode(bytes: &[u8]) -> Option<(Text, FileFormat)> {
    let format = |encoding, bom| FileFormat { encoding, bom };
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF")
        && let Ok(text) = std::str::from_utf8(rest)
    {
        let text = (!text.contains('\0')).then(|| Text::from(text));
        return Some((text?, format(Encoding::Utf8, true)));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        return Some((utf16(rest, u16::from_le_bytes)?, format(Encoding::Utf16Le, true)));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        return Some((utf16(rest, u16::from_be_bytes)?, format(Encoding::Utf16Be, true)));
    }
    // Asked before anything is built: most files that are no text are found out here.
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some((Text::from(text), FileFormat::default()));
    }
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    Some((Text::from(text.as_str()), format(Encoding::Latin1, false)))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Text> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let units = bytes.chunks_exact(2).map(|pair| match pair {
        [a, b] => unit([*a, *b]),
        _ => 0,
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    text.ok().filter(|text| !text.contains('\0')).map(|text| Text::from(text.as_str()))
}

/// The bytes of `text` in `format`. O(n).
pub fn encode(text: &Text, format: FileFormat) -> Result<Vec<u8>, Unencodable> {
    let mut out = Vec::with_capacity(text.len() + 3);
    let units = || text.chunks().flat_map(str::encode_utf16);
    match format.encoding {
        Encoding::Utf8 => {
            if format.bom {
                out.extend_from_slice(b"\xEF\xBB\xBF");
            }
            text.chunks().for_each(|chunk| out.extend_from_slice(chunk.as_bytes()));
        }
        Encoding::Utf16Le => {
            out.extend_from_slice(b"\xFF\xFE");
            units().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes()));
        }
        Encoding::Utf16Be => {
            out.extend_from_slice(b"\xFE\xFF");
            units().for_each(|unit| out.extend_from_slice(&unit.to_be_bytes()));
        }
        Encoding::Latin1 => {
            for char in text.chunks().flat_map(str::chars) {
                out.push(u8::try_from(char).map_err(|_| Unencodable { char })?);
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_comes_back_byte_for_byte() {
        let cases: [&[u8]; 9] = [
            b"",
            b"plain\n",
            b"\xEF\xBB\xBFwith a mark\r\n",
            b"\xEF\xBB\xBF\xFF",
            b"caf\xE9\n",
            b"\xFF\xFEa\x00\xE9\x00",
            b"\xFE\xFF\x00a\xD8\x3D\xDE\x00",
            "日本語".as_bytes(),
            b"\xEF\xBB\xBF",
        ];
        for bytes in cases {
            let (text, format) = decode(bytes).unwrap();
            assert_eq!(encode(&text, format).unwrap(), bytes, "{text:?} {format:?}");
        }
    }

    #[test]
    fn what_is_no_text() {
        for bytes in [
            b"a\0b".as_slice(),
            b"\xFF\xFEa",
            b"\xFF\xFE\x00\xD8",
            b"\xFF\xFE\0\0a\0\0\0",
            b"\xEF\xBB\xBFa\0",
        ] {
            assert_eq!(decode(bytes), None);
        }
        let (_, format) = decode(b"\xE9").unwrap();
        assert_eq!(encode(&Text::from("日"), format), Err(Unencodable { char: '日' }));
    }
}
