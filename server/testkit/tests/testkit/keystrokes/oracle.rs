//! Laws told by who made each character: nothing here knows how the server works.
//!
//! An **atom** is a character that occurs once in a world: it is its own identity, also when an edit puts it back
//! where it stood, and when its file is closed, written and opened again. All other characters are **plain** and
//! are known by their cells' ids.
//!
//! A call's change is licensed when it is merged, from what the call saw and what it made of it ([`Licences`]):
//! which atoms it may take away, which it brings and between which neighbours, in which gaps between atoms it may
//! touch plain characters. What is then pending is looked at with each sync ([`Shape`]), and must be found again
//! unchanged, character by character, until it is published.

mod plain;

pub(crate) use plain::Plain;

use super::random::is_unique;
use ropewalk_testkit::editor::{Author, Cell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The atoms of a text, in order.
pub(crate) fn atoms(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|char| is_unique(*char))
}

/// The text of cells.
pub(crate) fn text(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.char).collect()
}

/// Where the atoms of a text stand that tell of places: not those that were gone at any time, for they may have come
/// back on either side of what was put there meanwhile.
pub(crate) struct Standing(HashMap<char, usize>);

impl Standing {
    /// Of `text`, but for what `wavers`.
    pub(crate) fn new(text: impl Iterator<Item = char>, wavers: impl Fn(char) -> bool) -> Self {
        let mut at = HashMap::new();
        let mut twice = Vec::new();
        for (index, char) in text.enumerate().filter(|(_, char)| is_unique(*char)) {
            if at.insert(char, index).is_some() {
                twice.push(char);
            }
        }
        at.retain(|char, _| !wavers(*char) && !twice.contains(char));
        Self(at)
    }
}

/// A place between atoms: what is there stands right of all before `start`, and left of all from `end` on.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) sequence: Arc<[char]>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Place {
    /// The place of the characters `start..end` of `cells`, whose atoms are `sequence`.
    pub(crate) fn of(sequence: &Arc<[char]>, cells: &[Cell], start: usize, end: usize) -> Self {
        let count = |cells: &[Cell]| cells.iter().filter(|cell| is_unique(cell.char)).count();
        let left = count(&cells[..start]);
        let end = left + count(&cells[start..end]);
        Self { sequence: sequence.clone(), start: left, end }
    }

    /// It is a place between the others of its atoms only.
    fn leave_out(&mut self, is_out: impl Fn(char) -> bool) {
        let count = |atoms: &[char]| atoms.iter().filter(|char| !is_out(**char)).count();
        let start = count(&self.sequence[..self.start]);
        let end = start + count(&self.sequence[self.start..self.end]);
        let sequence = self.sequence.iter().copied().filter(|char| !is_out(*char)).collect();
        *self = Self { sequence, start, end };
    }

    /// Why what stands at `start..end` is not in this place.
    pub(crate) fn objection(&self, here: &Standing, start: usize, end: usize) -> Option<String> {
        let at = |char: &char| Some((*char, *here.0.get(char)?));
        if let Some((left, at)) = self.sequence[..self.start].iter().rev().find_map(at)
            && at >= start
        {
            return Some(format!("is left of {left:?}"));
        }
        if let Some((right, at)) = self.sequence[self.end..].iter().find_map(at)
            && at < end
        {
            return Some(format!("is right of {right:?}"));
        }
        None
    }
}

/// Why `all[start..start + was.len()]` are not the very characters that `was` are. Of plain characters in a row it
/// cannot always be told which one was typed or deleted (a client that tells only of the difference names the last
/// one), and one typed anew between two notifications is not told of at all: another of the same kind is the same
/// when the old one is gone, or none of the atoms that were there then, and ever since, is between them.
fn other_cells(
    was: &[Cell],
    place: &Place,
    (all, here): (&[Cell], &Standing),
    start: usize,
) -> Option<String> {
    let now = &all[start..(start + was.len()).min(all.len())];
    if text(was) != text(now) {
        return Some(format!("replaces {:?} instead of {:?}", text(now), text(was)));
    }
    for (index, (was, now)) in was.iter().zip(now).enumerate() {
        // An atom is its own identity.
        if was.id == now.id || is_unique(was.char) {
            continue;
        }
        let Some(old) = all.iter().position(|cell| cell.id == was.id) else { continue };
        let (from, to) = (old.min(start + index), old.max(start + index));
        let tells =
            |cell: &Cell| here.0.contains_key(&cell.char) && place.sequence.contains(&cell.char);
        if all[from..to].iter().any(tells) {
            return Some(format!("replaces another {:?}, {from} or {to}", was.char));
        }
    }
    None
}

