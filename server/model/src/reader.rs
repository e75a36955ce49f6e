//! From the bytes of a reply to its deltas: event stream and protocol together, without a network.
//!
//! The exchange reads every reply through it; recorded replies can be read with it alone. It does
//! not notice an end of the bytes: whoever feeds it says so by [`ReplyReader::end`], unless
//! [`ReplyReader::feed`] has said that the reply is complete.

use crate::{Delta, ModelError, lenient::without_odd_numbers, sse::SseParser};
use std::collections::VecDeque;

/// The longest reply that is read, in bytes of the wire.
const MOST_BYTES: usize = 64 << 20;

/// Turns the events of one stream into deltas.
pub(crate) trait Decode: Send + Sync {
    /// Takes the data of one event; true when it was the reply's last.
    fn event(&mut self, data: &str, out: &mut VecDeque<Delta>) -> Result<bool, ModelError>;
    /// True if the reply's first content has come.
    fn begun(&self) -> bool;
    /// True if all that matters has come, though the last event has not.
    fn whole(&self) -> bool {
        false
    }
    /// The bytes have ended without a last event: completes a reply that is [whole](Decode::whole), and
    /// says whether it is.
    fn end(&mut self, _out: &mut VecDeque<Delta>) -> bool {
        false
    }
}

/// Error for an event that can't be read, and may have held words or a part of a call.
pub(crate) fn hole() -> ModelError {
    ModelError::Cut { why: "a part of the reply can't be read".to_owned() }
}

/// Reads one reply.
pub struct ReplyReader {
    parser: SseParser,
    decoder: Box<dyn Decode>,
    bytes: usize,
}

impl ReplyReader {
    pub(crate) fn new(decoder: Box<dyn Decode>) -> ReplyReader {
        ReplyReader { parser: SseParser::default(), decoder, bytes: 0 }
    }

    /// Takes the next bytes, cut anywhere, and appends what they say to `out`. True when the reply
    /// is complete; nothing after its end matters.
    ///
    /// # Errors
    /// Errors that the server reports in mid-stream, and [`ModelError::TooLarge`] for a reply, an event
    /// or a number of blocks beyond all measure. The deltas before the failure are in `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut VecDeque<Delta>) -> Result<bool, ModelError> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MOST_BYTES {
            let what = format!("the reply is longer than {} MB", MOST_BYTES >> 20);
            return Err(ModelError::TooLarge { what });
        }
        let decoder = &mut self.decoder;
        let mut done = Ok(false);
        let fed = self.parser.feed(bytes, |event| {
            if matches!(done, Ok(false)) {
                let data = without_odd_numbers(&event.data);
                done = decoder.event(data.as_deref().unwrap_or(&event.data), out);
            }
        });
        // The first to come decides: an event that is too long comes after all that was decoded.
        match (done, fed) {
            (Ok(false), Err(error)) => Err(ModelError::TooLarge { what: error.to_string() }),
            (done, _) => done,
        }
    }

    /// True if the reply's first content has come.
    pub fn begun(&self) -> bool {
        self.decoder.begun()
    }
    /// True if all that matters has come, so that an end of the bytes now is a good one.
    pub fn whole(&self) -> bool {
        self.decoder.whole()
    }

    /// The bytes have ended. Appends what completes the reply and gives true when it is
    /// [whole](ReplyReader::whole); a reply that is not was cut.
    pub fn end(&mut self, out: &mut VecDeque<Delta>) -> bool {
        self.decoder.end(out)
    }
}
