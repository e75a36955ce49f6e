//! `write_file`: a whole text for a file, new or old.
//!
//! A file on the disk keeps its line ends, byte order mark and encoding.

use crate::blocking::blocking;
use crate::files::{bytes_in_file, fits_the_fork, look_to_change, was_renamed};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use ropewalk_text::Text;
use ropewalk_text::decode::FileFormat;
use ropewalk_workspace::{FileState, Proposal, ProposedChange};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteFile;

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct WriteFileInput {
    /// The file; missing folders are made.
    path: String,
    /// The whole text.
    content: String,
}

impl TypedTool for WriteFile {
    type Input = WriteFileInput;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str =
        "Creates a file or replaces its whole text. For a part of a file use edit_file.";
    const EFFECT: Effect = Effect::Write;

    fn subject(&self, input: &WriteFileInput) -> Subject {
        Subject::path(&input.path)
    }

    fn run(&self, input: WriteFileInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        blocking(move |_| write(input, &context))
    }
}

fn write(input: WriteFileInput, context: &Context) -> Result<ToolOutput, ToolOutput> {
    let WriteFileInput { path, mut content } = input;
    if path.ends_with('/') {
        return Err(ToolOutput::error(format_args!(
            "{path} names a folder. Give the path of a file; its folders are made"
        )));
    }
    if content.contains('\0') {
        return Err(ToolOutput::error(
            "content holds a NUL character, so the file would be no text. Leave it out, or make the file by a command",
        ));
    }
    let (place, state) = look_to_change(&context.view, &path)?;
    fits_the_fork(&context.view, &place)?;
    if was_renamed(&context.view, &place) {
        // The fork has one change of a file's name at a time.
        return Err(ToolOutput::error(format_args!(
            "{} was given another name by a pending change of yours, so it can't be written until the user has accepted that. Choose another name, or finish without it",
            place.shown
        )));
    }
    let mut notes = Vec::new();
    let (before, format, is_binary) = match state {
        FileState::Text { text, format, .. } => (Some(text), format, false),
        FileState::Binary { .. } => (None, FileFormat::default(), true),
        FileState::Missing => (None, FileFormat::default(), false),
    };
    if let Some(before) = &before {
        if let Some(rest) = content.strip_prefix('\u{feff}') {
            content = rest.to_owned();
        }
        let others = before.line_feeds() - before.crlfs();
        if before.crlfs() > others && !content.contains('\r') && content.contains('\n') {
            content = content.replace('\n', "\r\n");
            notes.push("its CRLF line ends kept");
        }
    }
    let after = Text::from(content.as_str());
    if before.as_ref() == Some(&after) {
        return Ok(ToolOutput::text(format!(
            "{} holds exactly this text already; nothing to change",
            place.shown
        )));
    }
    let bytes = bytes_in_file(&after, format).map_err(|error| {
        ToolOutput::error(format_args!("{}: {error}; write it another way", place.shown))
    })?;
    match (&before, is_binary) {
        (None, false) => notes.push("new file"),
        (None, true) => notes.push("it was a binary file"),
        (Some(_), _) => {}
    }
    if format.bom {
        notes.push("its byte order mark kept");
    }
    let change = ProposedChange::Write(after);
    let mut words = format!("Wrote {bytes} bytes to {}", place.shown);
    if !notes.is_empty() {
        words.push_str(&format!(" ({})", notes.join("; ")));
    }
    Ok(ToolOutput::proposing(words, vec![Proposal { place, change }]))
}
