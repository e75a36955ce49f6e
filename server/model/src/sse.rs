//! A parser for event streams (`text/event-stream`), after the WHATWG's HTML standard, section
//! "Server-sent events".
//!
//! Incremental over bytes with any chunking, linear in their number, and bounded: a line or an
//! event beyond the limit is an error, not memory. It does not reconnect, and `id` and `retry` are
//! ignored.
//!
//! **An event that the end of the stream finds unfinished is dropped**, as the standard says
//! (section 9.2.6: incomplete events are discarded): its last line may be a torn half, and a reply
//! that lacks its end is recognised as cut and asked for again.

use memchr::memchr2;
use std::borrow::Cow;

/// The limit on a line and on an event's data when nobody says otherwise: 16 MiB.
pub const DEFAULT_LIMIT: usize = 16 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The `event` field; empty when there was none.
    pub name: Cow<'a, str>,
    /// The `data` lines joined by line feeds. Bytes that are no UTF-8 become U+FFFD.
    pub data: Cow<'a, str>,
}

/// A line or an event longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {limit} bytes")]
pub struct SseTooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

/// The parser. Holds at most about twice its limit.
#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR that ended a line: a LF now belongs to it.
    after_cr: bool,
    /// How many bytes of a byte order mark were seen at the stream's start; 3 or more: past it.
    bom: usize,
    broken: bool,
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl Default for SseParser {
    fn default() -> SseParser {
        SseParser::with_limit(DEFAULT_LIMIT)
    }
}

impl SseParser {
    /// A parser at the start of a stream, with a limit in bytes on each line and each event's data.
    pub fn with_limit(limit: usize) -> SseParser {
        SseParser {
            limit,
            line: Vec::new(),
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            bom: 0,
            broken: false,
        }
    }

    /// Takes the next bytes and hands each event they complete to `on_event`.
    ///
    /// # Errors
    /// [`SseTooLong`]; every later call then fails too.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut on_event: impl FnMut(SseEvent<'_>),
    ) -> Result<(), SseTooLong> {
        if self.broken {
            return Err(self.too_long());
        }
        let mut rest = self.skip_bom(bytes);
        // The data of an event that is wholly in these bytes is handed on from where it lies.
        let mut lying: Option<&[u8]> = None;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr)
                && let Some(after_lf) = rest.strip_prefix(b"\n")
            {
                rest = after_lf;
                continue;
            }
            let Some((head, tail)) =
                memchr2(b'\n', b'\r', rest).and_then(|i| rest.split_at_checked(i))
            else {
                self.hold(rest)?;
                break;
            };
            self.after_cr = tail.first() == Some(&b'\r');
            rest = tail.get(1..).unwrap_or_default();
            if self.line.is_empty() {
                self.take_line(head, &mut lying, &mut on_event)?;
            } else {
                self.hold(head)?;
                let mut line = std::mem::take(&mut self.line);
                let mut held = None;
                self.take_line(&line, &mut held, &mut on_event)?;
                self.keep(held);
                line.clear();
                self.line = line;
            }
        }
        self.keep(lying);
        Ok(())
    }

    /// Copies data that lies where it does not stay.
    fn keep(&mut self, lying: Option<&[u8]>) {
        self.data.extend_from_slice(lying.unwrap_or_default());
    }

    /// Steps over a byte order mark at the stream's very start, which may come in parts.
    fn skip_bom<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let Some(expected) = BOM.get(self.bom) {
            match bytes.split_first() {
                None => break,
                Some((byte, rest)) if byte == expected => {
                    self.bom = self.bom.saturating_add(1);
                    bytes = rest;
                }
                Some(_) => {
                    // No mark after all: what looked like one is part of the first line.
                    self.line.extend_from_slice(BOM.get(..self.bom).unwrap_or_default());
                    self.bom = BOM.len();
                }
            }
        }
        bytes
    }

    fn hold(&mut self, part: &[u8]) -> Result<(), SseTooLong> {
        if self.line.len().saturating_add(part.len()) > self.limit {
            return Err(self.too_long());
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    /// Takes a whole line. The first data of an event is left `lying` where it is.
    fn take_line<'line>(
        &mut self,
        line: &'line [u8],
        lying: &mut Option<&'line [u8]>,
        on_event: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<(), SseTooLong> {
        if line.len() > self.limit {
            return Err(self.too_long());
        }
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                let data = text(lying.take().unwrap_or(&self.data));
                on_event(SseEvent { name: text(&self.name), data });
            }
            self.name.clear();
            self.data.clear();
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let (field, value) = line.split_at_checked(colon).unwrap_or_default();
                let value = value.get(1..).unwrap_or_default();
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                self.keep(lying.take());
                let size = self.data.len().saturating_add(value.len()).saturating_add(1);
                if size > self.limit {
                    return Err(self.too_long());
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                    self.data.extend_from_slice(value);
                } else {
                    *lying = Some(value);
                }
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // Comments have an empty field; `id`, `retry` and the unknown are ignored.
            _ => {}
        }
        Ok(())
    }

    fn too_long(&mut self) -> SseTooLong {
        self.broken = true;
        (self.line, self.name, self.data) = (Vec::new(), Vec::new(), Vec::new());
        SseTooLong { limit: self.limit }
    }
}

/// The bytes as text. The check for good UTF-8 is much the faster one of the two.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
