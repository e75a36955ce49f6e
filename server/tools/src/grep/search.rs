//! One text searched by ripgrep's searcher, and the lines that are kept of it.
//!
//! A text of a buffer or of the fork is searched as it is; one of the disk is read for this search alone, so
//! that a search through a large folder keeps nothing. What is no text is passed over.

use crate::lines::for_each_line;
use crate::tool::ToolOutput;
use crate::walk::ViewFile;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ropewalk_files::disk::{self, FileError};
use ropewalk_text::Text;
use ropewalk_text::decode::decode;
use ropewalk_workspace::{FileState, View};
use std::io;
use std::ops::ControlFlow;

/// The largest file of the disk that is searched, in bytes.
const LARGEST: u64 = 64 << 20;
/// The most matching lines that are shown.
const MOST_SHOWN: usize = 200;
/// The most that are counted; then the search ends.
const MOST_COUNTED: usize = 10_000;
/// The most characters of a line that are shown.
const LINE_CHARS: usize = 300;
/// How much is shown before a match that lies far in its line.
const LEAD_CHARS: usize = 80;

/// The most bytes that a pattern takes when it is made ready, and again of what searching with it remembers.
const PATTERN_BYTES: usize = 10 << 20;

/// A pattern that was understood.
pub(super) struct SearchPattern {
    matcher: RegexMatcher,
    /// True if a match can reach over line ends.
    multi_line: bool,
    /// Why it is searched literally though it wasn't asked for.
    pub(super) fell_back: Option<String>,
}

impl SearchPattern {
    pub(super) fn new(pattern: &str, literal: bool, ignore_case: bool) -> Result<Self, ToolOutput> {
        if pattern.is_empty() {
            return Err(ToolOutput::error("the pattern is empty. Give what to search for"));
        }
        let multi_line = pattern.contains('\n') || !literal && pattern.contains("\\n");
        let build = |literal: bool| {
            RegexMatcherBuilder::new()
                .multi_line(true)
                .case_insensitive(ignore_case)
                .fixed_strings(literal)
                .line_terminator(if multi_line { None } else { Some(b'\n') })
                .size_limit(PATTERN_BYTES)
                .dfa_size_limit(PATTERN_BYTES)
                .build(pattern)
        };
        let wrong = |error: grep_regex::Error| {
            ToolOutput::error(format_args!("the pattern can't be searched for: {error}"))
        };
        match build(literal) {
            Ok(matcher) => Ok(Self { matcher, multi_line, fell_back: None }),
            Err(error) if !literal => {
                // The message shows the pattern over several lines; the last says what is wrong.
                let why = error.to_string();
                if why.contains("size limit") {
                    return Err(ToolOutput::error(
                        "the pattern is too large: its repetitions make more of it than can be searched for. Use smaller numbers in { }, or * and +",
                    ));
                }
                let why = why.lines().last().unwrap_or_default();
                let fell_back = Some(why.trim_start_matches("error: ").to_owned());
                Ok(Self { matcher: build(true).map_err(wrong)?, multi_line, fell_back })
            }
            Err(error) => Err(wrong(error)),
        }
    }
}

/// Matches, in order.
pub(super) struct Hits {
    out: String,
    context: usize,
    shown: usize,
    counted: usize,
}

impl Hits {
    pub(super) fn new(context: usize) -> Self {
        Self { out: String::new(), context, shown: 0, counted: 0 }
    }

    /// True if nothing more is counted.
    pub(super) fn is_full(&self) -> bool {
        self.counted >= MOST_COUNTED
    }

    /// The lines, and how many more there are.
    pub(super) fn into_text(mut self) -> String {
        if self.counted == 0 {
            return "(no matches)".to_owned();
        }
        let more = self.counted - self.shown;
        if more > 0 {
            let at_least = if self.is_full() { "at least " } else { "" };
            self.out.push_str(&format!(
                "... ({at_least}{more} more matches; narrow the pattern, path or include)"
            ));
        }
        self.out.trim_end_matches('\n').to_owned()
    }
}

