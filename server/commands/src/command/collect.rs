//! Takes in what a command prints: head and tail in memory, the whole in a file, text to a sink.

use ropewalk_tools::secrets::{Redaction, Secrets};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::Receiver;

/// Gets the output while it is printed, as text, a chunk of at most 64 KiB at a time.
///
/// It is called between reads of the pipe: while it works the command waits, so it should hand the
/// text on and return. Escape sequences are left in; a character cut by a chunk is put together.
pub type Sink = Box<dyn FnMut(&str) + Send>;

/// Bytes that are kept of each end of the output: enough for 50,000 characters of any script.
const KEEP: usize = 256 * 1024;

/// The most bytes that an output file gets, 1 GiB: a command that prints without end must not fill
/// the disk.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// How much is read at once, which is what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// The output of a command: all of it when short, else its two ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundedOutput {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The bytes between head and tail that were not kept.
    pub left_out: u64,
    /// The characters of them.
    pub left_out_chars: u64,
    /// The last bytes, when not all are in `head`.
    pub tail: Vec<u8>,
}

impl BoundedOutput {
    /// All bytes that were printed.
    #[must_use]
    pub fn total(&self) -> u64 {
        let kept = self.head.len().saturating_add(self.tail.len());
        self.left_out.saturating_add(u64::try_from(kept).unwrap_or(u64::MAX))
    }

    fn push(&mut self, mut bytes: &[u8]) {
        let room = KEEP.saturating_sub(self.head.len()).min(bytes.len());
        if let Some((first, rest)) = bytes.split_at_checked(room) {
            self.head.extend_from_slice(first);
            bytes = rest;
        }
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 2 * KEEP {
            self.trim();
        }
    }

    /// Drops all but the last [`KEEP`] bytes of the tail, less those of a character that would be cut.
    fn trim(&mut self) {
        let begins_char = |byte: &u8| byte & 0xc0 != 0x80;
        let least = self.tail.len().saturating_sub(KEEP);
        let rest = self.tail.get(least..).unwrap_or_default().iter().position(begins_char);
        let extra = least.saturating_add(rest.filter(|_| least > 0).unwrap_or_default());
        let chars = self.tail.drain(..extra).filter(begins_char).count();
        let more = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.left_out = self.left_out.saturating_add(more(extra));
        self.left_out_chars = self.left_out_chars.saturating_add(more(chars));
    }
}

/// The reading end of a running command.
pub(crate) struct Collector {
    receiver: Receiver,
    file: Option<File>,
    /// Nothing that was read is missing in the file.
    file_is_whole: bool,
    /// How much of `chunk` is in the file.
    written: usize,
    sink: Option<Sink>,
    redact: Option<Redaction>,
    collected: BoundedOutput,
    /// The start of a character whose rest has not come yet.
    partial: Vec<u8>,
    chunk: Vec<u8>,
}

impl Collector {
    pub(crate) fn new(
        receiver: Receiver,
        file: Option<File>,
        sink: Option<Sink>,
        secrets: &Secrets,
    ) -> Self {
        Self {
            receiver,
            file_is_whole: file.is_some(),
            file,
            written: 0,
            sink,
            redact: secrets.redact.as_ref().map(|redact| redact()),
            collected: BoundedOutput::default(),
            partial: Vec::new(),
            chunk: Vec::new(),
        }
    }

    /// Reads until nobody holds the other end. It may be dropped and called again: nothing is lost.
    pub(crate) async fn read(&mut self) {
        loop {
            self.write().await;
            self.chunk.clear();
            self.written = 0;
            self.chunk.reserve(CHUNK);
            match self.receiver.read_buf(&mut self.chunk).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            self.take_in(false);
        }
    }

    /// Keeps the chunk, without secrets, and shows it; after the `last` one nothing waits any more.
    fn take_in(&mut self, last: bool) {
        if let Some(redact) = &mut self.redact {
            redact(&mut self.chunk, last);
        }
        self.collected.push(&self.chunk);
        self.send();
    }

    /// Writes what is left of the chunk to the file.
    async fn write(&mut self) {
        let Some(file) = &mut self.file else { return };
        if self.collected.total() > MAX_FILE_BYTES {
            self.file_is_whole = false;
        }
        while self.file_is_whole
            && let Some(rest) = self.chunk.get(self.written..)
            && !rest.is_empty()
        {
            match file.write(rest).await {
                Ok(count) if count > 0 => self.written += count,
                _ => self.file_is_whole = false,
            }
        }
    }

    /// Hands the chunk to the sink as text.
    fn send(&mut self) {
        let Some(sink) = &mut self.sink else { return };
        self.partial.extend_from_slice(&self.chunk);
        let mut rest = std::mem::take(&mut self.partial);
        let mut text = String::new();
        let mut kept = rest.len();
        for part in rest.utf8_chunks() {
            text.push_str(part.valid());
            let invalid = part.invalid();
            if invalid.is_empty() {
                continue;
            }
            let unfinished = std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            if unfinished {
                kept = kept.saturating_sub(invalid.len());
            } else {
                text.push('\u{fffd}');
            }
        }
        self.partial = rest.split_off(kept.min(rest.len()));
        if !text.is_empty() {
            sink(&text);
        }
    }

    /// Takes what was read, with whether the output file holds all of it; the sink gets no more.
    pub(crate) async fn collected(&mut self) -> (BoundedOutput, bool) {
        self.write().await;
        self.chunk.clear();
        self.written = 0;
        self.take_in(true);
        self.write().await;
        if let (Some(mut sink), false) = (self.sink.take(), self.partial.is_empty()) {
            sink("\u{fffd}");
        }
        if let Some(file) = &mut self.file {
            self.file_is_whole &= file.flush().await.is_ok();
        }
        self.collected.trim();
        (std::mem::take(&mut self.collected), self.file_is_whole)
    }
}
