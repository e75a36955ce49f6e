//! One buffer: its characters, each with its maker, its versions, its undo list, and what of it was told.
//!
//! Characters keep their identity: undoing a deletion brings back the very same ones. That is what tests
//! hold the server against. A buffer answers nothing and checks nothing; that is `client`.

use super::coordinates;
use super::profile::Profile;
use ropewalk_text::{Coordinates, LineEnds, Position};
use ropewalk_workspace::ContentChange;
use std::collections::HashSet;
use std::ops::Range;

/// Author of a character in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Author {
    /// It was there when the document was opened, or came from the disk.
    Disk,
    /// The user typed it.
    User,
    /// An edit of the server's: the number counts them.
    Server(u32),
}

/// One character of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The character.
    pub char: char,
    /// Its identity, unique in its client.
    pub id: u32,
    /// Author of the character.
    pub by: Author,
}

/// A replaced range of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Where.
    pub at: usize,
    /// Cells that stood there.
    pub old: Vec<Cell>,
    /// Cells that stand there now.
    pub new: Vec<Cell>,
}

/// How a step is told to the server, where the client does not minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoShape {
    /// As it was made.
    AsMade,
    /// As it was made, and so is all else that is told with it, where the client would tell one difference of it.
    Apart,
    /// All of the new text is inserted at the end, then all of the old text is deleted: Neovim after an
    /// external formatter.
    InsertAllDeleteAll,
    /// The whole text, without a range.
    Whole,
}

/// One entry of the undo list.
#[derive(Clone, Debug)]
struct UndoStep {
    splices: Vec<Splice>,
    by: Author,
}

/// One open document.
#[derive(Clone, Debug)]
pub struct Buffer {
    cells: Vec<Cell>,
    /// Counts changes; the document's version.
    tick: i32,
    /// The characters as of the last flush.
    told: Vec<Cell>,
    held: Vec<ContentChange>,
    /// True if each change is told by itself.
    tells_each: bool,
    /// Versions and characters after each change that is held back, where each is told by itself.
    steps: Vec<(i32, Vec<Cell>)>,
    /// True if what is held back is told change by change.
    apart: bool,
    undo: Vec<UndoStep>,
    redo: Vec<UndoStep>,
    /// The text that was last read from or written to the disk.
    saved: String,
    /// The characters that the server was told were deleted, be they back or never gone.
    deleted: HashSet<u32>,
    /// How many bytes and lines the changes held back delete.
    held_deletes: (usize, usize),
}

impl Buffer {
    pub(super) fn new(cells: Vec<Cell>, version: i32, tells_each: bool) -> Self {
        let saved = text_of(&cells);
        Self {
            told: cells.clone(),
            cells,
            tick: version,
            held: Vec::new(),
            tells_each,
            steps: Vec::new(),
            apart: false,
            undo: Vec::new(),
            redo: Vec::new(),
            saved,
            deleted: HashSet::new(),
            held_deletes: (0, 0),
        }
    }

    /// The characters.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The text.
    pub fn text(&self) -> String {
        text_of(&self.cells)
    }

    /// The version now, told or not.
    pub fn version(&self) -> i32 {
        self.tick
    }

    /// True if the text differs from the disk's as last read or written.
    pub fn is_dirty(&self) -> bool {
        self.text() != self.saved
    }

    /// True if the server was told that a character was deleted, even if it is back since or stood
    /// inside a coarse change. Its place tells the server nothing, then.
    pub fn was_deleted(&self, id: u32) -> bool {
        self.deleted.contains(&id)
    }

    /// True if there are changes that were not told yet.
    pub fn holds_changes(&self) -> bool {
        !self.held.is_empty()
    }

    /// How many steps can be undone, and who made the last.
    pub fn undo_list(&self) -> (usize, Option<Author>) {
        (self.undo.len(), self.undo.last().map(|step| step.by))
    }

    /// The index of the character at a position, clamped.
    pub fn index(&self, coordinates: Coordinates, position: Position) -> usize {
        coordinates::index(&self.cells, coordinates, position)
    }

    /// The position of the character at `index`.
    pub fn position(&self, coordinates: Coordinates, index: usize) -> Position {
        coordinates::position(&self.cells, coordinates, index)
    }

    /// The text was written to the disk as it is.
    pub(super) fn saved(&mut self) {
        self.saved = self.text();
    }

