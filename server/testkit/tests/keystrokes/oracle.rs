//! What must hold, told by who made each character: nothing here knows how the server works.
//!
//! A [`Licence`] is what the agent saw when it made a change: the very characters it replaces, and its
//! neighbours. An edit that reaches the editor must have one, whatever happened in between.

use super::random::is_unique;
use ropewalk_testkit::editor::{AppliedChange, Author, Cell};
use std::collections::{HashMap, HashSet};

/// How many neighbours on each side are remembered.
const NEAR: usize = 4;

/// What one pending change replaces, as it was made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Licence {
    /// The characters it replaces.
    pub(crate) old: Vec<Cell>,
    /// What it puts there.
    pub(crate) new: String,
    /// The unique characters next to it, nearest first, by identity.
    pub(crate) left: Vec<u32>,
    pub(crate) right: Vec<u32>,
}

fn text(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.char).collect()
}

impl Licence {
    /// For replacing the characters `start..end` of `cells`.
    pub(crate) fn new(cells: &[Cell], start: usize, end: usize, new: &str) -> Self {
        let known = |cell: &&Cell| is_unique(cell.char);
        Self {
            old: cells[start..end].to_vec(),
            new: new.to_owned(),
            left: cells[..start]
                .iter()
                .rev()
                .filter(known)
                .take(NEAR)
                .map(|cell| cell.id)
                .collect(),
            right: cells[end..].iter().filter(known).take(NEAR).map(|cell| cell.id).collect(),
        }
    }

    /// Why replacing `start..end` of `cells` is not what it was given for. None: it is. What `was_deleted` says
    /// nothing of the place, even when the user's undo has brought it back.
    pub(crate) fn objection(
        &self,
        cells: &[Cell],
        start: usize,
        end: usize,
        was_deleted: &dyn Fn(u32) -> bool,
    ) -> Option<String> {
        let old = &cells[start..end];
        // By what they are, not by which cell they are: a character is typed once only, and a redo or another
        // opening of the file gives it another cell.
        // What was published meanwhile stands between, when the hunk was altered while it was on its way: ours
        // may go with it, theirs must be the same.
        let theirs = |cells: &[Cell]| -> String {
            cells
                .iter()
                .filter(|cell| !matches!(cell.by, Author::Server(_)))
                .map(|cell| cell.char)
                .collect()
        };
        if text(old) != text(&self.old) && theirs(old) != theirs(&self.old) {
            return Some(format!("replaces {:?} instead of {:?}", text(old), text(&self.old)));
        }
        let stays = |id: &&u32| !was_deleted(**id);
        let place = |id: &u32| cells.iter().position(|cell| cell.id == *id);
        let context = || text(&cells[start.saturating_sub(12)..(end + 12).min(cells.len())]);
        let char = |at: usize| cells[at].char;
        if let Some(left) =
            self.left.iter().filter(stays).filter_map(place).find(|left| *left >= start)
        {
            return Some(format!("is left of {:?}, in {:?}", char(left), context()));
        }
        if let Some(right) =
            self.right.iter().filter(stays).filter_map(place).find(|right| *right < end)
        {
            return Some(format!("is right of {:?}, in {:?}", char(right), context()));
        }
        None
    }

    /// The same for an edit that was made in the editor.
    pub(crate) fn permits(
        &self,
        change: &AppliedChange,
        before: &[Cell],
        was_deleted: &dyn Fn(u32) -> bool,
    ) -> bool {
        let end = change.at + change.old.len();
        change.new_text() == self.new
            && self.objection(before, change.at, end, was_deleted).is_none()
    }

    /// The same by the texts alone: for a document that was closed and opened again, whose characters are
    /// others.
    pub(crate) fn reads_like(&self, change: &AppliedChange) -> bool {
        change.new_text() == self.new && change.old_text() == text(&self.old)
    }

    /// Whether it takes this character away for good.
    pub(crate) fn took(&self, char: char) -> bool {
        !self.new.contains(char) && self.old.iter().any(|cell| cell.char == char)
    }

    /// Whether the change replaces any character that a person typed or the disk held.
    pub(crate) fn owns(&self, id: u32) -> bool {
        self.old.iter().any(|cell| cell.id == id)
    }
}

/// The user's own unique characters among `cells`.
pub(crate) fn users(cells: &[Cell]) -> impl Iterator<Item = &Cell> {
    cells.iter().filter(|cell| cell.by == Author::User && is_unique(cell.char))
}

/// One of the agents' own characters that stands twice in one text, put there by two edits with the very same
/// new text: an edit was made twice. (A difference of texts may move a word: an insertion here, a deletion
/// there, accepted one by one. Then the new texts differ.)
pub(crate) fn twice(
    cells: &[Cell],
    agents: &HashSet<char>,
    made: &HashMap<u32, Vec<String>>,
) -> Option<char> {
    let mut seen: HashMap<char, Author> = HashMap::new();
    let texts = |by: Author| match by {
        Author::Server(number) => made.get(&number).map_or(&[][..], Vec::as_slice),
        Author::Disk | Author::User => &[],
    };
    cells.iter().filter(|cell| agents.contains(&cell.char)).find_map(|cell| {
        let other = seen.insert(cell.char, cell.by)?;
        let same = |text: &&String| text.contains(cell.char) && texts(cell.by).contains(text);
        texts(other).iter().find(same).map(|_| cell.char)
    })
}