/// One pending change as it stood in the user's text.
#[derive(Clone)]
pub(crate) struct Shape {
    /// The opening of the document; 0 while it is not open and its characters have no ids.
    pub(crate) opening: u32,
    /// The user's text.
    pub(crate) base: Arc<str>,
    /// Where it begins, in characters.
    pub(crate) start: usize,
    /// Cells that it replaces.
    pub(crate) old: Vec<Cell>,
    /// Text that it puts there.
    pub(crate) new: String,
    /// Between what.
    pub(crate) place: Place,
    /// True if it was on its way.
    pub(crate) sent: bool,
    /// True if it was altered while it was.
    pub(crate) altered: bool,
    /// True if the disk is one of its makers.
    pub(crate) disk: bool,
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { start, old, new, sent, altered, disk, .. } = self;
        let old = text(old);
        write!(f, "{start}: {old:?} -> {new:?}, sent {sent}, altered {altered}, disk {disk}")
    }
}

impl Shape {
    /// Why replacing `start..start + len` of `cells` by `new` is not this change.
    pub(crate) fn objection(
        &self,
        (cells, opening): (&[Cell], u32),
        (start, len, new): (usize, usize, &str),
        here: &Standing,
    ) -> Option<String> {
        if self.new != new {
            return Some(format!("brings {new:?} instead of {:?}", self.new));
        }
        let now = &cells[start..start + len];
        if text(now) != text(&self.old) {
            return Some(format!("replaces {:?} instead of {:?}", text(now), text(&self.old)));
        }
        // The characters of another opening are others.
        let other = (opening == self.opening && opening != 0)
            .then(|| other_cells(&self.old, &self.place, (cells, here), start))
            .flatten();
        other.or_else(|| self.place.objection(here, start, start + len))
    }

    /// The atoms it takes away.
    pub(crate) fn gone(&self) -> impl Iterator<Item = char> {
        let gone = self.old.iter().map(|cell| cell.char);
        gone.filter(|char| is_unique(*char) && !self.new.contains(*char))
    }

    /// The atoms it brings.
    pub(crate) fn come(&self) -> impl Iterator<Item = char> {
        atoms(&self.new).filter(|char| self.old.iter().all(|cell| cell.char != *char))
    }
}

/// An edit of a hunk that reached the editor or the disk.
#[derive(Clone, Debug)]
pub(crate) struct Landed {
    pub(crate) session: usize,
    /// Hunks that were accepted with it for the same file, itself among them.
    pub(crate) hunks: Arc<[ropewalk_workspace::HunkId]>,
    /// Which of them it was.
    pub(crate) hunk: ropewalk_workspace::HunkId,
    /// The opening it was made in; 0 on the disk.
    pub(crate) opening: u32,
    /// Text that it took away.
    pub(crate) old: String,
    /// Cells that it put there.
    pub(crate) new: Vec<Cell>,
    pub(crate) place: Place,
}

impl Landed {
    /// Why replacing `start..start + len` of `cells` by `new` is not taking this back.
    pub(crate) fn objection(
        &self,
        (cells, opening): (&[Cell], u32),
        (start, len, new): (usize, usize, &str),
        here: &Standing,
    ) -> Option<String> {
        if self.old != new {
            return Some(format!("brings {new:?} instead of {:?}", self.old));
        }
        let now = &cells[start..start + len];
        if text(now) != text(&self.new) {
            return Some(format!("takes {:?} instead of {:?}", text(now), text(&self.new)));
        }
        let other = (opening == self.opening && opening != 0)
            .then(|| other_cells(&self.new, &self.place, (cells, here), start))
            .flatten();
        other.or_else(|| self.place.objection(here, start, start + len))
    }
}

/// The user's text when a call looked.
#[derive(Clone, Debug)]
pub(crate) struct Saw {
    pub(crate) text: Arc<str>,
    pub(crate) cells: Arc<HashSet<u32>>,
    /// Which opening of the document it was; 0 when it was not open.
    pub(crate) opening: u32,
    /// How often it had been seen to move.
    pub(crate) moves: u64,
}

/// Licences of one session's calls in one document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Licences {
    /// Atoms they took out of the text they saw; and whether each has stood in the user's text since.
    goes: HashMap<char, bool>,
    /// Atoms they brought, and where.
    comes: HashMap<char, Place>,
    /// Atoms that the user refused to have taken away, or put elsewhere: the other half of a move may still do so.
    pub(crate) halves: HashSet<char>,
    /// Texts that they saw.
    saw: Vec<Saw>,
}

/// Characters of the user's text, and of the text with all pending changes.
pub(crate) struct Texts<'a> {
    pub(crate) base: &'a HashSet<char>,
    pub(crate) fork: &'a HashSet<char>,
    pub(crate) fork_standing: &'a Standing,
    pub(crate) fork_text: &'a [char],
}