    /// Replaces ranges, given in the text as it is now, sorted and disjoint, as one step of the undo list.
    /// Gives what was replaced, in the same order.
    pub(super) fn edit(
        &mut self,
        changes: Vec<(Range<usize>, Vec<Cell>)>,
        by: Author,
        shape: EchoShape,
        coordinates: Coordinates,
    ) -> Vec<Splice> {
        let mut splices = Vec::with_capacity(changes.len());
        // From the end backwards, so that the earlier ranges stay true.
        for (range, new) in changes.into_iter().rev() {
            let old = self.cells.get(range.clone()).unwrap_or_default().to_vec();
            splices.push(Splice { at: range.start, old, new });
        }
        self.perform(&splices, shape, coordinates);
        self.redo.clear();
        self.undo.push(UndoStep { splices: splices.clone(), by });
        splices.reverse();
        splices
    }

    /// Takes back the last step. False when there is none.
    pub(super) fn undo(&mut self, coordinates: Coordinates) -> bool {
        let Some(step) = self.undo.pop() else {
            return false;
        };
        let inverse: Vec<Splice> = step
            .splices
            .iter()
            .rev()
            .map(|splice| Splice {
                at: splice.at,
                old: splice.new.clone(),
                new: splice.old.clone(),
            })
            .collect();
        self.perform(&inverse, EchoShape::AsMade, coordinates);
        self.redo.push(step);
        true
    }

    /// Makes the step last taken back once more. False when there is none.
    pub(super) fn redo(&mut self, coordinates: Coordinates) -> bool {
        let Some(step) = self.redo.pop() else {
            return false;
        };
        self.perform(&step.splices, EchoShape::AsMade, coordinates);
        self.undo.push(step);
        true
    }

    /// Makes splices one after the other, each in the text that the one before it left.
    fn perform(&mut self, splices: &[Splice], shape: EchoShape, coordinates: Coordinates) {
        let before = self.cells.len();
        let whole_end = self.position(coordinates, before);
        let last = self.cells.last().map(|cell| cell.char);
        let as_made = matches!(shape, EchoShape::AsMade | EchoShape::Apart);
        self.apart |= shape == EchoShape::Apart;
        for splice in splices {
            let end = splice.at + splice.old.len();
            if as_made {
                let change = self.told_as(splice.at..end, &splice.new, coordinates);
                self.held.push(change);
            }
            self.deleted.extend(splice.old.iter().map(|cell| cell.id));
            self.count_deleted(&splice.old);
            self.cells.splice(splice.at..end, splice.new.iter().copied());
            if as_made && self.tells_each {
                self.tick += 1;
                self.steps.push((self.tick, self.cells.clone()));
            }
        }
        if !as_made {
            self.deleted.extend(self.cells.iter().map(|cell| cell.id));
        }
        let ends_in_return = last == Some('\r');
        let begins_with_feed = self.cells.first().is_some_and(|cell| cell.char == '\n');
        let is_pair = coordinates.line_ends == LineEnds::Lsp && ends_in_return && begins_with_feed;
        match shape {
            EchoShape::AsMade | EchoShape::Apart => {}
            // No position is between the two texts, where they meet in a pair of line end bytes.
            EchoShape::InsertAllDeleteAll if is_pair => {
                self.held.push(ContentChange { range: None, text: self.text() });
            }
            EchoShape::Whole => {
                self.held.push(ContentChange { range: None, text: self.text() });
            }
            EchoShape::InsertAllDeleteAll => {
                let text = self.text();
                let start = Position::default();
                self.held.push(ContentChange { range: Some((whole_end, whole_end)), text });
                self.held
                    .push(ContentChange { range: Some((start, whole_end)), text: String::new() });
            }
        }
        if !as_made || !self.tells_each {
            self.tick += 1;
        }
        // Coarse changes are told in one.
        if !as_made {
            self.steps.clear();
        }
    }

    fn count_deleted(&mut self, cells: &[Cell]) {
        self.held_deletes.0 += cells.iter().map(|cell| cell.char.len_utf8()).sum::<usize>();
        self.held_deletes.1 += cells.iter().filter(|cell| cell.char == '\n').count();
    }

