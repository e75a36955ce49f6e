//! Headers of frames: what they say of the length of the body behind them, or why they say nothing.

/// The field that says the length.
pub(super) const FIELD: &[u8] = b"content-length:";

/// Why a frame was passed over, in words for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadFrame {
    /// No empty line within the allowed length.
    #[error(
        "the header is longer than {limit} bytes; expected `Content-Length: N` and an empty line"
    )]
    EndlessHeader { limit: usize },
    /// A header without a length that can be understood.
    #[error(
        "the header has no usable Content-Length; expected `Content-Length: N` with N in bytes"
    )]
    NoLength,
    /// A length above the limit.
    #[error("a message of {length} bytes is more than the {limit} bytes this server takes")]
    TooLong { length: u64, limit: usize },
}

/// The start of a frame.
pub(super) enum FrameHeader {
    /// A header of `end` bytes, its empty line included.
    Frame {
        end: usize,
        length: u64,
    },
    Bad(BadFrame),
    Ended,
}

/// One line of a header.
pub(super) enum Field {
    Length(u64),
    Unusable,
    Other,
}

/// The header at the start of `bytes`, or `None` when more bytes are needed to tell.
pub(super) fn parse_header(bytes: &[u8], limit: usize) -> Option<FrameHeader> {
    let mut length = None;
    let mut at = 0;
    let within = bytes.get(..limit).unwrap_or(bytes);
    while let Some(rest) = within.get(at..)
        && let Some(line) = memchr::memchr(b'\n', rest).and_then(|end| rest.get(..end))
    {
        at += line.len() + 1;
        // LSP asks for CR LF; a lone LF is understood too.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return Some(match length {
                Some(length) => FrameHeader::Frame { end: at, length },
                None => FrameHeader::Bad(BadFrame::NoLength),
            });
        }
        match field_length(line) {
            Field::Length(new) if length.is_none_or(|old| old == new) => length = Some(new),
            Field::Other => {}
            Field::Length(_) | Field::Unusable => {
                return Some(FrameHeader::Bad(BadFrame::NoLength));
            }
        }
    }
    (bytes.len() >= limit).then_some(FrameHeader::Bad(BadFrame::EndlessHeader { limit }))
}

/// Reads of a header line what it says of the length.
pub(super) fn field_length(line: &[u8]) -> Field {
    if !starts_with_field(line) {
        return Field::Other;
    }
    let digits = line.get(FIELD.len()..).unwrap_or_default().trim_ascii();
    // `parse` would take a sign.
    let plain = digits.iter().all(u8::is_ascii_digit);
    match str::from_utf8(digits).ok().filter(|_| plain).and_then(|digits| digits.parse().ok()) {
        Some(length) => Field::Length(length),
        None => Field::Unusable,
    }
}

/// True if this begins with the field.
pub(super) fn starts_with_field(bytes: &[u8]) -> bool {
    bytes.get(..FIELD.len()).is_some_and(|name| name.eq_ignore_ascii_case(FIELD))
}

/// The start of the next field that says a length.
pub(super) fn find_field(bytes: &[u8]) -> Option<usize> {
    memchr::memchr2_iter(b'C', b'c', bytes)
        .find(|&at| bytes.get(at..).is_some_and(starts_with_field))
}
