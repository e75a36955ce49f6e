//! Frames: cuts a stream of bytes into the bodies of LSP messages, whatever the bytes are.
//!
//! Bounded in memory, and it never gives up: after a frame that can't be right, the stream is searched for the
//! next header. JSON can't hold one (a line end inside a string is always escaped), so what looks like a header
//! is one. What is inside a body is not this file's business.

use super::header::{
    BadFrame, FIELD, Field, FrameHeader, field_length, find_field, parse_header, starts_with_field,
};
use std::io::{self, Read};

/// How much is asked of the input at a time, and what the buffer shrinks to after a long body.
const CHUNK: usize = 64 * 1024;

/// Cuts `input` into bodies of at most `max_body` bytes under headers of at most `max_header` bytes.
pub(super) struct Frames<R> {
    input: R,
    /// Bytes read and not yet handed out are `buffer[start..end]`; what follows is room to read into.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The last body handed out is `buffer[body_start..start]`.
    body_start: usize,
    max_header: usize,
    max_body: usize,
    /// Set from a bad frame until the next good header.
    lost: bool,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(input: R, max_header: usize, max_body: usize) -> Self {
        let buffer = vec![0; CHUNK];
        Self { input, buffer, start: 0, end: 0, body_start: 0, max_header, max_body, lost: false }
    }

    /// The next body, or why a frame is being passed over (said once per loss, not per byte passed);
    /// `None` at the end of input, also when it comes inside a frame.
    ///
    /// # Errors
    /// Those of the input, which is then at its end.
    pub(super) fn next(&mut self) -> io::Result<Option<Result<&mut [u8], BadFrame>>> {
        self.forget_body();
        loop {
            if self.lost && !self.find_field()? {
                return Ok(None);
            }
            let bad = match self.header()? {
                FrameHeader::Ended => return Ok(None),
                FrameHeader::Frame { end, length } => match usize::try_from(length) {
                    Ok(length) if length <= self.max_body => {
                        self.start += end;
                        return self.body(length);
                    }
                    _ => BadFrame::TooLong { length, limit: self.max_body },
                },
                FrameHeader::Bad(bad) => bad,
            };
            if self.lost {
                // The search found a field that is no header: go on behind it.
                self.start += FIELD.len();
            } else {
                self.lost = true;
                // The bad header may have the next good one in it: a body longer than announced ends up
                // here, in front of that header. Its own field, when it opens with one, is passed.
                if starts_with_field(self.unread()) {
                    self.start += FIELD.len();
                }
                return Ok(Some(Err(bad)));
            }
        }
    }

    /// To be called when the last body made no sense: when it has a header in it, its announced length was
    /// too long and the next frame was swallowed; reading goes on there.
    pub(super) fn body_made_no_sense(&mut self) {
        let mut from = self.body_start;
        // A header cut by the end of the body goes on in what follows it.
        let to = self.end.min(self.start + FIELD.len() - 1);
        while let Some(found) = self.buffer.get(from..to).and_then(find_field) {
            let rest = self.buffer.get(from + found..self.end).unwrap_or_default();
            let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
            if matches!(field_length(line), Field::Length(_)) {
                self.start = from + found;
                return;
            }
            from += found + FIELD.len();
        }
    }

    fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Drops the last body, and the memory of a long one.
    fn forget_body(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > 16 * CHUNK {
                self.buffer = vec![0; CHUNK];
            }
        }
        self.body_start = self.start;
    }

    /// Reads what there is, waiting for the first byte; false at the end of input.
    fn fill(&mut self) -> io::Result<bool> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            (self.start, self.body_start) = (0, 0);
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.end + CHUNK, 0);
        }
        loop {
            match self.input.read(self.buffer.get_mut(self.end..).unwrap_or_default()) {
                Ok(read) => {
                    self.end += read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Looks for a header at the start of what is unread.
    fn header(&mut self) -> io::Result<FrameHeader> {
        loop {
            // Line ends between two frames are nobody's: some clients end a body with one.
            let blank = self.unread().iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            self.start += blank.count();
            match parse_header(self.unread(), self.max_header) {
                Some(header) => return Ok(header),
                None if !self.fill()? => return Ok(FrameHeader::Ended),
                None => {}
            }
        }
    }

    /// Waits for `length` bytes. The buffer grows with what comes, not with what was announced.
    fn body(&mut self, length: usize) -> io::Result<Option<Result<&mut [u8], BadFrame>>> {
        self.lost = false;
        while self.unread().len() < length && length <= CHUNK {
            if !self.fill()? {
                return Ok(None);
            }
        }
        let missing = length.saturating_sub(self.unread().len());
        if missing > 0 {
            self.buffer.truncate(self.end);
            let came = (&mut self.input).take(missing as u64).read_to_end(&mut self.buffer)?;
            self.end = self.buffer.len();
            if came < missing {
                return Ok(None);
            }
        }
        self.body_start = self.start;
        self.start += length;
        Ok(self.buffer.get_mut(self.body_start..self.start).map(Ok))
    }

    /// Skips to the next `Content-Length:`; false when the input ends before one.
    fn find_field(&mut self) -> io::Result<bool> {
        loop {
            if let Some(found) = find_field(self.unread()) {
                self.start += found;
                return Ok(true);
            }
            // A field may begin at the end of what was read.
            self.start = self.end - self.unread().len().min(FIELD.len() - 1);
            if !self.fill()? {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::Strategy as _;

    /// Hands out at most `step` bytes a read.
    struct Trickle<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.step.min(into.len()).min(self.bytes.len());
            let (now, later) = self.bytes.split_at(count);
            into[..count].copy_from_slice(now);
            self.bytes = later;
            Ok(count)
        }
    }

    /// Reads all frames, with a body that is cut or has a header in it counted as senseless.
    fn read_all(bytes: &[u8], step: usize) -> Vec<String> {
        let mut frames = Frames::new(Trickle { bytes, step }, 64, 100_000);
        let mut seen = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            match frame {
                Ok(body) => {
                    let sense = body.ends_with(b"}") && !body.contains(&b'C');
                    seen.push(String::from_utf8_lossy(body).into_owned());
                    if !sense {
                        frames.body_made_no_sense();
                    }
                }
                Err(BadFrame::EndlessHeader { .. }) => seen.push("endless".into()),
                Err(BadFrame::NoLength) => seen.push("no length".into()),
                Err(BadFrame::TooLong { length, .. }) => seen.push(format!("too long {length}")),
            }
        }
        seen
    }

    #[track_caller]
    fn check(bytes: impl AsRef<[u8]>, expected: &[&str]) {
        for step in [1, 2, 3, 7, 64, 1 << 20] {
            assert_eq!(read_all(bytes.as_ref(), step), expected, "{step} bytes at a time");
        }
    }

    #[test]
    fn reads_frames_in_any_chunking() {
        check("", &[]);
        check("Content-Length: 2\r\n\r\n{}", &["{}"]);
        check("content-length:3\n\n{1}CONTENT-LENGTH: 4 \r\n\r\n{22}", &["{1}", "{22}"]);
        check("Content-Type: x; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}", &["{}"]);
        check("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", &["{}"]);
        check("Content-Length: 2\r\n\r\n{}\r\n\nContent-Length: 3\r\n\r\n{1}\n", &["{}", "{1}"]);
        check("Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}", &["", "{}"]);
    }

    #[test]
    fn an_end_inside_a_frame_is_an_end() {
        for cut in ["Content-Le", "Content-Length: 7\r\n", "Content-Length: 7\r\n\r\n{1}"] {
            check(cut, &[]);
        }
    }

    #[test]
    fn bad_lengths_are_passed_over_once() {
        for bad in
            ["-5", "", "+2", "two", "2.0", "0x2", "1 2", "\u{0662}", "99999999999999999999999999"]
        {
            let bytes =
                format!("Content-Length: {bad}\r\n\r\n{{lost}}Content-Length: 2\r\n\r\n{{}}");
            check(bytes, &["no length", "{}"]);
        }
        check("Content-Type: x\r\n\r\n{lost}Content-Length: 2\r\n\r\n{}", &["no length", "{}"]);
        check(
            "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}!Content-Length: 3\r\n\r\n{1}",
            // Two lengths that differ: the second of them is found by the search, and is as good as any.
            &["no length", "{}!", "{1}"],
        );
        // Lines which are no field are passed over like fields nobody knows.
        check("rubbish\n{}\u{fffd}\nContent-Length: 2\r\n\r\n{}", &["{}"]);
    }

    #[test]
    fn long_bodies_are_passed_over_without_being_kept() {
        let body = format!("{{{}}}", "c".repeat(200_000));
        let bytes = format!("Content-Length: 200002\r\n\r\n{body}Content-Length: 2\r\n\r\n{{}}");
        let mut frames = Frames::new(bytes.as_bytes(), 64, 100_000);
        assert!(matches!(frames.next(), Ok(Some(Err(BadFrame::TooLong { length: 200_002, .. })))));
        assert_eq!(frames.next().unwrap().unwrap().unwrap(), b"{}");
        assert!(frames.buffer.capacity() <= 2 * CHUNK);
        check(
            "Content-Length: 8589934592\r\n\r\n{}Content-Length: 2\r\n\r\n{}",
            &["too long 8589934592", "{}"],
        );
    }

    #[test]
    fn memory_follows_what_came_not_what_was_announced() {
        let bytes = b"Content-Length: 99999999\r\n\r\n{";
        let mut frames = Frames::new(&bytes[..], 64, 100_000_000);
        assert!(frames.next().unwrap().is_none());
        assert!(frames.buffer.capacity() <= 2 * CHUNK);
    }

    #[test]
    fn the_memory_of_a_long_body_is_given_back() {
        let body = format!("{{{}}}", "x".repeat(2_000_000));
        let bytes =
            format!("Content-Length: {}\r\n\r\n{body}Content-Length: 2\r\n\r\n{{}}", body.len());
        let mut frames = Frames::new(bytes.as_bytes(), 64, 3_000_000);
        assert_eq!(frames.next().unwrap().unwrap().unwrap(), body.as_bytes());
        assert_eq!(frames.next().unwrap().unwrap().unwrap(), b"{}");
        assert_eq!(frames.buffer.capacity(), CHUNK);
    }

    #[test]
    fn headers_without_end_are_bounded() {
        let endless = "x".repeat(1_000_000);
        check(format!("{endless}\r\nContent-Length: 2\r\n\r\n{{}}"), &["endless", "{}"]);
        let lines = "A: b\r\n".repeat(100);
        check(format!("{lines}Content-Length: 2\r\n\r\n{{}}"), &["endless", "{}"]);
        let mut frames = Frames::new(io::repeat(b'x').take(50_000_000), 64, 100);
        assert!(matches!(frames.next(), Ok(Some(Err(BadFrame::EndlessHeader { limit: 64 })))));
        assert!(frames.next().unwrap().is_none());
        assert!(frames.buffer.capacity() <= 2 * CHUNK);
    }

    #[test]
    fn wrong_lengths_cost_no_more_than_their_neighbour() {
        // Too short: what is left over stands before the next header.
        check(
            "Content-Length: 3\r\n\r\n{long}Content-Length: 2\r\n\r\n{}",
            &["{lo", "no length", "{}"],
        );
        // Too long: the next header is inside the body, whole or cut at any byte but inside its name.
        for length in [7, 10, 15, 20, 26, 28] {
            let bytes = format!(
                "Content-Length: {length}\r\n\r\n{{}}Content-Length: 3\r\n\r\n{{1}}Content-Length: 4\r\n\r\n{{22}}"
            );
            let seen = read_all(bytes.as_bytes(), 1 << 20);
            assert_eq!(seen[1..], ["{1}", "{22}"], "announced {length}");
        }
    }

    proptest::proptest! {
        /// Whatever came before, a client that goes on with good frames is understood again.
        #[test]
        fn nothing_makes_it_lose_the_stream(
            rubbish in proptest::collection::vec(
                proptest::prop_oneof![
                    proptest::sample::select(vec![
                        "Content-Length: ", "content-length:", "Content-", "7", "70", "-", "99999",
                        "999999999999999999999", "\r\n", "\n", "\r", "\r\n\r\n", "{}", "{", "é", ":", " ",
                        "Content-Length: 3\r\n\r\n{1}", "Content-Length: 30\r\n\r\n{1}",
                    ]).prop_map(|text| text.as_bytes().to_vec()),
                    proptest::collection::vec(proptest::num::u8::ANY, 0..40),
                ],
                0..30,
            ),
            step in 1usize..100,
        ) {
            let good: String = (0..3).map(|n| format!("Content-Length: 7\r\n\r\n{{good{n}}}")).collect();
            let padding = "Content-Length: 7\r\n\r\n{.....}".repeat(100_000 / 28 + 1);
            let bytes = [rubbish.concat(), padding.into_bytes(), good.into_bytes()].concat();
            let seen = read_all(&bytes, step * step * step);
            proptest::prop_assert_eq!(&seen[seen.len() - 3..], ["{good0}", "{good1}", "{good2}"]);
        }
    }
}
