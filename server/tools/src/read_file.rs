//! `read_file`: a file's lines, numbered, as the user and the fork have them.

use crate::blocking::blocking;
use crate::bounds::Bounds;
use crate::files::{missing, no_disguise, refused, source_words};
use crate::lines::{for_each_line, line_count, line_start};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use ropewalk_text::Text;
use ropewalk_workspace::FileState;
use schemars::JsonSchema;
use serde::Deserialize;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadFile;

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct ReadFileInput {
    /// The file.
    path: String,
    /// First line, from 1.
    offset: Option<u32>,
    /// Most lines.
    limit: Option<u32>,
}

impl TypedTool for ReadFile {
    type Input = ReadFileInput;
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file as numbered lines (number, tab, text). Unsaved text and your own pending changes are what you get.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &ReadFileInput) -> Subject {
        Subject::path(&input.path)
    }

    fn run(&self, input: ReadFileInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        blocking(move |_| read(&input, &context))
    }
}

fn read(input: &ReadFileInput, context: &Context) -> Result<ToolOutput, ToolOutput> {
    let view = &context.view;
    let (place, roots) = view.contain_readable(&input.path).map_err(ToolOutput::error)?;
    no_disguise(&place, &input.path)?;
    let state = view.read_in(&place, roots).map_err(|error| refused(&error))?;
    let (text, source) = match state {
        FileState::Text { text, source, .. } => (text, source),
        FileState::Binary { len } if is_picture(&place.path) => {
            return Ok(ToolOutput::text(format!(
                "{} is a picture of {len} bytes. Pictures can't be shown to you here: ask the user what is on it if that matters",
                place.shown
            )));
        }
        FileState::Binary { len } => {
            return Ok(ToolOutput::text(format!(
                "{} is a binary file of {len} bytes; it has no lines to show",
                place.shown
            )));
        }
        FileState::Missing => return Err(missing(view, &place)),
    };
    let first = input.offset.unwrap_or(1).max(1) as usize;
    let limit = input.limit.map_or(usize::MAX, |limit| limit.max(1) as usize);
    if line_count(&text) == 0 {
        return Ok(ToolOutput::text(format!("({} is empty)", place.shown)));
    }
    let lines = FileLines::new(text, &place.shown, first, limit)?;
    let words = source_words(view, &place, source);
    let mut output = ToolOutput::sized(context.bounds, false, move |bounds| lines.page(bounds));
    if !words.is_empty() {
        output.say(&format!("\n({words})"));
    }
    Ok(output)
}

/// True if a binary file's name says that it is a picture.
fn is_picture(path: &Path) -> bool {
    const PICTURES: [&str; 13] = [
        "avif", "bmp", "gif", "heic", "ico", "jpeg", "jpg", "jxl", "png", "psd", "tif", "tiff",
        "webp",
    ];
    let is = |extension: &OsStr| PICTURES.iter().any(|known| extension.eq_ignore_ascii_case(known));
    path.extension().is_some_and(is)
}

/// Lines of a file from a number on.
struct FileLines {
    text: Text,
    /// How many lines the file has.
    lines: usize,
    /// Where the first one begins, in bytes.
    start: usize,
    first: usize,
    /// The most of them.
    limit: usize,
}

impl FileLines {
    fn new(text: Text, shown: &str, first: usize, limit: usize) -> Result<Self, ToolOutput> {
        let lines = line_count(&text);
        match line_start(&text, first).filter(|_| first <= lines) {
            Some(start) => Ok(Self { text, lines, start, first, limit }),
            None => Err(ToolOutput::error(format_args!(
                "{shown} has {lines} lines, so there is no line {first}. Use a smaller offset"
            ))),
        }
    }

    /// As many as fit the bounds, and how to read on.
    fn page(&self, Bounds { max_chars }: Bounds) -> String {
        let Self { text, lines, start, first, limit } = self;
        let mut page = FilePage { out: String::new(), chars: 0, next: *first, max_chars, cut: 0 };
        let end = first.saturating_add(*limit);
        for_each_line(text, *start, |line| {
            if page.next < end && page.add(line) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        let FilePage { mut out, next, cut, .. } = page;
        if cut > 0 {
            out.push_str(&format!(
                "\n(line {} is cut: {cut} more characters; a command can read them)",
                next - 1
            ));
        }
        let more = (lines + 1).saturating_sub(next);
        if more > 0 {
            out.push_str(&format!("\n... ({more} more lines) Read on with offset {next}."));
        }
        out
    }
}

/// A page being filled.
struct FilePage {
    out: String,
    chars: usize,
    next: usize,
    max_chars: usize,
    /// How many characters of the one line on the page did not fit.
    cut: usize,
}

impl FilePage {
    /// Adds the next line if it fits; a first line that doesn't is cut. False when the page is full.
    fn add(&mut self, line: &str) -> bool {
        let number = format!("{:>6}\t", self.next);
        let separator = usize::from(!self.out.is_empty());
        let long = line.chars().count() + number.len() + separator;
        let room = self.max_chars.saturating_sub(self.chars);
        if long > room {
            if !self.out.is_empty() {
                return false;
            }
            let fits = room.saturating_sub(number.len());
            self.out.push_str(&number);
            self.out.extend(line.chars().take(fits));
            self.cut = long - number.len() - fits;
            self.chars = self.max_chars;
            self.next += 1;
            return true;
        }
        if separator == 1 {
            self.out.push('\n');
        }
        self.out.push_str(&number);
        self.out.push_str(line);
        self.chars += long;
        self.next += 1;
        true
    }
}
