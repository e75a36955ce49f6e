//! Places of a file's pending hunks as the client counts.

use super::{FileHunks, Hunk};
use crate::workspace::Workspace;
use crate::{DocId, Document};
use ropewalk_text::{Coordinates, Position};
use std::ops::Range;

/// Hunks of a document, each with the lines that it replaces there.
#[derive(Clone, Debug)]
pub struct HunkPlaces<'a> {
    /// The document, if it is open: the file's own, or that of the name it is to lose.
    pub document: Option<DocId>,
    /// The version of the document that the places are of; none if it is not open.
    pub version: Option<i32>,
    /// The hunks that still wait.
    pub hunks: Vec<PlacedHunk<'a>>,
}

/// A hunk, and the lines that it replaces.
pub type PlacedHunk<'a> = (&'a Hunk, Range<Position>);

impl FileHunks {
    /// Where the hunks stand now, all in the same version of their document.
    pub fn places(&self, workspace: &Workspace) -> HunkPlaces<'_> {
        let coordinates = workspace.coordinates();
        let own = self.hunks.first().map(|hunk| &hunk.doc);
        let open = own.into_iter().chain([&self.source]).find_map(|id| {
            let in_document = |document: &mut Document| self.places_in(document, coordinates);
            Some((id.clone(), workspace.with_document(id, in_document)??))
        });
        if let Some((id, (version, hunks))) = open {
            return HunkPlaces { document: Some(id), version: Some(version), hunks };
        }
        let place = |hunk: &Hunk| match &self.base {
            Some((text, _)) => coordinates.line_feed_range(text, hunk.lines.clone()),
            None => whole_lines(&hunk.lines),
        };
        let hunks = self.hunks.iter().map(|hunk| (hunk, place(hunk))).collect();
        HunkPlaces { document: None, version: None, hunks }
    }

    /// None where the hunks are of another text than the document has had since it was opened: they have to follow first.
    fn places_in<'a>(
        &'a self,
        document: &Document,
        coordinates: Coordinates,
    ) -> Option<(i32, Vec<PlacedHunk<'a>>)> {
        let (_, cursor) = self.base.as_ref()?;
        cursor.as_ref().filter(|cursor| document.log().knows(cursor))?;
        let place = |lines| coordinates.line_feed_range(document.text(), lines);
        let hunks = self.placed_in(document).map(|(hunk, lines)| (hunk, place(lines)));
        Some((document.version, hunks.collect()))
    }
}

/// Lines of a text that is not known.
fn whole_lines(lines: &Range<usize>) -> Range<Position> {
    let start = |line: usize| Position::new(u32::try_from(line).unwrap_or(u32::MAX), 0);
    start(lines.start)..start(lines.end)
}
