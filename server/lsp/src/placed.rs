//! Pending hunks and waiting calls as they are shown, and where they stand in the user's documents now.

use crate::convert::position_to_lsp;
use ropewalk_protocol::HunkInfo;
use ropewalk_text::Position;
use ropewalk_workspace::{DocId, FileHunks, Hunk, HunkKind, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tower_lsp::lsp_types as lsp;

/// The hunks and the waiting calls as they were shown last.
#[derive(Debug, Default)]
pub(crate) struct ShownHunks {
    pub(crate) hunks: Vec<HunkInfo>,
    /// The calls that wait, by their ids.
    pub(crate) questions: BTreeMap<u64, ShownQuestion>,
    /// The documents that have diagnostics of ours.
    pub(crate) uris: BTreeSet<String>,
}

/// A call that waits for the user.
#[derive(Clone, Debug)]
pub(crate) struct ShownQuestion {
    /// The teammate that asks, if it is one.
    pub(crate) member: Option<String>,
    /// The start of what it would run, on one line.
    pub(crate) about: String,
    /// The question, with how to answer it.
    pub(crate) words: String,
}

/// A pending hunk and where it can be looked at.
#[derive(Clone, Debug)]
pub(crate) struct ReachableHunk {
    pub(crate) id: u64,
    /// The file it changes, as it is shown.
    pub(crate) file: String,
    /// The document in which it is shown.
    pub(crate) at: DocId,
    pub(crate) range: lsp::Range,
    /// True if that is not the file it changes, which is not there yet.
    pub(crate) is_elsewhere: bool,
}

/// The hunks of one file, where they can be looked at: in the file, or in `home` if that is not there yet.
pub(crate) fn placed_in_file(
    workspace: &Workspace,
    file: &FileHunks,
    home: Option<&(DocId, lsp::Range)>,
) -> Vec<ReachableHunk> {
    let Some(doc) = file.hunks.first().map(|hunk| &hunk.doc) else { return Vec::new() };
    let coordinates = workspace.coordinates();
    let of = |hunk: &Hunk, at: &DocId, range| ReachableHunk {
        id: hunk.id.0,
        file: hunk.file.clone(),
        at: at.clone(),
        range,
        is_elsewhere: at != doc,
    };
    let in_document = |at: &DocId| {
        workspace.with_document(at, |document| {
            let range = |lines| to_lsp(coordinates.line_feed_range(document.text(), lines));
            let placed = file.placed_in(document);
            placed.map(|(hunk, lines)| of(hunk, at, range(lines))).collect::<Vec<_>>()
        })
    };
    if let Some(placed) = in_document(doc) {
        return placed;
    }
    let is_renamed = file.source != *doc;
    // A renamed file is still where it was.
    if let Some(placed) = is_renamed.then(|| in_document(&file.source)).flatten() {
        return placed;
    }
    let one = |hunk: &Hunk| {
        let is_new = matches!(hunk.kind, HunkKind::Create);
        match home.filter(|_| is_new && !is_renamed) {
            Some((home, range)) => of(hunk, home, *range),
            None => of(hunk, &file.source, bare_range(&hunk.lines)),
        }
    };
    file.hunks.iter().map(one).collect()
}

/// Lines of a document in the client's coordinates; of none, the start of the line they go before.
pub(crate) fn range_of(workspace: &Workspace, id: &DocId, lines: Range<usize>) -> lsp::Range {
    let coordinates = workspace.coordinates();
    let range = workspace.with_document(id, |document| {
        to_lsp(coordinates.line_feed_range(document.text(), lines.clone()))
    });
    range.unwrap_or_else(|| bare_range(&lines))
}

fn to_lsp(range: Range<Position>) -> lsp::Range {
    lsp::Range::new(position_to_lsp(range.start), position_to_lsp(range.end))
}

/// Whole lines of a text that is not known.
fn bare_range(lines: &Range<usize>) -> lsp::Range {
    let line = |line: usize| lsp::Position::new(u32::try_from(line).unwrap_or(u32::MAX), 0);
    lsp::Range::new(line(lines.start), line(lines.end))
}