/// Searches one file of the view.
pub(super) fn file(
    view: &View,
    ViewFile { place, roots, .. }: &ViewFile<'_>,
    pattern: &SearchPattern,
    hits: &mut Hits,
) -> Result<(), FileError> {
    let id = place.doc();
    if view.entries().contains_key(&id) || view.buffers().contains_key(&id) {
        if let FileState::Text { text, .. } = view.read(place)? {
            rope(&text, &place.shown, pattern, hits);
        }
        return Ok(());
    }
    let bytes = disk::read(roots, place, LARGEST)?.bytes;
    let has_mark = bytes.starts_with(b"\xEF\xBB\xBF") || bytes.starts_with(b"\xFF\xFE");
    let is_plain = !has_mark
        && !bytes.starts_with(b"\xFE\xFF")
        && memchr::memchr2(0, b'\r', &bytes).is_none()
        && std::str::from_utf8(&bytes).is_ok();
    if is_plain {
        slice(&bytes, &place.shown, pattern, hits);
    } else if let Some((text, _)) = decode(&bytes) {
        rope(&text, &place.shown, pattern, hits);
    }
    Ok(())
}

/// Searches a text. One with carriage returns is searched with line feeds in their stead.
fn rope(text: &Text, shown: &str, pattern: &SearchPattern, hits: &mut Hits) {
    if text.crlfs() + text.lone_crs() > 0 {
        let mut plain = String::with_capacity(text.len());
        for_each_line(text, 0, |line| {
            plain.push_str(line);
            plain.push('\n');
            ControlFlow::<()>::Continue(())
        });
        return slice(plain.as_bytes(), shown, pattern, hits);
    }
    let chunks = Chunks { rest: &[], chunks: text.chunks() };
    let mut taker = Taker { hits, shown, pattern };
    let searched =
        searcher(pattern, taker.hits.context).search_reader(&pattern.matcher, chunks, &mut taker);
    log(searched);
}

fn slice(bytes: &[u8], shown: &str, pattern: &SearchPattern, hits: &mut Hits) {
    let mut taker = Taker { hits, shown, pattern };
    log(searcher(pattern, taker.hits.context).search_slice(&pattern.matcher, bytes, &mut taker));
}

/// Nothing here reads a disk, so what fails is the searcher's own set-up.
fn log(searched: Result<(), io::Error>) {
    if let Err(error) = searched {
        tracing::warn!(%error, "a text could not be searched");
    }
}

fn searcher(pattern: &SearchPattern, context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .multi_line(pattern.multi_line)
        .before_context(context)
        .after_context(context)
        .bom_sniffing(false)
        .build()
}

/// Reads a text chunk by chunk.
struct Chunks<'a, C> {
    rest: &'a [u8],
    chunks: C,
}

impl<'a, C: Iterator<Item = &'a str>> io::Read for Chunks<'a, C> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            let Some(chunk) = self.chunks.next() else { return Ok(0) };
            self.rest = chunk.as_bytes();
        }
        io::Read::read(&mut self.rest, into)
    }
}

/// Takes the lines of one file.
struct Taker<'a> {
    hits: &'a mut Hits,
    shown: &'a str,
    pattern: &'a SearchPattern,
}

impl Taker<'_> {
    fn put(&mut self, number: u64, sign: char, line: &[u8], from: usize) {
        let line = String::from_utf8_lossy(line);
        self.hits.out.push_str(&format!(
            "{}{sign}{number}{sign} {}\n",
            self.shown,
            cut(&line, from)
        ));
    }
}

impl Sink for Taker<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let first = found.line_number().unwrap_or_default();
        for (number, line) in (first..).zip(found.lines()) {
            self.hits.counted += 1;
            if self.hits.shown < MOST_SHOWN {
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                let at = self.pattern.matcher.find(line).ok().flatten().map_or(0, |at| at.start());
                self.put(number, ':', line, at);
                self.hits.shown += 1;
            }
        }
        Ok(!self.hits.is_full())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.hits.shown < MOST_SHOWN {
            let line = context.bytes();
            let number = context.line_number().unwrap_or_default();
            self.put(number, '-', line.strip_suffix(b"\n").unwrap_or(line), 0);
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.hits.shown < MOST_SHOWN {
            self.hits.out.push_str("--\n");
        }
        Ok(true)
    }
}

/// A line that may be too long to show whole; then the part around the byte `from`.
fn cut(line: &str, from: usize) -> String {
    let chars = line.chars().count();
    if chars <= LINE_CHARS {
        return line.to_owned();
    }
    let before = line.char_indices().take_while(|(at, _)| *at < from).count();
    let start = if before > LINE_CHARS - LEAD_CHARS { before - LEAD_CHARS } else { 0 };
    let part: String = line.chars().skip(start).take(LINE_CHARS).collect();
    let (head, tail) =
        (if start > 0 { "…" } else { "" }, if start + LINE_CHARS < chars { "…" } else { "" });
    format!("{head}{part}{tail} ({chars} characters)")
}
