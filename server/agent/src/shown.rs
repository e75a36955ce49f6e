//! Pending hunks as events carry them, with no key in what is shown.

use ropewalk_model::Keys;
use ropewalk_protocol::{ChangeKind, HunkInfo, HunkMember, TextPosition, TextRange};
use ropewalk_text::Position;
use ropewalk_tools::policy::TrustedReader;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::{Hunk, HunkKind, HunkState};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The most bytes of a text of a hunk that an event carries.
pub(crate) const MOST_TEXT: usize = 32 << 10;

/// The most bytes of all texts of the hunks that an event carries, as they are written in JSON.
pub(crate) const MOST_TEXTS: usize = 1 << 20;

/// A place as front ends get it.
pub(crate) fn text_range(range: Range<Position>) -> TextRange {
    let place = |at: Position| TextPosition { line: at.line, character: at.character };
    TextRange { start: place(range.start), end: place(range.end) }
}

/// Leaves out the texts that are long, and those that are long together with what stands before them.
pub(crate) fn leave_out_long(hunks: &mut [HunkInfo]) {
    let mut left = MOST_TEXTS;
    for hunk in hunks {
        let mut texts = [&mut hunk.old, &mut hunk.new, &mut hunk.diff];
        for text in &mut texts {
            text.take_if(|text| text.len() > MOST_TEXT);
        }
        let lengths = texts.iter().map(|text| text.as_deref().map_or(0, written_length));
        match left.checked_sub(lengths.sum()) {
            Some(rest) => left = rest,
            None => drop(texts.map(Option::take)),
        }
    }
}

/// The length of a text in JSON.
pub(crate) fn written_length(text: &str) -> usize {
    let written = |byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(written).sum()
}

/// A hunk for events, without its place. `commands` are those that were run, by the ids of their calls; `reader` is who
/// runs or follows the file.
pub(crate) fn hunk_info(
    hunk: &Hunk,
    commands: &HashMap<Arc<str>, String>,
    reader: Option<TrustedReader>,
    keys: &Keys,
) -> HunkInfo {
    let calls: Vec<&Arc<str>> = hunk.makers.iter().filter_map(Maker::call).collect();
    let commands = calls.iter().filter_map(|call| commands.get(*call));
    let shown = |text: &String| keys.redact(text).into_owned();
    HunkInfo {
        commands: commands.map(shown).collect(),
        members: hunk.makers.iter().filter_map(member).collect(),
        calls: calls.into_iter().map(|call| call.clone().into()).collect(),
        id: hunk.id.0,
        uri: hunk.doc.to_uri(),
        file: hunk.file.clone(),
        kind: kind(&hunk.kind),
        line: hunk.lines.start,
        lines: hunk.lines.len(),
        source: None,
        version: None,
        range: TextRange::default(),
        old: Some(shown(&hunk.old)),
        new: Some(shown(&hunk.new)),
        diff: Some(shown(&hunk.diff)),
        turn: hunk.turn,
        sent: hunk.state == HunkState::Sent,
        review: reader.map(|reader| reader.to_string()),
    }
}

fn member(maker: &Maker) -> Option<HunkMember> {
    match maker {
        Maker::Member { name, task } => Some(HunkMember { member: name.to_string(), task: *task }),
        Maker::Call(_) | Maker::User | Maker::Disk => None,
    }
}

fn kind(kind: &HunkKind) -> ChangeKind {
    match kind {
        HunkKind::Text => ChangeKind::Text,
        HunkKind::Create => ChangeKind::Create,
        HunkKind::Delete => ChangeKind::Delete,
        HunkKind::Rename { .. } => ChangeKind::Rename,
        HunkKind::Binary => ChangeKind::Binary,
        HunkKind::Mode(_) => ChangeKind::Mode,
        HunkKind::Link { .. } => ChangeKind::Link,
    }
}