    /// A replaced range as the protocol can say it: there is no position between a carriage return and its
    /// line feed, so a range that ends there takes the pair along.
    fn told_as(
        &self,
        range: Range<usize>,
        new: &[Cell],
        coordinates: Coordinates,
    ) -> ContentChange {
        let (mut start, mut end) = (range.start, range.end);
        let mut text = text_of(new);
        if self.splits_pair(start, coordinates) {
            start -= 1;
            text.insert(0, '\r');
        }
        if self.splits_pair(end, coordinates) {
            end += 1;
            text.push('\n');
        }
        let range = (self.position(coordinates, start), self.position(coordinates, end));
        ContentChange { range: Some(range), text }
    }

    /// True if `index` has no position of its own.
    fn splits_pair(&self, index: usize, coordinates: Coordinates) -> bool {
        let char = |index: usize| self.cells.get(index).map(|cell| cell.char);
        coordinates.line_ends == LineEnds::Lsp
            && char(index) == Some('\n')
            && index.checked_sub(1).and_then(char) == Some('\r')
    }

    /// Notifications that are to be told, each with its version and the characters after it, and forgets that they were
    /// held back.
    pub(super) fn flush(
        &mut self,
        profile: &Profile,
        coordinates: Coordinates,
    ) -> Vec<(i32, Vec<ContentChange>, Vec<Cell>)> {
        let steps = std::mem::take(&mut self.steps);
        if steps.len() < 2 || steps.len() != self.held.len() {
            let told = self.told_in_one(profile, coordinates);
            return told.map(|told| (self.tick, told, self.cells.clone())).into_iter().collect();
        }
        let (held, last) = (std::mem::take(&mut self.held), self.cells.clone());
        let tell = |((tick, cells), change): ((i32, Vec<Cell>), ContentChange)| {
            self.cells = cells;
            self.held = vec![change];
            let told = self.told_in_one(profile, coordinates)?;
            Some((tick, told, self.cells.clone()))
        };
        let told = steps.into_iter().zip(held).filter_map(tell).collect();
        self.cells = last;
        told
    }

    fn told_in_one(
        &mut self,
        profile: &Profile,
        coordinates: Coordinates,
    ) -> Option<Vec<ContentChange>> {
        if self.held.is_empty() {
            return None;
        }
        let mut changes = std::mem::take(&mut self.held);
        let coarse = changes.iter().any(|change| change.range.is_none())
            || changes.iter().any(|change| change.text.len() > 100 && change.text == self.text());
        let apart = std::mem::take(&mut self.apart);
        if profile.minimises && !coarse && !apart {
            let (old, change) = difference(&self.told, &self.cells, coordinates);
            let covered = self.told.get(old).unwrap_or_default();
            self.deleted.extend(covered.iter().map(|cell| cell.id));
            self.held_deletes = (0, 0);
            let covered = covered.to_vec();
            self.count_deleted(&covered);
            changes = vec![change];
        }
        // A deletion of so much is known by the text it leaves alone: the server takes the
        // difference of the texts.
        let (bytes, lines) = std::mem::take(&mut self.held_deletes);
        let len: usize = self.told.iter().map(|cell| cell.char.len_utf8()).sum();
        if lines > 20 || (bytes > 80 && bytes > len / 2) {
            self.deleted.extend(self.told.iter().chain(&self.cells).map(|cell| cell.id));
        }
        self.told.clone_from(&self.cells);
        Some(changes)
    }
}

/// The one change that turns `before` into `after`, as narrow as it can be. Both may be equal: the change is
/// then empty, at the end.
/// Also the characters of `before` that it covers.
fn difference(
    before: &[Cell],
    after: &[Cell],
    coordinates: Coordinates,
) -> (Range<usize>, ContentChange) {
    let same = |(a, b): &(&Cell, &Cell)| a.char == b.char;
    let prefix = before.iter().zip(after).take_while(same).count();
    let most = before.len().min(after.len()) - prefix;
    let suffix = before.iter().rev().zip(after.iter().rev()).take(most).take_while(same).count();
    let start = coordinates::position(before, coordinates, prefix);
    let end = coordinates::position(before, coordinates, before.len() - suffix);
    let text = text_of(after.get(prefix..after.len() - suffix).unwrap_or_default());
    (prefix..before.len() - suffix, ContentChange { range: Some((start, end)), text })
}

/// The characters as a string.
pub(super) fn text_of(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.char).collect()
}
