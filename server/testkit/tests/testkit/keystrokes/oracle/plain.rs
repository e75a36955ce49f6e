//! Characters that occur more than once: which of them a call has seen and meant to take away.

use super::{Licences, Texts, is_unique};
use ropewalk_testkit::editor::{Author, Cell};
use std::collections::HashSet;
use std::ops::Range;

/// A document's characters and the changes of them that are pending.
pub(crate) struct Plain<'a> {
    pub(crate) cells: &'a [Cell],
    /// Range that each change replaces, in order; true if it brings nothing.
    pub(crate) changes: Vec<(Range<usize>, bool)>,
    /// The places of the changes that were made anew.
    pub(crate) anew: &'a HashSet<usize>,
    /// The how manyth opening a cell stood in from its start. A call that looked before knew it by its place only.
    pub(crate) first: &'a dyn Fn(u32) -> Option<u32>,
    /// True if changes were told as differences of texts.
    pub(crate) told_vaguely: bool,
    /// True for a cell that was told to go and stands there still: all of the text around it was told anew.
    pub(crate) told_anew: &'a dyn Fn(u32) -> bool,
}

impl Plain<'_> {
    /// Ranges that could be deleted instead of this deletion's and leave the very same text. In a
    /// repeating text it may stand further left or right, as far as no other change is.
    fn same_deletions(&self, index: usize) -> impl Iterator<Item = Range<usize>> {
        let (range, only_deletes) = &self.changes[index];
        let before = index.checked_sub(1).map_or(0, |before| self.changes[before].0.end);
        let after = self.changes.get(index + 1).map_or(self.cells.len(), |(after, _)| after.start);
        let (before, after) =
            if *only_deletes { (before, after) } else { (range.start, range.end) };
        let equal =
            |(one, other): &(usize, usize)| self.cells[*one].char == self.cells[*other].char;
        let left = (before..range.start).rev().zip((0..range.end).rev());
        let right = (range.start..).zip(range.end..after);
        let left = left.take_while(equal).map(|(start, end)| start..end);
        let right = right.take_while(equal).map(|(start, end)| start + 1..end + 1);
        left.chain(right)
    }

    /// True if the run of unseen cells around `at` may as well stand a step further left or right, so that a cell that
    /// was seen stands here: of what was typed between two equal texts a difference can't tell which of them is new.
    fn is_turned(&self, at: usize, unseen: impl Fn(usize) -> bool) -> bool {
        let left = (0..at).rev().take_while(|at| unseen(*at)).count();
        let run = left + (at..self.cells.len()).take_while(|at| unseen(*at)).count();
        let is_same = |other: usize| {
            let cell = self.cells.get(other);
            cell.is_some_and(|cell| cell.char == self.cells[at].char) && !unseen(other)
        };
        is_same(at + run) || at.checked_sub(run).is_some_and(is_same)
    }
}

impl Licences {
    /// Why plain characters would go that no call has seen and meant, in those places of pending changes that were made
    /// anew.
    pub(crate) fn plain_objection(&self, plain: &Plain<'_>, texts: &Texts<'_>) -> Option<String> {
        // Between two atoms that stay, what is not to be taken away must stand again.
        let stays = |char: &char| texts.base.contains(char) && texts.fork.contains(char);
        let pieces = texts.fork_text.split(stays);
        let mut would: Vec<Vec<char>> = pieces.map(<[char]>::to_vec).collect();
        let covered: HashSet<usize> =
            plain.changes.iter().flat_map(|(range, _)| range.clone()).collect();
        for must in [false, true] {
            let mut piece = 0;
            let cells = plain.cells.iter().enumerate();
            for (at, cell) in
                cells.filter(|(at, cell)| is_unique(cell.char) || covered.contains(at) == must)
            {
                if stays(&cell.char) {
                    piece += 1;
                    continue;
                }
                if is_unique(cell.char)
                    || (must && (!plain.anew.contains(&at) || self.licenses(plain, at)))
                {
                    continue;
                }
                let back = would
                    .get(piece)
                    .and_then(|left| left.iter().position(|char| *char == cell.char));
                match back {
                    Some(back) => drop(would[piece].swap_remove(back)),
                    None if must
                        && !self.licenses_another(plain, at)
                        && !self.licenses_equal(plain, at) =>
                    {
                        return Some(format!("{:?} at {at} would go", cell.char));
                    }
                    // A difference may tell of an atom moved over it instead.
                    None => {}
                }
            }
        }
        None
    }

    /// True if the plain character there may be taken for one that a call has seen and meant.
    fn licenses(&self, plain: &Plain<'_>, at: usize) -> bool {
        if self.has_seen(plain, at) {
            return true;
        }
        let unseen = |at: usize| match is_unique(plain.cells[at].char) {
            true => !self.saw.iter().any(|saw| saw.text.contains(plain.cells[at].char)),
            false => !self.has_seen(plain, at),
        };
        plain.told_vaguely && plain.is_turned(at, unseen)
    }

    /// True if the character there may be an equal one that a call has seen and that stays: of those with no atom
    /// between them that were told anew, none can be told from another.
    fn licenses_equal(&self, plain: &Plain<'_>, at: usize) -> bool {
        let cells = plain.cells;
        let is_plain = |at: &usize| !is_unique(cells[*at].char);
        let start = (0..at).rev().take_while(is_plain).last().unwrap_or(at);
        let equal = (start..cells.len()).take_while(is_plain);
        let equal = equal.filter(|other| cells[*other].char == cells[at].char);
        let (mut go, mut stay) = (0, 0);
        for other in equal {
            match plain.changes.iter().any(|(range, _)| range.contains(&other)) {
                true => go += usize::from(!self.licenses(plain, other)),
                false => stay += usize::from(self.has_seen(plain, other)),
            }
        }
        (plain.told_anew)(cells[at].id) && go <= stay
    }

    /// True if the deletion there leaves the same text as one that a call meant: whole lines may be deleted a line end
    /// further on.
    fn licenses_another(&self, plain: &Plain<'_>, at: usize) -> bool {
        let is_licensed = |at: usize| is_unique(plain.cells[at].char) || self.has_seen(plain, at);
        let index = plain.changes.iter().position(|(range, _)| range.contains(&at));
        index.is_some_and(|index| {
            plain.same_deletions(index).any(|mut other| other.all(is_licensed))
        })
    }

    /// Which of the plain characters in a row it is cannot always be told, so their place is that of the atoms.
    fn has_seen(&self, plain: &Plain<'_>, at: usize) -> bool {
        let cell = plain.cells[at];
        cell.id == 0
            || matches!(cell.by, Author::Server(_))
            || self.saw.iter().any(|saw| {
                saw.opening == 0
                    || saw.cells.contains(&cell.id)
                    || (plain.first)(cell.id).is_some_and(|opening| opening > saw.opening)
            })
    }
}