impl Licences {
    /// A call saw `view`, which was the user's text and what was pending, and made `proposed` of it. Gives what that
    /// means, in words.
    pub(crate) fn grant(&mut self, view: &str, proposed: &str, saw: &Saw) -> String {
        let sequence: Arc<[char]> = atoms(view).collect();
        let after: Arc<[char]> = atoms(proposed).collect();
        let old: HashSet<char> = sequence.iter().copied().collect();
        let new: HashSet<char> = after.iter().copied().collect();
        let stood: HashSet<char> = atoms(&saw.text).collect();
        // Of one that stands twice a call may take out one.
        let many = |text: &[char], char| text.iter().filter(|own| **own == char).count();
        let fewer = |char: &&char| many(&after, **char) < many(&sequence, **char);
        self.goes.extend(old.iter().filter(fewer).map(|char| (*char, stood.contains(char))));
        // Characters brought by an earlier call stand in one text now with the ones left around
        // them.
        for place in self.comes.values_mut() {
            place.leave_out(|char| old.contains(&char) && !new.contains(&char));
        }
        for (at, char) in after.iter().enumerate().filter(|(_, char)| !old.contains(char)) {
            let place = Place { sequence: after.clone(), start: at, end: at + 1 };
            self.comes.insert(*char, place);
        }
        self.saw.push(saw.clone());
        let gone: String = old.difference(&new).collect();
        let come: String = new.difference(&old).collect();
        format!("{gone:?} goes, {come:?} comes")
    }

    /// Why these texts are not what was licensed. What `disk` says yes to is the disk's own.
    pub(crate) fn objection(
        &self,
        texts: &Texts<'_>,
        disk: impl Fn(char, bool) -> bool,
    ) -> Option<String> {
        let gone = texts.base.difference(texts.fork);
        let may_go = |char: &char| self.goes.contains_key(char) || self.halves.contains(char);
        if let Some(char) = gone.copied().find(|char| !may_go(char) && !disk(*char, false)) {
            return Some(format!("{char:?} would go, and nobody said so"));
        }
        for (at, char) in texts.fork_text.iter().enumerate() {
            if !is_unique(*char) || texts.base.contains(char) {
                continue;
            }
            match self.comes.get(char) {
                Some(place) => {
                    if let Some(why) = place.objection(texts.fork_standing, at, at + 1) {
                        return Some(format!("{char:?} {why}"));
                    }
                }
                None if disk(*char, true) => {}
                None => return Some(format!("{char:?} would come, and nobody said so")),
            }
        }
        None
    }

    /// Finds a change that was licensed and is not pending now, though no call took it back and it
    /// is not in the text.
    pub(crate) fn lost(&self, texts: &Texts<'_>, excused: impl Fn(char) -> bool) -> Option<char> {
        let stays = self.goes.keys();
        let stays = stays.filter(|char| texts.base.contains(char) && texts.fork.contains(char));
        let away = self.comes.keys().filter(|char| !self.goes.contains_key(char));
        let away = away.filter(|char| !texts.base.contains(char) && !texts.fork.contains(char));
        stays.chain(away).copied().find(|char| !excused(*char))
    }

    /// A licence holds as long as what it was given for is pending: the rest is withdrawn.
    pub(crate) fn withdraw(
        &mut self,
        texts: &Texts<'_>,
        one_of_two: impl Fn(char) -> bool,
        is_pending: bool,
    ) {
        self.goes.retain(|char, stood| {
            *stood |= texts.base.contains(char);
            // One that was itself on its way when the call took it out may arrive yet.
            one_of_two(*char)
                || (!texts.fork.contains(char) && (texts.base.contains(char) || !*stood))
        });
        self.comes.retain(|char, _| texts.fork.contains(char) && !texts.base.contains(char));
        if self.goes.is_empty() && self.comes.is_empty() && !is_pending {
            self.saw.clear();
        }
    }

    /// Nothing that was licensed is pending any more, and what became of it can't be told.
    pub(crate) fn forget(&mut self) {
        *self = Self { halves: std::mem::take(&mut self.halves), ..Self::default() };
    }

    /// The user took back what licensed this.
    pub(crate) fn reject(&mut self, shape: &Shape) {
        self.goes.retain(|char, _| shape.gone().all(|gone| gone != *char));
        self.comes.retain(|char, _| shape.come().all(|come| come != *char));
        // One half of a move: what is left of it takes the text away, or puts it there twice, by the user's choice.
        self.halves.extend(shape.gone().chain(shape.come().filter(|c| shape.base.contains(*c))));
    }
}

/// True if `after` is `before` with some of the changes made and the others not. They are sorted
/// and disjoint.
pub(crate) fn made_of<'a>(
    before: &[char],
    after: &[char],
    from: usize,
    shapes: &[&'a Shape],
) -> Option<Vec<&'a Shape>> {
    let Some((first, rest)) = shapes.split_first() else {
        return (before.get(from..) == Some(after)).then(Vec::new);
    };
    let gap = before.get(from..first.start)?;
    let after = after.strip_prefix(gap)?;
    let new: Vec<char> = first.new.chars().collect();
    let made = after.strip_prefix(new.as_slice()).and_then(|after| {
        let mut made = made_of(before, after, first.start + first.old.len(), rest)?;
        made.insert(0, first);
        Some(made)
    });
    made.or_else(|| made_of(before, after, first.start, rest))
}

/// The atoms that stand more than once in a text.
pub(crate) fn more_than_once(text: &[char]) -> HashSet<char> {
    let mut seen = HashSet::new();
    text.iter().copied().filter(|char| is_unique(*char) && !seen.insert(*char)).collect()
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
